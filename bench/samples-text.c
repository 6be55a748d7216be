/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of plain text: a number a line, or "mean sd n".
 *
 * Strict, since a number that is misread is worse than one that is refused: the
 * decimal comma, two columns, a unit that nobody told are errors, with the line.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/number.h"
#include "bench/samples-load.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static char *skip_blanks(char *at)
{
	while (is_blank(*at))
		at++;
	return at;
}

static size_t word_length(const char *at)
{
	size_t length = 0;

	while (at[length] && !is_blank(at[length]))
		length++;
	return length;
}

static bool is_word(const char *at, const char *word)
{
	return strncasecmp(at, word, strlen(word)) == 0 &&
	       word_length(at) == strlen(word);
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* What strtod(3) would take for a number, and we do not. */
static bool is_not_finite(const char *at)
{
	static const char *const words[] = { "nan", "inf", "infinity" };

	at += *at == '-' || *at == '+';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (is_word(at, words[i]))
			return true;
	return false;
}

/* A first line of words names the columns. */
static bool is_header(const char *at)
{
	return (is_letter(*at) || *at == '"' || *at == '_') && !is_not_finite(at);
}

/*
 * The next line that says something, without what surrounds it; 1 at the end, or
 * a negative errno, explained.
 */
static int next_line(struct loader *loader, char **ret_line)
{
	for (;;) {
		size_t length;
		char *line;
		int ret = reader_next(&loader->reader, &line, &length);

		if (ret < 0) {
			int error = reader_failed(&loader->reader, loader->path, ret, loader->why);

			return error < 0 ? error : ret;
		}
		if (ret == 1)
			return 1;
		while (length && is_blank(line[length - 1]))
			line[--length] = '\0';
		*ret_line = skip_blanks(line);
		if (**ret_line && **ret_line != '#')
			return 0;
	}
}

/* ---- One number ---- */

static int refuse_word(struct loader *loader, const char *at)
{
	int length = (int)word_length(at);
	const char *why = "is no number";
	double value;
	const char *end = number_read(at, false, &value);

	if (length > QUOTED_MAX)
		length = QUOTED_MAX;
	if (is_not_finite(at))
		why = "is not finite";
	else if (end && *end == ',')
		why = "has a comma; the decimal point is a point";
	else if (end && (is_letter(*end) || (unsigned char)*end >= 0x80))
		why = "has a unit; tell with --unit in which to take them";
	return loader_complain(loader, "\"%.*s\" %s", length, at, why);
}

/* "3ms" in @unit; NaN if what follows the number is no unit, or none was asked for. */
static double convert(const struct loader *loader, double value, const char *suffix)
{
	const struct time_unit *unit = time_unit_find(suffix, word_length(suffix));

	return loader->unit && unit ? value * (unit->seconds / loader->unit->seconds) :
				      (double)NAN;
}

/* The word at @at; sets @ret_end to what follows it. */
static int read_value(struct loader *loader, const char *at, double *ret_value,
		      const char **ret_end)
{
	const char *end = number_read(at, false, ret_value);

	*ret_end = at;
	if (!end)
		return refuse_word(loader, at);
	if (*end && !is_blank(*end)) {
		*ret_value = convert(loader, *ret_value, end);
		if (isnan(*ret_value))
			return refuse_word(loader, at);
		end += word_length(end);
	}
	if (!isfinite(*ret_value))
		return loader_complain(loader, "\"%.*s\" is too large for a double",
				       (int)(end - at < QUOTED_MAX ? end - at : QUOTED_MAX), at);
	*ret_end = end;
	return 0;
}

/* ---- A number a line ---- */

/* The column asked for; NULL: the line has fewer. */
static char *find_column(char *line, uint64_t column)
{
	while (--column && *line)
		line = skip_blanks(line + word_length(line));
	return *line ? line : NULL;
}

static int take_number(struct loader *loader, struct growing *set, char *line)
{
	uint64_t column = loader->options->column;
	const char *end;
	double value;
	char *at = find_column(line, column ? column : 1);
	int ret;

	if (!at)
		return loader_complain(loader, "has no column %" PRIu64, column);
	ret = read_value(loader, at, &value, &end);
	if (ret < 0)
		return ret;
	if (*end && !column)
		return loader_complain(loader, "two columns; choose one with --column");
	return loader_push(loader, set, value);
}

static int load_column(struct loader *loader, char *line)
{
	uint64_t column = loader->options->column;
	const char *unit = loader->unit ? loader->unit->name : "";
	const char *head = find_column(line, column ? column : 1);
	struct growing *set = NULL;
	int ret = loader_reserve(loader, 1);

	if (!ret)
		ret = loader_add(loader, NULL, "", unit, true, &set);
	if (ret < 0 || !set)
		return ret;
	set->set.format = SAMPLES_NUMBERS;
	if (head && is_header(head))
		ret = next_line(loader, &line);
	while (!ret) {
		ret = take_number(loader, set, line);
		if (!ret)
			ret = next_line(loader, &line);
	}
	return ret < 0 ? ret : 0;
}

/* ---- "mean sd n [name]": all that is known of a set ---- */

/* As many as a table that was published may have. */
#define SUMMARIES_MAX 64

static bool is_summary_header(char *line)
{
	return is_word(line, "mean") && is_word(line = skip_blanks(line + 4), "sd") &&
	       is_word(skip_blanks(line + 2), "n");
}

static int read_summary(struct loader *loader, char *line, struct act_summary *ret,
			const char **ret_name)
{
	double *const fields[] = { &ret->mean, &ret->sd, &ret->n };
	const char *at = line;

	for (size_t i = 0; i < 3; i++) {
		int error;

		at = skip_blanks((char *)at);
		if (!*at)
			return loader_complain(loader, "not of the form \"mean sd n\"");
		error = read_value(loader, at, fields[i], &at);
		if (error < 0)
			return error;
	}
	if (ret->sd < 0 || ret->n < 2 || ret->n > 9e15 || ret->n != floor(ret->n))
		return loader_complain(loader, "no summary: sd is at least 0, and n a whole "
				       "number from 2 on");
	*ret_name = skip_blanks((char *)at);
	return 0;
}

static int take_summary(struct loader *loader, char *line)
{
	const char *unit = loader->unit ? loader->unit->name : "", *name = "";
	struct act_summary summary;
	struct growing *set = NULL;
	int ret = read_summary(loader, line, &summary, &name);

	if (ret < 0)
		return ret;
	if (loader->count == SUMMARIES_MAX)
		return loader_complain(loader, "more than %d summaries", SUMMARIES_MAX);
	for (size_t i = 0; i < loader->count; i++)
		if (strcmp(loader->sets[i].set.metric, name) == 0)
			return loader_complain(loader, "a second summary %s%s; give each a name "
					       "behind its n", *name ? "of " : "without name", name);
	ret = loader_add(loader, NULL, name, unit, !loader->count, &set);
	if (ret < 0)
		return ret;
	set->set.format = SAMPLES_SUMMARY;
	set->set.only_summary = true;
	set->set.summary = summary;
	return 0;
}

static int load_summaries(struct loader *loader, char *line)
{
	int ret = loader_reserve(loader, SUMMARIES_MAX);

	if (!ret && is_header(line))
		ret = next_line(loader, &line);
	while (!ret) {
		ret = take_summary(loader, line);
		if (!ret)
			ret = next_line(loader, &line);
	}
	return ret < 0 ? ret : 0;
}

/* ---- Which of them ---- */

int load_numbers(struct loader *loader)
{
	enum samples_format format = loader->options->format;
	char *line = NULL;
	int ret = next_line(loader, &line);

	if (ret)
		return ret < 0 ? ret : 0;
	if (format == SAMPLES_SUMMARY || (format == SAMPLES_DETECT && is_summary_header(line)))
		return load_summaries(loader, line);
	if (format == SAMPLES_GNU_TIME || (format == SAMPLES_DETECT && gnu_time_is_line(line)))
		return load_gnu_time(loader, line);
	return load_column(loader, line);
}
