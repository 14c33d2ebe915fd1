/* SPDX-License-Identifier: Apache-2.0 */
/* What a feed does beside its tables: it writes a capture file, and watches the row of the details.
 * The members below "requests" are locked by the feed; all others belong to its thread. */
#ifndef SAKER_TOP_SIDE_H
#define SAKER_TOP_SIDE_H

#include "top_record.h"
#include "top_watch.h"

struct top_side {
	const struct top_options *o;
	struct top_record *record; /* NULL: none */
	struct top_watch *watch;
	uint64_t n_events; /* of the record, so far or at its end */
	int record_err;
	/* requests */
	struct top_record *record_request;
	struct top_watch *watch_request;
	uint8_t ends_record, ends_watch;
	/* results */
	struct top_record_status record_status;
	struct sinsp_text watch_text;
};

void top_side_fini(struct top_side *side);

/* Returns whether there is a request. Locked. */
int top_side_is_asked(const struct top_side *side);
/* Does what was requested; @s: the running capture, NULL: of a file, or there is none. Locked. */
void top_side_take(struct top_side *side, struct sinsp *s);
/* Another capture follows. */
void top_side_attach(struct top_side *side, struct sinsp *s);
/* Takes an event of the running capture. */
void top_side_event(struct top_side *side, struct sinsp_evt *evt);
/* Returns whether there is a file to be read, and reads some of it. */
int top_side_reads(const struct top_side *side);
void top_side_step(struct top_side *side);
/* Updates the results; @s as above. Locked. */
void top_side_update(struct top_side *side, struct sinsp *s);

#endif /* SAKER_TOP_SIDE_H */
