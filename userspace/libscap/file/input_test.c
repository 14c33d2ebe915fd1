/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a file through chunks, by one thread and by two: the same bytes and the same errors. */
#include "file/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "file/file_testing.h"
#include "thread_start.h"

#define MOST (12u << 20)

static struct scap_log to_test = {hear, NULL};

/* Numbered blocks: of a few bytes, sometimes of more than a chunk, and one of much more. Half of
 * the bytes cannot be packed: the packed file is large, too. */
static void make_blocks(struct bytes *b)
{
	uint64_t seed = 7;

	b->p = malloc(MOST);
	assert_non_null(b->p);
	for (uint32_t i = 0; b->n < 8u << 20; i++) {
		uint32_t len = 12 + random_u32(&seed) % 200;
		size_t at = b->n;

		if (i % 1000 == 999)
			len = 12 + random_u32(&seed) % (400u << 10);
		if (i == 5500)
			len = 3u << 20;
		b->n += len;
		assert_true(b->n <= MOST);
		memset(b->p + at, (int)i, len);
		for (size_t j = len % 4; j < len / 2; j += 4)
			memcpy(b->p + at + j, &(uint32_t){random_u32(&seed)}, 4);
		memcpy(b->p + at, &i, sizeof(i));
		memcpy(b->p + at + 4, &len, sizeof(len));
	}
}

static void pack_gzip(struct bytes *to, const struct bytes *from)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	to->n = deflateBound(&z, from->n);
	to->p = malloc(to->n);
	z.next_in = from->p;
	z.avail_in = from->n;
	z.next_out = to->p;
	z.avail_out = to->n;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	to->n -= z.avail_out;
	deflateEnd(&z);
}

static void pack_zstd(struct bytes *to, const struct bytes *from)
{
	to->n = ZSTD_compressBound(from->n);
	to->p = malloc(to->n);
	to->n = ZSTD_compress(to->p, to->n, from->p, from->n, 1);
	assert_false(ZSTD_isError(to->n));
}

static int count_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int has_one_cpu(void)
{
	cpu_set_t cpus;

	return !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1;
}

static void open_input(struct input *in, const char *path, int ahead)
{
	hear_anew();
	assert_int_equal(input_open(in, path, &to_test), 0);
	if (ahead)
		input_run_ahead(in);
}

/* Takes blocks, and compares them with @want, until there is no whole one. Returns their bytes;
 * *end is what input_need returned. */
static size_t take_blocks(struct input *in, const struct bytes *want, size_t n, int *end)
{

	while ((*end = input_need(in, 12)) == 1) {
		const uint32_t len = get_u32(in->p + 4);

		assert_int_equal(input_offset(in), n);
		*end = input_need(in, len);
		if (*end != 1)
			break;
		assert_true(n + len <= want->n);
		assert_memory_equal(in->p, want->p + n, len);
		in->p += len;
		n += len;
	}
	return n;
}

/* By a second thread, where that is wanted. */
static void test_same_bytes(void **state)
{
	static void (*const pack[])(struct bytes * to, const struct bytes *from) = {NULL, pack_gzip,
										    pack_zstd};
	struct bytes all = {0};

	(void)state;
	make_blocks(&all);
	for (int i = 0; i < 3; i++) {
		struct bytes packed = {0};
		const char *path;

		if (pack[i])
			pack[i](&packed, &all);
		else
			add_bytes(&packed, all.p, all.n);
		path = path_of("blocks");
		save(path, packed.p, packed.n);
		for (int ahead = 0; ahead < 2; ahead++) {
			struct input in;
			int end;

			open_input(&in, path, ahead);
			assert_int_equal(count_threads(), 1 + (ahead && !has_one_cpu()));
			assert_int_equal(take_blocks(&in, &all, 0, &end), all.n);
			assert_int_equal(end, 0);
			assert_int_equal(input_need(&in, 12), 0);
			assert_int_equal(input_taken(&in), packed.n);
			assert_int_equal(said.n_all, 0);
			input_close(&in);
		}
		free(packed.p);
	}
	free(all.p);
}

