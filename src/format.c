/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "out.h"

static const char pairs[201] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Two digits, @value below 100. */
static void put_pair(char *at, uint64_t value)
{
	memcpy(at, pairs + value * 2, 2);
}

size_t format_u64(uint64_t value, char ret_text[21])
{
	char digits[20];
	char *at = digits + sizeof(digits);
	size_t length;

	while (value >= 100) {
		at -= 2;
		put_pair(at, value % 100);
		value /= 100;
	}
	if (value >= 10) {
		at -= 2;
		put_pair(at, value);
	} else {
		*--at = (char)('0' + value);
	}
	length = (size_t)(digits + sizeof(digits) - at);
	memcpy(ret_text, at, length);
	ret_text[length] = '\0';
	return length;
}

/* What fits of @text. */
static size_t deliver(const char *text, size_t length, char *ret_text, size_t room)
{
	if (!room)
		return 0;
	if (length >= room)
		length = room - 1;
	memcpy(ret_text, text, length);
	ret_text[length] = '\0';
	return length;
}

static size_t deliver_word(const char *word, char *ret_text, size_t room)
{
	return deliver(word, strlen(word), ret_text, room);
}

/* @value in hundredths, tenths or ones (@decimals 2, 1, 0), and the unit. */
static size_t deliver_decimal(uint64_t value, unsigned int decimals, const char *unit,
			      char *ret_text, size_t room)
{
	static const unsigned int powers[] = { 1, 10, 100 };
	char text[40];
	size_t length = format_u64(value / powers[decimals], text);

	if (decimals) {
		unsigned int rest = (unsigned int)(value % powers[decimals]);

		text[length++] = '.';
		if (decimals == 2)
			text[length++] = (char)('0' + rest / 10);
		text[length++] = (char)('0' + rest % 10);
	}
	memcpy(text + length, unit, strlen(unit));
	return deliver(text, length + strlen(unit), ret_text, room);
}

/* "2m03s": two units, the smaller cut off, not rounded, as clocks do. */
static size_t deliver_pair(uint64_t large, const char *large_unit, uint64_t small,
			   const char *small_unit, char *ret_text, size_t room)
{
	char text[40];
	size_t length = format_u64(large, text);

	text[length++] = *large_unit;
	put_pair(text + length, small);
	length += 2;
	text[length++] = *small_unit;
	return deliver(text, length, ret_text, room);
}

/* Three digits of @ns in @unit_ns, rounded; false if it takes more. */
static bool three_digits(uint64_t ns, uint64_t unit_ns, uint64_t *ret_value,
			 unsigned int *ret_decimals)
{
	static const unsigned int powers[] = { 1, 10, 100 };

	for (unsigned int decimals = 3; decimals-- > 0;) {
		uint64_t step = unit_ns / powers[decimals];
		uint64_t value = (ns + step / 2) / step;

		if (value < 1000) {
			*ret_value = value;
			*ret_decimals = decimals;
			return true;
		}
	}
	return false;
}

static size_t format_short(uint64_t ns, char *ret_text, size_t room)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC }, { "s", NSEC_PER_SEC } };
	unsigned int decimals = 0;
	uint64_t value = 0;
	size_t i = 0;

	if (ns < 1000)
		return deliver_decimal(ns, 0, ns ? "ns" : "s", ret_text, room);
	while (i < 2 && !three_digits(ns, units[i].ns, &value, &decimals))
		i++;
	if (i == 2)
		three_digits(ns, units[i].ns, &value, &decimals);
	return deliver_decimal(value, decimals, units[i].name, ret_text, room);
}

/* Three digits below a minute, so that a column can be read at a glance. */
size_t format_duration(uint64_t ns, char *ret_text, size_t room)
{
	uint64_t s = ns / NSEC_PER_SEC;

	if (ns == ACT_UNKNOWN)
		return deliver_word("-", ret_text, room);
	if (s < 60)
		return format_short(ns, ret_text, room);
	if (s < 3600)
		return deliver_pair(s / 60, "m", s % 60, "s", ret_text, room);
	if (s < 86400)
		return deliver_pair(s / 3600, "h", s / 60 % 60, "m", ret_text, room);
	return deliver_pair(s / 86400, "d", s / 3600 % 24, "h", ret_text, room);
}

