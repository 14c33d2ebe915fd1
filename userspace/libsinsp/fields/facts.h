/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of a process or thread, each by one function. A row of a field has the index of its fact,
 * and a getter that finds the thread: own, parent, leader or ancestor (ancestors.c).
 */
#ifndef SINSP_FIELDS_FACTS_H
#define SINSP_FIELDS_FACTS_H

#include "field_rows.h"
#include "thread.h"

/* clang-format off */
#define FACTS(X) \
	X(name) X(thread_name) X(exe) X(exepath) X(args) X(cmdline) X(exeline) X(command) X(env) \
	X(cmdnargs) X(cmdlenargs) X(cwd) X(pid) X(vpid) X(vtid) X(ppid) X(sid) X(vpgid) \
	X(pgid) X(tty) X(is_sid_leader) X(is_vpgid_leader) X(is_pgid_leader) X(start) \
	X(duration) X(nthreads) X(nchilds) X(fdopencount) X(fdlimit) X(fdusage) X(vmsize) \
	X(vmrss) X(vmswap) X(thread_vmsize) X(thread_vmrss) X(thread_vmsize_b) \
	X(thread_vmrss_b) X(pfmajor) X(pfminor) X(totexectime) X(ismain) X(nametid) X(cgroups) X(unit) \
	X(cap_permitted) X(cap_inheritable) X(cap_effective) X(exe_writable) \
	X(exe_upper_layer) X(exe_lower_layer) X(exe_memfd) X(exe_ino) X(exe_ctime) \
	X(exe_mtime) X(ctime_to_start) X(pidns_to_ctime) X(pidns_start) X(is_healthcheck) \
	X(is_liveness) X(is_readiness)
/* clang-format on */

enum fact {
#define X(name) FACT_##name,
	FACTS(X)
#undef X
};

/* Each computes one fact of @t, and returns as a getter does. */
typedef int fact_fn(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t);

#define X(name) fact_fn fact_##name;
FACTS(X)
#undef X

/* Finds element @index of @len bytes of NUL-terminated texts. */
int fact_list_get(struct sinsp_value *v, const char *list, size_t len, uint64_t index);
/* Finds the value of NAME=VALUE in a list. */
int fact_list_value(struct sinsp_value *v, const char *list, const char *name);

/* Gets the path of the process in one cgroup subsystem (f->arg). */
int field_get_cgroup(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more);

/* Returns whether the stored fact is valid. */
static inline int is_known(const struct sinsp_eval *e, const struct sinsp_thread *t)
{
	return t->known || field_has_default(e);
}

/* Sets a text; empty text of an unknown thread is no value. */
static inline int known_text(struct sinsp_eval *e, struct sinsp_value *v,
			     const struct sinsp_thread *t, const char *text)
{
	return *text || is_known(e, t) ? field_str(v, text) : 0;
}

/* Sets a number; -1 is no value. */
static inline int known_number(struct sinsp_eval *e, struct sinsp_value *v, int64_t i)
{
	return i == -1 && !field_has_default(e) ? 0 : field_i(v, i);
}

/* Sets a time; 0 is no value. */
static inline int known_since(struct sinsp_value *v, uint64_t ns)
{
	return ns ? field_u(v, ns) : 0;
}

#endif /* SINSP_FIELDS_FACTS_H */
