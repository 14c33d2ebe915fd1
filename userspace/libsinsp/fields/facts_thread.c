/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a thread: name, TID, CPU time, page faults, and its share of the memory. */
#include "facts.h"
#include "process.h"
#include "state/inspector.h"
#include "text.h"

int fact_thread_name(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_str(v, t->comm);
}

int fact_vtid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return t->vtid_known && t->vtid != -1 ? field_i(v, t->vtid) : 0;
}

/* Returns the memory for the main thread, 0 for others: sums over threads are then correct. */
static uint64_t of_main(const struct sinsp_thread *t, uint64_t kb)
{
	return t->tid == t->pid ? kb : 0;
}

int fact_thread_vmsize(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, of_main(t, t->proc->vmsize_kb)) : 0;
}

int fact_thread_vmrss(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, of_main(t, t->proc->vmrss_kb)) : 0;
}

int fact_thread_vmsize_b(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const int n = fact_thread_vmsize(e, v, t);

	v->u *= 1024;
	return n;
}

int fact_thread_vmrss_b(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const int n = fact_thread_vmrss(e, v, t);

	v->u *= 1024;
	return n;
}

int fact_pfmajor(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->pfmajor) : 0;
}

int fact_pfminor(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->pfminor) : 0;
}

int fact_totexectime(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return e->insp->switches.n || t->exec_ns || field_has_default(e) ? field_u(v, t->exec_ns)
									 : 0;
}

int fact_ismain(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_u(v, t->tid == t->pid);
}

int fact_nametid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const size_t n = strlen(t->comm);
	char *p = sinsp_eval_alloc(e, n + TEXT_NUM_MAX);

	if (!p)
		return -ENOMEM;
	return field_mem(v, p, (size_t)(put_i64(put_mem(p, t->comm, n), t->tid) - p));
}
