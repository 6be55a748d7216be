/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <actuary/log.h>
#include <actuary/query.h>

#include "column.h"
#include "filteropts.h"
#include "lines.h"
#include "logarg.h"
#include "loss.h"
#include "msg.h"
#include "out.h"
#include "spool.h"

/* How often a followed log is looked at, once all of it has been listed. */
#define FOLLOW_MS 200
/* How many lines a followed log begins with, as tail(1) does. */
#define FOLLOW_TAIL 10

#define DEFAULT_COLUMNS "end_ns,pid,ppid,user,comm,wall_ns,cpu_ns,rss_max_bytes,exit"

struct list_options {
	struct filter_options filter;
	const char *log;
	const char *columns;
	const char *output;
	uint64_t tail; /* UINT64_MAX: not given */
	bool json, csv, lastcomm;
	bool follow, reverse, task, strict;
};

#define OPTION(member) offsetof(struct list_options, member)
static const struct option_spec options[] = {
	{ 'l', "log", OPTION_TEXT, "DIR", OPTION(log), "log, segment or capture to read" },
	FILTER_OPTIONS(struct list_options, filter),
	{ 't', "task", OPTION_FLAG, NULL, OPTION(task), "a line a task (thread), not a process" },
	{ 'c', "columns", OPTION_TEXT, "LIST", OPTION(columns),
	  "columns: any fields of actuary-fields(7), user, exit" },
	{ 'n', "tail", OPTION_COUNT, "N", OPTION(tail),
	  "only the last N (with --follow: to begin with, 10)" },
	{ 'r', "reverse", OPTION_FLAG, NULL, OPTION(reverse),
	  "newest first (with --lastcomm: oldest first)" },
	{ 'f', "follow", OPTION_FLAG, NULL, OPTION(follow), "wait for more until interrupted" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "an object a line, every field" },
	{ 0, "csv", OPTION_FLAG, NULL, OPTION(csv), "comma-separated values" },
	{ 0, "lastcomm", OPTION_FLAG, NULL, OPTION(lastcomm),
	  "the lines of GNU lastcomm, newest first" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "write there instead of stdout" },
	{ 0, "strict", OPTION_FLAG, NULL, OPTION(strict),
	  "exit with 4 if records are missing in the time looked at" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct list_options *opt = arg;

	filter_options_defaults(&opt->filter);
	opt->tail = UINT64_MAX;
}

struct list {
	const struct list_options *opt;
	const char *log;
	struct act_filter filter;
	struct column columns[COLUMNS_MAX];
	size_t count;
	struct lines *lines;
	struct out *out;
	struct spool *spool;  /* when newest goes first */
	uint64_t skip;        /* so many lines before the first that is printed */
	uint32_t *rows;       /* of a batch, those that pass */
	size_t rows_room;
	unsigned int kinds;   /* that were seen */
	struct loss loss;     /* of what went by */
	bool has_told;        /* why it failed */
};

static bool is_newest_first(const struct list_options *opt)
{
	return opt->reverse != opt->lastcomm && !(opt->lastcomm && opt->follow);
}

static int check_options(const struct list_options *opt)
{
	if (opt->json + opt->csv + opt->lastcomm > 1)
		return refuse("--json, --csv and --lastcomm exclude each other");
	if (opt->lastcomm && (opt->columns || opt->task))
		return refuse("--lastcomm has its own columns, of processes; "
			      "it goes without --columns and --task");
	if (opt->follow && opt->reverse)
		return refuse("--follow prints as exits come, it goes without --reverse");
	return STATUS_OK;
}

static int choose_columns(struct list *list)
{
	const struct list_options *opt = list->opt;
	const char *text = opt->columns ? opt->columns : DEFAULT_COLUMNS;
	const char *bad = text;
	size_t length = 0;
	int count = 0;

	if (opt->json && !opt->columns)
		count = columns_all(list->columns);
	else if (!opt->lastcomm)
		count = columns_parse(text, list->columns, &bad, &length);
	if (count < 0) {
		msg_error("--columns: '%.*s' is no column, or there twice; actuary-fields(7) lists "
			  "them, such as " DEFAULT_COLUMNS, (int)length, bad);
		return STATUS_USAGE;
	}
	list->count = (size_t)count;
	return STATUS_OK;
}

static enum lines_format format_of(const struct list_options *opt)
{
	if (opt->lastcomm)
		return LINES_LASTCOMM;
	if (opt->json)
		return LINES_JSON;
	return opt->csv ? LINES_CSV : LINES_TEXT;
}

/* ---- Reading ---- */

/* One who follows hears of it at once, the others at the end. */
static void tell_item(const struct act_item *item)
{
	const struct act_damage *damage = &item->damage;

	if (item->type == ACT_ITEM_DAMAGE)
		msg_warning("%s: %" PRIu64 " bytes at %" PRIu64 " cannot be read (%s)",
			    damage->segment, damage->bytes, damage->offset, damage->reason);
	else if (item->gap.count == ACT_UNKNOWN)
		msg_warning("exits are missing here, nobody knows how many (%s)",
			    act_cause_name(item->gap.cause));
	else
		msg_warning("%" PRIu64 " exits are missing here (%s)", item->gap.count,
			    act_cause_name(item->gap.cause));
}

static void take_loss(struct list *list, const struct act_input *input,
		      const struct act_item *item)
{
	if (loss_add(&list->loss, item, input) && list->opt->follow)
		tell_item(item);
}

static void turn(uint32_t *rows, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t row = rows[i];

		rows[i] = rows[count - 1 - i];
		rows[count - 1 - i] = row;
	}
}

