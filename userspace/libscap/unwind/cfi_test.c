/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information made by hand, with what compilers write rarely and linkers leave behind.
 */
#include "testing/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi.h"

#define CODE_VADDR 0x401000u
#define CODE_OFFSET 0x1000u
#define CODE_SZ 0x10000u
#define FRAME_ADDR 0x500000u

static const struct cfi_code code[] = {{CODE_VADDR, CODE_SZ, CODE_OFFSET}};

/* A section in the making. */
struct bytes {
	uint8_t v[8192];
	size_t n;
};

static void put(struct bytes *b, uint64_t v, size_t sz)
{
	assert_true(b->n + sz <= sizeof(b->v));
	memcpy(b->v + b->n, &v, sz);
	b->n += sz;
}

static void put_all(struct bytes *b, const void *v, size_t sz)
{
	assert_true(b->n + sz <= sizeof(b->v));
	memcpy(b->v + b->n, v, sz);
	b->n += sz;
}

#define INSNS(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* def_cfa rsp+8, return address at cfa-8: as all compilers begin. */
#define FIRST 0x0c, 7, 8, 0x90, 1

static size_t put_cie(struct bytes *b, const char *augmentation, const uint8_t *data,
		      size_t data_sz, const uint8_t *insns, size_t sz)
{
	const size_t at = b->n;
	const uint32_t len =
		(uint32_t)(4 + 1 + strlen(augmentation) + 1 + 3 + (data_sz ? 1 + data_sz : 0) + sz);

	put(b, len, 4);
	put(b, 0, 4);
	put(b, 1, 1);
	put_all(b, augmentation, strlen(augmentation) + 1);
	put(b, 1, 1); /* code alignment 1, data alignment -8, return address 16 */
	put(b, 0x78, 1);
	put(b, 16, 1);
	if (data_sz) {
		put(b, data_sz, 1);
		put_all(b, data, data_sz);
	}
	put_all(b, insns, sz);
	return at;
}

static size_t put_plain_cie(struct bytes *b)
{
	return put_cie(b, "zR", INSNS(0x1b), INSNS(FIRST)); /* pcrel sdata4 */
}

static void put_fde(struct bytes *b, size_t cie, uint64_t start, uint32_t sz, const uint8_t *insns,
		    size_t insns_sz)
{
	put(b, 4 + 4 + 4 + 1 + insns_sz, 4);
	put(b, b->n - cie, 4);
	put(b, start - (FRAME_ADDR + b->n), 4);
	put(b, sz, 4);
	put(b, 0, 1);
	put_all(b, insns, insns_sz);
}

static struct unwind_rows rows_of_section(const struct bytes *b, int is_debug)
{
	const struct cfi_section s = {b->v, b->n, FRAME_ADDR, is_debug};
	struct unwind_rows rows = {0};
	struct cfi *c;

	assert_int_equal(cfi_new(&c, code, 1, NULL), 0);
	assert_int_equal(cfi_add_section(c, &s), 0);
	assert_int_equal(cfi_rows(c, &rows), 0);
	cfi_free(c);
	return rows;
}

static struct unwind_rows rows_of(const struct bytes *b)
{
	return rows_of_section(b, 0);
}

#define ROW(at, k, c, s)                                                                           \
	{                                                                                          \
		.pc = CODE_OFFSET + (at), .cfa = (c), .kind = (k), .saved = (s)                    \
	}

static void expect(struct unwind_rows got, const struct unwind_row *want, size_t n)
{
	for (size_t i = 0; i < n && i < got.n; i++) {
		assert_int_equal(got.v[i].pc, want[i].pc);
		assert_int_equal(got.v[i].kind, want[i].kind);
		assert_int_equal(got.v[i].cfa, want[i].cfa);
		assert_int_equal(got.v[i].saved, want[i].saved);
	}
	assert_int_equal(got.n, n);
	unwind_rows_fini(&got);
}

#define EXPECT(got, ...)                                                                           \
	expect(got, (const struct unwind_row[]){__VA_ARGS__},                                      \
	       sizeof((const struct unwind_row[]){__VA_ARGS__}) / sizeof(struct unwind_row))

