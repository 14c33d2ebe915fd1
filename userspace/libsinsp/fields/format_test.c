/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

#include "state/inspector.h"
#include "text_test.h"

struct row {
	const char *format, *line; /* line NULL: there is none */
	enum sinsp_format_kind kind;
	uint8_t colour;
};

static const struct scap_param opened[] = {I64(-2), TEXT("/x"), U32(1), U32(0), U32(0)};
static const struct scap_param was_read[] = {I64(9), BYTES("a\tb\\c\n\"\x01")};

static struct sinsp_format *new_format(const struct row *r)
{
	const struct sinsp_format_opts opts = {
		.sz = sizeof(opts), .kind = r->kind, .colour = r->colour};
	struct sinsp_format_error err;
	struct sinsp_format *f = NULL;

	if (sinsp_format_new(&f, r->format, &opts, &err))
		fail_msg("%s: %s at %zu", r->format, err.message, err.pos);
	return f;
}

static void check(struct fixture *f, const struct sinsp_evt *evt, const struct row *r)
{
	struct sinsp_format *format = new_format(r);

	/* Twice: state that is kept between lines does not change the next line. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sinsp_format_line(format, &f->text, evt), r->line ? 1 : 0);
		assert_string_equal(fixture_take(f), r->line ? r->line : "");
	}
	sinsp_format_free(format);
}

#define CHECK(type, params, rows)                                                                  \
	do {                                                                                       \
		struct ppm_evt_hdr hdr;                                                            \
		const struct sinsp_evt evt = fixture_evt(*state, &hdr, type, params,               \
							 sizeof(params) / sizeof((params)[0]));    \
                                                                                                   \
		for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                      \
			check(*state, &evt, &(rows)[i]);                                           \
	} while (0)

static void test_text(void **state)
{
	static const struct row rows[] = {
		{"%evt.num %evt.type", "7 open\n"},
		{"abc", "abc\n"},
		{"*", "\n"},
		{"a\\tb\\n%evt.num\\\\", "a\tb\n7\\\n"},
		{"\\x%evt.num", "\\x7\n"},
		{"%%%evt.num%%d", "%7%d\n"},
		{"%evt.num.%evt.num", "7.7\n"},
		{"%proc.name_x", "cat_x\n"},
		{"%proc.namex", "catx\n"},
		{"%proc.name[%proc.pid]", "cat[1234]\n"},
		{"%evt.arg[1]!%evt.arg.fd", "/x!ENOENT\n"},
		{"%evt.args", "fd=-2(ENOENT) name=/x flags=1(O_RDONLY) mode=0 dev=0 \n"},
	};

	CHECK(EVT_OPEN_X, opened, rows);
}

static void test_widths(void **state)
{
	static const struct row rows[] = {
		{"%5proc.name|", "cat  |\n"},        {"%2proc.name|", "ca|\n"},
		{"%03proc.name|", "cat|\n"},         {"%0proc.name|", "cat|\n"},
		{"*%6fd.type|", "<NA>  |\n"},        {"*%2fd.type|", "<N|\n"},
		{"%12evt.info|", "fd=-2(ENOENT|\n"},
	};

	CHECK(EVT_OPEN_X, opened, rows);
}

static void test_a_character_is_one_wide(void **state)
{
	const struct scap_param params[] = {I64(0), TEXT("\xc3\xa9\xe4\xb8\xad/x")};
	static const struct row rows[] = {
		{"%1evt.rawarg.path|", "\xc3\xa9|\n"},
		{"%2evt.rawarg.path|", "\xc3\xa9 |\n"}, /* the second character has two columns */
		{"%3evt.rawarg.path|", "\xc3\xa9\xe4\xb8\xad|\n"},
		{"%7evt.rawarg.path|", "\xc3\xa9\xe4\xb8\xad/x  |\n"},
	};

	CHECK(EVT_CHDIR_X, params, rows);
}

static void test_lines_without_a_value(void **state)
{
	static const struct row rows[] = {
		{"%evt.num %fd.type", NULL},
		{"*%evt.num %fd.type x", "7 <NA> x\n"},
		{" *%evt.num %evt.type", " *7 open\n"},
		{"%fd.type", NULL, SINSP_FORMAT_JSON},
		{"*%fd.type", "{\"fd.type\":null}\n", SINSP_FORMAT_JSON},
		{"%fd.type", NULL, SINSP_FORMAT_TSV},
	};

	CHECK(EVT_OPEN_X, opened, rows);
}

