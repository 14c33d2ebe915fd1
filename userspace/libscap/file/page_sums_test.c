/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of pages: a changed byte is found wherever it is, and what is not damaged has no
 * message. */
#include "file/page_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "file/crc32c.h"
#include "file/file_testing.h"
#include "testing/test_main.h"

#define N_EVTS 3000 /* some 4 MB */
#define HEAD_SZ (8 + 2 + sizeof(struct ppm_evt_hdr) + 4) /* before the data of an event */

static struct list all; /* what the large file has */
static struct bytes whole;

/* The first message. */
static char first[1024];

static void hear_first(void *ctx, enum scap_log_level level, const char *text)
{
	if (!said.n_all)
		snprintf(first, sizeof(first), "%s", text);
	hear(ctx, level, text);
}

/* Reads to the end, on one thread or two. Returns whether it is damaged; *n_events may be NULL. */
static int read_file(const char *path, uint32_t one_thread, uint64_t from_ns, size_t *n_events)
{
	const char *const paths[] = {path, NULL};
	const struct scap_open_opts opts = {.sz = sizeof(opts),
					    .paths = paths,
					    .log = hear_first,
					    .from_ns = from_ns,
					    .one_thread = one_thread};
	struct scap_evt evt;
	struct scap *s;
	size_t n = 0;
	int ret;

	hear_anew();
	assert_int_equal(scap_open(&s, &opts), 0);
	while ((ret = scap_next(s, &evt, -1)) >= 0)
		n += ret == 1;
	assert_int_equal(ret, -ENODATA);
	ret = scap_is_damaged(s);
	scap_close(s);
	if (n_events)
		*n_events = n;
	return ret;
}

/* Reads a file that is not damaged. */
static void assert_sound(const char *path)
{
	for (uint32_t one_thread = 0; one_thread < 2; one_thread++) {
		assert_false(read_file(path, one_thread, 0, NULL));
		assert_int_equal(said.n_all, 0);
	}
}

/* Reads one with @n wrong pages, the first row of them from byte @from to byte @to. */
static void assert_damaged(const char *path, uint32_t one_thread, unsigned int n, size_t from,
			   size_t to)
{
	char range[128], sum[64];
	size_t n_events;

	snprintf(range, sizeof(range), "%s: bytes %zu to %zu have another checksum", path, from,
		 to);
	snprintf(sum, sizeof(sum), ": %u pages of 64 KiB", n);
	assert_true(read_file(path, one_thread, 0, &n_events));
	assert_int_equal(n_events, all.n);
	assert_int_equal(said.n_all, n > 1 ? 2 : 1);
	if (!strstr(first, range) || (n > 1 && !strstr(said.text, sum)))
		fail_msg("\"%s\" does not say \"%s\", or \"%s\" not \"%s\"", first, range,
			 said.text, sum);
}

/* Returns the offset of the closing counters. */
static size_t closing_at(const struct bytes *b)
{
	return b->n - get_u32(b->p + b->n - 4);
}

/* Returns a byte of the data of an event, at or behind @at: when it changes, all events are read.
 */
static size_t data_byte(const struct bytes *b, size_t at)
{
	size_t block = 0;

	while (block < b->n &&
	       (get_u32(b->p + block) != BLK_EV_V2 || block + get_u32(b->p + block + 4) - 8 <= at))
		block += get_u32(b->p + block + 4);
	assert_true(block < b->n);
	return at > block + HEAD_SZ ? at : block + HEAD_SZ;
}

static void flip(struct bytes *b, size_t at)
{
	b->p[at] ^= 0x10;
}

/* Whatever the pieces are in which bytes are added. */
static void test_pieces(void **state)
{
	static struct page_sums sums, again;
	uint64_t seed = 99;

	(void)state;
	memset(&sums, 0, sizeof(sums));
	page_sums_add(&sums, whole.p, whole.n);
	for (size_t at = 0, n; at < whole.n; at += n) {
		n = random_u32(&seed) % (random_u32(&seed) % 2 ? 300 : 200000);
		n = n < whole.n - at ? n : whole.n - at;
		page_sums_add(&again, whole.p + at, n);
	}
	assert_memory_equal(&sums, &again, sizeof(sums));
	assert_int_equal(page_sums_n_due(&sums), whole.n / SUM_PAGE_SZ);
	for (size_t i = 0; i < whole.n / SUM_PAGE_SZ; i++)
		assert_int_equal(sums.v[i], crc32c(0, whole.p + i * SUM_PAGE_SZ, SUM_PAGE_SZ));
}

