/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the raw enter of a call that the driver did not see. */
#ifndef SCAP_LIVE_RAW_CALL_H
#define SCAP_LIVE_RAW_CALL_H

#include <stddef.h>

#include "procfs/remote_memory.h"
#include "shared/call_under_way.h"
#include "shared/record.h"

/* Builds the raw enter of @row in @buf. Values behind pointers are read from @mem; NULL: they are
 * unknown. Returns the size of the record, a multiple of 8, or -ENOSPC. */
int scap_raw_call(void *buf, size_t buf_sz, const struct call_under_way *row,
		  struct remote_memory *mem);

#define RAW_CALL_MAX (16u << 10) /* maximum size of a record */

#endif /* SCAP_LIVE_RAW_CALL_H */
