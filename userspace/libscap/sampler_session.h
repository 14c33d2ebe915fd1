/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sampler at a time: a second one would sample the first, and each slows the machine. The
 * session is a name in the kernel's table of sockets, which goes with the process that has it,
 * however that ends.
 */
#ifndef SCAP_SAMPLER_SESSION_H
#define SCAP_SAMPLER_SESSION_H

#include "log.h"

/* A descriptor to be closed when the session ends, or a negative errno after saying why: -EEXIST,
 * another process (whose number is said) has it. @name: NULL, the machine's. */
int sampler_session_begin(const char *name, const struct scap_log *log);

#endif /* SCAP_SAMPLER_SESSION_H */
