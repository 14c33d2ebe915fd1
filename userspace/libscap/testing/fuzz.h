/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzz targets (x_fuzz.c, listed in tests/fuzz/targets): parts of the input. Copies have their
 * exact size, so that the sanitizer sees a read beyond the end. */
#ifndef SCAP_TESTING_FUZZ_H
#define SCAP_TESTING_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

/* The rest of the input. */
struct fuzz_in {
	const uint8_t *p;
	size_t n;
};

/* Returns @p, which must not be NULL. */
static inline void *fuzz_must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Returns the next byte; 0 at the end. */
static inline uint8_t fuzz_u8(struct fuzz_in *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->p++;
}

static inline uint16_t fuzz_u16(struct fuzz_in *in)
{
	const uint8_t low = fuzz_u8(in);

	return (uint16_t)(low | fuzz_u8(in) << 8);
}

/* Returns a copy of the next @n bytes, or of all that are left, with their number in *len. The
 * caller frees it. */
static inline uint8_t *fuzz_bytes(struct fuzz_in *in, size_t n, size_t *len)
{
	uint8_t *copy;

	*len = n < in->n ? n : in->n;
	copy = fuzz_must(malloc(*len ? *len : 1));
	memcpy(copy, in->p, *len);
	in->p += *len;
	in->n -= *len;
	return copy;
}

/* Returns the text up to the next NUL, or all that is left. The caller frees it. */
static inline char *fuzz_text(struct fuzz_in *in)
{
	const size_t len = strnlen((const char *)in->p, in->n);
	char *copy = fuzz_must(malloc(len + 1));

	memcpy(copy, in->p, len);
	copy[len] = 0;
	in->p += len;
	in->n -= len;
	fuzz_u8(in);
	return copy;
}

/* Replaces the content of @fd, a file in memory; a negative @fd creates one. Returns the file. */
static inline int fuzz_fd(int fd, const void *p, size_t n)
{
	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, p, n, 0) != (ssize_t)n ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static char fuzz_root[] = "/dev/shm/saker-fuzz-XXXXXX";

static inline void fuzz_remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", fuzz_root);
	if (system(command))
		abort();
}

/* Makes the folder fuzz_root, in memory; exit() removes it. */
static inline void fuzz_make_root(void)
{
	fuzz_must(mkdtemp(fuzz_root));
	atexit(fuzz_remove_root);
}

/* A log callback: reads the text, so that the sanitizer checks it. */
static inline void fuzz_log(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	if (strlen(text) > 1u << 20)
		abort();
}

#endif /* SCAP_TESTING_FUZZ_H */
