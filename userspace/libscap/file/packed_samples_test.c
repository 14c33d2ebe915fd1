/* SPDX-License-Identifier: Apache-2.0 */
/* Events of stacks in a file: short there, and read back to the byte, whatever they hold. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "event/event_build.h"
#include "file/file_testing.h"
#include "shared/stack.h"
#include "testing/test_main.h"

#define KERNEL_TEXT 0xffffffff81000000ull
#define LIBC 0x7f1234560000ull

static struct list events;

static void put_built(unsigned int type, const struct evt_value *v, unsigned int n)
{
	static _Alignas(8) uint8_t buf[UINT16_MAX];
	struct scap_evt evt = {.hdr = (void *)buf, .type = type, .nr = REC_NR_NONE};

	evt.ts_ns = evt.true_ns = T0 + events.n;
	assert_true(scap_evt_build(buf, sizeof(buf), type, evt.ts_ns, 4711, v, n) > 0);
	keep(&events, &evt);
}

static void put_sample(const uint64_t *kernel, size_t n_kernel, const uint64_t *user, size_t n_user,
		       uint64_t ip, uint64_t sp, uint64_t bp)
{
	const struct evt_value v[] = {{"", 1},
				      {&(uint64_t){1001001}, 8},
				      {&(uint64_t){4711}, 8},
				      {"python3", 8},
				      {kernel, 8 * n_kernel},
				      {user, 8 * n_user},
				      {"", 1},
				      {&ip, n_user ? 8 : 0},
				      {&sp, n_user ? 8 : 0},
				      {&bp, n_user ? 8 : 0}};

	put_built(EVT_SAMPLE_E, v, 10);
}

static void put_map(const char *path, size_t len, const void *build_id)
{
	const uint64_t number = 0x10000 + events.n;
	const struct evt_value v[] = {{&number, 8}, {&number, 8},
				      {&number, 8}, {&number, 8},
				      {&number, 4}, {&number, 4},
				      {&number, 8}, {&number, 8},
				      {path, len},  {build_id, build_id ? 20 : 0}};

	put_built(EVT_MAP_E, v, 10);
}

/* Writes the events, reads them, and forgets them. The size of the file. */
static size_t assert_written(void)
{
	static struct list got;
	struct stat st;

	write_list(&events, path_of("dense"), SCAP_COMPRESS_NONE);
	assert_int_equal(read_path(&got, path_of("dense")), -ENODATA);
	assert_int_equal(got.n, events.n);
	for (size_t i = 0; i < got.n; i++)
		assert_same(&got.v[i], &events.v[i]);
	assert_int_equal(scap_verify(path_of("dense"), hear, NULL), 0);
	assert_int_equal(stat(path_of("dense"), &st), 0);
	list_fini(&got);
	list_fini(&events);
	return st.st_size;
}

static void test_samples_are_short(void **state)
{
	uint64_t kernel[9], user[37];

	(void)state;
	for (size_t i = 0; i < 9; i++)
		kernel[i] = KERNEL_TEXT + i * 77777;
	for (size_t i = 0; i < 37; i++)
		user[i] = LIBC + i * i * 1000 + ((uint64_t)STACK_HOW_ROW << STACK_HOW_SHIFT);
	user[0] = LIBC | STACK_EXACT;
	for (int i = 0; i < 100; i++)
		put_sample(kernel, i % 10, user, 37, LIBC, LIBC + (1ull << 40), 32);
	assert_in_range(assert_written() / 100, 100, 240);
}

static uint64_t random_address(uint64_t *seed)
{
	const uint64_t v = (uint64_t)random_u32(seed) << 32 ^ random_u32(seed) ^
			   (uint64_t)random_u32(seed) << 16;
	static const uint64_t edges[] = {0,
					 1,
					 UINT64_MAX,
					 1ull << 63,
					 1ull << 55,
					 (1ull << 55) - 1,
					 (1ull << 56) - 1,
					 1ull << 56};

	switch (random_u32(seed) % 4) {
	case 0:
		return edges[random_u32(seed) % (sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return KERNEL_TEXT + v % 0x1000000;
	case 2:
		return LIBC + v % 0x1000000 + ((uint64_t)(random_u32(seed) % 4) << STACK_HOW_SHIFT);
	default:
		return v;
	}
}

static void test_any_addresses(void **state)
{
	static uint64_t v[2 * STACK_USER_MAX];
	uint64_t seed = 0x1234567;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < 64; i++)
			v[i] = random_address(&seed);
		put_sample(v, random_u32(&seed) % 32, v + 32, random_u32(&seed) % 32,
			   random_address(&seed), random_address(&seed), random_address(&seed));
	}
	for (size_t i = 0; i < 2 * STACK_USER_MAX; i++)
		v[i] = random_address(&seed);
	put_sample(v, STACK_KERNEL_MAX, v, STACK_USER_MAX, 1, 2, 3);
	put_sample(v, 0, v, 0, 0, 0, 0);
	assert_written();
}

