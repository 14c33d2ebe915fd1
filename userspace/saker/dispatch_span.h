/* SPDX-License-Identifier: Apache-2.0 */
/* The span of time of --from and --to. */
#ifndef SAKER_DISPATCH_SPAN_H
#define SAKER_DISPATCH_SPAN_H

#include "dispatch.h"

/* Files: their first event is of @first_ns; 0: not known yet. */
void dispatch_set_times(struct dispatch *t, const struct options *o, uint64_t first_ns);

#endif /* SAKER_DISPATCH_SPAN_H */
