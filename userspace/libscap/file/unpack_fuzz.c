/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: a file from a pipe, of which the first bytes come before the others, behind a byte
 * for the room of each read and one for where the bytes are parted. What zlib itself makes of gzip,
 * whose checksums we compare, must be the same.
 */
#include "file/unpack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "file/scap_format.h"

enum { OUT_MAX = 8 << 20 }; /* a thousand times the longest input, and more */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static void must(int ok)
{
	if (!ok)
		abort();
}

struct unpacked {
	uint8_t *p;
	size_t n;
	int is_good;
};

/* Unpacks members; bytes behind them that begin no other one are left out. */
static void unpack_by_zlib(struct unpacked *to, const uint8_t *p, size_t n)
{
	z_stream z = {.next_in = (Bytef *)p, .avail_in = (uInt)n, .next_out = to->p};
	int ret = Z_STREAM_END;

	must(inflateInit2(&z, 15 + 16) == Z_OK);
	z.avail_out = OUT_MAX;
	while (ret == Z_STREAM_END && z.avail_in && *z.next_in == 0x1f) {
		inflateReset(&z);
		ret = inflate(&z, Z_NO_FLUSH);
	}
	to->n = OUT_MAX - z.avail_out;
	to->is_good = ret == Z_STREAM_END;
	inflateEnd(&z);
}

static void unpack(struct unpacked *to, const uint8_t *p, size_t n, size_t first, size_t room,
		   bool *is_packed)
{
	const struct scap_log log = {0};
	struct unpacker *u = NULL;
	char path[32];
	int fds[2];
	ssize_t got;

	must(!pipe2(fds, O_CLOEXEC) && write(fds[1], p, first) == (ssize_t)first);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	got = unpack_open(&u, path, "input", 0, &log);
	must(n == first || write(fds[1], p + first, n - first) == (ssize_t)(n - first));
	close(fds[1]);
	while (!got && (got = unpack_some(u, to->p + to->n, room)) > 0) {
		to->n += (size_t)got;
		must(to->n < OUT_MAX - room);
		got = 0;
	}
	to->is_good = u && got == 0;
	*is_packed = u && unpack_is_packed(u);
	unpack_close(u);
	close(fds[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static const size_t rooms[] = {1, 3, 64, 1000, 4096, 128u << 10};
	static uint8_t out[OUT_MAX], expected[OUT_MAX];
	struct unpacked ours = {.p = out}, theirs = {.p = expected};
	size_t n, first;
	bool is_packed;

	if (sz < 2 + 4)
		return 0;
	n = sz - 2;
	first = 4 + data[1] * (n - 4) / UINT8_MAX;
	unpack(&ours, data + 2, n, first, rooms[data[0] % (sizeof(rooms) / sizeof(*rooms))],
	       &is_packed);
	if (!is_packed)
		must(!ours.is_good || (ours.n == n && !memcmp(out, data + 2, n)));
	if (data[2] != 0x1f || data[3] != 0x8b)
		return 0;
	unpack_by_zlib(&theirs, data + 2, n);
	must(ours.is_good == theirs.is_good && ours.n == theirs.n &&
	     !memcmp(out, expected, ours.n));
	return 0;
}
