/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a capture: consecutive files, limited by size, time or number of events. Decides when a
 * piece ends and what the next is named; names are as in sysdig. */
#ifndef SAKER_PIECES_H
#define SAKER_PIECES_H

#include "options.h"

struct pieces {
	const struct options *o;
	unsigned int n; /* number begun so far */
	unsigned int n_slice; /* of these, in this span of time */
	uint64_t slice_ns; /* start of the span: a time of events; 0: not yet */
	uint64_t n_events; /* in this piece */
	char *path; /* path of this piece, or of the only file. Owned */
	char *stamped; /* FILE with the time of the span. Owned; NULL: none yet */
	struct ppm_evt_hdr **repeated; /* container events so far: each piece repeats them. Owned */
	size_t n_repeated, repeated_bytes;
};

void pieces_init(struct pieces *p, const struct options *o);
void pieces_fini(struct pieces *p);

int pieces_wanted(const struct options *o);
/* Returns whether a file begins with an event, not with the source: a piece, or what --from cuts
 * out. */
int pieces_begin_with_event(const struct options *o);

/* Returns whether an event of @ts_ns belongs to the next piece; this one has @bytes. */
int pieces_due(const struct pieces *p, uint64_t ts_ns, uint64_t bytes);
/* Returns whether no more pieces may begin: -W with -G. */
int pieces_over(const struct pieces *p);
/* Begins the first or next piece: sets path. Returns 0 or -ENOMEM. */
int pieces_next(struct pieces *p, uint64_t ts_ns);

/* Keeps a container event for later pieces. A user who can create containers can create any number:
 * beyond PIECES_REPEATED_MAX, or that many bytes, the oldest are dropped. Returns 0 or -ENOMEM. */
#define PIECES_REPEATED_MAX 4096
#define PIECES_REPEATED_BYTES (16u << 20)
int pieces_note(struct pieces *p, const struct scap_evt *evt);
/* Returns whether pieces_note keeps events of @type. */
int pieces_repeat(unsigned int type);

#endif /* SAKER_PIECES_H */
