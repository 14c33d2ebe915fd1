/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol_event.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "event/event_build.h"
#include "shared/interp.h"

/* The parameters, in their order. */
enum {
	P_OF,
	P_PID,
	P_DEV,
	P_INO,
	P_INO_GEN,
	P_BUILD_ID,
	P_PATH,
	P_PLACE,
	P_ADDR,
	P_BEGIN,
	P_MODULE,
	P_NAME,
	P_LINES,
	P_MAX
};

enum { TEXT_MAX = 8192 };

/* With a NUL, as the parameters require; too long text is cut. */
static struct evt_value text(char buf[TEXT_MAX], const struct scap_param *t)
{
	const uint32_t len = t->len < TEXT_MAX - 1 ? t->len : TEXT_MAX - 1;

	if (len)
		memcpy(buf, t->p, len);
	buf[len] = '\0';
	return (struct evt_value){buf, (uint16_t)(len + 1)};
}

int symbol_event_build(void *buf, const struct symbol_row *t)
{
	char path[TEXT_MAX], module[TEXT_MAX], name[TEXT_MAX];
	const struct evt_value v[P_MAX] = {
		[P_OF] = {&t->of, sizeof(t->of)},
		[P_PID] = {&t->pid, sizeof(t->pid)},
		[P_DEV] = {&t->id.dev, sizeof(t->id.dev)},
		[P_INO] = {&t->id.ino, sizeof(t->id.ino)},
		[P_INO_GEN] = {&t->id.ino_gen, sizeof(t->id.ino_gen)},
		[P_BUILD_ID] = {t->id.build_id, t->id.build_id_len},
		[P_PATH] = text(path, &t->path),
		[P_PLACE] = {&t->place, sizeof(t->place)},
		[P_ADDR] = {&t->addr, sizeof(t->addr)},
		[P_BEGIN] = {&t->begin, sizeof(t->begin)},
		[P_MODULE] = text(module, &t->module),
		[P_NAME] = text(name, &t->name),
		[P_LINES] = {t->lines.p, (uint16_t)t->lines.len},
	};
	const int len =
		scap_evt_build(buf, SYMBOL_EVENT_MAX, EVT_SYMBOL_E, 0, UINT64_MAX, v, P_MAX);

	return len < 0 ? len : 0;
}

int symbol_map_event_build(void *buf, int64_t pid, const struct sinsp_code_map *map)
{
	const struct sinsp_code_id *id = &map->file->id;
	const struct scap_param path_text = {(const uint8_t *)map->file->path,
					     (uint32_t)strlen(map->file->path)};
	const uint64_t length = map->end - map->start;
	const uint32_t prot = PROT_READ | PROT_EXEC;
	char path[TEXT_MAX];
	const struct evt_value v[] = {
		{&pid, sizeof(pid)},         {&map->start, sizeof(map->start)},
		{&length, sizeof(length)},   {&map->offset, sizeof(map->offset)},
		{&prot, sizeof(prot)},       {&id->dev, sizeof(id->dev)},
		{&id->ino, sizeof(id->ino)}, {&id->ino_gen, id->ino_gen ? sizeof(id->ino_gen) : 0},
		text(path, &path_text),      {id->build_id, id->build_id_len},
	};
	const int len = scap_evt_build(buf, SYMBOL_EVENT_MAX, EVT_MAP_E, 0, (uint64_t)pid, v,
				       sizeof(v) / sizeof(v[0]));

	return len < 0 ? len : 0;
}

static int number(const struct sinsp_evt *evt, unsigned int at, void *to, size_t sz)
{
	const struct scap_param *v = &evt->params.v[at];

	if (v->len != sz)
		return -EBADMSG;
	memcpy(to, v->p, sz);
	return 0;
}

static struct scap_param text_of(const struct sinsp_evt *evt, unsigned int at)
{
	struct scap_param v = evt->params.v[at];

	v.len = (uint32_t)strnlen((const char *)v.p, v.len);
	return v;
}

