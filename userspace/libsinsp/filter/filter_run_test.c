/* SPDX-License-Identifier: Apache-2.0 */
/* Results of filters for events, errors in values and types, explanations. */
#include <errno.h>
#include <stdio.h>

#include "fields/text_test.h"
#include "filter.h"

static struct sinsp_filter *compile(const char *text)
{
	struct sinsp_filter_error error = {0};
	struct sinsp_filter *f = NULL;

	if (sinsp_filter_new(&f, text, NULL, &error))
		print_error("%s: %s\n", text, error.message);
	assert_non_null(f);
	return f;
}

struct answer {
	const char *filter;
	int want;
};

static void check(const struct sinsp_evt *evt, const struct answer *a)
{
	struct sinsp_filter *f = compile(a->filter);
	const int got = sinsp_filter_run(f, evt);

	if (got != a->want)
		print_error("%s: %d\n", a->filter, got);
	assert_int_equal(got, a->want);
	/* A result by the type alone is the same. */
	if (got)
		assert_true(sinsp_filter_may_match(f, evt->raw.type));
	sinsp_filter_free(f);
}

#define CHECK(evt, rows)                                                                           \
	do {                                                                                       \
		for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                      \
			check(evt, &(rows)[i]);                                                    \
	} while (0)

static const struct scap_param read_params[] = {I64(8), BYTES("GET /a\0\xff"), I64(3), U32(80)};
static const struct scap_param open_params[] = {I64(-2), TEXT("/x"), U32(1), U32(0), U32(0)};

/* read(3, "GET /a\0\xff", 80) = 8 of cat, 1234. */
static struct sinsp_evt read_event(struct fixture *f, struct ppm_evt_hdr *hdr)
{
	struct sinsp_evt evt = fixture_evt(f, hdr, EVT_READ_X, read_params, 4);

	evt.fdnum = 3;
	evt.fd = sinsp_thread_fd(evt.thread, 3);
	evt.latency_ns = 1500;
	evt.latency_known = 1;
	return evt;
}

