/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture in pieces: files of limited size, time or number of events, one after the
 * other. Here is when a piece ends and what the next is called; names are sysdig's.
 */
#ifndef SAKER_PIECES_H
#define SAKER_PIECES_H

#include "options.h"

struct pieces {
	const struct options *o;
	unsigned int n; /* begun so far */
	unsigned int n_slice; /* of those, in this span of time */
	uint64_t slice_ns; /* when the span began: a time of events; 0: not yet */
	uint64_t n_events; /* in this piece */
	char *path; /* of this piece, or of the only file. Owned */
	char *stamped; /* FILE with the time of the span in it. Owned; NULL: none yet */
	struct ppm_evt_hdr **told; /* what was told of containers: each piece says it anew. Owned */
	size_t n_told, told_bytes;
};

void pieces_init(struct pieces *p, const struct options *o);
void pieces_fini(struct pieces *p);

int pieces_wanted(const struct options *o);

/* Whether an event of @ts_ns belongs into the next piece, @bytes being in this one. */
int pieces_due(const struct pieces *p, uint64_t ts_ns, uint64_t bytes);
/* No further piece is to be begun: -W with -G. */
int pieces_over(const struct pieces *p);
/* Begins a piece, the first or the next: sets path. 0 or -ENOMEM. */
int pieces_next(struct pieces *p, uint64_t ts_ns);

/*
 * Keeps an event for the pieces that begin later, if it tells of a container. Whoever can make
 * containers makes any number of them: of more than PIECES_TOLD_MAX, or of so many bytes, those go
 * that were told longest ago. 0 or -ENOMEM.
 */
#define PIECES_TOLD_MAX 4096
#define PIECES_TOLD_BYTES (16u << 20)
int pieces_tell(struct pieces *p, const struct scap_evt *evt);

#endif /* SAKER_PIECES_H */
