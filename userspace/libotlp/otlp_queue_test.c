/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/test_main.h"

enum { SZ = 1000 };
#define DEADLINE_NS 10000000000ull

static struct otlp_batch *make(uint32_t n_items)
{
	static char bytes[SZ];

	memset(bytes, (int)n_items, sizeof(bytes));
	return otlp_batch_new(OTLP_TRACES, bytes, sizeof(bytes), n_items);
}

static struct otlp_queue *new_queue(size_t memory, const char *dir, uint64_t dir_sz)
{
	const struct otlp_queue_opts o = {
		.sz = sizeof(o), .memory_sz = memory, .dir = dir, .dir_sz = dir_sz};
	struct otlp_queue *q;

	assert_int_equal(otlp_queue_new(&q, &o), 0);
	return q;
}

/* Makes the folder @dir, a template of mkdtemp, and a queue with files in it. */
static struct otlp_queue *queue_in_new(char *dir, size_t memory, uint64_t dir_sz)
{
	assert_non_null(mkdtemp(dir));
	return new_queue(memory, dir, dir_sz);
}

static void assert_balanced(struct otlp_queue *q, uint64_t sent)
{
	struct otlp_queue_stats st;
	uint64_t dropped = 0, added = 0, done = 0;

	otlp_queue_get_stats(q, &st);
	for (size_t i = 0; i < OTLP_SIGNALS; i++) {
		added += st.added[i];
		done += st.sent[i];
		for (size_t k = 0; k < OTLP_DROPS; k++)
			dropped += st.dropped[i][k];
	}
	assert_int_equal(done, sent);
	assert_int_equal(added, sent + dropped + st.queued);
}

/* Takes the next batch, which must have so many items and their bytes. */
static struct otlp_batch *take(struct otlp_queue *q, uint32_t n_items)
{
	struct otlp_batch *b = otlp_queue_take(q, DEADLINE_NS);

	assert_non_null(b);
	assert_int_equal(b->n_items, n_items);
	assert_int_equal(b->len, SZ);
	assert_int_equal(b->bytes[SZ - 1], (uint8_t)n_items);
	return b;
}

static void test_order(void **state)
{
	struct otlp_queue *q = new_queue(0, NULL, 0);
	struct otlp_batch *b;

	(void)state;
	assert_null(otlp_queue_take(q, 0));
	for (uint32_t i = 1; i < 4; i++)
		otlp_queue_add(q, make(i));
	b = take(q, 1);
	otlp_queue_return(q, b); /* it stays the first */
	otlp_queue_done(q, take(q, 1), 0);
	otlp_queue_done(q, take(q, 2), 1);
	otlp_queue_drop(q, take(q, 3), OTLP_DROP_REFUSED);
	assert_null(otlp_queue_take(q, 0));
	assert_balanced(q, 1 + 1);
	otlp_queue_free(q);
}

static void test_full_memory_drops_the_oldest(void **state)
{
	struct otlp_queue *q = new_queue(5 * SZ, NULL, 0);
	struct otlp_queue_stats st;

	(void)state;
	for (uint32_t i = 1; i <= 10; i++)
		otlp_queue_add(q, make(i));
	otlp_queue_get_stats(q, &st);
	assert_true(st.memory <= 5 * SZ);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_QUEUE_FULL], 1 + 2 + 3 + 4 + 5 + 6);
	otlp_queue_done(q, take(q, 7), 0);
	assert_balanced(q, 7);
	otlp_queue_free(q);
}

static void test_too_large(void **state)
{
	struct otlp_queue *q = new_queue(SZ, NULL, 0);
	struct otlp_queue_stats st;

	(void)state;
	otlp_queue_add(q, NULL);
	otlp_queue_add(q, make(1));
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_NO_MEMORY], 1);
	assert_int_equal(st.queued, 0);
	otlp_queue_free(q);
}

/* ---- on disk ---- */

static int no_memory;

void *__real_realloc(void *p, size_t n);

void *__wrap_realloc(void *p, size_t n)
{
	return no_memory ? NULL : __real_realloc(p, n);
}

