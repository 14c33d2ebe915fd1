/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of fields: the text of a field for an event of one thread. */
#ifndef SINSP_FIELDS_FIELD_TEST_H
#define SINSP_FIELDS_FIELD_TEST_H

#include "field.h"
#include "text_test.h"

/* The text of a field; NULL: no value. Commas separate several values. */
struct field_want {
	int64_t tid;
	const char *field, *text;
};

static inline const char *fixture_field(struct fixture *f, const struct sinsp_evt *evt,
					const char *name)
{
	const struct sinsp_value *more;
	struct sinsp_field field;
	struct sinsp_eval a;
	struct sinsp_value v;
	const char *why;
	size_t at;
	int n = sinsp_field_parse(&field, name, &why, &at);

	if (n < 0)
		print_error("%s: %s\n", name, why);
	assert_int_equal(n, strlen(name));
	sinsp_eval_init(&a, f->s);
	sinsp_eval_set(&a, evt);
	n = sinsp_field_get(&a, &field, &v, &more);
	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		if (i)
			assert_int_equal(sinsp_value_text(&f->text, &a,
							  &(struct sinsp_value){.p = ",",
										.len = 1,
										.type = FIELD_STR}),
					 0);
		assert_int_equal(sinsp_value_text(&f->text, &a, i ? &more[i] : &v), 0);
	}
	sinsp_eval_fini(&a);
	sinsp_field_fini(&field);
	return n ? fixture_take(f) : NULL;
}

/* Checks the field for an event of each row's thread. */
static inline void fixture_check(struct fixture *f, const struct sinsp_evt *evt,
				 const struct field_want *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sinsp_evt e = *evt;
		const char *text;

		e.thread = sinsp_thread_find(f->s, want[i].tid);
		text = fixture_field(f, &e, want[i].field);
		if (!text != !want[i].text || (text && strcmp(text, want[i].text)))
			fail_msg("%s of %lld: %s, not %s", want[i].field, (long long)want[i].tid,
				 text ? text : "no value",
				 want[i].text ? want[i].text : "no value");
	}
}

#endif /* SINSP_FIELDS_FIELD_TEST_H */
