/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"
#include "redact/redact.h"
#include "shared/config.h"

enum { MAX_ARGS = 16 };

static int parse(struct options *o, ...)
{
	static char *argv[MAX_ARGS + 1] = {(char *)"saker"}; /* options point to it */
	int argc = 1;
	va_list ap;

	memset(o, 0, sizeof(*o));
	va_start(ap, o);
	while (argc < MAX_ARGS && (argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	return options_parse(o, argc, argv);
}

#define assert_parses(o, ...) assert_int_equal(parse(o, __VA_ARGS__, NULL), 0)
#define assert_refused(...)                                                                        \
	do {                                                                                       \
		struct options refused;                                                            \
		assert_int_equal(parse(&refused, __VA_ARGS__, NULL), -EINVAL);                     \
		options_fini(&refused);                                                            \
	} while (0)

static void test_rows_are_complete(void **state)
{
	const struct option_row *row, *other;

	(void)state;
	for (row = option_rows; row->name; row++) {
		assert_non_null(row->help);
		assert_non_null(row->take);
		assert_int_equal(row->help[strlen(row->help) - 1], '.');
		assert_non_null(option_group_title(row->group));
		for (other = row + 1; other->name; other++) {
			assert_string_not_equal(row->name, other->name);
			assert_true(!row->letter || row->letter != other->letter);
			assert_true(row->group <= other->group);
		}
	}
}

static void test_help_fits_a_terminal(void **state)
{
	char *text, *line, *rest;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	help_print(f);
	fclose(f);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strlen(line) > 80)
			fail_msg("%zu columns: %s", strlen(line), line);
		assert_null(strchr(line, '\t'));
	}
	free(text);
}

static void test_help_names_every_option(void **state)
{
	const struct option_row *row;
	char *text, name[64];
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	help_print(f);
	fclose(f);
	for (row = option_rows; row->name; row++) {
		snprintf(name, sizeof(name), "%c --%s", row->letter ? ',' : ' ', row->name);
		assert_non_null(strstr(text, name));
	}
	free(text);
}

static void test_letters_and_names(void **state)
{
	struct options o;

	(void)state;
	assert_parses(&o, "-qS", "-n", "20", "-M0.5", "--snaplen=200", "--timetype", "D");
	assert_true(o.quiet && o.summary);
	assert_int_equal(o.max_events, 20);
	assert_int_equal(o.max_ns, 500000000);
	assert_int_equal(o.snaplen, 200);
	assert_int_equal(o.time_fmt, SINSP_TIME_DELTA);
	assert_parses(&o, "-s65000", "--snaplen-port=443", "--snaplen-port", "8000-8100:65000");
	assert_int_equal(o.snap_ports.n, 2);
	assert_int_equal(o.snap_ports.v[0].from, 443);
	assert_int_equal(o.snap_ports.v[0].to, 443);
	assert_int_equal(o.snap_ports.v[0].snaplen, 16000);
	assert_int_equal(o.snap_ports.v[1].to, 8100);
	assert_int_equal(o.snap_ports.v[1].snaplen, 65000);
	options_fini(&o);
	assert_parses(&o, "-x", "-A");
	assert_int_equal(o.buf_fmt, SINSP_BUF_ASCII);
	assert_parses(&o, "--ring", "perf", "--ring-size", "16m");
	assert_int_equal(o.ring_kind, RING_PERF + 1);
	assert_int_equal(o.ring_sz, 16 << 20);
	assert_int_equal(o.cpus_per_ring, 0);
	assert_parses(&o, "--cpus-per-ring", "2", "--ring", "ringbuf");
	assert_int_equal(o.cpus_per_ring, 2);
	assert_parses(&o, "--cpus-per-ring=0");
	assert_int_equal(o.cpus_per_ring, UINT32_MAX);
	assert_int_equal(o.ring_kind, 0);
	assert_parses(&o, "--cpus-per-ring", "1", "--ring", "array");
}

static void test_lists(void **state)
{
	struct options o;

	(void)state;
	assert_parses(&o, "-r", "a", "-rb", "--read=-", "-U", "sshd");
	assert_int_equal(o.read.n, 3);
	assert_string_equal(o.read.v[0], "a");
	assert_string_equal(o.read.v[1], "b");
	assert_string_equal(o.read.v[2], "-");
	assert_null(o.read.v[3]);
	assert_int_equal(o.suppress.n, 1);
	options_fini(&o);
}

