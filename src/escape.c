/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hostile bytes made safe for terminals. */
#include <string.h>

#include "out.h"
#include "outbuf.h"

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t utf8_sequence(const char *data, size_t left)
{
	/* The least code point that needs so many bytes. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)data;
	uint32_t point;
	size_t length;

	if (!left)
		return 0;
	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (length > left)
		return 0;
	point = at[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (!is_continuation(at[i]))
			return 0;
		point = point << 6 | (at[i] & 0x3f);
	}
	if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	return length;
}

/*
 * Valid sequences that still change what a terminal does or how a line reads:
 * C1 controls (U+0080..9F) and those that turn or break lines (U+200E, 200F,
 * U+2028..202E, U+2066..2069).
 */
static bool is_tricky(const char *data, size_t length)
{
	const unsigned char *at = (const unsigned char *)data;

	if (length == 2)
		return at[0] == 0xc2 && at[1] < 0xa0;
	if (length != 3 || at[0] != 0xe2)
		return false;
	if (at[1] == 0x80)
		return at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae);
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

/* How many bytes from @data on are fine as they are. */
static size_t plain_run(const char *data, size_t length, bool keep_backslash)
{
	size_t i = 0;

	while (i < length) {
		unsigned char byte = (unsigned char)data[i];
		size_t sequence;

		if (byte >= ' ' && byte < 0x7f && (byte != '\\' || keep_backslash)) {
			i++;
			continue;
		}
		if (byte < 0x80)
			break;
		sequence = utf8_sequence(data + i, length - i);
		if (!sequence || is_tricky(data + i, sequence))
			break;
		i += sequence;
	}
	return i;
}

/* One byte escaped: 2 or 4 bytes. */
static size_t escape_byte(unsigned char byte, char ret_text[4])
{
	static const char digits[] = "0123456789abcdef";
	const char *letter = byte ? strchr("\nn\tt\rr\\\\", byte) : NULL;

	ret_text[0] = '\\';
	if (letter) {
		ret_text[1] = letter[1];
		return 2;
	}
	ret_text[1] = 'x';
	ret_text[2] = digits[byte >> 4];
	ret_text[3] = digits[byte & 15];
	return 4;
}

/* Cuts @length so that it does not end within a UTF-8 sequence. */
static size_t whole_sequences(const char *data, size_t length)
{
	size_t begin = length;

	while (begin && is_continuation((unsigned char)data[begin - 1]))
		begin--;
	if (begin && (unsigned char)data[begin - 1] >= 0xc0)
		return utf8_sequence(data + begin - 1, length - begin + 1) ? length : begin - 1;
	return length;
}

static size_t escape(const char *data, size_t length, bool keep_backslash, char *ret_text,
		     size_t room)
{
	size_t used = 0;

	if (!room)
		return 0;
	while (length) {
		size_t run = plain_run(data, length, keep_backslash);
		char escaped[4];
		size_t more;

		if (run >= room - used) {
			run = whole_sequences(data, room - used - 1);
			memcpy(ret_text + used, data, run);
			used += run;
			break;
		}
		memcpy(ret_text + used, data, run);
		used += run;
		if (run == length)
			break;
		more = escape_byte((unsigned char)data[run], escaped);
		if (more >= room - used)
			break;
		memcpy(ret_text + used, escaped, more);
		used += more;
		data += run + 1;
		length -= run + 1;
	}
	ret_text[used] = '\0';
	return used;
}

size_t escape_text(const char *data, size_t length, char *ret_text, size_t room)
{
	return escape(data, length, false, ret_text, room);
}

size_t escape_line(const char *data, size_t length, char *ret_text, size_t room)
{
	return escape(data, length, true, ret_text, room);
}

void out_text_escaped(struct out *out, const char *data, size_t length)
{
	while (length) {
		size_t run = plain_run(data, length, false);
		char escaped[4];

		out_bytes(out, data, run);
		if (run == length)
			return;
		out_bytes(out, escaped, escape_byte((unsigned char)data[run], escaped));
		data += run + 1;
		length -= run + 1;
	}
}
