/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moments as people write them. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/parse.h"

/* Seconds since the epoch that still fit as nanoseconds below 2^63. */
#define SECONDS_MAX ((int64_t)(INT64_MAX / (int64_t)NSEC_PER_SEC) - 1)

struct moment {
	unsigned int year, month, day;
	unsigned int hour, minute, second;
	uint64_t ns;
	bool has_zone;
	int east_s; /* of UTC */
};

/* ---- Pieces ---- */

static bool take_char(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/* Exactly @count digits. */
static bool take_digits(const char **at, unsigned int count, unsigned int *ret_value)
{
	unsigned int value = 0;

	for (; count; count--, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		value = value * 10 + (unsigned int)(**at - '0');
	}
	*ret_value = value;
	return true;
}

/* ".5": a fraction of a second; digits behind the ninth are cut. */
static bool take_fraction(const char **at, uint64_t *ret_ns)
{
	uint64_t ns = 0, unit = NSEC_PER_SEC / 10;

	if (!take_char(at, '.'))
		return true;
	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
		ns += (uint64_t)(**at - '0') * unit;
	*ret_ns = ns;
	return true;
}

static unsigned int days_of_month(unsigned int year, unsigned int month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && is_leap ? 29 : days[month - 1];
}

static bool take_date(const char **at, struct moment *moment)
{
	return take_digits(at, 4, &moment->year) && take_char(at, '-') &&
	       take_digits(at, 2, &moment->month) && take_char(at, '-') &&
	       take_digits(at, 2, &moment->day) &&
	       moment->month >= 1 && moment->month <= 12 &&
	       moment->day >= 1 && moment->day <= days_of_month(moment->year, moment->month);
}

/* "10:00", "10:00:00", "10:00:00.5" */
static bool take_clock(const char **at, struct moment *moment)
{
	if (!take_digits(at, 2, &moment->hour) || !take_char(at, ':') ||
	    !take_digits(at, 2, &moment->minute))
		return false;
	if (take_char(at, ':') &&
	    (!take_digits(at, 2, &moment->second) || !take_fraction(at, &moment->ns)))
		return false;
	return moment->hour < 24 && moment->minute < 60 && moment->second < 60;
}

/* "Z", "+01:00", "+0100", "+01", or nothing */
static bool take_zone(const char **at, struct moment *moment)
{
	bool is_west = **at == '-';
	unsigned int hours, minutes = 0;

	if (!**at)
		return true;
	moment->has_zone = true;
	if (take_char(at, 'Z') || take_char(at, 'z'))
		return true;
	if (!take_char(at, '+') && !take_char(at, '-'))
		return false;
	if (!take_digits(at, 2, &hours))
		return false;
	if ((take_char(at, ':') || **at) && !take_digits(at, 2, &minutes))
		return false;
	if (hours > 23 || minutes > 59)
		return false;
	moment->east_s = (int)(hours * 3600 + minutes * 60) * (is_west ? -1 : 1);
	return true;
}

/* ---- Conversion ---- */

/* Days since 1970-01-01 of a date in the Gregorian calendar, years from March on. */
static int64_t days_since_epoch(const struct moment *moment)
{
	int64_t year = (int64_t)moment->year - (moment->month <= 2);
	int64_t month = ((int64_t)moment->month + 9) % 12;
	int64_t day_of_year = (153 * month + 2) / 5 + moment->day - 1;

	/* 719468: days from 0000-03-01.  Year -1 is January 0000: out of range anyhow. */
	return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719468;
}

static int64_t seconds_in_zone(const struct moment *moment)
{
	return days_since_epoch(moment) * 86400 + (int64_t)moment->hour * 3600 +
	       (int64_t)moment->minute * 60 + moment->second - moment->east_s;
}

/* In the local zone; a time that a clock change skips counts as if it had not been changed. */
static int64_t seconds_local(const struct moment *moment)
{
	struct tm tm = {
		.tm_year = (int)moment->year - 1900,
		.tm_mon = (int)moment->month - 1,
		.tm_mday = (int)moment->day,
		.tm_hour = (int)moment->hour,
		.tm_min = (int)moment->minute,
		.tm_sec = (int)moment->second,
		.tm_isdst = -1,
	};

	return mktime(&tm);
}

static int finish(const struct moment *moment, uint64_t *ret_ns)
{
	int64_t s = moment->has_zone ? seconds_in_zone(moment) : seconds_local(moment);

	if (s < 0 || s > SECONDS_MAX)
		return -ERANGE;
	*ret_ns = (uint64_t)s * NSEC_PER_SEC + moment->ns;
	return 0;
}

/* The local date, @days before that of @now_ns; midnight. */
static int set_date(struct moment *moment, uint64_t now_ns, int days)
{
	time_t now = (time_t)(now_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return -ERANGE;
	/* Noon, so that no clock change moves it to another day. */
	tm.tm_mday -= days;
	tm.tm_hour = 12;
	tm.tm_isdst = -1;
	if (mktime(&tm) == -1)
		return -ERANGE;
	moment->year = (unsigned int)tm.tm_year + 1900;
	moment->month = (unsigned int)tm.tm_mon + 1;
	moment->day = (unsigned int)tm.tm_mday;
	return 0;
}

/* ---- Forms ---- */

/* "@1796083200.5" */
static int parse_epoch(const char *text, uint64_t *ret_ns)
{
	/* A bare duration is in seconds; only its digits and point are allowed here. */
	if (strspn(text, "0123456789.") != strlen(text))
		return -EINVAL;
	return parse_duration(text, ret_ns);
}

/* "10m ago" */
static int parse_ago(const char *text, size_t length, uint64_t now_ns, uint64_t *ret_ns)
{
	char duration[64];
	uint64_t ns;
	int ret;

	if (length >= sizeof(duration))
		return -EINVAL;
	memcpy(duration, text, length);
	duration[length] = '\0';
	ret = parse_duration(duration, &ns);
	if (ret < 0)
		return ret;
	if (ns > now_ns)
		return -ERANGE;
	*ret_ns = now_ns - ns;
	return 0;
}

static int parse_today(const char *text, uint64_t now_ns, int days, uint64_t *ret_ns)
{
	struct moment moment = { 0 };
	int ret;

	if (text && (!take_clock(&text, &moment) || *text))
		return -EINVAL;
	ret = set_date(&moment, now_ns, days);
	return ret < 0 ? ret : finish(&moment, ret_ns);
}

static int parse_date(const char *text, uint64_t *ret_ns)
{
	struct moment moment = { 0 };

	if (!take_date(&text, &moment))
		return -EINVAL;
	if (*text) {
		if (!take_char(&text, 'T') && !take_char(&text, 't') && !take_char(&text, ' '))
			return -EINVAL;
		if (!take_clock(&text, &moment) || !take_zone(&text, &moment) || *text)
			return -EINVAL;
	}
	return finish(&moment, ret_ns);
}

int parse_time(const char *text, uint64_t now_ns, uint64_t *ret_ns)
{
	static const char ago[] = " ago";
	size_t length = strlen(text);

	if (*text == '@')
		return parse_epoch(text + 1, ret_ns);
	if (strcmp(text, "now") == 0) {
		*ret_ns = now_ns;
		return 0;
	}
	if (strcmp(text, "today") == 0)
		return parse_today(NULL, now_ns, 0, ret_ns);
	if (strcmp(text, "yesterday") == 0)
		return parse_today(NULL, now_ns, 1, ret_ns);
	if (length > strlen(ago) && strcmp(text + length - strlen(ago), ago) == 0)
		return parse_ago(text, length - strlen(ago), now_ns, ret_ns);
	if (length > 2 && text[2] == ':')
		return parse_today(text, now_ns, 0, ret_ns);
	return parse_date(text, ret_ns);
}
