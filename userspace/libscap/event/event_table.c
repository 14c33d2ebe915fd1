/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of events.def and flags.def. A type is its index; two rows with one type do not
 * compile. */
#include "event/event_table.h"

#include <errno.h>
#include <string.h>

#include "shared/stack.h"

#define FLAG_TABLE_BEGIN(table) static const struct scap_flag_name flags_##table[] = {
#define FLAG(table, text, val) {text, val},
#define FLAG_TABLE_END(table)                                                                      \
	{                                                                                          \
		NULL, 0                                                                            \
	}                                                                                          \
	}                                                                                          \
	;
#include "flags.def"
#undef FLAG_TABLE_BEGIN
#undef FLAG
#undef FLAG_TABLE_END

/* One array of parameters per event, with an empty one last, since C has no empty arrays. */
#define P(pname, ptype, pfmt) {.name = #pname, .type = PT_##ptype, .fmt = PF_##pfmt, .dirfd = -1},
#define PX(pname, ptype, pfmt, table)                                                              \
	{.name = #pname, .type = PT_##ptype, .fmt = PF_##pfmt, .dirfd = -1, .flags = flags_##table},
#define PR(pname, ptype, pfmt, dir)                                                                \
	{.name = #pname, .type = PT_##ptype, .fmt = PF_##pfmt, .dirfd = dir},
#define O(pname, ptype, pfmt)                                                                      \
	{.name = #pname, .type = PT_##ptype, .fmt = PF_##pfmt, .dirfd = -1, .own = 1},
#define OX(pname, ptype, pfmt, table)                                                              \
	{.name = #pname,                                                                           \
	 .type = PT_##ptype,                                                                       \
	 .fmt = PF_##pfmt,                                                                         \
	 .dirfd = -1,                                                                              \
	 .own = 1,                                                                                 \
	 .flags = flags_##table},
#define PL(pname, of)                                                                              \
	{.name = #pname, .type = PT_LIST, .fmt = PF_NA, .dirfd = -1, .list = list_##of},
#define OL(pname, of)                                                                              \
	{.name = #pname, .type = PT_LIST, .fmt = PF_NA, .dirfd = -1, .own = 1, .list = list_##of},
#define LIST(of, ...) static const struct scap_param_info list_##of[] = {__VA_ARGS__{.dirfd = -1}};
#include "lists.def"
#undef LIST
#define EVT(id, sym, name, category, flags, n_2022, ...)                                           \
	static const struct scap_param_info params_##sym[] = {__VA_ARGS__{.dirfd = -1}};
#include "events.def"
#include "undef_rows.h"

#define P(...) +1
#define PX(...) +1
#define PR(...) +1
#define PL(...) +1
#define O(...) +0
#define OX(...) +0
#define OL(...) +0
#define EVT(evt_id, evt_sym, evt_name, cat, evt_flags, n22, ...)                                   \
	[EVT_INDEX(evt_id)] = {.name = evt_name,                                                   \
			       .sym = #evt_sym,                                                    \
			       .id = evt_id,                                                       \
			       .category = cat,                                                    \
			       .flags = evt_flags,                                                 \
			       .n_2022 = n22,                                                      \
			       .n_public = 0 __VA_ARGS__,                                          \
			       .n_params =                                                         \
				       sizeof(params_##evt_sym) / sizeof(params_##evt_sym[0]) - 1, \
			       .params = params_##evt_sym},
static const struct scap_event_info events[EVT_INDEX_MAX] = {
#include "events.def"
};
#include "undef_rows.h"

const struct scap_event_info *scap_event_info(unsigned int type)
{
	const struct scap_event_info *info = &events[evt_index(type)];

	return info->name ? info : NULL;
}

void scap_event_each(void (*fn)(void *ctx, const struct scap_event_info *info), void *ctx)
{
	for (size_t i = 0; i < EVT_INDEX_MAX; i++)
		if (events[i].name)
			fn(ctx, &events[i]);
}

struct dyn_type {
	uint16_t event; /* 0: all others */
	uint8_t parts[5]; /* types, by the index that the value begins with; PT_NONE: no such index
			   */
};

static const struct dyn_type dyn_types[] = {
	{EVT_SETSOCKOPT_X, {PT_BYTEBUF, PT_ERRNO, PT_UINT32, PT_UINT64, PT_RELTIME}},
	{EVT_GETSOCKOPT_X, {PT_BYTEBUF, PT_ERRNO, PT_UINT32, PT_UINT64, PT_RELTIME}},
	{EVT_PTRACE_X, {PT_UINT64, PT_SIGTYPE}},
	{EVT_KEYCTL_X, {PT_INT64, PT_CHARBUF}},
	{0, {PT_FD, PT_ERRNO}},
};

unsigned int scap_dyn_type(unsigned int event, uint8_t index)
{
	const struct dyn_type *t = dyn_types;

	while (t->event && t->event != event)
		t++;
	return index < sizeof(t->parts) ? t->parts[index] : PT_NONE;
}

size_t scap_evt_len_sz(unsigned int type)
{
	/* The flags of an unknown type are 0. */
	return events[evt_index(type)].flags & EF_LARGE_PAYLOAD ? sizeof(uint32_t)
								: sizeof(uint16_t);
}

static inline uint32_t read_len(const uint8_t *lens, unsigned int i, size_t len_sz)
{
	uint16_t l16;
	uint32_t l32;

	if (len_sz == sizeof(l16)) {
		memcpy(&l16, lens + i * sizeof(l16), sizeof(l16));
		return l16;
	}
	memcpy(&l32, lens + i * sizeof(l32), sizeof(l32));
	return l32;
}

/* Returns how many of the first @n parameters fit into @room bytes. */
static unsigned int n_fitting(const struct scap_param *v, unsigned int n, size_t room)
{
	unsigned int i = 0;

	for (; i < n && v[i].len <= room; i++)
		room -= v[i].len;
	return i;
}

/* Inlined twice, with len_sz constant: this runs for every event. */
static inline __attribute__((always_inline)) int split(const struct ppm_evt_hdr *evt,
						       struct scap_params *out, size_t len_sz)
{
	const uint8_t *lens = (const uint8_t *)(evt + 1);
	const uint32_t n = evt->nparams;
	size_t at = sizeof(*evt) + n * len_sz;

	out->n = 0;
	if (n > EVT_MAX_PARAMS || evt->len < at)
		return -EBADMSG;
	for (unsigned int i = 0; i < n; i++) {
		const uint32_t len = read_len(lens, i, len_sz);

		out->v[i].p = (const uint8_t *)evt + at;
		out->v[i].len = len;
		at += len;
	}
	out->n = n;
	if (at <= evt->len)
		return 0;
	out->n = n_fitting(out->v, n, evt->len - sizeof(*evt) - n * len_sz);
	return -EBADMSG;
}

int scap_evt_params(const struct ppm_evt_hdr *evt, struct scap_params *out)
{
	if (scap_evt_len_sz(evt->type) == sizeof(uint32_t))
		return split(evt, out, sizeof(uint32_t));
	return split(evt, out, sizeof(uint16_t));
}

int scap_event_param(unsigned int type, const char *name)
{
	const struct scap_event_info *info = scap_event_info(type);

	for (int i = 0; info && i < info->n_params; i++)
		if (strcmp(info->params[i].name, name) == 0)
			return i;
	return -ENOENT;
}

int scap_evt_u64(const struct ppm_evt_hdr *evt, const char *name, uint64_t *v)
{
	const int at = scap_event_param(evt->type, name);
	struct scap_params ps;

	if (at < 0)
		return at;
	if (scap_evt_params(evt, &ps))
		return -EBADMSG;
	if ((unsigned int)at >= ps.n || ps.v[at].len != sizeof(*v))
		return -ENOENT;
	*v = get_u64(ps.v[at].p);
	return 0;
}