static void test_json(void **state)
{
	static const struct row rows[] = {
		{"%proc.name x %evt.num", "{\"evt.num\":7,\"proc.name\":\"cat\"}\n",
		 SINSP_FORMAT_JSON},
		{"%evt.num %evt.num", "{\"evt.num\":7}\n", SINSP_FORMAT_JSON},
		{"%3evt.type %evt.is_io_read", "{\"evt.is_io_read\":true,\"evt.type\":\"read\"}\n",
		 SINSP_FORMAT_JSON},
		{"%evt.time %evt.rawtime.ns",
		 "{\"evt.rawtime.ns\":123456789,\"evt.time\":1700000000123456789}\n",
		 SINSP_FORMAT_JSON},
		{"%evt.arg['res'] %evt.rawarg.res",
		 "{\"evt.arg['res']\":\"9\",\"evt.rawarg.res\":9}\n", SINSP_FORMAT_JSON},
		{"%evt.buffer", "{\"evt.buffer\":\"a.b\\\\c.\\\".\"}\n", SINSP_FORMAT_JSON},
		{"%evt.info", "{\"evt.info\":\"res=9 data=a.b\\\\c.\\\". \"}\n", SINSP_FORMAT_JSON},
	};

	CHECK(EVT_READ_X, was_read, rows);
}

static void test_tsv(void **state)
{
	static const struct row rows[] = {
		{"x %proc.name y %evt.num z", "cat\t7\n", SINSP_FORMAT_TSV},
		{"%evt.num %5evt.buffer", "7\ta.b\\\\c.\".\n", SINSP_FORMAT_TSV},
	};
	static const struct row r = {"*x %proc.name %3fd.num%evt.arg[0]", "", SINSP_FORMAT_TSV};
	struct fixture *f = *state;
	struct sinsp_format *format = new_format(&r);

	assert_int_equal(sinsp_format_header(format, &f->text), 0);
	assert_string_equal(fixture_take(f), "proc.name\tfd.num\tevt.arg[0]\n");
	sinsp_format_free(format);
	CHECK(EVT_READ_X, was_read, rows);
}

/* Line ends in a buffer do not end rows of the table. */
static void test_tsv_has_no_ends_of_lines_in_values(void **state)
{
	const struct sinsp_format_opts opts = {
		.sz = sizeof(opts), .kind = SINSP_FORMAT_TSV, .buf_fmt = SINSP_BUF_ASCII};
	struct fixture *f = *state;
	struct sinsp_format *format;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_READ_X, was_read, 2);

	assert_int_equal(sinsp_format_new(&format, "%evt.buffer %evt.num", &opts, NULL), 0);
	assert_int_equal(sinsp_format_line(format, &f->text, &evt), 1);
	assert_string_equal(fixture_take(f), "\\nab\\\\c\\n\"\t7\n");
	sinsp_format_free(format);
}

/* A spreadsheet does not compute texts of processes as formulas; numbers stay numbers. */
static void test_tsv_has_no_formulas(void **state)
{
	static const struct {
		const char *text, *cell;
	} cases[] = {
		{"=1+1", "'=1+1"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"-cmd|x", "'-cmd|x"},
		{"+a", "'+a"},
		{"-12", "-12"},
		{"+1.5", "+1.5"},
		{"-", "-"},
		{"a=1", "a=1"},
		{"-1(EPERM)", "'-1(EPERM)"},
	};
	const struct sinsp_format_opts opts = {.sz = sizeof(opts), .kind = SINSP_FORMAT_TSV};
	struct fixture *f = *state;
	struct sinsp_format *format;

	assert_int_equal(sinsp_format_new(&format, "%evt.buffer %evt.num", &opts, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *text = (const uint8_t *)cases[i].text;
		const struct scap_param params[] = {I64(4),
						    {text, (uint32_t)strlen(cases[i].text)}};
		struct ppm_evt_hdr hdr;
		const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_READ_X, params, 2);
		char line[64];

		snprintf(line, sizeof(line), "%s\t7\n", cases[i].cell);
		assert_int_equal(sinsp_format_line(format, &f->text, &evt), 1);
		assert_string_equal(fixture_take(f), line);
	}
	sinsp_format_free(format);
}

