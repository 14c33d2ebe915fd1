/* SPDX-License-Identifier: Apache-2.0 */
#include "marker.h"

#include <errno.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "marker_list.h"

struct cursor {
	const uint8_t *p, *end;
};

/* Appends a text up to one of @ends. Returns that, END_OF_TEXT or MALFORMED. */
static int take_text(struct cursor *c, struct marker_list *to, const char *ends)
{
	while (c->p < c->end) {
		uint8_t byte = *c->p++;
		const int escaped = byte == '\\';

		if (escaped && c->p == c->end)
			return END_OF_TEXT;
		if (escaped)
			byte = *c->p++;
		if (marker_is_control(byte))
			return MALFORMED;
		if (!escaped && strchr(ends, byte))
			return marker_end_text(to) ?: byte;
		if (marker_put(to, (char)byte))
			return MALFORMED;
	}
	return END_OF_TEXT;
}

static int take_number(struct cursor *c, int64_t *id)
{
	uint64_t u = 0;

	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
		if (u > (INT64_MAX - 9) / 10)
			return MALFORMED;
		u = u * 10 + (*c->p - '0');
	}
	*id = (int64_t)u;
	return 0;
}

/* Takes the ID and the ':' behind it. Returns 0, END_OF_TEXT or MALFORMED. */
static int take_id(struct cursor *c, struct marker *m)
{
	const size_t left = (size_t)(c->end - c->p);

	if (left >= 2 && !memcmp(c->p, "pp", 2)) {
		m->id_kind = MARKER_ID_PARENT;
		c->p += 2;
	} else if (left && (*c->p == 'p' || *c->p == 't')) {
		m->id_kind = *c->p++ == 'p' ? MARKER_ID_PROCESS : MARKER_ID_THREAD;
	} else if (take_number(c, &m->id)) {
		return MALFORMED;
	}
	if (c->p == c->end)
		return END_OF_TEXT;
	return *c->p++ == ':' ? 0 : MALFORMED;
}

static int take_tags(struct cursor *c, struct marker_list *tags)
{
	int r = '.';

	if (c->p < c->end && *c->p == ':') {
		c->p++;
		return 0;
	}
	while (r == '.')
		r = take_text(c, tags, ".:");
	return r < 0 ? r : 0;
}

/* Appends a name and its value. */
static int take_arg(struct cursor *c, struct marker_list *args)
{
	const int r = take_text(c, args, "=,:");

	if (r < 0)
		return r;
	return r == '=' ? take_text(c, args, ",:") : MALFORMED;
}

static int take_args(struct cursor *c, struct marker_list *args)
{
	int r = ',';

	if (c->p < c->end && *c->p == ':')
		return 0;
	while (r == ',') {
		const uint16_t sz = args->sz, n = args->n;

		r = take_arg(c, args);
		if (r == END_OF_TEXT) { /* the last argument may go on */
			args->sz = sz;
			args->n = n;
		}
	}
	return r < 0 ? r : 0;
}

static int parse_simple(struct marker *m, const uint8_t *p, size_t n, int is_cut)
{
	struct cursor c = {p + 2, p + n};
	int r;

	if (n > MARKER_TEXT_MAX)
		c.end = p + MARKER_TEXT_MAX;
	r = take_id(&c, m) ?: take_tags(&c, &m->tags);
	if (r)
		return r == END_OF_TEXT && is_cut ? -EMSGSIZE : -EINVAL;
	r = take_args(&c, &m->args);
	m->is_cut = r == END_OF_TEXT && is_cut && n <= MARKER_TEXT_MAX;
	return !r || m->is_cut ? 1 : -EINVAL;
}

/* ---- JSON ---- */

/* Appends a text of JSON. Returns 0 or MALFORMED. */
static int put_json_text(struct marker_list *to, const char *text)
{
	if (!text)
		return MALFORMED;
	for (; *text; text++)
		if (marker_is_control((uint8_t)*text) || marker_put(to, *text))
			return MALFORMED;
	return marker_end_text(to);
}

