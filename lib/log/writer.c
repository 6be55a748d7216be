/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer.
 *
 * Records gather in a group.  A full group becomes a block of the segment.
 * Until then each sync adds what is new of it to the tail, a file beside the
 * segment, as a small block of its own; once the full block is durable the tail
 * is emptied.  So at any moment whatever was synced is in one of the two, and
 * a reader that meets a record in both knows it by its number.
 *
 * When the disk is full, encoded blocks wait in memory up to a limit.  What
 * comes beyond it is dropped before it gets a number, so that numbers stay
 * without holes, and is told as a gap when there is room again.
 */
#include "log/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define DEFAULT_ROTATE_BYTES (UINT64_C(64) << 20)
#define DEFAULT_ROTATE_AGE_NS (86400 * NSEC_PER_SEC)
#define DEFAULT_MEMORY_BYTES (UINT64_C(4) << 20)
#define DEFAULT_BLOCK_RECORDS 4096

/* ---- Blocks ---- */

static int enqueue(struct act_log_writer *writer, struct buffer *bytes)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (!waiting || bytes->failed) {
		free(waiting);
		buffer_release(bytes);
		return -ENOMEM;
	}
	waiting->bytes = *bytes;
	*bytes = (struct buffer)BUFFER_INIT;
	if (writer->waiting_last)
		writer->waiting_last->next = waiting;
	else
		writer->waiting = waiting;
	writer->waiting_last = waiting;
	writer->waiting_bytes += waiting->bytes.length;
	return 0;
}

static void pack_events(const struct act_log_writer *writer, size_t from, size_t to,
			struct position before, struct buffer *buffer)
{
	size_t start = block_begin(buffer);
	struct block_header header = {
		.type = BLOCK_EVENTS, .before = before, .count = (uint32_t)(to - from),
		.first_ns = ACT_UNKNOWN, .last_ns = ACT_UNKNOWN, .forks = writer->forks,
	};

	for (size_t i = from; i < to; i++) {
		if (writer->event[i].is_gap)
			event_pack_gap(&writer->event[i].gap, buffer);
		else
			event_pack_state(&writer->event[i].state, buffer);
	}
	block_seal(&header, start, buffer);
}

/* Rows [from, to) of the group; @before are the counts before row @from. */
static int pack_rows(struct act_log_writer *writer, size_t from, size_t to,
		     struct position before, struct buffer *buffer)
{
	struct block_header header = { .before = before, .forks = writer->forks };

	return group_encode(writer->group, from, to, &header, buffer);
}

static void note_drop(struct act_log_writer *writer, size_t from, size_t to)
{
	struct act_gap *gap = &writer->dropping;
	uint64_t exits = group_exits(writer->group, from, to), first_ns, last_ns;

	group_span(writer->group, from, to, &first_ns, &last_ns);
	if (!gap->cause)
		*gap = (struct act_gap){ .cause = ACT_CAUSE_STORAGE, .cpu = -1,
					 .from_ns = first_ns };
	gap->to_ns = last_ns;
	gap->count += exits;
	writer->stats.dropped += to - from;
	writer->stats.dropped_exits += exits;
}

/*
 * Makes a block of the group.  When memory is used up, only of what is in the
 * tail: that has its number, and was promised to be kept.
 */
static int queue_rows(struct act_log_writer *writer)
{
	size_t rows = group_rows(writer->group), keep = rows;
	struct buffer bytes = BUFFER_INIT;
	int ret = 0;

	if (writer->waiting_bytes >= writer->options.memory_bytes)
		keep = writer->tail_rows;
	if (keep < rows)
		note_drop(writer, keep, rows);
	if (keep) {
		ret = pack_rows(writer, 0, keep, writer->base, &bytes);
		if (ret == 0)
			ret = enqueue(writer, &bytes);
		buffer_release(&bytes);
	}
	if (ret == 0) {
		writer->base.records += keep;
		writer->base.exits += group_exits(writer->group, 0, keep);
	}
	group_clear(writer->group);
	writer->tail_rows = 0;
	return ret;
}

