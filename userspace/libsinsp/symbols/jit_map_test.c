/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit_map.h"

static int file(void)
{
	const int fd = memfd_create("jit", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void put(int fd, const void *p, size_t len)
{
	assert_int_equal(write(fd, p, len), len);
}

static void put_text(int fd, const char *text)
{
	put(fd, text, strlen(text));
}

/* "name", or "name file:line"; "-": nothing. */
static const char *at_time(struct jit_map *m, uint64_t addr, uint64_t mono_ns)
{
	static char text[SYMTAB_MAX_NAME + 64];
	struct symtab_sym s;
	const char *source;
	uint32_t line;

	if (!jit_map_find(m, addr, mono_ns, &s, &source, &line))
		return "-";
	if (source)
		snprintf(text, sizeof(text), "%s %s:%u", s.name, source, line);
	else
		snprintf(text, sizeof(text), "%s", s.name);
	return text;
}

static const char *name_at(struct jit_map *m, uint64_t addr)
{
	return at_time(m, addr, JIT_LATEST);
}

static void perf_map(void **state)
{
	struct jit_map *m = jit_map_new();
	const int fd = file();

	(void)state;
	assert_int_equal(jit_map_read(m, fd, getuid()), 0);
	put_text(fd, "7f0000001000 80 LFoo;::bar(I)\n0x7f0000002000 0x10 two words\r\n7f00000");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x7f000000107f), "LFoo;::bar(I)");
	assert_string_equal(name_at(m, 0x7f0000002000), "two words");
	assert_string_equal(name_at(m, 0x7f0000001080), "-");
	/* The line that was being written, and code at the place of other code. */
	put_text(fd, "03000 10 late\n7f0000001000 40 again\n");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x7f0000003000), "late");
	assert_string_equal(name_at(m, 0x7f0000001010), "again");
	assert_string_equal(name_at(m, 0x7f0000001050), "LFoo;::bar(I)");
	assert_int_equal(jit_map_read(m, fd, getuid()), 0);
	close(fd);
	jit_map_free(m);
	jit_map_free(NULL);
}

static void write_anew(int fd, const char *text)
{
	const struct timespec later[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 12345}};

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
	assert_int_equal(futimens(fd, later), 0); /* clocks of files are coarse */
}

/* A file of as many bytes, of less, of more than before, and another one. */
static void written_anew(void **state)
{
	struct jit_map *m = jit_map_new();
	const int fd = file(), other = file();

	(void)state;
	put_text(fd, "1000 10 one\n2000 10 two\n");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x2000), "two");
	write_anew(fd, "1000 10 ONE\n3000 10 six\n");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x1000), "ONE");
	assert_string_equal(name_at(m, 0x2000), "-");
	assert_string_equal(name_at(m, 0x3000), "six");
	assert_int_equal(jit_map_read(m, fd, getuid()), 0);
	write_anew(fd, "4000 10 less\n");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x1000), "-");
	assert_string_equal(name_at(m, 0x4000), "less");
	write_anew(fd, "5000 10 more\n6000 10 and more\n");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x4000), "-");
	assert_string_equal(name_at(m, 0x6000), "and more");
	put_text(other, "5000 10 last\n6000 10 and other\n7000 10 so\n");
	assert_int_equal(jit_map_read(m, other, getuid()), 1);
	assert_string_equal(name_at(m, 0x5000), "last");
	close(other);
	close(fd);
	jit_map_free(m);
}

/* The time for reading one file is limited. */
static void written_anew_for_ever(void **state)
{
	const size_t sz = 64u << 20;
	struct jit_map *m = jit_map_new();
	char line[] = "1000 10 a\n";
	const int fd = file();
	int n = 0;

	(void)state;
	put_text(fd, line);
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	for (int i = 0; i < 1000 && !n; i++) {
		struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = i + 1}};

		line[8] = (char)('a' + i % 26);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, line, strlen(line), (off_t)sz), strlen(line));
		assert_int_equal(futimens(fd, t), 0);
		n = jit_map_read(m, fd, getuid()) ? 0 : i;
	}
	assert_true(n > 4 && n < 1000);
	assert_true(jit_map_is_cut(m));
	close(fd);
	jit_map_free(m);
}

