/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many exits a recorder must account for on each CPU, by the kernel's own
 * numbers:
 *
 *	numbers WITNESS CAPTURE PID
 *
 * WITNESS and CAPTURE are captures of one that lost nothing and of the recorder
 * in question, whose process PID was.  Its account of a CPU begins with the
 * number at which it started to count and ends with the last one that it
 * received, which is behind that of its last child there; that each number in
 * between was an exit is for the witness to say.  If not even its last child's
 * was received, the account ends behind that, it cannot tell where.  Prints a
 * line a CPU: its number, the exits, and how many there may have been.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/capture.h"
#include "source/decode.h"

#define CPUS 1024
#define FORKED 1 /* AFORK: without exec */

struct numbers {
	uint32_t *value;
	size_t count;
	size_t room;
};

struct kept {
	uint32_t start[CPUS];
	bool is_started[CPUS];
	struct numbers received[CPUS];
	struct numbers children[CPUS]; /* among them those of a recorder's children */
};

static void add(struct numbers *numbers, uint32_t value)
{
	if (numbers->count == numbers->room) {
		numbers->room = numbers->room ? 2 * numbers->room : 1024;
		numbers->value = realloc(numbers->value,
					 numbers->room * sizeof(*numbers->value));
		if (!numbers->value)
			err(1, "realloc");
	}
	numbers->value[numbers->count++] = value;
}

static void take_message(struct kept *kept, unsigned int cpu, const void *message, size_t length,
			 uint16_t family, uint64_t parent)
{
	struct decoded decoded;
	uint32_t number;

	if (decode_message(message, length, family, &decoded) != DECODED_EXIT ||
	    !decoded.has_task || !decode_number(message, length, &number))
		errx(1, "a message that is none");
	add(&kept->received[cpu], number);
	if (decoded.task.ppid == parent && (decoded.task.flags & FORKED))
		add(&kept->children[cpu], number);
}

static void read_capture(const char *path, uint64_t parent, struct kept *ret)
{
	static uint8_t payload[CAPTURE_PAYLOAD_MAX] __attribute__((aligned(8)));
	struct capture_header header;
	struct capture_frame frame;
	FILE *file = fopen(path, "re");

	if (!file || fread(&header, sizeof(header), 1, file) != 1)
		err(1, "%s", path);
	if (!capture_is_magic(&header, sizeof(header)))
		errx(1, "%s: not a capture", path);
	while (fread(&frame, sizeof(frame), 1, file) == 1) {
		if (frame.length > sizeof(payload) || frame.cpu >= CPUS ||
		    fread(payload, 1, frame.length, file) != frame.length)
			errx(1, "%s: cut short", path);
		if (frame.type == CAPTURE_MESSAGE) {
			take_message(ret, frame.cpu, payload, frame.length, header.family, parent);
		} else if (frame.type == CAPTURE_START) {
			memcpy(&ret->start[frame.cpu], payload, sizeof(uint32_t));
			ret->is_started[frame.cpu] = true;
		}
	}
	fclose(file);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Also a task that took its number and was moved told of an exit of that CPU. */
static bool is_known(const struct kept *witness, unsigned int cpu, uint32_t number)
{
	for (unsigned int i = 0; i < CPUS; i++) {
		const struct numbers *numbers = &witness->received[(cpu + i) % CPUS];

		if (numbers->count && bsearch(&number, numbers->value, numbers->count,
					      sizeof(number), compare))
			return true;
	}
	return false;
}

/* The last of the numbers from the @from'th on that lie within @length from @start. */
static uint32_t last_of(const struct numbers *numbers, size_t from, uint32_t start,
			uint32_t length)
{
	uint32_t last = 0;

	for (size_t i = from; i < numbers->count; i++) {
		uint32_t at = numbers->value[i] - start;

		if (at < length && at > last)
			last = at;
	}
	return last;
}

static size_t find(const struct numbers *numbers, uint32_t value)
{
	size_t i = 0;

	while (i < numbers->count && numbers->value[i] != value)
		i++;
	return i;
}

static void print_cpu(const struct kept *witness, const struct kept *kept, unsigned int cpu)
{
	const struct numbers *received = &kept->received[cpu];
	uint32_t start = kept->start[cpu], length = 0, child, last;
	size_t place;

	while (is_known(witness, cpu, start + length))
		length++;
	child = last_of(&witness->children[cpu], 0, start, length);
	place = find(received, start + child);
	/* What came before it and is higher was another CPU's, see sequence.h. */
	last = last_of(received, place, start, length);
	if (place < received->count)
		printf("%u %u %u\n", cpu, last + 1, last + 1);
	else
		printf("%u %u %u\n", cpu, child + 1, length);
}

int main(int argc, char **argv)
{
	static struct kept witness, kept;
	uint64_t parent;

	if (argc != 4)
		errx(2, "usage: numbers WITNESS CAPTURE PID");
	parent = strtoull(argv[3], NULL, 10);
	read_capture(argv[1], parent, &witness);
	read_capture(argv[2], parent, &kept);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		if (witness.received[cpu].count)
			qsort(witness.received[cpu].value, witness.received[cpu].count,
			      sizeof(uint32_t), compare);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		if (kept.is_started[cpu])
			print_cpu(&witness, &kept, cpu);
	return 0;
}
