/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the arguments of an event, as sysdig's %evt.info: "name=value " for each. */
#include "info.h"

#include <pthread.h>

#include "evt_param.h"
#include "fd.h"
#include "syslog_message.h"
#include "value.h"

/* "name=" of a parameter, copied in fixed size, which is faster than by length. */
struct label {
	char text[31];
	uint8_t len;
};

#define LABEL(pname) {#pname "=", sizeof(#pname)},
#define P(pname, ...) LABEL(pname)
#define PX(pname, ...) LABEL(pname)
#define PR(pname, ...) LABEL(pname)
#define PL(pname, ...) LABEL(pname)
#define O(pname, ...) LABEL(pname)
#define OX(pname, ...) LABEL(pname)
#define OL(pname, ...) LABEL(pname)
#define EVT(id, sym, name, category, flags, n_2022, ...)                                           \
	static const struct label labels_##sym[] = {__VA_ARGS__{"", 0}};
#include "events.def"
#undef EVT

/* Texts that are the same for all events of a type. */
struct event_text {
	char type[31]; /* with a space: copied whole, faster than its length is */
	uint8_t n_type;
	const struct label *labels;
};

#define EVT(id, sym, name, ...) [EVT_INDEX(id)] = {name " ", sizeof(name), labels_##sym},
static const struct event_text event_texts[EVT_INDEX_MAX] = {
#include "events.def"
};
#include "undef_rows.h"

static const struct event_text *event_text(unsigned int id)
{
	return &event_texts[evt_index(id)];
}

static int is_generic(const struct sinsp_evt *evt)
{
	return evt->info->id == EVT_SYSCALL_E || evt->info->id == EVT_SYSCALL_X;
}

static const char no_name[] = "<unknown>";

/* Returns the name of a generic event's call; NULL: its number has no name. */
static const char *call_name(const struct sinsp_evt *evt)
{
	const char *name = NULL;
	uint16_t code;

	if (evt->raw.nr != REC_NR_NONE)
		name = scap_syscall_name(evt->raw.nr, !!(evt->raw.flags & SCAP_EVT_F_IA32));
	if (!name && evt->params.n && evt->params.v[0].len >= sizeof(code)) {
		memcpy(&code, evt->params.v[0].p, sizeof(code));
		name = code ? scap_ppm_sc_name(code) : NULL;
	}
	return name;
}

/*
 * Chooses the parameters that are shown. Shows the parameters of 2022, as sysdig does; appended
 * ones, most of them of the enter, only if the enter has no line of its own. The first two of a
 * generic call name the call, which is already shown, unless the number has no name; sysdig does
 * not have its result.
 */
static void shown_params(const struct sinsp_evt *evt, unsigned int *first, unsigned int *end)
{
	const int all = evt->show_full || is_generic(evt);
	unsigned int n = all ? evt->info->n_params : evt->info->n_2022;

	if (n > evt->params.n)
		n = evt->params.n;
	*first = !is_generic(evt) ? 0 : evt->show_full && !call_name(evt) ? 1 : 2;
	*end = n;
}

/* Returns whether only some events of the type have the parameter, which is saker's own. */
static int is_missing_own(const struct sinsp_evt *evt, unsigned int i)
{
	return !evt->params.v[i].len && evt->info->params[i].own;
}

/* Writes remarks about the arguments as a whole. */
static __attribute__((noinline)) char *put_notes(struct value_writer *w, char *p)
{
	static const char changed[] = "args_changed=1 ", before[] = "began_before_capture=1 ";

	p = text_room(w->out, p, sizeof(changed) + sizeof(before));
	if (p && w->evt->raw.flags & SCAP_EVT_F_CHANGED)
		p = put_mem(p, changed, sizeof(changed) - 1);
	if (p && w->evt->raw.flags & SCAP_EVT_F_BEFORE)
		p = put_mem(p, before, sizeof(before) - 1);
	return p;
}

/* Writes parameters @i to @end. */
static inline char *put_params(struct value_writer *w, char *p, unsigned int i, unsigned int end)
{
	const struct label *label = event_text(w->evt->info->id)->labels;

	for (; i < end; i++) {
		if (is_missing_own(w->evt, i))
			continue;
		p = text_room(w->out, p, sizeof(*label) + VALUE_ROOM);
		if (!p)
			return NULL;
		memcpy(p, label[i].text, sizeof(label[i].text));
		p = sinsp_value_put(w, p + label[i].len, i);
		if (!p)
			return NULL;
		*p++ = ' ';
	}
	return p;
}

