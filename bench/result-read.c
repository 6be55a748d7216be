/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/result.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/record.h>

#include "bench/json.h"
#include "bench/number.h"
#include "bench/result-open.h"
#include "bench/run.h"
#include "bench/vector.h"
#include "bench/why.h"

struct result {
	struct reader reader;
	char *path;
	json_t *head;   /* keeps the header's texts */
	struct result_header header;
	struct result_fact *facts;
	const char **texts[5]; /* of argv, options, metrics, conditions, specs */
	json_t *foot;
	struct result_footer footer;
	bool is_torn;
	/* Where reading is. */
	const struct result_visitor *visitor;
	void *arg;
	struct act_why *why;
	bool in_run, has_run, has_sample;
	uint64_t run;
	struct vector numbers; /* of a line */
};

static int damaged(struct result *result, const char *what)
{
	return because(result->why, -EUCLEAN, "%s, line %" PRIu64 ": %s", result->path,
		       result->reader.line, what);
}

static int bad_member(struct result *result, const char *name)
{
	return because(result->why, -EUCLEAN, "%s, line %" PRIu64 ": \"%s\" is not what it "
		       "should be", result->path, result->reader.line, name);
}

static int no_memory(struct result *result)
{
	return because(result->why, -ENOMEM, "cannot read %s: out of memory", result->path);
}

/* ---- Facts ---- */

/* An object's members, all texts or null, as an array to be freed. */
static int pick_facts(struct json_pick *pick, struct result_fact **ret_facts, size_t *ret_count)
{
	json_t *object = json_pick_object(pick, "environment");
	struct result_fact *facts = calloc(json_object_size(object) + 1, sizeof(*facts));
	size_t count = 0;
	const char *key;
	json_t *value;

	if (!facts)
		return -ENOMEM;
	json_object_foreach(object, key, value) {
		if (!json_is_string(value) && !json_is_null(value) && !pick->bad)
			pick->bad = "environment";
		facts[count].key = key;
		facts[count++].text = json_string_value(value);
	}
	*ret_facts = facts;
	*ret_count = count;
	return 0;
}

/* ---- The header ---- */

static void pick_plan(struct json_pick *from, struct result_plan *plan)
{
	struct json_pick pick = { json_pick_object(from, "plan"), NULL };

	plan->pairs = json_pick_u64(&pick, "pairs");
	plan->rounds = json_pick_u64(&pick, "rounds");
	plan->warmup = json_pick_u64(&pick, "warmup");
	plan->min_ns = json_pick_u64(&pick, "min_ns");
	plan->timeout_ns = json_pick_u64(&pick, "timeout_ns");
	plan->max_ns = json_pick_u64(&pick, "max_ns");
	plan->aa = json_pick_real(&pick, "aa");
	plan->width = json_pick_real(&pick, "width");
	plan->bound = json_pick_real(&pick, "bound");
	if (!from->bad)
		from->bad = pick.bad;
}

static int pick_lists(struct result *result, struct json_pick *pick)
{
	struct result_header *header = &result->header;
	const struct {
		const char *key;
		const char *const **texts;
		size_t *count;
	} lists[] = {
		{ "argv", &header->argv, &header->argc },
		{ "options", &header->options, &header->option_count },
		{ "metrics", &header->metrics, &header->metric_count },
		{ "specs", &header->specs, &header->condition_count },
		{ "conditions", &header->conditions, &header->condition_count },
	};
	size_t specs = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		int ret = json_pick_texts(pick, lists[i].key, &result->texts[i], lists[i].count);

		if (ret < 0)
			return ret;
		*lists[i].texts = result->texts[i];
		if (i == 3)
			specs = header->condition_count;
	}
	if (!specs)
		header->specs = NULL;
	else if (specs != header->condition_count && !pick->bad)
		pick->bad = "specs";
	return 0;
}

static int pick_header(struct result *result, struct json_pick *pick)
{
	struct result_header *header = &result->header;
	int ret = pick_lists(result, pick);

	if (ret < 0)
		return ret;
	header->created = json_pick_text(pick, "created");
	header->workload = json_pick_text(pick, "workload");
	header->series = json_pick_text(pick, "series");
	header->primary = json_pick_text(pick, "primary");
	pick_plan(pick, &header->plan);
	header->seed = json_pick_u64(pick, "seed");
	header->harness_ns = json_pick_real(pick, "harness_ns");
	header->noise = json_pick_text(pick, "noise");
	ret = pick_facts(pick, &result->facts, &header->fact_count);
	header->facts = result->facts;
	return ret;
}

