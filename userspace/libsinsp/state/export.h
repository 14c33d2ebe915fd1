/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of threads and files, as a file can begin with it: import.h's other direction. */
#ifndef SINSP_STATE_EXPORT_H
#define SINSP_STATE_EXPORT_H

#include "procfs/state_build.h"
#include "threads.h"

/* Users, interfaces and the machine itself, which do not change. 0 or -ENOMEM. */
int sinsp_export_machine(struct scap_state_build *b, const struct scap_state *st);

/* All threads but stand-ins. 0 or -ENOMEM. */
int sinsp_export_threads(struct scap_state_build *b, struct sinsp_threads *tt);

#endif /* SINSP_STATE_EXPORT_H */