int symbol_event_read(struct symbol_row *t, const struct sinsp_evt *evt)
{
	const struct scap_param *id = &evt->params.v[P_BUILD_ID];

	*t = (struct symbol_row){0};
	if (evt->raw.type != EVT_SYMBOL_E || evt->params.n < P_MAX ||
	    number(evt, P_OF, &t->of, sizeof(t->of)) ||
	    number(evt, P_PID, &t->pid, sizeof(t->pid)) ||
	    number(evt, P_DEV, &t->id.dev, sizeof(t->id.dev)) ||
	    number(evt, P_INO, &t->id.ino, sizeof(t->id.ino)) ||
	    number(evt, P_PLACE, &t->place, sizeof(t->place)) ||
	    number(evt, P_ADDR, &t->addr, sizeof(t->addr)) ||
	    number(evt, P_BEGIN, &t->begin, sizeof(t->begin)) || id->len > sizeof(t->id.build_id))
		return -EBADMSG;
	number(evt, P_INO_GEN, &t->id.ino_gen, sizeof(t->id.ino_gen));
	t->id.build_id_len = (uint8_t)id->len;
	memcpy(t->id.build_id, id->p, id->len);
	t->path = text_of(evt, P_PATH);
	t->module = text_of(evt, P_MODULE);
	t->name = text_of(evt, P_NAME);
	t->lines = evt->params.v[P_LINES];
	return 0;
}

/* The parameters of a script event, in their order. */
enum {
	SCRIPT_P_PID,
	SCRIPT_P_LANGUAGE,
	SCRIPT_P_VERSION,
	SCRIPT_P_CODE,
	SCRIPT_P_CHECK,
	SCRIPT_P_FIRST_LINE,
	SCRIPT_P_KINDS,
	SCRIPT_P_NAME,
	SCRIPT_P_FILE,
	SCRIPT_P_LINES,
	SCRIPT_P_LINE_BASES,
	SCRIPT_P_MAX
};

int symbol_script_event_read(struct script_row *t, const struct sinsp_evt *evt)
{
	const struct scap_param *v = evt->params.v;

	*t = (struct script_row){0};
	if (evt->raw.type != EVT_SCRIPT_E || evt->params.n < SCRIPT_P_MAX ||
	    number(evt, SCRIPT_P_PID, &t->pid, sizeof(t->pid)) ||
	    number(evt, SCRIPT_P_LANGUAGE, &t->language, sizeof(t->language)) ||
	    number(evt, SCRIPT_P_VERSION, &t->version, sizeof(t->version)) ||
	    number(evt, SCRIPT_P_CODE, &t->code, sizeof(t->code)) ||
	    number(evt, SCRIPT_P_CHECK, &t->check, sizeof(t->check)) ||
	    number(evt, SCRIPT_P_FIRST_LINE, &t->first_line, sizeof(t->first_line)) ||
	    number(evt, SCRIPT_P_KINDS, &t->kinds, sizeof(t->kinds)))
		return -EBADMSG;
	t->name = v[SCRIPT_P_NAME].p;
	t->name_len = v[SCRIPT_P_NAME].len;
	t->file = v[SCRIPT_P_FILE].p;
	t->file_len = v[SCRIPT_P_FILE].len;
	t->lines = v[SCRIPT_P_LINES].p;
	t->n_lines = v[SCRIPT_P_LINES].len;
	t->bases = v[SCRIPT_P_LINE_BASES].p;
	t->n_bases = v[SCRIPT_P_LINE_BASES].len;
	return 0;
}

int symbol_script_event_build(void *buf, const struct script_code *c)
{
	const uint8_t kinds = INTERP_ASCII; /* UTF-8 needs no conversion either */
	const struct evt_value v[SCRIPT_P_MAX] = {
		[SCRIPT_P_PID] = {&c->pid, sizeof(c->pid)},
		[SCRIPT_P_LANGUAGE] = {&c->language, sizeof(c->language)},
		[SCRIPT_P_VERSION] = {&c->version, sizeof(c->version)},
		[SCRIPT_P_CODE] = {&c->code, sizeof(c->code)},
		[SCRIPT_P_CHECK] = {&c->check, sizeof(c->check)},
		[SCRIPT_P_FIRST_LINE] = {&c->first_line, sizeof(c->first_line)},
		[SCRIPT_P_KINDS] = {&kinds, sizeof(kinds)},
		[SCRIPT_P_NAME] = {c->function, c->function ? (uint16_t)strlen(c->function) : 0},
		[SCRIPT_P_FILE] = {c->file, c->file ? (uint16_t)strlen(c->file) : 0},
		[SCRIPT_P_LINES] = {c->lines, c->n_lines},
		[SCRIPT_P_LINE_BASES] = {c->bases, c->n_bases},
	};

	return scap_evt_build(buf, SYMBOL_EVENT_MAX, EVT_SCRIPT_E, 0, (uint64_t)c->pid, v,
			      SCRIPT_P_MAX) < 0
		       ? -ENOSPC
		       : 0;
}
