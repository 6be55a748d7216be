/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * JSON by jansson, with our rules: unknown is null, text is valid UTF-8 whatever
 * bytes it was made of, integers are below 2^63.
 */

/* ---- Making.  Failures leave the member out, or are those of json_dumps(). ---- */

void json_set_u64(json_t *object, const char *key, uint64_t value); /* ACT_UNKNOWN: null */
void json_set_real(json_t *object, const char *key, double value);  /* NaN: null */
void json_set_text(json_t *object, const char *key, const char *text); /* NULL: null */
void json_set_texts(json_t *object, const char *key, const char *const *texts, size_t count);

/* ---- Taking apart ---- */

/*
 * Members of an object.  One that is missing is unknown, as is null; one of the
 * wrong type sets @bad to its name, once, and gives the same.
 */
struct json_pick {
	const json_t *object;
	const char *bad;
};

uint64_t json_pick_u64(struct json_pick *pick, const char *key);
double json_pick_real(struct json_pick *pick, const char *key);
bool json_pick_bool(struct json_pick *pick, const char *key); /* missing: false */
const char *json_pick_text(struct json_pick *pick, const char *key); /* NULL: unknown */
/* NULL: missing, null, or wrong.  All are the object's. */
json_t *json_pick_array(struct json_pick *pick, const char *key);
json_t *json_pick_object(struct json_pick *pick, const char *key);

/* An array of texts as @ret_texts, to be freed (not the texts); 0 or -ENOMEM. */
int json_pick_texts(struct json_pick *pick, const char *key, const char ***ret_texts,
		    size_t *ret_count);

#endif