/* Returns how many bytes zlib itself unpacks from the first @n. */
static size_t unpacked_before(const struct bytes *packed, size_t n)
{
	z_stream z = {.next_in = packed->p, .avail_in = n};
	uint8_t out[4096];

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	do {
		z.next_out = out;
		z.avail_out = sizeof(out);
	} while (inflate(&z, Z_NO_FLUSH) == Z_OK && (z.avail_in || !z.avail_out));
	n = z.total_out;
	inflateEnd(&z);
	return n;
}

/* All bytes before the damage come first, then its one sentence. */
static void test_damage(void **state)
{
	struct bytes all = {0}, packed = {0};
	size_t before[2], good, damage;
	uint64_t seed = 3;

	(void)state;
	/* Bytes that cannot be packed, so that the packed file is large. */
	all.n = 6u << 20;
	all.p = malloc(all.n);
	assert_non_null(all.p);
	for (size_t at = 0; at < all.n; at += 4)
		memcpy(all.p + at, &(uint32_t){random_u32(&seed)}, 4);
	pack_gzip(&packed, &all);
	damage = packed.n - packed.n / 4;
	good = unpacked_before(&packed, damage);
	packed.p[damage] ^= 0xff;
	memset(packed.p + damage + 1, 0x55, 4096);
	save(path_of("damaged"), packed.p, packed.n);
	for (int ahead = 0; ahead < 2; ahead++) {
		struct input in;
		int end;

		open_input(&in, path_of("damaged"), ahead);
		assert_int_equal(input_need(&in, 12), 1);
		assert_int_equal(said.n_all, 0); /* not before the bytes */
		for (before[ahead] = 0; (end = input_need(&in, 1)) == 1; before[ahead]++)
			if (before[ahead] < good) /* behind it may be bytes of the damage */
				assert_int_equal(*in.p++, all.p[before[ahead]]);
			else
				in.p++;
		assert_int_equal(end, -EBADMSG);
		assert_int_equal(said.n_errors, 1);
		assert_non_null(strstr(said.text, "the compressed data is damaged"));
		assert_int_equal(input_need(&in, 256), -EBADMSG);
		assert_int_equal(said.n_errors, 1);
		input_close(&in);
	}
	assert_int_equal(before[0], before[1]);
	assert_true(before[0] >= good && good > 3u << 20);
	free(all.p);
	free(packed.p);
}

/* A reader that stops early, at any place of the file, waits for nothing. */
static void test_close_early(void **state)
{
	struct bytes all = {0};

	(void)state;
	make_blocks(&all);
	save(path_of("early"), all.p, all.n);
	for (size_t n = 0; n < 4u << 20; n = 2 * n + 1) {
		struct input in;

		open_input(&in, path_of("early"), 1);
		assert_int_equal(input_need(&in, n), 1);
		assert_memory_equal(in.p, all.p, n);
		input_close(&in);
	}
	free(all.p);
}

struct pipe_writer {
	const struct bytes *all;
	int fd;
};

static void *write_all(void *arg)
{
	const struct pipe_writer *w = arg;

	for (size_t at = 0; at < w->all->n;) {
		const ssize_t n = write(w->fd, w->all->p + at, w->all->n - at);

		if (n < 0)
			break;
		at += n;
	}
	close(w->fd);
	return NULL;
}

/* What a pipe has is taken at once, by one thread. */
static void test_pipe(void **state)
{
	struct bytes all = {0}, first, rest;
	struct pipe_writer w = {.all = &rest};
	pthread_t thread;
	struct input in;
	char path[32];
	int fds[2], end;

	(void)state;
	make_blocks(&all);
	first.p = all.p;
	first.n = get_u32(all.p + 4);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	/* The first block and half of the second: nothing more comes until it was read. */
	assert_int_equal(write(fds[1], all.p, first.n + 8), first.n + 8);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	open_input(&in, path, 1);
	assert_int_equal(count_threads(), 1);
	close(fds[0]);
	assert_int_equal(input_need(&in, first.n), 1);
	assert_true(input_ready(&in, 0));
	assert_memory_equal(in.p, first.p, first.n);
	in.p += first.n;
	assert_false(input_ready(&in, 0));
	rest.p = all.p + first.n + 8;
	rest.n = all.n - first.n - 8;
	w.fd = fds[1];
	assert_int_equal(thread_start(&thread, write_all, &w), 0);
	assert_int_equal(take_blocks(&in, &all, first.n, &end), all.n);
	assert_int_equal(end, 0);
	input_close(&in);
	pthread_join(thread, NULL);
	free(all.p);
}

