// SPDX-License-Identifier: Apache-2.0
/* A page that is not in RAM is not read: bringing it in may involve a file system or a userfaultfd
 * of the watched process, and never end. */
#include "procfs/remote_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "clock.h"

#define PAGE_SZ 4096u
#define WAIT_NS 500000000ull /* no page in RAM takes so long, whatever the load */
#define LEFT_MAX 8 /* threads that are left behind */
#define PAGE_PRESENT (1ull << 63)

static int is_present(struct remote_memory *m, uint64_t addr)
{
	uint64_t entry;
	char path[32];

	if (m->pagemap < 0) {
		snprintf(path, sizeof(path), "/proc/%d/pagemap", m->pid);
		m->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	}
	return m->pagemap >= 0 &&
	       pread(m->pagemap, &entry, sizeof(entry), (off_t)(addr / PAGE_SZ * sizeof(entry))) ==
		       (ssize_t)sizeof(entry) &&
	       entry & PAGE_PRESENT;
}

size_t remote_memory_read(struct remote_memory *m, void *buf, uint64_t addr, size_t len)
{
	size_t done = 0;

	while (done < len) {
		const uint64_t at = addr + done;
		const size_t in_page = PAGE_SZ - at % PAGE_SZ,
			     n = len - done < in_page ? len - done : in_page;
		const struct iovec to = {(char *)buf + done, n}, from = {(void *)(uintptr_t)at, n};

		if (at < addr || !is_present(m, at) ||
		    process_vm_readv(m->pid, &to, 1, &from, 1, 0) != (ssize_t)n)
			break;
		done += n;
	}
	return done;
}

void remote_memory_of(struct remote_memory *m, int pid)
{
	if (m->pid == pid)
		return;
	if (m->pagemap >= 0)
		close(m->pagemap);
	*m = (struct remote_memory){.pid = pid, .pagemap = -1};
}

void remote_memory_close(struct remote_memory *m)
{
	remote_memory_of(m, 0);
}

/* ---- with a deadline ---- */

enum job_state { JOB_RUNS, JOB_DONE, JOB_LEFT };

/* The caller's, but one that it left behind, which the thread frees. */
struct job {
	_Atomic enum job_state state;
	int pid;
	uint64_t addr;
	size_t len, got;
	uint8_t bytes[];
};

static atomic_int n_left;

static void *run(void *arg)
{
	struct job *j = arg;
	struct remote_memory m = {.pid = j->pid, .pagemap = -1};

	j->got = remote_memory_read(&m, j->bytes, j->addr, j->len);
	remote_memory_close(&m);
	if (atomic_exchange(&j->state, JOB_DONE) == JOB_LEFT) {
		atomic_fetch_sub(&n_left, 1);
		free(j);
	}
	return NULL;
}

/* Returns whether the job was done in time. */
static int wait_for(struct job *j, pthread_t thread)
{
	const struct timespec until = clock_deadline(WAIT_NS);
	enum job_state state = JOB_RUNS;

	if (!pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until))
		return 1;
	atomic_fetch_add(&n_left, 1);
	if (atomic_compare_exchange_strong(&j->state, &state, JOB_LEFT)) {
		pthread_detach(thread);
		return 0;
	}
	atomic_fetch_sub(&n_left, 1); /* it was done at the last moment */
	pthread_join(thread, NULL);
	return 1;
}

/* Signals are for the main thread. */
static int start(pthread_t *thread, struct job *j)
{
	sigset_t all, was;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(thread, NULL, run, j);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return err;
}

size_t remote_memory_read_within(int pid, void *buf, uint64_t addr, size_t len)
{
	struct job *j = atomic_load(&n_left) < LEFT_MAX ? malloc(sizeof(*j) + len) : NULL;
	pthread_t thread;
	size_t got;

	if (!j)
		return 0;
	*j = (struct job){.pid = pid, .addr = addr, .len = len};
	if (start(&thread, j)) {
		free(j);
		return 0;
	}
	if (!wait_for(j, thread))
		return 0;
	got = j->got;
	memcpy(buf, j->bytes, got);
	free(j);
	return got;
}
