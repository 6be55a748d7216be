/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run's own side: makes the rounds, times them, and sends samples back. */
#include "bench/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "bench/why.h"
#include "bench/wire.h"

/*
 * Samples are sent in batches: whoever reads them wakes up, and would disturb
 * short rounds if it did so for each.
 */
#define BATCH_BYTES (64 << 10)
#define BATCH_NS (100 * NSEC_PER_MSEC)

const struct metric harness_metrics[HARNESS_METRICS + 1] = {
	[HARNESS_WALL_NS] = { "wall_ns", "elapsed time" },
	[HARNESS_CPU_NS] = { "cpu_ns", "CPU time, user and system, of the run and its children" },
	[HARNESS_USER_NS] = { "user_ns", "its user part, as the kernel splits it" },
	[HARNESS_SYSTEM_NS] = { "system_ns", "its system part, as the kernel splits it" },
	[HARNESS_NVCSW] = { "nvcsw", "voluntary context switches" },
	[HARNESS_NIVCSW] = { "nivcsw", "involuntary context switches" },
	[HARNESS_MINFLT] = { "minflt", "page faults without I/O" },
	{ NULL, NULL },
};

struct worker {
	const struct workload *workload;
	const struct run_spec *spec;
	void *state;
	int fd;
	size_t values;
	struct buffer pending;
	uint64_t sent_ns; /* when a batch was sent last */
};

/* ---- Sending ---- */

static int send_bytes(int fd, const void *data, size_t length)
{
	const char *at = data;

	while (length) {
		ssize_t n = write(fd, at, length);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

static int flush(struct worker *worker)
{
	int ret;

	if (worker->pending.failed)
		return -ENOMEM;
	ret = send_bytes(worker->fd, worker->pending.data, worker->pending.length);
	buffer_clear(&worker->pending);
	worker->sent_ns = clock_monotonic_ns();
	return ret;
}

static void put_frame(struct worker *worker, enum wire_type type, uint64_t length)
{
	struct wire_frame frame = { .type = type, .length = length };

	buffer_append(&worker->pending, &frame, sizeof(frame));
}

static int send_sample(struct worker *worker, const struct sample *sample)
{
	size_t value_bytes = sample->values * sizeof(*sample->value);
	size_t series_bytes = sample->series_count * sizeof(*sample->series);
	struct wire_sample head = {
		.round = sample->round,
		.is_warmup = sample->is_warmup,
		.ops = sample->ops,
		.values = sample->values,
		.series_count = sample->series_count,
	};
	int ret;

	put_frame(worker, WIRE_SAMPLE, sizeof(head) + value_bytes + series_bytes);
	buffer_append(&worker->pending, &head, sizeof(head));
	buffer_append(&worker->pending, sample->value, value_bytes);
	if (!series_bytes)
		return 0;
	/* As it lies: a series may be as large as memory allows. */
	ret = flush(worker);
	return ret < 0 ? ret : send_bytes(worker->fd, sample->series, series_bytes);
}

static int send_why(struct worker *worker, const struct act_why *why)
{
	/* With its end, and zeroes up to a multiple of eight. */
	size_t length = strnlen(why->text, sizeof(why->text) - 1) / 8 * 8 + 8;
	char text[sizeof(why->text) + 8] = "";

	memcpy(text, why->text, strnlen(why->text, sizeof(why->text) - 1));
	put_frame(worker, WIRE_WHY, length);
	buffer_append(&worker->pending, text, length);
	return flush(worker);
}

/* ---- Measuring ---- */

/*
 * getrusage(2) splits CPU time by ticks and rounds to microseconds; of the run
 * itself the sum is known to the nanosecond, of children that were reaped it
 * isn't.
 */
struct usage {
	struct rusage self, children;
	struct timespec cpu;
};

/* Before a round and after it in opposite order, so that little lies between the CPU clocks. */
static void read_usage_before(struct usage *ret)
{
	getrusage(RUSAGE_CHILDREN, &ret->children);
	getrusage(RUSAGE_SELF, &ret->self);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ret->cpu);
}

static void read_usage_after(struct usage *ret)
{
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ret->cpu);
	getrusage(RUSAGE_SELF, &ret->self);
	getrusage(RUSAGE_CHILDREN, &ret->children);
}

static double timeval_ns(struct timeval from, struct timeval to)
{
	return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_usec - from.tv_usec) * 1e3;
}

