// SPDX-License-Identifier: Apache-2.0
#include "packed_object.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <zstd.h>

/* Unmaps the packed bytes, whose pages have nothing else in them: they are not read again soon, and
 * are there again if they are. */
static void drop(const struct packed_object *object)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)object->p;
	const uintptr_t from = (begin + page - 1) & -page, to = (begin + object->n) & -page;

	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

int packed_object_open(struct bpf_object_skeleton *s, const struct packed_object *object,
		       const struct bpf_object_open_opts *opts)
{
	void *p = malloc(object->unpacked_n);
	size_t n = p ? ZSTD_decompress(p, object->unpacked_n, object->p, object->n) : 0;
	int err;

	if (n != object->unpacked_n) { /* the packed bytes are ours: only memory can be missing */
		free(p);
		return -ENOMEM;
	}
	drop(object);
	s->data = p;
	s->data_sz = n;
	err = bpf_object__open_skeleton(s, opts);
	/* libbpf has copied what it needs. */
	s->data = NULL;
	s->data_sz = 0;
	free(p);
	return err;
}
