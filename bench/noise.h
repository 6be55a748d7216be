/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_NOISE_H
#define BENCH_NOISE_H

/*
 * How busy the machine is with other things.  Pressure (PSI) is the best single
 * number that Linux has for it: the share of time in which a task waited for a CPU.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct noise {
	double pressure; /* cpu, some, over 10 s: 0 to 1; NaN: this kernel does not tell */
	double load;     /* average over a minute; NaN: not known */
	double steal;    /* share of CPU time that the hypervisor took; NaN: not known */
	unsigned int cpus;
};

/* Above these a measurement is refused. */
#define NOISE_PRESSURE_MAX 0.10
#define NOISE_LOAD_MAX 1.0 /* for each CPU */
#define NOISE_STEAL_MAX 0.02

/* CPU time since boot, of all CPUs, in ticks. */
struct noise_ticks {
	uint64_t total, steal; /* ACT_UNKNOWN: not known */
};

/* From the texts of /proc; false and NaN (ticks: unknown) if they are not of that form. */
bool noise_parse_pressure(const char *text, double *ret_pressure); /* pressure/cpu */
bool noise_parse_load(const char *text, double *ret_load);         /* loadavg */
bool noise_parse_ticks(const char *text, struct noise_ticks *ret); /* stat */
/* NaN if either is unknown or no time has passed. */
double noise_steal(const struct noise_ticks *before, const struct noise_ticks *after);

/* Now; what takes time (steal) is watched for @watch_ns, 0: not at all. */
void noise_read(struct noise *ret, uint64_t watch_ns);
void noise_read_ticks(struct noise_ticks *ret);

/* What is too much, as text: "CPU pressure is 31.7 % (limit 10 %), ..."; false: nothing. */
bool noise_objects(const struct noise *noise, char *ret_text, size_t room);

#endif
