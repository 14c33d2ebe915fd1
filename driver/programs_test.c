/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of the driver one by one: a capture without each optional program, the message if a
 * required one is refused, and the verifier's work for each. Needs root and BTF.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "driver_test.h"
#include "shared/events.h"

static char said[4096], errors[4096]; /* all messages, errors alone */

static void add(char to[4096], const char *text)
{
	const size_t n = strlen(to);

	snprintf(to + n, 4096 - n, "%s\n", text);
}

static void hear(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	add(said, text);
	if (level == SCAP_LOG_ERROR)
		add(errors, text);
}

static const struct scap_log hearing = {.fn = hear};

/* The filler of each call. */
static const struct {
	const char *filler, *call;
	unsigned int nr;
} served[] = {
#define SYS(nr, name, event, filler, ...) {"fill_" #filler, #name, nr},
#include "syscalls.def"
#undef SYS
};

/* Returns the first call of the filler @row; -1: the program is not a filler. */
static int call_of(const struct program_row *row)
{
	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		if (!strcmp(served[i].filler, row->name))
			return (int)i;
	return -1;
}

static const struct scap_sampler_opts sampler = {
	.sz = sizeof(sampler), .off_cpu = 1, .frame_pointers = 1, .session = "saker-programs-test"};

/* User stacks of threads that wait at the start need unwind tables. */
static const struct scap_sampler_opts waits_sampler = {
	.sz = sizeof(waits_sampler), .off_cpu = 1, .session = "saker-programs-test"};

static const struct scap_sampler_opts *sampler_of(const struct program_row *row)
{
	if (!strncmp(row->name, "waits_", strlen("waits_")))
		return &waits_sampler;
	return strncmp(row->name, "sample_", strlen("sample_")) ? NULL : &sampler;
}

/* Captures few calls besides those for the state, as loading fillers takes long. */
static int load(struct live_driver **d, const struct program_row *row, int by_attach)
{
	const int at = call_of(row);
	struct scap_calls calls = {0};
	const struct scap_select select = {.calls = &calls};
	const struct live_opts o = {
		.sz = sizeof(o),
		.ring_sz = 16 << 20, /* read only at the end */
		.page_faults = 1,
		.switches = 1,
		.wakeups = 1,
		.tcp = 1,
		.select = &select,
		.sampler = sampler_of(row),
		.refuse_load = by_attach ? NULL : row->name,
		.refuse_attach = by_attach ? row->name : NULL,
	};
	int err;

	said[0] = errors[0] = '\0';
	assert_int_equal(scap_calls_set(&calls, "getppid", 0), 0);
	for (unsigned int type = EVT_TCP_STATE_E; type <= EVT_TCP_OVERFLOW_E; type += 2)
		calls.events[EVT_INDEX(type) / 64] |= 1ull << EVT_INDEX(type) % 64;
	assert_int_equal(scap_calls_set(&calls, at < 0 ? "recvmsg" : served[at].call, 0), 0);
	err = live_load(d, &o, &hearing);
	return err ?: live_attach(*d);
}

static void check_missing(const struct live_driver *d, const struct program_row *row)
{
	const struct program_missing *missing;
	unsigned int n = live_missing(d, &missing), found = 0;

	for (unsigned int i = 0; i < n; i++)
		found += missing[i].row == row;
	if (found != 1 || !strstr(said, row->name) || !strstr(said, row->what))
		fail_msg("%s is %u times among what is missing; said: %s", row->name, found, said);
}

/* The call that lost its filler has the generic event. */
static void check_call(const struct capture *c, pid_t pid, const struct program_row *row)
{
	const int at = call_of(row);
	const struct rec_hdr *r;
	size_t from = 0;

	if (at < 0)
		return;
	do
		r = must_find(c, &from, pid, served[at].nr);
	while (r->flags & REC_F_RAW_ENTER);
	assert_int_equal(r->evt.type, EVT_SYSCALL_X);
}

