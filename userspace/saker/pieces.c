/* SPDX-License-Identifier: Apache-2.0 */
#include "pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared/events.h"

void pieces_init(struct pieces *p, const struct options *o)
{
	*p = (struct pieces){.o = o};
}

void pieces_fini(struct pieces *p)
{
	for (size_t i = 0; i < p->n_repeated; i++)
		free(p->repeated[i]);
	free(p->repeated);
	free(p->path);
	free(p->stamped);
}

/* By size or number of events, not by time. */
static int by_count(const struct options *o)
{
	return o->piece_bytes || o->piece_events;
}

int pieces_wanted(const struct options *o)
{
	return by_count(o) || o->piece_ns;
}

int pieces_begin_with_event(const struct options *o)
{
	return pieces_wanted(o) || o->from.kind;
}

/* Also if the time went back by more than a slice, as in a file behind a clock that was set. */
static int slice_over(const struct pieces *p, uint64_t ts_ns)
{
	const uint64_t span = p->o->piece_ns;

	return span && p->slice_ns && (ts_ns >= p->slice_ns + span || ts_ns + span < p->slice_ns);
}

int pieces_due(const struct pieces *p, uint64_t ts_ns, uint64_t bytes)
{
	const struct options *o = p->o;

	if (!p->n_events)
		return 0;
	return slice_over(p, ts_ns) || (o->piece_bytes && bytes >= o->piece_bytes) ||
	       (o->piece_events && p->n_events >= o->piece_events);
}

int pieces_over(const struct pieces *p)
{
	return p->o->piece_ns && !by_count(p->o) && p->o->n_pieces && p->n >= p->o->n_pieces;
}

/* FILE formatted by strftime with the time; without conversions as it is. */
static char *stamp(const char *file, uint64_t ts_ns)
{
	const time_t s = (time_t)(ts_ns / 1000000000);
	const size_t sz = strlen(file) + 256;
	char *text = malloc(sz);
	struct tm tm;

	if (text && (!localtime_r(&s, &tm) || !strftime(text, sz, file, &tm)))
		strcpy(text, file);
	return text;
}

/* Digits of the last number, so that names sort. */
static int width(unsigned int n_pieces)
{
	int n = 1;

	for (unsigned int last = n_pieces ? n_pieces - 1 : 0; last >= 10; last /= 10)
		n++;
	return n;
}

/* Begins a span: sets its name, and checks whether it is the same as the last one's. Negative: no
 * memory. */
static int begin_slice(struct pieces *p, uint64_t ts_ns)
{
	const uint64_t span = p->o->piece_ns;
	const char *file = p->o->write;
	char *name;
	int same;

	if (!p->slice_ns || !span)
		p->slice_ns = ts_ns;
	else
		p->slice_ns += (ts_ns - p->slice_ns) / span * span;
	name = strchr(file, '%') && pieces_wanted(p->o) ? stamp(file, p->slice_ns) : strdup(file);
	if (!name)
		return -ENOMEM;
	same = p->stamped && strcmp(p->stamped, name) == 0;
	free(p->stamped);
	p->stamped = name;
	return same;
}

/* Pieces by size or number have the time of their begin, unless names are reused. */
static int is_stamped_anew(const struct options *o)
{
	return by_count(o) && !o->piece_ns && !o->n_pieces && strchr(o->write, '%');
}

int pieces_next(struct pieces *p, uint64_t ts_ns)
{
	const struct options *o = p->o;
	unsigned int number;
	int same = 1;
	char *path;

	if (!p->n || slice_over(p, ts_ns) || is_stamped_anew(o))
		same = begin_slice(p, ts_ns);
	if (same < 0)
		return same;
	if (!same)
		p->n_slice = 0;
	number = o->n_pieces && by_count(o) ? p->n_slice % o->n_pieces : p->n_slice;
	/* Only -W overwrites files: a repeated name gets a number. */
	if (!pieces_wanted(o) || (!by_count(o) && strchr(o->write, '%') && !p->n_slice))
		path = strdup(p->stamped);
	else if (asprintf(&path, "%s%0*u", p->stamped, width(o->n_pieces), number) < 0)
		path = NULL;
	if (!path)
		return -ENOMEM;
	free(p->path);
	p->path = path;
	p->n++;
	p->n_slice++;
	p->n_events = 0;
	return 0;
}

/* Repeats what each piece must have: containers, users and groups, which events are derived. */
int pieces_repeat(unsigned int type)
{
	return type == EVT_CONTAINER_E || type == EVT_CONTAINER_272_E ||
	       type == EVT_CONTAINER_228_E || type == EVT_DERIVED_E || evt_is_of_users(type);
}

/* All except its time, which is that of the piece. */
static int is_same(const struct ppm_evt_hdr *a, const struct ppm_evt_hdr *b)
{
	return a->len == b->len && a->type == b->type &&
	       memcmp(a + 1, b + 1, a->len - sizeof(*a)) == 0;
}

/* A user that is added, removed and added again exists: the order of the last reports counts. */
static void move_to_end(struct pieces *p, size_t i)
{
	struct ppm_evt_hdr *hdr = p->repeated[i];

	memmove(p->repeated + i, p->repeated + i + 1,
		(p->n_repeated - i - 1) * sizeof(*p->repeated));
	p->repeated[p->n_repeated - 1] = hdr;
}

/* Users are few: reports of containers are dropped first. */
static void forget_oldest(struct pieces *p)
{
	size_t i = 0;

	while (i < p->n_repeated && evt_is_of_users(p->repeated[i]->type))
		i++;
	if (i == p->n_repeated)
		i = 0;
	move_to_end(p, i);
	p->repeated_bytes -= p->repeated[--p->n_repeated]->len;
	free(p->repeated[p->n_repeated]);
}

static void make_room(struct pieces *p, size_t len)
{
	while (p->n_repeated && (p->n_repeated >= PIECES_REPEATED_MAX ||
				 p->repeated_bytes + len > PIECES_REPEATED_BYTES))
		forget_oldest(p);
}

int pieces_note(struct pieces *p, const struct scap_evt *evt)
{
	const struct ppm_evt_hdr *hdr = evt->hdr;
	struct ppm_evt_hdr **repeated, *copy;

	if (!pieces_repeat(evt->type))
		return 0;
	for (size_t i = 0; i < p->n_repeated; i++)
		if (is_same(p->repeated[i], hdr)) {
			move_to_end(p, i);
			return 0;
		}
	make_room(p, hdr->len);
	repeated = reallocarray(p->repeated, p->n_repeated + 1, sizeof(*repeated));
	if (!repeated)
		return -ENOMEM;
	p->repeated = repeated;
	copy = malloc(hdr->len);
	if (!copy)
		return -ENOMEM;
	repeated[p->n_repeated++] = memcpy(copy, hdr, hdr->len);
	p->repeated_bytes += hdr->len;
	return 0;
}
