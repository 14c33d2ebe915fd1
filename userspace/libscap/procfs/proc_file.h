/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading /proc: whole small files into buffers that are used again, directories of
 * numbers, and numbers out of text. What is read is hostile: names in it are chosen by
 * any user of the machine.
 */
#ifndef SCAP_PROCFS_PROC_FILE_H
#define SCAP_PROCFS_PROC_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialized is empty. p is NUL-terminated past len after a successful read. */
struct proc_buf {
	char *p;
	size_t len, cap;
};
void proc_buf_fini(struct proc_buf *b);

/*
 * A file that the kernel makes in one piece (stat, status, cmdline, ...): one read, more
 * only if it did not fit; at most @max bytes are kept. 0 or a negative errno.
 */
int proc_read(struct proc_buf *b, int dirfd, const char *name, size_t max);
/* A file that comes in pieces (net/tcp, ...): read until the end. */
int proc_read_all(struct proc_buf *b, int dirfd, const char *name, size_t max);
/* A link's text, never NULL after 0. */
int proc_readlink(struct proc_buf *b, int dirfd, const char *name);

/* Entries of a directory whose names are decimal numbers. */
struct proc_dir {
	int fd;
	size_t pos, len;
	uint64_t buf[1024]; /* of struct dirent64 */
};
int proc_dir_open(struct proc_dir *d, int dirfd, const char *name);
int proc_dir_next(struct proc_dir *d, uint64_t *num); /* 1, 0 at the end, negative errno */
void proc_dir_close(struct proc_dir *d);

/*
 * Numbers: each skips blanks (not newlines), reads digits, moves *p behind them and gives
 * 0 where there are none. Overlong numbers wrap, as they do not come from a kernel.
 */
uint64_t proc_dec(const char **p);
int64_t proc_int(const char **p);
uint64_t proc_hex(const char **p);
uint64_t proc_oct(const char **p);

/*
 * What follows "KEY:" at the start of a line, searched from *p on, or NULL. *p moves to
 * it, so that keys asked for in the order of the file cost one pass in all.
 */
const char *proc_key(const char **p, const char *key);

#endif /* SCAP_PROCFS_PROC_FILE_H */