static void test_colours(void **state)
{
	static const struct row rows[] = {
		{"%evt.num %5proc.name|", "\033[2m7\033[0m \033[36mcat  \033[0m|\n", 0, 1},
		{"%evt.type", "\033[31mopen\033[0m\n", 0, 1},
		{"%evt.res", "\033[31mENOENT\033[0m\n", 0, 1},
		{"%thread.tid", "1234\n", 0, 1},
	};

	CHECK(EVT_OPEN_X, opened, rows);
}

/* Port 80 is http only where there is an /etc/services. */
static void test_names_of_ports(void **state)
{
	const struct servent *http = getservbyport(htons(80), NULL);
	static const struct {
		const char *format, *line; /* with %s for the name */
		enum sinsp_format_kind kind;
	} rows[] = {
		{"%fd.name", "10.0.0.1:40000->10.0.0.2:%s\n"},
		{"%fd.name", "{\"fd.name\":\"10.0.0.1:40000->10.0.0.2:%s\"}\n", SINSP_FORMAT_JSON},
		{"%evt.arg.fd", "<4t>10.0.0.1:40000->10.0.0.2:%s\n"},
	};
	const struct scap_param fd4[] = {I64(4)};
	struct fixture *f = *state;
	struct sinsp_format *format;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, fd4, 1);
	char line[128];

	evt.fdnum = 4;
	evt.fd = sinsp_thread_fd(evt.thread, 4);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sinsp_format_opts opts = {
			.sz = sizeof(opts), .kind = rows[i].kind, .port_names = 1};

		assert_int_equal(sinsp_format_new(&format, rows[i].format, &opts, NULL), 0);
		assert_int_equal(sinsp_format_line(format, &f->text, &evt), 1);
		snprintf(line, sizeof(line), rows[i].line, http ? http->s_name : "80");
		assert_string_equal(fixture_take(f), line);
		sinsp_format_free(format);
	}
}

/* In a damaged capture the name of an internet socket is a path, with any number of ports in it. */
static void test_a_name_that_only_looks_like_ports(void **state)
{
	static const struct sinsp_format_opts opts = {.sz = sizeof(opts), .port_names = 1};
	static const char *const formats[] = {"%fd.name", "%evt.arg.fd"};
	enum { TIMES = 300 };
	const struct scap_param fd4[] = {I64(4)};
	struct fixture *f = *state;
	char name[TIMES * 4 + 1], line[sizeof(name) + 8];
	struct sinsp_format *format;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, fd4, 1);
	struct sinsp_fd *fd;

	for (int i = 0; i < TIMES; i++)
		memcpy(name + (size_t)i * 4, ":9->", sizeof(":9->"));
	fd = sinsp_files_edit(&f->s->threads.fds, evt.thread->files, 4);
	assert_non_null(fd);
	sinsp_fd_set_name(&f->s->threads.fds, fd, name, strlen(name));
	evt.fdnum = 4;
	evt.fd = fd;
	for (int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "%s%s\n", i ? "<4t>" : "", name);
		assert_int_equal(sinsp_format_new(&format, formats[i], &opts, NULL), 0);
		assert_int_equal(sinsp_format_line(format, &f->text, &evt), 1);
		assert_string_equal(fixture_take(f), line);
		sinsp_format_free(format);
	}
}

