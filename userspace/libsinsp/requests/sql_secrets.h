/* SPDX-License-Identifier: Apache-2.0 */
/* The statement of a request in SQL, without what may be a password. */
#ifndef SINSP_REQUESTS_SQL_SECRETS_H
#define SINSP_REQUESTS_SQL_SECRETS_H

#include <stddef.h>

#include "sql.h"

/*
 * Sets the statement of @r. Where a word has "passw" or "identified" in it, each text behind it
 * becomes '***', as does every text with "passw" in it. From a text on whose end depends on
 * settings of the server nothing is shown.
 */
void sql_set_statement(struct request *r, const char *p, size_t n, enum sql_dialect dialect);

#endif /* SINSP_REQUESTS_SQL_SECRETS_H */
