// SPDX-License-Identifier: Apache-2.0
#include "procfs/task_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK_ROWS 1024

static int by_process(const void *a, const void *b)
{
	const struct task_row *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int grow(struct task_rows *r, size_t *cap)
{
	size_t n = *cap ? *cap * 2 : CHUNK_ROWS;
	void *v = realloc(r->v, n * sizeof(*r->v));

	if (!v)
		return -ENOMEM;
	r->v = v;
	*cap = n;
	return 0;
}

/* The kernel splits its answers between rows. */
static int read_all(struct task_rows *r, int fd)
{
	size_t cap = 0;
	ssize_t got;

	do {
		if (cap - r->n < CHUNK_ROWS && grow(r, &cap))
			return -ENOMEM;
		got = read(fd, r->v + r->n, (cap - r->n) * sizeof(*r->v));
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (got > 0 && got % sizeof(*r->v))
			return -EPROTO;
		r->n += got > 0 ? got / sizeof(*r->v) : 0;
	} while (got);
	return 0;
}

int task_rows_read(struct task_rows *r, int fd)
{
	int err = read_all(r, fd);

	if (err)
		task_rows_fini(r);
	else
		qsort(r->v, r->n, sizeof(*r->v), by_process);
	return err;
}

void task_rows_fini(struct task_rows *r)
{
	free(r->v);
	*r = (struct task_rows){0};
}

static size_t first_of(const struct task_rows *r, u32 pid)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->v[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t task_rows_of(const struct task_rows *r, const struct task_row **first, u32 pid)
{
	size_t at = first_of(r, pid), end = at;

	while (end < r->n && r->v[end].pid == pid)
		end++;
	*first = r->n ? r->v + at : NULL;
	return end - at;
}

const struct task_row *task_rows_main(const struct task_rows *r, u32 pid)
{
	const struct task_row *row;

	for (size_t n = task_rows_of(r, &row, pid); n; n--, row++)
		if (row->tid == pid)
			return row;
	return NULL;
}
