/* SPDX-License-Identifier: Apache-2.0 */
#include "users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "scap.h"

static int by_id(const void *a, const void *b)
{
	const struct sinsp_name *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void name_put(struct sinsp_name *name, struct sinsp_strings *st)
{
	sinsp_str_put(st, name->name);
	sinsp_str_put(st, name->home);
	sinsp_str_put(st, name->shell);
}

static const char *text_get(struct sinsp_strings *st, const char *text)
{
	return sinsp_str_get(st, text, strlen(text));
}

/* Of several names of one id the last counts. */
static void sort(struct sinsp_names *names, struct sinsp_strings *st)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++)
		names->v[i].order = i;
	qsort(names->v, names->n, sizeof(*names->v), by_id);
	for (size_t i = 0; i < names->n; i++) {
		if (n && names->v[n - 1].id == names->v[i].id)
			name_put(&names->v[--n], st);
		names->v[n++] = names->v[i];
	}
	names->n = n;
}

static void names_fini(struct sinsp_names *names, struct sinsp_strings *st)
{
	for (size_t i = 0; i < names->n; i++)
		name_put(&names->v[i], st);
	free(names->v);
	memset(names, 0, sizeof(*names));
}

void sinsp_users_fini(struct sinsp_users *u, struct sinsp_strings *st)
{
	names_fini(&u->users, st);
	names_fini(&u->groups, st);
}

int sinsp_users_load(struct sinsp_users *u, struct sinsp_strings *st,
		     const struct scap_state *state)
{
	sinsp_users_fini(u, st);
	u->users.v = calloc(state->n_users + 1, sizeof(*u->users.v));
	u->groups.v = calloc(state->n_groups + 1, sizeof(*u->groups.v));
	if (!u->users.v || !u->groups.v) {
		sinsp_users_fini(u, st);
		return -ENOMEM;
	}
	for (size_t i = 0; i < state->n_users; i++) {
		const struct scap_user *x = &state->users[i];

		u->users.v[u->users.n++] = (struct sinsp_name){
			.id = x->uid,
			.name = text_get(st, x->name),
			.home = text_get(st, x->home ? x->home : ""),
			.shell = text_get(st, x->shell ? x->shell : ""),
		};
	}
	for (size_t i = 0; i < state->n_groups; i++) {
		const struct scap_group *x = &state->groups[i];

		u->groups.v[u->groups.n++] =
			(struct sinsp_name){.id = x->gid, .name = text_get(st, x->name)};
	}
	sort(&u->users, st);
	sort(&u->groups, st);
	return 0;
}

const struct sinsp_name *sinsp_names_find(const struct sinsp_names *names, uint32_t id)
{
	size_t lo = 0, hi = names->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (names->v[mid].id == id)
			return &names->v[mid];
		if (names->v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
