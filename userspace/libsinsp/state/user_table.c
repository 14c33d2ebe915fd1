/* SPDX-License-Identifier: Apache-2.0 */
/* The user table: users and groups sorted by ID; changes that events reported are in a table of
 * their own. */
#include "user_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/intern.h"
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
	if (!name->name)
		return;
	sinsp_str_put(st, name->name);
	sinsp_str_put(st, name->home);
	sinsp_str_put(st, name->shell);
}

static const char *text_get(struct sinsp_strings *st, const char *text)
{
	return sinsp_str_get(st, text, strlen(text));
}

/* Keeps the last of several names with one ID. */
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
	for (size_t i = 0; i < u->n_reported; i++) {
		name_put(&u->reported[i].name, st);
		sinsp_str_put(st, u->reported[i].container);
	}
	free(u->reported);
	u->reported = NULL;
	u->n_reported = u->cap_reported = 0;
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

static const struct sinsp_name *find_loaded(const struct sinsp_names *names, uint32_t id)
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

static int compare_reported(const struct sinsp_reported_name *a,
			    const struct sinsp_reported_name *b)
{
	const int by_container = strcmp(a->container, b->container);

	if (by_container)
		return by_container;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Returns the index of @key, or of the first element above it. */
static size_t place_of(const struct sinsp_users *u, const struct sinsp_reported_name *key)
{
	size_t lo = 0, hi = u->n_reported;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (compare_reported(&u->reported[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct sinsp_reported_name *find_reported(const struct sinsp_users *u,
						 const struct sinsp_reported_name *key)
{
	const size_t at = place_of(u, key);

	return at < u->n_reported && !compare_reported(&u->reported[at], key) ? &u->reported[at]
									      : NULL;
}

static int make_room(struct sinsp_users *u)
{
	const size_t cap = u->cap_reported ? u->cap_reported * 2 : 64;
	struct sinsp_reported_name *v;

	if (u->n_reported < u->cap_reported)
		return 0;
	if (u->n_reported >= SINSP_NAMES_REPORTED_MAX)
		return -ENOSPC;
	v = reallocarray(u->reported, cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	u->reported = v;
	u->cap_reported = cap;
	return 0;
}

static int insert_reported(struct sinsp_users *u, struct sinsp_strings *st,
			   const struct sinsp_reported_name *key, struct sinsp_reported_name **out)
{
	const size_t at = place_of(u, key);
	int err = make_room(u);

	if (err)
		return err;
	memmove(u->reported + at + 1, u->reported + at,
		(u->n_reported - at) * sizeof(*u->reported));
	u->n_reported++;
	u->reported[at] = *key;
	u->reported[at].container = text_get(st, key->container);
	*out = &u->reported[at];
	return 0;
}

static const char *copy_text(struct sinsp_strings *st, const char *text)
{
	return text ? sinsp_str_get(st, text, strnlen(text, SINSP_NAME_MAX)) : NULL;
}

int sinsp_users_report(struct sinsp_users *u, struct sinsp_strings *st, const char *container,
		       enum sinsp_name_kind kind, const struct sinsp_name *name)
{
	const struct sinsp_reported_name key = {
		.container = container, .kind = kind, .id = name->id};
	struct sinsp_reported_name *at = find_reported(u, &key);
	int err = at ? 0 : insert_reported(u, st, &key, &at);

	if (err)
		return err;
	name_put(&at->name, st);
	at->name = (struct sinsp_name){.id = name->id};
	if (!name->name)
		return 0;
	at->name.name = copy_text(st, name->name);
	at->name.home = copy_text(st, name->home);
	at->name.shell = copy_text(st, name->shell);
	return 0;
}

const struct sinsp_name *sinsp_users_find(const struct sinsp_users *u, const char *container,
					  enum sinsp_name_kind kind, uint32_t id)
{
	struct sinsp_reported_name key = {.container = container, .kind = kind, .id = id};
	const struct sinsp_reported_name *at = u->n_reported ? find_reported(u, &key) : NULL;

	if (u->n_reported && !at && *container) {
		key.container = "";
		at = find_reported(u, &key);
	}
	if (at)
		return at->name.name ? &at->name : NULL;
	return find_loaded(kind == SINSP_NAME_USER ? &u->users : &u->groups, id);
}
