/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an event costs the reader of a live capture, by the number of rings: ring_cost [RINGS...]
 *
 * The rings are of the kind array, in memory that this program fills as the driver does; they are
 * read by the code that reads the driver's: ring, merge, and a call expanded into its two events.
 * Prints a line for each number of rings:
 *
 *	RINGS mixed NS one NS round NS
 *
 * mixed: ns per event if each record is in a ring taken at random; one: if all are in one ring, and
 * the others are empty; round: ns to look at all rings and find nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "event/expand.h"
#include "ring/merge.h"
#include "ring/ring_impl.h"
#include "shared/events.h"

#define ALL_RINGS_SZ (8u << 20) /* they wrap soon: no page is new then */
#define N_RECORDS 20000 /* of a turn: 2.7 MB, as a reader finds them that is 20 ms behind */
#define N_TURNS 40
#define N_ROUNDS 2000
#define RINGS_MAX 256
#define DATA_LEN 64 /* of each read */
#define RECORD_SZ 136

struct source {
	struct ring *ring;
	uint8_t *place; /* where the driver would write */
	const struct rec_hdr *rec;
	int enter_due;
};

struct bench {
	struct source s[RINGS_MAX];
	void *sources[RINGS_MAX];
	struct drv_slot slots[RINGS_MAX];
	unsigned int n;
	size_t ring_sz;
	uint64_t now;
	struct merge *merge;
	struct scap_expand *expand;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the sources of the merge, as those of the live engine ---- */

static void refresh(void *source, struct ring_bound *bound)
{
	ring_refresh(((struct source *)source)->ring, bound);
}

static uint64_t first_key(struct source *s)
{
	s->rec = ring_peek(s->ring);
	if (!s->rec)
		return MERGE_NO_KEY;
	s->enter_due = scap_rec_has_enter(s->rec);
	return rec_key(s->rec);
}

static uint64_t key(void *source)
{
	struct source *s = source;

	return s->rec ? MERGE_NO_KEY : first_key(s);
}

static inline uint64_t pop(void *source)
{
	struct source *s = source;

	if (!s->enter_due) {
		ring_advance(s->ring);
		return first_key(s);
	}
	s->enter_due = 0;
	return s->rec->evt.ts;
}

static void release(void *source)
{
	ring_release(((struct source *)source)->ring);
}

static uint64_t now_of(void *ctx)
{
	return ((struct bench *)ctx)->now;
}

static const struct merge_ops ops = {
	.refresh = refresh, .key = key, .release = release, .now = now_of};

/* ---- rings ---- */

static void open_source(struct bench *b, unsigned int cpu)
{
	struct source *s = &b->s[cpu];
	const size_t sz = sizeof(struct ring_hdr) + b->ring_sz + RING_SLACK;
	int fd = memfd_create("ring", 0);

	if (fd < 0 || ftruncate(fd, (off_t)sz))
		die("memfd");
	s->place = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->place == MAP_FAILED)
		die("mmap");
	s->place += sizeof(struct ring_hdr);
	if (ring_open(&s->ring, &ring_array_ops, cpu, b->ring_sz, fd, fd, b->slots))
		die("ring");
	close(fd);
	b->sources[cpu] = s;
}

static struct bench *open_bench(unsigned int n)
{
	struct bench *b = aligned_alloc(128, (sizeof(*b) + 127) / 128 * 128);

	if (!b)
		die("memory");
	memset(b, 0, sizeof(*b));
	b->n = n;
	for (b->ring_sz = ALL_RINGS_SZ; b->ring_sz * n > ALL_RINGS_SZ; b->ring_sz /= 2)
		;
	for (unsigned int i = 0; i < n; i++)
		open_source(b, i);
	b->merge = merge_new(&ops, b->sources, n, n, b);
	b->expand = scap_expand_new();
	if (!b->merge || !b->expand)
		die("memory");
	return b;
}

static void close_bench(struct bench *b)
{
	for (unsigned int i = 0; i < b->n; i++) {
		ring_close(b->s[i].ring);
		munmap(b->s[i].place - sizeof(struct ring_hdr),
		       sizeof(struct ring_hdr) + b->ring_sz + RING_SLACK);
	}
	merge_free(b->merge);
	scap_expand_free(b->expand);
	free(b);
}

