/* SPDX-License-Identifier: Apache-2.0 */
/* Getters of a fact (f->row->variant, facts.h) for the thread of the event, its parent, the leaders
 * of its session and groups, and its ancestors. */
#ifndef SINSP_FIELDS_ANCESTORS_H
#define SINSP_FIELDS_ANCESTORS_H

#include "field.h"

int field_get_own(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		  const struct sinsp_value **more);
int field_get_parents(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more);
int field_get_sid_leaders(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more);
int field_get_vpgid_leaders(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more);
int field_get_pgid_leaders(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more);
/* Gets the fact of all ancestors, or with [N] that of the Nth; 0 is the process itself. */
int field_get_ancestors(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more);
/* Gets the environment of the ancestors; [NAME] finds the nearest ancestor with that variable. */
int field_get_aenv(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more);
/* Gets the PID of the oldest shell among the process and its ancestors. */
int field_get_loginshellid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more);
#endif /* SINSP_FIELDS_ANCESTORS_H */
