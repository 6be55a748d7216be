/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lastcomm.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <actuary/record.h>

#define NSEC UINT64_C(1000000000)

/* include/uapi/linux/acct.h */
#define AFORK 0x01
#define ASU 0x02

void lastcomm_fields(struct act_field_set *fields)
{
	static const enum act_field needed[] = {
		ACT_F_comm,   ACT_F_flags,  ACT_F_signal,   ACT_F_core,
		ACT_F_uid,    ACT_F_cpu_ns, ACT_F_start_ns,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		act_field_set_add(fields, needed[i]);
}

/* As lastcomm does: what cannot be printed is a question mark. */
static void put_command(const struct act_texts *texts, uint64_t id, char ret_text[17])
{
	size_t length = id < texts->count ? texts->length[id] : 0;

	memset(ret_text, ' ', 16);
	ret_text[16] = '\0';
	for (size_t i = 0; i < length && i < 16; i++) {
		char c = texts->text[id][i];

		ret_text[i] = c >= ' ' && c <= '~' ? c : '?';
	}
}

static bool is_set(uint64_t flags, uint64_t bit)
{
	return flags != ACT_UNKNOWN && flags & bit;
}

/*
 * X and D come from the wait status.  The kernel's own flags also mark tasks
 * that only went down with their process or gave way to an exec.
 */
static void put_flags(const struct act_batch *batch, uint32_t row, char ret_text[6])
{
	uint64_t flags = batch->column[ACT_F_flags][row];
	uint64_t core = batch->column[ACT_F_core][row];
	uint64_t signal = batch->column[ACT_F_signal][row];

	ret_text[0] = is_set(flags, ASU) ? 'S' : ' ';
	ret_text[1] = is_set(flags, AFORK) ? 'F' : ' ';
	ret_text[2] = ' '; /* C, compatibility mode of machines long gone */
	ret_text[3] = is_set(core, 1) ? 'D' : ' ';
	ret_text[4] = signal && signal != ACT_UNKNOWN ? 'X' : ' ';
	ret_text[5] = '\0';
}

/* Names are cut to eight bytes, as there; numbers are not, a cut one is another. */
static void put_user(struct users *users, uint64_t uid, char ret_text[24])
{
	const char *name = users_name(users, uid);

	if (name)
		snprintf(ret_text, 24, "%-8.8s", name);
	else if (uid == ACT_UNKNOWN)
		snprintf(ret_text, 24, "%-8s", "-");
	else
		snprintf(ret_text, 24, "%-8llu", (unsigned long long)uid);
}

static void put_cpu(uint64_t cpu_ns, char ret_text[24])
{
	uint64_t hundredths = cpu_ns / (NSEC / 100);

	if (cpu_ns == ACT_UNKNOWN)
		snprintf(ret_text, 24, "%6s", "-");
	else
		snprintf(ret_text, 24, "%3llu.%02llu", (unsigned long long)(hundredths / 100),
			 (unsigned long long)(hundredths % 100));
}

/* Local time to the minute; many rows begin in the same second. */
static void put_start(uint64_t start_ns, char ret_text[24])
{
	static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t seconds = (time_t)(start_ns / NSEC);
	struct tm tm;

	if (start_ns == ACT_UNKNOWN || !localtime_r(&seconds, &tm))
		memcpy(ret_text, "-", sizeof("-"));
	else
		snprintf(ret_text, 24, "%s %s %2d %02d:%02d", days[tm.tm_wday], months[tm.tm_mon],
			 tm.tm_mday, tm.tm_hour, tm.tm_min);
}

void lastcomm_print(struct users *users, struct out *out, const struct act_batch *batch,
		    const uint32_t *rows, size_t count)
{
	const struct act_texts *texts = &batch->text[ACT_F_comm];
	char command[17], flags[6], user[24], cpu[24], start[24] = "";
	uint64_t uid = 0, second = UINT64_MAX;
	bool has_user = false;

	for (size_t i = 0; i < count; i++) {
		uint32_t row = rows[i];
		uint64_t start_ns = batch->column[ACT_F_start_ns][row];

		put_command(texts, batch->column[ACT_F_comm][row], command);
		put_flags(batch, row, flags);
		if (!has_user || batch->column[ACT_F_uid][row] != uid) {
			uid = batch->column[ACT_F_uid][row];
			put_user(users, uid, user);
			has_user = true;
		}
		put_cpu(batch->column[ACT_F_cpu_ns][row], cpu);
		if (start_ns / NSEC != second) {
			second = start_ns / NSEC;
			put_start(start_ns, start);
		}
		out_printf(out, "%s %s %s %-8s %s secs %s\n", command, flags, user, "__", cpu,
			   start);
	}
}
