/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running kernel's types, as far as the driver needs them. libbpf looks for each of the
 * driver's types among all of the kernel's, a hundred thousand; given those that matter
 * alone it takes a tenth of the time.
 */
#ifndef SCAP_LIVE_KERNEL_BTF_H
#define SCAP_LIVE_KERNEL_BTF_H

#include <linux/types.h>

struct btf;
struct kernel_btf;

/* Reads /sys/kernel/btf/vmlinux. 0 or a negative errno. */
int kernel_btf_new(struct kernel_btf **out);
void kernel_btf_free(struct kernel_btf *k);

/* The number of the type of this kind (BTF_KIND_*) and name, or -ENOENT. */
int kernel_btf_id(const struct kernel_btf *k, unsigned int kind, const char *name);

/* Arguments of the tracepoint @name, its own data among them, or -ENOENT. */
int kernel_btf_hook_args(const struct kernel_btf *k, const char *name);

/*
 * Writes to @fd, as a BTF file, the types that @wanted names, with what they hold in place. What
 * they only point to is left out. A name's suffix ___x is ignored, as in CO-RE.
 */
int kernel_btf_extract(const struct kernel_btf *k, const struct btf *wanted, int fd);

#endif /* SCAP_LIVE_KERNEL_BTF_H */
