/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of users and groups: those that the source knew when it began, and what events reported
 * since, of the host or of one container.
 */
#ifndef SINSP_STATE_USERS_H
#define SINSP_STATE_USERS_H

#include <stddef.h>
#include <stdint.h>

struct scap_state;
struct sinsp_strings;

struct sinsp_names {
	struct sinsp_name {
		uint32_t id;
		uint32_t order; /* in the source */
		const char *name; /* interned, as home and shell, which groups have not */
		const char *home, *shell;
	} * v; /* ascending ids */
	size_t n;
};

enum sinsp_name_kind { SINSP_NAME_USER, SINSP_NAME_GROUP };

#define SINSP_NAMES_REPORTED_MAX 8192 /* later ones are ignored: a capture can hold any number */
#define SINSP_NAME_MAX 4096 /* bytes of a text that are kept */

/* Ascending by the members before the name. */
struct sinsp_reported_name {
	const char *container; /* interned ID; "": the host */
	uint32_t kind, id;
	struct sinsp_name name; /* name NULL: it was removed */
};

struct sinsp_users {
	struct sinsp_names users, groups;
	struct sinsp_reported_name *reported;
	size_t n_reported, cap_reported;
};

int sinsp_users_load(struct sinsp_users *u, struct sinsp_strings *st,
		     const struct scap_state *state);
void sinsp_users_fini(struct sinsp_users *u, struct sinsp_strings *st);
/*
 * What an event reported: @name, whose texts the table copies, exists in @container from now on. A
 * name NULL removes it. Returns 0, -ENOSPC, or -ENOMEM.
 */
int sinsp_users_report(struct sinsp_users *u, struct sinsp_strings *st, const char *container,
		       enum sinsp_name_kind kind, const struct sinsp_name *name);
/* The name of @id in @container ("": the host), or if none was reported there, the host's. NULL:
 * not known. */
const struct sinsp_name *sinsp_users_find(const struct sinsp_users *u, const char *container,
					  enum sinsp_name_kind kind, uint32_t id);

#endif /* SINSP_STATE_USERS_H */
