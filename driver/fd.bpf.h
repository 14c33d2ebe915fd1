/* SPDX-License-Identifier: GPL-2.0 */
/* From a descriptor of the current task to its file. */
#ifndef DRIVER_FD_BPF_H
#define DRIVER_FD_BPF_H

#include "writer.bpf.h"
#include <bpf/bpf_core_read.h>

#include "shared/convert.h"

#define S_IFMT 0170000
#define S_IFSOCK 0140000

/*
 * The address of the open file of @fd; 0: none. The way to the table is made of typed pointers,
 * whose loads cost less than a helper when they run, and most of a millisecond each to verify,
 * as the kernel searches its types by name: hence a function, which is verified once.
 */
__noinline u64 fd_file_addr(s32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct files_struct *files = task->files;
	struct file **table;
	struct fdtable *fdt;
	u64 addr = 0;

	if (!files)
		return 0;
	fdt = files->fdt;
	if (!fdt || (u32)fd >= fdt->max_fds)
		return 0;
	table = fdt->fd;
	bpf_probe_read_kernel(&addr, sizeof(addr), table + (u32)fd);
	return addr;
}

/* The open file of @fd; NULL: none. */
static __always_inline struct file *fd_file(s32 fd)
{
	return (struct file *)fd_file_addr(fd);
}

/* A device number as stat(2) has it, of the kernel's own coding. */
static __always_inline u32 dev_number(u32 kdev)
{
	u32 major = kdev >> 20, minor = kdev & 0xfffff;

	return (minor & 0xff) | major << 8 | (minor & ~0xffu) << 12;
}

struct file_id {
	u32 dev;
	u64 ino;
	bool created;
};

#define NEAR_SZ 48 /* how far apart two fields may be and yet be read at once */

/* *@a and *@b, of 4 or 8 bytes, are what lies @at_a and @at_b behind @p. Constants when the
 * program is loaded, so of the two ways the kernel keeps one. */
static __always_inline void read_two(const void *p, u32 at_a, void *a, u32 a_sz, u32 at_b, void *b,
				     u32 b_sz)
{
	u32 from = at_a < at_b ? at_a : at_b, to = at_a < at_b ? at_b : at_a;
	u8 near[NEAR_SZ] __attribute__((aligned(8)));

	if (to - from + sizeof(u64) > NEAR_SZ) {
		bpf_probe_read_kernel(a, a_sz, p + at_a);
		bpf_probe_read_kernel(b, b_sz, p + at_b);
		return;
	}
	bpf_probe_read_kernel(near, NEAR_SZ, p + from);
	__builtin_memcpy(a, near + (at_a - from), a_sz);
	__builtin_memcpy(b, near + (at_b - from), b_sz);
}

#define READ_TWO(p, a, to_a, b, to_b)                                                              \
	read_two(p, bpf_core_field_offset((p)->a), to_a, sizeof(*(to_a)),                          \
		 bpf_core_field_offset((p)->b), to_b, sizeof(*(to_b)))

static __always_inline struct file_id file_id_of(struct file *file)
{
	struct super_block *sb = NULL;
	struct inode *inode = NULL;
	struct file_id id = {};
	u32 mode = 0;

	READ_TWO(file, f_inode, &inode, f_mode, &mode);
	if (!inode)
		return id;
	READ_TWO(inode, i_sb, &sb, i_ino, &id.ino);
	id.dev = dev_number(BPF_CORE_READ(sb, s_dev));
	id.created = mode & FMODE_CREATED;
	return id;
}

static __always_inline u64 fd_ino(s32 fd)
{
	struct file *file = fd_file(fd);

	return file ? BPF_CORE_READ(file, f_inode, i_ino) : 0;
}

/* The socket behind @fd; NULL: it is none. */
static __always_inline struct sock *fd_sock(s32 fd)
{
	struct file *file = fd_file(fd);
	struct socket *socket;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

#endif /* DRIVER_FD_BPF_H */
