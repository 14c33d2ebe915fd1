/* SPDX-License-Identifier: Apache-2.0 */
/* Names of users and groups, as the source knew them when it began. */
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

struct sinsp_users {
	struct sinsp_names users, groups;
};

int sinsp_users_load(struct sinsp_users *u, struct sinsp_strings *st,
		     const struct scap_state *state);
void sinsp_users_fini(struct sinsp_users *u, struct sinsp_strings *st);
/* NULL: the source does not say. */
const struct sinsp_name *sinsp_names_find(const struct sinsp_names *names, uint32_t id);

#endif /* SINSP_STATE_USERS_H */