/* push rbp, push rbx, remembered, undone, recalled. */
static void test_pushes(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_plain_cie(&b);

	(void)state;
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x40,
		INSNS(0x41, 0x0e, 16, 0x86, 2, /* advance 1, cfa offset 16, rbp at cfa-16 */
		      0x42, 0x0e, 24, 0x83, 3, /* advance 2, 24, rbx at cfa-24 */
		      0x50, 0x0a, /* advance 16, remember */
		      0x0e, 8, 0xc6, 0xc3, /* 8, restore rbp, rbx */
		      0x41, 0x0b, /* advance 1, recall */
		      0x41, 0x0d, 6)); /* advance 1, by rbp */
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_RSP, 1, 0), ROW(0x101, UNWIND_RSP, 2, 0x02),
	       ROW(0x103, UNWIND_RSP, 3, 0x32), ROW(0x113, UNWIND_RSP, 1, 0),
	       ROW(0x114, UNWIND_RSP, 3, 0x32), ROW(0x115, UNWIND_RBP, 3, 0x32),
	       ROW(0x140, UNWIND_NONE, 0, 0));
}

/* Short holes are filling, longer ones no rule covers; equal neighbours are one row. */
static void test_gaps(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_plain_cie(&b);

	(void)state;
	put_fde(&b, cie, CODE_VADDR + 0x200, 0x20, INSNS(0)); /* not in order */
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x11, INSNS(0));
	put_fde(&b, cie, CODE_VADDR + 0x120, 0x10, INSNS(0));
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_RSP, 1, 0), ROW(0x130, UNWIND_NONE, 0, 0),
	       ROW(0x200, UNWIND_RSP, 1, 0), ROW(0x220, UNWIND_NONE, 0, 0));
}

/* The inner one counts in its place, and the outer one goes on behind it where it was. */
static void test_overlaps(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_plain_cie(&b);

	(void)state;
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x40, INSNS(0x50, 0x0e, 16, 0x58, 0x0e, 32));
	put_fde(&b, cie, CODE_VADDR + 0x118, 0x08, INSNS(0x0e, 64));
	put_fde(&b, cie, CODE_VADDR + 0x130, 0x20, INSNS(0x0e, 48)); /* reaches beyond */
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_RSP, 1, 0), ROW(0x110, UNWIND_RSP, 2, 0),
	       ROW(0x118, UNWIND_RSP, 8, 0), ROW(0x120, UNWIND_RSP, 2, 0),
	       ROW(0x128, UNWIND_RSP, 4, 0), ROW(0x130, UNWIND_RSP, 6, 0),
	       ROW(0x150, UNWIND_NONE, 0, 0));
}

/* Empty functions, those that the linker took away, and a terminator that is not the end. */
static void test_leftovers(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_plain_cie(&b);

	(void)state;
	put_fde(&b, cie, 0, 0x40, INSNS(0x0e, 16));
	put_fde(&b, cie, CODE_VADDR + 0x100, 0, INSNS(0x0e, 24));
	put(&b, 0, 4);
	cie = put_plain_cie(&b);
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x10, INSNS(0x0e, 32));
	put_fde(&b, cie, CODE_VADDR + CODE_SZ - 8, 0x100, INSNS(0x0e, 40)); /* cut at the end */
	put(&b, 0, 4);
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_RSP, 4, 0), ROW(0x110, UNWIND_NONE, 0, 0),
	       ROW(CODE_SZ - 8, UNWIND_RSP, 5, 0), ROW(CODE_SZ, UNWIND_NONE, 0, 0));
}