static int queue_events(struct act_log_writer *writer)
{
	struct buffer bytes = BUFFER_INIT;
	int ret;

	/* With no memory left they wait, too, and are merged. */
	if (!writer->events || writer->waiting_bytes >= writer->options.memory_bytes)
		return 0;
	pack_events(writer, 0, writer->events, writer->base, &bytes);
	ret = enqueue(writer, &bytes);
	if (ret < 0)
		return ret;
	writer->base.events += writer->events;
	writer->events = writer->tail_events = 0;
	return 0;
}

/* ---- Writing ---- */

static void append_event(struct act_log_writer *writer, const struct event *event);

/* There is room again: says so in the log. */
static void note_resume(struct act_log_writer *writer)
{
	struct event gap = { .is_gap = true, .gap = writer->dropping };
	struct event state = {
		.state = { .type = ACT_STATE_RESUME, .time_ns = clock_wall_ns(),
			   .delayacct = ACT_UNKNOWN, .forks = writer->forks,
			   .recorded = ACT_UNKNOWN, .lost = ACT_UNKNOWN },
	};

	append_event(writer, &gap);
	append_event(writer, &state);
	memset(&writer->dropping, 0, sizeof(writer->dropping));
}

/* Writes what waits, in order, as far as there is room. */
static int flush(struct act_log_writer *writer)
{
	while (writer->waiting) {
		struct waiting *first = writer->waiting;
		int ret = write_at(writer->fd, first->bytes.data, first->bytes.length,
				   writer->offset);

		if (ret < 0) {
			/* Half a block is none. */
			(void)!ftruncate(writer->fd, (off_t)writer->offset);
			writer->stats.error = ret;
			return ret;
		}
		writer->offset += first->bytes.length;
		writer->stats.bytes += first->bytes.length;
		writer->waiting_bytes -= first->bytes.length;
		writer->is_dirty = true;
		writer->waiting = first->next;
		if (!writer->waiting)
			writer->waiting_last = NULL;
		buffer_release(&first->bytes);
		free(first);
	}
	writer->stats.error = 0;
	if (writer->dropping.cause)
		note_resume(writer);
	return 0;
}

static struct sync_job job_of(struct act_log_writer *writer)
{
	struct sync_job job = {
		.segment_fd = writer->is_dirty ? writer->fd : -1,
		.tail_fd = writer->is_tail_dirty ? writer->tail_fd : -1,
		.dirfd = writer->is_dir_dirty ? writer->dirfd : -1,
		.records = writer->offset, .generation = writer->number,
	};

	writer->is_dirty = writer->is_tail_dirty = writer->is_dir_dirty = false;
	return job;
}

/* The group becomes a block, its events another. */
int writer_close_group(struct act_log_writer *writer)
{
	bool had_tail = writer->tail_rows || writer->tail_events;
	int ret = 0;

	if (group_rows(writer->group))
		ret = queue_rows(writer);
	if (ret == 0)
		ret = queue_events(writer);
	if (ret < 0)
		return ret;
	if (flush(writer) < 0 || !had_tail)
		return 0;
	/* So that by the next sync the tail can be emptied. */
	writer->tail_covered_at = writer->offset;
	struct sync_job job = job_of(writer);
	return syncer_submit(writer->syncer, &job, false);
}

/* A tail whose content waits in memory was not covered by then. */
static bool is_tail_covered(struct act_log_writer *writer)
{
	return !writer->tail_rows && !writer->tail_events && !writer->waiting &&
	       syncer_durable(writer->syncer, writer->number) >= writer->tail_covered_at;
}

static int open_tail(struct act_log_writer *writer)
{
	char name[SEGMENT_NAME_BYTES];

	if (writer->tail_fd >= 0)
		return 0;
	tail_name(writer->name, name);
	writer->tail_fd = openat(writer->dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
				 0640);
	if (writer->tail_fd < 0)
		return -errno;
	writer->is_dir_dirty = true;
	return 0;
}

