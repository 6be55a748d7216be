/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of every version of struct taskstats, made by hand: each value is
 * its offset in the version's own layout, so a value out of place shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "source/decode.h"

#define FAMILY 0x1c
#define TID 4242
#define PID 4200
#define ROOM 4096

/* ---- Making messages ---- */

struct message {
	size_t length;
	uint8_t bytes[ROOM] __attribute__((aligned(8)));
};

static size_t size_of(unsigned int version)
{
	static const uint16_t sizes[] = { [7] = 328, [8] = 328, [9] = 344, [10] = 352,
		[11] = 368, [12] = 400, [13] = 416, [14] = 432, [15] = 560, [16] = 560,
		[17] = 688 };

	return sizes[version];
}

static void put_u64(uint8_t *stats, size_t at, uint64_t value)
{
	memcpy(stats + at, &value, sizeof(value));
}

static void put_u32(uint8_t *stats, size_t at, uint32_t value)
{
	memcpy(stats + at, &value, sizeof(value));
}

/* Where something is that versions up to 14 have @at. */
static size_t place(unsigned int version, size_t at)
{
	static const uint16_t pairs_end[] = { 32, 48, 64, 328, 344, 368, 416, 432 };
	size_t moved = 0;

	for (size_t i = 0; version == 15 && i < 8; i++)
		moved += at >= pairs_end[i] ? 16 : 0;
	return at + moved;
}

/* All 64-bit numbers are 1000 + their offset in version 14. */
static void fill_stats(uint8_t *stats, unsigned int version)
{
	uint16_t version16 = (uint16_t)version;
	size_t old_size = version > 14 ? 432 : size_of(version);
	static const uint16_t delay_at[] = { 16, 32, 48, 312, 328, 352, 400, 416 };

	memset(stats, 0xee, size_of(version));
	for (size_t at = 16; at < old_size; at += 8)
		put_u64(stats, place(version, at), 1000 + at);
	for (size_t i = 0; version >= 15 && i < 8; i++) {
		size_t at = version == 15 ? place(15, delay_at[i]) + 16 : 432 + 16 * i;

		put_u64(stats, at, 20000 + i);
		put_u64(stats, at + 8, 10000 + i);
	}
	for (size_t i = 0; version >= 17 && i < 8; i++) {
		put_u64(stats, 560 + 16 * i, 1800000000 + i);
		put_u64(stats, 568 + 16 * i, 999999999 - i);
	}
	memcpy(stats, &version16, sizeof(version16));
	put_u32(stats, 4, 0x300);
	stats[8] = 0x20;
	stats[9] = 0xf6;
	memset(stats + place(version, 80), 0, 32);
	memcpy(stats + place(version, 80), "a\nb\"\\\x1b\xff", 8);
	stats[place(version, 80) + 20] = 'x';
	stats[place(version, 112)] = 3;
	put_u32(stats, place(version, 120), 4294967294u);
	put_u32(stats, place(version, 124), 77);
	put_u32(stats, place(version, 128), TID);
	put_u32(stats, place(version, 132), 1);
	put_u32(stats, place(version, 136), 4000000000u);
	if (version >= 10)
		put_u64(stats, place(version, 344), 5000000000u);
	if (version >= 12)
		put_u32(stats, place(version, 368), PID);
}

static void message_begin(struct message *message, uint16_t type, uint8_t command)
{
	struct nlmsghdr *header = (struct nlmsghdr *)message->bytes;
	struct genlmsghdr *genl = (struct genlmsghdr *)(message->bytes + NLMSG_HDRLEN);

	memset(message, 0, sizeof(*message));
	header->nlmsg_type = type;
	header->nlmsg_seq = 0xfffffff0;
	genl->cmd = command;
	genl->version = 1;
	message->length = NLMSG_HDRLEN + GENL_HDRLEN;
}

static void message_end(struct message *message)
{
	((struct nlmsghdr *)message->bytes)->nlmsg_len = (uint32_t)message->length;
}

