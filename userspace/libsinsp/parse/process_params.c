/* SPDX-License-Identifier: Apache-2.0 */
/* Copies parameters of an event to its thread or process. */
#include "process_params.h"

#include <string.h>

void process_set_text(const struct sinsp_parse *p, const char **dst, const struct scap_param *v)
{
	if (v)
		sinsp_str_set(&process_table(p)->strings, dst, (const char *)v->p,
			      sinsp_text_len(v));
}

void process_set_name(const struct sinsp_parse *p, struct sinsp_thread *t,
		      const struct scap_param *v)
{
	if (v)
		sinsp_thread_set_comm(process_table(p), t, (const char *)v->p, sinsp_text_len(v));
}

void process_set_list(const struct sinsp_parse *p, const char **dst, const struct scap_param *v)
{
	sinsp_str_set(&process_table(p)->strings, dst, v ? (const char *)v->p : "", v ? v->len : 0);
}

void process_set_cgroups(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_cgroups);
	const char *text = v ? (const char *)v->p : proc->cgroups;

	sinsp_process_set_cgroups(process_table(p), proc, text, v ? v->len : sinsp_str_len(text));
}

void process_set_comm(const struct sinsp_parse *p, struct sinsp_thread *t)
{
	int had_comm = p->row->at[SINSP_P_comm] >= 0;

	process_set_name(p, t, sinsp_evt_param(p, had_comm ? SINSP_P_comm : SINSP_P_exe));
}

void process_set_memory(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	proc->vmsize_kb = sinsp_u64(sinsp_evt_param(p, SINSP_P_vm_size), proc->vmsize_kb);
	proc->vmrss_kb = sinsp_u64(sinsp_evt_param(p, SINSP_P_vm_rss), proc->vmrss_kb);
	proc->vmswap_kb = sinsp_u64(sinsp_evt_param(p, SINSP_P_vm_swap), proc->vmswap_kb);
}

void process_set_faults(const struct sinsp_parse *p, struct sinsp_thread *t)
{
	t->pfmajor = sinsp_u64(sinsp_evt_param(p, SINSP_P_pgft_maj), t->pfmajor);
	t->pfminor = sinsp_u64(sinsp_evt_param(p, SINSP_P_pgft_min), t->pfminor);
}

void process_set_capabilities(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	proc->caps_known = sinsp_evt_param(p, SINSP_P_cap_effective) != NULL;
	proc->cap_inheritable =
		sinsp_u64(sinsp_evt_param(p, SINSP_P_cap_inheritable), proc->cap_inheritable);
	proc->cap_permitted =
		sinsp_u64(sinsp_evt_param(p, SINSP_P_cap_permitted), proc->cap_permitted);
	proc->cap_effective =
		sinsp_u64(sinsp_evt_param(p, SINSP_P_cap_effective), proc->cap_effective);
}
