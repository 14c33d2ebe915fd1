/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a request that ended. */
#ifndef SINSP_REQUESTS_REQUEST_EVENT_H
#define SINSP_REQUESTS_REQUEST_EVENT_H

#include "conn.h"

/* Makes the event of a request, and frees it. */
void req_emit(struct sinsp_conn *c, struct request *r);
void req_drop(struct sinsp_conn *c, struct request *r);

#endif /* SINSP_REQUESTS_REQUEST_EVENT_H */