/* Parameters that packing cannot restore are stored as they are. */
static void test_what_is_no_such_event(void **state)
{
	const uint32_t odd[] = {1, 8, 8, 3, 12, 16}, narrow[] = {1, 4, 8, 3, 8, 16}, none[36] = {0};
	struct ppm_evt_hdr *longer;

	(void)state;
	put_event(&events, EVT_SAMPLE_E, 6, odd);
	put_event(&events, EVT_SAMPLE_E, 6, narrow);
	put_event(&events, EVT_SAMPLE_E, 36, none);
	put_event(&events, EVT_SAMPLE_E, 0, NULL);
	put_event(&events, EVT_SAMPLE_E, 6, none);
	put_event(&events, EVT_SAMPLE_E, 4, odd);
	longer = realloc((void *)events.v[5].hdr, events.v[5].hdr->len + 9);
	assert_non_null(longer);
	memset((uint8_t *)longer + longer->len, 7, 9);
	longer->len += 9;
	events.v[5].hdr = longer;
	assert_written();
}

/* Paths that the file has already take a byte or two; when they are too many, it begins anew. */
static void test_paths_are_there_once(void **state)
{
	static char path[6000];
	uint8_t build_id[20] = "a build id of a file";

	(void)state;
	memset(path, 'x', sizeof(path));
	for (int i = 0; i < 1000; i++)
		put_map(path, 300 + i % 7, build_id);
	assert_in_range(assert_written() / 1000, 60, 90);
	for (int i = 0; i < 4000; i++) {
		memcpy(path, &i, sizeof(i));
		put_map(path, i % 3 ? 100 + i % 4000 : 60, i % 2 ? &path[i] : NULL);
		put_map(path, 60, i % 5 ? build_id : NULL);
		if (events.n > MAX_EVTS - 3)
			assert_written();
	}
	put_map(path, 4096, build_id);
	put_map(path, 4097, build_id);
	put_map(path, 4096, build_id);
	assert_written();
}

/* A text twice in one event is written twice: remembered is what was complete. */
static void test_names_of_symbols(void **state)
{
	const uint64_t number = 99;
	struct evt_value v[] = {{&number, 1},
				{&number, 8},
				{&number, 4},
				{&number, 8},
				{&number, 8},
				{"same", 5},
				{"same", 5},
				{&number, 8},
				{&number, 8},
				{&number, 8},
				{"same", 5},
				{"main", 5},
				{"main\tmain.c\t12\n", 15}};

	(void)state;
	for (int i = 0; i < 10; i++) {
		put_built(EVT_SYMBOL_E, v, 13);
		put_map("same", 5, NULL);
		put_map("other", 6, NULL);
	}
	assert_written();
	/* More names than are remembered. */
	for (uint32_t i = 0; i < 4000; i++) {
		uint32_t names[] = {i, ~i, i << 16};

		for (int j = 0; j < 3; j++)
			v[(int[]){5, 6, 10}[j]] = (struct evt_value){&names[j], sizeof(names[j])};
		put_built(EVT_SYMBOL_E, v, 13);
	}
	assert_written();
}

/* Each section, and each file, has its own texts. */
static void test_sections_are_apart(void **state)
{
	static struct list got;
	struct bytes b = {0};

	(void)state;
	put_map("/bin/first", 11, NULL);
	put_map("/bin/second", 12, NULL);
	put_map("/bin/first", 11, NULL);
	write_list(&events, path_of("dense"), SCAP_COMPRESS_NONE);
	load(&b, path_of("dense"));
	load(&b, path_of("dense"));
	assert_int_equal(read_bytes(&got, b.p, b.n), -ENODATA);
	assert_int_equal(got.n, 6);
	for (size_t i = 0; i < 6; i++)
		assert_same(&got.v[i], &events.v[i % 3]);
	list_fini(&got);
	list_fini(&events);
	free(b.p);
}

