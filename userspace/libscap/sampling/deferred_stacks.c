/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/deferred_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_build.h"
#include "shared/stack.h"

#define N_STACKS 64 /* maximum number of stacks kept for later samples */

/* Numbers of parameters, by name. */
struct places {
	int id, user, end; /* of a sample */
	int stack_id, stack_user, stack_end;
};

struct waiting {
	struct waiting *next;
	uint64_t id; /* 0: complete */
	struct scap_evt evt; /* hdr points into buf */
	uint8_t buf[];
};

struct stack {
	uint64_t id; /* 0: none */
	uint8_t end;
	uint8_t used; /* by sample */
	uint16_t len;
	uint64_t frames[STACK_USER_MAX];
};

struct deferred_stacks {
	struct places at;
	struct waiting *first, **last; /* in the order in which they came */
	unsigned int n;
	struct waiting *lent; /* delivered, until the next call */
	struct stack stacks[N_STACKS];
	struct stack joined; /* the last one */
	unsigned int n_stacks;
	uint64_t n_lone, n_never;
};

struct deferred_stacks *deferred_stacks_new(void)
{
	struct deferred_stacks *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->last = &j->first;
	j->at = (struct places){
		.id = scap_event_param(EVT_SAMPLE_E, "id"),
		.user = scap_event_param(EVT_SAMPLE_E, "user"),
		.end = scap_event_param(EVT_SAMPLE_E, "end"),
		.stack_id = scap_event_param(EVT_SAMPLE_STACK_E, "id"),
		.stack_user = scap_event_param(EVT_SAMPLE_STACK_E, "user"),
		.stack_end = scap_event_param(EVT_SAMPLE_STACK_E, "end"),
	};
	return j;
}

void deferred_stacks_free(struct deferred_stacks *j)
{
	if (!j)
		return;
	free(j->lent);
	while (j->first) {
		struct waiting *w = j->first;

		j->first = w->next;
		free(w);
	}
	free(j);
}

static const struct scap_param *param(const struct scap_params *ps, int at)
{
	return at >= 0 && (unsigned int)at < ps->n && ps->v[at].len ? &ps->v[at] : NULL;
}

static uint64_t id_of(const struct scap_params *ps, int at)
{
	const struct scap_param *p = param(ps, at);

	return p && p->len == sizeof(uint64_t) ? get_u64(p->p) : 0;
}

static int has_functions(const struct stack *s)
{
	for (unsigned int i = 0; i < s->len / sizeof(s->frames[0]); i++)
		if (STACK_IS_SCRIPT(s->frames[i]))
			return 1;
	return 0;
}

/* Puts the functions of interpreters that the sample itself has into the native frames of @whole,
 * since a stack that is walked from a copy has none. Those of the frames behind the sample's own
 * are unknown: the stack is then not complete. Returns not 0 if there are no such functions, or the
 * native frames differ. */
static int join_functions(struct stack *to, const struct scap_param *own, const struct stack *whole)
{
	const unsigned int n_whole = whole->len / sizeof(uint64_t);
	unsigned int n = 0, at = 0, has_rest;

	for (; n < own->len / sizeof(uint64_t) && n < STACK_USER_MAX; n++) {
		to->frames[n] = get_u64(own->p + n * sizeof(uint64_t));
		if (!(STACK_HOW(to->frames[n]) & STACK_HOW_SCRIPT) &&
		    (at >= n_whole || STACK_ADDR(to->frames[n]) != STACK_ADDR(whole->frames[at++])))
			return -1;
	}
	has_rest = at < n_whole;
	while (at < n_whole && n < STACK_USER_MAX)
		to->frames[n++] = whole->frames[at++];
	to->len = (uint16_t)(n * sizeof(uint64_t));
	to->end = at < n_whole ? STACK_END_DEPTH : has_rest ? STACK_END_NO_TABLE : whole->end;
	return has_functions(to) ? 0 : -1;
}

/* Returns the user stack of a sample, whose own frames are @own. */
static const struct stack *joined(struct deferred_stacks *j, const struct scap_param *own,
				  const struct stack *whole)
{
	if (!whole || !own || has_functions(whole) || join_functions(&j->joined, own, whole))
		return whole;
	return &j->joined;
}

/* Joins @evt with the user stack and the end of @stack. Without a stack the end reason is `never`,
 * which holds until one comes. */
static struct waiting *copy_with(struct deferred_stacks *j, const struct scap_evt *evt,
				 const struct stack *stack)
{
	const uint8_t never = STACK_END_NEVER;
	struct evt_value values[EVT_MAX_PARAMS];
	struct scap_params ps;
	struct waiting *w;
	size_t room;

	if (scap_evt_params(evt->hdr, &ps))
		return NULL;
	stack = joined(j, param(&ps, j->at.user), stack);
	room = evt->hdr->len + (stack ? stack->len : 0) + sizeof(never);
	w = malloc(sizeof(*w) + room);
	if (!w)
		return NULL;
	for (unsigned int i = 0; i < ps.n; i++)
		values[i] = (struct evt_value){ps.v[i].p, (uint16_t)ps.v[i].len};
	if (stack)
		values[j->at.user] = (struct evt_value){stack->frames, stack->len};
	values[j->at.end] = (struct evt_value){stack ? &stack->end : &never, sizeof(never)};
	scap_evt_build(w->buf, room, evt->hdr->type, evt->hdr->ts, evt->hdr->tid, values, ps.n);
	w->next = NULL;
	w->id = 0;
	w->evt = *evt;
	w->evt.hdr = (const struct ppm_evt_hdr *)w->buf;
	return w;
}