static bool is_result(const json_t *object)
{
	const char *word = json_string_value(json_object_get(object, "actuary"));

	return word && strcmp(word, "result") == 0;
}

static int read_header(struct result *result, const char *line, size_t length)
{
	struct json_pick pick = { json_loadb(line, length, 0, NULL), NULL };
	uint64_t version = json_pick_u64(&pick, "version");

	result->head = (json_t *)pick.object;
	if (!result->head)
		return because(result->why, -EUCLEAN, "%s is no result, or breaks off in its "
			       "first line", result->path);
	if (!is_result(result->head) || pick.bad || version == ACT_UNKNOWN || !version)
		return because(result->why, -EUCLEAN, "%s is no result of actuary",
			       result->path);
	if (version > RESULT_VERSION)
		return because(result->why, -EPROTONOSUPPORT, "%s is of version %" PRIu64 "; this "
			       "program reads up to %d: use a newer one", result->path, version,
			       RESULT_VERSION);
	result->header.version = (unsigned int)version;
	if (pick_header(result, &pick) < 0)
		return no_memory(result);
	if ((!result->header.metric_count && !result->header.series) ||
	    result->header.metric_count > RESULT_METRICS_MAX)
		pick.bad = "metrics";
	if (result->header.condition_count > RESULT_CONDITIONS_MAX)
		pick.bad = "conditions";
	return pick.bad ? bad_member(result, pick.bad) : 0;
}

const struct result_header *result_header(const struct result *result)
{
	return &result->header;
}

/* ---- Arrays of numbers, by hand: a file may hold millions ---- */

/*
 * What follows "[", up to and including "]", as the writer writes it; returns
 * what comes after, or NULL if it is not that, or memory is out.
 */
static const char *read_numbers(const char *at, bool allow_null, struct vector *numbers)
{
	numbers->n = 0;
	if (*at == ']')
		return at + 1;
	for (;;) {
		double value = NAN;

		if (allow_null && strncmp(at, "null", 4) == 0)
			at += 4;
		else if (!(at = number_read(at, true, &value)) || isinf(value))
			return NULL;
		if (vector_push(numbers, value) < 0)
			return NULL;
		if (*at == ']')
			return at + 1;
		if (*at++ != ',')
			return NULL;
	}
}

/* The same of any JSON. */
static int take_numbers(struct result *result, json_t *array, bool allow_null, const char *name)
{
	size_t count = json_array_size(array);

	result->numbers.n = 0;
	if (!array)
		return bad_member(result, name);
	for (size_t i = 0; i < count; i++) {
		json_t *item = json_array_get(array, i);

		if (!json_is_number(item) && !(allow_null && json_is_null(item)))
			return bad_member(result, name);
		if (vector_push(&result->numbers,
				json_is_null(item) ? (double)NAN : json_number_value(item)) < 0)
			return no_memory(result);
	}
	return 0;
}

/* ---- Lines ---- */

static int give_sample(struct result *result, struct sample *sample)
{
	sample->values = result->numbers.n;
	sample->value = result->numbers.value;
	if (!result->in_run)
		return damaged(result, "a sample outside of any run");
	if (sample->values != result->header.metric_count)
		return damaged(result, "not as many values as there are metrics");
	if (sample->ops < 0)
		return bad_member(result, "ops");
	result->has_sample = true;
	return result->visitor->sample ? result->visitor->sample(result->arg, sample) : 0;
}

static int take_sample(struct result *result, struct json_pick *pick)
{
	struct sample sample = {
		.round = json_pick_u64(pick, "round"),
		.ops = json_pick_real(pick, "ops"),
		.is_warmup = json_pick_bool(pick, "warmup"),
	};
	int ret = take_numbers(result, json_pick_array(pick, "v"), true, "v");

	if (ret < 0)
		return ret;
	return pick->bad ? bad_member(result, pick->bad) : give_sample(result, &sample);
}

static int give_series(struct result *result)
{
	const struct vector *numbers = &result->numbers;

	if (!result->has_sample)
		return damaged(result, "a series without its sample");
	if (!result->header.series)
		return damaged(result, "a series, but the header names none");
	return result->visitor->series ?
	       result->visitor->series(result->arg, numbers->value, numbers->n) : 0;
}

static int take_series(struct result *result, struct json_pick *pick)
{
	int ret = take_numbers(result, json_pick_array(pick, "series"), false, "series");

	return ret < 0 ? ret : give_series(result);
}

