// SPDX-License-Identifier: Apache-2.0
/* A page that is not in RAM is not read: bringing it in may involve a file system or a userfaultfd
 * of the watched process, and never end. */
#include "procfs/remote_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "clock.h"
#include "thread_start.h"

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

/* Of the caller and of the thread: the last of them frees it. */
struct job {
	atomic_int n_refs;
	int pid;
	uint64_t addr;
	size_t len, got;
	uint8_t bytes[];
};

static atomic_int n_left;

/* Returns whether it was the last one. */
static int put(struct job *j)
{
	if (atomic_fetch_sub(&j->n_refs, 1) != 1)
		return 0;
	free(j);
	return 1;
}

static void *run(void *arg)
{
	struct job *j = arg;
	struct remote_memory m = {.pid = j->pid, .pagemap = -1};

	j->got = remote_memory_read(&m, j->bytes, j->addr, j->len);
	remote_memory_close(&m);
	if (put(j)) /* the caller has left */
		atomic_fetch_sub(&n_left, 1);
	return NULL;
}

/* Returns the number of bytes that were read in time. */
static size_t wait_for(struct job *j, pthread_t thread, void *buf)
{
	const struct timespec until = clock_deadline(WAIT_NS);
	size_t got;

	if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until)) {
		pthread_detach(thread);
		atomic_fetch_add(&n_left, 1);
		if (put(j)) /* it was done at the last moment */
			atomic_fetch_sub(&n_left, 1);
		return 0;
	}
	got = j->got;
	memcpy(buf, j->bytes, got);
	put(j);
	return got;
}

size_t remote_memory_read_within(int pid, void *buf, uint64_t addr, size_t len)
{
	struct job *j = atomic_load(&n_left) < LEFT_MAX ? malloc(sizeof(*j) + len) : NULL;
	pthread_t thread;

	if (!j)
		return 0;
	*j = (struct job){.n_refs = 2, .pid = pid, .addr = addr, .len = len};
	if (thread_start(&thread, run, j)) {
		free(j);
		return 0;
	}
	return wait_for(j, thread, buf);
}