/* Returns the attribute's place, whose length can be set when it is a nest. */
static struct nlattr *put_attr(struct message *message, uint16_t type, const void *data,
			       size_t length)
{
	struct nlattr *attr = (struct nlattr *)(message->bytes + message->length);

	assert_true(message->length + NLA_HDRLEN + length < ROOM);
	attr->nla_type = type;
	attr->nla_len = (uint16_t)(NLA_HDRLEN + length);
	if (length)
		memcpy(message->bytes + message->length + NLA_HDRLEN, data, length);
	message->length += NLA_ALIGN(NLA_HDRLEN + length);
	return attr;
}

static void end_nest(struct message *message, struct nlattr *nest)
{
	nest->nla_len = (uint16_t)(message->bytes + message->length - (uint8_t *)nest);
}

enum shape {
	PLAIN = 0,
	PAD_INSIDE = 1,
	PAD_BEFORE = 2,
	NESTED_FLAG = 4,
	STRANGERS = 8, /* attributes of types that do not exist yet */
};

static void put_part(struct message *message, uint16_t nest_type, uint16_t id_type, uint32_t id,
		     const uint8_t *stats, size_t length, unsigned int shape)
{
	struct nlattr *nest;

	if (shape & PAD_BEFORE)
		put_attr(message, TASKSTATS_TYPE_NULL, NULL, 0);
	if (shape & STRANGERS)
		put_attr(message, 900, "stranger", 8);
	if (shape & NESTED_FLAG)
		nest_type |= NLA_F_NESTED;
	nest = put_attr(message, nest_type, NULL, 0);
	put_attr(message, id_type, &id, sizeof(id));
	if (shape & PAD_INSIDE)
		put_attr(message, TASKSTATS_TYPE_NULL, NULL, 0);
	if (shape & STRANGERS)
		put_attr(message, 901, "odd", 3);
	put_attr(message, TASKSTATS_TYPE_STATS, stats, length);
	end_nest(message, nest);
}

static void make_exit(struct message *message, unsigned int version, bool with_group,
		      unsigned int shape)
{
	uint8_t stats[1024];

	fill_stats(stats, version);
	message_begin(message, FAMILY, TASKSTATS_CMD_NEW);
	put_part(message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats,
		 size_of(version), shape);
	if (with_group)
		put_part(message, TASKSTATS_TYPE_AGGR_TGID, TASKSTATS_TYPE_TGID, PID, stats,
			 size_of(version), shape);
	message_end(message);
}

static enum decoded_as decode(const struct message *message, struct decoded *ret)
{
	return decode_message(message->bytes, message->length, FAMILY, ret);
}

/* ---- What must come out ---- */

static void check_since(uint64_t value, unsigned int version, unsigned int since,
			uint64_t expected)
{
	assert_int_equal(value, version >= since ? expected : ACT_UNKNOWN);
}

static void check_delays(const struct act_record *task, unsigned int version)
{
	static const struct {
		uint8_t field, since;
		uint16_t at;
	} delays[] = {
		{ ACT_F_cpu_delay_count, 1, 16 },       { ACT_F_blkio_delay_count, 1, 32 },
		{ ACT_F_swapin_delay_count, 1, 48 },    { ACT_F_freepages_delay_count, 7, 312 },
		{ ACT_F_thrashing_delay_count, 9, 328 }, { ACT_F_compact_delay_count, 11, 352 },
		{ ACT_F_wpcopy_delay_count, 13, 400 },  { ACT_F_irq_delay_count, 14, 416 },
	};

	for (size_t i = 0; i < 8; i++) {
		const uint64_t *value = &task->value[delays[i].field];

		check_since(value[0], version, delays[i].since, 1000u + delays[i].at);
		check_since(value[1], version, delays[i].since, 1008u + delays[i].at);
		check_since(value[2], version, 15, 20000 + i);
		check_since(value[3], version, 15, 10000 + i);
		check_since(value[4], version, 17,
			    (1800000000 + i) * 1000000000 + 999999999 - i);
	}
}

