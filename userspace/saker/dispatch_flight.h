/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder of a dispatcher: which events it keeps, and which of them trigger a file. */
#ifndef SAKER_DISPATCH_FLIGHT_H
#define SAKER_DISPATCH_FLIGHT_H

#include "dispatch.h"
#include "flight.h"

/* Returns 0, or a negative errno after reporting it. */
int dispatch_open_flight(struct dispatch *t);
void dispatch_close_flight(struct dispatch *t);

/* For each event, before it changes the state: see sinsp_set_before. @ctx: the dispatcher. */
int dispatch_before_flight(void *ctx, const struct scap_evt *evt);
/* Keeps an event. Without memory the recorder ends. */
void dispatch_put_flight(struct dispatch *t, const struct sinsp_evt *evt);

#endif /* SAKER_DISPATCH_FLIGHT_H */
