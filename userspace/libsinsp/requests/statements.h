/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared statements of a connection, by the number or the hash of the name that the protocol
 * gives them. A table of fixed size: one that needs the place of another removes it, and then that
 * one's text is unknown. */
#ifndef SINSP_REQUESTS_STATEMENTS_H
#define SINSP_REQUESTS_STATEMENTS_H

#include <stddef.h>
#include <stdint.h>

struct sinsp_conn;

#define STATEMENTS_MAX 256
#define STATEMENT_KEPT 4096 /* bytes of its text */

struct statement {
	uint64_t key;
	uint32_t n; /* bytes of the text */
	char text[];
};

/* Zeros: none. */
struct statements {
	struct statement **by_key; /* owned; NULL: none was added */
};

/* Keeps the text, in place of the one with the same key. Without memory it is unknown. */
void statements_put(struct statements *s, struct sinsp_conn *c, uint64_t key, const void *text,
		    size_t n);
/* Returns the statement; NULL: unknown. Valid until the next statements_put. */
const struct statement *statements_get(const struct statements *s, uint64_t key);
void statements_drop(struct statements *s, struct sinsp_conn *c, uint64_t key);
void statements_fini(struct statements *s);

/* Returns a key for a name of this @kind. */
uint64_t statements_key(const struct statements *s, const void *name, size_t n, char kind);

#endif /* SINSP_REQUESTS_STATEMENTS_H */