static void test_selection(void **state)
{
	struct options o;

	(void)state;
	assert_parses(&o, "--syscalls", "openat,read,signaldeliver", "--pid=1,42", "--tree");
	assert_true(o.syscalls.given && o.tree);
	assert_true(o.syscalls.set.bits[0][0] & 1); /* read */
	assert_false(o.syscalls.set.bits[0][0] & 2); /* write */
	assert_true(o.syscalls.set.events[EVT_SIGNALDELIVER_E / 64] >> EVT_SIGNALDELIVER_E % 64 &
		    1);
	assert_int_equal(o.pids.n, 2);
	assert_int_equal(o.pids.v[1], 42);
	options_fini(&o);
	assert_parses(&o, "--syscalls=-read", "--syscalls", "!write", "--uid", "root,7");
	assert_int_equal(o.syscalls.set.bits[0][0], ~3ull);
	assert_int_equal(o.uids.v[0], 0);
	assert_int_equal(o.uids.v[1], 7);
	options_fini(&o);
	assert_parses(&o, "--comm", "a,b c", "--comm", "d", "--cgroup", "/x", "--failed-only");
	assert_int_equal(o.comms.n, 3);
	assert_string_equal(o.comms.v[1], "b c");
	assert_string_equal(o.cgroups.v[0], "/x");
	assert_true(o.failed_only);
	options_fini(&o);
	assert_parses(&o, "--syscalls", "switch");
	assert_true(o.switches && !o.page_faults);
	options_fini(&o);
	assert_parses(&o, "--syscalls=-page_fault,-switch");
	assert_false(o.switches || o.page_faults);
	options_fini(&o);
	assert_parses(&o, "--page-faults", "--syscalls", "read");
	assert_true(o.syscalls.set.events[EVT_PAGE_FAULT_E / 64] >> EVT_PAGE_FAULT_E % 64 & 1);
	options_fini(&o);
	assert_parses(&o, "--syscalls", "tcp_reset");
	assert_true(o.tcp);
	assert_false(o.syscalls.set.events[EVT_INDEX(EVT_TCP_RTT_E) / 64] >>
			     EVT_INDEX(EVT_TCP_RTT_E) % 64 &
		     1);
	options_fini(&o);
	assert_parses(&o, "--tcp", "--syscalls", "read");
	assert_true(o.syscalls.set.events[EVT_INDEX(EVT_TCP_RTT_E) / 64] >>
			    EVT_INDEX(EVT_TCP_RTT_E) % 64 &
		    1);
	options_fini(&o);
	assert_refused("--syscalls", "opnat");
	assert_refused("--syscalls", "read,");
	assert_refused("--syscalls", "");
	assert_refused("--pid", "0");
	assert_refused("--pid", "-1");
	assert_refused("--pid", "1,x");
	assert_refused("--pid", "4194305");
	assert_refused("--uid", "no-such-user");
	assert_refused("--comm", "");
	assert_refused("--comm", "ls,longer-than-15-b");
	assert_refused("-U", "longer-than-15-b");
	assert_refused("--cgroup", "");
	assert_refused("-U", "");
	assert_refused("--tree");
	assert_refused("-r", "f", "--pid", "1");
	assert_refused("--pid", "1", "--", "ls");
}

static void test_redact(void **state)
{
	struct options o;

	(void)state;
	assert_parses(&o, "--redact", "buffers,env", "--redact=/a,b/", "--redact", "/[/]/");
	assert_int_equal(scap_redact_kinds(o.redact), SCAP_REDACT_BUFFERS | SCAP_REDACT_ENV);
	options_fini(&o);
	assert_parses(&o, "profile", "--redact", "args");
	assert_int_equal(scap_redact_kinds(o.redact), SCAP_REDACT_ARGS);
	options_fini(&o);
	assert_refused("--redact", "bufers");
	assert_refused("--redact", "");
	assert_refused("--redact", "env,");
	assert_refused("--redact", "/a");
	assert_refused("--redact", "/");
	assert_refused("--redact", "//");
	assert_refused("--redact", "/(/");
}

static void test_command(void **state)
{
	struct options o;

	(void)state;
	assert_parses(&o, "-q", "--", "ls", "-l", "--", "x");
	assert_string_equal(o.command[0], "ls");
	assert_string_equal(o.command[1], "-l");
	assert_string_equal(o.command[2], "--");
	assert_string_equal(o.command[3], "x");
	assert_null(o.command[4]);
}

