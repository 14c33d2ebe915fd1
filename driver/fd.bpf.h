/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the file behind a descriptor of the current task. */
#ifndef DRIVER_FD_BPF_H
#define DRIVER_FD_BPF_H

#include "untrusted.bpf.h"
#include "writer.bpf.h"

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

	if (!files)
		return 0;
	fdt = files->fdt;
	if (!fdt || (u32)fd >= fdt->max_fds)
		return 0;
	table = fdt->fd;
	return peek_word(table + (u32)fd);
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

static __always_inline struct file_id file_id_of(struct file *file)
{
	struct inode *inode = PEEK(file, f_inode);
	struct file_id id = {};

	if (!inode)
		return id;
	id.ino = PEEK(inode, i_ino);
	id.dev = dev_number(PEEK(PEEK(inode, i_sb), s_dev));
	id.created = PEEK(file, f_mode) & FMODE_CREATED;
	id.is_fifo = (PEEK(inode, i_mode) & S_IFMT) == S_IFIFO;
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

	return file ? PEEK(PEEK(file, f_inode), i_ino) : 0;
}

/* Returns the socket behind @fd; NULL: not a socket. */
static __always_inline struct sock *fd_sock(s32 fd)
{
	struct file *file = fd_file(fd);

	if (!file || (PEEK(PEEK(file, f_inode), i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	return PEEK((struct socket *)PEEK(file, private_data), sk);
}

#endif /* DRIVER_FD_BPF_H */
