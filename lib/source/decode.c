/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct taskstats by its version, never by the header at build time.
 *
 * Versions 2 to 14 each added to the end.  Version 15 inserted a maximum and a
 * minimum after each delay's count and total (658eb5ab916d, f65c64f311ee), and
 * version 16 moved these to the end, so both have 560 bytes and only the
 * version tells them apart.  Version 17 added when the maxima were; another
 * series claims that number, too, so its tail counts only at its exact length.
 * Newer ones are read as 16: what is known of them is their prefix.
 *
 * A message's payload is not aligned to 8 bytes: everything is copied out.
 */
#include "source/decode.h"

#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>

#define VERSION_OLDEST 2
#define VERSION_BIG 15 /* the one with the maxima in the middle */
#define VERSION_TIMES 17
#define BYTES_14 432
#define BYTES_16 560
#define BYTES_17 688
#define SECOND 1000000000
#define MAXIMA_AT 432 /* from version 16 on: eight of maximum and minimum */
#define TIMES_AT 560  /* in version 17: eight of seconds and nanoseconds */

#define COMM_BYTES 32

/* A number of 64 bits in versions 2 to 14 and from 16 on. */
struct item {
	uint8_t field;
	uint8_t since;
	uint16_t at;
	uint16_t scale; /* from its unit to ns or bytes */
};