static int write_tail(struct act_log_writer *writer)
{
	size_t rows = group_rows(writer->group);
	struct position before = writer->base;
	struct buffer bytes = BUFFER_INIT;
	int ret;

	if (rows == writer->tail_rows && writer->events == writer->tail_events)
		return 0;
	ret = open_tail(writer);
	if (ret < 0)
		return ret;
	if (writer->tail_offset && is_tail_covered(writer) && ftruncate(writer->tail_fd, 0) == 0)
		writer->tail_offset = 0;
	before.records += writer->tail_rows;
	before.exits += group_exits(writer->group, 0, writer->tail_rows);
	before.events += writer->tail_events;
	if (rows > writer->tail_rows)
		ret = pack_rows(writer, writer->tail_rows, rows, before, &bytes);
	before.records = writer->base.records + rows;
	before.exits = writer->base.exits + group_exits(writer->group, 0, rows);
	if (writer->events > writer->tail_events)
		pack_events(writer, writer->tail_events, writer->events, before, &bytes);
	if (ret == 0)
		ret = bytes.failed ? -ENOMEM : write_at(writer->tail_fd, bytes.data,
							bytes.length, writer->tail_offset);
	if (ret < 0) {
		(void)!ftruncate(writer->tail_fd, (off_t)writer->tail_offset);
	} else {
		writer->tail_offset += bytes.length;
		writer->tail_rows = rows;
		writer->tail_events = writer->events;
		writer->tail_covered_at = UINT64_MAX;
		writer->is_tail_dirty = true;
	}
	buffer_release(&bytes);
	return ret;
}

int act_log_writer_rotate(struct act_log_writer *writer)
{
	int fd = writer->fd, tail_fd = writer->tail_fd, ret;
	char tail[SEGMENT_NAME_BYTES];
	struct sync_job job;

	ret = writer_close_group(writer);
	if (ret == 0 && writer->waiting)
		ret = writer->stats.error;
	if (ret < 0 || writer->offset == writer->header_bytes)
		return ret;
	job = job_of(writer);
	job.segment_fd = fd;
	job.tail_fd = tail_fd;
	job.dirfd = writer->dirfd;
	job.closes = true;
	tail_name(writer->name, tail);
	ret = writer_begin_segment(writer, writer->number + 1);
	if (ret < 0) {
		/* The old one goes on; what was not made durable is dirty still. */
		writer->is_dirty = writer->is_dir_dirty = true;
		writer->stats.error = ret;
		return ret;
	}
	if (tail_fd >= 0)
		memcpy(job.tail, tail, sizeof(tail));
	ret = syncer_submit(writer->syncer, &job, false);
	retain(writer->dirfd, writer->options.keep_bytes, writer->options.keep_age_ns,
	       clock_wall_ns(), writer->number);
	return ret;
}

/* ---- Appending ---- */

int act_log_append(struct act_log_writer *writer, const struct act_record *record)
{
	int ret = 0;

	/* What happened before the first record of a group stands before it. */
	if (writer->events && !group_rows(writer->group))
		ret = writer_close_group(writer);
	if (ret < 0)
		return ret;
	group_append(writer->group, record);
	writer->stats.records++;
	if (group_rows(writer->group) < writer->options.block_records)
		return 0;
	ret = writer_close_group(writer);
	if (ret == 0 && writer->offset >= writer->options.rotate_bytes && !writer->waiting)
		act_log_writer_rotate(writer); /* if not now, then later */
	return ret;
}

static void merge_gap(struct act_gap *into, const struct act_gap *gap)
{
	into->from_ns = gap->from_ns < into->from_ns ? gap->from_ns : into->from_ns;
	into->to_ns = gap->to_ns > into->to_ns ? gap->to_ns : into->to_ns;
	into->count = into->count == ACT_UNKNOWN || gap->count == ACT_UNKNOWN ?
		ACT_UNKNOWN : into->count + gap->count;
}

