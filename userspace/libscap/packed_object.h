/* SPDX-License-Identifier: Apache-2.0 */
/* The object files of BPF programs, which saker has in itself packed. */
#ifndef SCAP_PACKED_OBJECT_H
#define SCAP_PACKED_OBJECT_H

#include <stddef.h>

struct bpf_object_skeleton;
struct bpf_object_open_opts;

struct packed_object {
	const unsigned char *p; /* one frame of zstd */
	size_t n, unpacked_n;
};

/* Works as bpf_object__open_skeleton, for a skeleton that NAME__create_skeleton has made. Returns 0
 * or a negative errno. */
int packed_object_open(struct bpf_object_skeleton *s, const struct packed_object *object,
		       const struct bpf_object_open_opts *opts);

/* Opens the packed object @name. A macro, since each skeleton has types of its own. Returns the
 * skeleton, to be freed by NAME__destroy; or NULL with errno. */
#define PACKED_OBJECT_OPEN(name, opts)                                                             \
	({                                                                                         \
		extern const struct packed_object name##_object;                                   \
		struct name *skel_ = calloc(1, sizeof(*skel_));                                    \
		int err_ = skel_ ? name##__create_skeleton(skel_) : -ENOMEM;                       \
                                                                                                   \
		if (!err_)                                                                         \
			err_ = packed_object_open(skel_->skeleton, &name##_object, opts);          \
		if (err_) {                                                                        \
			name##__destroy(skel_);                                                    \
			skel_ = NULL;                                                              \
			errno = -err_;                                                             \
		}                                                                                  \
		skel_;                                                                             \
	})

#endif /* SCAP_PACKED_OBJECT_H */
