/* SPDX-License-Identifier: Apache-2.0 */
#include "field.h"

#include <stdio.h>

#include "field_rows.h"
#include "text_test.h"

/* ---- names and arguments ---- */

struct parsed {
	const char *text;
	int n; /* bytes, or the error */
	const char *name, *arg; /* parsed; for an error: the message, and NULL */
	size_t at;
};

static void check(const struct parsed *want)
{
	struct sinsp_field f;
	const char *why = NULL;
	size_t at = 0;
	const int n = sinsp_field_parse(&f, want->text, &why, &at);

	if (n < 0 && why && want->n >= 0)
		print_error("%s: %s\n", want->text, why);
	assert_int_equal(n, want->n);
	if (n < 0) {
		assert_string_equal(why, want->name);
		assert_int_equal(at, want->at);
	} else {
		assert_string_equal(f.row->name, want->name);
		if (want->arg)
			assert_string_equal(f.arg, want->arg);
		else
			assert_null(f.arg);
	}
	sinsp_field_fini(&f);
}

static void test_names(void **state)
{
	static const struct parsed rows[] = {
		{"evt.num", 7, "evt.num", NULL},
		{"evt.num=5", 7, "evt.num", NULL},
		{"evt.num. and", 7, "evt.num", NULL},
		{"evt.rawres>0", 10, "evt.rawres", NULL},
		{"", -ENOENT, "expected the name of a field", NULL},
		{"=3", -ENOENT, "expected the name of a field", NULL},
		{"evt", -ENOENT, "unknown field evt; did you mean evt.num?", NULL},
		{"proc.nmae=x", -ENOENT, "unknown field proc.nmae; did you mean proc.name?", NULL},
		{"evt.num.x", -ENOENT, "unknown field evt.num.x; did you mean evt.num?", NULL},
		{"wxyz.abcdefgh", -ENOENT, "unknown field wxyz.abcdefgh; see saker -l", NULL},
		{"evt.arg.fd=3", 10, "evt.arg", "fd"},
		{"evt.arg[0]", 10, "evt.arg", "0"},
		{"evt.arg['fd'] x", 13, "evt.arg", "fd"},
		{"evt.arg[\"f\\d\"]", 14, "evt.arg", "fd"},
		{"evt.type.is.open)", 16, "evt.type.is", "open"},
		{"evt.abspath", 11, "evt.abspath", NULL},
		{"evt.abspath.dst", 15, "evt.abspath", "dst"},
		{"evt.around[15]", 14, "evt.around", "15"},
		{"evt.arg", -EINVAL, "evt.arg needs an argument: evt.arg.NAME or evt.arg[N]", NULL,
		 7},
		{"evt.arg.", -EINVAL, "evt.arg needs an argument: evt.arg.NAME or evt.arg[N]", NULL,
		 7},
		{"evt.arg[]", -EINVAL, "the argument of evt.arg is empty", NULL, 8},
		{"evt.arg[0", -EINVAL, "the argument of evt.arg has no closing ]", NULL, 9},
		{"evt.arg['0]", -EINVAL, "the argument of evt.arg has no closing '", NULL, 11},
		{"evt.arg['0'x", -EINVAL, "the argument of evt.arg has no closing ]", NULL, 11},
		{"evt.arg.nosuch", -EINVAL, "no event has an argument nosuch; see saker -L", NULL,
		 8},
		{"evt.arg[99]", -EINVAL, "no event has more than 34 arguments", NULL, 8},
		{"evt.type.is.opne", -EINVAL, "unknown event opne; see saker -L", NULL, 12},
		{"evt.type.is.9999", -EINVAL, "unknown event 9999; see saker -L", NULL, 12},
		{"evt.abspath.x", -EINVAL,
		 "unknown argument x; use evt.abspath.src or evt.abspath.dst", NULL, 12},
		{"evt.around[x]", -EINVAL, "the argument of evt.around is a number, not x", NULL,
		 11},
		{"evt.num[1]", -EINVAL, "evt.num takes no argument", NULL, 8},
		{"k8s.svc.name", -ENOTSUP,
		 "the field k8s.svc.name is not supported: of Kubernetes saker knows pods and "
		 "namespaces only, from files of the runtime",
		 NULL},
		{"span.tag[x]", -EINVAL, "the argument of span.tag is a number, not x", NULL, 9},
		{"span.tag[-x]", -EINVAL, "the argument of span.tag is a number, not -x", NULL, 9},
		{"evtin.span.m.tag.x", -EINVAL,
		 "the argument of evtin.span.m.tag is a number, not x", NULL, 17},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

static void test_a_name_that_is_too_long_is_unknown(void **state)
{
	char text[5000];
	struct sinsp_field f;
	const char *why;
	size_t at;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(sinsp_field_parse(&f, text, &why, &at), -ENOENT);
	assert_true(strlen(why) < 200);
	sinsp_field_fini(&f);
}

static void test_rows_state_what_must_be_recorded_for_them(void **state)
{
	static const struct {
		const char *name;
		unsigned int needs;
	} rows[] = {
		{"proc.name", 0},
		{"proc.exepath", 0},
		{"proc.is_exe_from_memfd", 0},
		{"stack.user.depth", 0},
		{"fd.name", FIELD_NEEDS_FILES},
		{"fd.connect.result", FIELD_NEEDS_FILES},
		{"proc.stdin.name", FIELD_NEEDS_FILES},
		{"proc.fdusage", FIELD_NEEDS_FILES | FIELD_NEEDS_HISTORY},
		{"thread.pfmajor", FIELD_NEEDS_HISTORY | FIELD_NEEDS_CPU_TIME},
		{"user.name", FIELD_NEEDS_CALLS},
		{"proc.sid.exepath", FIELD_NEEDS_CALLS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(sinsp_field_find(rows[i].name, strlen(rows[i].name))->needs,
				 rows[i].needs);
}

static void test_every_row_is_found_by_its_name(void **state)
{
	(void)state;
	for (const struct sinsp_field_class *const *c = sinsp_field_classes; *c; c++) {
		for (size_t i = 0; i < (*c)->n_rows; i++) {
			const struct sinsp_field_row *row = &(*c)->rows[i];

			assert_ptr_equal(sinsp_field_find(row->name, strlen(row->name)), row);
			assert_non_null(row->help);
			assert_true(row->get || row->flags & FIELD_F_UNSUPPORTED);
			assert_true(row->type < FIELD_TYPE_MAX);
		}
	}
}

/* ---- values ---- */

static const char *text_of(struct fixture *f, struct sinsp_eval *e, const char *name)
{
	const struct sinsp_value *more;
	struct sinsp_field field;
	struct sinsp_value v;
	const char *why;
	size_t at;
	int n;

	n = sinsp_field_parse(&field, name, &why, &at);
	if (n < 0)
		print_error("%s: %s\n", name, why);
	assert_int_equal(n, strlen(name));
	n = sinsp_field_get(e, &field, &v, &more);
	assert_true(n >= 0);
	if (n)
		assert_int_equal(sinsp_value_text(&f->text, e, &v), 0);
	sinsp_field_fini(&field);
	return n ? fixture_take(f) : NULL;
}

static void test_fields_of_an_event(void **state)
{
	const struct scap_param params[] = {I64(-2), TEXT("/x"), U32(1), U32(0), U32(0)};
	const struct {
		const char *name, *text;
	} rows[] = {
		{"evt.num", "7"},
		{"evt.type", "open"},
		{"evt.dir", "<"},
		{"evt.cpu", "1"},
		{"evt.res", "ENOENT"},
		{"evt.rawres", "-2"},
		{"evt.rawtime", "1700000000123456789"},
		{"evt.rawtime.s", "1700000000"},
		{"evt.rawtime.ns", "123456789"},
		{"evt.time", "22:13:20.123456789"},
		{"evt.time.s", "22:13:20"},
		{"evt.time.iso8601", "2023-11-14T22:13:20.123456789+0000"},
		{"evt.datetime", "2023-11-14 22:13:20.123456789"},
		{"evt.datetime.s", "2023-11-14 22:13:20"},
		{"evt.outputtime", "22:13:20.123456789"},
		{"evt.reltime", "1000000000"},
		{"evt.reltime.s", "1"},
		{"evt.reltime.ns", "000000000"},
		{"evt.latency", "0"},
		{"evt.latency.human", "0ns"},
		{"evt.latency.quantized", NULL},
		{"evt.wait_latency", NULL},
		{"evt.deltatime", "0"},
		{"evt.source", "syscall"},
		{"evt.is_async", "false"},
		{"evt.asynctype", NULL},
		{"evt.hostname", NULL},
		{"evt.type.is.open", "1"},
		{"evt.type.is.read", "0"},
		{"evt.type.is.3", "1"},
		{"evt.type.is.2", "0"},
		{"syscall.type", "open"},
		{"evt.category", "file"},
		{"evt.args", "fd=-2(ENOENT) name=/x flags=1(O_RDONLY) mode=0 dev=0 "},
		{"evt.arg.fd", "ENOENT"},
		{"evt.arg[0]", "ENOENT"},
		{"evt.arg[1]", "/x"},
		{"evt.arg[9]", NULL},
		{"evt.arg.res", NULL},
		{"evt.rawarg.fd", "-2"},
		{"evt.rawarg.flags", "1"},
		{"evt.rawarg.name", "/x"},
		{"evt.buffer", NULL},
		{"evt.buflen", NULL},
		{"evt.failed", "true"},
		{"evt.is_io", "false"},
		{"evt.io_dir", NULL},
		{"evt.is_wait", "false"},
		{"evt.is_syslog", "false"},
		{"evt.count", "1"},
		{"evt.count.error", "1"},
		{"evt.count.error.file", "1"},
		{"evt.count.error.net", NULL},
		{"evt.count.exit", "1"},
		{"evt.abspath", NULL},
		{"evt.is_open_read", "true"},
		{"evt.is_open_write", "false"},
		{"evt.is_open_create", "false"},
		{"evt.is_open_exec", "false"},
		{"util.cnt", "1"},
		{"proc.name", "cat"},
		{"proc.pid", "1234"},
		{"thread.tid", "1234"},
		{"fd.name", "/x"},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_OPEN_X, params, 5);
	struct sinsp_eval a;

	sinsp_eval_init(&a, f->s);
	sinsp_eval_set(&a, &evt);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = text_of(f, &a, rows[i].name);

		if (rows[i].text)
			assert_string_equal(text, rows[i].text);
		else
			assert_null(text);
	}
	sinsp_eval_fini(&a);
}

/* Only evaluated events count, each once, whatever the field. */
static void test_delta_is_between_evaluated_events(void **state)
{
	const struct {
		uint64_t ns;
		const char *ns_text, *frac;
	} rows[] = {{5, "0", "000000000"},
		    {1000000007, "1000000002", "000000002"},
		    {1000000006, "0", "000000000"}};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_GETUID_E, NULL, 0);
	struct sinsp_eval a;

	sinsp_eval_init(&a, f->s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		evt.raw.ts_ns = rows[i].ns;
		sinsp_eval_set(&a, &evt);
		assert_string_equal(text_of(f, &a, "evt.deltatime"), rows[i].ns_text);
		assert_string_equal(text_of(f, &a, "evt.deltatime"), rows[i].ns_text);
		assert_string_equal(text_of(f, &a, "evt.deltatime.ns"), rows[i].frac);
	}
	sinsp_eval_fini(&a);
}

static void test_number_of_a_call(void **state)
{
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_GETUID_E, NULL, 0);
	struct sinsp_eval a;

	sinsp_eval_init(&a, f->s);
	sinsp_eval_set(&a, &evt);
	assert_null(text_of(f, &a, "syscall.nr"));
	evt.raw.nr = 102;
	assert_string_equal(text_of(f, &a, "syscall.nr"), "102");
	sinsp_eval_fini(&a);
}

/* Only enter events of saker's captures have the value. */
static void test_is_blocked(void **state)
{
	static const struct {
		unsigned int type;
		uint16_t flags;
		const char *expected;
	} rows[] = {
		{EVT_GETUID_E, SCAP_EVT_F_BLOCKED, "true"},
		{EVT_GETUID_E, SCAP_EVT_F_HIDDEN, "false"},
		{EVT_GETUID_E, 0, NULL},
		{EVT_GETUID_X, SCAP_EVT_F_BLOCKED, NULL},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ppm_evt_hdr hdr;
		struct sinsp_evt evt = fixture_evt(f, &hdr, rows[i].type, NULL, 0);
		struct sinsp_eval a;
		const char *text;

		evt.raw.flags = rows[i].flags;
		sinsp_eval_init(&a, f->s);
		sinsp_eval_set(&a, &evt);
		text = text_of(f, &a, "evt.is_blocked");
		if (rows[i].expected)
			assert_string_equal(text, rows[i].expected);
		else
			assert_null(text);
		sinsp_eval_fini(&a);
	}
}

static void test_latency_for_people(void **state)
{
	const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0ns"},          {999, "999ns"},       {1000, "1.00us"},
		{1799, "1.79us"},    {10300, "10us"},      {999999, "999us"},
		{1005000, "1.00ms"}, {60000000000, "60s"}, {2560000000, "2.56s"},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_GETUID_E, NULL, 0);
	struct sinsp_eval a;

	sinsp_eval_init(&a, f->s);
	sinsp_eval_set(&a, &evt);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		evt.latency_ns = rows[i].ns;
		assert_string_equal(text_of(f, &a, "evt.latency.human"), rows[i].text);
	}
	sinsp_eval_fini(&a);
}

