/* SPDX-License-Identifier: Apache-2.0 */
#include "field_params.h"

#include <string.h>

#include "field_rows.h"
#include "shared/stack.h"

const struct scap_param *field_param(const struct sinsp_evt *evt, unsigned int type,
				     unsigned int at)
{
	if (evt->raw.type != type || at >= evt->params.n || !evt->params.v[at].len)
		return NULL;
	return &evt->params.v[at];
}

int field_param_number(struct sinsp_value *v, const struct scap_param *p)
{
	switch (p ? p->len : 0) {
	case 1:
		return field_u(v, p->p[0]);
	case sizeof(uint32_t):
		return field_u(v, get_u32(p->p));
	case sizeof(uint64_t):
		return field_u(v, get_u64(p->p));
	}
	return 0;
}

int field_param_text(struct sinsp_value *v, const struct scap_param *p)
{
	return p ? field_mem(v, p->p, strnlen((const char *)p->p, p->len)) : 0;
}

int field_param_name(struct sinsp_value *v, const struct scap_param *p, unsigned int type,
		     unsigned int at)
{
	const struct scap_flag_name *name = scap_event_info(type)->params[at].flags;

	if (!p || p->len != 1)
		return 0;
	for (; name && name->name; name++)
		if (name->value == p->p[0])
			return field_str(v, name->name);
	return 0;
}

int field_param_call(struct sinsp_value *v, const struct scap_param *p)
{
	uint32_t nr;

	if (!p || p->len != sizeof(nr))
		return 0;
	nr = get_u32(p->p);
	return field_str(v, scap_syscall_name(nr & ~SAMPLE_CALL_IA32, !!(nr & SAMPLE_CALL_IA32)));
}