static void test_text(void **state)
{
	static const struct answer rows[] = {
		{"proc.name=cat", 1},
		{"proc.name=ca", 0},
		{"proc.name=cats", 0},
		{"proc.name!=cat", 0},
		{"proc.name!=dog", 1},
		{"proc.name exists", 1},
		{"proc.name < cau", 1},
		{"proc.name < cat", 0},
		{"proc.name <= cat", 1},
		{"proc.name > ca", 1},
		{"proc.name >= cata", 0},
		{"fd.name contains passwd", 1},
		{"fd.name contains \"\"", 1},
		{"fd.name contains PASS", 0},
		{"fd.name icontains PASS", 1},
		{"fd.name icontains \"\"", 1},
		{"fd.name startswith /etc", 1},
		{"fd.name startswith /etc/passwd-", 0},
		{"fd.name endswith wd", 1},
		{"fd.name endswith x/etc/passwd", 0},
		{"fd.name glob /etc/*", 1},
		{"fd.name glob *pass*", 1},
		{"fd.name glob /etc/passw?", 1},
		{"fd.name glob /ETC/*", 0},
		{"fd.name iglob /ETC/*", 1},
		{"fd.name regex '/etc/.*'", 1},
		{"fd.name regex 'etc'", 0},
		{"fd.name regex '/(etc|usr)/[a-z]+'", 1},
		{"proc.name in (dog, cat)", 1},
		{"proc.name in (dog, pig)", 0},
		{"proc.name in ()", 0},
		{"not proc.name in ()", 1},
		{"proc.name intersects (dog, cat)", 1},
		{"fd.name pmatch (/usr, /etc)", 1},
		{"fd.name pmatch (/et, /etc/passwd/x)", 0},
		{"fd.name pmatch (/etc/)", 1},
		{"fd.name pmatch (/e*c)", 1},
		{"fd.name pmatch (/*/passwd, /x)", 1},
		{"fd.name pmatch (/)", 1},
		{"fd.name pmatch ()", 0},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

static void test_numbers(void **state)
{
	static const struct answer rows[] = {
		{"fd.num=3", 1},
		{"fd.num=0x3", 1},
		{"fd.num = +3", 1},
		{"fd.num != 3", 0},
		{"fd.num < 3", 0},
		{"fd.num < 4", 1},
		{"fd.num <= 3", 1},
		{"fd.num > -1", 1},
		{"fd.num > 2", 1},
		{"fd.num > 3", 0},
		{"fd.num >= 3", 1},
		{"fd.num >= 4", 0},
		{"fd.num > 9223372036854775807", 0},
		{"fd.num >= -9223372036854775808", 1},
		{"fd.num < -9223372036854775808", 0},
		{"fd.num in (1, 2, 3)", 1},
		{"fd.num in (0, 1)", 0},
		{"evt.num < 0", 0},
		{"evt.num >= 0", 1},
		{"evt.num <= 18446744073709551615", 1},
		{"evt.num > 18446744073709551615", 0},
		{"evt.num in (0)", 0},
		{"evt.num in (0, 7)", 1},
		{"evt.rawres = 8", 1},
		{"evt.rawres < 0", 0},
		{"evt.latency = 1500", 1},
		{"evt.latency = 1.5us", 1},
		{"evt.latency > 1us", 1},
		{"evt.latency > 2us", 0},
		{"evt.latency < 1ms and evt.latency < 1s and evt.latency < 1h", 1},
		{"evt.rawtime > 1700000000s", 1},
		{"evt.buflen < 1k", 1},
		{"evt.buflen > 0.5k", 0},
		{"evt.failed=false", 1},
		{"evt.failed=true", 0},
		{"evt.failed in (true, false)", 1},
		{"len(fd.name) = 11", 1},
		{"len(evt.buffer) = 8", 1},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

static void test_bytes(void **state)
{
	static const struct answer rows[] = {
		{"evt.buffer contains GET", 1},
		{"evt.buffer contains \"/a\\x00\\xff\"", 1},
		{"evt.buffer contains get", 0},
		{"evt.buffer icontains get", 1},
		{"evt.buffer bcontains 2f6100", 1},
		{"evt.buffer bcontains FF", 1},
		{"evt.buffer bcontains 00ff00", 0},
		{"evt.buffer startswith GET", 1},
		{"evt.buffer startswith \"GET /a and much more\"", 0},
		{"evt.buffer bstartswith 474554", 1},
		{"evt.buffer endswith \"\\xff\"", 1},
		{"evt.buffer = \"GET /a\\x00\\xff\"", 1},
		{"evt.buffer != GET", 1},
		{"evt.buffer contains anyof (PUT, POST, GET)", 1},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

static void test_raw_arguments(void **state)
{
	static const struct answer rows[] = {
		{"evt.rawarg.fd=3", 1},
		{"evt.rawarg.fd!=3", 0},
		{"evt.rawarg.size > 79", 1},
		{"evt.rawarg.size in (80, 81)", 1},
		{"evt.rawarg.data contains GET", 1},
		{"evt.rawarg[0] = 8", 1},
		{"evt.rawarg[0] > -1", 1},
		{"evt.rawarg[0] = x", 0},
		{"evt.rawarg[0] != x", 1},
		{"evt.rawarg[0] in (7, 8)", 1},
		{"evt.rawarg[1] startswith GET", 1},
		{"evt.rawarg[9] exists", 0},
		{"evt.arg.res = 8", 1},
		{"evt.arg.name exists", 0},
		{"evt.arg.name != x", 0},
		{"not evt.arg.name = x", 1},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

/* No check of a missing value matches, not even !=. */
static void test_missing(void **state)
{
	static const struct answer rows[] = {
		{"fd.filename exists", 0},
		{"fd.filename = x", 0},
		{"fd.filename != x", 0},
		{"not fd.filename = x", 1},
		{"not fd.filename != x", 1},
		{"fd.filename in (x, y)", 0},
		{"fd.filename contains \"\"", 0},
		{"fd.filename pmatch (/)", 0},
		{"fd.filename = val(proc.name)", 0},
		{"proc.name != val(fd.filename)", 0},
		{"tolower(fd.filename) != x", 0},
		{"len(fd.filename) >= 0", 0},
		{"concat(proc.name, fd.filename) startswith c", 0},
		{"fd.filename != allof (a, b)", 0},
		{"fd.filename contains oneof (a, b)", 0},
		{"fd.filename = anyof ()", 0},
		{"proc.name != allof ()", 0},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_OPEN_X, open_params, 5);

	CHECK(&evt, rows);
}

static void test_logic(void **state)
{
	static const struct answer rows[] = {
		{"proc.name=cat and fd.num=3", 1},
		{"proc.name=cat and fd.num=4", 0},
		{"proc.name=dog or fd.num=3", 1},
		{"proc.name=dog or fd.num=4", 0},
		{"proc.name=dog or fd.num=4 and fd.num=3", 0},
		{"proc.name=cat or fd.num=4 and fd.num=5", 1},
		{"(proc.name=cat or fd.num=4) and fd.num=5", 0},
		{"not proc.name=dog", 1},
		{"not not proc.name=dog", 0},
		{"not (proc.name=dog or fd.num=4)", 1},
		{"not (proc.name=cat and fd.num=4)", 1},
		{"not (proc.name=cat or fd.num=4)", 0},
		{"not proc.name=dog and not proc.name=pig", 1},
		{"not proc.name=dog and not proc.name=cat", 0},
		{"proc.name=dog or proc.name=pig or proc.name=cat", 1},
		{"proc.name=dog or fd.num=3 or proc.name=pig", 1},
		{"fd.name contains x or fd.name contains y or fd.name contains ssw", 1},
		{"fd.name contains x or fd.name contains y", 0},
		{"fd.name icontains X or fd.name icontains SSW", 1},
		{"fd.name contains x or fd.name contains \"\"", 1},
		{"fd.name pmatch (/usr) or fd.name pmatch (/etc)", 1},
		{"proc.name=cat and proc.name=cat", 1},
		{"(proc.name=dog and fd.num=3) or (proc.name=dog and fd.num=4) or proc.name=cat",
		 1},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

static void test_several_values(void **state)
{
	static const struct answer rows[] = {
		{"fd.name contains anyof (x, passwd)", 1},
		{"fd.name contains anyof (x, y)", 0},
		{"fd.name contains allof (etc, passwd)", 1},
		{"fd.name contains allof (etc, x)", 0},
		{"fd.name contains oneof (etc, x)", 1},
		{"fd.name contains oneof (etc, passwd)", 0},
		{"fd.name startswith anyof (/usr, /etc)", 1},
		{"fd.name endswith allof (d, wd)", 1},
		{"fd.name glob oneof (/etc/*, *wd)", 0},
		{"fd.name regex anyof ('x+', '/e.*')", 1},
		{"proc.name = anyof (dog, cat)", 1},
		{"proc.name = oneof (dog, cat)", 1},
		{"proc.name = allof (cat)", 1},
		{"proc.name = allof (dog, cat)", 0},
		{"proc.name != allof (dog, pig)", 1},
		{"proc.name != allof (dog, cat)", 0},
		{"proc.name != anyof (dog, cat)", 1},
		{"proc.name != anyof (cat)", 0},
		{"fd.num = anyof (2, 3)", 1},
		{"fd.num != allof (2, 3)", 0},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

static void test_transformers(void **state)
{
	static const struct answer rows[] = {
		{"toupper(proc.name) = CAT", 1},
		{"tolower(toupper(proc.name)) = cat", 1},
		{"toupper(fd.name) in (/ETC/PASSWD)", 1},
		{"basename(fd.name) = passwd", 1},
		{"basename(proc.name) = cat", 1},
		{"toupper(basename(fd.name)) glob PASS*", 1},
		{"b64(proc.name) exists", 1}, /* 3 digits */
		{"b64(concat(fd.name, \".\")) exists", 0},
		{"b64(concat(\"aGVsbG8\", \"=\")) = hello", 1},
		{"b64(concat(\"aGVsbG\", \"8\")) = hello", 1},
		{"b64(concat(\"a\", \"\")) exists", 0},
		{"concat(proc.name, \":\", fd.name) = cat:/etc/passwd", 1},
		{"join(\"-\", (proc.name, \"x\", proc.name)) = cat-x-cat", 1},
		{"join(\",\", (fd.num, \"x\", evt.failed)) = \"3,x,false\"", 1},
		{"concat(proc.name, fd.num) = cat3", 1},
		{"getopt(\"-a -b  v\", \"ab:\")[b] = v", 1},
		{"len(join(\"\", (proc.name))) = 3", 1},
		{"getopt((\"-a\", \"-b\", \"v\"), \"ab:\")[b] = v", 1},
		{"getopt((\"-abv\"), \"ab:\")[b] = v", 1},
		{"getopt((\"-a\"), \"ab:\")[a] = a", 1},
		{"getopt((\"-a\"), \"ab:\")[b] exists", 0},
		{"getopt((\"x\", \"-a\"), \"a\")[a] exists", 0},
		{"getopt((\"--long\", \"-a\"), \"a\")[a] exists", 1},
		{"getopt((\"--\", \"-a\"), \"a\")[a] exists", 0},
		{"getopt((\"-b\"), \"b:\")[b] = \"\"", 1},
		{"getopt((\"-b\", \"1\", \"-b\", \"2\"), \"b:\")[b] = 2", 1},
		{"getopt((\"-ax\"), \"a\") in (a, ?)", 1},
		{"getopt((\"-ax\"), \"a\") in (a)", 0},
		{"getopt((\"-ax\"), \"a\") intersects (a)", 1},
		{"len(getopt((\"-abv\"), \"ab:\")) = 3", 1},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

static void test_fields_with_fields(void **state)
{
	static const struct answer rows[] = {
		{"proc.pid = val(thread.tid)", 1},
		{"proc.pid != val(thread.tid)", 0},
		{"fd.num < val(proc.pid)", 1},
		{"proc.pid < val(fd.num)", 0},
		{"evt.num > val(fd.num)", 1},
		{"fd.name contains val(proc.name)", 0},
		{"fd.name endswith basename(fd.name)", 1},
		{"proc.name = tolower(proc.name)", 1},
		{"proc.name != toupper(proc.name)", 1},
		{"proc.name in val(proc.name)", 1},
		{"evt.buffer != val(fd.name)", 1},
	};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = read_event(f, &hdr);

	CHECK(&evt, rows);
}

/* ---- errors in values and types ---- */

struct broken {
	const char *filter, *message;
	size_t pos;
};

static void check_broken(const struct broken *want)
{
	struct sinsp_filter_error error = {0};
	struct sinsp_filter *f = NULL;

	if (!sinsp_filter_new(&f, want->filter, NULL, &error))
		print_error("%s\n", want->filter);
	assert_null(f);
	assert_string_equal(error.message, want->message);
	if (error.pos != want->pos)
		print_error("%s: %s\n", want->filter, error.message);
	assert_int_equal(error.pos, want->pos);
}

static void test_broken(void **state)
{
	static const struct broken rows[] = {
		{"fd.num=abc", "expected a number, such as -1, 0x1f or 4k, found 'abc'", 7},
		{"fd.num=3abc", "expected a number, such as -1, 0x1f or 4k, found '3abc'", 7},
		{"fd.num=1.5", "expected a number, such as -1, 0x1f or 4k, found '1.5'", 7},
		{"fd.num=0x", "expected a number, such as -1, 0x1f or 4k, found '0x'", 7},
		{"fd.num=99999999999999999999",
		 "expected a number of 64 bits, found "
		 "'99999999999999999999'",
		 7},
		{"fd.num=9223372036854775808",
		 "expected a number of 64 bits, found "
		 "'9223372036854775808'",
		 7},
		{"fd.num=>3",
		 "expected a number, such as -1, 0x1f or 4k, found '>3'; the operators "
		 "are = != < <= > >=",
		 7},
		{"fd.num in (1, x)", "expected a number, such as -1, 0x1f or 4k, found 'x'", 14},
		{"evt.num=-1", "expected a number that is not negative, found '-1'", 8},
		{"evt.latency > 1x",
		 "expected a duration in nanoseconds, or such as 10ms or 1.5s, found '1x'", 14},
		{"evt.latency > 1e999h",
		 "expected a duration in nanoseconds, or such as 10ms or 1.5s, found '1e999h'", 14},
		{"evt.latency > 99999999999h", "expected a number of 64 bits, found '99999999999h'",
		 14},
		{"evt.failed=yes", "expected true or false, found 'yes'", 11},
		{"evt.failed > false",
		 "cannot use > with evt.failed: it is true or false; use = or !=", 11},
		{"fd.num contains 3",
		 "cannot use contains with fd.num: it is a number; use =, <, > or in", 7},
		{"proc.name bcontains 61",
		 "cannot use bcontains with proc.name: it is text; use contains", 10},
		{"evt.buffer bcontains xyz",
		 "expected bytes in hexadecimal, such as 7f454c46, found 'xyz'", 21},
		{"evt.buffer bcontains 123",
		 "expected bytes in hexadecimal, such as 7f454c46, found '123'", 21},
		{"evt.buffer regex x",
		 "cannot use regex with evt.buffer: it is bytes; use contains", 11},
		{"evt.buffer > x",
		 "cannot use > with evt.buffer: it is bytes; use =, contains or startswith", 11},
		{"proc.name regex '('", "invalid pattern: missing closing parenthesis", 18},
		{"proc.name regex \"[a\"",
		 "invalid pattern: missing terminating ] for character class", 19},
		{"tolower(fd.num)=3", "tolower() needs text or bytes", 8},
		{"basename(evt.buffer)=3", "basename() needs text", 9},
		{"tolower(fd.name, fd.name)=3", "tolower() needs one argument", 0},
		{"tolower(fd.name)[x]=3", "tolower() takes no argument in brackets", 0},
		{"len(fd.num)=3", "len() needs text, bytes or several values", 4},
		{"join(fd.name)=3", "join() needs a separator and a list", 0},
		{"join(\",\", fd.name)=3",
		 "join() needs texts in parentheses, or a field with several "
		 "values, after the separator",
		 10},
		{"concat(fd.name)=3", "concat() needs two arguments or more", 0},
		{"concat(fd.name, (fd.name))=3",
		 "concat() needs single values: join() takes several", 16},
		{"getopt((\"a\"), \"a\")[bc]=3", "getopt()[x] takes one letter, not 'bc'", 0},
		{"getopt((\"a\"), \"a\") = 3",
		 "cannot use = with getopt: it has several values; use in (all of them), "
		 "intersects (one of them) or exists",
		 19},
		{"val(fd.name)=3", "val() is valid only after an operator", 0},
		{"fd.num = val(fd.name)", "cannot compare fd.num with fd.name: a number and text",
		 13},
		{"fd.name = val(evt.failed)",
		 "cannot compare fd.name with evt.failed: text and true or false", 14},
		{"fd.name pmatch val(fd.name)",
		 "cannot use pmatch with a field on the right; use a value", 8},
		{"fd.name = val(tolower(fd.name))", "val() needs one field", 14},
		{"evt.type=opne", "unknown event opne; did you mean open?", 9},
		{"evt.type in (read, wirte)", "unknown event wirte; did you mean write?", 19},
		{"evt.res=ENOENTT", "evt.res is never 'ENOENTT'; did you mean ENOENT?", 8},
		{"evt.res!=enoent", "evt.res is never 'enoent'; did you mean ENOENT?", 9},
		{"evt.res=EWOULDBLOCK", "evt.res is never 'EWOULDBLOCK'; did you mean EAGAIN?", 8},
		{"evt.res=-2", "evt.res is never '-2'; did you mean ENOENT?", 8},
		{"evt.res in (ENOENT, failed)",
		 "evt.res is never 'failed'; result: SUCCESS or the name of the error, such as "
		 "ENOENT",
		 20},
		{"evt.dir=<<", "evt.dir is never '<<'; did you mean <?", 8},
		{"evt.category=files", "evt.category is never 'files'; did you mean file?", 13},
		{"fd.l4proto=tpc", "fd.l4proto is never 'tpc'; did you mean tcp?", 11},
		{"proc.stdin.type=sock",
		 "proc.stdin.type is never 'sock'; possible values: file, directory, ipv4, ipv6, "
		 "unix, "
		 "pipe, "
		 "event, signalfd, eventpoll, inotify, timerfd, netlink, bpf, io_uring, memfd, "
		 "userfaultfd, pidfd, <NA>",
		 16},
		{"fd.sproto=http",
		 "fd.sproto is a number in filters, never 'http'; did you mean fd.sport=http?", 10},
		{"sample.reason=offcpu", "sample.reason is never 'offcpu'; did you mean off_cpu?",
		 14},
		{"syslog.severity.str=warning",
		 "syslog.severity.str is never 'warning'; possible values: emerg, alert, crit, "
		 "err, "
		 "warn, "
		 "notice, info, debug",
		 20},
		{"container.type=dockr", "container.type is never 'dockr'; did you mean docker?",
		 15},
		{"evt.time=12:00:00",
		 "evt.time is never '12:00:00', but 00:00:00.000000000; use startswith for the "
		 "beginning of a time",
		 9},
		{"evt.time>9:00",
		 "evt.time never begins with '9:00': its form is 00:00:00.000000000", 9},
		{"evt.datetime startswith 22.11.",
		 "evt.datetime never begins with '22.11.': its form is 0000-00-00 "
		 "00:00:00.000000000",
		 24},
		{"fd.type=ipv5", "fd.type is never 'ipv5'; did you mean ipv4?", 8},
		{"fd.types intersects (file, pip)", "fd.types is never 'pip'; did you mean pipe?",
		 27},
		{"fd.type in (file, dirctory)",
		 "fd.type is never 'dirctory'; did you mean directory?", 18},
		{"evt.dir != x", "evt.dir is never 'x'; possible values: >, <", 11},
		{"fd.l4proto = TCP", "fd.l4proto is never 'TCP'; did you mean tcp?", 13},
		{"evt.type != \"a b\"", "unknown event a b; see saker -L", 12},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_broken(&rows[i]);
}

/* ---- limits of regular expressions ---- */

static void count_log(void *ctx, enum scap_log_level level, const char *text)
{
	(void)text;
	assert_int_equal(level, SCAP_LOG_WARN);
	++*(int *)ctx;
}

static void test_patterns_are_bounded(void **state)
{
	char name[200], text[300];
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt;
	struct scap_param params[] = {I64(3), {(const uint8_t *)name, 100}, U32(1), U32(0), U32(0)};
	int n_logged = 0;
	const struct sinsp_filter_opts opts = {
		.sz = sizeof(opts), .log = count_log, .log_ctx = &n_logged};
	struct sinsp_filter *regex, *glob;

	assert_int_equal(
		sinsp_filter_new(&regex, "evt.rawarg.name regex '(a+a+)+[b-y]'", &opts, NULL), 0);

	memset(name, 'a', 99);
	name[99] = 0;
	evt = fixture_evt(f, &hdr, EVT_OPEN_X, params, 5);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sinsp_filter_run(regex, &evt), 0);
	assert_int_equal(n_logged, 1);
	sinsp_filter_free(regex);
	strcpy(text, "evt.rawarg.name glob ");
	for (int i = 0; i < 40; i++)
		strcat(text, "*a");
	strcat(text, "*b");
	glob = compile(text);
	assert_int_equal(sinsp_filter_run(glob, &evt), 0);
	sinsp_filter_free(glob);
}

/* ---- types of events ---- */

static void check_types(const char *text, unsigned int type, int may)
{
	struct sinsp_filter *f = compile(text);

	if (sinsp_filter_may_match(f, type) != may)
		print_error("%s: type %u\n", text, type);
	assert_int_equal(sinsp_filter_may_match(f, type), may);
	sinsp_filter_free(f);
}

static void test_types(void **state)
{
	(void)state;
	check_types("evt.type=read", EVT_READ_X, 1);
	check_types("evt.type=read", EVT_READ_E, 1);
	check_types("evt.type=read", EVT_WRITE_X, 0);
	check_types("evt.type=read", EVT_SYSCALL_X, 1);
	check_types("evt.type=sample", EVT_SYSCALL_X, 0);
	check_types("evt.type!=sample", EVT_SYSCALL_X, 1);
	check_types("evt.type startswith samp", EVT_SYSCALL_X, 0);
	check_types("evt.type startswith swap", EVT_SYSCALL_X, 1);
	check_types("evt.type contains unknown", EVT_SYSCALL_X, 1);
	check_types("evt.type!=read", EVT_READ_X, 0);
	check_types("not evt.type=read", EVT_READ_X, 0);
	check_types("not evt.type=read", EVT_WRITE_X, 1);
	check_types("evt.dir=<", EVT_READ_X, 1);
	check_types("evt.dir=<", EVT_READ_E, 0);
	check_types("evt.dir=<", EVT_SYSCALL_E, 0);
	check_types("evt.type=read and evt.dir=<", EVT_READ_E, 0);
	check_types("evt.type=read and evt.dir=<", EVT_SYSCALL_X, 1);
	check_types("evt.type=read or proc.name=cat", EVT_WRITE_X, 1);
	check_types("evt.type=read and proc.name=cat", EVT_WRITE_X, 0);
	check_types("not (evt.type=read and proc.name=cat)", EVT_READ_X, 1);
	check_types("evt.is_io_write=true", EVT_WRITE_E, 1);
	check_types("evt.is_io_write=true", EVT_READ_E, 0);
	check_types("evt.is_open_write=true", EVT_OPENAT_X, 1);
	check_types("evt.is_open_write=true", EVT_READ_X, 0);
	check_types("evt.is_open_write=true", EVT_SYSCALL_X, 0);
	check_types("evt.is_open_write=false", EVT_READ_X, 1);
	check_types("evt.is_open_write=false", EVT_OPENAT_X, 1);
	check_types("not evt.is_open_exec=true", EVT_CREAT_X, 1);
	check_types("evt.is_open_exec=true", EVT_CREAT_X, 1);
	check_types("evt.arg.flags contains O_CREAT", EVT_OPEN_X, 1);
	check_types("evt.arg.flags contains O_CREAT", EVT_GETUID_X, 0);
	check_types("not evt.arg.flags contains O_CREAT", EVT_GETUID_X, 1);
	check_types("evt.rawarg.data exists", EVT_READ_X, 1);
	check_types("evt.rawarg.data exists", EVT_CLOSE_X, 0);
}

static void check_enters(const char *text, int want)
{
	struct sinsp_filter *f = compile(text);

	if (sinsp_filter_needs_enters(f) != want)
		print_error("%s\n", text);
	assert_int_equal(sinsp_filter_needs_enters(f), want);
	sinsp_filter_free(f);
}

static void test_filters_that_need_enters(void **state)
{
	(void)state;
	check_enters("evt.dir=>", 1);
	check_enters("evt.dir=<", 0);
	check_enters("evt.dir!=<", 1);
	check_enters("not evt.dir=<", 1);
	check_enters("evt.dir exists", 1);
	check_enters("evt.type=read", 0);
	check_enters("evt.type=read and evt.dir=<", 0);
	check_enters("evt.type=read and evt.dir=>", 1);
}

/* Fields with memory are evaluated in the written order, for every event. */
static void test_memory(void **state)
{
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = read_event(f, &hdr);
	struct sinsp_filter *all =
		compile("evt.deltatime >= 0 and evt.type=close and evt.deltatime=5");

	assert_int_equal(sinsp_filter_run(all, &evt), 0);
	evt.raw.ts_ns += 5;
	assert_int_equal(sinsp_filter_run(all, &evt), 0);
	evt = fixture_evt(f, &hdr, EVT_CLOSE_X, NULL, 0);
	evt.raw.ts_ns += 10;
	assert_int_equal(sinsp_filter_run(all, &evt), 1);
	sinsp_filter_free(all);
}

static void check_explained(const char *text, const char *want)
{
	struct sinsp_filter *f = compile(text);
	struct sinsp_text out = {0};

	assert_int_equal(sinsp_filter_explain(f, &out), 0);
	out.p = realloc(out.p, out.len + 1);
	out.p[out.len] = 0;
	if (strncmp(out.p, want, strlen(want)))
		print_error("%s", out.p);
	assert_memory_equal(out.p, want, strlen(want));
	free(out.p);
	sinsp_filter_free(f);
}

static void test_programs(void **state)
{
	(void)state;
	check_explained("fd.name contains x and (proc.name=a or proc.name=b) and fd.num=3",
			"Program\n"
			"    1  fd.num = \"3\"\n"
			"         yes: go to 2; no: drop\n"
			"    2  proc.name in (\"a\", \"b\")\n"
			"         yes: go to 3; no: drop\n"
			"    3  fd.name contains \"x\"\n"
			"         yes: show; no: drop\n"
			"Event types\n");
	check_explained("not fd.num=3 and not fd.num=4", "Program\n"
							 "    1  fd.num in (\"3\", \"4\")\n"
							 "         yes: drop; no: show\n");
	check_explained("fd.num=1 and proc.name=a or fd.num=2 and proc.name=a",
			"Program\n"
			"    1  fd.num = \"1\"\n"
			"         yes: go to 2; no: go to 3\n"
			"    2  proc.name = \"a\"\n"
			"         yes: show; no: go to 3; evaluated once per event\n"
			"    3  fd.num = \"2\"\n"
			"         yes: go to 4; no: drop\n"
			"    4  proc.name = \"a\"\n"
			"         yes: show; no: drop; evaluated once per event\n");
	check_explained("fd.name contains a or fd.name contains b",
			"Program\n"
			"    1  fd.name contains anyof (\"a\", \"b\")\n"
			"         yes: show; no: drop\n");
	check_explained("proc.name in () and proc.name = anyof ()",
			"Program\n  no event can match\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_numbers, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_bytes, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_raw_arguments, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_missing, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_logic, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_several_values, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_transformers, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(test_fields_with_fields, fixture_open,
						fixture_close),
		cmocka_unit_test(test_broken),
		cmocka_unit_test_setup_teardown(test_patterns_are_bounded, fixture_open,
						fixture_close),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_filters_that_need_enters),
		cmocka_unit_test_setup_teardown(test_memory, fixture_open, fixture_close),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
