/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc: small files as a whole into reused buffers, directories of numbers, and numbers in
 * text. The content is hostile: any user of the machine chooses names in it. */
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

/* Reads a file that the kernel produces at once (stat, status, cmdline, ...): one read, more only
 * if it did not fit; keeps at most @max bytes. Returns 0 or a negative errno. */
int proc_read(struct proc_buf *b, int dirfd, const char *name, size_t max);
/* Reads a file that comes in pieces (net/tcp, ...) to its end. */
int proc_read_all(struct proc_buf *b, int dirfd, const char *name, size_t max);
/* Reads the text of a link, not NULL after 0. */
int proc_readlink(struct proc_buf *b, int dirfd, const char *name);

/* Iterates over the entries of a directory whose names are decimal numbers. */
struct proc_dir {
	int fd;
	size_t pos, len;
	uint64_t buf[1024]; /* of struct dirent64 */
};
int proc_dir_open(struct proc_dir *d, int dirfd, const char *name);
int proc_dir_next(struct proc_dir *d,
		  uint64_t *num); /* Returns 1, 0 at the end, or a negative errno. */
void proc_dir_close(struct proc_dir *d);

/* Numbers: each skips blanks (not newlines), reads digits, advances *p behind them and returns 0 if
 * there are none. Overlong numbers wrap; a kernel writes none. */
uint64_t proc_dec(const char **p);
int64_t proc_int(const char **p);
uint64_t proc_hex(const char **p);
uint64_t proc_oct(const char **p);

/* Memory in kB as a capture file has it, in 32 bits: programs with address sanitizers reserve more.
 */
static inline uint32_t proc_kb(uint64_t kb)
{
	return kb < UINT32_MAX ? (uint32_t)kb : UINT32_MAX;
}

/* Returns what follows "KEY:" at the start of a line, searched from *p on, or NULL. *p advances to
 * it, so that keys searched in the order of the file take one pass in all. */
const char *proc_key(const char **p, const char *key);

#endif /* SCAP_PROCFS_PROC_FILE_H */
