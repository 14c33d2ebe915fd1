/* SPDX-License-Identifier: Apache-2.0 */
/* Prints texts, lists of texts, and buffers of bytes. */
#include "buffer.h"
#include "value_kinds.h"

char *value_put_text(struct value_writer *w, char *p, const struct value *v)
{
	const size_t n = text_len(v, 0);

	if (was_unreadable(w->evt, n))
		return put_lit(p, "<NA>");
	p = text_room(w->out, p, n + VALUE_ROOM);
	return p ? put_utf8(p, (const char *)v->p, n) : NULL;
}

/* Writes NUL-separated texts, as "a.b" or "a,b" with one separator, as "a:b,c:d" with two. */
char *value_put_texts(struct value_writer *w, char *p, const struct value *v)
{
	const char *const sep = v->fmt == PF_LIST ? "," : v->type == PT_CHARBUFARRAY ? "." : ":,";
	const size_t n_sep = strlen(sep);
	size_t at = 0;

	p = text_room(w->out, p, v->len + VALUE_ROOM);
	for (size_t i = 0; p && at < v->len; i++) {
		const size_t n = text_len(v, at);

		if (i)
			*p++ = sep[(i - 1) % n_sep];
		p = put_utf8(p, (const char *)v->p + at, n);
		at += n + 1;
	}
	return p;
}

/* Writes numbers of 8 bytes, separated by commas. */
static char *put_u64s(struct value_writer *w, char *p, const struct value *v)
{
	p = text_room(w->out, p, v->len / 8 * TEXT_NUM_MAX + VALUE_ROOM);
	for (uint32_t at = 0; p && at + 8 <= v->len; at += 8) {
		if (at)
			*p++ = ',';
		p = put_u64(p, get_u64(v->p + at));
	}
	return p;
}

char *value_put_bytes(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t len = sinsp_buffer_shown(w->evt, v->len, w->buf_cut);

	if (v->fmt == PF_LIST)
		return put_u64s(w, p, v);
	if (value_is_control(w, v))
		return value_put_controls(w, p, v);
	if (value_is_messages(w, v))
		return value_put_messages(w, p, v);
	/* Bytes were moved, but not recorded. */
	if (!v->len && whole_result(w->evt) > 0 && !strcmp(v->info->name, "data"))
		return put_lit(p, "<NA>");
	p = text_room(w->out, p, sinsp_buffer_room(len) + VALUE_ROOM);
	return p ? sinsp_buffer_put(p, v->p, len, w->buf_fmt, w->buf_max) : NULL;
}