/* Adds a member whose header has a name and a checksum. */
static void add_member(struct bytes *to, const uint8_t *p, size_t n)
{
	uint8_t out[1024];
	gz_header header = {.name = (Bytef *)"name", .hcrc = 1};
	z_stream z = {
		.next_in = (Bytef *)p, .avail_in = n, .next_out = out, .avail_out = sizeof(out)};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	add_bytes(to, out, z.total_out);
	deflateEnd(&z);
}

/* Reads all of a pipe that has the first @n bytes at first. Returns the end; *got: bytes before it.
 */
static int read_in_two(const struct bytes *packed, size_t n, const struct bytes *want, size_t *got)
{
	struct input in;
	char path[32];
	int fds[2], end;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], packed->p, n), n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	open_input(&in, path, 0);
	assert_int_equal(write(fds[1], packed->p + n, packed->n - n), packed->n - n);
	close(fds[0]);
	close(fds[1]);
	for (*got = 0; (end = input_need(&in, 1)) == 1; ++*got)
		assert_int_equal(*in.p++, want->p[*got]);
	input_close(&in);
	return end;
}

/* The checksums of members, wherever two reads part them. */
static void test_members(void **state)
{
	enum { N = 3, SZ = 300 };
	struct bytes all = {0}, packed = {0};
	size_t ends[N], got;
	char part[64];

	(void)state;
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < SZ; j++)
			add_bytes(&all, &(uint8_t){i + j * j}, 1);
		add_member(&packed, all.p + (size_t)i * SZ, SZ);
		ends[i] = packed.n;
	}
	for (size_t n = 4; n < packed.n; n++) {
		assert_int_equal(read_in_two(&packed, n, &all, &got), 0);
		assert_int_equal(got, all.n);
		assert_int_equal(said.n_all, 0);
	}
	/* What follows the last one is no member, whichever byte a read begins with. */
	add_bytes(&packed, "\0\x1f\x8b\x1f", 4);
	for (size_t n = ends[N - 1]; n < packed.n; n++) {
		char text[96];

		assert_int_equal(read_in_two(&packed, n, &all, &got), 0);
		assert_int_equal(got, all.n);
		assert_int_equal(said.n_all, 1);
		assert_int_equal(said.n_errors, 0);
		snprintf(text, sizeof(text),
			 "the bytes from %zu on are not gzip data, and were not read", ends[N - 1]);
		assert_non_null(strstr(said.text, text));
	}
	packed.n = ends[N - 1];
	add_bytes(&packed, "\0\0\0\0", 4);
	for (size_t n = ends[N - 1]; n < packed.n; n++) {
		assert_int_equal(read_in_two(&packed, n, &all, &got), 0);
		assert_int_equal(got, all.n);
		assert_int_equal(said.n_all, 0);
	}
	packed.n = ends[N - 1];
	for (int i = 0; i < N; i++)
		for (int at = -8; at < 0; at++) {
			packed.p[ends[i] + at] ^= 0x10;
			for (int n = -10; n <= 0; n++) {
				assert_int_equal(read_in_two(&packed, ends[i] + n, &all, &got),
						 -EBADMSG);
				assert_int_equal(got, (i + 1) * SZ);
				snprintf(part, sizeof(part), "between byte %zu and byte %zu",
					 i ? ends[i - 1] : 0, ends[i]);
				assert_non_null(strstr(said.text, part));
				assert_non_null(strstr(said.text, at < -4 ? "incorrect data check"
									  : "incorrect length "
									    "check"));
			}
			packed.p[ends[i] + at] ^= 0x10;
		}
	for (int i = 0; i + 1 < N; i++) {
		packed.p[ends[i] + 10] ^= 0x10; /* of the next one's name */
		assert_int_equal(read_in_two(&packed, ends[i], &all, &got), -EBADMSG);
		assert_int_equal(got, (i + 1) * SZ);
		assert_non_null(strstr(said.text, "header crc mismatch"));
		packed.p[ends[i] + 10] ^= 0x10;
	}
	free(all.p);
	free(packed.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),  cmocka_unit_test(test_damage),
		cmocka_unit_test(test_close_early), cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