static void remove_dir(const char *path)
{
	char name[600];
	struct dirent *e;
	DIR *d = opendir(path);

	while (d && (e = readdir(d))) {
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		unlink(name);
	}
	closedir(d);
	rmdir(path);
}

static void wait_for_memory(struct otlp_queue *q, uint64_t most)
{
	struct otlp_queue_stats st;

	for (int i = 0; i < 10000; i++) {
		otlp_queue_get_stats(q, &st);
		if (st.memory <= most)
			return;
		usleep(1000);
	}
	fail_msg("%llu bytes stay in memory", (unsigned long long)st.memory);
}

static void add_many(struct otlp_queue *q, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		otlp_queue_add(q, make(i));
		wait_for_memory(q, 4 * SZ);
	}
}

static void test_disk_keeps_order_over_a_restart(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	struct otlp_queue *q;

	(void)state;
	q = queue_in_new(dir, 8 * SZ, 1 << 20);
	assert_int_equal(otlp_queue_start(q), 0);
	add_many(q, 1, 30);
	otlp_queue_done(q, take(q, 1), 0);
	otlp_queue_return(q, take(q, 2));
	assert_balanced(q, 1);
	otlp_queue_free(q);
	q = new_queue(8 * SZ, dir, 1 << 20);
	otlp_queue_add(q, make(31));
	for (uint32_t i = 2; i <= 31; i++)
		otlp_queue_done(q, take(q, i), 0);
	assert_null(otlp_queue_take(q, 0));
	otlp_queue_free(q);
	assert_int_equal(rmdir(dir), 0); /* no file is left */
}

static void test_full_disk_drops_the_oldest(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	struct otlp_queue_stats st;
	struct otlp_queue *q;

	(void)state;
	q = queue_in_new(dir, 8 * SZ, 5 * 4096);
	assert_int_equal(otlp_queue_start(q), 0);
	add_many(q, 1, 30);
	otlp_queue_get_stats(q, &st);
	assert_true(st.disk <= 5 * 4096);
	assert_true(st.dropped[OTLP_TRACES][OTLP_DROP_QUEUE_FULL] > 0);
	assert_balanced(q, 0);
	otlp_queue_free(q);
	remove_dir(dir);
}

/* Nothing is dropped for what has no room even then. */
static void test_larger_than_the_disk(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	static char large[5 * 4096];
	struct otlp_queue_stats st;
	struct otlp_queue *q;

	(void)state;
	q = queue_in_new(dir, 0, 3 * 4096);
	for (uint32_t i = 1; i <= 3; i++)
		otlp_queue_add(q, make(i));
	otlp_queue_save(q);
	otlp_queue_add(q, otlp_batch_new(OTLP_TRACES, large, sizeof(large), 4));
	otlp_queue_save(q);
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_ENDED], 4);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_QUEUE_FULL], 0);
	assert_int_equal(st.queued, 1 + 2 + 3);
	assert_balanced(q, 0);
	otlp_queue_free(q);
	remove_dir(dir);
}

static void damage(const char *dir)
{
	char name[600];
	struct dirent *e;
	DIR *d = opendir(dir);

	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "0000000000000001.", 17)) {
			snprintf(name, sizeof(name), "%s/%s", dir, e->d_name);
			assert_int_equal(truncate(name, SZ / 2), 0);
		}
	closedir(d);
	snprintf(name, sizeof(name), "%s/notes.txt", dir); /* not ours: stays */
	close(open(name, O_CREAT | O_WRONLY, 0600));
}

static void test_damaged_file(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX", notes[600];
	struct otlp_queue_stats st;
	struct otlp_queue *q;

	(void)state;
	q = queue_in_new(dir, 0, 1 << 20);
	otlp_queue_add(q, make(1));
	otlp_queue_add(q, make(2));
	otlp_queue_free(q);
	damage(dir);
	q = new_queue(0, dir, 1 << 20);
	otlp_queue_done(q, take(q, 2), 0);
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_DAMAGED], 1);
	assert_balanced(q, 2);
	otlp_queue_free(q);
	snprintf(notes, sizeof(notes), "%s/notes.txt", dir);
	assert_int_equal(access(notes, F_OK), 0);
	remove_dir(dir);
}