static void check_task(const struct act_record *task, unsigned int version)
{
	assert_int_equal(task->version, version);
	assert_int_equal(task->tid, TID);
	check_since(task->pid, version, 12, PID);
	assert_int_equal(task->status, 0x300);
	assert_int_equal(task->flags, 0x20);
	assert_int_equal((int64_t)task->nice, -10);
	assert_int_equal(task->sched, 3);
	assert_int_equal(task->uid, 4294967294u);
	assert_int_equal(task->gid, 77);
	assert_int_equal(task->ppid, 1);
	assert_string_equal(task->comm_text, "a\nb\"\\\x1b\xff");
	assert_int_equal(task->comm_text[20], 0);
	assert_int_equal(task->btime_ns, (version >= 10 ? 5 : 4) * UINT64_C(1000000000000000000));
	assert_int_equal(task->wall_ns, 1144000);
	assert_int_equal(task->user_ns, 1152000);
	assert_int_equal(task->system_ns, 1160000);
	assert_int_equal(task->minflt, 1168);
	assert_int_equal(task->majflt, 1176);
	assert_int_equal(task->rss_integral, 1184);
	assert_int_equal(task->vm_integral, 1192);
	assert_int_equal(task->rss_max_bytes, 1200 * 1024);
	assert_int_equal(task->vm_max_bytes, 1208 * 1024);
	assert_int_equal(task->rchar_bytes, 1216);
	assert_int_equal(task->wchar_bytes, 1224);
	assert_int_equal(task->syscr, 1232);
	assert_int_equal(task->syscw, 1240);
	assert_int_equal(task->read_bytes, 1248);
	assert_int_equal(task->write_bytes, 1256);
	assert_int_equal(task->cancelled_bytes, 1264);
	assert_int_equal(task->nvcsw, 1272);
	assert_int_equal(task->nivcsw, 1280);
	assert_int_equal(task->user_scaled_ns, 1288000);
	assert_int_equal(task->system_scaled_ns, 1296000);
	assert_int_equal(task->run_scaled_ns, 1304);
	assert_int_equal(task->run_real_ns, 1064);
	assert_int_equal(task->run_ns, 1072);
	check_since(task->tgetime_ns, version, 12, 1376000);
	check_since(task->exe_dev, version, 12, 1384);
	check_since(task->exe_inode, version, 12, 1392);
	assert_int_equal(task->threads, 1);
	assert_int_equal(task->cpu, ACT_UNKNOWN);
	assert_int_equal(task->end_ns, ACT_UNKNOWN);
	check_delays(task, version);
}

static void check_group(const struct act_record *group)
{
	assert_int_equal(group->pid, PID);
	assert_int_equal(group->wall_ns, 1144000);
	assert_int_equal(group->user_ns, 1152000);
	assert_int_equal(group->nvcsw, 1272);
	assert_int_equal(group->run_ns, 1072);
	assert_int_equal(group->cpu_delay_ns, 1024);
	/* What the kernel's sum does not have, or has wrong. */
	assert_int_equal(group->tid, ACT_UNKNOWN);
	assert_int_equal(group->status, ACT_UNKNOWN);
	assert_int_equal(group->minflt, ACT_UNKNOWN);
	assert_int_equal(group->uid, ACT_UNKNOWN);
	assert_int_equal(group->cpu_delay_max_ns, ACT_UNKNOWN);
	assert_string_equal(group->comm_text, "");
}

static void test_versions(void **state)
{
	static struct decoded decoded;
	struct message message;

	(void)state;
	for (unsigned int version = 7; version <= 17; version++) {
		for (unsigned int shape = 0; shape < 16; shape++) {
			make_exit(&message, version, shape % 2, shape);
			assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
			assert_true(decoded.has_task);
			assert_int_equal(decoded.has_group, shape % 2);
			check_task(&decoded.task, version);
			if (decoded.has_group)
				check_group(&decoded.group);
		}
	}
}

