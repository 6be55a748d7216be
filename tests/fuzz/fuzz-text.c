/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile bytes on their way out: escape_text() gives what is harmless to a
 * terminal, the same whatever the room is, and out_json_string() one line of
 * valid UTF-8 (by iconv).
 */
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_utf8(char *text, size_t length)
{
	static iconv_t codec;
	size_t room = length * 4 + 4;
	char *decoded = malloc(room), *to = decoded;

	if (!codec)
		codec = iconv_open("UTF-32LE", "UTF-8");
	if (!decoded || codec == (iconv_t)-1 || iconv(codec, &text, &length, &to, &room))
		abort();
	free(decoded);
}

static void check_escaped(const char *data, size_t size)
{
	size_t room = size * 4 + 1;
	char *text = malloc(room), *cut;
	size_t length, half;

	if (!text)
		return;
	length = escape_text(data, size, text, room);
	if (length >= room || text[length])
		abort();
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			abort();
	check_utf8(text, length);
	cut = malloc(length / 2 + 1);
	if (cut) {
		half = escape_text(data, size, cut, length / 2 + 1);
		if (half > length / 2 || cut[half] || memcmp(cut, text, half) != 0)
			abort();
		check_utf8(cut, half);
	}
	free(cut);
	free(text);
}

static void check_json(const char *data, size_t size)
{
	int pipes[2];
	char text[8192];
	struct out *out;
	ssize_t length;
	char path[32];

	if (pipe(pipes) < 0)
		return;
	snprintf(path, sizeof(path), "/dev/fd/%d", pipes[1]);
	out = out_open(path);
	if (!out)
		abort();
	out_json_begin(out);
	out_json_string(out, "k", data, size);
	out_json_end(out);
	if (out_close(out) < 0)
		abort();
	close(pipes[1]);
	length = read(pipes[0], text, sizeof(text));
	close(pipes[0]);
	if (length < 9 || memcmp(text, "{\"k\":\"", 6) != 0 || memcmp(text + length - 3, "\"}\n", 3))
		abort();
	for (ssize_t i = 0; i < length - 1; i++)
		if ((unsigned char)text[i] < ' ')
			abort();
	check_utf8(text, (size_t)length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 1024)
		return 0;
	check_escaped((const char *)data, size);
	check_json((const char *)data, size);
	return 0;
}