static void wrong_lines(void **state)
{
	struct jit_map *m = jit_map_new();
	const int fd = file();
	char *line = calloc(1, 200001);

	(void)state;
	put_text(
		fd,
		"\n\nhello\n1000\n1000 10\n1000 10 \n -5 10 x\n0 10 zero\nffffffffffffffff 10 top\n"
		"2000 0 empty\n2000 ffffffffffff huge\n3000 10\tx\n");
	memset(line, 'y', 200000);
	memcpy(line, "4000 10 ", 8);
	put_text(fd, line);
	put_text(fd, "\n5000 10 good\n");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x5001), "good");
	assert_int_equal(strlen(name_at(m, 0x4001)), SYMTAB_MAX_NAME);
	assert_string_equal(name_at(m, 0x2001), "-");
	assert_string_equal(name_at(m, 0x1001), "-");
	free(line);
	close(fd);
	jit_map_free(m);
}

static void of_somebody_else(void **state)
{
	struct jit_map *m = jit_map_new();
	const int fd = file();

	(void)state;
	if (getuid() != 0)
		skip();
	put_text(fd, "5000 10 good\n");
	assert_int_equal(fchown(fd, 12345, 0), 0);
	assert_int_equal(jit_map_read(m, fd, 54321), -EPERM);
	assert_int_equal(jit_map_read(m, fd, 12345), 1);
	close(fd);
	jit_map_free(m);
}

/* ---- jitdump ---- */

struct bytes {
	char p[4096];
	size_t len;
};

static void add(struct bytes *b, const void *p, size_t len)
{
	memcpy(b->p + b->len, p, len);
	b->len += len;
}

static void add_u32(struct bytes *b, uint32_t v)
{
	add(b, &v, sizeof(v));
}

static void add_u64(struct bytes *b, uint64_t v)
{
	add(b, &v, sizeof(v));
}

static uint64_t now_ns = 1; /* of the records */

static void put_record(int fd, uint32_t id, const struct bytes *body)
{
	struct bytes b = {.len = 0};

	add_u32(&b, id);
	add_u32(&b, (uint32_t)(16 + body->len));
	add_u64(&b, now_ns);
	add(&b, body->p, body->len);
	put(fd, b.p, b.len);
}

static void put_header(int fd, uint64_t flags)
{
	struct bytes b = {.len = 0};

	now_ns = 1;

	for (int i = 0; i < 6; i++)
		add_u32(&b, i == 0 ? 0x4a695444 : i == 1 ? 1 : i == 2 ? 40 : 0);
	add_u64(&b, 0);
	add_u64(&b, flags);
	put(fd, b.p, b.len);
}

static void put_load(int fd, uint64_t addr, uint64_t size, const char *name)
{
	struct bytes b = {.len = 0};

	add_u64(&b, 0);
	add_u64(&b, addr);
	add_u64(&b, addr);
	add_u64(&b, size);
	add_u64(&b, 1);
	add(&b, name, strlen(name) + 1);
	add(&b, "code", 4);
	put_record(fd, 0, &b);
}

static void put_debug(int fd, uint64_t addr)
{
	struct bytes b = {.len = 0};

	add_u64(&b, addr);
	add_u64(&b, 2);
	add_u64(&b, addr);
	add_u32(&b, 10);
	add_u32(&b, 0);
	add(&b, "foo.js", 7);
	add_u64(&b, addr + 8);
	add_u32(&b, 12);
	add_u32(&b, 0);
	add(&b, "\377", 2);
	put_record(fd, 2, &b);
}

static void put_move(int fd, uint64_t from, uint64_t to, uint64_t size)
{
	struct bytes b = {.len = 0};

	add_u64(&b, 0);
	add_u64(&b, to);
	add_u64(&b, from);
	add_u64(&b, to);
	add_u64(&b, size);
	add_u64(&b, 1);
	put_record(fd, 1, &b);
}