/* Without a descriptor no file can be read: that is no damage. */
static void test_no_descriptor_is_free(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	struct otlp_queue *q;
	struct rlimit was, none;

	(void)state;
	q = queue_in_new(dir, 0, 1 << 20);
	otlp_queue_add(q, make(1));
	otlp_queue_add(q, make(2));
	otlp_queue_free(q);
	q = new_queue(0, dir, 1 << 20);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_null(otlp_queue_take(q, 0));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_balanced(q, 0);
	otlp_queue_done(q, take(q, 1), 0);
	otlp_queue_done(q, take(q, 2), 0);
	assert_balanced(q, 3);
	otlp_queue_free(q);
	assert_int_equal(rmdir(dir), 0);
}

/* What is behind the batch would count as room for ever. */
static void test_file_is_longer(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX", name[600];
	struct otlp_queue_stats st;
	struct otlp_queue *q;

	(void)state;
	q = queue_in_new(dir, 0, 1 << 20);
	otlp_queue_add(q, make(1));
	otlp_queue_free(q);
	snprintf(name, sizeof(name), "%s/0000000000000001.traces.1.otlp", dir);
	assert_int_equal(truncate(name, 1 << 30), 0);
	q = new_queue(0, dir, 1 << 20);
	assert_null(otlp_queue_take(q, 0));
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_DAMAGED], 1);
	assert_int_equal(st.disk, 0);
	otlp_queue_free(q);
	assert_int_equal(rmdir(dir), 0);
}

/* A batch that was dropped is in no file, which a restart would send. */
static void test_no_memory_for_the_list(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	struct otlp_queue_stats st;
	struct otlp_queue *q;

	(void)state;
	q = queue_in_new(dir, 0, 1 << 20);
	otlp_queue_add(q, make(1));
	no_memory = 1;
	otlp_queue_save(q);
	no_memory = 0;
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_ENDED], 1);
	assert_int_equal(st.disk_errors, 1);
	assert_balanced(q, 0);
	otlp_queue_free(q);
	assert_int_equal(rmdir(dir), 0);
}

static int n_asked;

static int stops(void)
{
	return ++n_asked > 3;
}

static void test_a_file_waits_for_room(void **state)
{
	struct otlp_queue *q = new_queue(3 * SZ, NULL, 0);
	struct otlp_queue_stats st;

	(void)state;
	otlp_queue_add_wait(q, make(1), stops);
	otlp_queue_add_wait(q, make(2), stops);
	assert_int_equal(n_asked, 2);
	otlp_queue_add_wait(q, make(3), stops); /* no batch leaves, but the caller is to stop */
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_QUEUE_FULL], 1);
	assert_int_equal(st.queued, 2 + 3);
	otlp_queue_free(q);
}

/* What cannot be saved at the end is counted. */
static void test_end(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	const char *const dirs[] = {NULL, dir, dir};
	struct otlp_queue_stats st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < 3; i++) {
		struct otlp_queue *q = new_queue(0, dirs[i], i == 1 ? 1 : 0); /* no room */
		const int saves = i == 2;

		otlp_queue_add(q, make(1));
		otlp_queue_add(q, make(2));
		otlp_queue_return(q, take(q, 1));
		otlp_queue_save(q);
		otlp_queue_get_stats(q, &st);
		assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_ENDED], saves ? 0 : 3);
		assert_int_equal(st.queued, saves ? 3 : 0);
		assert_balanced(q, 0);
		otlp_queue_free(q);
	}
	remove_dir(dir);
}

static int new_in(struct otlp_queue **q, const char *dir)
{
	const struct otlp_queue_opts o = {.sz = sizeof(o), .dir = dir};

	return otlp_queue_new(q, &o);
}

