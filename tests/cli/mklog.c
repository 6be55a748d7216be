/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a text into a log, so that tests know exactly what is in it:
 *
 *	mklog [-b RECORDS] DIR <TEXT
 *
 * -b sets the records a block.  A line of the text is one of
 *
 *	FIELD=VALUE ...           a record
 *	default FIELD=VALUE ...   values for all later records; `default` forgets them
 *	gap from=T to=T count=N cpu=N cause=WORD
 *	state TYPE time=T delayacct=N forks=N recorded=N lost=N text=TEXT
 *	sync | rotate
 *	# comment
 *
 * Fields are those of the field table, less the derived ones.  What is not
 * given is unknown, but for kind=3 exits=1 threads=1 partial=0.  Numbers may be
 * hexadecimal or negative, "-" is unknown; durations may have a unit (1.5s;
 * bare: ns), sizes as well (64K), times may be "@SECONDS" or ISO 8601 (bare:
 * ns).  A value may be quoted and may hold \n \t \e \\ \" \s (blank) \xHH.
 */
#include <actuary/actuary.h>

#include <errno.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

#define WORDS_MAX 128

struct word {
	char *key;
	const char *value; /* NULL: a bare word */
	size_t length;
};

static unsigned long line_number;

static void unescape(struct word *word, char *text)
{
	static const char from[] = "nte\\\"s", to[] = "\n\t\033\\\" ";
	char *end = text;
	const char *at = text;

	while (*at) {
		const char *known = *at == '\\' && at[1] ? strchr(from, at[1]) : NULL;
		unsigned int byte;
		int used;

		if (known) {
			*end++ = to[known - from];
			at += 2;
		} else if (sscanf(at, "\\x%2x%n", &byte, &used) == 1) {
			*end++ = (char)byte;
			at += used;
		} else {
			*end++ = *at++;
		}
	}
	*end = '\0';
	word->value = text;
	word->length = end - text;
}

/* The end of a value: the closing quote, or the next blank. */
static char *value_end(char *text, bool is_quoted)
{
	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (is_quoted ? *text == '"' : strchr(" \t\n", *text) != NULL)
			break;
	}
	return text;
}

static size_t split(char *line, struct word *words)
{
	size_t count = 0;

	for (char *at = line + strspn(line, " \t\n"); *at; at += strspn(at, " \t\n")) {
		struct word *word = &words[count++];

		if (count == WORDS_MAX)
			errx(2, "line %lu: too many words", line_number);
		*word = (struct word){ .key = at };
		at += strcspn(at, "= \t\n");
		if (*at == '=') {
			bool is_quoted = at[1] == '"';
			char *value = at + 1 + is_quoted;

			*at = '\0';
			at = value_end(value, is_quoted);
			if (*at)
				*at++ = '\0';
			unescape(word, value);
		} else if (*at) {
			*at++ = '\0';
		}
	}
	return count;
}

static void __attribute__((noreturn)) refuse(const struct word *word)
{
	errx(2, "line %lu: cannot take %s=%s", line_number, word->key,
	     word->value ? word->value : "");
}

static uint64_t number(const struct word *word, enum act_type type)
{
	const char *text = word->value ? word->value : "";
	uint64_t value;
	char *end;
	int ret = -EINVAL;

	if (strcmp(text, "-") == 0)
		return ACT_UNKNOWN;
	errno = 0;
	value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	if (end > text && !*end && !errno)
		return value;
	if (type == ACT_TYPE_DURATION)
		ret = parse_duration(text, &value);
	else if (type == ACT_TYPE_TIME)
		ret = parse_time(text, 0, &value);
	else if (type == ACT_TYPE_SIZE)
		ret = parse_size(text, &value);
	if (ret < 0)
		refuse(word);
	return value;
}

static void set_field(struct act_record *record, const struct word *word)
{
	int field = act_field_find(word->key, strlen(word->key));

	if (field < 0 || act_field_table[field].sources & ACT_FROM_DERIVED)
		refuse(word);
	if (act_field_table[field].type != ACT_TYPE_TEXT) {
		record->value[field] = number(word, act_field_table[field].type);
		return;
	}
	if (word->length >= sizeof(record->comm_text) || memchr(word->value, 0, word->length))
		refuse(word);
	memset(record->comm_text, 0, sizeof(record->comm_text));
	memcpy(record->comm_text, word->value, word->length);
}

static void set_fields(struct act_record *record, const struct word *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		set_field(record, &words[i]);
}

static void clear_defaults(struct act_record *defaults)
{
	act_record_clear(defaults);
	defaults->kind = ACT_KIND_BOTH;
	defaults->exits = 1;
	defaults->threads = 1;
	defaults->partial = 0;
}

static enum act_cause cause_of(const struct word *word)
{
	for (int cause = ACT_CAUSE_OVERFLOW; cause <= ACT_CAUSE_DAMAGE; cause++)
		if (word->value && strcmp(act_cause_name(cause), word->value) == 0)
			return cause;
	refuse(word);
}