#define ITEM(field_name, version, offset, unit) \
	{ .field = ACT_F_##field_name, .since = version, .at = offset, .scale = unit }

enum { ONE = 1, USEC = 1000, KB = 1024 };

/* In the order of versions, then of offsets. */
static const struct item items[] = {
	ITEM(cpu_delay_count, 2, 16, ONE),
	ITEM(cpu_delay_ns, 2, 24, ONE),
	ITEM(blkio_delay_count, 2, 32, ONE),
	ITEM(blkio_delay_ns, 2, 40, ONE),
	ITEM(swapin_delay_count, 2, 48, ONE),
	ITEM(swapin_delay_ns, 2, 56, ONE),
	ITEM(run_real_ns, 2, 64, ONE),
	ITEM(run_ns, 2, 72, ONE),
	ITEM(wall_ns, 2, 144, USEC),
	ITEM(user_ns, 2, 152, USEC),
	ITEM(system_ns, 2, 160, USEC),
	ITEM(minflt, 2, 168, ONE),
	ITEM(majflt, 2, 176, ONE),
	ITEM(rss_integral, 2, 184, ONE),
	ITEM(vm_integral, 2, 192, ONE),
	ITEM(rss_max_bytes, 2, 200, KB),
	ITEM(vm_max_bytes, 2, 208, KB),
	ITEM(rchar_bytes, 2, 216, ONE),
	ITEM(wchar_bytes, 2, 224, ONE),
	ITEM(syscr, 2, 232, ONE),
	ITEM(syscw, 2, 240, ONE),
	ITEM(read_bytes, 2, 248, ONE),
	ITEM(write_bytes, 2, 256, ONE),
	ITEM(cancelled_bytes, 2, 264, ONE),
	ITEM(nvcsw, 2, 272, ONE),
	ITEM(nivcsw, 2, 280, ONE),
	ITEM(user_scaled_ns, 2, 288, USEC),
	ITEM(system_scaled_ns, 2, 296, USEC),
	ITEM(run_scaled_ns, 2, 304, ONE),
	ITEM(freepages_delay_count, 7, 312, ONE),
	ITEM(freepages_delay_ns, 7, 320, ONE),
	ITEM(thrashing_delay_count, 9, 328, ONE),
	ITEM(thrashing_delay_ns, 9, 336, ONE),
	ITEM(compact_delay_count, 11, 352, ONE),
	ITEM(compact_delay_ns, 11, 360, ONE),
	ITEM(tgetime_ns, 12, 376, USEC),
	ITEM(exe_dev, 12, 384, ONE),
	ITEM(exe_inode, 12, 392, ONE),
	ITEM(wpcopy_delay_count, 13, 400, ONE),
	ITEM(wpcopy_delay_ns, 13, 408, ONE),
	ITEM(irq_delay_count, 14, 416, ONE),
	ITEM(irq_delay_ns, 14, 424, ONE),
};

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 64")
#else
#define UNROLL
#endif

#define ITEMS (sizeof(items) / sizeof(items[0]))

/* What is no number of 64 bits, or needs more than its unit. */
enum {
	STATUS_AT = 4,
	FLAGS_AT = 8,
	NICE_AT = 9,
	COMM_AT = 80,
	SCHED_AT = 112,
	UID_AT = 120,
	GID_AT = 124,
	PPID_AT = 132,
	BTIME_AT = 136,   /* 32 bits */
	BTIME64_AT = 344, /* since version 10 */
	PID_AT = 368,     /* since version 12 */
};

/*
 * The delays in the order of offsets, which is that of the tail, by their count;
 * total, maximum, minimum and the maximum's time are the next fields.
 */
static const struct {
	uint8_t count;
	uint16_t count_at;
} delays[] = {
	{ ACT_F_cpu_delay_count, 16 },        { ACT_F_blkio_delay_count, 32 },
	{ ACT_F_swapin_delay_count, 48 },     { ACT_F_freepages_delay_count, 312 },
	{ ACT_F_thrashing_delay_count, 328 }, { ACT_F_compact_delay_count, 352 },
	{ ACT_F_wpcopy_delay_count, 400 },    { ACT_F_irq_delay_count, 416 },
};

#define DELAYS (sizeof(delays) / sizeof(delays[0]))

enum { TOTAL = 1, MAXIMUM = 2, MINIMUM = 3, MAXIMUM_TIME = 4 };

/* One struct taskstats as it was received. */
struct payload {
	const uint8_t *data;
	size_t length;
	unsigned int version;
	bool has_extremes;
	uint8_t straight[BYTES_16]; /* what @data points to if it was moved */
};

/* ---- Values ---- */

/* Anything at or above ACT_UNKNOWN is not a sum that a machine reaches. */
static uint64_t bounded(uint64_t value)
{
	return value < ACT_UNKNOWN ? value : ACT_UNKNOWN - 1;
}

static uint64_t scaled(uint64_t value, uint64_t by)
{
	uint64_t product;

	return __builtin_mul_overflow(value, by, &product) ? ACT_UNKNOWN - 1 : bounded(product);
}

static uint64_t load_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t load_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* ---- Layout ---- */

/* From the layout of version 15 to that of 16. */
static void straighten(const uint8_t *data, uint8_t *ret_data)
{
	size_t from = 0, to = 0;

	for (size_t i = 0; i < DELAYS; i++) {
		size_t length = delays[i].count_at + 16u - to;

		memcpy(ret_data + to, data + from, length);
		to += length;
		from += length;
		memcpy(ret_data + MAXIMA_AT + 16 * i, data + from, 16);
		from += 16;
	}
}

/* What a version must at least have. */
static size_t bytes_of(unsigned int version)
{
	static const uint16_t bytes[] = {
		312, 312, 312, 312, 312, 312, 312, 328, 328,
		344, 352, 368, 400, 416, BYTES_14, BYTES_16, BYTES_16,
	};

	return version < sizeof(bytes) / sizeof(bytes[0]) ? bytes[version] : BYTES_16;
}

/*
 * The sum for a group came without a version from old kernels; then it is that
 * of the task beside it.
 */
static bool open_payload(struct payload *payload, const uint8_t *data, size_t length,
			 unsigned int version_beside)
{
	uint16_t version;

	if (length < sizeof(version))
		return false;
	memcpy(&version, data, sizeof(version));
	payload->data = data;
	payload->version = version ? version : version_beside;
	payload->length = length;
	if (payload->version < VERSION_OLDEST || length < bytes_of(payload->version))
		return false;
	payload->has_extremes = payload->version >= VERSION_BIG;
	/* Kernels between two commits say 14 and send the layout of 15. */
	if (payload->version == VERSION_BIG ||
	    (payload->version == VERSION_BIG - 1 && length >= BYTES_16)) {
		straighten(data, payload->straight);
		payload->data = payload->straight;
		payload->has_extremes = true;
	}
	return true;
}

/* Above it the largest scale, 1024, could leave what a record can hold. */
#define NEVER_TOO_LARGE (UINT64_C(1) << 52)

/*
 * A machine's sums stay far below any bound: each is looked at again only if one
 * of them does not.  Unrolled, an item is a load and a store, a version a branch.
 */
static void fill_numbers(const struct payload *payload, struct act_record *record)
{
	uint64_t all = 0;

	UNROLL
	for (size_t i = 0; i < ITEMS; i++) {
		uint64_t value;

		if (items[i].since > payload->version)
			break;
		value = load_u64(payload->data + items[i].at);
		all |= value;
		record->value[items[i].field] = value * items[i].scale;
	}
	if (all < NEVER_TOO_LARGE)
		return;
	for (size_t i = 0; i < ITEMS && items[i].since <= payload->version; i++)
		record->value[items[i].field] =
			scaled(load_u64(payload->data + items[i].at), items[i].scale);
}

static void fill_identity(const struct payload *payload, struct act_record *record)
{
	const uint8_t *data = payload->data;

	record->status = load_u32(data + STATUS_AT);
	record->flags = data[FLAGS_AT];
	record->nice = (uint64_t)(int64_t)(int8_t)data[NICE_AT];
	record->sched = data[SCHED_AT];
	record->uid = load_u32(data + UID_AT);
	record->gid = load_u32(data + GID_AT);
	record->ppid = load_u32(data + PPID_AT);
	record->btime_ns = scaled(payload->version < 10 ? load_u32(data + BTIME_AT)
							: load_u64(data + BTIME64_AT), SECOND);
	if (payload->version >= 12)
		record->pid = load_u32(data + PID_AT);
}

static void fill_comm(const struct payload *payload, struct act_record *record)
{
	char *comm = record->comm_text;
	size_t length;

	memcpy(comm, payload->data + COMM_AT, COMM_BYTES);
	length = strnlen(comm, COMM_BYTES - 1);
	/* What lies behind the first NUL is no part of the name. */
	memset(comm + length, 0, COMM_BYTES - length);
}

/* Seconds and nanoseconds, 8 bytes each; 0 if it never waited. */
static uint64_t load_time(const uint8_t *at)
{
	uint64_t seconds = scaled(load_u64(at), SECOND);
	uint64_t ns = load_u64(at + 8);

	if (seconds == 0 || ns >= SECOND)
		return ACT_UNKNOWN;
	return bounded(seconds + ns);
}

static void fill_extremes(const struct payload *payload, struct act_record *record)
{
	bool has_times = payload->version == VERSION_TIMES && payload->length == BYTES_17;

	if (!payload->has_extremes)
		return;
	for (size_t i = 0; i < DELAYS; i++) {
		uint64_t *value = &record->value[delays[i].count];
		const uint8_t *maximum = payload->data + MAXIMA_AT + 16 * i;

		value[MAXIMUM] = bounded(load_u64(maximum));
		value[MINIMUM] = bounded(load_u64(maximum + 8));
		if (has_times)
			value[MAXIMUM_TIME] = load_time(payload->data + TIMES_AT + 16 * i);
	}
}

/* All delays but the CPU's, which the scheduler counts at any rate. */
static bool has_waited(const struct act_record *record)
{
	for (size_t i = 1; i < DELAYS; i++) {
		uint64_t count = record->value[delays[i].count];

		if (count != 0 && count != ACT_UNKNOWN)
			return true;
	}
	return false;
}

void decode_hide_switched(struct act_record *record)
{
	for (size_t i = 1; i < DELAYS; i++)
		for (unsigned int part = 0; part <= MAXIMUM_TIME; part++)
			record->value[delays[i].count + part] = ACT_UNKNOWN;
}

/* Both counts are rounded down to 1024s (xacct_add_tsk()): 0 may be 1023. */
static void hide_rounded(struct act_record *record)
{
	if (record->syscr == 0)
		record->syscr = ACT_UNKNOWN;
	if (record->syscw == 0)
		record->syscw = ACT_UNKNOWN;
}

static void fill_task(const struct payload *payload, struct act_record *record)
{
	act_record_clear(record);
	fill_numbers(payload, record);
	fill_extremes(payload, record);
	fill_identity(payload, record);
	fill_comm(payload, record);
	hide_rounded(record);
	record->version = payload->version;
	record->threads = 1;
	/* A kernel thread has no executable. */
	if (record->exe_dev == 0 && record->exe_inode == 0)
		record->exe_dev = record->exe_inode = ACT_UNKNOWN;
}

/*
 * The rest of a group's struct is zero, and its maxima are those of whichever
 * task was added last.
 */
static void fill_group(const struct payload *payload, uint32_t pid, struct act_record *record)
{
	act_record_clear(record);
	fill_numbers(payload, record);
	for (size_t i = 0; i < ITEMS; i++)
		if (items[i].field != ACT_F_wall_ns &&
		    !(act_field_table[items[i].field].sources & ACT_FROM_GROUP))
			record->value[items[i].field] = ACT_UNKNOWN;
	record->pid = pid;
	record->version = payload->version;
}

/* ---- The message ---- */

/* A nest of an id and a struct taskstats. */
struct part {
	const uint8_t *stats;
	size_t length;
	uint32_t id;
	bool has_id;
};

static void read_part(const struct nlattr *nest, struct part *part)
{
	const struct nlattr *attr;

	memset(part, 0, sizeof(*part));
	mnl_attr_for_each_nested(attr, nest) {
		size_t length = mnl_attr_get_payload_len(attr);

		switch (mnl_attr_get_type(attr)) {
		case TASKSTATS_TYPE_PID:
		case TASKSTATS_TYPE_TGID:
			part->has_id = length >= sizeof(uint32_t);
			if (part->has_id)
				part->id = load_u32(mnl_attr_get_payload(attr));
			break;
		case TASKSTATS_TYPE_STATS:
			part->stats = mnl_attr_get_payload(attr);
			part->length = length;
			break;
		default: /* padding, and what newer kernels may add */
			break;
		}
	}
}

static bool decode_task(const struct part *part, struct decoded *ret)
{
	struct payload payload;

	if (!part->has_id || !open_payload(&payload, part->stats, part->length, 0))
		return false;
	fill_task(&payload, &ret->task);
	ret->task.tid = part->id;
	ret->task_waited = has_waited(&ret->task);
	ret->has_task = true;
	return true;
}

static bool decode_group(const struct part *part, struct decoded *ret)
{
	unsigned int beside = ret->has_task ? (unsigned int)ret->task.version : 0;
	struct payload payload;

	if (!part->has_id || !open_payload(&payload, part->stats, part->length, beside))
		return false;
	fill_group(&payload, part->id, &ret->group);
	ret->group_waited = has_waited(&ret->group);
	ret->has_group = true;
	return true;
}

bool decode_number(const void *message, size_t length, uint32_t *ret_number)
{
	const struct nlmsghdr *header = message;

	if (length < sizeof(*header))
		return false;
	*ret_number = header->nlmsg_seq;
	return true;
}

enum decoded_as decode_message(const void *message, size_t length, uint16_t family,
			       struct decoded *ret)
{
	const struct nlmsghdr *header = message;
	const struct genlmsghdr *genl = (const void *)((const uint8_t *)message + MNL_NLMSG_HDRLEN);
	const struct nlattr *attr;
	struct part part;

	ret->has_task = ret->has_group = false;
	if (length < MNL_NLMSG_HDRLEN)
		return DECODED_ALIEN;
	if (header->nlmsg_type != family)
		return DECODED_ALIEN;
	if (length < MNL_NLMSG_HDRLEN + sizeof(*genl) || !mnl_nlmsg_ok(header, (int)length) ||
	    header->nlmsg_len < MNL_NLMSG_HDRLEN + sizeof(*genl))
		return DECODED_MALFORMED;
	if (genl->cmd != TASKSTATS_CMD_NEW)
		return DECODED_ALIEN;
	/* mnl_attr_for_each() would round the end up to 4 bytes. */
	mnl_attr_for_each_payload((void *)(genl + 1),
				  header->nlmsg_len - MNL_NLMSG_HDRLEN - sizeof(*genl)) {
		switch (mnl_attr_get_type(attr)) {
		case TASKSTATS_TYPE_AGGR_PID:
			read_part(attr, &part);
			if (!decode_task(&part, ret))
				return DECODED_MALFORMED;
			break;
		case TASKSTATS_TYPE_AGGR_TGID:
			read_part(attr, &part);
			if (!decode_group(&part, ret))
				return DECODED_MALFORMED;
			break;
		default:
			break;
		}
	}
	return ret->has_task || ret->has_group ? DECODED_EXIT : DECODED_MALFORMED;
}
