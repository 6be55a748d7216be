/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A double tells no more than so many digits apart. */
enum { DIGITS = 15, DECIMALS_MAX = 9, DECIMALS_TOLD = 6 };

/* ---- Units ---- */

struct unit {
	double least; /* of the value, in its own unit, that is told so */
	double factor;
	const char *suffix;
};

static const struct unit ns_units[] = {
	{ 1e9, 1e-9, "s" }, { 1e6, 1e-6, "ms" }, { 1e3, 1e-3, "us" }, { 0, 1, "ns" },
};
static const struct unit second_units[] = {
	{ 1, 1, "s" }, { 1e-3, 1e3, "ms" }, { 1e-6, 1e6, "us" }, { 0, 1e9, "ns" },
};
static const struct unit byte_units[] = {
	{ 0x1p30, 0x1p-30, "G" }, { 0x1p20, 0x1p-20, "M" }, { 0x1p10, 0x1p-10, "K" }, { 0, 1, "" },
};
static const struct unit percent_units[] = { { 0, 1, "%" } };
static const struct unit plain_units[] = { { 0, 1, "" } };

static const struct unit *units_of(const char *unit)
{
	if (strcmp(unit, "ns") == 0)
		return ns_units;
	if (strcmp(unit, "s") == 0)
		return second_units;
	if (strcmp(unit, "bytes") == 0)
		return byte_units;
	return strcmp(unit, "%") == 0 ? percent_units : plain_units;
}

static const struct unit *choose_unit(const char *name, double value)
{
	const struct unit *unit = units_of(name);

	while (unit->least > fabs(value))
		unit++;
	return unit;
}

/* ---- Decimals ---- */

static double middle(const struct set *set)
{
	return set->value ? set->description.median : set->summary.mean;
}

/* What is to be seen of the values: their least spread, and by how much they differ. */
static double finest(const struct set *a, const struct set *b)
{
	double spread = INFINITY, step = fabs(middle(a) - middle(b));

	if (a->summary.sd > 0)
		spread = a->summary.sd;
	if (b->summary.sd > 0)
		spread = fmin(spread, b->summary.sd);
	if (isinf(spread))
		return step;
	return step > 0 ? fmax(fmin(step, spread), spread / 10) : spread;
}

static int magnitude(double value)
{
	return isnormal(value) ? (int)floor(log10(fabs(value))) : 0;
}

static bool is_told_in(double value, int decimals)
{
	double scaled = value * pow(10, decimals);

	return fabs(scaled - nearbyint(scaled)) < 1e-6 * fmax(1, fabs(scaled) * 1e-9);
}

int set_decimals(const struct set *set)
{
	int decimals = 0;

	if (!set->value)
		return DECIMALS_TOLD;
	for (size_t i = 0; i < set->n; i++)
		while (decimals < DECIMALS_TOLD && !is_told_in(set->value[i], decimals))
			decimals++;
	return decimals;
}

static int at_most(int value, int most)
{
	return value < most ? value : most;
}

static int at_least(int value, int least)
{
	return value > least ? value : least;
}

/*
 * Four digits at least, and one digit of what is finest.  Of values that were told with few
 * decimals five digits, but no more than two decimals beyond theirs: a median or a mean may
 * have these.
 */
static int choose_decimals(double value, double fine, int told)
{
	bool is_rounded = told < DECIMALS_TOLD;
	int decimals = (is_rounded ? 4 : 3) - magnitude(value);

	if (isnormal(fine))
		decimals = at_least(decimals, 1 - magnitude(fine));
	if (is_rounded)
		decimals = at_most(decimals, told + 2);
	decimals = at_most(decimals, DIGITS - 1 - magnitude(value));
	return at_least(at_most(decimals, DECIMALS_MAX), 0);
}

struct form form_for(const struct quantity *metric, const struct set *a, const struct set *b)
{
	const struct unit *unit = choose_unit(metric->unit, middle(a));
	int told = unit->factor == 1 ? at_least(set_decimals(a), set_decimals(b)) : DECIMALS_TOLD;

	return (struct form){
		.factor = unit->factor, .suffix = unit->suffix,
		.decimals = choose_decimals(middle(a) * unit->factor, finest(a, b) * unit->factor,
					    told),
	};
}

/* ---- Texts ---- */

static const char *unknown(char *text)
{
	return strcpy(text, "-");
}

