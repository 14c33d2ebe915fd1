/* SPDX-License-Identifier: Apache-2.0 */
#include "view_cell.h"

#include <errno.h>
#include <string.h>

/* ---- values of fields ---- */

/* Without an early end, so that the compiler compares many bytes at once: command lines are long,
 * and hardly any has one. */
static int has_controls(const char *p, size_t n)
{
	unsigned char found = 0;

	for (size_t i = 0; i < n; i++)
		found |= (unsigned char)((unsigned char)(p[i] - 0x20) >= 0x7f - 0x20);
	return found;
}

/* Gets the text of any value, as -p prints it. */
static int get_text(struct view_cell *c, struct sinsp_eval *e, const struct sinsp_value *v)
{
	struct sinsp_text text = e->text;
	char *copy;
	int err;

	if ((v->type == FIELD_STR || v->type == FIELD_PATH) && !has_controls(v->p, v->len)) {
		c->p = v->p;
		c->len = v->len;
		return 1;
	}
	text.len = 0;
	err = sinsp_value_text(&text, e, v);
	e->text.p = text.p;
	e->text.cap = text.cap;
	if (err)
		return err;
	copy = sinsp_eval_alloc(e, text.len + 1);
	if (!copy)
		return -ENOMEM;
	if (text.len)
		memcpy(copy, text.p, text.len);
	c->p = copy;
	c->len = (uint32_t)text.len;
	return 1;
}

static int get_number(struct view_cell *c, const struct sinsp_value *v, enum view_kind kind)
{
	const int is_number = v->type != FIELD_STR && v->type != FIELD_PATH &&
			      v->type != FIELD_BYTES && v->type != FIELD_IP && v->type != FIELD_NET;

	if (!is_number)
		return 0;
	if (kind == VIEW_DOUBLE && v->type != FIELD_DOUBLE)
		c->d = v->type == FIELD_INT ? (double)v->i : (double)v->u;
	else if (kind != VIEW_DOUBLE && v->type == FIELD_DOUBLE)
		c->i = (int64_t)v->d;
	else
		c->u = v->u;
	return 1;
}

int view_cell_get(struct view_cell *c, struct sinsp_eval *e, const struct sinsp_field *f,
		  enum view_kind kind)
{
	const struct sinsp_value *more;
	struct sinsp_value v;
	const int n = sinsp_field_get(e, f, &v, &more);

	*c = (struct view_cell){.n = 1};
	if (n <= 0)
		return n;
	if (kind == VIEW_TEXT)
		return get_text(c, e, &v);
	if (kind != VIEW_IP)
		return get_number(c, &v, kind);
	if (v.type != FIELD_IP && v.type != FIELD_NET)
		return 0;
	c->p = v.p;
	c->len = v.len;
	return 1;
}

/* ---- numbers of rows ---- */

static int is_number(enum view_kind kind)
{
	return kind != VIEW_TEXT && kind != VIEW_IP;
}

static void add(struct view_cell *dst, const struct view_cell *src, enum view_kind kind)
{
	if (kind == VIEW_DOUBLE)
		dst->d += src->d;
	else
		dst->u += src->u;
}

/* A default that stands for a missing value is no minimum. */
static void take_least(struct view_cell *dst, const struct view_cell *src, enum view_kind kind)
{
	if (src->n && (!dst->n || view_cell_compare(src, dst, kind) < 0))
		*dst = *src;
}

void view_cell_combine(struct view_cell *dst, const struct view_cell *src, enum view_kind kind,
		       enum sinsp_view_aggregation how)
{
	if (!is_number(kind))
		return;
	switch (how) {
	case SINSP_VIEW_FIRST:
	case SINSP_VIEW_P50: /* they are counted by range */
	case SINSP_VIEW_P90:
	case SINSP_VIEW_P99:
	case SINSP_VIEW_AGGREGATIONS:
		break;
	case SINSP_VIEW_AVG:
		dst->n += src->n;
		add(dst, src, kind);
		break;
	case SINSP_VIEW_SUM:
	case SINSP_VIEW_TIME_AVG:
		dst->n = dst->n || src->n;
		add(dst, src, kind);
		break;
	case SINSP_VIEW_MIN:
		take_least(dst, src, kind);
		break;
	case SINSP_VIEW_MAX:
		if (view_cell_compare(src, dst, kind) > 0)
			*dst = *src;
		dst->n = dst->n || src->n;
		break;
	}
}

void view_cell_settle(struct view_cell *c, enum view_kind kind)
{
	if (c->n > 1 && kind == VIEW_DOUBLE)
		c->d /= c->n;
	else if (c->n > 1 && kind == VIEW_INT)
		c->i /= (int64_t)c->n;
	else if (c->n > 1 && is_number(kind))
		c->u /= c->n;
	c->n = c->n != 0;
}

static int compare_bytes(const struct view_cell *a, const struct view_cell *b)
{
	const uint32_t len = a->len < b->len ? a->len : b->len;
	const int r = len ? memcmp(a->p, b->p, len) : 0;

	if (r)
		return r < 0 ? -1 : 1;
	return (a->len > b->len) - (a->len < b->len);
}

int view_cell_compare(const struct view_cell *a, const struct view_cell *b, enum view_kind kind)
{
	switch (kind) {
	case VIEW_TEXT:
	case VIEW_IP:
		return compare_bytes(a, b);
	case VIEW_DOUBLE:
		return (a->d > b->d) - (a->d < b->d);
	case VIEW_INT:
		return (a->i > b->i) - (a->i < b->i);
	case VIEW_UINT:
	case VIEW_DURATION:
	case VIEW_PORT:
	case VIEW_BOOL:
		break;
	}
	return (a->u > b->u) - (a->u < b->u);
}
