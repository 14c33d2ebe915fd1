/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: reading from one of them gives the events, numbers and state of a full read;
 * whatever is wrong with them, a file is read from its beginning. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/checkpoint.h"
#include "file/file_testing.h"
#include "testing/test_main.h"

enum { N_EVTS = 3000, PER_CHECKPOINT = 8000 };

static struct list all; /* what the file has, without checkpoints */

/* The state that a checkpoint before event @i has: one thread, named by the event. */
static struct scap_thread_info thread_at(size_t i, char *comm, const struct ppm_evt_hdr *enter)
{
	sprintf(comm, "at%zu", i);
	return (struct scap_thread_info){
		.tid = 42,
		.pid = 42,
		.comm = comm,
		.exe = "exe",
		.exepath = "",
		.cwd = "/",
		.root = "",
		.so_far = {.known = 1,
			   .has_children = 1,
			   .call_flags = SCAP_CALL_OPEN,
			   .enter_type = EVT_READ_E,
			   .enter_ns = T0 + i,
			   .enter_fd = 7,
			   .exec_ns = 1234567,
			   .enter = {(const char *)enter, enter ? enter->len : 0}},
	};
}

static int put_known(void *ctx)
{
	const uint32_t len = 10;
	struct list known = {0};
	int err;

	put_event(&known, EVT_CONTAINER_E, 1, &len);
	err = scap_writer_put(ctx, &known.v[0]);
	list_fini(&known);
	return err;
}

static void put_checkpoint(struct scap_writer *w, size_t i)
{
	const struct scap_fd_info fds[] = {{.fd = 7,
					    .type = SCAP_FD_IPV4_SOCK,
					    .l4proto = SCAP_L4_TCP,
					    .name = "",
					    .so_far = {.known = 1,
						       .swapped = 1,
						       .flags = 0x11,
						       .error = 111,
						       .connect_ns = 5,
						       .shown = "shown",
						       .given = "given"}}};
	char comm[32];
	struct scap_thread_info t = thread_at(i, comm, all.v[0].hdr);
	const struct scap_state st = {.threads = &t, .n_threads = 1};

	t.fds = fds;
	t.n_fds = 1;
	assert_int_equal(scap_writer_checkpoint(w, &st, UINT64_MAX, put_known, w), 0);
}

/* Writes the events with checkpoints. Returns how many there are. */
static size_t write_all(const char *path, enum scap_compress compress, uint64_t every)
{
	const struct scap_writer_opts opts = {.sz = sizeof(opts),
					      .compress = compress,
					      .provenance = "saker=test\n",
					      .log = hear,
					      .checkpoint_every = every};
	const struct scap_stats st = {.n_events = 4711};
	struct scap_writer *w;
	size_t n = 0;

	assert_int_equal(scap_writer_open(&w, path, &no_state, &opts), 0);
	for (size_t i = 0; i < all.n; i++) {
		if (scap_writer_wants_checkpoint(w)) {
			put_checkpoint(w, i);
			n++;
		}
		assert_int_equal(scap_writer_put(w, &all.v[i]), 0);
	}
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
	return n;
}

static struct scap *open_from(const char *path, uint64_t from_ns)
{
	const char *const paths[] = {path, NULL};
	const struct scap_open_opts opts = {
		.sz = sizeof(opts), .paths = paths, .log = hear, .from_ns = from_ns};
	struct scap *s;

	assert_int_equal(scap_open(&s, &opts), 0);
	return s;
}

static int is_own(unsigned int type)
{
	return type == EVT_CHECKPOINT || type == EVT_CHECKPOINTS;
}

/* Reads the next event that was put. Returns as scap_next. */
static int next_put(struct scap *s, struct scap_evt *evt)
{
	int ret;

	do
		ret = scap_next(s, evt, -1);
	while (ret == 1 && is_own(evt->type));
	return ret;
}

/* How many events before event @i take a number: all but each seventh, of make_all. */
static uint64_t numbers_before(size_t i)
{
	return i - i / 7;
}

/* The number of an event as a full read gives it. */
static uint64_t number_of(size_t i)
{
	return evt_takes_number(all.v[i].type) ? numbers_before(i) + 1 : 0;
}

