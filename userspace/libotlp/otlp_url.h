/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what the user gave, apart from what sends: it needs no library. */
#ifndef OTLP_URL_H
#define OTLP_URL_H

/* Return why the text cannot be used, as the end of a sentence; NULL: it can. Static. */
const char *otlp_url_problem(const char *url);
const char *otlp_target_problem(const char *url); /* may have a query */
const char *otlp_header_problem(const char *header); /* NAME: VALUE */

#endif /* OTLP_URL_H */
