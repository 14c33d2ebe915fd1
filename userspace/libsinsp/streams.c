/* SPDX-License-Identifier: Apache-2.0 */
/* Merges several sources by time, with a heap. */
#include "streams.h"

#include <errno.h>
#include <stdlib.h>

#include "state/inspector.h"

struct stream {
	struct sinsp *source;
	size_t index; /* at equal times the lower index comes first */
	struct sinsp_evt evt; /* its next event */
};

struct sinsp_streams {
	struct stream **heap; /* ordered by time, the oldest first; without those at their end */
	size_t n;
	struct stream *all;
	size_t n_all;
	int begun;
	int timed; /* relative times begin at the first event of all sources */
	int err; /* error of the first source that failed */
};

int sinsp_streams_new(struct sinsp_streams **out, struct sinsp *const *v, size_t n)
{
	struct sinsp_streams *ss = calloc(1, sizeof(*ss));

	if (!ss)
		return -ENOMEM;
	ss->all = calloc(n, sizeof(*ss->all));
	ss->heap = calloc(n, sizeof(*ss->heap));
	if (!ss->all || !ss->heap) {
		sinsp_streams_free(ss);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		ss->all[i] = (struct stream){.source = v[i], .index = i};
	ss->n_all = n;
	*out = ss;
	return 0;
}

void sinsp_streams_free(struct sinsp_streams *ss)
{
	if (!ss)
		return;
	free(ss->heap);
	free(ss->all);
	free(ss);
}

static int is_before(const struct stream *a, const struct stream *b)
{
	if (a->evt.raw.ts_ns != b->evt.raw.ts_ns)
		return a->evt.raw.ts_ns < b->evt.raw.ts_ns;
	return a->index < b->index;
}

static void sift_down(struct sinsp_streams *ss, size_t i)
{
	struct stream *s = ss->heap[i];

	for (size_t child; (child = 2 * i + 1) < ss->n; i = child) {
		if (child + 1 < ss->n && is_before(ss->heap[child + 1], ss->heap[child]))
			child++;
		if (!is_before(ss->heap[child], s))
			break;
		ss->heap[i] = ss->heap[child];
	}
	ss->heap[i] = s;
}

/* Reads the next event of @s. Returns whether there is one. */
static int fetch(struct sinsp_streams *ss, struct stream *s)
{
	int r;

	do
		r = sinsp_next(s->source, &s->evt, -1);
	while (r == 0 || r == -EINTR);
	if (r < 0 && r != -ENODATA && !ss->err)
		ss->err = r;
	return r == 1;
}

/* Relative times begin at the oldest first event, except events of the capture itself: mappings at
 * the beginning of a file do not count. */
static void share_first_time(struct sinsp_streams *ss)
{
	uint64_t first_ns = 0;

	for (size_t i = 0; i < ss->n; i++) {
		const uint64_t ns = ss->heap[i]->source->first_ns;

		if (ns && (!first_ns || ns < first_ns))
			first_ns = ns;
	}
	for (size_t i = 0; i < ss->n_all; i++)
		ss->all[i].source->first_ns = first_ns;
	ss->timed = 1;
}

static void begin(struct sinsp_streams *ss)
{
	for (size_t i = 0; i < ss->n_all; i++)
		if (fetch(ss, &ss->all[i]))
			ss->heap[ss->n++] = &ss->all[i];
	for (size_t i = ss->n / 2; i--;)
		sift_down(ss, i);
	ss->begun = 1;
}

/* Advances past the event that was returned last, which was borrowed until now. */
static void step(struct sinsp_streams *ss)
{
	if (!fetch(ss, ss->heap[0]))
		ss->heap[0] = ss->heap[--ss->n];
	if (ss->n)
		sift_down(ss, 0);
}

int sinsp_streams_next(struct sinsp_streams *ss, struct sinsp_evt *evt)
{
	if (!ss->begun)
		begin(ss);
	else if (ss->n)
		step(ss);
	if (!ss->n)
		return ss->err ?: -ENODATA;
	if (!ss->timed && ss->heap[0]->source->first_ns)
		share_first_time(ss);
	*evt = ss->heap[0]->evt;
	return 1;
}
