/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an event from values, one for each parameter, for events that come neither from the driver
 * nor from a file. */
#ifndef SCAP_EVENT_EVENT_BUILD_H
#define SCAP_EVENT_EVENT_BUILD_H

#include <stddef.h>

#include "shared/record.h"

struct evt_value {
	const void *p;
	uint16_t len;
};

/*
 * Returns the length of the event in @buf, which has @sz bytes, or -ENOSPC. @tid UINT64_MAX: none.
 */
int scap_evt_build(void *buf, size_t sz, unsigned int type, uint64_t ts, uint64_t tid,
		   const struct evt_value *values, unsigned int n);

#endif /* SCAP_EVENT_EVENT_BUILD_H */