/* Asserts that the rest of the file comes, from event @first on. */
static void assert_rest(struct scap *s, struct scap_evt *evt, size_t first)
{
	int ret = 1;

	for (size_t i = first; i < all.n; i++) {
		assert_int_equal(ret, 1);
		assert_same(evt, &all.v[i]);
		assert_int_equal(evt->num, number_of(i));
		ret = next_put(s, evt);
	}
	assert_int_equal(ret, -ENODATA);
}

static void assert_so_far(const struct scap_state *st, size_t at)
{
	const struct scap_thread_so_far *f = &st->threads[0].so_far;
	const struct scap_fd_info *fd = st->threads[0].fds;
	char comm[32];

	sprintf(comm, "at%zu", at);
	assert_int_equal(st->n_threads, 1);
	assert_string_equal(st->threads[0].comm, comm);
	assert_true(f->known && f->has_children && !f->born && !f->missing_switch);
	assert_int_equal(f->call_flags, SCAP_CALL_OPEN);
	assert_int_equal(f->enter_type, EVT_READ_E);
	assert_int_equal(f->enter_ns, T0 + at);
	assert_int_equal(f->enter_fd, 7);
	assert_int_equal(f->exec_ns, 1234567);
	assert_int_equal(f->enter.len, all.v[0].hdr->len);
	assert_memory_equal(f->enter.p, all.v[0].hdr, f->enter.len);
	assert_int_equal(st->threads[0].n_fds, 1);
	assert_true(fd->so_far.known && fd->so_far.swapped && !fd->so_far.outcome_known);
	assert_int_equal(fd->so_far.flags, 0x11);
	assert_int_equal(fd->so_far.error, 111);
	assert_int_equal(fd->so_far.connect_ns, 5);
	assert_string_equal(fd->so_far.shown, "shown");
	assert_string_equal(fd->so_far.given, "given");
}

/* Reads from the time of event @i on. Returns whether that began at a checkpoint. */
static int assert_read_from(const char *path, size_t i)
{
	struct scap *s = open_from(path, all.v[i].ts_ns);
	const struct scap_skipped *skipped = scap_skipped(s);
	struct scap_stats st;
	struct scap_evt evt;
	size_t first = 0;

	if (skipped) {
		assert_int_equal(skipped->first_ns, all.v[0].ts_ns);
		first = strtoul(scap_state(s)->threads[0].comm + 2, NULL, 10);
		assert_true(first <= i);
		assert_so_far(scap_state(s), first);
		assert_int_equal(scap_stats(s, &st), 0);
		assert_true(scap_in_order(s));
		/* What later events need. */
		assert_int_equal(scap_next(s, &evt, -1), 1);
		assert_int_equal(evt.type, EVT_CONTAINER_E);
		assert_int_equal(evt.num, numbers_before(first));
	}
	assert_int_equal(next_put(s, &evt), 1);
	assert_rest(s, &evt, first);
	assert_int_equal(scap_stats(s, &st), 0);
	scap_close(s);
	return first != 0;
}

static void test_reads_from_a_checkpoint(void **state)
{
	(void)state;
	for (enum scap_compress c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_ZSTD; c++) {
		size_t n = write_all(path_of("cp"), c, PER_CHECKPOINT), n_from = 0;

		assert_in_range(n, 10, 100);
		assert_false(assert_read_from(path_of("cp"), 0));
		for (size_t i = 0; i < all.n; i += 61)
			n_from += assert_read_from(path_of("cp"), i);
		assert_in_range(n_from, all.n / 61 * 8 / 10, all.n / 61);
		assert_true(assert_read_from(path_of("cp"), all.n - 1));
		hear_anew();
		assert_int_equal(scap_verify(path_of("cp"), hear, NULL), 0);
		assert_int_equal(said.n_errors, 0);
	}
}

static void test_none(void **state)
{
	struct bytes with = {0}, without = {0};

	(void)state;
	assert_int_equal(write_all(path_of("none"), SCAP_COMPRESS_NONE, UINT64_MAX), 0);
	assert_false(assert_read_from(path_of("none"), all.n - 1));
	/* Small files are as they were. */
	write_all(path_of("default"), SCAP_COMPRESS_NONE, 0);
	load(&with, path_of("default"));
	load(&without, path_of("none"));
	assert_int_equal(with.n, without.n);
	assert_memory_equal(with.p, without.p, with.n);
	free(with.p);
	free(without.p);
}

