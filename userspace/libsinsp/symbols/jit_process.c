/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "open_in_root.h"

enum {
	LOOK_AGAIN_MS = 50,
	LOOK_SHARE = 10, /* looking takes a tenth of the time at most */
};

struct jit_process {
	int64_t pid;
	struct jit_map *perf, *dump; /* NULL: not found yet */
	uint64_t look_ms; /* when the files are looked at again */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void free_process(struct jit_process *p)
{
	if (!p)
		return;
	jit_map_free(p->perf);
	jit_map_free(p->dump);
	free(p);
}

void jit_processes_fini(struct jit_processes *jp)
{
	for (size_t i = 0; i < JIT_PROCESSES; i++) {
		free_process(jp->v[i]);
		jp->v[i] = NULL;
	}
}

static struct jit_process *process_of(struct jit_processes *jp, int64_t pid)
{
	struct jit_process **slot = &jp->v[(uint64_t)pid % JIT_PROCESSES];

	if (*slot && (*slot)->pid == pid)
		return *slot;
	free_process(*slot);
	*slot = calloc(1, sizeof(**slot));
	if (*slot)
		(*slot)->pid = pid;
	return *slot;
}

/* As the process names it; when that is gone, as we do. */
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

/* 1: there is more than before. */
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

static int look(struct jit_process *p, const struct jit_process_key *key)
{
	const uint64_t now = now_ms();
	char path[64], our_path[64];
	int r, more = 0;

	if (now < p->look_ms)
		return 0;
	snprintf(path, sizeof(path), "/tmp/perf-%lld.map", (long long)key->vpid);
	snprintf(our_path, sizeof(our_path), "/tmp/perf-%lld.map", (long long)key->pid);
	r = read_more(&p->perf, key, path, our_path);
	if (r >= 0 && key->dump)
		more = read_more(&p->dump, key, key->dump, key->dump);
	p->look_ms = now_ms() + LOOK_AGAIN_MS + LOOK_SHARE * (now_ms() - now);
	return r < 0 ? r : more < 0 ? more : r | more;
}

/* The file is looked at first: at a place where a function was found another one may be. */
int jit_process_find(struct jit_processes *jp, const struct jit_process_key *key, uint64_t addr,
		     struct symtab_sym *out, const char **file, uint32_t *line)
{
	struct jit_process *p = process_of(jp, key->pid);
	int r = p ? look(p, key) : -ENOMEM;

	if (r < 0)
		return r;
	if (p->dump && jit_map_find(p->dump, addr, key->mono_ns, out, file, line))
		return 1;
	return p->perf && jit_map_find(p->perf, addr, key->mono_ns, out, file, line);
}
