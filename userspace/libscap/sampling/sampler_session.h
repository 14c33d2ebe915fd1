/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sampler at a time: a second one would sample the first, and each slows the machine. The
 * session is the lock of a file in /run/saker, which only its owner may write to: no other user can
 * occupy it. The lock goes with the process that has it, however that ends. It is one per machine,
 * but for containers that have a /run of their own.
 */
#ifndef SCAP_SAMPLING_SAMPLER_SESSION_H
#define SCAP_SAMPLING_SAMPLER_SESSION_H

#include "log.h"

/* A descriptor for sampler_session_end, or a negative errno after saying why: -EEXIST,
 * another process (whose number is said) has it. @name: NULL, the machine's. */
int sampler_session_begin(const char *name, const struct scap_log *log);
void sampler_session_end(int fd); /* -1 is fine */

#endif /* SCAP_SAMPLING_SAMPLER_SESSION_H */
