/* SPDX-License-Identifier: Apache-2.0 */
/* A stripped program of Go with crypto/tls, made by hand, for tests. */
#ifndef SCAP_TLS_TLS_GO_TEST_H
#define SCAP_TLS_TLS_GO_TEST_H

#include <stdint.h>
#include <string.h>

#include "testing/go_image.h"

enum {
	GO_IMAGE_SZ = 0x800,
	GO_CODE_AT = 0x100, /* in the file */
	GO_CODE_SZ = 0x180,
	GO_TABLE_AT = 0x280,
	GO_TABLE_SZ = GO_IMAGE_SZ - GO_TABLE_AT,
	GO_FUNC_SZ = 0x60,
	GO_N_FUNCS = 4,
	/* In each function: */
	GO_JUMP = 4,
	GO_RET_1 = 20,
	GO_RET_2 = 30,
	/* In the table: */
	GO_NAMES = 0x80,
	GO_PCS = 0x140,
	GO_FUNCS = 0x200,
	GO_FUNC_INFO = 0x40, /* between two of the list */
};

struct go_image {
	uint8_t v[GO_IMAGE_SZ];
};

/* One code for all: bytes that look like a return are also part of other instructions. */
/* clang-format off */
static const uint8_t go_code[GO_FUNC_SZ] = {
	0x49, 0x3b, 0x66, 0x10, /* cmp 16(%r14),%rsp */
	0x76, 25, /* jbe to the end */
	0x48, 0x83, 0xec, 0x18, /* sub $24,%rsp */
	0xb8, 0xc3, 0xc3, 0xc3, 0xc3, /* mov $0xc3c3c3c3,%eax */
	0x90, /* nop */
	0x48, 0x83, 0xc4, 0x18, /* add $24,%rsp */
	0xc3, /* ret */
	0xb8, 0xc3, 0xc3, 0xc3, 0xc3, /* mov */
	0x48, 0x83, 0xc4, 0x18, /* add */
	0xc3, /* ret */
	0xe8, 0xc3, 0xc3, 0xc3, 0xc3, /* call: a larger stack */
	0xeb, (uint8_t)-38, /* jmp to the begin */
};
/* clang-format on */

/* Depths: 0 for 10 bytes, 24, 0 at the first return, 24, 0 from the second one to the end. */
static const uint8_t go_pcsp[] = {2, 10, 48, 10, 47, 1, 48, 9, 47, 8, 0};

static const char *const go_names[GO_N_FUNCS] = {
	"crypto/tls.(*Conn).Write", "crypto/tls.(*Conn).Read", "crypto/tls.(*Conn).clientHandshake",
	"net.(*TCPConn).Read"};

/* @magic: of Go 1.16 to 1.20. */
static void go_put_table(struct go_image *i, uint32_t magic)
{
	const int rel = magic != 0xfffffffa;
	const size_t t = GO_TABLE_AT, e = rel ? 4 : 8, heads = rel ? 32 : 24;
	const uint64_t base = rel ? 0 : GO_TEXT;
	size_t name = 4;

	go_put(i->v, t, magic, 4);
	go_put(i->v, t + 6, 1, 1);
	go_put(i->v, t + 7, 8, 1);
	go_put(i->v, t + 8, GO_N_FUNCS, 8);
	if (rel)
		go_put(i->v, t + 24, GO_TEXT, 8);
	go_put(i->v, t + heads, GO_NAMES, 8);
	go_put(i->v, t + heads + 24, GO_PCS, 8);
	go_put(i->v, t + heads + 32, GO_FUNCS, 8);
	memcpy(i->v + t + GO_PCS + 1, go_pcsp, sizeof(go_pcsp));
	for (size_t k = 0; k <= GO_N_FUNCS; k++)
		go_put(i->v, t + GO_FUNCS + 2 * k * e, base + k * GO_FUNC_SZ, e);
	for (size_t k = 0; k < GO_N_FUNCS; k++) {
		const size_t func = 0x80 + k * GO_FUNC_INFO;

		memcpy(i->v + GO_CODE_AT + k * GO_FUNC_SZ, go_code, sizeof(go_code));
		go_put(i->v, t + GO_FUNCS + (2 * k + 1) * e, func, e);
		go_put(i->v, t + GO_FUNCS + func, base + k * GO_FUNC_SZ, e);
		go_put(i->v, t + GO_FUNCS + func + e, name, 4);
		go_put(i->v, t + GO_FUNCS + func + e + 12, 1, 4);
		memcpy(i->v + t + GO_NAMES + name, go_names[k], strlen(go_names[k]) + 1);
		name += strlen(go_names[k]) + 1;
	}
}

/* No table yet. */
static void go_make_headers(struct go_image *i)
{
	const struct go_segment code = {GO_CODE_AT, GO_CODE_SZ}, table = {GO_TABLE_AT, GO_TABLE_SZ};

	memset(i, 0, sizeof(*i));
	go_put_headers(i->v, &code, &table);
}

static void go_make_image(struct go_image *i, uint32_t magic)
{
	go_make_headers(i);
	go_put_table(i, magic);
}

#endif /* SCAP_TLS_TLS_GO_TEST_H */
