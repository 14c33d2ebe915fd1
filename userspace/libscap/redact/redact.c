/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which values are overwritten, and how. Values are read in the original and overwritten in a copy,
 * so no pattern sees the asterisks of another one. What is unknown is overwritten as a whole:
 * parameters that the event table lacks, and bytes behind the parameters.
 */
#include "redact.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "event/messages.h"
#include "redact_pattern.h"

#define BUFFERS SCAP_REDACT_BUFFERS
#define ARGS SCAP_REDACT_ARGS
#define ENV SCAP_REDACT_ENV

enum shape {
	NONE, /* numbers, and what describes code */
	BYTES,
	STRINGS, /* a NUL ends each */
	ARGV, /* the same: the first is the name of the program */
	ADDRESS, /* PT_SOCKADDR */
	TUPLE, /* PT_SOCKTUPLE */
	MESSAGES, /* messages.h */
	DYN, /* PT_DYN */
	JSON, /* a container, with lists that are named as kinds are */
	SHAPE_MAX
};

struct rule {
	uint8_t shape;
	uint8_t kinds; /* of the value; 0: only patterns overwrite it */
};

/* Rules by type; others have none. */
static const struct rule type_rules[PT_MAX] = {
	[PT_BYTEBUF] = {BYTES, BUFFERS},  [PT_CHARBUF] = {STRINGS, 0},
	[PT_FSPATH] = {STRINGS, 0},       [PT_FSRELPATH] = {STRINGS, 0},
	[PT_CHARBUFARRAY] = {STRINGS, 0}, [PT_CHARBUF_PAIR_ARRAY] = {STRINGS, 0},
	[PT_SOCKADDR] = {ADDRESS, 0},     [PT_SOCKTUPLE] = {TUPLE, 0},
	[PT_DYN] = {DYN, BUFFERS},
};

/* Rules of parameters that differ from those of their type. */
/* clang-format off */
static const struct {
	const char *name;
	uint8_t type;
	struct rule rule;
} param_rules[] = {
	{"args", PT_BYTEBUF, {STRINGS, ARGS}},
	{"argv", PT_CHARBUFARRAY, {ARGV, ARGS}},
	{"env", PT_BYTEBUF, {STRINGS, ENV}},
	{"env", PT_CHARBUFARRAY, {STRINGS, ENV}},
	{"json", PT_CHARBUF, {JSON, ARGS | ENV}},
	{"cgroups", PT_BYTEBUF, {STRINGS, 0}},
	{"messages", PT_BYTEBUF, {MESSAGES, BUFFERS}},
	{"msgcontrol", PT_BYTEBUF, {BYTES, 0}}, /* passed descriptors */
	{"value_charbuf", PT_CHARBUF, {STRINGS, BUFFERS}}, /* fsconfig: may be a password */
	{"callout_info", PT_CHARBUF, {STRINGS, BUFFERS}},
	/* Derived from buffers: requests and markers. */
	{"resource", PT_CHARBUF, {STRINGS, BUFFERS}},
	{"statement", PT_CHARBUF, {STRINGS, BUFFERS}},
	{"error_text", PT_CHARBUF, {STRINGS, BUFFERS}},
	{"tags", PT_CHARBUFARRAY, {STRINGS, BUFFERS}},
	{"args", PT_CHARBUF_PAIR_ARRAY, {STRINGS, BUFFERS}},
	/* Code: names of functions and files, and tables. */
	{"function_text", PT_BYTEBUF, {BYTES, 0}},
	{"file_text", PT_BYTEBUF, {BYTES, 0}},
	{"lines", PT_BYTEBUF, {BYTES, 0}},
	{"line_table", PT_BYTEBUF, {NONE, 0}},
	{"line_bases", PT_BYTEBUF, {NONE, 0}},
	{"build_id", PT_BYTEBUF, {NONE, 0}},
	/* Lists of numbers. */
	{"mnt_ids", PT_BYTEBUF, {NONE, 0}},
	{"ns_ids", PT_BYTEBUF, {NONE, 0}},
};

static const struct {
	const char *name;
	unsigned int kind;
} kinds[] = {
	{"buffers", BUFFERS},
	{"args", ARGS},
	{"env", ENV},
	{NULL, 0},
};
/* clang-format on */

struct scap_redact {
	unsigned int kinds;
	struct redact_pattern **patterns;
	size_t n_patterns;
	struct scap_redact_counts counts;
	uint8_t *scratch; /* originals of text that is overwritten in place */
	size_t scratch_sz;
	struct rule rules[EVT_INDEX_MAX][EVT_MAX_PARAMS];
	struct rule all[EVT_INDEX_MAX]; /* of all parameters of an event: any shape, all kinds */
};

