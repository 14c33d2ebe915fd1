/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two fuzz targets: a capture file, and the blocks of a checkpoint in one. Each is read with its
 * state, each event printed, all fields of some, with the events that are derived from them.
 * Mutations keep most lengths right, so that they reach what lies behind the checks of blocks.
 */
#include "testing/fuzz.h"

#include "file/checkpoint.h"
#include "read_capture_testing.h"

enum { BLOCKS_MAX = 512, EV_HDR_SZ = 26 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t sz, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t sz, size_t max, unsigned int seed);

/* ---- mutations ---- */

struct blocks {
	size_t at[BLOCKS_MAX + 1]; /* the last one ends at at[n] */
	size_t n;
};

static void find_blocks(struct blocks *b, const uint8_t *data, size_t sz)
{
	size_t at = 0;

	b->n = 0;
	while (b->n < BLOCKS_MAX && at + BLK_MIN <= sz) {
		const uint32_t len = get_u32(data + at + 4);

		if (len < BLK_MIN || len > sz - at)
			break;
		b->at[b->n++] = at;
		at += len;
	}
	b->at[b->n] = at;
}

static void put_u32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* Replaces @was bytes at @at, in the block from @from to @to, by @n bytes of @p; returns the new
 * size, or @sz if there is no room. */
static size_t replace(uint8_t *data, size_t sz, size_t max, const size_t block[2], size_t at,
		      size_t was, const uint8_t *p, size_t n)
{
	const size_t old = block[1] - block[0], body = old - BLK_MIN - was + n;
	const size_t len = BLK_MIN + body + pad4((uint32_t)body);
	static uint8_t made[1 << 17];

	if (len > sizeof(made) || sz - old + len > max)
		return sz;
	memset(made, 0, len);
	memcpy(made, data + block[0], at - block[0]);
	memcpy(made + (at - block[0]), p, n);
	memcpy(made + (at - block[0]) + n, data + at + was, block[1] - 4 - at - was);
	put_u32(made + 4, (uint32_t)len);
	put_u32(made + len - 4, (uint32_t)len);
	memmove(data + block[0] + len, data + block[1], sz - block[1]);
	memcpy(data + block[0], made, len);
	return sz - old + len;
}

/* Returns where the event of the block begins; 0: it has none, or a wrong one. */
static size_t event_at(const uint8_t *data, const size_t block[2])
{
	const uint32_t type = get_u32(data + block[0]);
	const size_t at = block[0] + (type == BLK_EV_V2 ? 10 : 14), end = block[1] - 4;
	uint32_t n;

	if ((type != BLK_EV_V2 && type != BLK_EVF_V2) || at + EV_HDR_SZ > end)
		return 0;
	n = get_u32(data + at + 22);
	return n && n <= 64 && at + EV_HDR_SZ + 2 * n <= end ? at : 0;
}

/* Mutates one parameter. */
static size_t mutate_param(uint8_t *data, size_t sz, size_t max, const size_t block[2], size_t ev,
			   unsigned int seed)
{
	static uint8_t value[1 << 16];
	const uint32_t n = get_u32(data + ev + 22), i = seed % n;
	size_t at = ev + EV_HDR_SZ + 2 * n, was, is;

	for (uint32_t k = 0; k < i; k++)
		at += get_u16(data + ev + EV_HDR_SZ + 2 * k);
	was = get_u16(data + ev + EV_HDR_SZ + 2 * i);
	if (at + was > block[1] - 4)
		return LLVMFuzzerMutate(data, sz, max);
	memcpy(value, data + at, was);
	is = LLVMFuzzerMutate(value, was, was + 64 < 0xffff ? was + 64 : 0xffff);
	if (sz + is + 8 > max)
		return sz;
	put_u32(data + ev + 16, get_u32(data + ev + 16) + (uint32_t)is - (uint32_t)was);
	memcpy(data + ev + EV_HDR_SZ + 2 * i, &(uint16_t){(uint16_t)is}, 2);
	return replace(data, sz, max, block, at, was, value, is);
}

static size_t mutate_body(uint8_t *data, size_t sz, size_t max, const size_t block[2])
{
	static uint8_t body[1 << 16];
	const size_t was = block[1] - block[0] - BLK_MIN;
	size_t is;

	if (was > sizeof(body) / 2)
		return LLVMFuzzerMutate(data, sz, max);
	memcpy(body, data + block[0] + 8, was);
	is = LLVMFuzzerMutate(body, was, was + 256);
	return replace(data, sz, max, block, block[0] + 8, was, body, is);
}

