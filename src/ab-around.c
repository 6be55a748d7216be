/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/noise.h"
#include "msg.h"

#define WATCH_NS (500 * NSEC_PER_MSEC)

int ab_check_noise(struct ab *ab)
{
	struct noise noise;

	noise_read(&noise, WATCH_NS);
	if (!noise_objects(&noise, ab->noise, sizeof(ab->noise)))
		return STATUS_OK;
	if (ab->opt->force) {
		msg_warning("the machine is busy with other things: %s; the result says so",
			    ab->noise);
		return STATUS_OK;
	}
	msg_error("the machine is busy with other things: %s; wait, or measure all the same "
		  "with --force", ab->noise);
	return STATUS_UNTRUSTED;
}

int ab_look_around(const struct ab *ab, struct environment *ret)
{
	int error;

	*ret = (struct environment){ 0 };
	error = environment_capture_files(ret, "", ab->sysctls);
	if (error == 0)
		error = environment_capture_process(ret);
	if (error < 0)
		environment_release(ret);
	return error;
}

/* ---- The rehearsal ---- */

static int list_sysctls(struct ab *ab)
{
	size_t n = 0;

	for (size_t i = 0; i < ab->conditions; i++)
		n += ab->condition[i].toggles;
	ab->sysctls = calloc(n + 1, sizeof(*ab->sysctls));
	if (!ab->sysctls)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < ab->conditions; i++) {
		const char *key;

		for (size_t j = 0; (key = condition_sysctl(&ab->condition[i], j)); j++) {
			size_t known = 0;

			while (known < n && strcmp(ab->sysctls[known], key) != 0)
				known++;
			ab->sysctls[known] = key;
			n += known == n;
		}
	}
	return 0;
}

/* What is otherwise under this condition than under the baseline, and nobody asked for. */
static int compare_around(const struct ab *ab, size_t index, const struct environment *now,
			  size_t *ret_differences)
{
	const struct condition *condition = &ab->condition[index];
	struct result_fact *fact = calloc(now->count, sizeof(*fact));

	if (!fact)
		return -ENOMEM;
	*ret_differences = environment_diff(&ab->around, now, fact);
	for (size_t i = 0; i < *ret_differences; i++) {
		bool has;
		const char *was = environment_get(&ab->around, fact[i].key, &has);

		if (condition_explains(condition, fact[i].key) ||
		    condition_explains(&ab->condition[0], fact[i].key))
			continue;
		msg_warning("under %s, %s is %s, under %s %s: that is not the condition's doing",
			    condition->name, fact[i].key, fact[i].text ? fact[i].text : "unknown",
			    ab->condition[0].name, was ? was : "unknown");
	}
	free(fact);
	return 0;
}

static int compare_condition(struct ab *ab, size_t index, bool was_so)
{
	struct environment now;
	size_t differences = 0;
	int ret = ab_look_around(ab, index ? &now : &ab->around);

	if (ret < 0 || !index)
		return ret;
	ret = compare_around(ab, index, &now, &differences);
	environment_release(&now);
	if (ret == 0 && was_so && !differences)
		msg_warning("the condition %s changes nothing: all was so already, and is so "
			    "under %s", ab->condition[index].name, ab->condition[0].name);
	return ret;
}

static int rehearse(struct ab *ab, size_t index)
{
	struct condition *condition = &ab->condition[index];
	struct condition_report on, off;
	int ret = condition_on(condition, &on), looked;

	if (ret < 0) {
		msg_error("cannot switch %s on: %s", condition->name, on.why.text);
		return ret == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
	}
	looked = compare_condition(ab, index, on.was_so);
	ret = condition_off(condition, &off);
	if (ret < 0 || off.broke)
		msg_error("cannot %s: %s", off.broke ? "keep it on" : "switch it off again",
			  off.why.text);
	else if (looked < 0)
		msg_error("cannot look at the environment: %s", strerror(-looked));
	return ret < 0 || off.broke || looked < 0 ? STATUS_FAILED : STATUS_OK;
}

/* So that what cannot work is told now, not after an hour; and each arm is looked at. */
int ab_rehearse(struct ab *ab)
{
	int status = STATUS_OK;

	if (list_sysctls(ab) < 0) {
		msg_error("out of memory");
		return STATUS_FAILED;
	}
	for (size_t i = 0; i < ab->conditions && status == STATUS_OK && !*ab->stop; i++)
		status = rehearse(ab, i);
	return status;
}