size_t format_size(uint64_t bytes, char *ret_text, size_t room)
{
	static const char *const units[] = { "K", "M", "G", "T", "P", "E" };

	if (bytes == ACT_UNKNOWN)
		return deliver_word("-", ret_text, room);
	if (bytes < 1024)
		return deliver_decimal(bytes, 0, "", ret_text, room);
	for (unsigned int i = 0; i < 6; i++) {
		unsigned int shift = 10 * (i + 1);
		uint64_t ones = bytes >> shift, rest = bytes & ((UINT64_C(1) << shift) - 1);
		/* The rest in tenths: shifted so that times 10 cannot overflow. */
		uint64_t tenths = ones * 10 + (((rest >> (shift - 10)) * 10 + 512) >> 10);
		uint64_t rounded = ones + (rest >> (shift - 1));

		if (tenths < 100)
			return deliver_decimal(tenths, 1, units[i], ret_text, room);
		if (rounded < 1024 || i == 5)
			return deliver_decimal(rounded, 0, units[i], ret_text, room);
	}
	return 0; /* not reached: 2^64 bytes are 16E */
}

/* "2026-12-01 10:00:" of one minute; @ret_text holds 17 bytes. */
static void format_minute(time_t minute, char *ret_text)
{
	time_t seconds = minute * 60;
	unsigned int year;
	struct tm tm;

	localtime_r(&seconds, &tm);
	year = (unsigned int)tm.tm_year + 1900;
	put_pair(ret_text, year / 100 % 100);
	put_pair(ret_text + 2, year % 100);
	ret_text[4] = '-';
	put_pair(ret_text + 5, (unsigned int)tm.tm_mon + 1);
	ret_text[7] = '-';
	put_pair(ret_text + 8, (unsigned int)tm.tm_mday);
	ret_text[10] = ' ';
	put_pair(ret_text + 11, (unsigned int)tm.tm_hour);
	ret_text[13] = ':';
	put_pair(ret_text + 14, (unsigned int)tm.tm_min);
	ret_text[16] = ':';
}

/*
 * localtime_r() is a hundred times slower than the rest, so the last minute is
 * kept.  Zones differ from UTC by whole minutes since 1972.
 */
size_t format_time(uint64_t ns, char *ret_text, size_t room)
{
	static _Thread_local char text[24];
	static _Thread_local time_t minute = -1;
	uint64_t s = ns / NSEC_PER_SEC;
	unsigned int ms = (unsigned int)(ns % NSEC_PER_SEC / NSEC_PER_MSEC);

	if (ns == ACT_UNKNOWN)
		return deliver_word("-", ret_text, room);
	if ((time_t)(s / 60) != minute) {
		minute = (time_t)(s / 60);
		format_minute(minute, text);
	}
	put_pair(text + 17, s % 60);
	text[19] = '.';
	text[20] = (char)('0' + ms / 100);
	put_pair(text + 21, ms % 100);
	return deliver(text, 23, ret_text, room);
}

const char *kind_word(uint64_t kind)
{
	switch (kind) {
	case ACT_KIND_TASK:
		return "task";
	case ACT_KIND_PROCESS:
		return "process";
	case ACT_KIND_BOTH:
		return "both";
	default:
		return "?";
	}
}

static size_t format_signed(int64_t value, char *ret_text, size_t room)
{
	char text[24];
	bool is_negative = value < 0;
	size_t length;

	text[0] = '-';
	length = format_u64(is_negative ? -(uint64_t)value : (uint64_t)value, text + is_negative);
	return deliver(text, length + is_negative, ret_text, room);
}

size_t format_value(enum act_type type, uint64_t value, char *ret_text, size_t room)
{
	if (value == ACT_UNKNOWN || type == ACT_TYPE_TEXT)
		return deliver_word("-", ret_text, room);
	switch (type) {
	case ACT_TYPE_SIGNED:
		return format_signed((int64_t)value, ret_text, room);
	case ACT_TYPE_DURATION:
		return format_duration(value, ret_text, room);
	case ACT_TYPE_TIME:
		return format_time(value, ret_text, room);
	case ACT_TYPE_SIZE:
		return format_size(value, ret_text, room);
	case ACT_TYPE_BOOL:
		return deliver_word(value ? "yes" : "no", ret_text, room);
	case ACT_TYPE_KIND:
		return deliver_word(kind_word(value), ret_text, room);
	default:
		return deliver_decimal(value, 0, "", ret_text, room);
	}
}
