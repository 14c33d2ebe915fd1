/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans: the time between two events `tracer`, enter and exit, with the same ID and tags. The
 * events are derived from markers, or the file has them.
 *
 * Invariant: open spans are ordered by their begin. An exit ends the latest one that matches, so
 * equal spans nest.
 */
#ifndef SINSP_MARKERS_SPANS_H
#define SINSP_MARKERS_SPANS_H

#include "sinsp.h"

#define SINSP_SPANS_MAX 4096 /* open at the same time: more evict */
#define SINSP_SPAN_TEXT_MAX 16384 /* bytes of tags and arguments; only files can have more */
#define SINSP_SPAN_TEXTS_MAX (16u << 20) /* of all open spans: more evict */

/* Parameters of the event tracer. */
enum tracer_param { TRACER_P_ID, TRACER_P_TAGS, TRACER_P_ARGS };

struct sinsp_span {
	struct sinsp_span *older, *newer; /* open ones whose name has the same hash */
	uint32_t at; /* its place */
	uint32_t hash; /* of ID and tags */
	int64_t id;
	int64_t pid; /* of the enter */
	uint64_t begin_ns;
	uint64_t end_ns; /* 0: it ends with its exit */
	uint16_t tags_sz, args_sz;
	char text[]; /* the tags, then the arguments of the enter, as in its parameters */
};

/* Which open spans: those that a thread, a process, or one with this parent began; or all. */
enum span_scope { SPANS_OF_THREAD, SPANS_OF_PROCESS, SPANS_OF_PARENT, SPANS_ALL };

struct sinsp_spans; /* the open spans */

void sinsp_spans_free(struct sinsp_spans *sp);

/* Applies an event tracer to s->spans. */
void sinsp_spans_event(struct sinsp *s, const struct sinsp_evt *evt);

/* Returns the span that the current event began or ended; NULL: none. Borrowed until the next one.
 */
const struct sinsp_span *sinsp_spans_current(const struct sinsp_spans *sp);

/* Returns the next open span of @number (ignored for SPANS_ALL), from place *at on, which is 0 for
 * the outermost one. NULL: none. */
const struct sinsp_span *sinsp_spans_next(const struct sinsp_spans *sp, uint32_t *at,
					  enum span_scope scope, int64_t number);

/* Returns how many spans are open. */
uint32_t sinsp_spans_count(const struct sinsp_spans *sp);

/* Returns whether events of @type can carry markers. */
int sinsp_marker_type(unsigned int type);
/* Derives the event tracer of a write to /dev/null that has a marker. */
void sinsp_marker_event(struct sinsp *s, const struct sinsp_evt *evt);

struct sinsp_marker_stats {
	uint64_t n; /* markers that were written */
	uint64_t n_malformed, n_cut; /* of these: none, or not whole */
	uint64_t n_evicted; /* spans: no room */
	uint64_t n_unmatched; /* exits without an open enter */
};

/* Sets *st to the counts of the section. */
void sinsp_marker_get_stats(const struct sinsp *s, struct sinsp_marker_stats *st);

#endif /* SINSP_MARKERS_SPANS_H */
