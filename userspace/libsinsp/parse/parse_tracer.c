/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a marker begins or ends a span. */
#include "markers/spans.h"
#include "parsers.h"

void sinsp_parse_tracer(struct sinsp_parse *p)
{
	sinsp_spans_event(p->s, p->e);
}
