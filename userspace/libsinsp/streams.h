/* SPDX-License-Identifier: Apache-2.0 */
/* Merges several sources into one stream in order of time. Each keeps its own threads and
 * descriptors: a TID of one is not that of another. */
#ifndef SINSP_STREAMS_H
#define SINSP_STREAMS_H

#include "sinsp.h"

struct sinsp_streams;

/* Borrows the @n sources of @v, which have returned no event yet. Returns 0 or -ENOMEM. */
int sinsp_streams_new(struct sinsp_streams **out, struct sinsp *const *v, size_t n);
void sinsp_streams_free(struct sinsp_streams *ss);

/*
 * Returns as sinsp_next for the source with the oldest next event, which is evt->insp. Events of
 * one source keep their order even if their times go back. A source that fails ends; its error is
 * returned after the others end.
 */
int sinsp_streams_next(struct sinsp_streams *ss, struct sinsp_evt *evt);

#endif /* SINSP_STREAMS_H */
