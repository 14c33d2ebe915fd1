/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sources as one stream, in the order of time. Each keeps its own threads and files:
 * the same number is another process on another machine.
 */
#ifndef SINSP_STREAMS_H
#define SINSP_STREAMS_H

#include "sinsp.h"

struct sinsp_streams;

/* Borrows the @n sources of @v, of which none has given an event yet. 0 or -ENOMEM. */
int sinsp_streams_new(struct sinsp_streams **out, struct sinsp *const *v, size_t n);
void sinsp_streams_free(struct sinsp_streams *ss);

/*
 * As sinsp_next, of the source whose next event is oldest; evt->insp is that source. A file's own
 * times may go back: then its order stays. One that fails ends, the others go on; its error comes
 * when all have ended.
 */
int sinsp_streams_next(struct sinsp_streams *ss, struct sinsp_evt *evt);

#endif /* SINSP_STREAMS_H */