static __attribute__((noinline)) char *put_without_env(struct value_writer *w, char *p,
						       unsigned int i, unsigned int end)
{
	const int env = scap_event_param(w->evt->info->id, "env");

	if (env < (int)i || env >= (int)end)
		return put_params(w, p, i, end);
	p = put_params(w, p, i, (unsigned int)env);
	return p ? put_params(w, p, (unsigned int)env + 1, end) : NULL;
}

char *sinsp_args_put(struct value_writer *w, char *p)
{
	const uint16_t noted = SCAP_EVT_F_CHANGED | SCAP_EVT_F_BEFORE;
	unsigned int i, end;

	shown_params(w->evt, &i, &end);
	p = w->no_env && w->evt->info->category == EC_PROCESS ? put_without_env(w, p, i, end)
							      : put_params(w, p, i, end);
	return p && w->evt->raw.flags & noted ? put_notes(w, p) : p;
}

static int may_be_syslog(const struct sinsp_evt *evt)
{
	return evt->info->flags & EF_WRITES_TO_FD && evt->fd && evt->fd->type == SCAP_FD_UNIX_SOCK;
}

char *sinsp_info_put(struct value_writer *w, char *p)
{
	struct syslog_message m;
	const char *severity;

	if (!may_be_syslog(w->evt) || !syslog_message_read(&m, w->evt))
		return sinsp_args_put(w, p);
	severity = syslog_severity(&m);
	p = text_room(w->out, p, m.len + VALUE_ROOM);
	if (!p)
		return NULL;
	p = put_mem(put_lit(p, "syslog sev="), severity, strlen(severity));
	return put_utf8(put_lit(p, " msg="), m.text, m.len);
}

char *sinsp_type_put(struct value_writer *w, char *p)
{
	const struct event_text *text = event_text(w->evt->info->id);
	const char *type = is_generic(w->evt) ? sinsp_evt_type(w->evt) : NULL;
	const size_t n = type ? strlen(type) : sizeof(text->type);

	p = text_room(w->out, p, n + sizeof(") <  "));
	if (!p)
		return NULL;
	p = evt_is_enter(w->evt->info->id) ? put_lit(p, ") > ") : put_lit(p, ") < ");
	if (!type) {
		put_mem(p, text->type, sizeof(text->type));
		return p + text->n_type;
	}
	p = put_mem(p, type, n);
	*p = ' ';
	return p + 1;
}

int sinsp_evt_info(struct sinsp_text *out, const struct sinsp_evt *evt, enum sinsp_buf_fmt buf_fmt)
{
	struct value_writer w = {
		.out = out, .evt = evt, .buf_fmt = buf_fmt, .buf_max = VALUE_BUF_MAX};
	char *p = text_begin(out, VALUE_ROOM);

	return text_end(out, p ? sinsp_info_put(&w, p) : NULL);
}

const char *sinsp_evt_type(const struct sinsp_evt *evt)
{
	return is_generic(evt) ? call_name(evt) ?: no_name : evt->info->name;
}

void sinsp_generic_types(void (*fn)(void *ctx, const char *type), void *ctx)
{
	scap_syscall_each_name(fn, ctx);
	fn(ctx, no_name);
}

/* By event: the index of the parameter res; -1: it has none. */
static int8_t results[EVT_INDEX_MAX];

static void find_results(void)
{
	evt_param_find_all(results, "res");
}

int sinsp_evt_result(const struct sinsp_evt *evt, int64_t *res)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int8_t at;

	pthread_once(&once, find_results);
	at = results[evt_index(evt->info->id)];
	if (at < 0 && evt->info->flags & EF_CREATES_FD && !evt_is_enter(evt->info->id))
		at = 0; /* the descriptor */
	if (at < 0 || (unsigned int)at >= evt->params.n || evt->params.v[at].len != sizeof(*res))
		return 0;
	*res = (int64_t)get_u64(evt->params.v[at].p);
	return 1;
}