/* Checks that the calls of a child are captured. */
static void check_capture(struct live_driver *d, const struct program_row *row)
{
	const int at = call_of(row);
	struct capture c = {.d = d};
	size_t from = 0, n = 0;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
		if (at >= 0)
			syscall(served[at].nr, -1, -1, -1, -1, -1, -1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end_capture(&c);
	while (find(&c, &from, pid, SYS_getppid))
		n++;
	assert_true(n >= 100);
	check_call(&c, pid, row);
	free_capture(&c);
}

static void test_without_each_optional(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_PROGRAM_ROWS; i++) {
		const struct program_row *row = &program_rows[i];
		struct live_driver *d;

		if (row->required)
			continue;
		if (load(&d, row, 0))
			fail_msg("no capture without %s: %s", row->name, said);
		check_missing(d, row);
		check_capture(d, row);
	}
}

/* Others are called by programs, or attached later, for one process. */
static int has_hook(const struct program_row *row)
{
	return strncmp(row->name, "fill_", strlen("fill_")) &&
	       strncmp(row->name, "sample_", strlen("sample_")) && strcmp(row->name, "file_rows");
}

static void test_without_each_hook(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_PROGRAM_ROWS; i++) {
		const struct program_row *row = &program_rows[i];
		struct live_driver *d;

		if (row->required || !has_hook(row))
			continue;
		if (load(&d, row, 1))
			fail_msg("no capture without %s: %s", row->name, said);
		check_missing(d, row);
		check_capture(d, row);
	}
}

/* The message is one sentence that names the program. */
static void test_required(void **state)
{
	static const char *const names[] = {"sys_enter", "sched_switch", "fill_exec"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct program_row row = {.name = names[i]};
		struct live_driver *d;

		assert_true(load(&d, &row, 0) < 0);
		assert_non_null(strstr(errors, names[i]));
		assert_ptr_equal(strchr(errors, '\n'), errors + strlen(errors) - 1);
	}
}

/* Without TLS on kernels that refuse its uprobes: live_tls.c. */
static struct live_driver *load_most(struct live_opts o)
{
	struct live_driver *d;
	int err = live_load(&d, &o, &test_log);

	if (err == -EOPNOTSUPP && o.tls) {
		o.tls = 0;
		err = live_load(&d, &o, &test_log);
	}
	assert_int_equal(err, 0);
	return d;
}

/* Counts the programs loaded by @o for which the verifier exceeds max_insns. */
static unsigned int count_high(const struct live_opts *o)
{
	struct live_driver *d = load_most(*o);
	unsigned int n_high = 0;

	for (unsigned int i = 0; i < N_PROGRAM_ROWS; i++) {
		const struct program_row *row = &program_rows[i];
		const unsigned int n = live_program_insns(d, row);

		if (n <= row->max_insns)
			continue;
		n_high++;
		print_message("PROG(%s, %s, %u, \"%s\")\n", row->name,
			      row->required ? "REQUIRED" : "OPTIONAL", (n * 3 / 2 + 99) / 100 * 100,
			      row->what);
	}
	live_close(d);
	return n_high;
}

/* Each program is loaded by one of the two captures. */
static void test_verifier_sizes(void **state)
{
	static const char *const tracepoints[] = {"sched_wakeup", "sched_wakeup_new",
						  "sched_migrate_task", "sched_process_fork"};
	static const char *const names[] = {"some-name"};
	struct scap_sampler_opts so = sampler;
	const struct scap_select select = {.no_calls = 1, .suppress = names, .n_suppress = 1};
	const struct live_opts all = {.sz = sizeof(all),
				      .tls = 1,
				      .page_faults = 1,
				      .switches = 1,
				      .wakeups = 1,
				      .tcp = 1,
				      .sampler = &so},
			       no_calls = {.sz = sizeof(no_calls), .select = &select};
	unsigned int n_high;

	(void)state;
	so.frame_pointers = 0;
	so.page_faults = 1;
	so.period_ns = 10000000;
	so.tracepoints = tracepoints;
	so.n_tracepoints = 4;
	so.calls = 1;
	n_high = count_high(&all) + count_high(&no_calls);
	if (n_high)
		fail_msg("the verifier processes more instructions for %u programs than "
			 "programs.def "
			 "allows; if that is intended, replace its rows by those above",
			 n_high);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_each_optional),
		cmocka_unit_test(test_without_each_hook),
		cmocka_unit_test(test_required),
		cmocka_unit_test(test_verifier_sizes),
	};

	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr, "skipped: a live capture needs root and /sys/kernel/btf/vmlinux\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
