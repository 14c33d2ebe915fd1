/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of HTTP from the command line: NAME: VALUE, or @FILE with one on each line. They may be
 * secret: no message has them. */
#ifndef SAKER_EXPORTER_OTLP_HEADERS_H
#define SAKER_EXPORTER_OTLP_HEADERS_H

#include "options.h"

/* Zero-initialize. */
struct otlp_headers {
	struct text_list list; /* owned; the texts are borrowed, from @given and text */
	char *text; /* owned: of a file */
};

/* @option names it in messages. Returns 0, or a negative errno after reporting it. */
int otlp_headers_read(struct otlp_headers *h, const struct text_list *given, const char *option);
void otlp_headers_fini(struct otlp_headers *h);

#endif /* SAKER_EXPORTER_OTLP_HEADERS_H */
