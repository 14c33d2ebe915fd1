/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expands records of the driver into events. An exit record already has the layout of its event and
 * is passed on unchanged; its enter is built here, in scratch memory, by parameter names. A raw
 * enter has the arguments of the call instead, and becomes an enter event by the call's row in
 * syscalls.def.
 */
#include "event/expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/raw_enter.h"
#include "shared/config.h"

struct scap_expand {
	/* How the enter of an exit is built, indexed by half of the exit's type; filled at first
	 * use. */
	struct scap_projection plans[EVT_INDEX_MAX / 2];
	uint8_t has_plan[EVT_INDEX_MAX / 2];
	struct scap_params of_exit, of_enter;
	uint8_t buf[2 * DRV_REC_MAX];
};

struct scap_expand *scap_expand_new(void)
{
	return calloc(1, sizeof(struct scap_expand));
}

void scap_expand_free(struct scap_expand *x)
{
	free(x);
}

/* Makes the plan of @exit_type at index @i. Returns 0, or -EINVAL: such an exit has no enter. */
static __attribute__((noinline)) int make_plan(struct scap_expand *x, unsigned int i,
					       unsigned int exit_type)
{
	if (evt_is_private(exit_type) ||
	    scap_projection_init(&x->plans[i], exit_type & ~1u, EVT_MAX_PARAMS, exit_type))
		return -EINVAL;
	x->has_plan[i] = 1;
	return 0;
}

static const struct scap_projection *plan_of(struct scap_expand *x, unsigned int exit_type)
{
	const unsigned int i = evt_index(exit_type) / 2;

	return x->has_plan[i] || !make_plan(x, i, exit_type) ? &x->plans[i] : NULL;
}

static int well_formed(const struct rec_hdr *rec)
{
	return rec->len >= sizeof(*rec) && rec->evt.len >= sizeof(rec->evt) &&
	       rec->evt.len <= rec->len - offsetof(struct rec_hdr, evt);
}

static uint16_t call_flags(const struct rec_hdr *rec)
{
	return (rec->flags & REC_F_IA32 ? SCAP_EVT_F_IA32 : 0) |
	       (rec->flags & REC_F_STATE_ONLY ? SCAP_EVT_F_STATE_ONLY : 0);
}

static int enter_of_exit(struct scap_expand *x, struct scap_params *params,
			 const struct rec_hdr *rec)
{
	const struct scap_projection *plan = plan_of(x, rec->evt.type);
	struct ppm_evt_hdr *enter = (struct ppm_evt_hdr *)x->buf;

	if (!plan || scap_evt_params(&rec->evt, &x->of_exit) ||
	    scap_projection_split(plan, x->buf, sizeof(x->buf), &rec->evt, &x->of_exit, params) < 0)
		return -EBADMSG;
	enter->ts = rec->enter_ns;
	return 0;
}

static __attribute__((noinline)) int enter_of_raw(struct scap_expand *x, struct scap_params *params,
						  const struct rec_hdr *rec)
{
	return scap_raw_enter(x->buf, sizeof(x->buf), rec)
		       ?: scap_evt_params((const struct ppm_evt_hdr *)x->buf, params);
}

/* A call is shown as one line, at its exit; a call that blocks is shown at its enter, too. */
static uint16_t enter_flags(const struct rec_hdr *rec)
{
	return rec->flags & REC_F_BLOCKED ? SCAP_EVT_F_BLOCKED : SCAP_EVT_F_HIDDEN;
}

int scap_expand_enter(struct scap_expand *x, struct scap_evt *evt, struct scap_params *params,
		      const struct rec_hdr *rec)
{
	int err = -EBADMSG;

	if (!params)
		params = &x->of_enter;
	if (well_formed(rec))
		err = rec->flags & REC_F_RAW_ENTER ? enter_of_raw(x, params, rec)
						   : enter_of_exit(x, params, rec);
	if (err)
		return err;
	evt->hdr = (struct ppm_evt_hdr *)x->buf;
	evt->type = rec->evt.type & ~1u;
	evt->nr = rec->nr;
	evt->flags = enter_flags(rec) | call_flags(rec);
	return 0;
}

int scap_expand_exit(struct scap_evt *evt, struct scap_params *params, const struct rec_hdr *rec)
{
	if (!well_formed(rec))
		return -EBADMSG;
	if (params)
		scap_evt_params(&rec->evt, params);
	evt->hdr = &rec->evt;
	evt->type = rec->evt.type;
	evt->nr = rec->nr;
	evt->flags = call_flags(rec);
	if (evt->type & 1)
		evt->flags |= SCAP_EVT_F_FULL;
	if (rec->flags & REC_F_CHANGED)
		evt->flags |= SCAP_EVT_F_CHANGED;
	return 0;
}
