/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <actuary/query.h>

#include "base/clock.h"
#include "filteropts.h"
#include "grouping.h"
#include "logarg.h"
#include "loss.h"
#include "msg.h"
#include "out.h"
#include "sa.h"
#include "users.h"

/* Groups on a terminal, unless --top says otherwise. */
#define TERMINAL_TOP 20
/* Reading for longer than that shows progress. */
#define PROGRESS_AFTER_NS NSEC_PER_SEC
#define PROGRESS_EVERY 64 /* batches */

#define DEFAULT_COLUMNS "count,cpu,cpu.p50,cpu.p99,wall.p50,wall.p99,rss_max,failed"
#define CSA_COLUMNS \
	"count,cpu,rss_mean,vm_mean,rss_max,vm_max,rss_integral,vm_integral,rchar,wchar," \
	"read,write,syscr,syscw,nvcsw,nivcsw"

enum { SORT_NONE = -1 };

struct report_options {
	struct filter_options filter;
	const char *log, *by, *columns, *sort, *output;
	uint64_t top;    /* UINT64_MAX: not given */
	uint64_t memory; /* 0: the library's default */
	bool task, json, csv, csa, strict;
	bool sa;
	struct sa_options as_sa;
};

#define OPTION(member) offsetof(struct report_options, member)
static const struct option_spec options[] = {
	{ 'l', "log", OPTION_TEXT, "DIR", OPTION(log), "log, segment or capture to read" },
	{ 'b', "by", OPTION_TEXT, "KEY[,KEY]", OPTION(by),
	  "group by these: comm (default), user, parent, exit, hour, any field" },
	{ 'c', "columns", OPTION_TEXT, "LIST", OPTION(columns),
	  "columns: count, failed, FIELD[.sum|mean|min|max|pNN], rss_mean, vm_mean" },
	{ 's', "sort", OPTION_TEXT, "COLUMN", OPTION(sort),
	  "sort by a column or key; +COLUMN least first, -COLUMN greatest first" },
	{ 'n', "top", OPTION_COUNT, "N", OPTION(top),
	  "only the first N groups; 0: all (default: 20 on a terminal)" },
	FILTER_OPTIONS(struct report_options, filter),
	{ 't', "task", OPTION_FLAG, NULL, OPTION(task), "count tasks (threads), not processes" },
	{ 0, "csa", OPTION_FLAG, NULL, OPTION(csa),
	  "columns of extended accounting: memory, characters, calls, switches" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "an object a line" },
	{ 0, "csv", OPTION_FLAG, NULL, OPTION(csv), "comma-separated values" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "write there instead of stdout" },
	{ 0, "memory", OPTION_SIZE, "SIZE", OPTION(memory),
	  "memory for groups; with more groups the rest becomes ***other (40M)" },
	{ 0, "strict", OPTION_FLAG, NULL, OPTION(strict),
	  "exit with 4 if records are missing in the time looked at" },
	{ 0, "sa", OPTION_FLAG, NULL, OPTION(sa), "the table of GNU sa, with these options:" },
	{ 'a', "list-all-names", OPTION_FLAG, NULL, OPTION(as_sa.all),
	  "--sa: also commands seen once or with unprintable names" },
	{ 'm', "user-summary", OPTION_FLAG, NULL, OPTION(as_sa.by_user), "--sa: by user" },
	{ 0, "percentages", OPTION_FLAG, NULL, OPTION(as_sa.percentages),
	  "--sa: each one's share as well" },
	{ 0, "separate-times", OPTION_FLAG, NULL, OPTION(as_sa.separate),
	  "--sa: user and system time apart" },
	{ 0, "print-seconds", OPTION_FLAG, NULL, OPTION(as_sa.seconds),
	  "--sa: seconds a process, not minutes in all" },
	{ 0, "print-ratio", OPTION_FLAG, NULL, OPTION(as_sa.ratio),
	  "--sa: real time over CPU time" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct report_options *opt = arg;

	filter_options_defaults(&opt->filter);
	opt->top = UINT64_MAX;
}

struct report {
	struct report_options *opt;
	const char *log;
	struct act_filter filter;
	size_t key_count, column_count;
	struct key_column keys[ACT_KEYS_MAX];
	/* One more, not shown, may be there to sort by. */
	struct metric_column columns[ACT_METRICS_MAX];
	size_t shown_count;
	int sort_key, sort_column; /* SORT_NONE: not by one */
	bool is_descending;
	struct act_groups *groups;
	struct loss loss;
	unsigned int kinds; /* that were seen */
	struct users *users;
	struct out *out;
	uint32_t *rows;     /* of a batch, those that pass */
	size_t rows_room;
	uint64_t began_ns, batches, records;
	bool has_told;      /* why it failed */
};

/* ---- Options ---- */

static bool has_sa_option(const struct sa_options *as_sa)
{
	return as_sa->all || as_sa->by_user || as_sa->percentages || as_sa->separate ||
	       as_sa->seconds || as_sa->ratio;
}

static int check_options(const struct report_options *opt)
{
	if (opt->json && opt->csv)
		return refuse("--json and --csv exclude each other");
	if (opt->csa && opt->columns)
		return refuse("--csa has its own columns, it goes without --columns");
	if (opt->sa && (opt->json || opt->csv || opt->csa || opt->columns || opt->by))
		return refuse("--sa has its own table, it goes without --json, --csv, --csa, "
			      "--columns and --by");
	if (opt->sa && opt->top != UINT64_MAX)
		return refuse("--sa prints all, it goes without --top");
	if (!opt->sa && has_sa_option(&opt->as_sa))
		return refuse("--list-all-names, --user-summary and the like need --sa");
	return STATUS_OK;
}

/* The first name of a list, and where the next one begins; NULL: no more. */
static const char *next_name(const char *list, size_t *ret_length)
{
	*ret_length = strcspn(list, ",");
	return list[*ret_length] ? list + *ret_length + 1 : NULL;
}

static int find_key(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (strcmp(report->keys[i].name, name) == 0)
			return (int)i;
	return SORT_NONE;
}

static int find_column(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->column_count; i++)
		if (strcmp(report->columns[i].name, name) == 0)
			return (int)i;
	return SORT_NONE;
}