/* The index of the condition; SIZE_MAX: none is named, or an unknown one, which is @bad. */
static size_t pick_condition(const struct result_header *header, struct json_pick *pick)
{
	const char *name = json_pick_text(pick, "condition");

	for (size_t i = 0; name && i < header->condition_count; i++)
		if (strcmp(header->conditions[i], name) == 0)
			return i;
	if (name && !pick->bad)
		pick->bad = "condition";
	return SIZE_MAX;
}

static int give_run(struct result *result, const struct result_run *run)
{
	if (result->in_run)
		return damaged(result, "a run begins before the last one has ended");
	if (run->run == ACT_UNKNOWN || (result->has_run && run->run <= result->run))
		return bad_member(result, "run");
	result->in_run = result->has_run = true;
	result->has_sample = false;
	result->run = run->run;
	return result->visitor->run ? result->visitor->run(result->arg, run) : 0;
}

static int take_run(struct result *result, struct json_pick *pick)
{
	struct result_run run = {
		.run = json_pick_u64(pick, "run"),
		.pair = json_pick_u64(pick, "pair"),
		.slot = json_pick_u64(pick, "slot"),
		.condition = pick_condition(&result->header, pick),
		.is_aa = json_pick_bool(pick, "aa"),
		.is_warmup = json_pick_bool(pick, "warmup"),
		.psi = json_pick_real(pick, "psi"),
		.steal = json_pick_real(pick, "steal"),
	};
	struct result_fact *facts;
	int ret;

	if (pick_facts(pick, &facts, &run.fact_count) < 0)
		return no_memory(result);
	run.facts = facts;
	ret = pick->bad ? bad_member(result, pick->bad) : give_run(result, &run);
	free(facts);
	return ret;
}

static void pick_listener(struct json_pick *from, struct result_end *end)
{
	struct json_pick pick = { json_pick_object(from, "listener"), NULL };

	end->has_listener = pick.object;
	end->listener.cpu_ns = json_pick_u64(&pick, "cpu_ns");
	end->listener.records = json_pick_u64(&pick, "records");
	end->listener.enobufs = json_pick_u64(&pick, "enobufs");
	end->listener.lost = json_pick_u64(&pick, "lost");
	if (!from->bad)
		from->bad = pick.bad;
}

static int take_end(struct result *result, struct json_pick *pick)
{
	struct result_end end = {
		.run = json_pick_u64(pick, "end"),
		.is_valid = json_pick_bool(pick, "valid"),
		.reason = json_pick_text(pick, "reason"),
	};

	pick_listener(pick, &end);
	if (pick->bad)
		return bad_member(result, pick->bad);
	if (!result->in_run || end.run != result->run)
		return damaged(result, "the end of a run that did not begin");
	result->in_run = result->has_sample = false;
	return result->visitor->end ? result->visitor->end(result->arg, &end) : 0;
}

static int take_footer(struct result *result, struct json_pick *pick)
{
	result->footer.runs = json_pick_u64(pick, "runs");
	result->footer.invalid = json_pick_u64(pick, "invalid");
	result->footer.is_complete = json_pick_bool(pick, "complete");
	result->footer.interrupted = json_pick_text(pick, "interrupted");
	if (pick->bad)
		return bad_member(result, pick->bad);
	if (result->in_run)
		return damaged(result, "the footer within a run");
	result->foot = json_incref((json_t *)pick->object);
	return 0;
}

/* Lines of a kind that is not known are of a writer that has more to tell. */
static int take_object(struct result *result, json_t *object)
{
	static const struct {
		const char *key;
		int (*take)(struct result *result, struct json_pick *pick);
	} kinds[] = {
		{ "round", take_sample }, { "series", take_series }, { "run", take_run },
		{ "end", take_end }, { "footer", take_footer },
	};
	struct json_pick pick = { object, NULL };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (json_object_get(object, kinds[i].key))
			return kinds[i].take(result, &pick);
	return json_is_object(object) ? 0 : damaged(result, "not an object");
}

/* ---- The writer's own form, which it makes by hand ---- */

static const char *skip(const char *at, const char *text)
{
	size_t length = strlen(text);

	return at && strncmp(at, text, length) == 0 ? at + length : NULL;
}

static bool read_series(const char *line, struct vector *numbers)
{
	const char *at = skip(line, "{\"series\":[");

	at = at ? read_numbers(at, false, numbers) : NULL;
	return at && strcmp(at, "}") == 0;
}

