/* SPDX-License-Identifier: Apache-2.0 */
/* The user table: users and groups of the host and of containers, the names at the start of the
 * source, and the changes that events reported. */
#ifndef SINSP_STATE_USER_TABLE_H
#define SINSP_STATE_USER_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct scap_state;
struct sinsp_strings;

struct sinsp_names {
	struct sinsp_name {
		uint32_t id;
		uint32_t order; /* in the source */
		const char *name; /* interned, as home and shell, which groups lack */
		const char *home, *shell;
	} * v; /* sorted by ID */
	size_t n;
};

enum sinsp_name_kind { SINSP_NAME_USER, SINSP_NAME_GROUP };

#define SINSP_NAMES_REPORTED_MAX 8192 /* more are ignored: a capture can have any number */
#define SINSP_NAME_MAX 4096 /* bytes kept of a text */

/* Sorted by the members before name. */
struct sinsp_reported_name {
	const char *container; /* interned ID; "": the host */
	uint32_t kind, id;
	struct sinsp_name name; /* name.name NULL: removed */
};

struct sinsp_users {
	struct sinsp_names users, groups;
	struct sinsp_reported_name *reported;
	size_t n_reported, cap_reported;
};

int sinsp_users_load(struct sinsp_users *u, struct sinsp_strings *st,
		     const struct scap_state *state);
void sinsp_users_fini(struct sinsp_users *u, struct sinsp_strings *st);
/* Records that @name, whose texts are copied, exists in @container from now on. name->name NULL
 * removes it. Returns 0, -ENOSPC, or -ENOMEM. */
int sinsp_users_report(struct sinsp_users *u, struct sinsp_strings *st, const char *container,
		       enum sinsp_name_kind kind, const struct sinsp_name *name);
/* Returns the name of @id in @container ("": the host), else that of the host, or NULL. */
const struct sinsp_name *sinsp_users_find(const struct sinsp_users *u, const char *container,
					  enum sinsp_name_kind kind, uint32_t id);

#endif /* SINSP_STATE_USER_TABLE_H */