/* Only the last pages are kept, also for an option. */
static void test_many_pages(void **state)
{
	static struct page_sums sums;
	static uint8_t page[SUM_PAGE_SZ], option[PAGE_SUMS_OPTION_MAX];

	(void)state;
	for (uint32_t i = 0; i < PAGE_SUMS_MAX + 10; i++) {
		memcpy(page, &i, sizeof(i));
		page_sums_add(&sums, page, sizeof(page));
	}
	page_sums_add(&sums, page, 5);
	assert_int_equal(page_sums_put(&sums, option, sums.at, true), PAGE_SUMS_OPTION_MAX);
	assert_int_equal(get_u64(option), sums.at);
	assert_int_equal(get_u64(option + 8), 10);
	for (uint32_t i = 0; i < PAGE_SUMS_MAX; i++) {
		memcpy(page, &(uint32_t){i + 10}, sizeof(i));
		assert_int_equal(get_u32(option + 16 + 4 * i), crc32c(0, page, sizeof(page)));
	}
	/* What is left is a part of a page, of which an option elsewhere says nothing. */
	assert_int_equal(page_sums_put(&sums, option, sums.at, true), 20);
	assert_int_equal(page_sums_put(&sums, option, sums.at + 12, true), 0);
	assert_int_equal(page_sums_put(&sums, option, sums.at, false), 0);
}

static void test_each_page(void **state)
{
	const char *path = path_of("bad");

	(void)state;
	assert_sound(path_of("whole"));
	assert_int_equal(scap_verify(path_of("whole"), hear, NULL), 0);
	for (size_t page = 0; page <= closing_at(&whole) / SUM_PAGE_SZ; page++) {
		const size_t at = data_byte(&whole, page * SUM_PAGE_SZ);
		const size_t from = at - at % SUM_PAGE_SZ, end = from + SUM_PAGE_SZ;
		const size_t to = (end < closing_at(&whole) ? end : closing_at(&whole)) - 1;

		flip(&whole, at);
		save(path, whole.p, whole.n);
		flip(&whole, at);
		assert_damaged(path, page % 2, 1, from, to);
		hear_anew();
		assert_int_equal(scap_verify(path, hear_first, NULL), -EBADMSG);
		assert_non_null(strstr(first, "bytes "));
	}
}

/* The first row of damaged pages is one range; the others are counted. */
static void test_several_pages(void **state)
{
	const size_t places[] = {2 * SUM_PAGE_SZ, 3 * SUM_PAGE_SZ + 70, 5 * SUM_PAGE_SZ + 3,
				 40 * SUM_PAGE_SZ};
	struct bytes b = {0};

	(void)state;
	add_bytes(&b, whole.p, whole.n);
	for (size_t i = 0; i < 4; i++)
		flip(&b, data_byte(&b, places[i]));
	save(path_of("bad"), b.p, b.n);
	for (uint32_t one_thread = 0; one_thread < 2; one_thread++)
		assert_damaged(path_of("bad"), one_thread, 4, 2 * SUM_PAGE_SZ, 4 * SUM_PAGE_SZ - 1);
	free(b.p);
}

/* A file that is shorter than a page. */
static void test_small(void **state)
{
	static struct list l, got;
	struct bytes b = {0};

	(void)state;
	make_small(&b, &l, SCAP_COMPRESS_NONE);
	assert_sound(path_of("small"));
	flip(&b, data_byte(&b, 0));
	hear_anew();
	assert_int_equal(read_bytes(&got, b.p, b.n), -ENODATA);
	assert_int_equal(got.n, l.n);
	assert_int_equal(said.n_all, 1);
	list_fini(&got);
	list_fini(&l);
	free(b.p);
}

/* In files that were joined, the options of the first one are where they were written. */
static void test_joined(void **state)
{
	const size_t at = data_byte(&whole, 20 * SUM_PAGE_SZ + 1000);
	struct bytes b = {0};
	size_t n;

	(void)state;
	add_bytes(&b, whole.p, whole.n);
	add_bytes(&b, whole.p, whole.n);
	save(path_of("joined"), b.p, b.n);
	assert_sound(path_of("joined"));
	flip(&b, at);
	save(path_of("joined"), b.p, b.n);
	assert_true(read_file(path_of("joined"), 0, 0, &n));
	assert_int_equal(n, 2 * all.n);
	assert_int_equal(said.n_all, 1);
	/* The first one is another tool's. */
	b.n = 0;
	add_shb(&b);
	add_event(&b, all.v[0].hdr);
	add_bytes(&b, whole.p, whole.n);
	save(path_of("joined"), b.p, b.n);
	assert_sound(path_of("joined"));
	free(b.p);
}

/* Several files are read to their ends, whichever is damaged. */
static void test_one_of_several(void **state)
{
	static struct list got;
	const char *const paths[] = {path_of("bad"), path_of("small"), NULL};
	const size_t at = data_byte(&whole, 7 * SUM_PAGE_SZ);
	static struct list l;
	struct bytes b = {0};

	(void)state;
	make_small(&b, &l, SCAP_COMPRESS_NONE);
	flip(&whole, at);
	save(paths[0], whole.p, whole.n);
	flip(&whole, at);
	hear_anew();
	assert_int_equal(read_paths(&got, paths, NULL), -ENODATA);
	assert_int_equal(got.n, all.n + l.n);
	assert_int_equal(said.n_all, 1);
	list_fini(&got);
	list_fini(&l);
	free(b.p);
}

