/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/walked_stacks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "event/event_build.h"
#include "shared/events.h"
#include "shared/stack.h"

#define BUCKETS 1024 /* a power of two */
#define EVENT_ROOM 128 /* size of an event without its frames */

struct whole {
	struct whole *next; /* next in the bucket */
	struct whole *older, *newer;
	uint64_t id;
	struct ppm_evt_hdr *hdr; /* NULL: there is none */
};

struct walked_stacks {
	pthread_mutex_t lock;
	struct whole *buckets[BUCKETS];
	struct whole *oldest, *newest;
	size_t n, sz;
};

struct walked_stacks *walked_stacks_new(void)
{
	struct walked_stacks *s = calloc(1, sizeof(*s));

	if (s)
		pthread_mutex_init(&s->lock, NULL);
	return s;
}

/* An id is a CPU number and a count. */
static struct whole **bucket(struct walked_stacks *s, uint64_t id)
{
	return &s->buckets[(id * 0x9e3779b97f4a7c15ull) >> 32 & (BUCKETS - 1)];
}

static struct whole **find(struct walked_stacks *s, uint64_t id)
{
	struct whole **at = bucket(s, id);

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static size_t size_of(const struct whole *w)
{
	return sizeof(*w) + (w->hdr ? w->hdr->len : 0);
}

/* Removes *@at; the caller owns its event. */
static struct ppm_evt_hdr *unlink_whole(struct walked_stacks *s, struct whole **at)
{
	struct whole *w = *at;
	struct ppm_evt_hdr *hdr = w->hdr;

	*at = w->next;
	*(w->older ? &w->older->newer : &s->oldest) = w->newer;
	*(w->newer ? &w->newer->older : &s->newest) = w->older;
	s->n--;
	s->sz -= size_of(w);
	free(w);
	return hdr;
}

static void put(struct walked_stacks *s, struct whole *w)
{
	struct whole **at = bucket(s, w->id);

	w->next = *at;
	*at = w;
	w->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = w;
	s->newest = w;
	s->n++;
	s->sz += size_of(w);
}

void walked_stacks_free(struct walked_stacks *s)
{
	if (!s)
		return;
	while (s->oldest)
		free(unlink_whole(s, find(s, s->oldest->id)));
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Takes ownership of @hdr. */
static int put_whole(struct walked_stacks *s, uint64_t id, struct ppm_evt_hdr *hdr)
{
	struct whole *w = calloc(1, sizeof(*w));

	if (!w) {
		free(hdr);
		return -ENOMEM;
	}
	w->id = id;
	w->hdr = hdr;
	pthread_mutex_lock(&s->lock);
	put(s, w);
	while (s->n > WALKED_STACKS_MAX || s->sz > WALKED_STACKS_SZ)
		free(unlink_whole(s, find(s, s->oldest->id)));
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int walked_stacks_put(struct walked_stacks *s, uint64_t id, uint32_t pid, const uint64_t *frames,
		      uint32_t n, uint8_t end)
{
	const int64_t process = pid;
	const struct evt_value values[] = {
		{&id, sizeof(id)},
		{&process, sizeof(process)},
		{frames, (uint16_t)(n * sizeof(*frames))},
		{&end, sizeof(end)},
	};
	const size_t room = EVENT_ROOM + n * sizeof(*frames);
	struct ppm_evt_hdr *hdr = n <= STACK_USER_MAX ? malloc(room) : NULL;

	if (!hdr)
		return -ENOMEM;
	scap_evt_build(hdr, room, EVT_SAMPLE_STACK_E, 0, pid, values, 4);
	return put_whole(s, id, hdr);
}

int walked_stacks_put_none(struct walked_stacks *s, uint64_t id)
{
	return put_whole(s, id, NULL);
}

int walked_stacks_pop(struct walked_stacks *s, struct ppm_evt_hdr **out, uint64_t id)
{
	struct whole **at;
	int found;

	pthread_mutex_lock(&s->lock);
	at = find(s, id);
	found = *at != NULL;
	if (found)
		*out = unlink_whole(s, at);
	pthread_mutex_unlock(&s->lock);
	return found;
}
