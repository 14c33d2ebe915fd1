/* SPDX-License-Identifier: Apache-2.0 */
/* Prints bit flags and enumerations by the names in the event table. */
#include "value_kinds.h"

/* Writes every row whose bits are all in the value, in table order, and removes its bits; a row
 * equal to the whole value ends the list. An enumeration has only the latter. */
char *value_put_flag_names(struct value_writer *w, char *p, const struct scap_flag_name *f,
			   uint64_t val, int is_enum)
{
	const uint64_t whole = val;

	for (; f && f->name; f++) {
		const int same = f->value == whole;

		if (!same && (is_enum || !f->value || (val & f->value) != f->value))
			continue;
		p = text_room(w->out, p, VALUE_ROOM);
		if (!p)
			return NULL;
		if (w->meaning)
			*p++ = '|';
		else
			p = open_meaning(w, p);
		p = put_cstr(p, f->name);
		if (same)
			break;
		val &= ~f->value;
	}
	if (w->meaning)
		*p++ = ')';
	return p;
}

char *value_put_flags(struct value_writer *w, char *p, const struct value *v)
{
	const int is_enum =
		v->type == PT_ENUMFLAGS8 || v->type == PT_ENUMFLAGS16 || v->type == PT_ENUMFLAGS32;
	uint32_t val;

	switch (v->type) {
	case PT_FLAGS8:
	case PT_ENUMFLAGS8:
		val = v->p[0];
		break;
	case PT_FLAGS16:
	case PT_ENUMFLAGS16:
		val = get_u16(v->p);
		break;
	default:
		val = get_u32(v->p);
	}
	return value_put_flag_names(w, put_u64(p, val), v->info->flags, val, is_enum);
}

char *value_put_flags64(struct value_writer *w, char *p, const struct value *v)
{
	const uint64_t val = get_u64(v->p);

	p = put_number(p, v->fmt, (int64_t)val, val);
	return value_put_flag_names(w, p, v->info->flags, val, v->type == PT_ENUMFLAGS64);
}

char *value_put_mode(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t val = get_u32(v->p);

	p = put_number(p, v->fmt, (int32_t)val, val);
	return value_put_flag_names(w, p, v->info->flags, val, 0);
}
