/* SPDX-License-Identifier: Apache-2.0 */
/* What a request says of a statement in SQL. */
#ifndef SINSP_REQUESTS_SQL_H
#define SINSP_REQUESTS_SQL_H

#include <stddef.h>

struct request;

/* Double quotes are those of names, or of texts. */
enum sql_dialect { SQL_PGSQL, SQL_MYSQL };

/* Sets statement, method (its first word, in capitals) and resource (the first table that it
 * names).
 * @n bytes, of which a part may be missing at the end. Passwords become ***: sql_secrets.h. */
void sql_set(struct request *r, const char *p, size_t n, enum sql_dialect dialect);

#endif /* SINSP_REQUESTS_SQL_H */