/* When there are too many, a gap joins the last of its kind that is not in the tail. */
static bool merge_event(struct act_log_writer *writer, const struct event *event)
{
	for (size_t i = writer->events; event->is_gap && i > writer->tail_events; i--) {
		struct event *other = &writer->event[i - 1];

		if (!other->is_gap || other->gap.cpu != event->gap.cpu ||
		    other->gap.cause != event->gap.cause)
			continue;
		merge_gap(&other->gap, &event->gap);
		return true;
	}
	return false;
}

static void append_event(struct act_log_writer *writer, const struct event *event)
{
	if (writer->events >= EVENTS_MAX / 2 && merge_event(writer, event))
		return;
	/* The array has room for whatever one group can bring before it is closed. */
	if (writer->events < EVENTS_MAX)
		writer->event[writer->events++] = *event;
}

static int append_and_close(struct act_log_writer *writer, const struct event *event)
{
	append_event(writer, event);
	return writer->events >= EVENTS_MAX - 8 ? writer_close_group(writer) : 0;
}

int act_log_append_gap(struct act_log_writer *writer, const struct act_gap *gap)
{
	struct event event = { .is_gap = true, .gap = *gap };

	return append_and_close(writer, &event);
}

int act_log_append_state(struct act_log_writer *writer, const struct act_state *state)
{
	struct event event = { .state = *state };

	return append_and_close(writer, &event);
}

/* ---- Syncing ---- */

int act_log_writer_sync(struct act_log_writer *writer, uint64_t forks, bool wait)
{
	int ret = flush(writer), tail = 0;
	struct sync_job job;

	if (forks != ACT_UNKNOWN)
		writer->forks = forks;
	if (ret == 0)
		ret = tail = write_tail(writer);
	if (tail < 0)
		writer->stats.error = tail;
	if (ret == 0 && clock_wall_ns() - writer->created_ns >= writer->options.rotate_age_ns)
		act_log_writer_rotate(writer);
	if (!writer->is_dirty && !writer->is_tail_dirty && !writer->is_dir_dirty && !wait)
		return ret;
	/* A slow disk: what is dirty now goes with the next one. */
	if (!wait && !syncer_is_idle(writer->syncer))
		return ret;
	job = job_of(writer);
	tail = syncer_submit(writer->syncer, &job, wait);
	return ret < 0 ? ret : tail;
}

void act_log_writer_stats(const struct act_log_writer *writer,
			  struct act_log_writer_stats *ret_stats)
{
	*ret_stats = writer->stats;
	ret_stats->syncs = syncer_count(writer->syncer);
	if (!ret_stats->error)
		ret_stats->error = syncer_error(writer->syncer);
}

/* ---- Opening and closing ---- */

static void free_writer(struct act_log_writer *writer)
{
	/* Jobs may hold the descriptors: they are done first. */
	syncer_free(writer->syncer);
	while (writer->waiting) {
		struct waiting *next = writer->waiting->next;

		buffer_release(&writer->waiting->bytes);
		free(writer->waiting);
		writer->waiting = next;
	}
	group_free(writer->group);
	free(writer->event);
	if (writer->fd >= 0)
		close(writer->fd);
	if (writer->tail_fd >= 0)
		close(writer->tail_fd);
	if (writer->lock_fd >= 0)
		close(writer->lock_fd);
	if (writer->dirfd >= 0)
		close(writer->dirfd);
	free(writer);
}

