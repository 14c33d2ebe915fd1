/* SPDX-License-Identifier: Apache-2.0 */
/* Exports threads and descriptors for the beginning of a file; import.h is the reverse. */
#ifndef SINSP_STATE_EXPORT_H
#define SINSP_STATE_EXPORT_H

#include "procfs/state_build.h"
#include "thread_table.h"

/* Exports users, interfaces and machine, which do not change. Returns 0 or -ENOMEM. */
int sinsp_export_machine(struct scap_state_build *b, const struct scap_state *st);

struct sinsp;
/* Exports all threads except stand-ins, with what the events showed of them. Returns 0 or -ENOMEM.
 */
int sinsp_export_threads(struct scap_state_build *b, struct sinsp *s);

#endif /* SINSP_STATE_EXPORT_H */
