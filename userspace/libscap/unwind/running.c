/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/running.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int is_chosen(const struct chosen_procs *c, uint32_t pid)
{
	for (size_t i = 0; i < c->n; i++)
		if ((uint32_t)c->pids[i] == pid)
			return 1;
	return 0;
}

int is_running(const struct running *v, size_t n, uint32_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].pid == pid)
			return 1;
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const struct running *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int compare_urgency(const void *a, const void *b)
{
	const struct running *x = a, *y = b;

	if (x->chosen != y->chosen)
		return y->chosen - x->chosen;
	return x->cpu < y->cpu ? 1 : -(x->cpu > y->cpu);
}

/* A process without a readable status has no parent, and has used no time. */
static void read_stat(struct running *r)
{
	char path[32], line[1024] = "", *at;
	unsigned long long user = 0, system = 0;
	unsigned int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", r->pid);
	f = fopen(path, "re");
	if (!f)
		return;
	at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL; /* names contain any bytes */
	fclose(f);
	if (!at || sscanf(at + 1, " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &parent,
			  &user, &system) != 3)
		return;
	r->parent = parent;
	r->cpu = user + system;
}

static size_t list_all(struct running **out, const struct chosen_procs *c)
{
	const int needs_stat = !c->only || c->descendants;
	DIR *d = opendir("/proc");
	struct running *v = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const unsigned long pid = strtoul(e->d_name, NULL, 10);

		if (!pid)
			continue;
		if (n == cap) {
			struct running *more = realloc(v, (cap ? 2 * cap : 256) * sizeof(*v));

			if (!more)
				break;
			v = more;
			cap = cap ? 2 * cap : 256;
		}
		v[n] = (struct running){.pid = (uint32_t)pid,
					.chosen = is_chosen(c, (uint32_t)pid)};
		if (needs_stat)
			read_stat(&v[n]);
		n++;
	}
	if (d)
		closedir(d);
	*out = v;
	return n;
}

/* Chooses the children of chosen ones, until there are no more. @v is in order of PIDs. */
static void choose_descendants(struct running *v, size_t n)
{
	int more;

	do {
		more = 0;
		for (size_t i = 0; i < n; i++) {
			const struct running key = {.pid = v[i].parent};
			const struct running *parent =
				v[i].chosen ? NULL : bsearch(&key, v, n, sizeof(*v), compare_pids);

			if (parent && parent->chosen)
				v[i].chosen = more = 1;
		}
	} while (more);
}

size_t running_list(struct running **out, const struct chosen_procs *c)
{
	size_t n = list_all(out, c), kept = 0;
	struct running *v = *out;

	if (!n)
		return 0;
	if (c->only && c->descendants) {
		qsort(v, n, sizeof(*v), compare_pids);
		choose_descendants(v, n);
	}
	for (size_t i = 0; c->only && i < n; i++)
		if (v[i].chosen)
			v[kept++] = v[i];
	n = c->only ? kept : n;
	qsort(v, n, sizeof(*v), compare_urgency);
	return n;
}