/* Kernels between two commits said 14 and sent the layout of 15. */
static void test_early_15(void **state)
{
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];
	uint16_t version = 14;

	(void)state;
	fill_stats(stats, 15);
	memcpy(stats, &version, sizeof(version));
	message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
	put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats, 560, 0);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
	assert_int_equal(decoded.task.wall_ns, 1144000);
	assert_int_equal(decoded.task.pid, PID);
	assert_int_equal(decoded.task.irq_delay_max_ns, 20007);
}

/* Of a version to come, and of a 17 of other length, the prefix counts. */
static void test_newer(void **state)
{
	static const struct {
		uint16_t version;
		size_t length;
	} newer[] = { { 17, 600 }, { 18, 688 }, { 18, 1000 }, { 99, 560 } };
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		fill_stats(stats, 17);
		memcpy(stats, &newer[i].version, sizeof(newer[i].version));
		message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
		put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats,
			 newer[i].length, 0);
		message_end(&message);
		assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
		assert_int_equal(decoded.task.irq_delay_min_ns, 10007);
		assert_int_equal(decoded.task.irq_delay_max_at_ns, ACT_UNKNOWN);
		assert_int_equal(decoded.task.version, newer[i].version);
	}
}

static void test_too_short(void **state)
{
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];

	(void)state;
	for (unsigned int version = 7; version <= 16; version++) {
		fill_stats(stats, version);
		message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
		put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats,
			 size_of(version) - 8, 0);
		message_end(&message);
		assert_int_equal(decode(&message, &decoded), DECODED_MALFORMED);
	}
}

/* Old kernels gave the sum no version. */
static void test_group_without_version(void **state)
{
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];

	(void)state;
	fill_stats(stats, 8);
	message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
	put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats, 328, 0);
	memset(stats, 0, 2);
	put_part(&message, TASKSTATS_TYPE_AGGR_TGID, TASKSTATS_TYPE_TGID, PID, stats, 328, 0);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
	assert_true(decoded.has_group);
	assert_int_equal(decoded.group.freepages_delay_count, 1312);
}

/* A zero that stands for "fewer than 1024", and one that stands for nothing. */
static void test_unknown(void **state)
{
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];

	(void)state;
	fill_stats(stats, 16);
	put_u64(stats, 232, 0);
	put_u64(stats, 240, 0);
	put_u64(stats, 248, 0);
	put_u64(stats, 384, 0);
	put_u64(stats, 392, 0);
	message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
	put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats, 560, 0);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
	assert_int_equal(decoded.task.syscr, ACT_UNKNOWN);
	assert_int_equal(decoded.task.syscw, ACT_UNKNOWN);
	assert_int_equal(decoded.task.read_bytes, 0);
	assert_int_equal(decoded.task.exe_dev, ACT_UNKNOWN);
	assert_int_equal(decoded.task.exe_inode, ACT_UNKNOWN);
}

/* No number that a kernel could send becomes ACT_UNKNOWN or wraps. */
static void test_saturated(void **state)
{
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];

	(void)state;
	fill_stats(stats, 16);
	put_u64(stats, 144, UINT64_MAX / 999);
	put_u64(stats, 168, ACT_UNKNOWN);
	put_u64(stats, 200, UINT64_MAX);
	put_u64(stats, 344, UINT64_MAX);
	message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
	put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats, 560, 0);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
	assert_int_equal(decoded.task.wall_ns, ACT_UNKNOWN - 1);
	assert_int_equal(decoded.task.minflt, ACT_UNKNOWN - 1);
	assert_int_equal(decoded.task.rss_max_bytes, ACT_UNKNOWN - 1);
	assert_int_equal(decoded.task.btime_ns, ACT_UNKNOWN - 1);
}

/* The name fills its field without a NUL. */
static void test_long_comm(void **state)
{
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];

	(void)state;
	fill_stats(stats, 16);
	memset(stats + 80, 'c', 32);
	message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
	put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats, 560, 0);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
	assert_int_equal(strlen(decoded.task.comm_text), 31);
}