static struct stack *find_stack(struct deferred_stacks *j, uint64_t id)
{
	for (unsigned int i = 0; i < N_STACKS; i++)
		if (j->stacks[i].id == id)
			return &j->stacks[i];
	return NULL;
}

/* Replaces *@at by @new, which is complete. */
static void replace(struct deferred_stacks *j, struct waiting **at, struct waiting *new)
{
	struct waiting *old = *at;

	new->next = old->next;
	*at = new;
	if (j->last == &old->next)
		j->last = &new->next;
	free(old);
}

/* Completes *@at with @stack. Without memory it is delivered as it is. */
static void finish(struct deferred_stacks *j, struct waiting **at, const struct stack *stack)
{
	struct waiting *new = copy_with(j, &(*at)->evt, stack);

	if (new)
		replace(j, at, new);
	else
		(*at)->id = 0;
}

static int put_stack(struct deferred_stacks *j, const struct scap_params *ps)
{
	const struct scap_param *user = param(ps, j->at.stack_user),
				*end = param(ps, j->at.stack_end);
	struct stack *s = &j->stacks[j->n_stacks++ % N_STACKS];

	j->n_lone += s->id && !s->used;
	s->id = id_of(ps, j->at.stack_id);
	s->used = 0;
	s->end = end && end->len == 1 ? end->p[0] : STACK_END_NEVER;
	s->len = user && user->len <= sizeof(s->frames) ? (uint16_t)user->len : 0;
	if (s->len)
		memcpy(s->frames, user->p, s->len);
	for (struct waiting **at = &j->first; *at && s->id; at = &(*at)->next) {
		if ((*at)->id != s->id)
			continue;
		s->used = 1;
		finish(j, at, s);
	}
	return 1;
}

static int put_partial(struct deferred_stacks *j, const struct scap_evt *evt, uint64_t id)
{
	struct stack *known = find_stack(j, id);
	struct waiting *w = copy_with(j, evt, known);

	if (!w)
		return -ENOMEM;
	if (known)
		known->used = 1;
	else
		w->id = id;
	*j->last = w;
	j->last = &w->next;
	if (++j->n <= SAMPLE_JOIN_MAX)
		return 1;
	for (w = j->first; w; w = w->next) {
		if (w->id) {
			w->id = 0;
			j->n_never++;
			break;
		}
	}
	return 1;
}

int deferred_stacks_put(struct deferred_stacks *j, const struct scap_evt *evt)
{
	const struct scap_param *end;
	struct scap_params ps;
	uint64_t id;

	if (evt->type != EVT_SAMPLE_E && evt->type != EVT_SAMPLE_STACK_E)
		return 0;
	if (scap_evt_params(evt->hdr, &ps))
		return 0;
	if (evt->type == EVT_SAMPLE_STACK_E)
		return put_stack(j, &ps);
	id = id_of(&ps, j->at.id);
	end = param(&ps, j->at.end);
	if (!id || !end || ps.n <= (unsigned int)j->at.user)
		return 0;
	/* A complete sample needs no other stack, but gets it if it is there. */
	if (end->p[0] != STACK_END_DEFERRED && !find_stack(j, id))
		return 0;
	return put_partial(j, evt, id);
}

void deferred_stacks_expire(struct deferred_stacks *j, uint64_t now_ns)
{
	for (struct waiting *w = j->first; w; w = w->next) {
		if (!w->id)
			continue;
		if (now_ns != UINT64_MAX && w->evt.true_ns + SAMPLE_JOIN_WAIT_NS > now_ns)
			return;
		w->id = 0;
		j->n_never++;
	}
}

int deferred_stacks_next(struct deferred_stacks *j, struct scap_evt *evt)
{
	free(j->lent);
	j->lent = NULL;
	for (struct waiting **at = &j->first; *at; at = &(*at)->next) {
		struct waiting *w = *at;

		if (w->id)
			continue;
		*at = w->next;
		if (j->last == &w->next)
			j->last = at;
		j->n--;
		j->lent = w;
		*evt = w->evt;
		return 1;
	}
	return 0;
}

uint64_t deferred_stacks_n_lone(const struct deferred_stacks *j)
{
	uint64_t n = j->n_lone;

	for (unsigned int i = 0; i < N_STACKS; i++)
		n += j->stacks[i].id && !j->stacks[i].used;
	return n;
}

uint64_t deferred_stacks_n_never(const struct deferred_stacks *j)
{
	return j->n_never;
}