/* Unknown augmentation letters: after z their length is given, else the entries cannot be read. */
static void test_augmentations(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie;

	(void)state;
	cie = put_cie(&b, "q", NULL, 0, INSNS(FIRST));
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x10, INSNS(0));
	cie = put_cie(&b, "zRq", INSNS(0x1b, 1, 2, 3), INSNS(FIRST));
	put_fde(&b, cie, CODE_VADDR + 0x200, 0x10, INSNS(0));
	/* A personality that is indirect and relative to data: read over. */
	cie = put_cie(&b, "zPLR", INSNS(0xbb, 1, 2, 3, 4, 0x1b, 0x1b), INSNS(FIRST));
	put_fde(&b, cie, CODE_VADDR + 0x300, 0x10, INSNS(0));
	/* Addresses relative to a base that only the dynamic linker has. */
	cie = put_cie(&b, "zR", INSNS(0xbb), INSNS(FIRST));
	put_fde(&b, cie, CODE_VADDR + 0x400, 0x10, INSNS(0));
	EXPECT(rows_of(&b), ROW(0x200, UNWIND_RSP, 1, 0), ROW(0x210, UNWIND_NONE, 0, 0),
	       ROW(0x300, UNWIND_RSP, 1, 0), ROW(0x310, UNWIND_NONE, 0, 0));
}

static void test_kinds(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_plain_cie(&b);

	(void)state;
	/* _start: no return address */
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x10, INSNS(0x07, 16));
	/* a procedure linkage table */
	put_fde(&b, cie, CODE_VADDR + 0x110, 0x10,
		INSNS(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	/* an aligned stack: cfa in memory at rbp-8; rbp at what it points to, rbx at rbp-40 */
	put_fde(&b, cie, CODE_VADDR + 0x120, 0x10,
		INSNS(0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76, 0x58, 0x0f, 3, 0x76, 0x78, 0x06));
	/* the same of rsp, and something added */
	put_fde(&b, cie, CODE_VADDR + 0x130, 0x10, INSNS(0x0f, 6, 0x77, 0xd8, 0x02, 0x06, 0x23, 8));
	/* r10 + 0 */
	put_fde(&b, cie, CODE_VADDR + 0x140, 0x10, INSNS(0x0c, 10, 0));
	/* half a megabyte and more: 524480 */
	put_fde(&b, cie, CODE_VADDR + 0x150, 0x10, INSNS(0x0e, 0xc0, 0x81, 0x20));
	/* an expression that no row can have */
	put_fde(&b, cie, CODE_VADDR + 0x160, 0x10, INSNS(0x0f, 3, 0x77, 8, 0x1f));
	/* not a multiple of eight; the return address elsewhere */
	put_fde(&b, cie, CODE_VADDR + 0x170, 0x10, INSNS(0x0e, 12));
	put_fde(&b, cie, CODE_VADDR + 0x180, 0x10, INSNS(0x90, 2));
	/* rbp in a register, rbx nowhere */
	put_fde(&b, cie, CODE_VADDR + 0x190, 0x10, INSNS(0x09, 6, 0, 0x07, 3));
	/* vfork: the return address in rdi */
	put_fde(&b, cie, CODE_VADDR + 0x1a0, 0x10, INSNS(0x0e, 0, 0x09, 16, 5));
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_END, 0, 0), ROW(0x110, UNWIND_PLT, 11, 0),
	       ROW(0x120, UNWIND_DEREF_RBP | UNWIND_F_AT_RBP, UNWIND_DEREF_CFA(-1, 0), 0x50),
	       ROW(0x130, UNWIND_DEREF_RSP, UNWIND_DEREF_CFA(43, 1), 0), ROW(0x140, 10, 0, 0),
	       ROW(0x150, UNWIND_RSP_FAR, 524480 / 8 - UNWIND_FAR, 0), ROW(0x160, UNWIND_ODD, 0, 0),
	       ROW(0x190, UNWIND_RSP, 1, 0x11),
	       ROW(0x1a0, UNWIND_RA_REG, UNWIND_RA_REG_CFA(5, 0), 0),
	       ROW(0x1b0, UNWIND_NONE, 0, 0));
}

/* The kernel's frame: only with the letter S and the place where it has rsp. */
static void test_signal_frame(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_cie(&b, "zRS", INSNS(0x1b), INSNS(FIRST));

	(void)state;
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x10, INSNS(0x0f, 4, 0x77, 0xa0, 0x01, 0x06));
	put_fde(&b, cie, CODE_VADDR + 0x200, 0x10, INSNS(0x0f, 4, 0x77, 0xa8, 0x01, 0x06));
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_SIGNAL, 0, 0), ROW(0x110, UNWIND_NONE, 0, 0),
	       ROW(0x200, UNWIND_DEREF_RSP, UNWIND_DEREF_CFA(21, 0), 0),
	       ROW(0x210, UNWIND_NONE, 0, 0));
}

