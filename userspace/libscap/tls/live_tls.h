/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attaches the driver's programs to TLS libraries: those that processes have mapped, the usual ones
 * of the machine, and those that are mapped later, in any mount namespace. A thread follows the
 * mappings. A probe belongs to a file, and so to all processes that map it.
 */
#ifndef SCAP_TLS_LIVE_TLS_H
#define SCAP_TLS_LIVE_TLS_H

#include "log.h"
#include "tls/tls_library.h"
#include "unwind/running.h"

struct live_tls;

struct live_tls_opts {
	int programs[TLS_PROGRAM_MAX]; /* their descriptors, borrowed */
	int multi; /* they are loaded for links with many probes */
	struct chosen_procs chosen; /* only libraries of these, unless they have descendants */
};

/* Returns 0, or a negative errno after reporting that the kernel may preempt the programs where it
 * must not. @has_pin: they can disable preemption. */
int live_tls_check(int has_pin, const struct scap_log *log);

/* Attaches to what is mapped now, then follows. Returns 0, or a negative errno after reporting it.
 */
int live_tls_open(struct live_tls **out, const struct live_tls_opts *opts,
		  const struct scap_log *log);
/* CPU @cpu has come online. */
void live_tls_cpu_online(struct live_tls *t, unsigned int cpu);
/* Detaches all, and reports what could not be attached. NULL is allowed. */
void live_tls_close(struct live_tls *t);

#endif /* SCAP_TLS_LIVE_TLS_H */
