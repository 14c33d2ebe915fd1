/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: a capture file, read with its state, each event printed, all fields of some, with
 * the events that are derived from them. Mutations keep most lengths right, so that they reach what
 * lies behind the checks of blocks.
 */
#include "testing/fuzz.h"

#include "file/scap_file.h"
#include "file/scap_format.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static int fd = -1;
	uint64_t n_events;
	size_t sum = 0;
	char path[64];

	fd = fuzz_fd(fd, data, sz);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < sz; i++)
		sum += data[i];
	read_capture(&n_events, path, sum, fuzz_log, NULL);
	scap_verify(path, fuzz_log, NULL);
	return 0;
}