static int open_directory(const char *dir, struct act_why *why)
{
	int fd, ret;

	if (mkdir(dir, 0750) < 0 && errno != EEXIST) {
		ret = -errno;
		explain(why, "cannot make %s: %s", dir, strerror(-ret));
		return ret;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	ret = errno == ENOTDIR ? -EUCLEAN : -errno;
	explain(why, "cannot write a log in %s: %s", dir,
		ret == -EUCLEAN ? "it is not a directory" : strerror(-ret));
	return ret;
}

static int take_lock(struct act_log_writer *writer, const char *dir, struct act_why *why)
{
	pid_t pid;
	int ret = lock_take(writer->dirfd, &pid);

	if (ret == -EBUSY)
		explain(why, "%s is being written by process %ld; stop it or name another directory",
			dir, (long)pid);
	else if (ret < 0)
		explain(why, "cannot lock %s: %s", dir, strerror(-ret));
	writer->lock_fd = ret;
	return ret < 0 ? ret : 0;
}

static void set_defaults(struct act_log_writer_options *options)
{
	if (!options->rotate_bytes)
		options->rotate_bytes = DEFAULT_ROTATE_BYTES;
	if (!options->rotate_age_ns)
		options->rotate_age_ns = DEFAULT_ROTATE_AGE_NS;
	if (!options->memory_bytes)
		options->memory_bytes = DEFAULT_MEMORY_BYTES;
	if (!options->block_records || options->block_records > BLOCK_ROWS_MAX)
		options->block_records = DEFAULT_BLOCK_RECORDS;
}

int act_log_writer_open(const char *dir, const struct act_log_writer_options *options,
			struct act_log_writer **ret_writer, struct act_gap *ret_gap,
			struct act_why *ret_why)
{
	struct act_log_writer *writer;
	int ret = -ENOMEM;

	memset(ret_gap, 0, sizeof(*ret_gap));
	if (options->size != sizeof(*options)) {
		explain(ret_why, "the program and its library do not fit together");
		return -EINVAL;
	}
	writer = calloc(1, sizeof(*writer));
	if (!writer) {
		explain(ret_why, "cannot open %s: %s", dir, strerror(ENOMEM));
		return ret;
	}
	writer->options = *options;
	set_defaults(&writer->options);
	writer->fd = writer->tail_fd = writer->lock_fd = -1;
	writer->forks = ACT_UNKNOWN;
	writer->dirfd = ret = open_directory(dir, ret_why);
	if (ret >= 0)
		ret = take_lock(writer, dir, ret_why);
	if (ret < 0)
		goto failed;
	writer->group = group_new(writer->options.block_records);
	writer->event = calloc(EVENTS_MAX, sizeof(*writer->event));
	writer->syncer = syncer_new();
	if (!writer->group || !writer->event || !writer->syncer)
		ret = -ENOMEM;
	explain(ret_why, "%s", "");
	if (ret >= 0)
		ret = writer_recover(writer, dir, ret_gap, ret_why);
	if (ret < 0) {
		if (!ret_why->text[0])
			explain(ret_why, "cannot begin a log in %s: %s", dir, strerror(-ret));
		goto failed;
	}
	retain(writer->dirfd, writer->options.keep_bytes, writer->options.keep_age_ns,
	       clock_wall_ns(), writer->number);
	*ret_writer = writer;
	return 0;
failed:
	free_writer(writer);
	return ret;
}

int act_log_writer_flush(struct act_log_writer *writer)
{
	struct sync_job job;
	int ret = writer_close_group(writer);

	/* The gap of a disk that has just got room. */
	if (ret == 0 && writer->events)
		ret = writer_close_group(writer);
	if (ret == 0 && writer->waiting)
		ret = writer->stats.error;
	if (ret < 0)
		return ret;
	job = job_of(writer);
	job.segment_fd = writer->fd;
	return syncer_submit(writer->syncer, &job, true);
}

int act_log_writer_close(struct act_log_writer *writer)
{
	char tail[SEGMENT_NAME_BYTES];
	int ret;

	if (!writer)
		return 0;
	ret = act_log_writer_flush(writer);
	/* All that was in the tail is in the segment now. */
	if (ret == 0 && writer->tail_fd >= 0) {
		tail_name(writer->name, tail);
		unlinkat(writer->dirfd, tail, 0);
	}
	free_writer(writer);
	return ret;
}
