/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The field table and what is derived by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <actuary/record.h>

/* What derived values may be asked of: usual, extreme and unknown ones. */
static const uint64_t samples[] = {
	0, 1, 9, 0x7f, 0x80, 0x89, 0x0100, 0xff00, 3000000000, UINT64_C(1) << 62, ACT_UNKNOWN,
};

#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

/* A record and a column of it are derived alike, whichever fields they come from. */
static void test_both_derivations_agree(void **state)
{
	struct act_record record;

	(void)state;
	for (size_t i = 0; i < SAMPLES * SAMPLES; i++) {
		for (int field = 0; field < ACT_FIELDS; field++)
			record.value[field] = samples[(i / (field % 2 ? SAMPLES : 1)) % SAMPLES];
		act_record_derive(&record);
		for (int field = 0; field < ACT_FIELDS; field++) {
			const int *from = act_field_derivation(field)->from;
			uint64_t value;

			if (!(act_field_table[field].sources & ACT_FROM_DERIVED))
				continue;
			act_field_derive(field, &record.value[from[0]],
					 from[1] < 0 ? NULL : &record.value[from[1]], &value, 1);
			assert_int_equal(record.value[field], value);
		}
	}
}

static void test_derived(void **state)
{
	struct act_record record;

	(void)state;
	act_record_clear(&record);
	record.end_ns = 500;
	record.wall_ns = 200;
	record.user_ns = 30;
	record.system_ns = 4;
	record.status = 0x0700;
	act_record_derive(&record);
	assert_int_equal(record.start_ns, 300);
	assert_int_equal(record.cpu_ns, 34);
	assert_int_equal(record.code, 7);
	assert_int_equal(record.signal, 0);
	assert_int_equal(record.core, 0);
	record.status = 0x8b; /* SIGSEGV, a core was dumped */
	record.system_ns = ACT_UNKNOWN;
	record.wall_ns = 501; /* older than its end: a clock that was set */
	act_record_derive(&record);
	assert_int_equal(record.start_ns, 0);
	assert_int_equal(record.cpu_ns, ACT_UNKNOWN);
	assert_int_equal(record.code, ACT_UNKNOWN);
	assert_int_equal(record.signal, 11);
	assert_int_equal(record.core, 1);
}

static void test_names(void **state)
{
	(void)state;
	for (int field = 0; field < ACT_FIELDS; field++) {
		const char *name = act_field_table[field].name;

		assert_int_equal(act_field_find(name, strlen(name)), field);
		assert_int_equal(act_field_find(name, strlen(name) - 1) == field, 0);
	}
	assert_int_equal(act_field_find("", 0), -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_derivations_agree),
		cmocka_unit_test(test_derived),
		cmocka_unit_test(test_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