static int choose_keys(struct report *report)
{
	const char *list = report->opt->by ? report->opt->by : "comm";

	while (list) {
		struct key_column key;
		size_t length;
		const char *next = next_name(list, &length);

		if (key_parse(list, length, &key) < 0) {
			msg_error("--by: '%.*s' is no key; such are comm, user, parent, exit, "
				  "hour, and the fields of actuary-fields(7)", (int)length, list);
			return STATUS_USAGE;
		}
		if (report->key_count == ACT_KEYS_MAX || find_key(report, key.name) >= 0) {
			msg_error("--by: '%.*s' is one too many", (int)length, list);
			return STATUS_USAGE;
		}
		report->keys[report->key_count++] = key;
		list = next;
	}
	return STATUS_OK;
}

static int choose_columns(struct report *report)
{
	const char *list = report->opt->columns ? report->opt->columns :
			   report->opt->csa ? CSA_COLUMNS : DEFAULT_COLUMNS;

	while (list) {
		struct metric_column column;
		size_t length;
		const char *next = next_name(list, &length);

		if (metric_parse(list, length, &column) < 0) {
			msg_error("--columns: '%.*s' is no column; such are count, failed, cpu, "
				  "wall.p99, rss_max, minflt.mean, see actuary-report(1)",
				  (int)length, list);
			return STATUS_USAGE;
		}
		/* One place is kept for a column to sort by. */
		if (report->column_count + 1 == ACT_METRICS_MAX ||
		    find_column(report, column.name) >= 0) {
			msg_error("--columns: '%.*s' is one too many", (int)length, list);
			return STATUS_USAGE;
		}
		report->columns[report->column_count++] = column;
		list = next;
	}
	report->shown_count = report->column_count;
	return STATUS_OK;
}

