/* SPDX-License-Identifier: Apache-2.0 */
#include "dispatch_span.h"

void dispatch_set_times(struct dispatch *t, const struct options *o, uint64_t first_ns)
{
	t->times_due = (o->from.kind || o->to.kind) && !first_ns;
	t->to_ns = UINT64_MAX;
	if (!first_ns)
		return;
	if (o->from.kind)
		t->settled_ns = time_arg_ns(&o->from, first_ns);
	if (o->to.kind)
		t->to_ns = time_arg_ns(&o->to, first_ns);
}