/* saker why is saker -c why, with all of its options. */
static void test_why(void **state)
{
	struct options o;

	(void)state;
	assert_parses(&o, "why", "top=3", "-r", "f", "request.latency>1s");
	assert_int_equal(o.chisels.n, 1);
	assert_string_equal(o.chisels.v[0].name, "why");
	assert_int_equal(o.chisels.v[0].n_words, 0);
	assert_int_equal(o.words.n, 2);
	assert_int_equal(o.read.n, 1);
	options_fini(&o);
	assert_parses(&o, "-q", "why");
	assert_int_equal(o.chisels.n, 0);
	options_fini(&o);
}

static void test_filter(void **state)
{
	struct options o;

	(void)state;
	assert_parses(&o, "proc.name=cat", "and", "-q", "evt.type", "=", "open", "--list", "x=a,b",
		      "--macro=m=fd.num=3", "--", "ls");
	assert_string_equal(o.filter, "proc.name=cat and evt.type = open");
	assert_string_equal(o.lists.v[0].name, "x");
	assert_string_equal(o.lists.v[0].text, "a,b");
	assert_string_equal(o.macros.v[0].name, "m");
	assert_string_equal(o.macros.v[0].text, "fd.num=3");
	options_fini(&o);
	assert_parses(&o, "-q");
	assert_null(o.filter);
}

static void test_bad_arguments(void **state)
{
	(void)state;
	assert_refused("--nope");
	assert_refused("-Z");
	assert_refused("- ");
	assert_refused("/dev/null");
	assert_refused("--macro", "x");
	assert_refused("--macro", "=x");
	assert_refused("--macro", "a b=x");
	assert_refused("--macro", "and=x");
	assert_refused("--macro", "x=y", "--macro", "x=z");
	assert_refused("--list", "9=y");
	assert_refused("-r");
	assert_refused("-r", "");
	assert_refused("-q=1");
	assert_refused("--quiet=1");
	assert_refused("-n", "0");
	assert_refused("-n", "-1");
	assert_refused("-n", "1x");
	assert_refused("-n", "99999999999999999999");
	assert_refused("-n", "");
	assert_refused("-M", "0");
	assert_refused("-M", "nan");
	assert_refused("-M", "1e300");
	assert_refused("-s", "0");
	assert_refused("-s", "65001");
	assert_refused("--snaplen-port", "0");
	assert_refused("--snaplen-port", "65536");
	assert_refused("--snaplen-port", "90-80");
	assert_refused("--snaplen-port", "80:65001");
	assert_refused("--snaplen-port", "80:");
	assert_refused("--snaplen-port", "80:9-90");
	assert_refused("-t", "x");
	assert_refused("-t", "hh");
	assert_refused("--ring", "tape");
	assert_refused("--ring-size", "3M");
	assert_refused("--cpus-per-ring", "-1");
	assert_refused("--cpus-per-ring", "1025");
	assert_refused("--ring-size", "128K");
	assert_refused("--ring-size", "8MB");
	assert_refused("--ring-size", "18014398509481984K");
}

static void test_contradictions(void **state)
{
	(void)state;
	assert_refused("--");
	assert_refused("-r", "f", "--", "ls");
	assert_refused("--all");
	assert_refused("--verify");
	assert_refused("--markdown");
	assert_refused("--explain-filter");
	assert_refused("-L", "proc.name=cat");
	assert_refused("-r", "f", "--verify", "proc.name=cat");
	assert_refused("--cpus-per-ring", "2", "--ring", "array");
	assert_refused("--ring=perf", "--cpus-per-ring", "0");
	assert_refused("-z");
	assert_refused("-z", "--zstd", "-w", "f");
	assert_refused("--zstd", "-w", "f", "--compress");
	assert_refused("-w", "-", "--print");
	assert_refused("-P");
	assert_refused("-r", "f", "--page-faults");
	assert_refused("-r", "f", "--tcp");
	assert_refused("-r", "f", "--ring", "array");
	assert_refused("-r", "f", "--container-socket", "none");
	assert_refused("-r", "f", "-w", "g", "-s", "20");
	assert_refused("--failed-only", "--switches");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_complete),
		cmocka_unit_test(test_help_fits_a_terminal),
		cmocka_unit_test(test_help_names_every_option),
		cmocka_unit_test(test_letters_and_names),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_redact),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_contradictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
