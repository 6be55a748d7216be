/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_CHECK_H
#define ACTUARY_CHECK_H

/*
 * The points that `actuary doctor` looks at.  A check is one function, which
 * looks and tells; it changes nothing on the machine.
 */
#include <stdbool.h>

#include <actuary/source.h>

#include "source/ask.h"

enum check_status {
	CHECK_OK,
	CHECK_OFF,     /* there, but switched off */
	CHECK_MISSING, /* not built into this kernel, or not there */
	CHECK_REFUSED, /* there, but not for us */
	CHECK_UNKNOWN, /* cannot be told from here */
};

struct checkup {
	const char *log;     /* directory to be recorded to */
	struct ask *ask;     /* NULL: taskstats cannot be asked at all */
	int ask_error;       /* of opening it */
	bool can_ask;        /* about tasks: it has the privilege */
	bool can_register;   /* set by check_registration() */
};

struct finding {
	enum check_status status;
	char detail[512];
	char mend[512]; /* "": nothing to mend */
};

struct check {
	const char *name;
	bool is_needed; /* without it nothing is recorded */
	void (*look)(struct checkup *checkup, struct finding *finding);
};

void find(struct finding *finding, enum check_status status, const char *detail, ...)
	__attribute__((format(printf, 3, 4)));
void mend(struct finding *finding, const char *how, ...) __attribute__((format(printf, 2, 3)));

/* check-source.c: what recording exits needs. */
void check_taskstats(struct checkup *checkup, struct finding *finding);
void check_version(struct checkup *checkup, struct finding *finding);
void check_user_namespace(struct checkup *checkup, struct finding *finding);
void check_pid_namespace(struct checkup *checkup, struct finding *finding);
void check_net_namespace(struct checkup *checkup, struct finding *finding);
void check_net_admin(struct checkup *checkup, struct finding *finding);
void check_registration(struct checkup *checkup, struct finding *finding);
void check_exits(struct checkup *checkup, struct finding *finding);
void check_buffer(struct checkup *checkup, struct finding *finding);
void check_log(struct checkup *checkup, struct finding *finding);

/* check-kernel.c: what records will hold, and other sources. */
void check_switch(struct checkup *checkup, struct finding *finding);
void check_irq_time(struct checkup *checkup, struct finding *finding);
void check_memory(struct checkup *checkup, struct finding *finding);
void check_storage(struct checkup *checkup, struct finding *finding);
void check_ticks(struct checkup *checkup, struct finding *finding);
void check_bsd(struct checkup *checkup, struct finding *finding);
void check_connector(struct checkup *checkup, struct finding *finding);
void check_bpf(struct checkup *checkup, struct finding *finding);
void check_btf(struct checkup *checkup, struct finding *finding);
void check_kprobes(struct checkup *checkup, struct finding *finding);
void check_lockdown(struct checkup *checkup, struct finding *finding);
void check_pressure(struct checkup *checkup, struct finding *finding);

#endif
