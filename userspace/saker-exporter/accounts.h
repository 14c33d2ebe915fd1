/* SPDX-License-Identifier: Apache-2.0 */
/* Accounting as metrics. A thread of its own reads it when a page is to be printed, since that
 * needs a capability that the server's thread does not have. */
#ifndef SAKER_EXPORTER_ACCOUNTS_H
#define SAKER_EXPORTER_ACCOUNTS_H

#include "exporter_options.h"
#include "page.h"

struct accounts;

/* Begins to count. Returns 0 with *out owned by the caller, or a negative errno after reporting it.
 */
int accounts_open(struct accounts **out, const struct exporter_options *o);
/* Starts the thread, with the capabilities of the caller. Borrows @ps, and sets its refresh. */
int accounts_start(struct accounts *a, struct pages *ps);
/* Before the pages are freed; the server must not use them any more. NULL is allowed. */
void accounts_close(struct accounts *a);

#endif /* SAKER_EXPORTER_ACCOUNTS_H */
