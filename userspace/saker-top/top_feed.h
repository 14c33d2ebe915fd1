/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the screen shows, filled by a thread of its own: a terminal that does not read never keeps
 * it from draining the rings. Tables are handed over whole: of three, one is filled, one is ready,
 * and the screen has one. Only the functions here are called by the other thread.
 */
#ifndef SAKER_TOP_FEED_H
#define SAKER_TOP_FEED_H

#include "top_graph.h"
#include "top_options.h"
#include "top_record.h"
#include "top_snapshot.h"
#include "top_times.h"
#include "top_watch.h"
#include "views/view_table.h"

struct top_feed;

enum top_feed_kind {
	TOP_FEED_TABLE,
	TOP_FEED_ECHO, /* lines: data that is read and written */
	TOP_FEED_DIG, /* lines: events */
	TOP_FEED_SPECTRUM, /* a heat map of durations */
	TOP_FEED_STACKS, /* a tree of sampled stacks */
};

/* How a file is played: as a table for each interval of its time. */
struct top_play {
	uint8_t is_on; /* else there is one table of the whole file */
	uint8_t is_paused; /* behind the first table */
	int speed; /* 2 to its power times as fast as the time of the file: TOP_PLAY_SLOWEST.. */
	uint64_t from_ns; /* events before only change the state; 0: from the begin */
};

enum { TOP_PLAY_SLOWEST = -3, TOP_PLAY_FASTEST = 4 };

struct top_query {
	enum top_feed_kind kind;
	const struct sinsp_view *view; /* of a table or heat map; borrowed */
	const char *filter; /* NULL or "": none */
	unsigned int depth;
	uint64_t from_ns, to_ns; /* span of a file; events before only change the state; 0: all */
	struct top_play play;
	/* Of a heat map. */
	uint64_t length_ns; /* of a line; 0: it grows, so that the file fits */
	uint8_t keeps; /* events are kept, for they do not come again */
};

struct top_feed_status {
	uint64_t n_events; /* seen, of the last interval or of the file so far */
	uint64_t n_lost; /* live: records that were lost, since the begin */
	double progress; /* of a file, 0..1 */
	uint8_t at_end; /* of the file, or of a capture that stopped */
	struct top_record_status record;
};

/* Opens the source of @query. @o is borrowed until top_feed_close. Returns 0 or a negative errno
 * after reporting it. */
int top_feed_open(struct top_feed **out, const struct top_options *o,
		  const struct top_query *query);
/* Starts the thread, and shows @query. From now on messages may come at any time. Returns as
 * top_feed_open. */
int top_feed_start(struct top_feed *f);
void top_feed_close(struct top_feed *f);

/* Shows something else from now on; a file is read again. Returns 0; -EINVAL with *err set and the
 * former query going on; another negative errno. */
int top_feed_show(struct top_feed *f, const struct top_query *query, struct view_error *err);

/* Returns the newest snapshot, borrowed until the next call of this function or top_feed_show;
 * NULL: none yet. *is_new: not the one of the call before. */
const struct top_snapshot *top_feed_take(struct top_feed *f, int *is_new);

/* Tables of earlier intervals, numbered: *from up to, not including, *to are kept. */
void top_feed_history(struct top_feed *f, uint64_t *from, uint64_t *to);
/* Returns one of them, borrowed until the next one is returned, or top_feed_show; NULL: it is not
 * kept. UINT64_MAX gives back what was borrowed. */
const struct top_snapshot *top_feed_past(struct top_feed *f, uint64_t number);
/* Returns the number of the one at @ns, or next to it; there must be one. */
uint64_t top_feed_past_at(struct top_feed *f, uint64_t ns);

/* Sets @points to the values of a column of the row with the key in the last tables, the oldest
 * first; -1: it has none. *seconds is the time that they cover. Returns their number, up to @max.
 */
size_t top_feed_series(struct top_feed *f, double *points, size_t max, const struct view_cell *key,
		       size_t col, double *seconds);

/* Changes speed and pause of a file that is played; @steps: tables to go on in spite of a pause. */
void top_feed_play(struct top_feed *f, const struct top_play *play, unsigned int steps);

/* Begins to write a capture file, which the feed owns from here on. top_feed_status reports it. */
void top_feed_record(struct top_feed *f, struct top_record *record);
/* Completes it. Returns the number of events that match. */
uint64_t top_feed_end_record(struct top_feed *f);
/* Watches a row, NULL: none any more. The feed owns @watch. */
void top_feed_watch(struct top_feed *f, struct top_watch *watch);
/* Appends what was seen of it. Returns 0 or -ENOMEM. */
int top_feed_watch_text(struct top_feed *f, struct sinsp_text *out);

void top_feed_status(struct top_feed *f, struct top_feed_status *st);
/* When the file has its events, as far as it was read to its end; live: none. */
void top_feed_times(struct top_feed *f, struct top_times *times);
/* Removes the rows of a list, or all lines. */
void top_feed_clear(struct top_feed *f);

/* Lines from *from up to, not including, *to are kept. */
void top_feed_lines(struct top_feed *f, uint64_t *from, uint64_t *to);
/* Appends a line. Returns 1; 0: it is not kept; -ENOMEM. */
int top_feed_line(struct top_feed *f, uint64_t number, struct sinsp_text *out);

/* Return the heat map, or the tree of stacks, which stays as it is until top_feed_unlock. The query
 * is one for it. */
const struct top_graph *top_feed_lock_spectrum(struct top_feed *f);
struct top_flame *top_feed_lock_flame(struct top_feed *f);
void top_feed_unlock(struct top_feed *f);

/* Returns a descriptor that poll reports as readable when there is something new. */
int top_feed_fd(const struct top_feed *f);
void top_feed_seen(struct top_feed *f); /* until then */

#endif /* SAKER_TOP_FEED_H */
