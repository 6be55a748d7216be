/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a path to a reader, and what can be asked of one. */
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct act_log_reader *reader_new(void)
{
	struct act_log_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->dirfd = reader->segment.fd = reader->tail.fd = -1;
	reader->last_ns = ACT_UNKNOWN;
	reader->decoder = decoder_new();
	if (!reader->decoder) {
		free(reader);
		return NULL;
	}
	return reader;
}

void act_log_reader_free(struct act_log_reader *reader)
{
	if (!reader)
		return;
	reader_close_segment(reader);
	if (reader->dirfd >= 0)
		close(reader->dirfd);
	decoder_free(reader->decoder);
	buffer_release(&reader->body);
	free(reader);
}

static int open_part(int dirfd, struct act_log_reader **ret_reader)
{
	struct act_log_reader *reader = reader_new();
	int ret;

	if (!reader)
		return -ENOMEM;
	reader->dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	if (reader->dirfd < 0) {
		ret = -errno;
		act_log_reader_free(reader);
		return ret;
	}
	*ret_reader = reader;
	return 0;
}

int reader_open_segment(int dirfd, const char *name, enum reader_part part,
			struct act_log_reader **ret_reader)
{
	int ret = open_part(dirfd, ret_reader);

	if (ret < 0)
		return ret;
	(*ret_reader)->part = part;
	snprintf((*ret_reader)->single, sizeof((*ret_reader)->single), "%s", name);
	return 0;
}

int reader_open_range(int dirfd, uint64_t from, uint64_t to,
		      struct act_log_reader **ret_reader)
{
	int ret = open_part(dirfd, ret_reader);

	if (ret < 0)
		return ret;
	(*ret_reader)->number = from - 1;
	(*ret_reader)->last_number = to;
	return 0;
}

struct position reader_position(const struct act_log_reader *reader)
{
	return reader->next;
}

uint64_t reader_good_end(const struct act_log_reader *reader)
{
	return reader->good_end;
}

uint64_t reader_last_ns(const struct act_log_reader *reader)
{
	return reader->last_ns;
}

bool reader_has_position(const struct act_log_reader *reader)
{
	return reader->has_next;
}

struct position reader_block_before(const struct act_log_reader *reader)
{
	return reader->block.before;
}

uint64_t reader_event_number(const struct act_log_reader *reader)
{
	return reader->next.events - reader->events_left - 1;
}

/* Whether the first segment can be read at all; explains if not. */
static int check_first(struct act_log_reader *reader, const char *path, struct act_why *why)
{
	struct segment_file file;
	int ret = reader_find_segment(reader, &file);

	if (ret != 0) {
		explain(why, "%s: nothing was recorded there yet", path);
		return ret < 0 ? ret : -ENODATA;
	}
	ret = reader_enter(reader, file.name, file.number);
	reader_close_segment(reader);
	reader->has_next = false;
	memset(&reader->next, 0, sizeof(reader->next));
	memset(&reader->pending, 0, sizeof(reader->pending));
	reader->number = 0;
	reader->good_end = 0;
	if (!reader->is_only && (ret == -EUCLEAN || ret == -EBADMSG || ret == -ENODATA))
		return 0; /* damage: the others can be read */
	if (ret == -EUCLEAN) {
		explain(why, "%s: not a log of actuary", path);
	} else if (ret == -EBADMSG) {
		explain(why, "%s: its header is damaged, and nothing else can be read", path);
		ret = -EUCLEAN;
	} else if (ret == -EPROTONOSUPPORT) {
		explain(why, "%s: written by a newer actuary, in a format that this one does "
			"not know; read it with that one", path);
	} else if (ret == -ENODATA && !lock_is_held(reader->dirfd)) {
		explain(why, "%s: cut short in its first header; nothing can be read", path);
	} else if (ret < 0 && ret != -ENODATA) {
		explain(why, "cannot read %s: %s", path, strerror(-ret));
	} else {
		ret = 0; /* of a live log the rest is still to come */
	}
	return ret;
}