/* A read of DATA_LEN bytes. */
static void write_record(struct bench *b, unsigned int cpu)
{
	const uint16_t lens[] = {8, DATA_LEN, 8, 4};
	struct ring_ends *ends = &b->slots[cpu].ring;
	uint8_t *at = b->s[cpu].place + (ends->head & (b->ring_sz - 1)),
		*p = at + sizeof(struct rec_hdr);
	struct rec_hdr rec = {.cpu = (uint16_t)cpu, .enter_ns = b->now += 100};

	rec.evt = (struct ppm_evt_hdr){
		.ts = rec.enter_ns + 300, .tid = 1000 + cpu, .type = EVT_READ_X, .nparams = 4};
	rec.evt.len = sizeof(rec.evt) + sizeof(lens) + 8 + DATA_LEN + 8 + 4;
	rec.len = (uint16_t)((offsetof(struct rec_hdr, evt) + rec.evt.len + 7) & ~7u);
	memcpy(at, &rec, sizeof(rec));
	memcpy(p, lens, sizeof(lens));
	p += sizeof(lens);
	memcpy(p, &(int64_t){DATA_LEN}, 8);
	memset(p + 8, 'x', DATA_LEN);
	memcpy(p + 8 + DATA_LEN, &(int64_t){3}, 8);
	memcpy(p + 8 + DATA_LEN + 8, &(uint32_t){4096}, 4);
	ends->head += rec.len;
	ends->resv = ends->head;
}

/* ---- what is measured ---- */

/* Returns ns per event of one turn. */
static double turn(struct bench *b, unsigned int n_busy)
{
	static uint64_t random = 1;
	struct merge_item item;
	struct scap_params params;
	struct scap_evt evt;
	uint64_t n = 0;
	double begin;

	const uint64_t room = n_busy * b->ring_sz * 3 / 4 / RECORD_SZ,
		       n_records = room < N_RECORDS ? room : N_RECORDS;

	for (uint64_t i = 0; i < n_records; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		write_record(b, (unsigned int)((random >> 33) % n_busy));
	}
	b->now += 10 * MERGE_SLACK_NS;
	begin = now_ns();
	while (merge_next_by(b->merge, pop, &item)) {
		const struct source *s = &b->s[item.source];

		n += !(s->enter_due ? scap_expand_enter(b->expand, &evt, &params, s->rec)
				    : scap_expand_exit(&evt, &params, s->rec));
	}
	if (n != 2 * n_records) {
		fprintf(stderr, "ring_cost: %llu events of %llu\n", (unsigned long long)n,
			(unsigned long long)(2 * n_records));
		exit(1);
	}
	return (now_ns() - begin) / (double)n;
}

static double least_turn(struct bench *b, unsigned int n_busy)
{
	double least = 1e9;

	for (int i = 0; i < N_TURNS; i++) {
		const double ns = turn(b, n_busy);

		if (ns < least)
			least = ns;
	}
	return least;
}

static double empty_round(struct bench *b)
{
	double least = 1e9;

	for (int i = 0; i < N_TURNS; i++) {
		const double begin = now_ns();
		struct merge_item item;

		for (int j = 0; j < N_ROUNDS; j++) {
			b->now++;
			if (merge_next_by(b->merge, pop, &item))
				exit(1);
		}
		if ((now_ns() - begin) / N_ROUNDS < least)
			least = (now_ns() - begin) / N_ROUNDS;
	}
	return least;
}

static void measure(unsigned int n)
{
	struct bench *b = open_bench(n);
	const double mixed = least_turn(b, n), one = least_turn(b, 1);

	printf("%u mixed %.1f one %.1f round %.0f\n", n, mixed, one, empty_round(b));
	close_bench(b);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const long n = atol(argv[i]);

		if (n < 1 || n > RINGS_MAX) {
			fprintf(stderr, "usage: ring_cost RINGS... (1 to %d)\n", RINGS_MAX);
			return 1;
		}
		measure((unsigned int)n);
	}
	return 0;
}