/* Copies a block to the place of another one. */
static size_t copy_block(uint8_t *data, size_t sz, size_t max, const size_t from[2], size_t to)
{
	static uint8_t copy[1 << 16];
	const size_t len = from[1] - from[0];

	if (len > sizeof(copy) || sz + len > max)
		return sz;
	memcpy(copy, data + from[0], len);
	memmove(data + to + len, data + to, sz - to);
	memcpy(data + to, copy, len);
	return sz + len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t sz, size_t max, unsigned int seed)
{
	static struct blocks b;
	const size_t *block;
	size_t ev;

	find_blocks(&b, data, sz);
	if (!b.n || seed % 16 == 0)
		return LLVMFuzzerMutate(data, sz, max);
	block = &b.at[(seed >> 4) % b.n];
	ev = event_at(data, block);
	switch (seed % 16) {
	case 1:
		return copy_block(data, sz, max, block, b.at[(seed >> 16) % b.n]);
	case 2:
		memmove(data + block[0], data + block[1], sz - block[1]);
		return sz - (block[1] - block[0]);
	case 3:
	case 4:
		if (ev) { /* time, TID, length, type */
			LLVMFuzzerMutate(data + ev, EV_HDR_SZ - 4, EV_HDR_SZ - 4);
			return sz;
		}
		return mutate_body(data, sz, max, block);
	case 5:
		return mutate_body(data, sz, max, block);
	default:
		return ev ? mutate_param(data, sz, max, block, ev, seed >> 20)
			  : mutate_body(data, sz, max, block);
	}
}

/* ---- a file around a checkpoint ---- */

#define AT_NS 1000000000ull

struct file {
	uint8_t p[1 << 18];
	size_t n;
};

static void add_block(struct file *f, uint32_t type, const void *head, size_t head_sz,
		      const void *body, size_t n)
{
	const uint32_t len = BLK_MIN + (uint32_t)(head_sz + n + pad4((uint32_t)(head_sz + n)));
	uint8_t *p = f->p + f->n;

	if (len > sizeof(f->p) - f->n)
		abort();
	memset(p, 0, len);
	put_u32(p, type);
	put_u32(p + 4, len);
	if (head_sz)
		memcpy(p + 8, head, head_sz);
	memcpy(p + 8 + head_sz, body, n);
	put_u32(p + len - 4, len);
	f->n += len;
}

/* CPU and the flag of what only changes state. */
static void add_own(struct file *f, const struct file_buf *evt)
{
	static const uint8_t head[6] = {0, 0, EVF_STATE_ONLY};

	((struct ppm_evt_hdr *)evt->p)->ts = AT_NS;
	add_block(f, BLK_EVF_V2, head, sizeof(head), evt->p,
		  ((const struct ppm_evt_hdr *)evt->p)->len);
}

/* The same without parameters. */
static void add_plain(struct file *f, uint32_t block, uint16_t type, uint64_t ts_ns)
{
	static const uint8_t head[6] = {0, 0, EVF_STATE_ONLY};
	const struct ppm_evt_hdr hdr = {
		.ts = ts_ns, .tid = 1, .len = sizeof(hdr), .type = type, .nparams = 0};

	add_block(f, block, head, block == BLK_EV_V2 ? 2 : sizeof(head), &hdr, sizeof(hdr));
}

/* Makes a file with one checkpoint that has these blocks, before the second of two events. */
static void make_file(struct file *f, const uint8_t *blocks, size_t sz)
{
	static const uint8_t shb[] = {0x4d, 0x3c, 0x2b, 0x1a, 1,    0,    2,    0,
				      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static struct file_buf packed, evt;
	static struct checkpoint_index x;
	struct checkpoint cp = {.num = 1, .first_ns = 1, .sz = sz};
	const ssize_t n = checkpoint_pack(&packed, blocks, sz);

	f->n = 0;
	add_block(f, BLK_SHB, NULL, 0, shb, sizeof(shb));
	add_block(f, BLK_SAKER, NULL, 0, "saker=0\n", 8);
	add_plain(f, BLK_EV_V2, EVT_READ_E, AT_NS);
	if (n <= 0)
		abort();
	cp.packed_sz = (size_t)n;
	x.n = 0;
	x.next_unpacked_at = 0;
	checkpoint_index_add(&x, &(struct checkpoint_place){AT_NS, f->n, f->n, 1}, cp.packed_sz);
	for (size_t at = 0; at < cp.packed_sz; at += checkpoint_part(&cp, at)) {
		if (checkpoint_event(&evt, &cp, packed.p, at))
			abort();
		add_own(f, &evt);
	}
	add_plain(f, BLK_EV_V2, EVT_READ_X, AT_NS + 2);
	if (checkpoint_index_event(&evt, &x, f->n))
		abort();
	add_own(f, &evt);
	add_plain(f, BLK_EVF_V2, EVT_CLOSING, AT_NS + 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static int fd = -1;
	static struct file file;
	const int in_checkpoint = getenv("SAKER_FUZZ_ARG") != NULL;
	uint64_t n_events;
	size_t sum = 0;
	char path[64];

	for (size_t i = 0; i < sz; i++)
		sum += data[i];
	if (in_checkpoint) {
		if (!sz)
			return 0;
		make_file(&file, data, sz);
		data = file.p;
		sz = file.n;
	}
	fd = fuzz_fd(fd, data, sz);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_capture(&n_events, path, in_checkpoint ? AT_NS + 1 : 0, sum, fuzz_log, NULL);
	scap_verify(path, fuzz_log, NULL);
	return 0;
}