static int put_json_id(struct marker *m, const cJSON *id)
{
	struct cursor c;
	char text[8];
	size_t n;

	if (cJSON_IsNumber(id)) {
		if (!(id->valuedouble >= 0 && id->valuedouble < 0x1p63))
			return MALFORMED;
		m->id = (int64_t)id->valuedouble;
		return 0;
	}
	if (!cJSON_IsString(id) || strlen(id->valuestring) > sizeof(text) - 1)
		return MALFORMED;
	n = strlen(id->valuestring);
	memcpy(text, id->valuestring, n);
	text[n] = ':';
	c = (struct cursor){(const uint8_t *)text, (const uint8_t *)text + n + 1};
	return take_id(&c, m) || c.p != c.end ? MALFORMED : 0;
}

static int put_json_object(struct marker_list *to, const cJSON *object)
{
	if (!cJSON_IsObject(object))
		return MALFORMED;
	for (const cJSON *arg = object->child; arg; arg = arg->next)
		if (put_json_text(to, arg->string) || put_json_text(to, arg->valuestring))
			return MALFORMED;
	return 0;
}

static int put_json(struct marker *m, const cJSON *list)
{
	const cJSON *id = list->child->next, *tags = id ? id->next : NULL,
		    *args = tags ? tags->next : NULL;

	if (!cJSON_IsArray(tags) || (args && !cJSON_IsArray(args)) || put_json_id(m, id))
		return MALFORMED;
	for (const cJSON *tag = tags->child; tag; tag = tag->next)
		if (put_json_text(&m->tags, tag->valuestring))
			return MALFORMED;
	for (const cJSON *object = args ? args->child : NULL; object; object = object->next)
		if (put_json_object(&m->args, object))
			return MALFORMED;
	return 0;
}

/* Returns whether a text has a NUL, behind which its rest would be lost. A backslash may be escaped
 * itself. */
static int has_json_nul(const uint8_t *p, size_t n)
{
	const uint8_t *const end = p + n;

	if (memchr(p, 0, n))
		return 1;
	while ((p = memchr(p, '\\', (size_t)(end - p))) && end - p >= 6) {
		if (!memcmp(p, "\\u0000", 6))
			return 1;
		p += 2;
	}
	return 0;
}

static int parse_json(struct marker *m, const uint8_t *p, size_t n, int is_cut)
{
	const char *end;
	cJSON *list;
	int r;

	if (is_cut)
		return -EMSGSIZE;
	list = n <= MARKER_TEXT_MAX ? cJSON_ParseWithLengthOpts((const char *)p, n, &end, 0) : NULL;
	r = list && !has_json_nul(p, (size_t)(end - (const char *)p)) ? put_json(m, list)
								      : MALFORMED;
	cJSON_Delete(list);
	return r ? -EINVAL : 1;
}

static void reset(struct marker *m)
{
	m->is_exit = m->is_whole = m->is_cut = 0;
	m->id_kind = MARKER_ID_NUMBER;
	m->id = 0;
	m->tags.sz = m->tags.n = m->args.sz = m->args.n = 0;
}

int sinsp_marker_parse(struct marker *m, const uint8_t *p, size_t n, int is_cut)
{
	const int is_json = n >= 4 && p[0] == '[' && p[1] == '"' && p[3] == '"';
	const uint8_t dir = n >= 3 ? p[is_json ? 2 : 0] : 0;

	if (dir == 'k' && p[1] == 'd' && p[2] == '-') {
		reset(m);
		m->id_kind = MARKER_ID_THREAD;
		return marker_parse_kindling(m, p, n, is_cut);
	}
	if ((dir != '>' && dir != '<') || (!is_json && p[1] != ':'))
		return 0;
	reset(m);
	m->is_exit = dir == '<';
	return (is_json ? parse_json : parse_simple)(m, p, n, is_cut);
}
