/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/noise.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <actuary/record.h>

#include "base/clock.h"
#include "bench/number.h"

#define TEXT_BYTES 4096

bool noise_parse_pressure(const char *text, double *ret_pressure)
{
	static const char before[] = "some avg10=";
	double percent;

	*ret_pressure = NAN;
	if (strncmp(text, before, sizeof(before) - 1) != 0 ||
	    !number_read(text + sizeof(before) - 1, true, &percent) || percent < 0 ||
	    percent > 100)
		return false;
	*ret_pressure = percent / 100;
	return true;
}

bool noise_parse_load(const char *text, double *ret_load)
{
	double load;
	const char *end = number_read(text, true, &load);

	*ret_load = NAN;
	if (!end || *end != ' ' || load < 0 || !isfinite(load))
		return false;
	*ret_load = load;
	return true;
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice", proc_stat(5). */
bool noise_parse_ticks(const char *text, struct noise_ticks *ret)
{
	uint64_t tick[8];

	*ret = (struct noise_ticks){ ACT_UNKNOWN, ACT_UNKNOWN };
	if (sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64, &tick[0], &tick[1], &tick[2], &tick[3], &tick[4],
		   &tick[5], &tick[6], &tick[7]) != 8)
		return false;
	/* Guests' time is within user and nice already. */
	ret->total = 0;
	for (size_t i = 0; i < 8; i++)
		ret->total += tick[i];
	ret->steal = tick[7];
	return true;
}

double noise_steal(const struct noise_ticks *before, const struct noise_ticks *after)
{
	if (before->total == ACT_UNKNOWN || after->total == ACT_UNKNOWN ||
	    after->total <= before->total || after->steal < before->steal)
		return NAN;
	return (double)(after->steal - before->steal) / (double)(after->total - before->total);
}

/* "" if it cannot be read. */
static void read_text(const char *path, char text[TEXT_BYTES])
{
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, TEXT_BYTES - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
}

void noise_read_ticks(struct noise_ticks *ret)
{
	char text[TEXT_BYTES];

	read_text("/proc/stat", text);
	noise_parse_ticks(text, ret);
}

void noise_read(struct noise *ret, uint64_t watch_ns)
{
	struct timespec pause = { .tv_sec = (time_t)(watch_ns / NSEC_PER_SEC),
				  .tv_nsec = (long)(watch_ns % NSEC_PER_SEC) };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct noise_ticks before, after;
	char text[TEXT_BYTES];

	*ret = (struct noise){ .steal = NAN, .cpus = cpus > 0 ? (unsigned int)cpus : 1 };
	read_text("/proc/pressure/cpu", text);
	noise_parse_pressure(text, &ret->pressure);
	read_text("/proc/loadavg", text);
	noise_parse_load(text, &ret->load);
	if (!watch_ns)
		return;
	noise_read_ticks(&before);
	nanosleep(&pause, NULL);
	noise_read_ticks(&after);
	ret->steal = noise_steal(&before, &after);
}

static void object(char *text, size_t room, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void object(char *text, size_t room, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	if (length && length + 2 < room) {
		strcpy(text + length, ", ");
		length += 2;
	}
	va_start(args, format);
	vsnprintf(text + length, room - length, format, args);
	va_end(args);
}

/* Comparisons with NaN are false: what is not known is no objection. */
bool noise_objects(const struct noise *noise, char *ret_text, size_t room)
{
	*ret_text = '\0';
	if (noise->pressure > NOISE_PRESSURE_MAX)
		object(ret_text, room, "CPU pressure is %.1f %% (limit %.0f %%)",
		       100 * noise->pressure, 100 * NOISE_PRESSURE_MAX);
	if (noise->load > NOISE_LOAD_MAX * noise->cpus)
		object(ret_text, room, "the load average is %.2f (limit %.2f)", noise->load,
		       NOISE_LOAD_MAX * noise->cpus);
	if (noise->steal > NOISE_STEAL_MAX)
		object(ret_text, room, "%.1f %% of CPU time is stolen (limit %.0f %%)",
		       100 * noise->steal, 100 * NOISE_STEAL_MAX);
	return *ret_text;
}
