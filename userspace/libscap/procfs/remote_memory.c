// SPDX-License-Identifier: Apache-2.0
/* A page that is not in RAM is not read: bringing it in may involve a file system or a userfaultfd
 * of the watched process, and never end. */
#include "procfs/remote_memory.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "thread_within.h"

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

struct job {
	int pid;
	uint64_t addr;
	size_t len, got;
	uint8_t bytes[];
};

static atomic_int n_left;

static void read_job(void *arg)
{
	struct job *j = arg;
	struct remote_memory m = {.pid = j->pid, .pagemap = -1};

	j->got = remote_memory_read(&m, j->bytes, j->addr, j->len);
	remote_memory_close(&m);
}

static void end_left(void *arg)
{
	free(arg);
	atomic_fetch_sub(&n_left, 1);
}

size_t remote_memory_read_within(int pid, void *buf, uint64_t addr, size_t len)
{
	struct job *j = atomic_load(&n_left) < LEFT_MAX ? malloc(sizeof(*j) + len) : NULL;
	size_t got = 0;
	int done;

	if (!j)
		return 0;
	*j = (struct job){.pid = pid, .addr = addr, .len = len};
	done = thread_run_within(read_job, end_left, j, WAIT_NS);
	if (!done) { /* the thread has the job */
		atomic_fetch_add(&n_left, 1);
		return 0;
	}
	if (done > 0) {
		got = j->got;
		memcpy(buf, j->bytes, got);
	}
	free(j);
	return got;
}