static void jitdump(void **state)
{
	struct jit_map *m = jit_map_new();
	const int fd = file();

	(void)state;
	put_header(fd, 0);
	put_debug(fd, 0x5000);
	put_load(fd, 0x5000, 0x20, "foo");
	put_load(fd, 0x6000, 0x20, "bar");
	put_move(fd, 0x6000, 0x7000, 0x20);
	put_record(fd, 77, &(struct bytes){.len = 3});
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(name_at(m, 0x5004), "foo foo.js:10");
	assert_string_equal(name_at(m, 0x501f), "foo foo.js:12");
	assert_string_equal(name_at(m, 0x5020), "-");
	assert_string_equal(name_at(m, 0x6000), "bar");
	assert_string_equal(name_at(m, 0x7000), "bar");
	close(fd);
	jit_map_free(m);
}

#define SECOND 1000000000ull

/* Three functions at one place, one after another; one moves away, one lies inside. */
static void by_time(void **state)
{
	struct jit_map *m = jit_map_new();
	const int fd = file();

	(void)state;
	put_header(fd, 0);
	now_ns = 10 * SECOND;
	put_debug(fd, 0x5000);
	put_load(fd, 0x5000, 0x100, "first");
	now_ns = 20 * SECOND;
	put_move(fd, 0x5000, 0x9000, 0x100);
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(at_time(m, 0x5010, JIT_LATEST), "first foo.js:12");
	now_ns = 30 * SECOND;
	put_load(fd, 0x5000, 0x80, "second");
	now_ns = 40 * SECOND;
	put_load(fd, 0x5040, 0x10, "within");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);

	assert_string_equal(at_time(m, 0x5010, 5 * SECOND), "-");
	assert_string_equal(at_time(m, 0x5010, 10 * SECOND), "first foo.js:12");
	assert_string_equal(at_time(m, 0x5010, 30 * SECOND - 1), "first foo.js:12");
	assert_string_equal(at_time(m, 0x5010, 30 * SECOND), "second");
	assert_string_equal(at_time(m, 0x5090, 50 * SECOND), "first foo.js:12");
	assert_string_equal(at_time(m, 0x5048, 35 * SECOND), "second");
	assert_string_equal(at_time(m, 0x5048, 45 * SECOND), "within");
	assert_string_equal(at_time(m, 0x5010, JIT_LATEST), "second");
	/* Its lines came along. */
	assert_string_equal(at_time(m, 0x9004, 25 * SECOND), "first foo.js:10");
	assert_string_equal(at_time(m, 0x9008, 25 * SECOND), "first foo.js:12");
	assert_string_equal(at_time(m, 0x9004, 15 * SECOND), "-");
	/* The function ran a moment before it was reported. */
	assert_string_equal(at_time(m, 0x9004, 20 * SECOND - 1000000), "first foo.js:10");
	close(fd);
	jit_map_free(m);
}

/* Times of a CPU counter are not comparable with others. */
static void times_of_the_cpu(void **state)
{
	struct jit_map *m = jit_map_new();
	const int fd = file();

	(void)state;
	put_header(fd, 1);
	now_ns = 10 * SECOND;
	put_load(fd, 0x5000, 0x100, "first");
	now_ns = 20 * SECOND;
	put_load(fd, 0x5000, 0x100, "second");
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	assert_string_equal(at_time(m, 0x5010, 15 * SECOND), "second");
	close(fd);
	jit_map_free(m);
}

/* Every byte of a good file changed, and the file cut at every length. */
static void damaged(void **state)
{
	const int fd = file();
	char good[1024];
	ssize_t len;

	(void)state;
	put_header(fd, 0);
	put_debug(fd, 0x5000);
	put_load(fd, 0x5000, 0x20, "foo");
	put_move(fd, 0x5000, 0x7000, 0x20);
	len = pread(fd, good, sizeof(good), 0);
	for (ssize_t i = 0; i < 2 * len; i++) {
		struct jit_map *m = jit_map_new();
		char bad[1024];
		struct symtab_sym sym;
		const char *source;
		uint32_t line;

		memcpy(bad, good, (size_t)len);
		if (i < len)
			bad[i] = (char)(bad[i] ^ 0xff);
		assert_int_equal(pwrite(fd, bad, (size_t)len, 0), len);
		assert_int_equal(ftruncate(fd, i < len ? len : 2 * len - i), 0);
		jit_map_read(m, fd, getuid());
		jit_map_find(m, 0x5000, JIT_LATEST, &sym, &source, &line);
		jit_map_free(m);
	}
	close(fd);
}

