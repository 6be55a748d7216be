/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "users.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/record.h>

#define SLOTS 1024 /* a power of two */
#define PROBES 8   /* after so many a slot is used anew */

struct slot {
	uint64_t uid; /* ACT_UNKNOWN: free */
	char *name;   /* NULL: no such user */
};

struct users {
	struct slot slots[SLOTS];
};

struct users *users_new(void)
{
	struct users *users = malloc(sizeof(*users));

	if (!users)
		return NULL;
	for (size_t i = 0; i < SLOTS; i++)
		users->slots[i] = (struct slot){ .uid = ACT_UNKNOWN };
	return users;
}

void users_free(struct users *users)
{
	if (!users)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		free(users->slots[i].name);
	free(users);
}

static void look_up(struct slot *slot, uint64_t uid)
{
	const struct passwd *entry = uid <= UINT32_MAX ? getpwuid((uid_t)uid) : NULL;

	free(slot->name);
	slot->uid = uid;
	slot->name = entry ? strdup(entry->pw_name) : NULL;
}

const char *users_name(struct users *users, uint64_t uid)
{
	size_t at = uid * UINT64_C(0x9e3779b97f4a7c15) >> 54;
	struct slot *slot = NULL;

	if (uid == ACT_UNKNOWN)
		return NULL;
	for (size_t i = 0; i < PROBES; i++) {
		slot = &users->slots[(at + i) & (SLOTS - 1)];
		if (slot->uid == uid)
			return slot->name;
		if (slot->uid == ACT_UNKNOWN)
			break;
	}
	look_up(slot, uid);
	return slot->name;
}
