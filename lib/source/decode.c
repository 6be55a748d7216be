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
#define VERSION_16 16
#define VERSION_TIMES 17
#define BYTES_14 432
#define BYTES_16 560
#define BYTES_17 688
#define MAXIMA_AT 432 /* from version 16 on: eight of maximum and minimum */
#define TIMES_AT 560  /* in version 17: eight of seconds and nanoseconds */

#define COMM_AT 80
#define COMM_BYTES 32

enum as {
	AS_U64,
	AS_USEC,   /* microseconds */
	AS_KB,     /* kilobytes */
	AS_SEC,    /* seconds */
	AS_SEC32,
	AS_U32,
	AS_U8,
	AS_SIGNED8,
	AS_ROUGH,  /* a count rounded down to 1024s (xacct_add_tsk()): 0 is unknown */
};

/* Where a value lies in versions 2 to 14 and from 16 on. */
struct item {
	uint8_t field;
	uint8_t as;
	uint8_t since;
	uint16_t at;
};

#define ITEM(field_name, how, version, offset) \
	{ .field = ACT_F_##field_name, .as = AS_##how, .since = version, .at = offset }

/* In the order of offsets. */
static const struct item items[] = {
	ITEM(status, U32, 2, 4),
	ITEM(flags, U8, 2, 8),
	ITEM(nice, SIGNED8, 2, 9),
	ITEM(cpu_delay_count, U64, 2, 16),
	ITEM(cpu_delay_ns, U64, 2, 24),
	ITEM(blkio_delay_count, U64, 2, 32),
	ITEM(blkio_delay_ns, U64, 2, 40),
	ITEM(swapin_delay_count, U64, 2, 48),
	ITEM(swapin_delay_ns, U64, 2, 56),
	ITEM(run_real_ns, U64, 2, 64),
	ITEM(run_ns, U64, 2, 72),
	ITEM(sched, U8, 2, 112),
	ITEM(uid, U32, 2, 120),
	ITEM(gid, U32, 2, 124),
	ITEM(tid, U32, 2, 128),
	ITEM(ppid, U32, 2, 132),
	ITEM(btime_ns, SEC32, 2, 136),
	ITEM(wall_ns, USEC, 2, 144),
	ITEM(user_ns, USEC, 2, 152),
	ITEM(system_ns, USEC, 2, 160),
	ITEM(minflt, U64, 2, 168),
	ITEM(majflt, U64, 2, 176),
	ITEM(rss_integral, U64, 2, 184),
	ITEM(vm_integral, U64, 2, 192),
	ITEM(rss_max_bytes, KB, 2, 200),
	ITEM(vm_max_bytes, KB, 2, 208),
	ITEM(rchar_bytes, U64, 2, 216),
	ITEM(wchar_bytes, U64, 2, 224),
	ITEM(syscr, ROUGH, 2, 232),
	ITEM(syscw, ROUGH, 2, 240),
	ITEM(read_bytes, U64, 2, 248),
	ITEM(write_bytes, U64, 2, 256),
	ITEM(cancelled_bytes, U64, 2, 264),
	ITEM(nvcsw, U64, 2, 272),
	ITEM(nivcsw, U64, 2, 280),
	ITEM(user_scaled_ns, USEC, 2, 288),
	ITEM(system_scaled_ns, USEC, 2, 296),
	ITEM(run_scaled_ns, U64, 2, 304),
	ITEM(freepages_delay_count, U64, 7, 312),
	ITEM(freepages_delay_ns, U64, 7, 320),
	ITEM(thrashing_delay_count, U64, 9, 328),
	ITEM(thrashing_delay_ns, U64, 9, 336),
	ITEM(btime_ns, SEC, 10, 344),
	ITEM(compact_delay_count, U64, 11, 352),
	ITEM(compact_delay_ns, U64, 11, 360),
	ITEM(pid, U32, 12, 368),
	ITEM(tgetime_ns, USEC, 12, 376),
	ITEM(exe_dev, U64, 12, 384),
	ITEM(exe_inode, U64, 12, 392),
	ITEM(wpcopy_delay_count, U64, 13, 400),
	ITEM(wpcopy_delay_ns, U64, 13, 408),
	ITEM(irq_delay_count, U64, 14, 416),
	ITEM(irq_delay_ns, U64, 14, 424),
};

#define ITEMS (sizeof(items) / sizeof(items[0]))

/*
 * The delays in the order of the tail, by their count; total, maximum, minimum
 * and the maximum's time are the next fields of the table.
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
	bool is_big; /* laid out as version 15 */
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

static uint64_t load(const uint8_t *at, enum as as)
{
	uint64_t value;

	switch (as) {
	case AS_U64:
		return bounded(load_u64(at));
	case AS_USEC:
		return scaled(load_u64(at), 1000);
	case AS_KB:
		return scaled(load_u64(at), 1024);
	case AS_SEC:
		return scaled(load_u64(at), 1000000000);
	case AS_SEC32:
		return scaled(load_u32(at), 1000000000);
	case AS_U32:
		return load_u32(at);
	case AS_U8:
		return *at;
	case AS_SIGNED8:
		return (uint64_t)(int64_t)(int8_t)*at;
	case AS_ROUGH:
		value = load_u64(at);
		return value ? bounded(value) : ACT_UNKNOWN;
	}
	return ACT_UNKNOWN;
}

/* ---- Layout ---- */

/* By how much the maxima and minima before @at moved it in version 15. */
static size_t moved_by(size_t at)
{
	size_t bytes = 0;

	for (size_t i = 0; i < DELAYS; i++)
		if (at >= delays[i].count_at + 16u)
			bytes += 16;
	return bytes;
}

static size_t place(const struct payload *payload, size_t at)
{
	return payload->is_big ? at + moved_by(at) : at;
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
	payload->length = length;
	payload->version = version ? version : version_beside;
	if (payload->version < VERSION_OLDEST || length < bytes_of(payload->version))
		return false;
	/* Kernels between the two commits say 14 and send the layout of 15. */
	payload->is_big = payload->version == VERSION_BIG ||
			  (payload->version == VERSION_BIG - 1 && length >= BYTES_16);
	return true;
}

static bool is_group_field(unsigned int field)
{
	return act_field_table[field].sources & ACT_FROM_GROUP || field == ACT_F_wall_ns;
}

static void fill_items(const struct payload *payload, bool is_group, struct act_record *record)
{
	for (size_t i = 0; i < ITEMS; i++) {
		const struct item *item = &items[i];

		if (item->since > payload->version || (is_group && !is_group_field(item->field)))
			continue;
		record->value[item->field] =
			load(payload->data + place(payload, item->at), item->as);
	}
}

/* Seconds and nanoseconds, 8 bytes each; 0 if it never waited. */
static uint64_t load_time(const uint8_t *at)
{
	uint64_t seconds = scaled(load_u64(at), 1000000000);
	uint64_t ns = load_u64(at + 8);

	if (seconds == 0 || ns >= 1000000000)
		return ACT_UNKNOWN;
	return bounded(seconds + ns);
}

static void fill_extremes(const struct payload *payload, struct act_record *record)
{
	bool has_times = payload->version == VERSION_TIMES && payload->length == BYTES_17;

	if (!payload->is_big && payload->version < VERSION_16)
		return;
	for (size_t i = 0; i < DELAYS; i++) {
		uint64_t *value = &record->value[delays[i].count];
		size_t at = MAXIMA_AT + 16 * i;

		if (payload->is_big)
			at = place(payload, delays[i].count_at) + 16;
		value[MAXIMUM] = load(payload->data + at, AS_U64);
		value[MINIMUM] = load(payload->data + at + 8, AS_U64);
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

static void fill_task(const struct payload *payload, struct act_record *record)
{
	const uint8_t *comm = payload->data + place(payload, COMM_AT);

	act_record_clear(record);
	fill_items(payload, false, record);
	fill_extremes(payload, record);
	record->version = payload->version;
	record->threads = 1;
	/* A kernel thread has no executable. */
	if (record->exe_dev == 0 && record->exe_inode == 0)
		record->exe_dev = record->exe_inode = ACT_UNKNOWN;
	memcpy(record->comm_text, comm, COMM_BYTES);
	record->comm_text[COMM_BYTES - 1] = '\0';
	/* What lies behind the first NUL is no part of the name. */
	memset(record->comm_text + strlen(record->comm_text), 0,
	       COMM_BYTES - strlen(record->comm_text));
}

static void fill_group(const struct payload *payload, uint32_t pid, struct act_record *record)
{
	act_record_clear(record);
	fill_items(payload, true, record);
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
	mnl_attr_for_each(attr, header, sizeof(*genl)) {
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