/* ---- what is overwritten ---- */

static struct rule rule_of(const struct scap_param_info *param)
{
	for (size_t i = 0; i < sizeof(param_rules) / sizeof(param_rules[0]); i++)
		if (param_rules[i].type == param->type && !strcmp(param_rules[i].name, param->name))
			return param_rules[i].rule;
	return type_rules[param->type];
}

static void set_rules(void *ctx, const struct scap_event_info *info)
{
	struct scap_redact *r = ctx;
	const unsigned int row = evt_index(info->id);

	r->all[row] = (struct rule){0};
	for (unsigned int i = 0; i < info->n_params; i++) {
		const struct rule rule = rule_of(&info->params[i]);

		r->rules[row][i] = rule;
		r->all[row].shape |= rule.shape;
		r->all[row].kinds |= rule.kinds;
	}
}

int scap_redact_new(struct scap_redact **out)
{
	const struct rule unknown = {BYTES, BUFFERS | ARGS | ENV};
	struct scap_redact *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < EVT_INDEX_MAX; i++) {
		r->all[i] = unknown;
		for (size_t j = 0; j < EVT_MAX_PARAMS; j++)
			r->rules[i][j] = unknown;
	}
	scap_event_each(set_rules, r);
	*out = r;
	return 0;
}

void scap_redact_free(struct scap_redact *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_patterns; i++)
		redact_pattern_free(r->patterns[i]);
	free(r->patterns);
	free(r->scratch);
	free(r);
}

const char *scap_redact_name(unsigned int i)
{
	return kinds[i].name;
}

int scap_redact_add(struct scap_redact *r, const char *name)
{
	for (size_t i = 0; kinds[i].name; i++) {
		if (!strcmp(kinds[i].name, name)) {
			r->kinds |= kinds[i].kind;
			return 0;
		}
	}
	return -ENOENT;
}

int scap_redact_add_pattern(struct scap_redact *r, const char *text, size_t len, char *why,
			    size_t *at)
{
	struct redact_pattern **v =
		realloc(r->patterns, (r->n_patterns + 1) * sizeof(struct redact_pattern *));
	int err;

	if (!v)
		return -ENOMEM;
	r->patterns = v;
	err = redact_pattern_new(&v[r->n_patterns], text, len, why, at);
	if (!err)
		r->n_patterns++;
	return err;
}

unsigned int scap_redact_kinds(const struct scap_redact *r)
{
	return r->kinds;
}

void scap_redact_get_counts(const struct scap_redact *r, struct scap_redact_counts *counts)
{
	*counts = r->counts;
}

void scap_redact_restart(struct scap_redact *r)
{
	r->counts = (struct scap_redact_counts){0};
}

/* ---- values ---- */

struct value {
	uint8_t *to; /* in the copy */
	const uint8_t *from; /* in the original */
	size_t len;
};

static struct value part(const struct value *v, size_t at, size_t len)
{
	return (struct value){v->to + at, v->from + at, len};
}

/* Returns where the value begins in NAME=VALUE; 0: it is something else. A pattern may have
 * overwritten some of the name before. */
static size_t name_length(const struct value *v)
{
	size_t n = 0;

	while (n < v->len && (isalnum(v->from[n]) || v->from[n] == '_' || v->from[n] == '*'))
		n++;
	return n && n < v->len && v->from[n] == '=' ? n + 1 : 0;
}

/* Overwrites all behind @kept bytes. */
static void overwrite(struct scap_redact *r, const struct value *v, size_t kept)
{
	if (kept == v->len)
		return;
	memset(v->to + kept, '*', v->len - kept);
	r->counts.n++;
}

static void overwrite_string(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	if (kind)
		overwrite(r, v, kind == ENV ? name_length(v) : 0);
}

/* Returns nonzero if the whole value was overwritten, as a search took too much work. */
static int put_patterns(struct scap_redact *r, const struct value *v)
{
	for (size_t i = 0; i < r->n_patterns; i++) {
		const int n = redact_pattern_apply(r->patterns[i], v->to, v->from, v->len);

		r->counts.n += n < 0 ? 1 : (unsigned int)n;
		r->counts.n_unsearched += n < 0;
		if (n < 0)
			return n;
	}
	return 0;
}

static void put_bytes(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	if (!put_patterns(r, v) && kind)
		overwrite(r, v, 0);
}

static void put_strings(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	for (size_t at = 0, len; at < v->len; at += len + 1) {
		struct value one;

		len = strnlen((const char *)v->from + at, v->len - at);
		one = part(v, at, len);
		if (!put_patterns(r, &one))
			overwrite_string(r, kind, &one);
	}
}