/* Offsets in an index are those of the file that it was written for. */
static void test_joined_files(void **state)
{
	(void)state;
	for (enum scap_compress c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_ZSTD; c++) {
		struct bytes b = {0};
		struct scap *s;

		write_all(path_of("part"), c, PER_CHECKPOINT);
		load(&b, path_of("part"));
		add_bytes(&b, b.p, b.n);
		save(path_of("joined"), b.p, b.n);
		s = open_from(path_of("joined"), all.v[all.n - 1].ts_ns);
		assert_null(scap_skipped(s));
		scap_close(s);
		free(b.p);
	}
}

/* Times of another section may be earlier. */
static void test_sections(void **state)
{
	const struct scap_writer_opts opts = {.sz = sizeof(opts),
					      .provenance = "",
					      .log = hear,
					      .checkpoint_every = PER_CHECKPOINT};
	const struct scap_stats st = {0};
	struct scap_writer *w;
	struct scap *s;

	(void)state;
	assert_int_equal(scap_writer_open(&w, path_of("two"), &no_state, &opts), 0);
	for (size_t i = 0; i < all.n; i++)
		assert_int_equal(scap_writer_put(w, &all.v[i]), 0);
	assert_true(scap_writer_wants_checkpoint(w));
	put_checkpoint(w, all.n);
	assert_int_equal(scap_writer_section(w, &no_state), 0);
	for (size_t i = 0; i < all.n; i++)
		assert_int_equal(scap_writer_put(w, &all.v[i]), 0);
	assert_false(scap_writer_wants_checkpoint(w));
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
	s = open_from(path_of("two"), all.v[all.n - 1].ts_ns + 1);
	assert_null(scap_skipped(s));
	scap_close(s);
}

/* Captures of other tools can have times that go back: then a span is not between two places. */
static void test_times_that_go_back(void **state)
{
	const uint64_t ns = all.v[N_EVTS / 2].ts_ns;
	struct scap *s;

	(void)state;
	all.v[N_EVTS / 2].ts_ns = all.v[0].ts_ns;
	write_all(path_of("back"), SCAP_COMPRESS_NONE, PER_CHECKPOINT);
	all.v[N_EVTS / 2].ts_ns = ns;
	s = open_from(path_of("back"), all.v[all.n - 1].ts_ns);
	assert_null(scap_skipped(s));
	assert_false(scap_in_order(s));
	scap_close(s);
}

/* A checkpoint that does not fit is left out. */
static void test_room(void **state)
{
	const struct scap_writer_opts opts = {
		.sz = sizeof(opts), .provenance = "", .log = hear, .checkpoint_every = 1};
	const struct scap_stats st = {0};
	struct scap_writer *w;
	uint64_t bytes;

	(void)state;
	assert_int_equal(scap_writer_open(&w, path_of("room"), &no_state, &opts), 0);
	assert_int_equal(scap_writer_put(w, &all.v[0]), 0);
	bytes = scap_writer_bytes(w);
	assert_int_equal(scap_writer_checkpoint(w, &no_state, 100, NULL, NULL), 0);
	assert_int_equal(scap_writer_bytes(w), bytes);
	assert_int_equal(scap_writer_checkpoint(w, &no_state, 100000, NULL, NULL), 0);
	assert_true(scap_writer_bytes(w) > bytes);
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
}

/* A copy has its own checkpoints only. */
static void test_copy(void **state)
{
	const struct scap_writer_opts opts = {
		.sz = sizeof(opts), .log = hear, .checkpoint_every = UINT64_MAX};
	const struct scap_stats st = {0};
	struct scap_writer *w;
	struct scap_evt evt;
	struct scap *s;
	size_t n = 0;

	(void)state;
	write_all(path_of("source"), SCAP_COMPRESS_NONE, PER_CHECKPOINT);
	s = open_from(path_of("source"), 0);
	assert_int_equal(scap_writer_open(&w, path_of("copy"), &no_state, &opts), 0);
	while (scap_next(s, &evt, -1) == 1)
		assert_int_equal(scap_writer_put(w, &evt), 0);
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
	scap_close(s);
	s = open_from(path_of("copy"), 0);
	for (; scap_next(s, &evt, -1) == 1; n++)
		assert_false(is_own(evt.type));
	assert_int_equal(n, all.n);
	scap_close(s);
}