static void test_switched(void **state)
{
	static struct decoded decoded;
	struct message message;
	uint8_t stats[1024];

	(void)state;
	make_exit(&message, 16, true, 0);
	assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
	assert_true(decoded.task_waited && decoded.group_waited);
	decode_hide_switched(&decoded.task);
	for (int field = 0; field < ACT_FIELDS; field++)
		if (act_field_table[field].sources & ACT_FROM_SWITCH)
			assert_int_equal(decoded.task.value[field], ACT_UNKNOWN);
	assert_int_equal(decoded.task.cpu_delay_ns, 1024);
	assert_int_equal(decoded.task.version, 16);

	memset(stats, 0, sizeof(stats));
	stats[0] = 16;
	put_u64(stats, 16, 5); /* the CPU's delays are not behind the switch */
	message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
	put_part(&message, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, TID, stats, 560, 0);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_EXIT);
	assert_false(decoded.task_waited);
}

static void test_alien(void **state)
{
	static struct decoded decoded;
	struct message message;

	(void)state;
	make_exit(&message, 16, false, 0);
	assert_int_equal(decode_message(message.bytes, message.length, FAMILY + 1, &decoded),
			 DECODED_ALIEN);
	((struct nlmsghdr *)message.bytes)->nlmsg_type = NLMSG_ERROR;
	assert_int_equal(decode(&message, &decoded), DECODED_ALIEN);
	message_begin(&message, FAMILY, TASKSTATS_CMD_GET);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_ALIEN);
	message_begin(&message, FAMILY, TASKSTATS_CMD_NEW);
	message_end(&message);
	assert_int_equal(decode(&message, &decoded), DECODED_MALFORMED);
}

/*
 * Cut at every byte: never a record, never a read behind the end; also when
 * the header says that it is all.
 */
static void test_cut(void **state)
{
	static struct decoded decoded;
	struct message message;

	(void)state;
	make_exit(&message, 16, true, PAD_INSIDE);
	for (size_t length = 0; length < message.length; length++) {
		/* Exactly as large as the rest, so that a sanitizer sees an overrun. */
		uint8_t *bytes = malloc(length ? length : 1);
		uint32_t number = 0;

		assert_non_null(bytes);
		memcpy(bytes, message.bytes, length);
		assert_int_not_equal(decode_message(bytes, length, FAMILY, &decoded), DECODED_EXIT);
		assert_int_equal(decode_number(bytes, length, &number), length >= NLMSG_HDRLEN);
		assert_int_equal(number, length >= NLMSG_HDRLEN ? 0xfffffff0 : 0);
		if (length >= NLMSG_HDRLEN)
			((struct nlmsghdr *)bytes)->nlmsg_len = (uint32_t)length;
		/* What is whole before the cut is the task's part. */
		if (decode_message(bytes, length, FAMILY, &decoded) == DECODED_EXIT)
			assert_true(decoded.has_task && !decoded.has_group && length >= 600);
		free(bytes);
	}
}

/* Every 16 bits of the message set to lengths that lie. */
static void test_lies(void **state)
{
	static const uint16_t lies[] = { 0, 1, 3, 4, 5, 7, 8, 559, 560, 1172, 0x7fff, 0xffff };
	static struct decoded decoded;
	struct message message;

	(void)state;
	make_exit(&message, 16, true, STRANGERS);
	for (size_t at = 0; at + 2 <= message.length; at += 2) {
		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			uint8_t *bytes = malloc(message.length);

			assert_non_null(bytes);
			memcpy(bytes, message.bytes, message.length);
			memcpy(bytes + at, &lies[i], sizeof(lies[i]));
			if (decode_message(bytes, message.length, FAMILY, &decoded) == DECODED_EXIT)
				assert_true(decoded.has_task || decoded.has_group);
			free(bytes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_early_15),
		cmocka_unit_test(test_newer),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_group_without_version),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_saturated),
		cmocka_unit_test(test_long_comm),
		cmocka_unit_test(test_switched),
		cmocka_unit_test(test_alien),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