static int append_gap(struct act_log_writer *writer, const struct word *words, size_t count)
{
	struct act_gap gap = { .count = ACT_UNKNOWN, .cpu = -1, .cause = ACT_CAUSE_OVERFLOW };

	for (const struct word *word = words; word < words + count; word++) {
		if (strcmp(word->key, "from") == 0)
			gap.from_ns = number(word, ACT_TYPE_TIME);
		else if (strcmp(word->key, "to") == 0)
			gap.to_ns = number(word, ACT_TYPE_TIME);
		else if (strcmp(word->key, "count") == 0)
			gap.count = number(word, ACT_TYPE_NUMBER);
		else if (strcmp(word->key, "cpu") == 0)
			gap.cpu = (int32_t)number(word, ACT_TYPE_SIGNED);
		else if (strcmp(word->key, "cause") == 0)
			gap.cause = cause_of(word);
		else
			refuse(word);
	}
	return act_log_append_gap(writer, &gap);
}

static int append_state(struct act_log_writer *writer, const struct word *words, size_t count)
{
	struct act_state state = { .delayacct = ACT_UNKNOWN, .forks = ACT_UNKNOWN };

	for (int type = ACT_STATE_START; type <= ACT_STATE_RESUME; type++)
		if (count && strcmp(act_state_name(type), words->key) == 0)
			state.type = type;
	if (!state.type)
		errx(2, "line %lu: no such state", line_number);
	for (const struct word *word = words + 1; word < words + count; word++) {
		if (strcmp(word->key, "time") == 0)
			state.time_ns = number(word, ACT_TYPE_TIME);
		else if (strcmp(word->key, "delayacct") == 0)
			state.delayacct = number(word, ACT_TYPE_NUMBER);
		else if (strcmp(word->key, "forks") == 0)
			state.forks = number(word, ACT_TYPE_NUMBER);
		else if (strcmp(word->key, "recorded") == 0)
			state.recorded = number(word, ACT_TYPE_NUMBER);
		else if (strcmp(word->key, "lost") == 0)
			state.lost = number(word, ACT_TYPE_NUMBER);
		else if (strcmp(word->key, "text") == 0 && word->length < sizeof(state.text))
			memcpy(state.text, word->value, word->length);
		else
			refuse(word);
	}
	return act_log_append_state(writer, &state);
}

static int append_record(struct act_log_writer *writer, const struct act_record *defaults,
			 const struct word *words, size_t count)
{
	struct act_record record = *defaults;

	set_fields(&record, words, count);
	act_record_derive(&record);
	return act_log_append(writer, &record);
}

static int run_line(struct act_log_writer *writer, struct act_record *defaults, char *line)
{
	struct word words[WORDS_MAX];
	size_t count = split(line, words);
	const char *verb = count ? words->key : "#";

	if (*verb == '#')
		return 0;
	if (words->value)
		return append_record(writer, defaults, words, count);
	if (strcmp(verb, "gap") == 0)
		return append_gap(writer, words + 1, count - 1);
	if (strcmp(verb, "state") == 0)
		return append_state(writer, words + 1, count - 1);
	if (strcmp(verb, "sync") == 0)
		return act_log_writer_sync(writer, ACT_UNKNOWN, true);
	if (strcmp(verb, "rotate") == 0)
		return act_log_writer_rotate(writer);
	if (strcmp(verb, "default") != 0)
		errx(2, "line %lu: what is %s?", line_number, verb);
	clear_defaults(defaults);
	set_fields(defaults, words + 1, count - 1);
	return 0;
}

int main(int argc, char **argv)
{
	struct act_log_writer_options options = { .size = sizeof(options) };
	struct act_log_writer *writer;
	struct act_record defaults;
	struct act_gap gap;
	struct act_why why;
	char *line = NULL;
	size_t room = 0;
	int c, ret;

	while ((c = getopt(argc, argv, "b:")) == 'b')
		options.block_records = (uint32_t)strtoul(optarg, NULL, 10);
	if (c != -1 || optind + 1 != argc)
		errx(2, "usage: mklog [-b RECORDS] DIR <TEXT");
	ret = act_log_writer_open(argv[optind], &options, &writer, &gap, &why);
	if (ret < 0)
		errx(1, "%s: %s", argv[optind], why.text);
	clear_defaults(&defaults);
	while (getline(&line, &room, stdin) >= 0) {
		line_number++;
		ret = run_line(writer, &defaults, line);
		if (ret < 0)
			errx(1, "line %lu: %s", line_number, strerror(-ret));
	}
	free(line);
	ret = act_log_writer_close(writer);
	if (ret < 0)
		errx(1, "%s: %s", argv[optind], strerror(-ret));
	return 0;
}
