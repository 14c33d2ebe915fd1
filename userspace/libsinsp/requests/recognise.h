/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the protocol of a connection. */
#ifndef SINSP_REQUESTS_RECOGNISE_H
#define SINSP_REQUESTS_RECOGNISE_H

#include "conn.h"

/* Returns whether the bytes that follow may show the protocol. */
int conn_is_undecided(const struct sinsp_conn *c, enum req_from from);
/* Finds the protocol by bytes at the beginning of a call, and who sent them. Returns whether more
 * bytes are needed. */
int conn_recognise(struct sinsp_conn *c, enum req_from *from, const uint8_t *p, size_t n, int cut);

extern const struct req_protocol req_generic; /* generic.c */

#endif /* SINSP_REQUESTS_RECOGNISE_H */