/* A line for each byte of a large function: each search takes a few steps, not all lines. */
static void many_lines(void **state)
{
	enum { N = 1 << 20 };
	const size_t sz = 16 + N * (size_t)(16 + 2);
	struct jit_dump *d = jit_dump_new();
	char *body = calloc(1, sz + 1), *p = body + 16;
	const uint64_t head[] = {0x5000, N};
	struct load {
		uint32_t pid, tid;
		uint64_t vma, addr, size, index;
		char name[8];
	} load = {.addr = 0x5000, .size = N, .name = "large"};
	const char *file;
	struct symtab_sym sym;
	uint32_t line;

	(void)state;
	assert_non_null(body);
	memcpy(body, head, sizeof(head));
	for (uint64_t i = 0; i < N; i++, p += 18) {
		const uint64_t addr = 0x5000 + (i ^ 1); /* not in order */
		const int32_t number = (int32_t)(i ^ 1) + 1;

		memcpy(p, &addr, sizeof(addr));
		memcpy(p + 8, &number, sizeof(number));
		p[16] = i ? '\377' : 'f';
	}
	assert_int_equal(jit_dump_add(d, JIT_DUMP_DEBUG_INFO, 1, body, sz), 0);
	assert_int_equal(jit_dump_add(d, JIT_DUMP_LOAD, 1, (char *)&load, sizeof(load)), 0);
	assert_int_equal(jit_dump_seal(d), 0);
	for (uint32_t i = 0; i < N; i += 1000) {
		assert_int_equal(jit_dump_find(d, 0x5000 + i, 1, &sym, &file, &line), 1);
		assert_int_equal(line, i + 1);
		assert_string_equal(file, "f");
	}
	assert_true(jit_dump_steps(d) <= 2 * (N / 1000 + 1));
	assert_false(jit_dump_is_cut(d));
	for (int i = 0; i < 4; i++)
		assert_int_equal(jit_dump_add(d, JIT_DUMP_DEBUG_INFO, 1, body, sz), 0);
	assert_true(jit_dump_is_cut(d));
	jit_dump_free(d);
	free(body);
}

/* Four million lines: of the first million functions come. */
static void long_map(void **state)
{
	enum { N = 4 << 20 };
	struct jit_map *m = jit_map_new();
	const int fd = file();
	char *text = malloc(N * (size_t)16);
	size_t len = 0, n_looks = 0;

	(void)state;
	assert_non_null(text);
	for (uint32_t i = 0; i < N; i++)
		len += (size_t)sprintf(text + len, "%x 8 f\n", 0x10000000 + 8 * i);
	assert_int_equal(pwrite(fd, text, len, 0), (ssize_t)len);
	assert_int_equal(jit_map_read(m, fd, getuid()), 1);
	while (jit_map_read(m, fd, getuid()) == 1 && n_looks < 100)
		n_looks++;
	assert_true(n_looks < 5);
	assert_int_equal(jit_map_count(m), JIT_MAP_MAX_CODES);
	assert_true(jit_map_is_cut(m));
	assert_string_equal(name_at(m, 0x10000004), "f");
	close(fd);
	free(text);
	jit_map_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_map),
		cmocka_unit_test(written_anew),
		cmocka_unit_test(written_anew_for_ever),
		cmocka_unit_test(wrong_lines),
		cmocka_unit_test(of_somebody_else),
		cmocka_unit_test(jitdump),
		cmocka_unit_test(by_time),
		cmocka_unit_test(times_of_the_cpu),
		cmocka_unit_test(damaged),
		cmocka_unit_test(many_lines),
		cmocka_unit_test(long_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