/* A column that is not shown may be sorted by as well. */
static int sort_by_column(struct report *report, const char *name)
{
	struct metric_column column;

	if (metric_parse(name, strlen(name), &column) < 0)
		return -EINVAL;
	report->sort_column = find_column(report, column.name);
	if (report->sort_column == SORT_NONE) {
		report->sort_column = (int)report->column_count;
		report->columns[report->column_count++] = column;
	}
	report->is_descending = true;
	return 0;
}

static bool is_time(const struct key_column *key)
{
	return key->key.type == ACT_KEY_MINUTE || key->key.type == ACT_KEY_HOUR ||
	       key->key.type == ACT_KEY_DAY;
}

static int choose_sort(struct report *report)
{
	const char *text = report->opt->sort, *name;
	struct key_column key;

	report->sort_key = report->sort_column = SORT_NONE;
	if (!text && is_time(&report->keys[0])) {
		report->sort_key = 0;
		return STATUS_OK;
	}
	if (!text)
		text = "cpu_ns";
	name = text + (*text == '+' || *text == '-');
	/* What is both, such as cpu, is a key if the report is by it. */
	if (key_parse(name, strlen(name), &key) == 0)
		report->sort_key = find_key(report, key.name);
	if (report->sort_key == SORT_NONE && sort_by_column(report, name) < 0) {
		msg_error("--sort: '%s' is neither a column nor a key of this report", name);
		return STATUS_USAGE;
	}
	if (*text == '+' || *text == '-')
		report->is_descending = *text == '-';
	return STATUS_OK;
}

static int choose_sa_order(struct report_options *opt)
{
	static const struct {
		const char *name;
		enum sa_order order;
	} orders[] = {
		{ "cp", SA_BY_CPU }, { "cpu", SA_BY_CPU }, { "count", SA_BY_COUNT },
		{ "re", SA_BY_REAL }, { "avio", SA_BY_IO }, { "k", SA_BY_MEMORY },
	};
	const char *text = opt->sort ? opt->sort : "cp";
	const char *name = text + (*text == '+' || *text == '-');

	opt->as_sa.is_ascending = *text == '+';
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		if (strcmp(orders[i].name, name) == 0) {
			opt->as_sa.order = orders[i].order;
			return STATUS_OK;
		}
	}
	return refuse("--sa sorts by cp, count, re, avio or k");
}

static int choose(struct report *report)
{
	int status;

	if (report->opt->sa)
		return choose_sa_order(report->opt);
	status = choose_keys(report);
	if (!status)
		status = choose_columns(report);
	if (!status)
		status = choose_sort(report);
	return status;
}

/* ---- Reading ---- */

static int make_groups(struct report *report)
{
	struct act_key keys[ACT_KEYS_MAX];
	struct act_metric metrics[ACT_METRICS_MAX];
	struct act_groups_options make = {
		.size = sizeof(make), .keys = keys, .key_count = report->key_count,
		.metrics = metrics, .metric_count = report->column_count,
		.memory_bytes = (size_t)report->opt->memory,
	};

	for (size_t i = 0; i < report->key_count; i++)
		keys[i] = report->keys[i].key;
	for (size_t i = 0; i < report->column_count; i++)
		metrics[i] = report->columns[i].metric;
	if (report->opt->sa) {
		make.key_count = sa_keys(report->opt->as_sa.by_user, &make.keys);
		make.metric_count = sa_metrics(&make.metrics);
	}
	return act_groups_new(&make, &report->groups);
}

static int open_input(struct report *report, struct act_input **ret_input)
{
	struct act_field_set fields = { 0 };
	struct act_why why = { "" };
	int ret = act_input_open(report->log, ret_input, &why);

	if (ret < 0) {
		tell_unread(report->log, ret, &why);
		report->has_told = true;
		return ret;
	}
	act_filter_fields(&report->filter, &fields);
	act_groups_fields(report->groups, &fields);
	loss_fields(&report->loss, &fields);
	act_input_select(*ret_input, &fields);
	/*
	 * By time only: blocks without a record that passes the rest of the
	 * filter still have exits to be accounted for.
	 */
	if (report->filter.since_ns || report->filter.until_ns < UINT64_MAX)
		act_input_prune(*ret_input, ACT_F_end_ns, report->filter.since_ns,
				report->filter.until_ns - 1);
	return 0;
}