static int complain(struct act_why *why, const char *path, int error)
{
	if (error == -ENODATA)
		explain(why, "%s: empty, not a log", path);
	else if (error == -EUCLEAN)
		explain(why, "%s: not a log of actuary", path);
	else
		explain(why, "cannot read %s: %s", path, strerror(-error));
	return error;
}

/* A file that stands for itself: its directory, and the name to read there. */
static int open_single(struct act_log_reader *reader, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	if (!dir)
		return -ENOMEM;
	if (strlen(name) >= sizeof(reader->single)) {
		free(dir);
		return -EUCLEAN;
	}
	strcpy(reader->single, name);
	reader->is_only = true;
	reader->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	return reader->dirfd < 0 ? -errno : 0;
}

static int open_directory(struct act_log_reader *reader, const char *path)
{
	struct segment_list list;
	int ret;

	reader->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (reader->dirfd < 0)
		return -errno;
	ret = segment_list_read(reader->dirfd, &list);
	if (ret == 0 && !list.count && list.others)
		ret = -EUCLEAN;
	reader->is_only = list.count <= 1;
	segment_list_release(&list);
	return ret;
}

static int open_path(struct act_log_reader *reader, const char *path, struct act_why *why)
{
	struct stat status;
	int ret;

	if (stat(path, &status) < 0)
		ret = -errno;
	else if (S_ISDIR(status.st_mode))
		ret = open_directory(reader, path);
	else if (!S_ISREG(status.st_mode))
		ret = -EUCLEAN;
	else
		ret = status.st_size ? open_single(reader, path) : -ENODATA;
	return ret < 0 ? complain(why, path, ret) : 0;
}

int act_log_reader_open(const char *path, struct act_log_reader **ret_reader,
			struct act_why *ret_why)
{
	struct act_log_reader *reader = reader_new();
	int ret = -ENOMEM;

	if (!reader) {
		explain(ret_why, "cannot read %s: %s", path, strerror(ENOMEM));
		return ret;
	}
	ret = open_path(reader, path, ret_why);
	if (ret == 0)
		ret = check_first(reader, path, ret_why);
	if (ret < 0) {
		act_log_reader_free(reader);
		return ret;
	}
	*ret_reader = reader;
	return 0;
}

void act_log_select(struct act_log_reader *reader, const struct act_field_set *fields)
{
	reader->wanted = *fields;
}

void act_log_prune(struct act_log_reader *reader, enum act_field field, uint64_t min,
		   uint64_t max)
{
	/* Pruning is only ever a saving: what is not remembered is read. */
	if (reader->prunes < PRUNES_MAX)
		reader->prune[reader->prunes++] = (struct prune){ field, min, max };
}

bool act_log_is_live(const struct act_log_reader *reader)
{
	return lock_is_held(reader->dirfd);
}

void act_batch_record(const struct act_batch *batch, size_t row, struct act_record *ret_record)
{
	const struct act_texts *texts = &batch->text[ACT_F_comm];

	act_record_clear(ret_record);
	for (size_t field = 0; field < ACT_FIELDS; field++)
		if (batch->column[field] && field != ACT_F_comm)
			ret_record->value[field] = batch->column[field][row];
	if (batch->column[ACT_F_comm]) {
		uint64_t text = batch->column[ACT_F_comm][row];
		size_t length = texts->length[text];

		length = length < ACT_COMM_SIZE ? length : ACT_COMM_SIZE - 1;
		memcpy(ret_record->comm_text, texts->text[text], length);
	}
}

const char *act_state_name(enum act_state_type type)
{
	switch (type) {
	case ACT_STATE_START:
		return "start";
	case ACT_STATE_STOP:
		return "stop";
	case ACT_STATE_RESTART:
		return "restart";
	case ACT_STATE_SWITCH:
		return "switch";
	case ACT_STATE_RESUME:
		return "resume";
	}
	return "unknown";
}
