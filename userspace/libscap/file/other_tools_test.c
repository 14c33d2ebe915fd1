/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other people's captures and other people's tools: each capture is read as completely as tshark
 * reads it, and sysdig prints the same of it after it went through reader and writer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file/file_testing.h"
#include "testing/captures_testing.h"
#include "testing/test_main.h"

#define SKIP 77

static glob_t captures;
static int have_sysdig, have_tshark;

__attribute__((format(printf, 1, 2))) static FILE *run(const char *fmt, ...)
{
	char command[512];
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	f = popen(command, "r");
	assert_non_null(f);
	return f;
}

static size_t count_lines(const char *fmt, const char *path)
{
	char command[256];
	size_t n = 0;
	FILE *f;
	int c;

	snprintf(command, sizeof(command), fmt, path);
	f = run("%s", command);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	assert_int_equal(pclose(f), 0);
	return n;
}

static void copy(const char *from, const char *to, enum scap_compress compress, size_t *n_events)
{
	const char *paths[] = {from, NULL};
	struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths, .log = hear};
	struct scap_writer_opts wopts = {.sz = sizeof(wopts), .compress = compress, .log = hear};
	struct scap_stats st = {0};
	struct scap_writer *w;
	struct scap_evt evt;
	struct scap *s;
	int ret;

	*n_events = 0;
	assert_int_equal(scap_open(&s, &opts), 0);
	assert_int_equal(scap_writer_open(&w, to, scap_state(s), &wopts), 0);
	while ((ret = scap_next(s, &evt, -1)) == 1) {
		assert_int_equal(scap_writer_put(w, &evt), 0);
		++*n_events;
	}
	assert_int_equal(ret, -ENODATA);
	st.n_events = *n_events;
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
	scap_close(s);
}

/* Line by line what sysdig prints, errors included. */
static void assert_sysdig_same(const char *a, const char *b)
{
	char line_a[8192], line_b[8192];
	FILE *fa = run("TZ=UTC sysdig -r '%s' 2>&1", a), *fb = run("TZ=UTC sysdig -r '%s' 2>&1", b);
	char *got_a, *got_b;

	do {
		got_a = fgets(line_a, sizeof(line_a), fa);
		got_b = fgets(line_b, sizeof(line_b), fb);
		assert_int_equal(!got_a, !got_b);
		if (got_a)
			assert_string_equal(line_a, line_b);
	} while (got_a);
	assert_int_equal(pclose(fa), 0);
	assert_int_equal(pclose(fb), 0);
}

static void test_read_as_tshark(void **state)
{
	(void)state;
	if (!have_tshark)
		skip();
	for (size_t i = 0; i < captures.gl_pathc; i++) {
		size_t n;

		copy(captures.gl_pathv[i], path_of("copy"), SCAP_COMPRESS_NONE, &n);
		assert_true(n > 100);
		assert_int_equal(n,
				 count_lines("tshark -r '%s' 2>/dev/null", captures.gl_pathv[i]));
		/* saker's own blocks and options do not disturb it. */
		assert_int_equal(n, count_lines("tshark -r '%s' 2>/dev/null", path_of("copy")));
	}
}

static void test_written_for_sysdig(void **state)
{
	(void)state;
	if (!have_sysdig)
		skip();
	for (size_t i = 0; i < captures.gl_pathc; i++) {
		for (int c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_GZIP; c++) {
			size_t n;

			copy(captures.gl_pathv[i], path_of("copy"), c, &n);
			assert_sysdig_same(captures.gl_pathv[i], path_of("copy"));
		}
	}
}

/* More threads than one block holds, every type of descriptor, every kind of saker's own blocks and
 * options: sysdig reads each thread and file, and tshark each event. */
static void write_all_kinds(const char *path, unsigned int n)
{
	struct scap_writer_opts opts = {.sz = sizeof(opts), .provenance = "a=b\n", .log = hear};
	struct scap_state_build *b = scap_state_build_new();
	const struct scap_stats st = {.n_events = n};
	static struct list l;
	const uint32_t lens[] = {8};
	struct scap_writer *w;

	for (unsigned int i = 1; i <= n; i++) {
		struct scap_thread_info t = {.tid = i, .pid = i, .comm = "thread", .start_ns = T0};
		struct scap_fd_info fd = {.fd = i, .type = i % SCAP_FD_MAX, .name = "/file"};
		struct ppm_evt_hdr *hdr;

		assert_int_equal(scap_state_build_thread(b, &t), 0);
		assert_int_equal(scap_state_build_fd(b, i, &fd), 0);
		hdr = (struct ppm_evt_hdr *)put_event(&l, EVT_CLOSE_E, 1, lens)->hdr;
		hdr->tid = i;
		memcpy((char *)(hdr + 1) + 2, &fd.fd, 8);
		l.v[l.n - 1].flags = i % 4;
	}
	assert_int_equal(scap_writer_open(&w, path, scap_state_build_done(b), &opts), 0);
	for (size_t i = 0; i < l.n; i++)
		assert_int_equal(scap_writer_put(w, &l.v[i]), 0);
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
	scap_state_build_free(b);
	list_fini(&l);
}

static void test_all_kinds(void **state)
{
	const unsigned int n = 600;
	char line[256], name[64];
	unsigned int tid, i = 0;
	FILE *f;

	(void)state;
	if (!have_sysdig || !have_tshark)
		skip();
	write_all_kinds(path_of("kinds"), n);
	assert_int_equal(count_lines("tshark -r '%s' 2>/dev/null", path_of("kinds")), n);
	f = run("sysdig -r '%s' -p '%%thread.tid %%proc.name %%fd.name' 2>&1", path_of("kinds"));
	while (fgets(line, sizeof(line), f)) {
		i++;
		assert_int_equal(sscanf(line, "%u thread %63s", &tid, name), 2);
		assert_int_equal(tid, i);
		/* Names of internet sockets follow from their addresses. */
		if (i % SCAP_FD_MAX < SCAP_FD_IPV4_SOCK || i % SCAP_FD_MAX > SCAP_FD_IPV6_SERVSOCK)
			assert_string_equal(name, "/file");
	}
	assert_int_equal(pclose(f), 0);
	assert_int_equal(i, n);
}

/* A copy of a copy is the copy: nothing is lost, nothing grows. */
static void test_copy_is_stable(void **state)
{
	(void)state;
	for (size_t i = 0; i < captures.gl_pathc; i++) {
		struct bytes a = {0}, b = {0};
		size_t n;

		copy(captures.gl_pathv[i], path_of("copy"), SCAP_COMPRESS_NONE, &n);
		copy(path_of("copy"), path_of("again"), SCAP_COMPRESS_NONE, &n);
		load(&a, path_of("copy"));
		load(&b, path_of("again"));
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.p, b.p, a.n);
		free(a.p);
		free(b.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_as_tshark),
		cmocka_unit_test(test_written_for_sysdig),
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_copy_is_stable),
	};
	int ret;

	if (!find_captures(&captures))
		return SKIP;
	have_sysdig = system("command -v sysdig >/dev/null") == 0;
	have_tshark = system("command -v tshark >/dev/null") == 0;
	if (!have_sysdig || !have_tshark)
		printf("sysdig or tshark is not installed (scripts/setup --tests): what needs it "
		       "is "
		       "skipped\n");
	ret = cmocka_run_group_tests(tests, make_dir, remove_dir);
	globfree(&captures);
	return ret;
}
