/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the file that a process executes: layer, inode, times. */
#include "facts.h"
#include "process.h"

int fact_exe_writable(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->exe_writable) : 0;
}

static int exe_is(struct sinsp_value *v, const struct sinsp_thread *t, enum scap_exe_kind kind)
{
	return t->proc->exe_kind_known & kind ? field_u(v, !!(t->proc->exe_kind & kind)) : 0;
}

int fact_exe_upper_layer(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return exe_is(v, t, SCAP_EXE_UPPER_LAYER);
}

int fact_exe_lower_layer(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return exe_is(v, t, SCAP_EXE_LOWER_LAYER);
}

int fact_exe_memfd(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return exe_is(v, t, SCAP_EXE_MEMFD);
}

int fact_exe_ino(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->exe_ino);
}

int fact_exe_ctime(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->exe_ctime_ns);
}

int fact_exe_mtime(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->exe_mtime_ns);
}

static int between(struct sinsp_value *v, uint64_t from, uint64_t to)
{
	return from && from < to ? field_u(v, to - from) : 0;
}

int fact_ctime_to_start(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return between(v, t->proc->exe_ctime_ns, t->start_ns);
}

int fact_pidns_to_ctime(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return between(v, t->proc->pidns_start_ns, t->proc->exe_ctime_ns);
}

int fact_pidns_start(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->pidns_start_ns);
}