/* As in sysdig, whose chisels expect 0 for an enter event. */
static void test_events_of_the_capture_have_no_latency(void **state)
{
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_PROCINFO_E, NULL, 0);
	struct sinsp_eval a;

	sinsp_eval_init(&a, f->s);
	sinsp_eval_set(&a, &evt);
	assert_null(text_of(f, &a, "evt.latency"));
	assert_null(text_of(f, &a, "evt.latency.human"));
	sinsp_eval_fini(&a);
}

static void test_values_as_text(void **state)
{
	const struct {
		struct sinsp_value v;
		const char *text;
	} rows[] = {
		{{.i = -5, .type = FIELD_INT}, "-5"},
		{{.u = 18446744073709551615u, .type = FIELD_UINT}, "18446744073709551615"},
		{{.u = 255, .type = FIELD_UINT, .fmt = FIELD_FMT_HEX}, "FF"},
		{{.u = 8, .type = FIELD_UINT, .fmt = FIELD_FMT_OCT}, "10"},
		{{.u = 42, .type = FIELD_DURATION, .fmt = FIELD_FMT_PADDED}, "000000042"},
		{{.u = 1, .type = FIELD_BOOL}, "true"},
		{{.u = 0, .type = FIELD_BOOL}, "false"},
		{{.p = "\xa\0\0\1", .len = 4, .type = FIELD_IP}, "10.0.0.1"},
		{{.p = "\xa\0\0\0", .len = 4, .type = FIELD_NET, .prefix = 8}, "10.0.0.0/8"},
		{{.p = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", .len = 16, .type = FIELD_IP}, "::1"},
		{{.u = 443, .type = FIELD_PORT}, "443"},
		{{.p = "a\033b\n", .len = 4, .type = FIELD_STR}, "a.b."},
		{{.p = "a\nb", .len = 3, .type = FIELD_STR, .made = 1}, "a\nb"},
		{{.p = "", .len = 0, .type = FIELD_STR}, ""},
		{{.p = "a\nb", .len = 3, .type = FIELD_BYTES}, "a.b"},
	};
	struct fixture *f = *state;
	struct sinsp_eval a;

	sinsp_eval_init(&a, f->s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(sinsp_value_text(&f->text, &a, &rows[i].v), 0);
		assert_string_equal(fixture_take(f), rows[i].text);
	}
	sinsp_eval_fini(&a);
}

/* ---- scratch ---- */

static void test_scratch_holds_until_the_next_event(void **state)
{
	struct fixture *f = *state;
	struct sinsp_evt evt = {0};
	struct sinsp_eval a;
	char *p[64];

	sinsp_eval_init(&a, f->s);
	for (int round = 0; round < 3; round++) {
		sinsp_eval_set(&a, &evt);
		for (int i = 0; i < 64; i++) {
			const size_t n = (size_t)i * 517 % 20000 + 1;

			p[i] = sinsp_eval_alloc(&a, n);
			assert_non_null(p[i]);
			memset(p[i], i, n);
		}
		for (int i = 0; i < 64; i++) {
			const size_t n = (size_t)i * 517 % 20000 + 1;

			for (size_t j = 0; j < n; j++)
				assert_int_equal(p[i][j], i);
		}
	}
	assert_null(sinsp_eval_alloc(&a, SIZE_MAX));
	sinsp_eval_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_name_that_is_too_long_is_unknown),
		cmocka_unit_test(test_rows_state_what_must_be_recorded_for_them),
		cmocka_unit_test(test_every_row_is_found_by_its_name),
		cmocka_unit_test(test_fields_of_an_event),
		cmocka_unit_test(test_delta_is_between_evaluated_events),
		cmocka_unit_test(test_number_of_a_call),
		cmocka_unit_test(test_is_blocked),
		cmocka_unit_test(test_latency_for_people),
		cmocka_unit_test(test_events_of_the_capture_have_no_latency),
		cmocka_unit_test(test_values_as_text),
		cmocka_unit_test(test_scratch_holds_until_the_next_event),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
