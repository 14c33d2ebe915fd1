/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the file behind a descriptor of the current task. */
#ifndef DRIVER_FD_BPF_H
#define DRIVER_FD_BPF_H

#include "untrusted.bpf.h"
#include "writer.bpf.h"
#include <bpf/bpf_core_read.h>

#include "shared/convert.h"

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFIFO 0010000

/* Returns the address of the open file of @fd; 0: none. Follows typed pointers: their loads are
 * faster than a helper. A function, which is verified once. */
__noinline u64 fd_file_addr(s32 fd)
{
	struct task_struct *task = untrusted_task(bpf_get_current_task_btf());
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

/* Returns the open file of @fd; NULL: none. */
static __always_inline struct file *fd_file(s32 fd)
{
	return (struct file *)fd_file_addr(fd);
}

/* Converts a device number from the kernel's encoding to that of stat(2). */
static __always_inline u32 dev_number(u32 kdev)
{
	u32 major = kdev >> 20, minor = kdev & 0xfffff;

	return (minor & 0xff) | major << 8 | (minor & ~0xffu) << 12;
}

struct file_id {
	u32 dev;
	u64 ino;
	bool created;
	bool is_fifo;
};

#define NEAR_SZ 48 /* maximum distance of two fields that are read at once */

/* Reads *@a and *@b, of 4 or 8 bytes, at offsets @at_a and @at_b of @p. These are constant at load,
 * so the kernel keeps only one of the two paths. */
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
	id.is_fifo = (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFIFO;
	return id;
}

/* Returns the bits of file_flags that the file itself has. */
static __always_inline u32 opened_flags(const struct file_id *id)
{
	return (id->created ? PPM_O_F_CREATED : 0) | (id->is_fifo ? PPM_FD_FIFO : 0);
}

static __always_inline u64 fd_ino(s32 fd)
{
	struct file *file = fd_file(fd);

	return file ? BPF_CORE_READ(file, f_inode, i_ino) : 0;
}

/* Returns the socket behind @fd; NULL: not a socket. */
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
