/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler session: one sampler at a time, since a second one would sample the first, and each
 * slows the machine. The session is a lock on a file in /run/saker, which only its owner may write
 * to: no other user can take it. The lock ends with the process that holds it. There is one per
 * machine, except for containers with a /run of their own.
 */
#ifndef SCAP_SAMPLING_SAMPLER_SESSION_H
#define SCAP_SAMPLING_SAMPLER_SESSION_H

#include "log.h"

/*
 * Takes the session. Returns a descriptor for sampler_session_end, or a negative errno after
 * reporting the reason: -EEXIST, another process (whose PID is reported) has it. @name: NULL, the
 * machine's.
 */
int sampler_session_begin(const char *name, const struct scap_log *log);
void sampler_session_end(int fd); /* -1 is allowed */

#endif /* SCAP_SAMPLING_SAMPLER_SESSION_H */
