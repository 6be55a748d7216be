/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <stdarg.h>
#include <stdio.h>

const char *act_cause_name(enum act_cause cause)
{
	switch (cause) {
	case ACT_CAUSE_OVERFLOW:
		return "overflow";
	case ACT_CAUSE_KERNEL:
		return "kernel";
	case ACT_CAUSE_DOWN:
		return "down";
	case ACT_CAUSE_STORAGE:
		return "storage";
	case ACT_CAUSE_TRUNCATED:
		return "truncated";
	case ACT_CAUSE_DAMAGE:
		return "damage";
	}
	return "unknown";
}

void source_explain(struct act_why *ret_why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret_why->text, sizeof(ret_why->text), format, args);
	va_end(args);
}

int act_source_wait(struct act_source *source, uint64_t timeout_ns)
{
	return source->ops->wait(source, timeout_ns);
}

int act_source_drain(struct act_source *source, const struct act_sink *sink)
{
	return source->ops->drain(source, sink);
}

int act_source_sync(struct act_source *source, const struct act_sink *sink)
{
	return source->ops->finish(source, false, sink);
}

int act_source_finish(struct act_source *source, const struct act_sink *sink)
{
	return source->ops->finish(source, true, sink);
}

bool act_source_is_behind(struct act_source *source)
{
	return source->ops->is_behind(source);
}

void act_source_stats(const struct act_source *source, struct act_source_stats *ret_stats)
{
	*ret_stats = source->stats;
}

void act_source_free(struct act_source *source)
{
	if (source)
		source->ops->free(source);
}
