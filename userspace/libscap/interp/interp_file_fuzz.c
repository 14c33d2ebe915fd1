/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: the search for interpreters in damaged files. An input damages one of the files
 * that SAKER_FUZZ_FILES names, separated by colons.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/interp_file.h"

enum { FILES_MAX = 16, PLACE_SZ = 4, WHOLE = 1 << 24 };

static struct image {
	uint8_t *data, *damaged;
	size_t sz;
	const char *path;
} images[FILES_MAX];
static size_t n_images;

static void read_image(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image *i = &images[n_images];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || n_images == FILES_MAX)
		return;
	i->sz = (size_t)st.st_size;
	i->data = malloc(i->sz);
	i->damaged = malloc(i->sz);
	i->path = path;
	if (i->data && i->damaged && read(fd, i->data, i->sz) == st.st_size) {
		memcpy(i->damaged, i->data, i->sz);
		n_images++;
	}
	close(fd);
}

static void read_images(void)
{
	char *list = strdup(getenv("SAKER_FUZZ_FILES") ?: ""), *at = list, *path;

	while (at && (path = strsep(&at, ":")))
		if (*path)
			read_image(path);
	if (!n_images) {
		fputs("SAKER_FUZZ_FILES names no file\n", stderr);
		exit(1);
	}
}

/* Calls @fn for each damage: its place, and bytes. A place is a part of the file, or for large ones
 * an offset near its begin or end, where the headers are. */
static void each_damage(struct image *i, const uint8_t *data, size_t sz,
			void (*fn)(struct image *i, size_t at, const uint8_t *bytes, size_t n))
{
	while (sz > PLACE_SZ) {
		const size_t place = data[0] | data[1] << 8 | data[2] << 16;
		const size_t n = 1 + (data[3] & 15);
		size_t at = (size_t)((unsigned __int128)place * i->sz / WHOLE);

		if (data[3] & 0x80)
			at = data[3] & 0x40 ? i->sz - 1 - place % 16384 : place % 16384;
		data += PLACE_SZ;
		sz -= PLACE_SZ;
		if (n > sz || at + n > i->sz)
			return;
		fn(i, at, data, n);
		data += n;
		sz -= n;
	}
}

static void damage(struct image *i, size_t at, const uint8_t *bytes, size_t n)
{
	memcpy(i->damaged + at, bytes, n);
}

static void restore(struct image *i, size_t at, const uint8_t *bytes, size_t n)
{
	(void)bytes;
	memcpy(i->damaged + at, i->data + at, n);
}

static void check(const struct interp_file *f)
{
	if (f->n_loop > INTERP_RANGES_MAX || !memchr(f->version, 0, sizeof(f->version)))
		abort();
	for (size_t i = 0; i < f->n_loop; i++)
		if (f->loop[i].from >= f->loop[i].to)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct interp_file out;
	struct elf_file *f;
	struct image *i;

	if (!n_images)
		read_images();
	if (!sz)
		return 0;
	i = &images[data[0] % n_images];
	each_damage(i, data + 1, sz - 1, damage);
	if (!elf_file_open_image(&f, i->damaged, i->sz)) {
		if (interp_file_detect(&out, f, i->path) == 1)
			check(&out);
		elf_file_close(f);
	}
	each_damage(i, data + 1, sz - 1, restore);
	return 0;
}
