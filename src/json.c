/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "outbuf.h"

static bool is_plain(unsigned char byte)
{
	return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

static void escape_ascii(struct out *out, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";
	const char *letter = byte ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", byte) : NULL;
	char text[] = { '\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15] };

	if (letter)
		text[1] = letter[1];
	out_bytes(out, text, letter ? 2 : sizeof(text));
}

/* Whatever the bytes are, this is valid JSON in valid UTF-8. */
static void quote(struct out *out, const char *data, size_t length)
{
	out_bytes(out, "\"", 1);
	while (length) {
		size_t run = 0;

		while (run < length && is_plain((unsigned char)data[run]))
			run++;
		out_bytes(out, data, run);
		data += run;
		length -= run;
		if (!length)
			break;
		run = utf8_sequence(data, length);
		if (run == 1)
			escape_ascii(out, (unsigned char)*data);
		else if (run)
			out_bytes(out, data, run);
		else
			out_string(out, "\xef\xbf\xbd"); /* U+FFFD */
		data += run ? run : 1;
		length -= run ? run : 1;
	}
	out_bytes(out, "\"", 1);
}

/* The comma, if there is something before it, and the key. */
static void begin_member(struct out *out, const char *key)
{
	uint64_t bit = UINT64_C(1) << (out->depth - 1);

	assert(out->depth > 0 && !key == !!(out->is_array & bit));
	if (out->has_member & bit)
		out_bytes(out, ",", 1);
	out->has_member |= bit;
	if (key) {
		quote(out, key, strlen(key));
		out_bytes(out, ":", 1);
	}
}

static void open_level(struct out *out, bool is_array)
{
	uint64_t bit = UINT64_C(1) << out->depth;

	assert(out->depth < JSON_DEPTH);
	out->depth++;
	out->has_member &= ~bit;
	out->is_array = is_array ? out->is_array | bit : out->is_array & ~bit;
	out_bytes(out, is_array ? "[" : "{", 1);
}

void out_json_close(struct out *out)
{
	assert(out->depth > 0);
	out->depth--;
	out_bytes(out, out->is_array >> out->depth & 1 ? "]" : "}", 1);
}

void out_json_begin(struct out *out)
{
	assert(out->depth == 0);
	open_level(out, false);
}

void out_json_end(struct out *out)
{
	assert(out->depth == 1);
	out_json_close(out);
	out_bytes(out, "\n", 1);
}

void out_json_begin_array(struct out *out, const char *key)
{
	begin_member(out, key);
	open_level(out, true);
}

void out_json_begin_object(struct out *out, const char *key)
{
	begin_member(out, key);
	open_level(out, false);
}

void out_json_u64(struct out *out, const char *key, uint64_t value)
{
	begin_member(out, key);
	if (value == ACT_UNKNOWN)
		out_string(out, "null");
	else
		out_u64(out, value);
}

void out_json_i64(struct out *out, const char *key, int64_t value)
{
	begin_member(out, key);
	out_i64(out, value);
}

void out_json_double(struct out *out, const char *key, double value)
{
	char text[32];

	begin_member(out, key);
	if (!isfinite(value)) {
		out_string(out, "null");
		return;
	}
	/* 15 digits if they say it all, so that 0.1 is not 0.10000000000000001. */
	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	out_string(out, text);
}

void out_json_bool(struct out *out, const char *key, bool value)
{
	begin_member(out, key);
	out_string(out, value ? "true" : "false");
}

void out_json_null(struct out *out, const char *key)
{
	begin_member(out, key);
	out_string(out, "null");
}

void out_json_string(struct out *out, const char *key, const char *data, size_t length)
{
	begin_member(out, key);
	quote(out, data, length);
}

void out_json_value(struct out *out, enum act_type type, const char *key, uint64_t value)
{
	const char *word;

	if (value == ACT_UNKNOWN || type == ACT_TYPE_TEXT) {
		out_json_null(out, key);
		return;
	}
	switch (type) {
	case ACT_TYPE_SIGNED:
		out_json_i64(out, key, (int64_t)value);
		break;
	case ACT_TYPE_BOOL:
		out_json_bool(out, key, value);
		break;
	case ACT_TYPE_KIND:
		word = kind_word(value);
		out_json_string(out, key, word, strlen(word));
		break;
	default:
		out_json_u64(out, key, value);
	}
}
