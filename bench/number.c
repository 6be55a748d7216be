/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to here every integer is a double. */
#define EXACT_MAX (UINT64_C(1) << 53)
/* What an uint64_t holds for sure. */
#define DIGITS_MAX 19

/* The powers of ten that are doubles, exactly. */
static const double powers[] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};
#define POWER_MAX ((int)(sizeof(powers) / sizeof(*powers)) - 1)

/* ---- Reading ---- */

struct decimal {
	uint64_t mantissa;
	unsigned int digits; /* of the mantissa, without leading zeros */
	int exponent;
};

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static const char *read_digits(const char *at, struct decimal *decimal)
{
	for (; is_digit(*at); at++) {
		/* Beyond that it wraps, and is not used. */
		decimal->mantissa = decimal->mantissa * 10 + (unsigned char)(*at - '0');
		decimal->digits += decimal->digits || decimal->mantissa;
	}
	return at;
}

/*
 * "e-5"; where it is none, as in "5elapsed", the number ends before it.  An
 * absurd one ends up beyond every table.
 */
static const char *read_exponent(const char *text, struct decimal *decimal)
{
	const char *at = text + 1;
	bool is_negative = *at == '-';
	int exponent = 0;

	at += *at == '-' || *at == '+';
	if (!is_digit(*at))
		return text;
	for (; is_digit(*at); at++)
		exponent = exponent < 100000 ? exponent * 10 + (*at - '0') : exponent;
	decimal->exponent += is_negative ? -exponent : exponent;
	return at;
}

/* The unsigned part; NULL if it does not have the form. */
static const char *read_decimal(const char *text, bool is_json, struct decimal *decimal)
{
	const char *at = read_digits(text, decimal);
	size_t whole = (size_t)(at - text), rest = 0;

	if (is_json && (!whole || (whole > 1 && *text == '0')))
		return NULL;
	if (*at == '.') {
		const char *point = at++;

		at = read_digits(at, decimal);
		rest = (size_t)(at - point) - 1;
		if (is_json && !rest)
			return NULL;
		decimal->exponent = rest < 100000 ? -(int)rest : -100000;
	}
	if (!whole && !rest)
		return NULL;
	return *at == 'e' || *at == 'E' ? read_exponent(at, decimal) : at;
}

const char *number_read(const char *text, bool is_json, double *ret_value)
{
	bool is_negative = *text == '-';
	struct decimal decimal = { 0 };
	const char *end = read_decimal(text + (is_negative || (*text == '+' && !is_json)),
				       is_json, &decimal);
	double value;

	if (!end)
		return NULL;
	/*
	 * Two exact doubles and one rounding: as strtod() rounds (Clinger 1990).
	 * Everything else is for strtod(), which by now can only see a decimal.
	 */
	if (decimal.digits > DIGITS_MAX || decimal.mantissa > EXACT_MAX ||
	    decimal.exponent > POWER_MAX || decimal.exponent < -POWER_MAX) {
		*ret_value = strtod(text, NULL);
		return end;
	}
	value = (double)decimal.mantissa;
	value = decimal.exponent < 0 ? value / powers[-decimal.exponent] :
				       value * powers[decimal.exponent];
	*ret_value = is_negative ? -value : value;
	return end;
}

/* ---- Writing ---- */

static size_t write_digits(uint64_t value, char *text)
{
	char digits[20];
	char *at = digits + sizeof(digits);
	size_t length;

	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	length = (size_t)(digits + sizeof(digits) - at);
	memcpy(text, at, length);
	return length;
}

/* "12.5" as 125 and 1 decimal. */
static size_t write_fixed(uint64_t mantissa, unsigned int decimals, char *text)
{
	uint64_t power = (uint64_t)powers[decimals];
	uint64_t rest = mantissa % power;
	size_t length = write_digits(mantissa / power, text);

	if (!decimals)
		return length;
	text[length++] = '.';
	for (uint64_t digit = power / 10; digit > 1 && rest < digit; digit /= 10)
		text[length++] = '0';
	return length + write_digits(rest, text + length);
}

/* 15 digits if they say it all, so that 0.1 is not 0.10000000000000001. */
static size_t write_any(double value, char text[NUMBER_ROOM])
{
	int length = snprintf(text, NUMBER_ROOM, "%.15g", value);

	if (strtod(text, NULL) != value)
		length = snprintf(text, NUMBER_ROOM, "%.16g", value);
	if (strtod(text, NULL) != value)
		length = snprintf(text, NUMBER_ROOM, "%.17g", value);
	return (size_t)length;
}

/* Most are whole, or have a few decimals: then mantissa / power is what is read again. */
size_t number_write(double value, char ret_text[NUMBER_ROOM])
{
	double size = fabs(value);
	size_t sign = signbit(value) && value != 0;

	ret_text[0] = '-';
	for (unsigned int decimals = 0; decimals <= 9; decimals++) {
		double mantissa = nearbyint(size * powers[decimals]);
		size_t length;

		if (mantissa > (double)EXACT_MAX)
			break;
		if (mantissa / powers[decimals] != size)
			continue;
		length = sign + write_fixed((uint64_t)mantissa, decimals, ret_text + sign);
		ret_text[length] = '\0';
		return length;
	}
	return write_any(value, ret_text);
}