/* Locations may also be set by address. */
static void test_set_loc(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_cie(&b, "zR", INSNS(0x00), INSNS(FIRST)); /* absolute, 8 bytes */

	(void)state;
	put(&b, 4 + 16 + 1 + 11, 4);
	put(&b, b.n - cie, 4);
	put(&b, CODE_VADDR + 0x100, 8);
	put(&b, 0x20, 8);
	put(&b, 0, 1);
	put(&b, 0x01, 1);
	put(&b, CODE_VADDR + 0x108, 8);
	put_all(&b, INSNS(0x0e, 16));
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_RSP, 1, 0), ROW(0x108, UNWIND_RSP, 2, 0),
	       ROW(0x120, UNWIND_NONE, 0, 0));
}

/* .debug_frame writes the same otherwise: absolute addresses, offsets in the section. */
static void test_debug_frame(void **state)
{
	struct bytes b = {.n = 0};

	(void)state;
	put(&b, 4 + 5 + 6, 4);
	put(&b, 0xffffffff, 4);
	put_all(&b, INSNS(3, 0, 1, 0x78, 16, FIRST, 0));
	put(&b, 4 + 16 + 3, 4);
	put(&b, 0, 4);
	put(&b, CODE_VADDR + 0x100, 8);
	put(&b, 0x20, 8);
	put_all(&b, INSNS(0x44, 0x0e, 16));
	EXPECT(rows_of_section(&b, 1), ROW(0x100, UNWIND_RSP, 1, 0), ROW(0x104, UNWIND_RSP, 2, 0),
	       ROW(0x120, UNWIND_NONE, 0, 0));
}

/* Instructions that are cut, unknown, or restore a state that was never saved: the range is
 * covered, without a rule. */
static void test_damaged_instructions(void **state)
{
	struct bytes b = {.n = 0};
	size_t cie = put_plain_cie(&b);

	(void)state;
	put_fde(&b, cie, CODE_VADDR + 0x100, 0x10, INSNS(0x44, 0x0e));
	put_fde(&b, cie, CODE_VADDR + 0x120, 0x10, INSNS(0x44, 0x3f));
	put_fde(&b, cie, CODE_VADDR + 0x140, 0x10, INSNS(0x44, 0x0b));
	EXPECT(rows_of(&b), ROW(0x100, UNWIND_RSP, 1, 0), ROW(0x104, UNWIND_ODD, 0, 0),
	       ROW(0x110, UNWIND_NONE, 0, 0), ROW(0x120, UNWIND_RSP, 1, 0),
	       ROW(0x124, UNWIND_ODD, 0, 0), ROW(0x130, UNWIND_NONE, 0, 0),
	       ROW(0x140, UNWIND_RSP, 1, 0), ROW(0x144, UNWIND_ODD, 0, 0),
	       ROW(0x150, UNWIND_NONE, 0, 0));
}

/* Several executable segments, each with another distance between address and offset. */
static void test_segments(void **state)
{
	static const struct cfi_code two[] = {{0x1000, 0x1000, 0x400}, {0x9000, 0x1000, 0x1400}};
	struct bytes b = {.n = 0};
	const struct cfi_section s = {b.v, 0, FRAME_ADDR, 0};
	struct cfi_section all = s;
	struct unwind_rows rows = {0};
	size_t cie = put_plain_cie(&b);
	struct cfi *c;

	(void)state;
	put_fde(&b, cie, 0x9010, 0x10, INSNS(0x0e, 16));
	put_fde(&b, cie, 0x1010, 0x10, INSNS(0));
	put_fde(&b, cie, 0x5000, 0x10, INSNS(0));
	all.sz = b.n;
	assert_int_equal(cfi_new(&c, two, 2, NULL), 0);
	assert_int_equal(cfi_add_section(c, &all), 0);
	assert_int_equal(cfi_n(c), 2);
	assert_int_equal(cfi_rows(c, &rows), 0);
	cfi_free(c);
	expect(rows,
	       (const struct unwind_row[]){
		       {.pc = 0x410, .kind = UNWIND_RSP, .cfa = 1},
		       {.pc = 0x420, .kind = UNWIND_NONE},
		       {.pc = 0x1410, .kind = UNWIND_RSP, .cfa = 2},
		       {.pc = 0x1420, .kind = UNWIND_NONE},
	       },
	       4);
}

