/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flip_captures NUMBER FILE...: damages captures NUMBER times in all, each file in turn, and reads
 * them. Each must give events, or a message with the byte where the damage shows, within five
 * seconds. Run it under sanitizers: scripts/flip-captures.
 */
#include "testing/fuzz.h"

#include <errno.h>
#include <time.h>

#include "read_capture_testing.h"

enum { SECONDS_MAX = 5, SZ_MAX = 1 << 20 };

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint32_t next(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

struct logged {
	char text[512];
	int has_offset;
};

static void log_error(void *ctx, enum scap_log_level level, const char *text)
{
	struct logged *l = ctx;

	if (level != SCAP_LOG_ERROR)
		return;
	snprintf(l->text, sizeof(l->text), "%s", text);
	l->has_offset |= strstr(text, " byte ") != NULL;
}

/* Flips bits, overwrites bytes or lengths, truncates, or moves a part. Returns the size. */
static size_t damage(uint8_t *p, size_t sz)
{
	static const uint32_t values[] = {0, 1, 12, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0xffffffff};
	const uint32_t at = next((uint32_t)sz);

	switch (next(16)) {
	case 0:
		return at + 1;
	case 1:
		p[at] = (uint8_t)next(256);
		break;
	case 2:
		memcpy(p + at, &values[next(8)], sz - at < 4 ? sz - at : 4);
		break;
	case 3:
		memmove(p + next((uint32_t)sz - at), p + at, (sz - at) / 2);
		break;
	default:
		for (uint32_t i = next(4); i + 1; i--)
			p[next((uint32_t)sz)] ^= (uint8_t)(1 << next(8));
	}
	return sz;
}

static size_t load(uint8_t *to, const char *path)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(to, 1, SZ_MAX, f) : 0;

	if (!n) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(1);
	}
	fclose(f);
	return n;
}

static int try(const uint8_t *p, size_t sz, const char *of)
{
	struct timespec from, to;
	struct logged l = {0};
	static int fd = -1;
	uint64_t n_events;
	char path[64];
	int err;

	fd = fuzz_fd(fd, p, sz);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	err = read_capture(&n_events, path, 0, next(1 << 20), log_error, &l);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	if (to.tv_sec - from.tv_sec > SECONDS_MAX) {
		printf("%s: took %ld s\n", of, (long)(to.tv_sec - from.tv_sec));
		return 1;
	}
	if (err == -ENODATA || n_events || l.has_offset)
		return 0;
	printf("%s: no events, and a message without a byte offset: %s\n", of, l.text);
	return 1;
}

int main(int argc, char **argv)
{
	static uint8_t whole[SZ_MAX], damaged[SZ_MAX];
	const int n = argc > 2 ? atoi(argv[1]) : 0, n_files = argc - 2;
	int failed = 0;

	for (int f = 0; f < n_files; f++) {
		const size_t sz = load(whole, argv[2 + f]);

		for (int i = f; i < n; i += n_files) {
			memcpy(damaged, whole, sz);
			failed += try(damaged, damage(damaged, sz), argv[2 + f]);
		}
	}
	printf("%d mutations of %d captures, %d failed\n", n, n_files, failed);
	return failed || !n;
}
