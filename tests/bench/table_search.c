/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ns per search of a row in the table of FILE, by where the table lies: table_search FILE
 *
 * Twice: for 64 addresses again and again, and for addresses from everywhere in the file, of which
 * most are not in a near cache. The least of many rounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "shared/ia32.h"
#include "shared/sampler.h"
#include "table_search.h"
#include "unwind/unwind_pool.h"
#include "unwind/unwind_rows.h"

#include "table_search_bpf.skel.h"

#define ROUNDS 40
#define REPEAT 500

static int load_rows(struct unwind_rows *rows, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct elf_file *f;

	if (fd < 0)
		return -errno;
	err = elf_file_open(&f, fd);
	if (!err) {
		err = unwind_rows_of_file(rows, f, NULL, NULL);
		elf_file_close(f);
	}
	close(fd);
	return err;
}

/* Rows and index, as many as there is room for. How many pages the index has. */
static uint32_t lay_out(uint64_t *words, uint32_t *n_rows, const struct unwind_rows *rows)
{
	uint32_t n = (uint32_t)rows->n, n_pages;
	uint32_t *index;

	for (;; n -= n / 16) {
		n_pages = (rows->v[n - 1].pc >> SEARCH_PAGE_SHIFT) + 1;
		if (8ull * n + 4ull * (n_pages + 3) <= SEARCH_ARENA_SZ)
			break;
	}
	memcpy(words, rows->v, 8ull * n);
	index = (uint32_t *)(words + n);
	for (uint32_t page = 0, i = 0; page <= n_pages; page++) {
		while (i < n && rows->v[i].pc < page << SEARCH_PAGE_SHIFT)
			i++;
		index[page] = i;
	}
	*n_rows = n;
	return n_pages;
}

static double run(const struct bpf_program *p)
{
	char data[64] = {0};
	uint32_t least = UINT32_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = data, .data_size_in = sizeof(data),
			    .repeat = REPEAT);

		if (bpf_prog_test_run_opts(bpf_program__fd(p), &o))
			return -1;
		if (o.duration < least)
			least = o.duration;
	}
	return (double)least / SEARCH_AT_ONCE;
}

static void run_all(struct table_search_bpf *s, const char *what)
{
	const struct bpf_program *const progs[] = {s->progs.search_chunk, s->progs.search_arena,
						   s->progs.search_chunk_index,
						   s->progs.search_arena_index};
	const double nothing = run(s->progs.search_nothing);

	printf("%s", what);
	for (size_t i = 0; i < sizeof(progs) / sizeof(*progs); i++)
		printf(" %.1f", run(progs[i]) - nothing);
	printf("\n");
}

static int search(struct table_search_bpf *s, struct unwind_pool *pool, uint64_t *arena,
		  const struct unwind_rows *rows)
{
	const int64_t place = unwind_pool_alloc(pool, UNWIND_CHUNK_WORDS);
	uint32_t last;

	if (place)
		return place < 0 ? (int)place : -EINVAL;
	s->bss->n_pages = lay_out(unwind_pool_at(pool, 0), &s->bss->n_rows, rows);
	lay_out(arena, &s->bss->n_rows, rows);
	s->bss->arena_words = (uint64_t)arena;
	last = rows->v[s->bss->n_rows - 1].pc;
	for (uint32_t i = 0; i < SEARCH_QUERIES; i++)
		s->bss->queries[i] = rows->v[0].pc + (uint32_t)random() % (last - rows->v[0].pc);
	printf("rows %u\nindex %u\n", s->bss->n_rows, s->bss->n_pages * 4);
	s->bss->mask = SEARCH_AT_ONCE - 1;
	run_all(s, "near");
	s->bss->mask = SEARCH_QUERIES - 1;
	run_all(s, "far");
	return 0;
}

/* The address must be fixed before the load; the memory is mapped there after it. */
static int load(struct table_search_bpf *s, uint64_t **arena)
{
	void *at = mmap(NULL, SEARCH_ARENA_SZ, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = at == MAP_FAILED ? -errno : 0;

	err = err ?: bpf_map__set_map_extra(s->maps.arena, (uint64_t)at);
	err = err ?: table_search_bpf__load(s);
	if (err)
		return err;
	*arena = mmap(at, SEARCH_ARENA_SZ, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		      bpf_map__fd(s->maps.arena), 0);
	return *arena == MAP_FAILED ? -errno : 0;
}

int main(int argc, char **argv)
{
	struct table_search_bpf *s = table_search_bpf__open();
	struct unwind_rows rows = {0};
	struct unwind_pool *pool = NULL;
	uint64_t *arena;
	int err = argc == 2 ? 0 : -EINVAL;

	err = err ?: s ? 0 : -errno;
	err = err ?: load_rows(&rows, argv[1]);
	err = err ?: rows.n > 1 ? 0 : -ENODATA;
	err = err ?: load(s, &arena);
	err = err ?: unwind_pool_new(&pool, bpf_map__fd(s->maps.unwind_chunks), 1u << 20);
	err = err ?: search(s, pool, arena, &rows);
	if (err)
		fprintf(stderr, "table_search: %s\n", strerror(-err));
	unwind_rows_fini(&rows);
	unwind_pool_free(pool);
	table_search_bpf__destroy(s);
	return err != 0;
}