/* .eh_frame, which the program itself would use, precedes .debug_frame. */
static void test_both_sections(void **state)
{
	struct bytes eh = {.n = 0}, debug = {.n = 0};
	struct unwind_rows rows = {0};
	size_t cie = put_plain_cie(&eh);
	struct cfi_section s;
	struct cfi *c;

	(void)state;
	put_fde(&eh, cie, CODE_VADDR + 0x100, 0x20, INSNS(0));
	put(&debug, 4 + 5 + 6, 4);
	put(&debug, 0xffffffff, 4);
	put_all(&debug, INSNS(3, 0, 1, 0x78, 16, FIRST, 0));
	for (uint64_t at = 0x100; at <= 0x200; at += 0x100) {
		put(&debug, 4 + 16 + 2, 4);
		put(&debug, 0, 4);
		put(&debug, CODE_VADDR + at, 8);
		put(&debug, 0x20, 8);
		put_all(&debug, INSNS(0x0e, 64));
	}
	assert_int_equal(cfi_new(&c, code, 1, NULL), 0);
	s = (struct cfi_section){eh.v, eh.n, FRAME_ADDR, 0};
	assert_int_equal(cfi_add_section(c, &s), 0);
	s = (struct cfi_section){debug.v, debug.n, 0, 1};
	assert_int_equal(cfi_add_section(c, &s), 0);
	assert_int_equal(cfi_rows(c, &rows), 0);
	cfi_free(c);
	EXPECT(rows, ROW(0x100, UNWIND_RSP, 1, 0), ROW(0x120, UNWIND_NONE, 0, 0),
	       ROW(0x200, UNWIND_RSP, 8, 0), ROW(0x220, UNWIND_NONE, 0, 0));
}

#define N_NESTED 100000u

/* A large function with many small ones in it, and with an instruction between any two. */
static uint8_t *make_nested(size_t *sz)
{
	uint8_t *v = calloc(1, 64 + N_NESTED * 32);
	struct bytes b = {.n = 0};
	const size_t cie = put_plain_cie(&b);
	size_t at;

	assert_non_null(v);
	put_fde(&b, cie, CODE_VADDR, N_NESTED * 4, INSNS(0));
	memcpy(v, b.v, b.n);
	at = b.n - 1;
	for (uint32_t i = 0; i < N_NESTED; i++, at += 3) {
		v[at] = 0x44; /* 4 bytes on */
		v[at + 1] = 0x0e;
		v[at + 2] = i & 1 ? 16 : 24;
	}
	memcpy(v + (b.n - 18), &(uint32_t){(uint32_t)(at - (b.n - 18) - 4)}, 4);
	for (uint32_t i = 0; i < N_NESTED; i++) {
		const uint32_t fde[] = {14, (uint32_t)(at + 4 - cie),
					CODE_VADDR + 4 * i + 1 - (FRAME_ADDR + (uint32_t)at + 8),
					2};

		memcpy(v + at, fde, sizeof(fde));
		at += sizeof(fde) + 2;
	}
	*sz = at;
	return v;
}