static void test_errors(void **state)
{
	static const struct {
		const char *format, *message;
		size_t pos;
		enum sinsp_format_kind kind;
	} rows[] = {
		{"", "the format is empty: name fields, as in '%evt.num %proc.name'", 0},
		{"%evt.num %", "expected the name of a field after %", 9},
		{"%evt.num % x", "expected the name of a field", 10},
		{"%-5evt.num", "expected the name of a field", 1},
		{"ab %proc.nmae %evt.num", "unknown field proc.nmae; did you mean proc.name?", 4},
		{"%5proc.nmae", "unknown field proc.nmae; did you mean proc.name?", 2},
		{"%evt.arg", "evt.arg needs an argument: evt.arg.NAME or evt.arg[N]", 8},
		{"%evt.arg[0", "the argument of evt.arg has no closing ]", 10},
		{"x%evt.around[5]", "cannot print evt.around: it is for filters only", 2},
		{"%99999999999proc.name", "a field is at most 65535 columns wide", 1},
		{"%mesos.task.id",
		 "the field mesos.task.id is not supported: saker does not query Mesos", 1},
		{"abc", "the format has no field: name one, as in %evt.num", 0, SINSP_FORMAT_JSON},
		{"*", "the format has no field: name one, as in %evt.num", 0, SINSP_FORMAT_TSV},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sinsp_format_opts opts = {.sz = sizeof(opts), .kind = rows[i].kind};
		struct sinsp_format_error err = {.pos = 77};
		struct sinsp_format *f = NULL;

		assert_int_equal(sinsp_format_new(&f, rows[i].format, &opts, &err), -EINVAL);
		assert_null(f);
		assert_string_equal(err.message, rows[i].message);
		assert_int_equal(err.pos, rows[i].pos);
		assert_int_equal(sinsp_format_new(&f, rows[i].format, &opts, NULL), -EINVAL);
	}
}

/* Pieces of formats in any order give a format, or an error with a place in the text. */
static void test_any_text_is_a_format_or_an_error(void **state)
{
	static const char *const pieces[] = {
		"%",        "%%",        "*",        "evt.",          "evt.num",
		"evt.arg",  "[0]",       "['",       "\"]",           "[",
		"]",        ".",         "\\",       "\\n",           "proc.name",
		"5",        "99999",     "_x",       ".fd",           " ",
		"\xc3\xa9", "\x01",      "evt.info", "evt.around[1]", "evt.type.is.",
		"proc.env", "k8s.pod.x",
	};
	const unsigned int n_pieces = sizeof(pieces) / sizeof(pieces[0]);
	const struct scap_param params[] = {I64(-2), TEXT("/x"), U32(1), U32(0), U32(0)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_OPEN_X, params, 5);
	uint64_t seed = 1;

	for (int i = 0; i < 20000; i++) {
		char text[256] = "";
		struct sinsp_format_error err = {.pos = SIZE_MAX};
		struct sinsp_format_opts opts = {.sz = sizeof(opts)};
		struct sinsp_format *format;
		int e;

		for (int n = 0; n < 1 + i % 9; n++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			strcat(text, pieces[(seed >> 33) % n_pieces]);
		}
		opts.kind = (enum sinsp_format_kind)(seed >> 60) % 3;
		opts.colour = seed >> 59 & 1;
		e = sinsp_format_new(&format, text, &opts, &err);
		if (e) {
			assert_int_equal(e, -EINVAL);
			assert_true(err.pos <= strlen(text) && *err.message);
			continue;
		}
		assert_true(sinsp_format_line(format, &f->text, &evt) >= 0);
		fixture_take(f);
		sinsp_format_free(format);
	}
}

/* The format and the printer write the same text. */
static void test_presets_say_what_the_printer_prints(void **state)
{
	const struct row r = {sinsp_format_preset(SINSP_LINE_DEFAULT),
			      "7 22:13:20.123456789 1 cat (1234) < read res=9 data=a.b\\c.\". \n"};
	struct fixture *f = *state;
	struct sinsp_printer *pr;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_READ_X, was_read, 2);

	check(f, &evt, &r);
	assert_int_equal(sinsp_printer_new(&pr, NULL), 0);
	assert_int_equal(sinsp_printer_line(pr, &f->text, &evt), 0);
	assert_string_equal(fixture_take(f), r.line);
	sinsp_printer_free(pr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_a_character_is_one_wide),
		cmocka_unit_test(test_lines_without_a_value),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_tsv),
		cmocka_unit_test(test_tsv_has_no_ends_of_lines_in_values),
		cmocka_unit_test(test_tsv_has_no_formulas),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_names_of_ports),
		cmocka_unit_test(test_a_name_that_only_looks_like_ports),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_any_text_is_a_format_or_an_error),
		cmocka_unit_test(test_presets_say_what_the_printer_prints),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