/*
 * Dense events by hand.
 */

static struct file_buf buf;
static struct packed_texts *texts;

static int new_texts(void **state)
{
	(void)state;
	texts = packed_texts_new();
	return texts ? 0 : -1;
}

static int free_texts(void **state)
{
	(void)state;
	packed_texts_free(texts);
	free(buf.p);
	buf = (struct file_buf){0};
	return 0;
}

static int get_dense(const struct ppm_evt_hdr **out, unsigned int type, const void *data,
		     size_t len)
{
	const uint16_t type16 = type;
	const struct evt_value v[] = {{&type16, 2}, {data, len}};
	const size_t sz = sizeof(struct ppm_evt_hdr) + 3 * sizeof(uint16_t) + len;
	uint8_t *dense = malloc(sz); /* where sanitizers see what is read behind it */
	int err;

	assert_non_null(dense);
	assert_int_equal(scap_evt_build(dense, sz, EVT_DENSE_E, T0, 1, v, 2), sz);
	err = packed_samples_get(&buf, out, texts, (const void *)dense);
	assert_true(err || *out != (const void *)dense || type > EVT_SYMBOL_E);
	free(dense);
	return err;
}

static void assert_refused(unsigned int type, const void *data, size_t len)
{
	const struct ppm_evt_hdr *evt;

	assert_int_equal(get_dense(&evt, type, data, len), -EBADMSG);
}