/* Each instruction runs once, however many functions lie in one another. */
static void test_many_nested(void **state)
{
	static const struct cfi_code large[] = {{CODE_VADDR, 0x100000, CODE_OFFSET}};
	static const struct unwind_row want[] = {
		ROW(0, UNWIND_RSP, 1, 0), ROW(4, UNWIND_RSP, 3, 0), ROW(5, UNWIND_RSP, 1, 0),
		ROW(7, UNWIND_RSP, 3, 0), ROW(8, UNWIND_RSP, 2, 0), ROW(9, UNWIND_RSP, 1, 0)};
	struct unwind_work work = {.left = UNWIND_WORK_MAX};
	struct unwind_rows rows = {0};
	struct cfi_section s = {.addr = FRAME_ADDR};
	uint8_t *v = make_nested(&s.sz);
	struct cfi *c;

	(void)state;
	s.data = v;
	assert_int_equal(cfi_new(&c, large, 1, &work), 0);
	assert_int_equal(cfi_add_section(c, &s), 0);
	assert_int_equal(cfi_n(c), N_NESTED + 1);
	assert_int_equal(cfi_rows(c, &rows), 0);
	cfi_free(c);
	assert_true(UNWIND_WORK_MAX - work.left < 20 * N_NESTED);
	assert_true(rows.n > 2 * N_NESTED);
	/* The outer one's, then an inner one's, and so on. */
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(rows.v[i].pc, want[i].pc);
		assert_int_equal(rows.v[i].cfa, want[i].cfa);
	}
	unwind_rows_fini(&rows);
	free(v);
}

static int count_calls(void *ctx)
{
	return ++*(int *)ctx > 2;
}

/* Each entry that a table repeats costs work, up to the limit. */
static void test_too_much_work(void **state)
{
	int n_stop_signals = 0;
	struct unwind_work small = {.left = 5000}, stopped = {.left = UNWIND_WORK_MAX,
							      .is_stopped = count_calls,
							      .ctx = &n_stop_signals};
	struct unwind_rows rows = {0};
	struct bytes b = {.n = 0};
	const size_t cie = put_plain_cie(&b);
	uint32_t *offsets = malloc((1u << 20) * sizeof(*offsets));
	struct cfi_section s;
	struct cfi *c;

	(void)state;
	assert_non_null(offsets);
	for (size_t i = 0; i < 1u << 20; i++)
		offsets[i] = (uint32_t)b.n;
	put_fde(&b, cie, CODE_VADDR, 0x100, INSNS(0x44, 0x0e, 16, 0x44, 0x0e, 24));
	s = (struct cfi_section){b.v, b.n, FRAME_ADDR, 0};
	assert_int_equal(cfi_new(&c, code, 1, &small), 0);
	assert_int_equal(cfi_add_listed(c, &s, offsets, 1u << 20), -E2BIG);
	assert_int_equal(small.left, 0);
	cfi_free(c);
	assert_int_equal(cfi_new(&c, code, 1, &stopped), 0);
	assert_int_equal(cfi_add_listed(c, &s, offsets, 1u << 20), -ECANCELED);
	assert_true(UNWIND_WORK_MAX - stopped.left < 4 * UNWIND_WORK_POLL);
	cfi_free(c);
	unwind_rows_fini(&rows);
	free(offsets);
}

/* Cut anywhere and damaged anywhere it ends, with rows in order. */
static void test_damaged_sections(void **state)
{
	struct bytes b = {.n = 0};
	uint64_t seed = 88172645463325252ull;
	size_t cie = put_plain_cie(&b);

	(void)state;
	for (uint64_t i = 0; i < 60; i++)
		put_fde(&b, cie, CODE_VADDR + i * 0x40, 0x38,
			INSNS(0x41, 0x0e, 16, 0x86, 2, 0x4a, 0x0a, 0x0e, 8, 0xc6, 0x41, 0x0b, 0x41,
			      0x0d, 6, 0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 0x06));
	for (int i = 0; i < 20000; i++) {
		struct bytes damaged = b;
		struct unwind_rows rows;

		for (int k = 0; k < 4; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			damaged.v[(seed >> 8) % b.n] = (uint8_t)seed;
		}
		if (i % 3 == 0)
			damaged.n = (seed >> 32) % b.n;
		rows = rows_of_section(&damaged, i % 5 == 0);
		for (size_t k = 1; k < rows.n; k++)
			assert_true(rows.v[k - 1].pc < rows.v[k].pc);
		unwind_rows_fini(&rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pushes),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_signal_frame),
		cmocka_unit_test(test_set_loc),
		cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_damaged_instructions),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_both_sections),
		cmocka_unit_test(test_many_nested),
		cmocka_unit_test(test_too_much_work),
		cmocka_unit_test(test_damaged_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
