/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter_options.h"
#include "say.h"
#include "testing/test_main.h"

static char path[] = "/tmp/saker-config-XXXXXX";

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static int parse_with(struct exporter_options *o, const char *text, char **words, int n)
{
	char *argv[16] = {"saker-exporter", "--config", path};

	memset(o, 0, sizeof(*o));
	write_file(text, strlen(text));
	for (int i = 0; i < n; i++)
		argv[3 + i] = words[i];
	return exporter_options_parse(o, 3 + n, argv);
}

static int parse(struct exporter_options *o, const char *text)
{
	return parse_with(o, text, NULL, 0);
}

static void test_values(void **state)
{
	struct exporter_options o;

	(void)state;
	assert_int_equal(parse(&o, "# comment\n\n  max-series = 200 \r\nlisten=127.0.0.1:1\n"
				   "processes = yes\nsyscalls = no\nseries-idle\t=\t1.5\n"
				   "otlp = http://a/\notlp-logs = evt.type=open and fd.num=3\n"
				   "otlp-header = A: b\notlp-header = C: d\nverbose=yes"),
			 0);
	assert_int_equal(o.max_series, 200);
	assert_string_equal(o.listen.text, "127.0.0.1:1");
	assert_int_equal(o.processes, 1);
	assert_int_equal(o.syscalls, 0);
	assert_int_equal(o.idle_ns, 1500000000);
	assert_string_equal(o.otlp.logs, "evt.type=open and fd.num=3");
	assert_int_equal(o.otlp.headers.n, 2);
	assert_string_equal(o.otlp.headers.v[1], "C: d");
	assert_int_equal(o.verbose, 1);
	exporter_options_fini(&o);
}

static void test_command_line_comes_first(void **state)
{
	char *words[] = {"--max-series", "300", "--otlp-header", "X: y"};
	struct exporter_options o;

	(void)state;
	assert_int_equal(
		parse_with(&o, "max-series = 200\notlp = http://a\notlp-header = A: b\n", words, 4),
		0);
	assert_int_equal(o.max_series, 300);
	assert_int_equal(o.otlp.headers.n, 2);
	exporter_options_fini(&o);
}

/* Every option that a file may have is taken by its long name. */
static void test_every_row(void **state)
{
	struct exporter_options o;
	char line[128];

	(void)state;
	for (const struct option_row *row = exporter_rows; row->name; row++) {
		snprintf(line, sizeof(line), "%s = no\n", row->name);
		if (!row->arg)
			assert_int_equal(parse(&o, line) == 0, row->group != GROUP_NOT_IN_FILE);
		else if (row->group == GROUP_NOT_IN_FILE)
			assert_int_not_equal(parse(&o, line), 0);
		else
			continue;
		exporter_options_fini(&o);
	}
}

static void test_hostile(void **state)
{
	static const char *const bad[] = {
		"listne = 127.0.0.1:1\n",
		"= x\n",
		"=\n",
		"listen\n",
		"listen =\n",
		"listen = 1\nlisten = 2\n",
		"processes = true\n",
		"processes =\n",
		"--listen = 127.0.0.1:1\n",
		"config = /etc/passwd\n",
		"print = yes\n",
		"max-series = 99999999999999999999\n",
		"\x80\xff = 1\n",
		"l = 127.0.0.1:1\n",
		"max-series = 200\nmax-series = 200\n",
	};
	struct exporter_options o;
	char *large = malloc(2 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!parse(&o, bad[i]))
			fail_msg("taken: %s", bad[i]);
		exporter_options_fini(&o);
	}
	memset(large, 'x', 2 << 20);
	large[1 << 19] = 0; /* one line of half a MiB */
	assert_int_not_equal(parse(&o, large), 0);
	exporter_options_fini(&o);
	for (size_t i = 0; i < 1 << 19; i += 2)
		memcpy(large + i, "x\n", 2); /* as many errors */
	assert_int_not_equal(parse(&o, large), 0);
	exporter_options_fini(&o);
	memset(large, '\n', 2 << 20);
	large[(2 << 20) - 1] = 0; /* too large */
	assert_int_not_equal(parse(&o, large), 0);
	exporter_options_fini(&o);
	free(large);
}

static void test_trust(void **state)
{
	struct exporter_options o;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(parse(&o, "max-series = 200\n"), 0);
	exporter_options_fini(&o);
	chmod(path, 0660);
	assert_int_not_equal(parse(&o, "max-series = 200\n"), 0);
	exporter_options_fini(&o);
	chmod(path, 0644);
	assert_int_equal(chown(path, 1, 0), 0);
	assert_int_not_equal(parse(&o, "max-series = 200\n"), 0);
	exporter_options_fini(&o);
	assert_int_equal(chown(path, 0, 0), 0);
}