static void test_damaged_events(void **state)
{
	(void)state;
	assert_refused(EVT_SAMPLE_E, "", 0);
	assert_refused(EVT_SAMPLE_E, "\x80\x80", 2); /* a number without an end */
	assert_refused(EVT_SAMPLE_E, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 12);
	assert_refused(EVT_SAMPLE_E, "\0x", 2); /* bytes behind the last parameter */
	assert_refused(EVT_SAMPLE_E, "\x03", 1); /* a parameter that is not there */
	assert_refused(EVT_SAMPLE_E, "\x30\5\0\0\0\0", 6); /* five frames of four bytes */
	assert_refused(EVT_SAMPLE_E, "\x30\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
	assert_refused(EVT_SAMPLE_E, "\x30\1\1", 3); /* a highest byte that is not there */
	assert_refused(EVT_SAMPLE_E, "\x18\5abc", 5); /* a name longer than the event */
	assert_refused(EVT_MAP_E, "\x80\6\x14", 3); /* a text longer than the event */
}

/* The path of event @i of events as @reader, which may have missed some before, has it. */
static void assert_path(struct packed_texts *writer, struct packed_texts *reader, size_t i,
			const char *path)
{
	struct file_buf dense = {0};
	const int path_at = scap_event_param(EVT_MAP_E, "path");
	const struct ppm_evt_hdr *evt;
	struct scap_params params;

	assert_int_equal(packed_samples_put(&dense, &evt, writer, events.v[i].hdr), 0);
	assert_int_equal(evt->type, EVT_DENSE_E);
	if (reader) {
		assert_int_equal(packed_samples_get(&buf, &evt, reader, evt), 0);
		assert_int_equal(scap_evt_params(evt, &params), 0);
		assert_int_equal(params.v[path_at].len, path ? strlen(path) + 1 : 0);
		if (path)
			assert_string_equal((const char *)params.v[path_at].p, path);
	}
	free(dense.p);
}

/* Events were removed from a file: their content is missing, and no other content replaces it. */
static void test_missing_events(void **state)
{
	struct packed_texts *writer = packed_texts_new();
	char path[16] = "";

	(void)state;
	assert_non_null(writer);
	for (int i = 0; i < 2; i++) {
		put_map("/first", 7, NULL);
		put_map("/second", 8, NULL);
		put_map("/third", 7, NULL);
	}
	assert_path(writer, texts, 0, "/first");
	assert_path(writer, NULL, 1, NULL);
	assert_path(writer, texts, 2, "/third");
	assert_path(writer, texts, 3, "/first");
	assert_path(writer, texts, 4, NULL);
	assert_path(writer, texts, 5, "/third");
	list_fini(&events);
	/* So many stacks that the writer evicts earlier ones, most of them unused. */
	for (int i = 0; i < 10000; i++) {
		const int n = snprintf(path, sizeof(path), "/%d", i);

		put_map(path, n + 1, NULL);
		assert_path(writer, i % 3000 < 10 ? texts : NULL, 0, path);
		list_fini(&events);
	}
	put_map("/first", 7, NULL);
	put_map("/9001", 6, NULL);
	put_map("/9500", 6, NULL);
	assert_path(writer, texts, 0, "/first");
	assert_path(writer, texts, 0, "/first");
	assert_path(writer, texts, 1, "/9001");
	assert_path(writer, texts, 2, NULL);
	list_fini(&events);
	packed_texts_free(writer);
}

/* Parameters and events of later versions: the known part is read. */
static void test_newer_events(void **state)
{
	/* 36 parameters, of which the first and the last two have values. */
	const uint8_t more[] = {0x81, 0x80, 0x80, 0x80, 0xc0, 0x03, 2, 'x', 'y', 'z'};
	const struct ppm_evt_hdr *evt;
	struct scap_params params;

	(void)state;
	assert_int_equal(get_dense(&evt, EVT_SAMPLE_E, more, sizeof(more)), 0);
	assert_int_equal(evt->type, EVT_SAMPLE_E);
	assert_int_equal(scap_evt_params(evt, &params), 0);
	assert_int_equal(params.n, SAMPLE_P_MAX);
	assert_int_equal(params.v[0].len, 1);
	assert_int_equal(params.v[0].p[0], 2);
	assert_int_equal(get_dense(&evt, EVT_SYMBOL_E + 2, more, sizeof(more)), 0);
}

/* Samples as written by versions without packed samples. */
static void test_samples_as_they_were(void **state)
{
	static struct list got;
	uint64_t user[3] = {LIBC, LIBC + 8, LIBC + 16};
	struct bytes b = {0};
	uint32_t flags = EVF_STATE_ONLY;
	size_t at;

	(void)state;
	put_sample(NULL, 0, user, 3, LIBC, 1, 2);
	add_shb(&b);
	at = begin_block(&b, BLK_SAKER);
	end_block(&b, at);
	at = begin_block(&b, BLK_EVF_V2);
	ADD(&b, uint16_t, events.v[0].cpu);
	add_bytes(&b, &flags, sizeof(flags));
	add_bytes(&b, events.v[0].hdr, events.v[0].hdr->len);
	end_block(&b, at);
	assert_int_equal(read_bytes(&got, b.p, b.n), -ENODATA);
	assert_int_equal(got.n, 1);
	assert_same(&got.v[0], &events.v[0]);
	list_fini(&got);
	list_fini(&events);
	free(b.p);
}

/* Asserts only that the output is consistent: run it under sanitizers. */
static void test_random_damage(void **state)
{
	static uint8_t data[512];
	const struct ppm_evt_hdr *evt;
	uint64_t seed = 0xdecade;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const size_t len = random_u32(&seed) % sizeof(data);
		int err;

		for (size_t i = 0; i < len; i++)
			data[i] = random_u32(&seed) % (i < 4 ? 256 : round % 256 + 1);
		err = get_dense(&evt, round % 2 ? EVT_SAMPLE_E : EVT_MAP_E, data, len);
		assert_true(err == 0 || err == -EBADMSG);
		if (!err)
			assert_int_equal(event_block_check(evt, evt->len), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_short),
		cmocka_unit_test(test_any_addresses),
		cmocka_unit_test(test_what_is_no_such_event),
		cmocka_unit_test(test_paths_are_there_once),
		cmocka_unit_test(test_names_of_symbols),
		cmocka_unit_test(test_sections_are_apart),
		cmocka_unit_test_setup_teardown(test_damaged_events, new_texts, free_texts),
		cmocka_unit_test_setup_teardown(test_missing_events, new_texts, free_texts),
		cmocka_unit_test_setup_teardown(test_newer_events, new_texts, free_texts),
		cmocka_unit_test(test_samples_as_they_were),
		cmocka_unit_test_setup_teardown(test_random_damage, new_texts, free_texts),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
