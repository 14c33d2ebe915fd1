/* SPDX-License-Identifier: Apache-2.0 */
#include "top_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_feed.h"

#define QUANTIZED ".quantized"

enum { TIME_DIGITS = 16, SLOT_DIGITS = 4, HEAD = TIME_DIGITS + SLOT_DIGITS };

/* ---- new and free ---- */

/* The key of a view of csysdig is the column of its screen: the duration is the field without that
 * suffix. */
static int parse_field(struct top_graph *g, const struct sinsp_view *view, struct view_error *err)
{
	const char *name = "evt.latency", *why = "";
	size_t len, at;
	int r;

	for (size_t i = 0; i < view->n_columns; i++)
		if (view->columns[i].is_key)
			name = view->columns[i].field;
	len = strlen(name);
	if (len > strlen(QUANTIZED) && strcmp(name + len - strlen(QUANTIZED), QUANTIZED) == 0)
		len -= strlen(QUANTIZED);
	g->field_name = strndup(name, len);
	if (!g->field_name)
		return -ENOMEM;
	r = sinsp_field_parse(&g->field, g->field_name, &why, &at);
	r = r == -ENOMEM || r >= 0 ? r : -EINVAL;
	if (r >= 0 && g->field.type != FIELD_DURATION && g->field.type != FIELD_UINT) {
		why = "it is no duration";
		r = -EINVAL;
	}
	if (r == -EINVAL)
		snprintf(err->message, sizeof(err->message), "field '%s' of view %s: %s",
			 g->field_name, view->id, why);
	return r < 0 ? r : 0;
}

int top_graph_init_spectrum(struct top_graph *g, const struct top_query *q, struct view_error *err)
{
	int r;

	*g = (struct top_graph){.keeps = q->keeps};
	sinsp_eval_init(&g->eval, NULL);
	r = parse_field(g, q->view, err);
	r = r ?: top_spectrum_init(&g->spectrum, q->length_ns);
	if (g->keeps)
		r = r
			    ?: sinsp_format_new(&g->format, sinsp_format_preset(SINSP_LINE_DEFAULT),
						NULL, NULL);
	return r;
}

int top_graph_init_flame(struct top_graph *g)
{
	*g = (struct top_graph){0};
	sinsp_eval_init(&g->eval, NULL);
	g->flame = top_flame_new();
	return g->flame ? sinsp_format_new(&g->format, "%stack.folded", NULL, NULL) : -ENOMEM;
}

void top_graph_fini(struct top_graph *g)
{
	top_spectrum_fini(&g->spectrum);
	top_flame_free(g->flame);
	sinsp_format_free(g->format);
	sinsp_eval_fini(&g->eval);
	sinsp_field_fini(&g->field);
	free(g->field_name);
	top_lines_fini(&g->kept);
	free(g->text.p);
}

/* ---- events ---- */

int top_graph_event(struct top_graph *g, const struct sinsp_evt *evt)
{
	const struct sinsp_value *more;
	struct sinsp_value v;
	int r;

	g->text.len = 0;
	if (g->flame)
		return sinsp_format_line(g->format, &g->text, evt);
	g->eval.insp = evt->insp;
	sinsp_eval_set(&g->eval, evt);
	r = sinsp_field_get(&g->eval, &g->field, &v, &more);
	g->duration_ns = r > 0 ? v.u : 0;
	g->ns = evt->raw.ts_ns;
	return r;
}

/* The first events of each slot in a line. */
static int keep(struct top_graph *g, uint64_t line, unsigned int slot, const struct sinsp_evt *evt)
{
	int r;

	if (line != g->kept_line)
		memset(g->n_kept, 0, sizeof(g->n_kept));
	g->kept_line = line;
	if (g->n_kept[slot] == TOP_KEPT_PER_SLOT)
		return 0;
	g->n_kept[slot]++;
	g->text.len = 0;
	r = top_put(&g->text, "%0*" PRIx64 "%0*x", TIME_DIGITS, g->ns, SLOT_DIGITS, slot);
	r = r < 0 ? r : sinsp_format_line(g->format, &g->text, evt);
	return r <= 0 ? r : top_lines_add(&g->kept, g->text.p, g->text.len);
}

int top_graph_add(struct top_graph *g, const struct sinsp_evt *evt)
{
	unsigned int slot;
	uint64_t line;

	if (g->flame)
		return top_flame_add(g->flame, g->text.p ?: "", g->text.len);
	line = top_spectrum_add(&g->spectrum, g->ns, g->duration_ns, &slot);
	return g->keeps ? keep(g, line, slot, evt) : 0;
}

void top_graph_tick(struct top_graph *g, uint64_t ns)
{
	if (!g->flame && ns)
		top_spectrum_tick(&g->spectrum, ns);
}

void top_graph_clear(struct top_graph *g)
{
	if (g->flame)
		top_flame_clear(g->flame);
	else
		top_spectrum_clear(&g->spectrum);
	top_lines_clear(&g->kept);
	g->kept_line = 0;
	memset(g->n_kept, 0, sizeof(g->n_kept));
}

/* ---- the events of a rectangle ---- */

static int is_inside(const struct top_graph *g, const struct top_rect *r, const char *text)
{
	char digits[TIME_DIGITS + 1] = "";
	uint64_t ns;
	unsigned int slot;

	memcpy(digits, text, TIME_DIGITS);
	ns = strtoull(digits, NULL, 16);
	memcpy(digits, text + TIME_DIGITS, SLOT_DIGITS);
	digits[SLOT_DIGITS] = 0;
	slot = (unsigned int)strtoul(digits, NULL, 16);
	return ns >= top_spectrum_ns(&g->spectrum, r->first_line) &&
	       ns < top_spectrum_ns(&g->spectrum, r->last_line + 1) &&
	       top_spectrum_has(r->per, r->first_cell, r->last_cell, slot);
}

int top_graph_kept(struct sinsp_text *out, const struct top_graph *g, const struct top_rect *r)
{
	int err = 0;

	for (uint64_t i = g->kept.from; i < g->kept.to && !err; i++) {
		const struct top_line *line = top_lines_at(&g->kept, i);

		if (line->len > HEAD && is_inside(g, r, line->text))
			err = top_put(out, "%s\n", line->text + HEAD);
	}
	return err;
}
