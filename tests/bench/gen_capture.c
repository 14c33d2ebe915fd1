/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen_capture FILE [EVENTS [PROCESSES]]: writes a synthetic capture as sysdig 0.29.3 writes one,
 * for replay benchmarks. EVENTS is 2,000,000 by default, PROCESSES 500. Each process in turn makes
 * the calls openat, six read, write and close, as enter and exit events of the 2022 layout. It
 * uses nothing of saker's writer, so that reader and judge get a neutral file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/events.h"
#include "shared/record.h"

enum { FIRST_TID = 1000, N_CPUS = 2 };

static FILE *out;
static uint8_t block[65536];
static size_t block_len;

static void put(const void *p, size_t n)
{
	memcpy(block + block_len, p, n);
	block_len += n;
}

#define PUT(type, value) put(&(type){value}, sizeof(type))

static void put_str(const char *s)
{
	PUT(uint16_t, strlen(s));
	put(s, strlen(s));
}

static void write_block(uint32_t type)
{
	static const uint8_t zeros[4];
	size_t pad = -block_len & 3;
	uint32_t total = block_len + pad + 12;

	fwrite(&type, 4, 1, out);
	fwrite(&total, 4, 1, out);
	fwrite(block, block_len, 1, out);
	fwrite(zeros, pad, 1, out);
	fwrite(&total, 4, 1, out);
	block_len = 0;
}

static void write_header(void)
{
	PUT(uint32_t, 0x1A2B3C4D);
	PUT(uint16_t, 1);
	PUT(uint16_t, 2);
	PUT(uint64_t, UINT64_MAX);
	write_block(0x0A0D0D0A);

	PUT(uint32_t, N_CPUS);
	PUT(uint64_t, 8ull << 30);
	PUT(uint64_t, 32768);
	block_len += 128 + 4 * 8;
	memset(block + block_len - 160, 0, 160);
	memcpy(block + block_len - 160, "bench", 5);
	write_block(0x201);
}

static void put_proc(int tid)
{
	size_t start = block_len;
	char name[32];

	snprintf(name, sizeof(name), "proc%d", tid % 20);
	PUT(uint32_t, 0);
	PUT(uint64_t, tid);
	PUT(uint64_t, tid);
	PUT(uint64_t, 1);
	PUT(uint64_t, tid);
	PUT(uint64_t, tid);
	put_str(name);
	put_str(name);
	put_str("/usr/bin/bench");
	put_str("");
	put_str("/srv/bench/");
	PUT(uint64_t, 1024);
	PUT(uint32_t, 0);
	PUT(uint32_t, 0);
	PUT(uint32_t, 0);
	PUT(uint32_t, 20000);
	PUT(uint32_t, 4000);
	PUT(uint32_t, 0);
	PUT(uint64_t, 10);
	PUT(uint64_t, 1000);
	put_str("");
	PUT(int64_t, tid);
	PUT(int64_t, tid);
	put_str("");
	put_str("/");
	PUT(uint32_t, UINT32_MAX);
	PUT(uint8_t, 0);
	uint32_t len = block_len - start;
	memcpy(block + start, &len, 4);
}

static void write_procs(int n)
{
	for (int i = 0; i < n; i++) {
		put_proc(FIRST_TID + i);
		if (block_len > 60000 || i == n - 1)
			write_block(0x215);
	}
}

struct value {
	const void *p;
	uint16_t len;
};

/* clang-format off */
#define S64(v) {&(int64_t){v}, 8}
#define U32(v) {&(uint32_t){v}, 4}
#define STR(s) {s, (uint16_t)(strlen(s) + 1)}
/* clang-format on */

static uint64_t now = 1700000000000000000ull;
static long n_left;

static void write_event(int tid, uint16_t type, const struct value *v, uint32_t n)
{
	struct ppm_evt_hdr h = {.ts = now += 500, .tid = tid, .len = sizeof(h), .type = type};

	if (n_left-- <= 0)
		return;
	h.nparams = n;
	for (uint32_t i = 0; i < n; i++)
		h.len += 2 + v[i].len;
	PUT(uint16_t, tid % N_CPUS);
	put(&h, sizeof(h));
	for (uint32_t i = 0; i < n; i++)
		put(&v[i].len, 2);
	for (uint32_t i = 0; i < n; i++)
		put(v[i].p, v[i].len);
	write_block(0x216);
}

#define EVENT(tid, type, ...)                                                                      \
	write_event(tid, type, (struct value[]){__VA_ARGS__},                                      \
		    sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value))

static void write_round(int tid, unsigned int round)
{
	static const char text[80] =
		"GET /index.html HTTP/1.1\r\nHost: www.example.org\r\nAccept: */*"
		"\r\n\r\n0123456789";
	char path[64];

	snprintf(path, sizeof(path), "/srv/bench/data/file-%u.txt", round % 997);
	EVENT(tid, EVT_OPENAT_E, S64(-100), STR(path), U32(1), U32(0));
	EVENT(tid, EVT_OPENAT_X, S64(3), S64(-100), STR(path), U32(1), U32(0), U32(0x801));
	for (int i = 0; i < 6; i++) {
		EVENT(tid, EVT_READ_E, S64(3), U32(4096));
		EVENT(tid, EVT_READ_X, S64(80), {text, sizeof(text)});
	}
	EVENT(tid, EVT_WRITE_E, S64(1), U32(12));
	EVENT(tid, EVT_WRITE_X, S64(12), {"hello, bench", 12});
	EVENT(tid, EVT_CLOSE_E, S64(3));
	EVENT(tid, EVT_CLOSE_X, S64(0));
}

int main(int argc, char **argv)
{
	const int n_procs = argc > 3 ? atoi(argv[3]) : 500;

	if (argc < 2 || n_procs < 1 || !(out = fopen(argv[1], "w"))) {
		fprintf(stderr, "usage: gen_capture FILE [EVENTS [PROCESSES]]\n");
		return 1;
	}
	n_left = argc > 2 ? atol(argv[2]) : 2000000;
	write_header();
	write_procs(n_procs);
	for (unsigned int round = 0; n_left > 0; round++)
		write_round(FIRST_TID + round % (unsigned int)n_procs, round);
	return fclose(out) ? 1 : 0;
}
