/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decoder of taskstats messages; the family is the type of the first. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "source/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct act_record *record)
{
	if (memchr(record->comm_text, '\0', sizeof(record->comm_text)) == NULL)
		abort();
	for (int field = 0; field < ACT_FIELDS; field++)
		if (record->value[field] > ACT_UNKNOWN && field != ACT_F_nice)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decoded decoded;
	uint16_t family = 0;
	uint32_t number;

	if (size >= 6)
		memcpy(&family, data + 4, sizeof(family));
	decode_number(data, size, &number);
	if (decode_message(data, size, family, &decoded) != DECODED_EXIT)
		return 0;
	if (decoded.has_task)
		check(&decoded.task);
	if (decoded.has_group)
		check(&decoded.group);
	return 0;
}
