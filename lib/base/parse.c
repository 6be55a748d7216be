/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"

/* Values end below 2^63, where ACT_UNKNOWN is. */
#define VALUE_MAX (UINT64_MAX >> 1)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes one or more digits; a number that does not fit is -ERANGE, and taken too. */
static int take_number(const char **at, uint64_t *ret_value)
{
	uint64_t value = 0;
	int ret = 0;

	if (!is_digit(**at))
		return -EINVAL;
	for (; is_digit(**at); (*at)++) {
		uint64_t digit = (uint64_t)(**at - '0');

		if (value > (VALUE_MAX - digit) / 10)
			ret = -ERANGE;
		else
			value = value * 10 + digit;
	}
	if (ret == 0)
		*ret_value = value;
	return ret;
}

int parse_count(const char *text, uint64_t *ret_count)
{
	uint64_t value = 0;
	int ret = take_number(&text, &value);

	if (*text)
		return -EINVAL;
	if (ret == 0)
		*ret_count = value;
	return ret;
}

/* ---- Decimal numbers with a unit ---- */

/* As typed: whole + fraction / scale. */
struct decimal {
	uint64_t whole;
	uint64_t fraction;
	uint64_t scale;  /* a power of ten; 1: there was no point */
	int error;       /* -ERANGE: so far it is of the right form, but too large */
};

/* "15", "1.5"; digits beyond what a nanosecond of a century needs count for nothing. */
static int take_decimal(const char **at, struct decimal *ret_decimal)
{
	struct decimal decimal = { .scale = 1 };

	decimal.error = take_number(at, &decimal.whole);
	if (decimal.error == -EINVAL)
		return -EINVAL;
	if (**at == '.') {
		(*at)++;
		if (!is_digit(**at))
			return -EINVAL;
		for (; is_digit(**at); (*at)++) {
			if (decimal.scale > UINT64_C(100000000000000000))
				continue;
			decimal.fraction = decimal.fraction * 10 + (uint64_t)(**at - '0');
			decimal.scale *= 10;
		}
	}
	*ret_decimal = decimal;
	return 0;
}

/* Times @unit, cut to a whole number. */
static int scale(const struct decimal *decimal, uint64_t unit, uint64_t *ret_value)
{
	unsigned __int128 value = (unsigned __int128)decimal->whole * unit +
				  (unsigned __int128)decimal->fraction * unit / decimal->scale;

	if (decimal->error || value > VALUE_MAX)
		return -ERANGE;
	*ret_value = (uint64_t)value;
	return 0;
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char letters[] = "kKmMgGtTpPeE";
	struct decimal decimal;
	uint64_t unit = 1;
	const char *letter;

	if (take_decimal(&text, &decimal) < 0)
		return -EINVAL;
	letter = *text ? strchr(letters, *text) : NULL;
	if (letter) {
		unit <<= (letter - letters) / 2 * 10 + 10;
		text++;
		if (strcmp(text, "iB") == 0)
			text += 2;
	} else if (decimal.scale > 1) {
		return -EINVAL; /* half a byte */
	} else if (*text == 'B') {
		text++;
	}
	if (*text)
		return -EINVAL;
	return scale(&decimal, unit, ret_bytes);
}

/* Largest first, as they stand in "1h30m". */
static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "w", 7 * 86400 * NSEC_PER_SEC },
	{ "d", 86400 * NSEC_PER_SEC },
	{ "h", 3600 * NSEC_PER_SEC },
	{ "m", 60 * NSEC_PER_SEC },
	{ "s", NSEC_PER_SEC },
	{ "ms", NSEC_PER_MSEC },
	{ "us", NSEC_PER_USEC },
	{ "ns", 1 },
};
enum { UNITS = sizeof(units) / sizeof(*units) };

/* Takes the letters of a unit from @first on; its index, or -EINVAL. */
static int take_unit(const char **at, size_t first)
{
	size_t length = 0;

	while ((*at)[length] >= 'a' && (*at)[length] <= 'z')
		length++;
	for (size_t i = first; i < UNITS; i++) {
		if (strlen(units[i].name) == length && memcmp(units[i].name, *at, length) == 0) {
			*at += length;
			return (int)i;
		}
	}
	return -EINVAL;
}

/* Takes a duration as parse_duration() does, up to a character that is none of it. */
static int take_duration(const char **at, uint64_t *ret_ns)
{
	uint64_t sum = 0;
	size_t first = 0;
	int ret = 0;

	do {
		struct decimal decimal;
		uint64_t part = 0;
		int unit;

		if (take_decimal(at, &decimal) < 0)
			return -EINVAL;
		if (first == 0 && (**at == '\0' || **at == ' '))
			return scale(&decimal, NSEC_PER_SEC, ret_ns);
		unit = take_unit(at, first);
		if (unit < 0)
			return unit;
		first = (size_t)unit + 1;
		if (scale(&decimal, units[unit].ns, &part) < 0 || part > VALUE_MAX - sum)
			ret = -ERANGE;
		else
			sum += part;
	} while (is_digit(**at));
	if (ret == 0)
		*ret_ns = sum;
	return ret;
}

int parse_duration(const char *text, uint64_t *ret_ns)
{
	uint64_t ns = 0;
	int ret = take_duration(&text, &ns);

	if (*text)
		return -EINVAL;
	if (ret == 0)
		*ret_ns = ns;
	return ret;
}
