/* SPDX-License-Identifier: Apache-2.0 */
/* The page at /: what is measured, and what is not. */
#ifndef SAKER_EXPORTER_FRONT_PAGE_H
#define SAKER_EXPORTER_FRONT_PAGE_H

#include "exporter_options.h"

/* Returns HTML, owned by the caller; NULL: no memory. @has_accounting: it was opened. */
char *front_page_new(const struct exporter_options *o, int has_accounting);

#endif /* SAKER_EXPORTER_FRONT_PAGE_H */