static void test_others_can_write(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	struct otlp_queue *q;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(new_in(&q, dir), -EPERM);
	assert_int_equal(chmod(dir, 0755), 0);
	if (!geteuid()) {
		assert_int_equal(chown(dir, 65534, 65534), 0);
		assert_int_equal(new_in(&q, dir), -EPERM);
		assert_int_equal(chown(dir, 0, 0), 0);
	}
	assert_int_equal(new_in(&q, dir), 0);
	otlp_queue_free(q);
	rmdir(dir);
}

/* A link of another user could have the queue remove and write files in any folder of ours. */
static void test_links_to_directories(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX", link[64];
	struct otlp_queue *q;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s.link", dir);
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(new_in(&q, link), 0);
	otlp_queue_free(q);
	if (!geteuid()) {
		assert_int_equal(lchown(link, 65534, 65534), 0);
		assert_int_equal(new_in(&q, link), -EPERM);
	}
	unlink(link);
	rmdir(dir);
}

/* Names of files are places in the order of one queue: those of two would replace each other. */
static void test_one_queue_in_a_directory(void **state)
{
	char dir[] = "/tmp/otlp_queue_test.XXXXXX";
	struct otlp_queue *q, *other;

	(void)state;
	q = queue_in_new(dir, 0, 0);
	assert_int_equal(new_in(&other, dir), -EBUSY);
	otlp_queue_free(q);
	assert_int_equal(new_in(&other, dir), 0);
	otlp_queue_free(other);
	rmdir(dir);
}

static int never(void)
{
	return 0;
}

/* What was taken and comes back finds its room taken: the source waits for more then. */
static void test_wait_and_return(void **state)
{
	struct otlp_queue *q = new_queue(5 * SZ, NULL, 0);
	struct otlp_queue_stats st;
	struct otlp_batch *b;

	(void)state;
	for (uint32_t i = 1; i <= 4; i++)
		otlp_queue_add_wait(q, make(i), never);
	b = take(q, 1);
	otlp_queue_add_wait(q, make(5), never);
	otlp_queue_return(q, b);
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_QUEUE_FULL], 0);
	for (uint32_t i = 1; i <= 5; i++)
		otlp_queue_done(q, take(q, i), 0);
	assert_balanced(q, 1 + 2 + 3 + 4 + 5);
	otlp_queue_free(q);
}

static void *add_all(void *ctx)
{
	for (uint32_t i = 1; i <= 40; i++)
		otlp_queue_add_wait(ctx, make(i), never);
	return NULL;
}

/* A source that can wait loses nothing, with files either. */
static void test_wait_with_files(void **state)
{
	char dir[] = "/tmp/otlp_wait_XXXXXX";
	struct otlp_queue *q = queue_in_new(dir, 5 * SZ, 4 * 4096);
	struct otlp_queue_stats st;
	pthread_t source;

	(void)state;
	assert_int_equal(otlp_queue_start(q), 0);
	assert_int_equal(pthread_create(&source, NULL, add_all, q), 0);
	for (uint32_t i = 1; i <= 40; i++) {
		usleep(5000); /* a slow collector */
		struct otlp_batch *b = otlp_queue_take(q, 1000000000);
		if (b)
			otlp_queue_done(q, b, 0);
	}
	pthread_join(source, NULL);
	otlp_queue_get_stats(q, &st);
	assert_int_equal(st.dropped[OTLP_TRACES][OTLP_DROP_QUEUE_FULL], 0);
	otlp_queue_free(q);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_full_memory_drops_the_oldest),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_disk_keeps_order_over_a_restart),
		cmocka_unit_test(test_full_disk_drops_the_oldest),
		cmocka_unit_test(test_larger_than_the_disk),
		cmocka_unit_test(test_damaged_file),
		cmocka_unit_test(test_no_descriptor_is_free),
		cmocka_unit_test(test_file_is_longer),
		cmocka_unit_test(test_a_file_waits_for_room),
		cmocka_unit_test(test_no_memory_for_the_list),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_others_can_write),
		cmocka_unit_test(test_links_to_directories),
		cmocka_unit_test(test_one_queue_in_a_directory),
		cmocka_unit_test(test_wait_and_return),
		cmocka_unit_test(test_wait_with_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
