/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that tell of containers. They belong to no thread; in sysdig's lines something
 * called "container:ID" made them.
 */
#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define CONTAINER_TID INT64_MIN /* no event has it */
#define ID_SZ 80 /* 64 hexadecimal digits, or a name */

/* Where a reader of JSON is: only strings and nesting matter here. */
struct json {
	const char *p, *end;
	int depth;
};

/* The string at @j->p, which is past its quote, unescaped as far as ASCII goes and cut to
 * @sz with its NUL. Goes past the closing quote. */
static void take_string(struct json *j, char *out, size_t sz)
{
	size_t n = 0;

	while (j->p < j->end && *j->p != '"') {
		char c = *j->p++;

		if (c == '\\' && j->p < j->end) {
			c = *j->p++;
			if (c == 'u' && j->end - j->p >= 4) {
				char hex[] = {j->p[2], j->p[3], 0};

				c = strtol(hex, NULL, 16);
				j->p += 4;
			}
		}
		if (n + 1 < sz)
			out[n++] = c;
	}
	out[n] = 0;
	if (j->p < j->end)
		j->p++;
}

static int is_key(const struct json *j)
{
	const char *p = j->p;

	while (p < j->end && strchr(" \t\r\n", *p))
		p++;
	return p < j->end && *p == ':';
}

/* The value of "container"."id", "" if there is none. */
static void find_id(const struct scap_param *v, char id[ID_SZ])
{
	struct json j = {(const char *)v->p, (const char *)v->p + v->len, 0};
	char text[ID_SZ], key[ID_SZ] = "", object[ID_SZ] = "";

	id[0] = 0;
	while (j.p < j.end) {
		char c = *j.p++;

		if (c == '{' || c == '[') {
			if (j.depth++ == 1)
				memcpy(object, key, sizeof(object));
		} else if (c == '}' || c == ']') {
			j.depth--;
		} else if (c == ',') {
			key[0] = 0;
		} else if (c == '"') {
			take_string(&j, text, sizeof(text));
			if (is_key(&j))
				memcpy(key, text, sizeof(key));
			else if (j.depth == 2 && !strcmp(key, "id") && !strcmp(object, "container"))
				memcpy(id, text, sizeof(text));
		}
	}
}

void sinsp_parse_container(struct sinsp_parse *p)
{
	struct sinsp_threads *tt = &p->s->threads;
	struct sinsp_thread *t = sinsp_threads_find(tt, CONTAINER_TID);
	char comm[ID_SZ + 16] = "container:";
	const struct scap_param *json = p->e->params.n ? &p->e->params.v[0] : NULL;

	if (!t)
		t = sinsp_threads_add_stand_in(tt, CONTAINER_TID);
	if (!t)
		return;
	if (json)
		find_id(json, comm + strlen(comm));
	sinsp_thread_set_comm(tt, t, comm, strlen(comm));
	p->e->thread = t;
}
