/* SPDX-License-Identifier: Apache-2.0 */
/* A scan, and what is in it: for the tests of the initial state. */
#ifndef SCAP_PROCFS_PROC_SCAN_TEST_H
#define SCAP_PROCFS_PROC_SCAN_TEST_H

#include <time.h>

#include "procfs/proc_scan.h"
#include "testing/test_main.h"

#define NS_PER_S 1000000000ll

/* One scan, kept for the duration of a test. */
struct scanned {
	struct scap_state_build *b;
	const struct scap_state *st;
};

static inline int64_t epoch_offset(void)
{
	struct timespec real, boot;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (real.tv_sec - boot.tv_sec) * NS_PER_S + real.tv_nsec - boot.tv_nsec;
}

static inline struct scanned scan_at(const char *proc, uint32_t skip_pid)
{
	struct scap_scan_opts o = {.sz = sizeof(o),
				   .proc = proc,
				   .skip_pid = skip_pid,
				   .epoch_offset_ns = epoch_offset()};
	struct scanned s = {.b = scap_state_build_new()};

	assert_non_null(s.b);
	assert_int_equal(scap_scan_machine(s.b, NULL, &o), 0);
	s.st = scap_state_build_done(s.b);
	return s;
}

static inline struct scanned scan_only(const char *proc, uint64_t tid)
{
	struct scap_scan_opts o = {
		.sz = sizeof(o), .proc = proc, .epoch_offset_ns = epoch_offset()};
	struct scanned s = {.b = scap_state_build_new()};

	assert_int_equal(scap_scan_thread(s.b, tid, &o), 0);
	s.st = scap_state_build_done(s.b);
	return s;
}

static inline const struct scap_thread_info *thread_in(const struct scanned *s, uint64_t tid)
{
	for (size_t i = 0; i < s->st->n_threads; i++)
		if (s->st->threads[i].tid == tid)
			return &s->st->threads[i];
	return NULL;
}

static inline const struct scap_fd_info *file(const struct scanned *s, uint64_t tid, int fd)
{
	const struct scap_thread_info *t = thread_in(s, tid);

	for (size_t i = 0; t && i < t->n_fds; i++)
		if (t->fds[i].fd == fd)
			return &t->fds[i];
	fail_msg("file %d of thread %llu is not there", fd, (unsigned long long)tid);
	return NULL;
}

#endif /* SCAP_PROCFS_PROC_SCAN_TEST_H */
