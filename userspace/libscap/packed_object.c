// SPDX-License-Identifier: Apache-2.0
#include "packed_object.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/libbpf.h>
#include <zstd.h>

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
	s->data = p;
	s->data_sz = n;
	err = bpf_object__open_skeleton(s, opts);
	/* libbpf has copied what it needs. */
	s->data = NULL;
	s->data_sz = 0;
	free(p);
	return err;
}