static const char *print_number(double value, int decimals, const char *suffix, bool is_signed,
				char text[NUMBER_ROOM])
{
	const char *sign = is_signed && value >= 0 ? "+" : "";

	if (fabs(value) >= 1e15 || (isnormal(value) && fabs(value) < 1e-12))
		snprintf(text, NUMBER_ROOM, "%s%.6g%s", sign, value, suffix);
	else
		snprintf(text, NUMBER_ROOM, "%s%.*f%s", sign, decimals, value, suffix);
	return text;
}

const char *number_text(double value, const struct form *form, char text[NUMBER_ROOM])
{
	if (isnan(value))
		return unknown(text);
	return print_number(value * form->factor, form->decimals, form->suffix, false, text);
}

/* Of a difference two digits are to be seen, within reason. */
const char *shift_text(double value, const struct form *form, char text[NUMBER_ROOM])
{
	double scaled = value * form->factor;
	int decimals = form->decimals, wanted = 1 - magnitude(scaled);

	if (isnan(value))
		return unknown(text);
	if (isinf(value))
		return strcpy(text, value < 0 ? "-inf" : "+inf");
	if (isnormal(scaled) && wanted > decimals)
		decimals = wanted < form->decimals + 3 ? wanted : form->decimals + 3;
	return print_number(scaled, decimals, form->suffix, true, text);
}

const char *ratio_text(double ratio, char text[NUMBER_ROOM])
{
	if (isnan(ratio))
		return unknown(text);
	snprintf(text, NUMBER_ROOM, ratio < 100 ? "%.4f" : "%.5g", ratio);
	return text;
}

static const char *print_percent(double part, bool is_signed, char text[NUMBER_ROOM])
{
	double percent = 100 * part;

	if (isnan(part))
		return unknown(text);
	if (fabs(percent) < 0.1 || fabs(percent) >= 1e6)
		snprintf(text, NUMBER_ROOM, is_signed ? "%+.2g %%" : "%.2g %%", percent);
	else
		snprintf(text, NUMBER_ROOM, is_signed ? "%+.2f %%" : "%.2f %%", percent);
	return text;
}

const char *percent_text(double part, char text[NUMBER_ROOM])
{
	return print_percent(part, true, text);
}

const char *plain_percent_text(double part, char text[NUMBER_ROOM])
{
	return print_percent(fabs(part), false, text);
}

const char *p_text(double p, char text[NUMBER_ROOM])
{
	if (isnan(p))
		return unknown(text);
	snprintf(text, NUMBER_ROOM, p >= 1e-3 ? "%.4f" : "%.2g", p);
	return text;
}

/* Where so few values can give no smaller p, it is no more than a bound. */
const char *test_p_text(const struct act_test *test, char text[NUMBER_ROOM])
{
	char p[NUMBER_ROOM];

	if (isnan(test->p))
		return unknown(text);
	snprintf(text, NUMBER_ROOM, "%s%.16s",
		 test->p_floor > 0 && test->p < 1 && test->p <= test->p_floor * (1 + 1e-9) ? "<=" : "",
		 p_text(test->p, p));
	return text;
}

static const char *join(const char *low, const char *high, char text[INTERVAL_ROOM])
{
	snprintf(text, INTERVAL_ROOM, "[%.40s, %.40s]", low, high);
	return text;
}

struct form form_of(const struct comparison *c)
{
	return form_for(c->metric, c->base, c->other);
}

const char *adjusted_title(const struct comparison *c)
{
	return c->is_explored ? "P.BH" : "P.HOLM";
}

const char *ratio_interval_text(const struct act_interval *interval, char text[INTERVAL_ROOM])
{
	char low[NUMBER_ROOM], high[NUMBER_ROOM];

	if (isnan(interval->low) || isnan(interval->high))
		return unknown(text);
	if (isinf(interval->high))
		return strcpy(text, "unbounded");
	return join(ratio_text(interval->low, low), ratio_text(interval->high, high), text);
}

const char *shift_interval_text(const struct act_interval *interval, const struct form *form,
				char text[INTERVAL_ROOM])
{
	char low[NUMBER_ROOM], high[NUMBER_ROOM];

	if (isnan(interval->low) || isnan(interval->high))
		return unknown(text);
	return join(shift_text(interval->low, form, low), shift_text(interval->high, form, high),
		    text);
}