static bool read_sample(const char *line, struct sample *sample, struct vector *numbers)
{
	const char *at = skip(line, "{\"round\":"), *after;
	double round;

	at = at ? number_read(at, true, &round) : NULL;
	if (!at || !(round >= 0 && round < 9e15) || round != floor(round))
		return false;
	at = skip(at, ",\"ops\":");
	at = at ? number_read(at, true, &sample->ops) : NULL;
	if (!at || isinf(sample->ops))
		return false;
	after = skip(at, ",\"warmup\":true");
	sample->is_warmup = after;
	at = skip(after ? after : at, ",\"v\":[");
	at = at ? read_numbers(at, true, numbers) : NULL;
	sample->round = (uint64_t)round;
	return at && strcmp(at, "}") == 0;
}

/* What has begun ends, so that who counts on it gets it. */
static int end_reading(struct result *result)
{
	struct result_end end = {
		.run = result->run, .is_unfinished = true, .reason = "the file breaks off",
	};

	if (!result->in_run || !result->visitor->end)
		return 0;
	return result->visitor->end(result->arg, &end);
}

/* Only what the writer was at when it was stopped may be unreadable: the last line. */
static int take_torn(struct result *result)
{
	if (!reader_at_end(&result->reader))
		return damaged(result, "cannot be read; the file is damaged");
	result->is_torn = true;
	return end_reading(result);
}

static int take_line(struct result *result, const char *line, size_t length)
{
	struct sample sample = { 0 };
	json_t *object;
	int ret;

	if (result->foot)
		return damaged(result, "something follows the footer");
	if (read_series(line, &result->numbers))
		return give_series(result);
	if (read_sample(line, &sample, &result->numbers))
		return give_sample(result, &sample);
	object = json_loadb(line, length, 0, NULL);
	if (!object)
		return take_torn(result);
	ret = take_object(result, object);
	json_decref(object);
	return ret;
}

/* ---- The whole ---- */

int result_read(struct result *result, const struct result_visitor *visitor, void *arg,
		struct act_why *ret_why)
{
	int ret = 0;

	result->visitor = visitor;
	result->arg = arg;
	result->why = ret_why;
	while (!ret && !result->is_torn) {
		size_t length;
		char *line;

		ret = reader_next(&result->reader, &line, &length);
		if (ret == 1)
			return end_reading(result);
		if (ret == -EILSEQ)
			return take_torn(result);
		if (ret < 0)
			return reader_failed(&result->reader, result->path, ret, ret_why);
		ret = length ? take_line(result, line, length) : 0;
	}
	return ret;
}

const struct result_footer *result_footer(const struct result *result)
{
	return result->foot ? &result->footer : NULL;
}

bool result_is_torn(const struct result *result)
{
	return result->is_torn;
}

void result_close(struct result *result)
{
	if (!result)
		return;
	reader_release(&result->reader);
	for (size_t i = 0; i < sizeof(result->texts) / sizeof(*result->texts); i++)
		free(result->texts[i]);
	free(result->facts);
	json_decref(result->head);
	json_decref(result->foot);
	vector_release(&result->numbers);
	free(result->path);
	free(result);
}

static int start(struct result *result)
{
	size_t length;
	char *line;
	int ret;

	if (!result->path)
		return because(result->why, -ENOMEM, "out of memory");
	ret = reader_next(&result->reader, &line, &length);
	if (ret == 1)
		return because(result->why, -ENODATA, "%s is empty", result->path);
	if (ret < 0)
		return reader_failed(&result->reader, result->path, ret, result->why);
	return read_header(result, line, length);
}

int result_open_reader(struct reader *reader, const char *path, struct result **ret,
		       struct act_why *ret_why)
{
	struct result *result = calloc(1, sizeof(*result));
	int error;

	if (!result) {
		reader_release(reader);
		return because(ret_why, -ENOMEM, "cannot read %s: out of memory", path);
	}
	result->reader = *reader;
	*reader = (struct reader){ .fd = -1 };
	result->path = strdup(path);
	result->why = ret_why;
	error = start(result);
	if (error < 0) {
		result_close(result);
		return error;
	}
	*ret = result;
	return 0;
}

int result_open(const char *path, struct result **ret, struct act_why *ret_why)
{
	struct reader reader;
	int error = reader_open(&reader, path, RESULT_LINE_MAX, ret_why);

	return error < 0 ? error : result_open_reader(&reader, path, ret, ret_why);
}

int result_open_fd(int fd, const char *path, struct result **ret, struct act_why *ret_why)
{
	struct reader reader;
	int error = reader_init(&reader, fd, RESULT_LINE_MAX);

	if (error < 0) {
		reader_release(&reader);
		return because(ret_why, error, "cannot read %s: out of memory", path);
	}
	return result_open_reader(&reader, path, ret, ret_why);
}
