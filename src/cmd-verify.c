/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <actuary/log.h>

#include "audit.h"
#include "base/clock.h"
#include "logarg.h"
#include "msg.h"
#include "out.h"

/* Blocks between two looks at the progress line. */
#define PROGRESS_BLOCKS 64

struct verify_options {
	const char *log;
	const char *output;
	uint64_t since_ns, until_ns;
	bool json;
};

#define OPTION(member) offsetof(struct verify_options, member)
static const struct option_spec options[] = {
	{ 'l', "log", OPTION_TEXT, "DIR", OPTION(log), "log or segment to check" },
	{ 'S', "since", OPTION_TIME, "TIME", OPTION(since_ns),
	  "is the log complete from this time on?" },
	{ 'U', "until", OPTION_TIME, "TIME", OPTION(until_ns), "and up to this time?" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "an object a line" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "write there instead of stdout" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	((struct verify_options *)arg)->until_ns = UINT64_MAX;
}

struct verify {
	const struct verify_options *opt;
	const char *log;
	struct out *out;
	struct audit audit;
	/* The segment being read. */
	struct act_segment_info segment;
	bool has_segment;
	uint64_t blocks, records, exits;
	uint64_t first_ns, last_ns; /* ACT_UNKNOWN: none */
};

/* ---- Words ---- */

struct times {
	char from[64], to[64];
};

static const char *time_text(uint64_t ns, char text[64])
{
	text[format_value(ACT_TYPE_TIME, ns, text, 64)] = '\0';
	return text;
}

static struct times times_of(uint64_t from_ns, uint64_t to_ns)
{
	struct times times = { "", "" };

	time_text(from_ns, times.from);
	time_text(to_ns, times.to);
	return times;
}

static void print_escaped(struct out *out, const char *text)
{
	out_text_escaped(out, text, strlen(text));
}

/* "1 exit", "2 exits", "an unknown number of exits". */
static void print_count(struct out *out, uint64_t count, const char *what)
{
	if (count == ACT_UNKNOWN)
		out_printf(out, "an unknown number of %ss", what);
	else
		out_printf(out, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void json_string(struct out *out, const char *key, const char *text)
{
	out_json_string(out, key, text, strlen(text));
}

static void json_begin(struct out *out, const char *type)
{
	out_json_begin(out);
	json_string(out, "type", type);
}

static void json_times(struct out *out, uint64_t from_ns, uint64_t to_ns)
{
	out_json_u64(out, "from_ns", from_ns);
	out_json_u64(out, "to_ns", to_ns);
}

static const char *end_word(enum stretch_end end)
{
	static const char *const words[] = {
		[STRETCH_STOPPED] = "stopped", [STRETCH_DIED] = "died",
		[STRETCH_LIVE] = "live", [STRETCH_CUT] = "cut",
	};

	return words[end];
}

/* ---- Segments ---- */

static void begin_segment_text(struct verify *verify)
{
	const struct act_segment_info *segment = &verify->segment;
	char created[64];

	print_escaped(verify->out, segment->name);
	out_printf(verify->out, ": format %u, begun %s", segment->format,
		   time_text(segment->created_ns, created));
	if (*segment->host) {
		out_string(verify->out, " on ");
		print_escaped(verify->out, segment->host);
	}
	if (*segment->kernel) {
		out_string(verify->out, ", kernel ");
		print_escaped(verify->out, segment->kernel);
	}
	out_string(verify->out, "\n");
}

static void end_segment_text(struct verify *verify)
{
	struct out *out = verify->out;
	struct times times = times_of(verify->first_ns, verify->last_ns);

	out_string(out, "  ");
	print_count(out, verify->blocks, "block");
	out_string(out, ", ");
	print_count(out, verify->records, "record");
	out_string(out, ", ");
	print_count(out, verify->exits, "exit");
	if (verify->first_ns != ACT_UNKNOWN)
		out_printf(out, ", %s to %s", times.from, times.to);
	out_string(out, "\n");
}

static void end_segment_json(struct verify *verify)
{
	const struct act_segment_info *segment = &verify->segment;
	struct out *out = verify->out;

	json_begin(out, "segment");
	json_string(out, "segment", segment->name);
	out_json_u64(out, "number", segment->number);
	out_json_u64(out, "format", segment->format);
	out_json_u64(out, "created_ns", segment->created_ns);
	json_string(out, "boot_id", segment->boot_id);
	json_string(out, "host", segment->host);
	json_string(out, "kernel", segment->kernel);
	out_json_u64(out, "blocks", verify->blocks);
	out_json_u64(out, "records", verify->records);
	out_json_u64(out, "exits", verify->exits);
	json_times(out, verify->first_ns, verify->last_ns);
	out_json_end(out);
}

static void end_segment(struct verify *verify)
{
	if (!verify->has_segment)
		return;
	if (verify->opt->json)
		end_segment_json(verify);
	else
		end_segment_text(verify);
	verify->has_segment = false;
}

static void begin_segment(struct verify *verify, const struct act_segment_info *segment)
{
	end_segment(verify);
	verify->segment = *segment;
	verify->has_segment = true;
	verify->blocks = verify->records = verify->exits = 0;
	verify->first_ns = verify->last_ns = ACT_UNKNOWN;
	if (!verify->opt->json)
		begin_segment_text(verify);
}

/* ---- What is in them ---- */

static void add_batch(struct verify *verify, const struct act_batch *batch)
{
	uint64_t first_ns, last_ns;

	verify->blocks++;
	verify->records += batch->rows;
	verify->exits += batch_exits(batch, 0, UINT64_MAX);
	if (!batch_span(batch, &first_ns, &last_ns))
		return;
	if (verify->first_ns == ACT_UNKNOWN || first_ns < verify->first_ns)
		verify->first_ns = first_ns;
	if (verify->last_ns == ACT_UNKNOWN || last_ns > verify->last_ns)
		verify->last_ns = last_ns;
}

static void print_gap(struct verify *verify, const struct act_gap *gap)
{
	struct times times = times_of(gap->from_ns, gap->to_ns);
	struct out *out = verify->out;

	if (verify->opt->json) {
		json_begin(out, "gap");
		json_string(out, "segment", verify->segment.name);
		json_string(out, "cause", act_cause_name(gap->cause));
		out_json_u64(out, "cpu", gap->cpu < 0 ? ACT_UNKNOWN : (uint64_t)gap->cpu);
		out_json_u64(out, "exits", gap->count);
		json_times(out, gap->from_ns, gap->to_ns);
		out_json_end(out);
		return;
	}
	out_string(out, "  gap: ");
	print_count(out, gap->count, "exit");
	out_string(out, " lost");
	if (gap->cpu >= 0)
		out_printf(out, " on CPU %d", gap->cpu);
	out_printf(out, ", %s to %s (%s)\n", times.from, times.to, act_cause_name(gap->cause));
}

static void print_state(struct verify *verify, const struct act_state *state)
{
	struct out *out = verify->out;
	char when[64];

	if (verify->opt->json) {
		json_begin(out, "state");
		json_string(out, "segment", verify->segment.name);
		json_string(out, "state", act_state_name(state->type));
		out_json_u64(out, "time_ns", state->time_ns);
		out_json_u64(out, "delayacct", state->delayacct);
		out_json_u64(out, "forks", state->forks);
		out_json_u64(out, "recorded", state->recorded);
		out_json_u64(out, "lost", state->lost);
		json_string(out, "text", state->text);
		out_json_end(out);
		return;
	}
	out_printf(out, "  %s: %s", act_state_name(state->type), time_text(state->time_ns, when));
	if (*state->text) {
		out_string(out, ", ");
		print_escaped(out, state->text);
	}
	out_string(out, "\n");
}

static void print_damage(struct verify *verify, const struct act_damage *damage)
{
	struct out *out = verify->out;

	if (verify->opt->json) {
		json_begin(out, "damage");
		json_string(out, "segment", damage->segment);
		out_json_u64(out, "offset", damage->offset);
		out_json_u64(out, "bytes", damage->bytes);
		out_json_u64(out, "records", damage->records);
		out_json_u64(out, "exits", damage->exits);
		out_json_bool(out, "torn", damage->is_torn_tail);
		json_string(out, "reason", damage->reason);
		out_json_end(out);
		return;
	}
	out_string(out, "  damage: ");
	/* What is missing at the end of a segment is known from the next one. */
	if (strcmp(damage->segment, verify->segment.name) != 0) {
		print_escaped(out, damage->segment);
		out_string(out, ": ");
	}
	if (damage->bytes)
		out_printf(out, "%" PRIu64 " bytes at %" PRIu64 " skipped (%s), ",
			   damage->bytes, damage->offset, damage->reason);
	else
		out_printf(out, "%s at %" PRIu64 ", ", damage->reason, damage->offset);
	print_count(out, damage->records, "record");
	out_string(out, ", ");
	print_count(out, damage->exits, "exit");
	out_string(out, " lost\n");
}

static void take(struct verify *verify, const struct act_item *item)
{
	switch (item->type) {
	case ACT_ITEM_SEGMENT:
		begin_segment(verify, &item->segment);
		break;
	case ACT_ITEM_BATCH:
		add_batch(verify, &item->batch);
		break;
	case ACT_ITEM_GAP:
		print_gap(verify, &item->gap);
		break;
	case ACT_ITEM_STATE:
		print_state(verify, &item->state);
		break;
	case ACT_ITEM_DAMAGE:
		if (audit_is_damage(&verify->audit, &item->damage))
			print_damage(verify, &item->damage);
		break;
	}
}

/* ---- Stretches of recording ---- */

static void print_stretch_json(struct out *out, const struct stretch *stretch)
{
	json_begin(out, "recording");
	json_times(out, stretch->from_ns, stretch->to_ns);
	json_string(out, "end", end_word(stretch->end));
	out_json_bool(out, "has_start", stretch->has_start);
	out_json_u64(out, "recorded", stretch->recorded);
	out_json_u64(out, "lost", stretch->lost);
	out_json_bool(out, "unknown", stretch->has_unknown);
	out_json_u64(out, "counted", stretch->counted);
	out_json_u64(out, "forks", stretch->forks);
	out_json_bool(out, "damaged", stretch->is_damaged);
	out_json_end(out);
}

static void print_stretch(void *arg, const struct stretch *stretch)
{
	struct verify *verify = arg;
	struct times times = times_of(stretch->from_ns, stretch->to_ns);
	struct out *out = verify->out;

	if (verify->opt->json) {
		print_stretch_json(out, stretch);
		return;
	}
	out_printf(out, "  recording: %s%s to %s (%s), recorded %" PRIu64 " of ",
		   stretch->has_start ? "" : "before ", times.from, times.to,
		   end_word(stretch->end), stretch->recorded);
	print_count(out, stretch->recorded + stretch->lost, "exit");
	if (stretch->has_unknown)
		out_string(out, " and more");
	if (stretch->forks != ACT_UNKNOWN)
		out_printf(out, ", %" PRIu64 " forks", stretch->forks);
	out_string(out, "\n");
	if (stretch_is_mismatch(stretch))
		out_printf(out, "  mismatch: the recorder counted %" PRIu64 " exits\n",
			   stretch->counted);
}

static void print_uncovered(void *arg, uint64_t from_ns, uint64_t to_ns)
{
	struct verify *verify = arg;
	struct times times = times_of(from_ns, to_ns);

	if (verify->opt->json) {
		json_begin(verify->out, "uncovered");
		json_times(verify->out, from_ns, to_ns);
		out_json_end(verify->out);
		return;
	}
	out_printf(verify->out, "  not recorded: %s to %s\n", times.from, times.to);
}

/* ---- The verdict ---- */

static void print_verdict_json(struct out *out, const struct audit *audit)
{
	json_begin(out, "summary");
	out_json_bool(out, "complete", audit_is_complete(audit));
	out_json_u64(out, "recorded", audit->recorded);
	out_json_u64(out, "lost", audit->lost);
	out_json_u64(out, "unknown", audit->unknown);
	out_json_u64(out, "gaps", audit->gaps);
	out_json_u64(out, "damages", audit->damages);
	out_json_u64(out, "mismatches", audit->mismatches);
	out_json_u64(out, "uncovered", audit->uncovered);
	out_json_u64(out, "segments", audit->segments);
	out_json_u64(out, "blocks", audit->blocks);
	out_json_u64(out, "records", audit->records);
	out_json_bool(out, "live", audit->end == STRETCH_LIVE);
	out_json_end(out);
}

static void print_reason(struct out *out, const char **separator, uint64_t count,
			 const char *what)
{
	if (!count)
		return;
	out_string(out, *separator);
	print_count(out, count, what);
	*separator = ", ";
}

static void print_verdict(struct verify *verify)
{
	const struct audit *audit = &verify->audit;
	bool is_complete = audit_is_complete(audit);
	const char *separator = "; ";
	struct out *out = verify->out;

	if (verify->opt->json) {
		print_verdict_json(out, audit);
		return;
	}
	out_printf(out, "%s: recorded %" PRIu64 " of %" PRIu64 " exits%s",
		   is_complete ? "complete" : "incomplete", audit->recorded,
		   audit->recorded + audit->lost,
		   audit->unknown ? ", and nobody knows how many more" : "");
	print_reason(out, &separator, audit->gaps, "gap");
	print_reason(out, &separator, audit->damages, "damaged part");
	print_reason(out, &separator, audit->mismatches, "false count");
	print_reason(out, &separator, audit->uncovered, "unrecorded span");
	out_string(out, "\n");
}

/* ---- The command ---- */

/* Every stored column is asked for, so that every one is decoded. */
static void select_all(struct act_log_reader *reader)
{
	struct act_field_set fields = { 0 };

	act_field_set_all(&fields);
	act_log_select(reader, &fields);
}

static int walk(struct verify *verify, struct act_log_reader *reader)
{
	struct act_item item;
	int ret;

	while ((ret = act_log_next(reader, &item)) == 0) {
		/* A recording ends before what follows it, but after its own stop. */
		bool is_stop = item.type == ACT_ITEM_STATE && item.state.type == ACT_STATE_STOP;

		if (is_stop)
			take(verify, &item);
		audit_take(&verify->audit, &item);
		if (!is_stop)
			take(verify, &item);
		if (item.type == ACT_ITEM_BATCH && verify->audit.blocks % PROGRESS_BLOCKS == 0)
			msg_progress("%s: %" PRIu64 " records", verify->segment.name,
				     verify->audit.records);
	}
	if (ret < 0)
		return ret;
	audit_finish(&verify->audit);
	end_segment(verify);
	msg_progress_end();
	return 0;
}

/* What a stretch that the log does not end means for this log. */
static enum stretch_end open_end(const char *path, const struct act_log_reader *reader)
{
	struct stat st;

	if (act_log_is_live(reader))
		return STRETCH_LIVE;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? STRETCH_CUT : STRETCH_DIED;
}

static int verify_log(struct verify *verify)
{
	const struct verify_options *opt = verify->opt;
	struct audit_sink sink = {
		.stretch = print_stretch, .uncovered = print_uncovered, .arg = verify,
	};
	struct act_log_reader *reader;
	struct act_why why = { "" };
	int ret = act_log_reader_open(verify->log, &reader, &why);

	if (ret < 0) {
		tell_unread(verify->log, ret, &why);
		return status_of(ret);
	}
	select_all(reader);
	audit_init(&verify->audit, &sink, opt->since_ns, opt->until_ns, clock_wall_ns(),
		   open_end(verify->log, reader));
	ret = walk(verify, reader);
	act_log_reader_free(reader);
	if (ret < 0) {
		msg_error("cannot read %s: %s", verify->log, strerror(-ret));
		return STATUS_FAILED;
	}
	print_verdict(verify);
	return audit_is_complete(&verify->audit) ? STATUS_OK : STATUS_UNTRUSTED;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	struct verify verify = { .opt = arg };
	const struct verify_options *opt = verify.opt;
	int status;

	status = choose_log(self, opt->log, argc, argv, &verify.log);
	if (status)
		return status;
	if (opt->since_ns >= opt->until_ns)
		return refuse("--since must be before --until");
	verify.out = open_output(opt->output);
	if (!verify.out)
		return STATUS_FAILED;
	status = verify_log(&verify);
	/* Main tells of output that could not be written. */
	out_close(verify.out);
	return status;
}

const struct command cmd_verify = {
	.name = "verify",
	.synopsis = "[OPTION]... [LOG]",
	.summary = "check a log: what is whole, what is missing, and why",
	.options = options,
	.options_size = sizeof(struct verify_options),
	.defaults = set_defaults,
	.run = run,
};
