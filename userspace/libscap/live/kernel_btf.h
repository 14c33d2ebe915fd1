/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduces the running kernel's BTF to the types that the driver needs. libbpf looks up each type of
 * the driver among all hundred thousand of the kernel; with this subset it takes a tenth of the
 * time.
 */
#ifndef SCAP_LIVE_KERNEL_BTF_H
#define SCAP_LIVE_KERNEL_BTF_H

#include <linux/types.h>

struct btf;
struct kernel_btf;

/* Reads /sys/kernel/btf/vmlinux. Returns 0 or a negative errno. */
int kernel_btf_new(struct kernel_btf **out);
/* The same of another file. */
int kernel_btf_read(struct kernel_btf **out, const char *path);
void kernel_btf_free(struct kernel_btf *k);

/* Returns the number of the type of this kind (BTF_KIND_*) and name, or -ENOENT. */
int kernel_btf_id(const struct kernel_btf *k, unsigned int kind, const char *name);

/* Returns the number of arguments of the tracepoint @name, including its own data, or -ENOENT. */
int kernel_btf_hook_args(const struct kernel_btf *k, const char *name);

/* Calls @fn for each value of the enum @name; not at all if there is none. */
void kernel_btf_each_enum(const struct kernel_btf *k, const char *name,
			  void (*fn)(void *ctx, const char *value_name, __u32 value), void *ctx);

/* Writes the types named by @wanted to @fd as a BTF file, with the types that they contain by
 * value. Types behind pointers are left out. A suffix ___x of a name is ignored, as in CO-RE. */
int kernel_btf_extract(const struct kernel_btf *k, const struct btf *wanted, int fd);

#endif /* SCAP_LIVE_KERNEL_BTF_H */
