/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/record.h>

#include "base/buffer.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* ---- Making ---- */

/* How long the character at @at is, 0 if it is none: jansson judges. */
static size_t character(const char *at, size_t left)
{
	for (size_t length = 1; length <= 4 && length <= left; length++) {
		json_t *string = json_stringn(at, length);

		json_decref(string);
		if (string)
			return length;
	}
	return 0;
}

static json_t *mended(const char *text)
{
	struct buffer buffer = BUFFER_INIT;
	size_t left = strlen(text);
	json_t *string;

	while (left) {
		size_t length = character(text, left);

		buffer_append(&buffer, length ? text : REPLACEMENT,
			      length ? length : strlen(REPLACEMENT));
		text += length ? length : 1;
		left -= length ? length : 1;
	}
	string = buffer.failed ? NULL : json_stringn((const char *)buffer.data, buffer.length);
	buffer_release(&buffer);
	return string;
}

static json_t *text_json(const char *text)
{
	json_t *string;

	if (!text)
		return json_null();
	string = json_string(text);
	return string ? string : mended(text);
}

void json_set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, value > INT64_MAX ? json_null() :
			    json_integer((json_int_t)value));
}

void json_set_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

void json_set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, text_json(text));
}

void json_set_texts(json_t *object, const char *key, const char *const *texts, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, text_json(texts[i]));
	json_object_set_new(object, key, array);
}

/* ---- Taking apart ---- */

/* NULL: there is none, or it is of another type than @is says. */
static json_t *take(struct json_pick *pick, const char *key, bool is_type, json_t *value)
{
	if (!value || json_is_null(value))
		return NULL;
	if (!is_type && !pick->bad)
		pick->bad = key;
	return is_type ? value : NULL;
}

uint64_t json_pick_u64(struct json_pick *pick, const char *key)
{
	json_t *value = json_object_get(pick->object, key);

	value = take(pick, key, json_is_integer(value) && json_integer_value(value) >= 0, value);
	return value ? (uint64_t)json_integer_value(value) : ACT_UNKNOWN;
}

double json_pick_real(struct json_pick *pick, const char *key)
{
	json_t *value = json_object_get(pick->object, key);

	value = take(pick, key, json_is_number(value), value);
	return value ? json_number_value(value) : (double)NAN;
}

bool json_pick_bool(struct json_pick *pick, const char *key)
{
	json_t *value = json_object_get(pick->object, key);

	return json_is_true(take(pick, key, json_is_boolean(value), value));
}

const char *json_pick_text(struct json_pick *pick, const char *key)
{
	json_t *value = json_object_get(pick->object, key);

	return json_string_value(take(pick, key, json_is_string(value), value));
}

json_t *json_pick_array(struct json_pick *pick, const char *key)
{
	json_t *value = json_object_get(pick->object, key);

	return take(pick, key, json_is_array(value), value);
}

json_t *json_pick_object(struct json_pick *pick, const char *key)
{
	json_t *value = json_object_get(pick->object, key);

	return take(pick, key, json_is_object(value), value);
}

int json_pick_texts(struct json_pick *pick, const char *key, const char ***ret_texts,
		    size_t *ret_count)
{
	json_t *array = json_pick_array(pick, key);
	size_t count = json_array_size(array);

	/* One more, so that none is not a failure. */
	*ret_texts = calloc(count + 1, sizeof(**ret_texts));
	if (!*ret_texts)
		return -ENOMEM;
	*ret_count = count;
	for (size_t i = 0; i < count; i++) {
		(*ret_texts)[i] = json_string_value(json_array_get(array, i));
		if (!(*ret_texts)[i] && !pick->bad)
			pick->bad = key;
	}
	return 0;
}