static int find_rows(struct list *list, const struct act_batch *batch, size_t *ret_count)
{
	if (batch->rows > list->rows_room) {
		uint32_t *rows = reallocarray(list->rows, batch->rows, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		list->rows = rows;
		list->rows_room = batch->rows;
	}
	for (size_t i = 0; i < batch->rows; i++)
		list->kinds |= (unsigned int)batch->column[ACT_F_kind][i];
	*ret_count = act_filter_rows(&list->filter, batch, list->rows);
	return 0;
}

static int print_batch(struct list *list, const struct act_batch *batch)
{
	struct out *out = list->spool ? spool_out(list->spool) : list->out;
	uint32_t *rows = NULL;
	size_t count, skip;
	int ret = find_rows(list, batch, &count);

	if (ret < 0)
		return ret;
	skip = list->skip < count ? (size_t)list->skip : count;
	list->skip -= skip;
	count -= skip;
	rows = list->rows + skip;
	if (!count)
		return 0;
	if (list->spool)
		turn(rows, count);
	ret = lines_print(list->lines, out, batch, rows, count);
	if (ret >= 0 && list->spool)
		ret = spool_cut(list->spool);
	return ret;
}

/*
 * Shows what there is and waits a moment.  -EPIPE when nobody reads any more,
 * which a quiet log would never find out by writing.
 */
static int pause_at_end(struct list *list)
{
	struct pollfd output = { .fd = list->opt->output ? -1 : STDOUT_FILENO };
	int ret = out_flush(list->out);

	if (ret < 0)
		return ret;
	if (poll(&output, 1, FOLLOW_MS) > 0 && output.revents & (POLLERR | POLLHUP))
		return -EPIPE;
	return 0;
}

static int open_input(struct list *list, const struct act_field_set *fields,
		      bool is_filtered, struct act_input **ret_input)
{
	struct act_why why = { "" };
	int ret = act_input_open(list->log, ret_input, &why);

	if (ret < 0) {
		tell_unread(list->log, ret, &why);
		list->has_told = true;
		return ret;
	}
	act_input_select(*ret_input, fields);
	if (is_filtered)
		act_filter_prune(&list->filter, *ret_input);
	return 0;
}

static int read_all(struct list *list, struct act_input *input)
{
	struct act_item item;
	int ret;

	for (;;) {
		ret = act_input_next(input, &item);
		if (ret < 0)
			break;
		if (ret == 1) {
			if (!list->opt->follow)
				return 0;
			ret = pause_at_end(list);
		} else if (item.type == ACT_ITEM_BATCH) {
			ret = print_batch(list, &item.batch);
		} else if (item.type == ACT_ITEM_GAP || item.type == ACT_ITEM_DAMAGE) {
			take_loss(list, input, &item);
		}
		if (ret < 0)
			break;
	}
	return ret;
}

static void needed_fields(const struct list *list, struct act_field_set *ret_fields)
{
	*ret_fields = (struct act_field_set){ 0 };
	act_field_set_add(ret_fields, ACT_F_kind);
	act_filter_fields(&list->filter, ret_fields);
}

/*
 * The last lines are those after all the others: a first pass, over the
 * filter's fields only, counts how many there are to skip.
 */
static int count_skip(struct list *list, uint64_t tail)
{
	struct act_field_set fields;
	struct act_input *input;
	struct act_item item;
	uint64_t total = 0;
	int ret;

	needed_fields(list, &fields);
	ret = open_input(list, &fields, true, &input);
	if (ret < 0)
		return ret;
	while ((ret = act_input_next(input, &item)) == 0) {
		size_t count = 0;

		if (item.type == ACT_ITEM_BATCH)
			ret = find_rows(list, &item.batch, &count);
		if (ret < 0)
			break;
		total += count;
	}
	act_input_free(input);
	list->skip = total > tail ? total - tail : 0;
	return ret < 0 ? ret : 0;
}

static int print_all(struct list *list)
{
	struct act_field_set fields;
	struct act_input *input;
	int ret;

	needed_fields(list, &fields);
	lines_fields(list->lines, &fields);
	ret = open_input(list, &fields, true, &input);
	if (ret < 0)
		return ret;
	lines_heading(list->lines, list->out);
	ret = read_all(list, input);
	act_input_free(input);
	if (ret >= 0 && list->spool)
		ret = spool_copy_back(list->spool, list->out);
	return ret;
}

/* ---- The account ---- */

/*
 * If something is missing, what was recorded is worth a second look at the
 * log: the filter may have kept blocks of that time from being read.
 */
static int tell_loss(struct list *list)
{
	struct act_field_set fields = { 0 };
	struct act_input *input;
	struct act_item item;
	struct loss loss;
	int ret;

	if (!loss_is_any(&list->loss))
		return 0;
	loss_init(&loss, &list->filter);
	loss_fields(&loss, &fields);
	ret = open_input(list, &fields, false, &input);
	if (ret < 0)
		return ret;
	act_input_prune(input, ACT_F_end_ns, loss.since_ns, loss.until_ns);
	while ((ret = act_input_next(input, &item)) == 0)
		loss_add(&loss, &item, input);
	act_input_free(input);
	if (ret < 0)
		return ret;
	loss_warn(&loss);
	return 0;
}

static void tell_kind(const struct list *list)
{
	if (list->kinds == ACT_KIND_TASK && !list->opt->task)
		msg_warning("this log holds tasks only ('record --per task'); "
			    "list them with --task");
}

/* ---- The command ---- */

static int list_log(struct list *list)
{
	const struct list_options *opt = list->opt;
	uint64_t tail = opt->tail;
	int ret = 0;

	if (opt->follow && tail == UINT64_MAX)
		tail = FOLLOW_TAIL;
	if (tail != UINT64_MAX)
		ret = count_skip(list, tail);
	if (ret >= 0 && is_newest_first(opt))
		ret = spool_open(&list->spool);
	if (ret >= 0)
		ret = print_all(list);
	return ret;
}

static int open_list(struct list *list)
{
	const struct list_options *opt = list->opt;

	list->lines = lines_new(format_of(opt), list->columns, list->count);
	if (!list->lines)
		return -ENOMEM;
	list->out = open_output(opt->output);
	list->has_told = !list->out;
	return list->out ? 0 : -EIO;
}

/* Main tells of output that could not be written. */
static int close_list(struct list *list, int ret)
{
	int closed = list->out ? out_close(list->out) : 0;

	if (ret < 0 && ret != closed && ret != -EPIPE && !list->has_told)
		msg_error("cannot list %s: %s", list->log, strerror(-ret));
	spool_close(list->spool);
	lines_free(list->lines);
	free(list->rows);
	if (ret == -EPIPE)
		return 128 + SIGPIPE;
	if (ret < 0 && ret != closed)
		return status_of(ret);
	return loss_is_any(&list->loss) && list->opt->strict ? STATUS_UNTRUSTED : STATUS_OK;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	struct list list = { .opt = arg };
	int ret, status;

	status = choose_log(self, list.opt->log, argc, argv, &list.log);
	if (!status)
		status = check_options(list.opt);
	if (!status)
		status = choose_columns(&list);
	if (!status)
		status = filter_options_get(&list.opt->filter, &list.filter);
	if (status)
		return status;
	if (list.opt->task)
		list.filter.kinds = ACT_KIND_TASK;
	loss_init(&list.loss, &list.filter);
	ret = open_list(&list);
	if (ret >= 0)
		ret = list_log(&list);
	if (ret >= 0)
		ret = out_flush(list.out);
	if (ret >= 0) {
		tell_kind(&list);
		ret = tell_loss(&list);
	}
	return close_list(&list, ret);
}

const struct command cmd_list = {
	.name = "list",
	.synopsis = "[OPTION]... [LOG]",
	.summary = "one line a process or task that ended, oldest first",
	.options = options,
	.options_size = sizeof(struct list_options),
	.defaults = set_defaults,
	.run = run,
};
