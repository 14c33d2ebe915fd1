/* SPDX-License-Identifier: Apache-2.0 */
/* Copies parameters of an event to its thread or process. */
#ifndef SINSP_PARSE_PROCESS_PARAMS_H
#define SINSP_PARSE_PROCESS_PARAMS_H

#include "params.h"

static inline struct sinsp_threads *process_table(const struct sinsp_parse *p)
{
	return &p->s->threads;
}

/* Each leaves the state as it is if the event lacks the parameter. */
void process_set_text(const struct sinsp_parse *p, const char **dst, const struct scap_param *v);
void process_set_name(const struct sinsp_parse *p, struct sinsp_thread *t,
		      const struct scap_param *v);
void process_set_memory(const struct sinsp_parse *p, struct sinsp_process *proc);
void process_set_faults(const struct sinsp_parse *p, struct sinsp_thread *t);
/* Without the parameter the inherited cgroups stay. */
void process_set_cgroups(const struct sinsp_parse *p, struct sinsp_process *proc);
/* Without the parameters they are unknown from now on. */
void process_set_capabilities(const struct sinsp_parse *p, struct sinsp_process *proc);
/* Without the parameter the list is empty. */
void process_set_list(const struct sinsp_parse *p, const char **dst, const struct scap_param *v);
/* Events before 2015 have no comm: exe stands for it. */
void process_set_comm(const struct sinsp_parse *p, struct sinsp_thread *t);

/* Adds the time of an ending thread since its last tick (parse_switch.c). */
void process_count_last_time(struct sinsp_parse *p);

#endif /* SINSP_PARSE_PROCESS_PARAMS_H */