static void put_argv(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	const size_t len = strnlen((const char *)v->from, v->len);
	const struct value name = part(v, 0, len), rest = part(v, len, v->len - len);

	put_bytes(r, 0, &name);
	put_strings(r, kind, &rest);
}

/* Addresses of IP are numbers. Those of unix sockets have a path from @at on. */
static void put_path_of(struct scap_redact *r, const struct value *v, size_t at)
{
	struct value path;

	if (!v->len || v->from[0] == AF_INET || v->from[0] == AF_INET6)
		return;
	if (v->from[0] != AF_UNIX)
		at = 1;
	if (v->len <= at)
		return;
	path = part(v, at, v->len - at);
	put_strings(r, 0, &path);
}

static void put_address(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	(void)kind;
	put_path_of(r, v, 1);
}

static void put_tuple(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	(void)kind;
	put_path_of(r, v, 1 + 2 * sizeof(uint64_t));
}

/* Entries as of a second message: those of the first have no data, unless they are malformed. */
static void put_messages(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	struct scap_messages it = {.rest = {v->from, (uint32_t)v->len}, .n = 1};
	struct scap_message m;
	struct value rest;

	while (scap_messages_next(&it, &m)) {
		const struct value tuple = part(v, (size_t)(m.tuple.p - v->from), m.tuple.len),
				   data = part(v, (size_t)(m.data.p - v->from), m.data.len);

		put_tuple(r, 0, &tuple);
		put_bytes(r, kind, &data);
	}
	rest = part(v, v->len - it.rest.len, it.rest.len);
	put_bytes(r, kind, &rest);
}

/* ---- JSON ---- */

/* Returns the end of the string that begins at @at: its quote, or the end of the text. */
static size_t json_string_end(const struct value *v, size_t at)
{
	while (at < v->len && v->from[at] != '"')
		at += v->from[at] == '\\' ? 2 : 1;
	return at < v->len ? at : v->len;
}

/* Returns the kind that is named by the string before @at if a list follows it there; else 0. */
static unsigned int json_list_kind(const struct value *v, const struct value *name, size_t at)
{
	while (at < v->len && (isspace(v->from[at]) || v->from[at] == ':'))
		at++;
	if (at >= v->len || v->from[at] != '[')
		return 0;
	for (size_t i = 0; kinds[i].name; i++)
		if (strlen(kinds[i].name) == name->len &&
		    !memcmp(kinds[i].name, name->from, name->len))
			return kinds[i].kind;
	return 0;
}

static void put_json(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	unsigned int list = 0;

	put_strings(r, 0, v);
	for (size_t at = 0; at < v->len; at++) {
		const size_t begin = at + 1;
		struct value text;

		if (v->from[at] == ']')
			list = 0;
		if (v->from[at] != '"')
			continue;
		at = json_string_end(v, begin);
		text = part(v, begin, at - begin);
		if (list)
			overwrite_string(r, list, &text);
		else
			list = json_list_kind(v, &text, at + 1) & kind;
	}
}

static void put_none(struct scap_redact *r, unsigned int kind, const struct value *v)
{
	(void)r, (void)kind, (void)v;
}

static void (*const put_shape[SHAPE_MAX])(struct scap_redact *r, unsigned int kind,
					  const struct value *v) = {
	[NONE] = put_none,         [BYTES] = put_bytes,     [STRINGS] = put_strings,
	[ARGV] = put_argv,         [ADDRESS] = put_address, [TUPLE] = put_tuple,
	[MESSAGES] = put_messages, [DYN] = put_none,        [JSON] = put_json,
};

/* ---- events ---- */

static unsigned int dyn_shape(unsigned int event, const struct value *v)
{
	const unsigned int type = scap_dyn_type(event, v->from[0]);

	return type == PT_NONE ? BYTES : type_rules[type].shape;
}

static void put_param(struct scap_redact *r, unsigned int event, struct rule rule,
		      const struct value *v)
{
	unsigned int shape = rule.shape;
	struct value value = *v;

	if (!v->len)
		return;
	if (shape == DYN) {
		shape = dyn_shape(event, v);
		value = part(v, 1, v->len - 1);
	}
	put_shape[shape](r, rule.kinds & r->kinds, &value);
}

/* Returns the number of bytes before those that belong to no parameter. */
static uint32_t used_length(const struct ppm_evt_hdr *evt, const struct scap_params *ps)
{
	const struct scap_param *last = ps->n ? &ps->v[ps->n - 1] : NULL;
	uint64_t lens;

	if (last)
		return (uint32_t)(last->p - (const uint8_t *)evt) + last->len;
	lens = sizeof(*evt) + evt->nparams * (uint64_t)scap_evt_len_sz(evt->type);
	return lens < evt->len ? (uint32_t)lens : evt->len;
}