static double timespec_ns(struct timespec from, struct timespec to)
{
	return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

#define GROWTH(member) \
	((double)(to->self.member - from->self.member) + \
	 (double)(to->children.member - from->children.member))

static void measure_usage(const struct usage *from, const struct usage *to, double *ret_value)
{
	ret_value[HARNESS_USER_NS] = timeval_ns(from->self.ru_utime, to->self.ru_utime) +
				     timeval_ns(from->children.ru_utime, to->children.ru_utime);
	ret_value[HARNESS_SYSTEM_NS] = timeval_ns(from->self.ru_stime, to->self.ru_stime) +
				       timeval_ns(from->children.ru_stime, to->children.ru_stime);
	ret_value[HARNESS_CPU_NS] = timespec_ns(from->cpu, to->cpu) +
				    timeval_ns(from->children.ru_utime, to->children.ru_utime) +
				    timeval_ns(from->children.ru_stime, to->children.ru_stime);
	ret_value[HARNESS_NVCSW] = GROWTH(ru_nvcsw);
	ret_value[HARNESS_NIVCSW] = GROWTH(ru_nivcsw);
	ret_value[HARNESS_MINFLT] = GROWTH(ru_minflt);
}

static void clear_round(struct round *round, size_t values)
{
	round->ops = 1;
	round->series = NULL;
	round->series_count = 0;
	for (size_t i = 0; i < values; i++)
		round->value[i] = NAN;
}

/* The round itself, and as little as can be within each pair of clocks. */
static int make_round(struct worker *worker, uint64_t number, bool is_warmup, struct act_why *why)
{
	double value[HARNESS_METRICS + METRICS_MAX];
	size_t own = worker->values - HARNESS_METRICS;
	struct sample sample = { .round = number, .is_warmup = is_warmup, .value = value,
				 .values = worker->values };
	struct timespec begin, end;
	struct usage before, after;
	struct round round;
	int ret;

	if (worker->workload->prepare && worker->workload->prepare(worker->state, why) < 0)
		return -ECANCELED;
	clear_round(&round, own);
	read_usage_before(&before);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ret = worker->workload->round(worker->state, &round, why);
	clock_gettime(CLOCK_MONOTONIC, &end);
	read_usage_after(&after);
	if (ret < 0)
		return ret;
	value[HARNESS_WALL_NS] = timespec_ns(begin, end);
	measure_usage(&before, &after, value);
	memcpy(value + HARNESS_METRICS, round.value, own * sizeof(*value));
	sample.ops = round.ops;
	sample.series = round.series;
	sample.series_count = round.series_count;
	if (send_sample(worker, &sample) < 0)
		return because(why, -EPIPE, "the samples could not be sent");
	return 0;
}

static int flush_in_time(struct worker *worker, uint64_t now_ns)
{
	if (worker->pending.length < BATCH_BYTES && now_ns < worker->sent_ns + BATCH_NS)
		return 0;
	return flush(worker);
}

static int make_rounds(struct worker *worker, struct act_why *why)
{
	const struct run_spec *spec = worker->spec;
	uint64_t begin_ns = clock_monotonic_ns(), now_ns = begin_ns, number = 0;
	int ret = 0;

	for (; ret == 0 && number < spec->warmup; number++) {
		ret = make_round(worker, number, true, why);
		begin_ns = now_ns = clock_monotonic_ns();
	}
	for (; ret == 0; number++) {
		if (number - spec->warmup >= spec->rounds && now_ns - begin_ns >= spec->min_ns)
			break;
		ret = make_round(worker, number, false, why);
		now_ns = clock_monotonic_ns();
		if (ret == 0 && flush_in_time(worker, now_ns) < 0)
			ret = because(why, -EPIPE, "the samples could not be sent");
	}
	return ret;
}

static size_t count_metrics(const struct metric *metrics)
{
	size_t n = 0;

	while (metrics && metrics[n].name)
		n++;
	return n;
}

static int work(struct worker *worker, const void *options, int argc, char **argv,
		struct act_why *why)
{
	const struct workload *workload = worker->workload;
	int ret = workload->setup(options, argc, argv, &worker->state, why);

	if (ret < 0)
		return ret;
	ret = make_rounds(worker, why);
	workload->teardown(worker->state);
	return ret;
}

int run_worker(const struct workload *workload, const void *options, int argc, char **argv,
	       const struct run_spec *spec, int fd)
{
	struct worker worker = {
		.workload = workload, .spec = spec, .fd = fd, .pending = BUFFER_INIT,
		.values = HARNESS_METRICS + count_metrics(workload->metrics),
	};
	struct act_why why = { "it gave no reason" };
	int ret;

	/* No child that is executed may hold the pipe. */
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return 1;
	worker.sent_ns = clock_monotonic_ns();
	if (worker.values > HARNESS_METRICS + METRICS_MAX)
		ret = because(&why, -E2BIG, "the workload has too many metrics");
	else
		ret = work(&worker, options, argc, argv, &why);
	if (ret < 0) {
		send_why(&worker, &why);
	} else {
		put_frame(&worker, WIRE_END, 0);
		ret = flush(&worker);
	}
	buffer_release(&worker.pending);
	return ret < 0 ? 1 : 0;
}