static int take_batch(struct report *report, const struct act_batch *batch)
{
	size_t count;

	if (batch->rows > report->rows_room) {
		uint32_t *rows = reallocarray(report->rows, batch->rows, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		report->rows = rows;
		report->rows_room = batch->rows;
	}
	for (size_t i = 0; i < batch->rows; i++)
		report->kinds |= (unsigned int)batch->column[ACT_F_kind][i];
	count = act_filter_rows(&report->filter, batch, report->rows);
	return count ? act_groups_add(report->groups, batch, report->rows, count) : 0;
}

static void show_progress(struct report *report, const struct act_batch *batch)
{
	report->records += batch->rows;
	if (++report->batches % PROGRESS_EVERY == 0 &&
	    clock_monotonic_ns() - report->began_ns > PROGRESS_AFTER_NS)
		msg_progress("%" PRIu64 " records", report->records);
}

static int read_all(struct report *report, struct act_input *input)
{
	struct act_item item;
	int ret;

	report->began_ns = clock_monotonic_ns();
	while ((ret = act_input_next(input, &item)) == 0) {
		loss_add(&report->loss, &item, input);
		if (item.type != ACT_ITEM_BATCH)
			continue;
		show_progress(report, &item.batch);
		ret = take_batch(report, &item.batch);
		if (ret < 0)
			break;
	}
	msg_progress_end();
	return ret < 0 ? ret : 0;
}

static int read_log(struct report *report)
{
	struct act_input *input;
	int ret;

	act_groups_free(report->groups);
	report->groups = NULL;
	loss_init(&report->loss, &report->filter);
	ret = make_groups(report);
	if (ret < 0)
		return ret;
	ret = open_input(report, &input);
	if (ret < 0)
		return ret;
	ret = read_all(report, input);
	act_input_free(input);
	return ret;
}

/* A log kept per task has no processes: its tasks are told instead. */
static int read_either(struct report *report)
{
	int ret = read_log(report);

	if (ret < 0 || report->opt->task || report->kinds != ACT_KIND_TASK)
		return ret;
	msg_warning("this log was kept per task ('record --per task'): "
		    "tasks are counted, not processes");
	report->filter.kinds = ACT_KIND_TASK;
	return read_log(report);
}

/* ---- Printing ---- */

static int sort_groups(struct report *report)
{
	if (report->sort_key >= 0)
		return act_groups_sort_by_key(report->groups, (size_t)report->sort_key,
					      report->is_descending);
	return act_groups_sort_by_metric(report->groups, (size_t)report->sort_column,
					 report->is_descending);
}

static bool is_for_terminal(const struct report_options *opt)
{
	bool to_stdout = !opt->output || strcmp(opt->output, "-") == 0;

	return !opt->json && !opt->csv && to_stdout && isatty(STDOUT_FILENO);
}

static size_t top_of(const struct report *report)
{
	size_t count = act_groups_count(report->groups);
	uint64_t top = report->opt->top;

	if (top == UINT64_MAX)
		top = is_for_terminal(report->opt) ? TERMINAL_TOP : 0;
	return top && top < count ? (size_t)top : count;
}

static void print_json(struct report *report, size_t top)
{
	for (size_t at = 0; at < top; at++) {
		out_json_begin(report->out);
		for (size_t i = 0; i < report->key_count; i++)
			key_json(&report->keys[i], i, report->groups, at, report->out);
		if (act_groups_is_other(report->groups, at))
			out_json_bool(report->out, "other", true);
		for (size_t i = 0; i < report->shown_count; i++)
			metric_json(&report->columns[i], i, report->groups, at, report->out);
		out_json_end(report->out);
	}
}

static void name_columns(const struct report *report, struct table *table)
{
	bool is_csv = report->opt->csv;
	char heading[64];

	for (size_t i = 0; i < report->key_count; i++) {
		key_heading(&report->keys[i], heading, sizeof(heading));
		table_column(table, is_csv ? report->keys[i].name : heading, false);
	}
	for (size_t i = 0; i < report->shown_count; i++) {
		metric_heading(&report->columns[i], heading, sizeof(heading));
		table_column(table, is_csv ? report->columns[i].name : heading, true);
	}
}

static int print_table(struct report *report, size_t top)
{
	bool is_csv = report->opt->csv;
	struct table *table = table_new();
	int ret;

	if (!table)
		return -ENOMEM;
	name_columns(report, table);
	for (size_t at = 0; at < top; at++) {
		for (size_t i = 0; i < report->key_count; i++)
			key_cell(&report->keys[i], i, report->groups, at, report->users, is_csv,
				 table);
		for (size_t i = 0; i < report->shown_count; i++)
			metric_cell(&report->columns[i], i, report->groups, at, table);
	}
	if (is_csv)
		ret = table_print_csv(table, report->out);
	else
		ret = table_print(table, report->out,
				  is_for_terminal(report->opt) ? terminal_width() : 0);
	table_free(table);
	return ret;
}

static int print_report(struct report *report)
{
	size_t count = act_groups_count(report->groups), top = top_of(report);
	int ret = sort_groups(report);

	if (ret < 0)
		return ret;
	if (report->opt->json) {
		print_json(report, top);
		return 0;
	}
	ret = print_table(report, top);
	if (ret < 0 || report->opt->csv)
		return ret;
	if (top < count)
		out_printf(report->out, "and %zu more (--top 0 shows all)\n", count - top);
	loss_print(&report->loss, report->out);
	return 0;
}

/* What is said besides, after the results. */
static void tell(const struct report *report)
{
	if (act_groups_is_full(report->groups))
		msg_warning("too many groups: those that came late are ***other; "
			    "--memory gives them more room");
	if (report->filter.kinds == ACT_KIND_TASK && report->opt->task && report->kinds &&
	    !(report->kinds & ACT_KIND_TASK))
		msg_warning("this log was kept per process: "
			    "tasks of processes with several are not in it");
	loss_warn(&report->loss);
}

/* ---- The command ---- */

static int make_report(struct report *report)
{
	int ret = read_either(report);

	if (ret < 0)
		return ret;
	report->users = users_new();
	if (!report->users)
		return -ENOMEM;
	report->out = open_output(report->opt->output);
	if (!report->out) {
		report->has_told = true;
		return -EIO;
	}
	ret = report->opt->sa ? sa_print(&report->opt->as_sa, report->groups, report->out) :
				print_report(report);
	if (ret >= 0)
		ret = out_flush(report->out);
	if (ret >= 0)
		tell(report);
	return ret;
}

/* Main tells of output that could not be written. */
static int close_report(struct report *report, int ret)
{
	int closed = out_close(report->out);

	if (ret < 0 && ret != closed && !report->has_told)
		msg_error("cannot read %s: %s", report->log, strerror(-ret));
	act_groups_free(report->groups);
	users_free(report->users);
	free(report->rows);
	if (ret < 0)
		return ret == closed ? STATUS_OK : status_of(ret);
	return report->opt->strict && loss_is_any(&report->loss) ? STATUS_UNTRUSTED : STATUS_OK;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	struct report report = { .opt = arg };
	int status;

	status = choose_log(self, report.opt->log, argc, argv, &report.log);
	if (!status)
		status = check_options(report.opt);
	if (!status)
		status = choose(&report);
	if (!status)
		status = filter_options_get(&report.opt->filter, &report.filter);
	if (status)
		return status;
	if (report.opt->task)
		report.filter.kinds = ACT_KIND_TASK;
	return close_report(&report, make_report(&report));
}

const struct command cmd_report = {
	.name = "report",
	.synopsis = "[OPTION]... [LOG]",
	.summary = "totals and percentiles by command, user, parent, hour or any field",
	.options = options,
	.options_size = sizeof(struct report_options),
	.defaults = set_defaults,
	.run = run,
};
