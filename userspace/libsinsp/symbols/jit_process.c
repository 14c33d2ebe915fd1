/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "objfile/open_in_root.h"

enum {
	LOOK_AGAIN_MS = 50,
	LOOK_SHARE = 10, /* reading takes at most a tenth of the time, per process and for all */
	LOOK_FREE_MS =
		2000, /* time before that limit applies to all: at the start everything is new */
	LOOK_FREE_FILE_MS = 60000, /* the same if no events wait for us */
};

struct jit_process {
	int64_t pid;
	struct jit_map *perf, *dump; /* NULL: not found yet */
	size_t bytes;
	uint64_t look_ms; /* when the files are read again */
	uint64_t used; /* last use, counted in uses */
	unsigned int n_cut; /* of its files */
};

/* ---- all processes ---- */

static void forget(struct jit_processes *jp, size_t i)
{
	struct jit_process *p = jp->v[i];

	jp->v[i] = jp->v[--jp->n];
	jp->n_bytes -= p->bytes;
	jit_map_free(p->perf);
	jit_map_free(p->dump);
	free(p);
}

void jit_processes_fini(struct jit_processes *jp)
{
	while (jp->n)
		forget(jp, jp->n - 1);
}

/* Drops another one than @in_use. */
static void forget_oldest(struct jit_processes *jp, const struct jit_process *in_use)
{
	size_t oldest = jp->n;

	for (size_t i = 0; i < jp->n; i++)
		if (jp->v[i] != in_use && (oldest == jp->n || jp->v[i]->used < jp->v[oldest]->used))
			oldest = i;
	if (oldest < jp->n)
		forget(jp, oldest);
}

static void keep_bounds(struct jit_processes *jp, struct jit_process *in_use)
{
	const size_t max = jp->max_bytes ?: JIT_BYTES_MAX;

	jp->n_bytes -= in_use->bytes;
	in_use->bytes = in_use->perf ? jit_map_bytes(in_use->perf) : 0;
	in_use->bytes += in_use->dump ? jit_map_bytes(in_use->dump) : 0;
	jp->n_bytes += in_use->bytes;
	while (jp->n > 1 && jp->n_bytes - in_use->bytes > max)
		forget_oldest(jp, in_use);
}

/* Frames of one process mostly follow each other: it is at the front. */
static struct jit_process *find(struct jit_processes *jp, int64_t pid)
{
	for (size_t i = 0; i < jp->n; i++) {
		struct jit_process *p = jp->v[i];

		if (p->pid != pid)
			continue;
		jp->v[i] = jp->v[0];
		jp->v[0] = p;
		return p;
	}
	return NULL;
}

static struct jit_process *process_of(struct jit_processes *jp, int64_t pid)
{
	struct jit_process *p = find(jp, pid);

	if (!p) {
		if (jp->n == JIT_PROCESSES)
			forget_oldest(jp, NULL);
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->pid = pid;
		jp->v[jp->n++] = p;
	}
	p->used = ++jp->n_uses;
	return p;
}

/* Returns whether there is time for another read. */
static int may_look(struct jit_processes *jp, const struct jit_process *p, int live, uint64_t now)
{
	const uint64_t free_ms = live ? LOOK_FREE_MS : LOOK_FREE_FILE_MS;

	if (!jp->begin_ms)
		jp->begin_ms = now;
	if (now < p->look_ms)
		return 0;
	if (jp->spent_ms <= free_ms + (now - jp->begin_ms) / LOOK_SHARE)
		return 1;
	jp->n_late++;
	return 0;
}

/* ---- one of them ---- */

/* By the path in the process; when it has ended, in ours. */
static int open_file(const struct jit_process_key *key, const char *path, const char *our_path,
		     struct stat *st)
{
	char root[64];
	int fd = -ENOENT;

	snprintf(root, sizeof(root), "/proc/%lld/root", (long long)key->pid);
	if (key->live)
		fd = open_in_root(root, path, st);
	return fd < 0 ? open_in_root(NULL, our_path, st) : fd;
}

/* Returns 1 if there is more than before. */
static int read_more(struct jit_map **m, const struct jit_process_key *key, const char *path,
		     const char *our_path)
{
	struct stat st;
	int fd = open_file(key, path, our_path, &st), r;

	if (fd < 0)
		return 0;
	if (!*m)
		*m = jit_map_new();
	r = *m ? jit_map_read_of(*m, fd, &st, key->owner) : -ENOMEM;
	close(fd);
	return r == 1 || r == -ENOMEM ? r : 0;
}

static void count_cut(struct jit_processes *jp, struct jit_process *p)
{
	const unsigned int n =
		(p->perf && jit_map_is_cut(p->perf)) + (p->dump && jit_map_is_cut(p->dump));

	if (n > p->n_cut)
		jp->n_cut += n - p->n_cut;
	p->n_cut = n;
}

static int look(struct jit_processes *jp, struct jit_process *p, const struct jit_process_key *key)
{
	const uint64_t now = clock_now_ms();
	char path[64], our_path[64];
	int r, more = 0;

	if (!may_look(jp, p, key->live, now))
		return 0;
	snprintf(path, sizeof(path), "/tmp/perf-%lld.map", (long long)key->vpid);
	snprintf(our_path, sizeof(our_path), "/tmp/perf-%lld.map", (long long)key->pid);
	r = read_more(&p->perf, key, path, our_path);
	if (r >= 0 && key->dump)
		more = read_more(&p->dump, key, key->dump, key->dump);
	count_cut(jp, p);
	keep_bounds(jp, p);
	jp->spent_ms += clock_now_ms() - now;
	p->look_ms = clock_now_ms() + LOOK_AGAIN_MS + LOOK_SHARE * (clock_now_ms() - now);
	return r < 0 ? r : more < 0 ? more : r | more;
}

/* Reads the file first: a place with a known function may have another one by now. */
int jit_process_find(struct jit_processes *jp, const struct jit_process_key *key, uint64_t addr,
		     struct symtab_sym *out, const char **file, uint32_t *line)
{
	struct jit_process *p = process_of(jp, key->pid);
	int r = p ? look(jp, p, key) : -ENOMEM;

	if (r < 0)
		return r;
	if (p->dump && jit_map_find(p->dump, addr, key->mono_ns, out, file, line))
		return 1;
	return p->perf && jit_map_find(p->perf, addr, key->mono_ns, out, file, line);
}