int scap_redact_wants(const struct scap_redact *r, const struct ppm_evt_hdr *evt,
		      const struct scap_params *ps)
{
	const struct scap_event_info *info = scap_event_info(evt->type);
	const struct rule *all = &r->all[evt_index(evt->type)];

	return all->kinds & r->kinds || (all->shape && r->n_patterns) || !info ||
	       ps->n > info->n_params || used_length(evt, ps) < evt->len;
}

void scap_redact_event(struct scap_redact *r, void *copy, const struct ppm_evt_hdr *evt,
		       const struct scap_params *ps)
{
	const struct value whole = {copy, (const uint8_t *)evt, evt->len};
	const struct rule *rules = r->rules[evt_index(evt->type)];
	const uint32_t used = used_length(evt, ps);

	for (unsigned int i = 0; i < ps->n; i++) {
		const struct value v =
			part(&whole, (size_t)(ps->v[i].p - whole.from), ps->v[i].len);

		put_param(r, evt->type, rules[i], &v);
	}
	memset(whole.to + used, '*', evt->len - used);
}

/* ---- state ---- */

/* Returns a copy of text that is overwritten in place; NULL: no memory. */
static const uint8_t *original(struct scap_redact *r, const void *p, size_t len)
{
	if (r->scratch_sz < len) {
		uint8_t *scratch = realloc(r->scratch, len);

		if (!scratch)
			return NULL;
		r->scratch = scratch;
		r->scratch_sz = len;
	}
	return memcpy(r->scratch, p, len);
}

/* Threads of a process share text: @last is that of the thread before. */
static void put_list(struct scap_redact *r, unsigned int kind, struct scap_text list,
		     const char *last)
{
	struct value v = {(uint8_t *)list.p, NULL, list.len};

	if (!list.len || list.p == last || !(kind & r->kinds || r->n_patterns))
		return;
	v.from = original(r, list.p, list.len);
	if (v.from)
		put_strings(r, kind & r->kinds, &v);
	else
		memset(v.to, '*', v.len);
}

static void put_text(struct scap_redact *r, const char *text, const char *last)
{
	if (text != last)
		put_list(r, 0, (struct scap_text){text, strlen(text)}, last);
}

/* The enter event of the call that the thread is in. */
static void put_enter(struct scap_redact *r, const struct scap_thread_so_far *f)
{
	const struct ppm_evt_hdr *evt;
	struct scap_params params;

	if (!f->enter.len)
		return;
	evt = (const struct ppm_evt_hdr *)original(r, f->enter.p, f->enter.len);
	if (evt && !scap_evt_params(evt, &params))
		scap_redact_event(r, (void *)f->enter.p, evt, &params);
	else /* no memory */
		((struct scap_thread_so_far *)f)->enter.len = 0;
}

/* Text that only a state in the middle of a capture has. */
static void put_known_text(struct scap_redact *r, const char *text)
{
	if (text)
		put_text(r, text, NULL);
}

static void put_thread(struct scap_redact *r, const struct scap_thread_info *t,
		       const struct scap_thread_info *last)
{
	put_text(r, t->comm, last->comm);
	put_text(r, t->exe, last->exe);
	put_text(r, t->exepath, last->exepath);
	put_text(r, t->cwd, last->cwd);
	put_text(r, t->root, last->root);
	put_list(r, ARGS, t->args, last->args.p);
	put_list(r, ENV, t->env, last->env.p);
	put_list(r, 0, t->cgroups, last->cgroups.p);
	put_enter(r, &t->so_far);
	for (size_t i = 0; i < t->n_fds; i++) {
		put_text(r, t->fds[i].name, NULL);
		put_known_text(r, t->fds[i].so_far.shown);
		put_known_text(r, t->fds[i].so_far.given);
	}
}

void scap_redact_state(struct scap_redact *r, const struct scap_state *st)
{
	static const struct scap_thread_info none;

	for (size_t i = 0; i < st->n_threads; i++)
		put_thread(r, &st->threads[i], i ? &st->threads[i - 1] : &none);
	for (size_t i = 0; i < st->n_users; i++) {
		put_text(r, st->users[i].name, NULL);
		put_text(r, st->users[i].home, NULL);
		put_text(r, st->users[i].shell, NULL);
	}
	for (size_t i = 0; i < st->n_groups; i++)
		put_text(r, st->groups[i].name, NULL);
	for (size_t i = 0; i < st->n_ifaces; i++)
		put_text(r, st->ifaces[i].name, NULL);
}
