/* SPDX-License-Identifier: Apache-2.0 */
/* A call that the driver did not see, as the raw enter that it would have made of it. */
#ifndef SCAP_LIVE_RAW_CALL_H
#define SCAP_LIVE_RAW_CALL_H

#include <stddef.h>

#include "procfs/remote_memory.h"
#include "shared/record.h"
#include "shared/stuck_row.h"

/*
 * Builds the raw enter of @row in @buf. What its pointers point to is read from @mem; NULL: is not
 * known. Returns the bytes of the record, a multiple of 8, or -ENOSPC.
 */
int scap_raw_call(void *buf, size_t buf_sz, const struct stuck_row *row, struct remote_memory *mem);

#define RAW_CALL_MAX (16u << 10) /* bytes of a record at most */

#endif /* SCAP_LIVE_RAW_CALL_H */