/* Runs @fn in a child that has the write end of a pipe. Returns the read end. */
static int begin_pipe(pid_t *pid, void (*fn)(int fd))
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*pid = fork();
	assert_true(*pid >= 0);
	if (!*pid) {
		close(ends[0]);
		fn(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static const char *path_of_fd(int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static void end_pipe(pid_t pid, int fd)
{
	int status;

	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void write_all(int fd)
{
	write_list(&all, path_of_fd(fd), SCAP_COMPRESS_NONE);
}

/* Writes in pieces of any length. */
static void write_whole(int fd)
{
	uint64_t seed = 5;

	for (size_t at = 0; at < whole.n;) {
		const size_t left = whole.n - at, n = 1 + random_u32(&seed) % 100000;
		const ssize_t put = write(fd, whole.p + at, n < left ? n : left);

		if (put < 0)
			_exit(1);
		at += (size_t)put;
	}
}

/* The same bytes are written to a pipe, and read from one. */
static void test_pipe(void **state)
{
	const size_t at = data_byte(&whole, whole.n - 5000);
	struct bytes b = {0};
	pid_t pid;
	int fd;

	(void)state;
	fd = begin_pipe(&pid, write_all);
	load(&b, path_of_fd(fd));
	end_pipe(pid, fd);
	assert_int_equal(b.n, whole.n);
	assert_memory_equal(b.p, whole.p, b.n);
	free(b.p);
	fd = begin_pipe(&pid, write_whole);
	assert_false(read_file(path_of_fd(fd), 0, 0, NULL));
	assert_int_equal(said.n_all, 0);
	end_pipe(pid, fd);
	flip(&whole, at);
	fd = begin_pipe(&pid, write_whole);
	assert_damaged(path_of_fd(fd), 0, 1, at - at % SUM_PAGE_SZ, closing_at(&whole) - 1);
	end_pipe(pid, fd);
	flip(&whole, at);
}

/* gzip and zstd have checksums: what is in them has none, or none that is used. */
static void test_packed(void **state)
{
	const size_t at = data_byte(&whole, SUM_PAGE_SZ);
	gzFile f = gzopen(path_of("packed"), "wb1");

	(void)state;
	flip(&whole, at);
	assert_int_equal(gzwrite(f, whole.p, (unsigned int)whole.n), whole.n);
	assert_int_equal(gzclose(f), Z_OK);
	flip(&whole, at);
	assert_sound(path_of("packed"));
}

static void add_sums(struct bytes *b, uint64_t at, uint64_t page, uint32_t crc, uint32_t n,
		     uint32_t cut)
{
	ADD(b, uint16_t, OPT_SUMS);
	ADD(b, uint16_t, 16 + 4 * n - cut);
	ADD(b, uint64_t, at);
	ADD(b, uint64_t, page);
	for (uint32_t i = 0; i < n; i++)
		ADD(b, uint32_t, crc);
	b->n -= cut;
}

/* A file with one event and an option, which is not from a writer. @again: and another one, which
 * is wrong. */
static int read_options(uint64_t moved, uint64_t page, uint32_t crc, uint32_t n, uint32_t cut,
			bool again)
{
	const uint32_t lens[] = {8};
	static struct list l;
	struct bytes b = {0};
	size_t at, n_events;
	int is_damaged;

	put_event(&l, EVT_CLOSE_E, 1, lens);
	add_shb(&b);
	at = begin_block(&b, BLK_SAKER);
	end_block(&b, at);
	at = begin_block(&b, BLK_EV_V2);
	ADD(&b, uint16_t, 1);
	add_bytes(&b, l.v[0].hdr, l.v[0].hdr->len);
	add_bytes(&b, "\0\0", (4 - b.n % 4) % 4);
	add_sums(&b, at + moved, page, crc ?: crc32c(0, b.p, at), n, cut);
	if (again)
		add_sums(&b, at, 0, 7, 1, 0);
	end_block(&b, at);
	is_damaged = read_file(file_of(b.p, b.n), 0, 0, &n_events);
	assert_int_equal(n_events, 1);
	list_fini(&l);
	free(b.p);
	return is_damaged;
}

static int read_forged(uint64_t moved, uint64_t page, uint32_t crc, uint32_t n, uint32_t cut)
{
	return read_options(moved, page, crc, n, cut, false);
}

/* A part of a page is compared once: options without end take no time. */
static void test_part_once(void **state)
{
	(void)state;
	assert_false(read_options(0, 0, 0, 1, 0, true));
	assert_true(read_options(4, 0, 0, 1, 0, true)); /* the first one is none */
}

static void test_forged(void **state)
{
	(void)state;
	assert_false(read_forged(0, 0, 0, 1, 0));
	assert_true(read_forged(0, 0, 7, 1, 0));
	/* Pages that the file does not have. */
	assert_false(read_forged(0, 0, 0, 10000, 0));
	assert_false(read_forged(0, 1, 7, 1, 0));
	assert_false(read_forged(0, UINT64_MAX, 7, 2, 0));
	assert_false(read_forged(0, UINT64_MAX / SUM_PAGE_SZ, 7, 2, 0));
	assert_false(read_forged(0, UINT64_MAX / SUM_PAGE_SZ + 1, 7, 2, 0));
	/* Another place, and options that are too short. */
	assert_false(read_forged(4, 0, 7, 1, 0));
	assert_false(read_forged(UINT64_MAX, 0, 7, 1, 0));
	assert_false(read_forged(0, 0, 7, 0, 0));
	assert_false(read_forged(0, 0, 7, 0, 4));
	assert_false(read_forged(0, 0, 7, 1, 20));
}

/* Writes the large file with checkpoints. */
static void write_checkpoints(const char *path)
{
	const struct scap_writer_opts opts = {.sz = sizeof(opts),
					      .provenance = "saker=test\n",
					      .log = hear,
					      .checkpoint_every = 300000};
	const struct scap_stats st = {0};
	struct scap_writer *w;

	assert_int_equal(scap_writer_open(&w, path, &no_state, &opts), 0);
	for (size_t i = 0; i < all.n; i++) {
		if (scap_writer_wants_checkpoint(w))
			assert_int_equal(
				scap_writer_checkpoint(w, &no_state, UINT64_MAX, NULL, NULL), 0);
		assert_int_equal(scap_writer_put(w, &all.v[i]), 0);
	}
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
}

/* Reading begins within a page, which is not compared, but those behind it are. */
static void test_from_a_checkpoint(void **state)
{
	const uint64_t from_ns = all.v[all.n / 2].ts_ns;
	struct bytes b = {0};
	size_t n, at;

	(void)state;
	write_checkpoints(path_of("checkpoints"));
	assert_sound(path_of("checkpoints"));
	load(&b, path_of("checkpoints"));
	for (uint32_t one_thread = 0; one_thread < 2; one_thread++) {
		assert_false(read_file(path_of("checkpoints"), one_thread, from_ns, &n));
		assert_int_equal(said.n_all, 0);
		assert_in_range(n, all.n / 2, all.n - 100);
	}
	at = data_byte(&b, b.n / 4 * 3);
	flip(&b, at);
	save(path_of("bad"), b.p, b.n);
	flip(&b, at);
	for (uint32_t one_thread = 0; one_thread < 2; one_thread++) {
		assert_true(read_file(path_of("bad"), one_thread, from_ns, NULL));
		assert_int_equal(said.n_all, 1);
	}
	flip(&b, data_byte(&b, b.n / 4));
	save(path_of("bad"), b.p, b.n);
	assert_false(read_file(path_of("bad"), 0, from_ns, NULL));
	assert_int_equal(said.n_all, 0);
	free(b.p);
}

/* A file that was not closed has those up to some time before. */
static void test_cut(void **state)
{
	const size_t at = data_byte(&whole, 3 * SUM_PAGE_SZ);
	size_t end = 0;

	(void)state;
	while (end < whole.n / 2)
		end += get_u32(whole.p + end + 4);
	save(path_of("cut"), whole.p, end);
	assert_false(read_file(path_of("cut"), 0, 0, NULL));
	assert_int_equal(said.n_all, 1);
	flip(&whole, at);
	save(path_of("cut"), whole.p, end);
	flip(&whole, at);
	assert_true(read_file(path_of("cut"), 0, 0, NULL));
}

/* Some events are longer than what a reader moves at once, or than a page. */
static int make_all(void **state)
{
	if (make_dir(state))
		return -1;
	for (size_t i = 0; i < N_EVTS; i++) {
		const uint32_t lens[] = {8, i % 200 == 199 ? 40000 + i * 8 : i * 7 % 2000};

		put_event(&all, EVT_READ_X, 2, lens);
	}
	write_list(&all, path_of("whole"), SCAP_COMPRESS_NONE);
	load(&whole, path_of("whole"));
	return 0;
}

static int remove_all(void **state)
{
	list_fini(&all);
	free(whole.p);
	return remove_dir(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_many_pages),
		cmocka_unit_test(test_each_page),
		cmocka_unit_test(test_several_pages),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_one_of_several),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_part_once),
		cmocka_unit_test(test_from_a_checkpoint),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, make_all, remove_all);
}