/* Damages of what only --from reads: the tail, the index, the checkpoints. Each file gives either
 * the events from a checkpoint or those of the whole file, or says what is damaged. */
static void test_damage(void **state)
{
	uint64_t seed = 0x5eed;

	(void)state;
	for (enum scap_compress c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_ZSTD; c++) {
		struct bytes b = {0}, bad = {0};

		write_all(path_of("good"), c, PER_CHECKPOINT);
		load(&b, path_of("good"));
		add_bytes(&bad, b.p, b.n);
		for (int round = 0; round < 400; round++) {
			const size_t span = round % 4 ? 200 : b.n;
			const size_t at = b.n - 1 - random_u32(&seed) % span;
			const char *const paths[] = {path_of("bad"), NULL};
			const struct scap_open_opts opts = {.sz = sizeof(opts),
							    .paths = paths,
							    .log = hear,
							    .from_ns = all.v[all.n - 1].ts_ns,
							    .one_thread = 1};
			struct scap_evt evt;
			struct scap *s;
			int ret;

			memcpy(bad.p, b.p, b.n);
			bad.p[at] ^= 1 << random_u32(&seed) % 8;
			save(paths[0], bad.p, bad.n);
			ret = scap_open(&s, &opts);
			if (ret)
				continue;
			do
				ret = scap_next(s, &evt, -1);
			while (ret > 0);
			assert_true(ret == -ENODATA || ret == -EBADMSG);
			scap_close(s);
		}
		free(b.p);
		free(bad.p);
	}
}

/* The index has a limit; its places stay in order and evenly spread. */
static void test_index_is_bounded(void **state)
{
	struct checkpoint_index x = {0};
	uint64_t at = 0;

	(void)state;
	checkpoint_index_begin(&x, 0, 1000);
	assert_false(checkpoint_is_due(&x, UINT64_MAX, CHECKPOINT_EVERY - 1));
	assert_false(checkpoint_is_due(&x, 3999, CHECKPOINT_EVERY));
	for (int i = 0; i < 10 * CHECKPOINTS_MAX; i++) {
		struct checkpoint_place place;

		at = x.next_at > x.next_unpacked_at ? x.next_at : x.next_unpacked_at;
		assert_true(checkpoint_is_due(&x, at, at));
		place = (struct checkpoint_place){.at = at, .unpacked_at = at, .ts_ns = at};
		checkpoint_index_add(&x, &place, 1000);
		assert_in_range(x.n, 1, CHECKPOINTS_MAX);
		assert_false(checkpoint_is_due(&x, at, at));
	}
	for (size_t i = 1; i < x.n; i++) {
		const uint64_t step = x.v[i].at - x.v[i - 1].at;

		assert_in_range(step, x.every / 2, 2 * x.every);
	}
	/* A large checkpoint comes less often. */
	checkpoint_index_add(&x, &(struct checkpoint_place){.at = at, .unpacked_at = at}, 1 << 30);
	assert_false(checkpoint_is_due(&x, at + (1ull << 35), UINT64_MAX));
	assert_true(checkpoint_is_due(&x, at + (1ull << 36), UINT64_MAX));
	free(x.v);
}

static int make_all(void **state)
{
	for (size_t i = 0; i < N_EVTS; i++) {
		const uint32_t lens[] = {8, i % 50}, of_map[] = {8, 8, 8, 4, 8, 8, 12, 20};

		if (i % 7 == 6)
			put_event(&all, EVT_MAP_E, 8, of_map);
		else
			put_event(&all, i % 2 ? EVT_READ_X : EVT_WRITE_X, 2, lens);
	}
	return make_dir(state);
}

static int remove_all(void **state)
{
	list_fini(&all);
	return remove_dir(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_from_a_checkpoint),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_joined_files),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_times_that_go_back),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_index_is_bounded),
	};

	return cmocka_run_group_tests(tests, make_all, remove_all);
}
