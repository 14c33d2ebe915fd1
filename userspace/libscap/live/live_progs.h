/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the driver's programs on several CPUs. Loading takes its time in the kernel's verifier,
 * program after program if libbpf loads them; but programs do not depend on each other. So libbpf
 * prepares each one (maps, CO-RE) and loads an empty program instead, while threads load the real
 * one, which then replaces it.
 */
#ifndef SCAP_LIVE_LIVE_PROGS_H
#define SCAP_LIVE_LIVE_PROGS_H

#include <stdint.h>

#include "log.h"

struct bpf_object;
struct bpf_program;
struct live_progs;

/* Must be called before the object is opened. Returns 0 or a negative errno. */
int live_progs_new(struct live_progs **out);

/* Returns the file of kernel types that libbpf needs when it opens the object... */
const char *live_progs_types(const struct live_progs *p);

/* ...and fills it once the object is open. Must be called before the object is loaded, and before
 * the functions that say what the kernel has. */
int live_progs_opened(struct live_progs *p, const struct bpf_object *obj);

/* Returns whether the kernel has the attach point of @prog. */
int live_progs_has_hook(const struct live_progs *p, const struct bpf_program *prog);

/* Returns the number of arguments of a tracepoint ("btf_trace_NAME"), or -ENOENT. */
int live_progs_hook_args(const struct live_progs *p, const char *name);

/* Returns whether the kernel has the tracepoint @name. */
int live_progs_has_tracepoint(const struct live_progs *p, const char *name);

/* Calls @fn for each value of the kernel's enum @name; not at all if the kernel has none. */
void live_progs_each_enum(const struct live_progs *p, const char *name,
			  void (*fn)(void *ctx, const char *value_name, uint32_t value), void *ctx);

/* Returns whether the kernel has all functions of kfuncs.h. */
int live_progs_has_kfuncs(const struct live_progs *p);

/* Returns whether programs that are preemptible on every kernel can disable preemption. */
int live_progs_can_pin(const struct live_progs *p);

/* Returns whether programs of uprobes are loaded for links with many probes (Linux 6.6). */
int live_progs_uprobe_multi(void);

/* For tests: makes the kernel refuse the program of this name. Borrowed. */
void live_progs_refuse(struct live_progs *p, const char *name);

/*
 * Waits for all programs and passes them to libbpf. An optional program that the kernel refuses is
 * missing (live_progs_load_error). Returns 0, or a negative errno after reporting the required
 * program that was refused.
 */
int live_progs_finish(struct live_progs *p, const struct scap_log *log);

/* Returns 0 if @prog is loaded, or libbpf loads it itself; a negative errno if the kernel refused
 * it. After live_progs_finish. */
int live_progs_load_error(const struct live_progs *p, const struct bpf_program *prog);

void live_progs_free(struct live_progs *p);

#endif /* SCAP_LIVE_LIVE_PROGS_H */
