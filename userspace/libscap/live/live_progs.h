/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the driver's programs on several CPUs. Nearly all of the time to load the driver is the
 * kernel's verifier at work on them, one after the other where libbpf loads them; but they
 * do not depend on each other. So libbpf prepares each (maps, CO-RE) and is made to load an
 * empty program in its stead, while threads load the true one, which then takes its place.
 */
#ifndef SCAP_LIVE_LIVE_PROGS_H
#define SCAP_LIVE_LIVE_PROGS_H

#include "log.h"

struct bpf_object;
struct bpf_program;
struct live_progs;

/* To be called before the object is opened. 0 or a negative errno. */
int live_progs_new(struct live_progs **out);

/* The file of the kernel's types that libbpf is to be given when it opens the object... */
const char *live_progs_types(const struct live_progs *p);

/* ...and which has them once the object is open. To be called before it is loaded. */
int live_progs_opened(struct live_progs *p, const struct bpf_object *obj);

/* Whether the kernel has what @prog is to be attached to. */
int live_progs_has_hook(const struct live_progs *p, const struct bpf_program *prog);

/* How many arguments a tracepoint has ("btf_trace_NAME"), or -ENOENT. */
int live_progs_hook_args(const struct live_progs *p, const char *name);

/* Whether the kernel has the tracepoint @name. */
int live_progs_has_tracepoint(const struct live_progs *p, const char *name);

/* Whether the kernel has all functions of kfuncs.h. */
int live_progs_has_kfuncs(const struct live_progs *p);

/* For tests: the kernel is given a program of this name that it refuses. Borrowed. */
void live_progs_refuse(struct live_progs *p, const char *name);

/*
 * Waits for all, which are then libbpf's. An optional program that the kernel refuses is missing
 * (live_progs_load_error). 0, or a negative errno after saying which required one is refused.
 */
int live_progs_finish(struct live_progs *p, const struct scap_log *log);

/* 0: @prog is loaded, or is none that libbpf is kept from loading; a negative errno: the kernel
 * refuses it. After live_progs_finish. */
int live_progs_load_error(const struct live_progs *p, const struct bpf_program *prog);

void live_progs_free(struct live_progs *p);

#endif /* SCAP_LIVE_LIVE_PROGS_H */