static void test_what_needs_a_restart(void **state)
{
	struct exporter_options a, b;
	char names[64], few[8];

	(void)state;
	assert_int_equal(parse(&a, "tls = yes\nmax-series = 200\nsyscalls = yes\n"), 0);
	assert_int_equal(parse(&b, "max-series = 300\nring-size = 1M\nsyscalls = yes\n"), 0);
	assert_true(
		exporter_config_fixed(names, sizeof(names), exporter_rows, &a.values, &b.values));
	assert_string_equal(names, "tls, ring-size");
	assert_true(exporter_config_fixed(few, sizeof(few), exporter_rows, &a.values, &b.values));
	exporter_options_fini(&b);
	assert_int_equal(parse(&b, "tls = yes\nmax-series = 300\nsyscalls = yes\n"), 0);
	assert_false(
		exporter_config_fixed(names, sizeof(names), exporter_rows, &a.values, &b.values));
	exporter_options_fini(&a);
	exporter_options_fini(&b);
}

/* An option that can be repeated: each value counts. */
static void test_repeated(void **state)
{
	struct exporter_options a, b;
	char names[64];

	(void)state;
	assert_int_equal(parse(&a, "redact = args,env\nredact = /k=\\w+/\n"), 0);
	assert_int_equal(parse(&b, "redact = args,env\nredact = /k=\\w+/\n"), 0);
	assert_non_null(b.redact);
	assert_false(
		exporter_config_fixed(names, sizeof(names), exporter_rows, &a.values, &b.values));
	exporter_options_fini(&b);
	assert_int_equal(parse(&b, "redact = args,env\nredact = /key=\\w+/\n"), 0);
	assert_true(
		exporter_config_fixed(names, sizeof(names), exporter_rows, &a.values, &b.values));
	assert_string_equal(names, "redact");
	exporter_options_fini(&b);
	assert_int_equal(parse(&b, "redact = args,env\n"), 0);
	assert_true(
		exporter_config_fixed(names, sizeof(names), exporter_rows, &a.values, &b.values));
	exporter_options_fini(&a);
	exporter_options_fini(&b);
	assert_int_not_equal(parse(&b, "redact = /(/\n"), 0);
	exporter_options_fini(&b);
}

/* A line that has an error may have a secret, too. */
static void test_errors_have_no_values(void **state)
{
	static const char *const bad[] = {
		"otlp-header Authorization: Bearer secret\n",
		"otlp-header: Authorization: Basic secret=\n",
		"otlp-heade = Authorization: secret\n",
		"otlp-header = secret\notlp = http://a\nsecret=\n",
		"otlp = http://me:secret@a\n",
	};
	char errors[] = "/tmp/saker-config-errors-XXXXXX", said[2048];
	const int before = dup(STDERR_FILENO), fd = mkstemp(errors);
	struct exporter_options o;
	ssize_t n;

	(void)state;
	unlink(errors);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(parse(&o, bad[i]), 0);
		exporter_options_fini(&o);
	}
	dup2(before, STDERR_FILENO);
	close(before);
	n = pread(fd, said, sizeof(said) - 1, 0);
	close(fd);
	assert_true(n > 0);
	said[n] = 0;
	assert_non_null(strstr(said, ":1: "));
	assert_null(strstr(said, "secret"));
}

static void *say_something(void *ctx)
{
	say_notice("the collector accepts data again");
	return ctx;
}

/* A reload reads the file while other threads report what has nothing to do with its lines. */
static void test_place_is_of_its_thread(void **state)
{
	const int before = dup(STDERR_FILENO);
	FILE *f = fopen(path, "w+e");
	char line[128] = "";
	pthread_t thread;

	(void)state;
	assert_non_null(f);
	assert_int_equal(dup2(fileno(f), STDERR_FILENO), STDERR_FILENO);
	say_at("FILE:3");
	assert_int_equal(pthread_create(&thread, NULL, say_something, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	say_at(NULL);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_string_equal(line, "saker: the collector accepts data again\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_command_line_comes_first),
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_what_needs_a_restart),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_errors_have_no_values),
		cmocka_unit_test(test_place_is_of_its_thread),
	};
	const int fd = mkstemp(path);
	int status;

	close(fd);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return status;
}
