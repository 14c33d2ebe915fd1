/* SPDX-License-Identifier: Apache-2.0 */
/* Projects one event onto another type by parameter names: an exit onto its enter, a newer event
 * onto its type of 2022. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event/event_table.h"

size_t scap_param_size(unsigned int param_type)
{
	switch (param_type) {
	case PT_INT8:
	case PT_UINT8:
	case PT_SIGTYPE:
	case PT_FLAGS8:
	case PT_ENUMFLAGS8:
	case PT_L4PROTO:
	case PT_SOCKFAMILY:
		return 1;
	case PT_INT16:
	case PT_UINT16:
	case PT_SYSCALLID:
	case PT_PORT:
	case PT_FLAGS16:
	case PT_ENUMFLAGS16:
		return 2;
	case PT_INT32:
	case PT_UINT32:
	case PT_BOOL:
	case PT_IPV4ADDR:
	case PT_FLAGS32:
	case PT_ENUMFLAGS32:
	case PT_UID:
	case PT_GID:
	case PT_SIGSET:
	case PT_MODE:
	case PT_FD32:
	case PT_PID32:
	case PT_WAITSTATUS:
		return 4;
	case PT_INT64:
	case PT_UINT64:
	case PT_ERRNO:
	case PT_FD:
	case PT_PID:
	case PT_RELTIME:
	case PT_ABSTIME:
	case PT_DOUBLE:
	case PT_SIGSET64:
	case PT_FLAGS64:
	case PT_ENUMFLAGS64:
		return 8;
	case PT_IPV6ADDR:
		return 16;
	default:
		return 0;
	}
}

static int is_signed(unsigned int param_type)
{
	switch (param_type) {
	case PT_INT8:
	case PT_INT16:
	case PT_INT32:
	case PT_INT64:
	case PT_ERRNO:
	case PT_FD:
	case PT_PID:
	case PT_FD32:
	case PT_PID32:
		return 1;
	default:
		return 0;
	}
}

/* sysdig 0.29.3 reads these without checking the length: a shorter value makes it read into the
 * next parameter. */
static size_t min_size(unsigned int param_type)
{
	switch (param_type) {
	case PT_CHARBUF:
	case PT_FSPATH:
	case PT_FSRELPATH:
		return 1;
	case PT_FDLIST:
		return sizeof(uint16_t);
	case PT_DYN:
		return 1 + sizeof(uint64_t);
	default:
		return scap_param_size(param_type);
	}
}

/* Flags of two different tables share only the name. */
static int same_meaning(const struct scap_param_info *a, const struct scap_param_info *b)
{
	return !a->flags || !b->flags || a->flags == b->flags;
}

static int find_param(const struct scap_event_info *info, const char *name,
		      const struct scap_param_info *like)
{
	for (unsigned int i = 0; i < info->n_params; i++)
		if (!strcmp(info->params[i].name, name) && same_meaning(&info->params[i], like))
			return (int)i;
	return -1;
}

/* If a parameter differs between enter and exit, the exit has the enter's value as NAME_in. */
static int find_input(const struct scap_event_info *src, const struct scap_param_info *p)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_in", p->name);
	return find_param(src, name, p);
}

static int find_source(const struct scap_event_info *dst, const struct scap_event_info *src,
		       const struct scap_param_info *p)
{
	int i = evt_is_enter(dst->id) ? find_input(src, p) : -1;

	if (i < 0)
		i = find_param(src, p->name, p);
	return i < 0 && !strcmp(p->name, "fd") ? find_param(src, "oldfd", p) : i;
}

/* Flags that the driver adds to those of an open file once the call has succeeded. */
static uint32_t result_bits(const struct scap_event_info *dst, const struct scap_param_info *p)
{
	static const uint32_t created = 1u << 14, upper_layer = 1u << 15, lower_layer = 1u << 16;

	if (!evt_is_enter(dst->id) || p->flags != scap_event_info(EVT_OPEN_E)->params[1].flags)
		return 0;
	return created | upper_layer | lower_layer;
}

/* Unknown limits are -1, as other writers have them; 0 would be a limit. */
static int is_limit(const struct scap_event_info *dst, const struct scap_param_info *p)
{
	return p->type == PT_INT64 && strcmp(p->name, "pid") &&
	       (dst->id == EVT_GETRLIMIT_X || dst->id == EVT_SETRLIMIT_X ||
		dst->id == EVT_PRLIMIT_X);
}

/* Other tools never read it: it may be empty. */
static int is_ours(const struct scap_event_info *dst, const struct scap_param_info *p)
{
	return p->own || evt_is_own_call(dst->id);
}

/* Returns n_from. */
static uint8_t all_plain(const struct scap_projection *pr)
{
	uint8_t n = 1;

	if (pr->len_sz != sizeof(uint16_t))
		return 0;
	for (unsigned int i = 0; i < pr->n; i++) {
		if (!pr->v[i].plain || pr->v[i].from < 0)
			return 0;
		if (pr->v[i].from >= n)
			n = (uint8_t)(pr->v[i].from + 1);
	}
	return n;
}

int scap_projection_init(struct scap_projection *pr, unsigned int type, unsigned int n_params,
			 unsigned int src_type)
{
	const struct scap_event_info *dst = scap_event_info(type);
	const struct scap_event_info *src = scap_event_info(src_type);

	if (!dst || !src)
		return -EINVAL;
	pr->type = type;
	pr->len_sz = scap_evt_len_sz(type);
	pr->n = n_params ? n_params : dst->n_public;
	if (pr->n > dst->n_params)
		pr->n = dst->n_params;
	for (unsigned int i = 0; i < pr->n; i++) {
		const struct scap_param_info *p = &dst->params[i];
		struct scap_projection_param *v = &pr->v[i];

		v->from = find_source(dst, src, p);
		v->size = scap_param_size(p->type);
		v->is_signed = v->from >= 0 && is_signed(src->params[v->from].type);
		v->min = !is_ours(dst, p) && (i < dst->n_2022 || v->from < 0) ? min_size(p->type)
									      : 0;
		v->clear = result_bits(dst, p);
		v->absent = v->min && is_limit(dst, p) ? 0xff : 0;
		v->plain = !v->clear && v->size <= sizeof(uint64_t) ? v->size : 0;
	}
	pr->n_from = all_plain(pr);
	return 0;
}

/* Copies a number of @len bytes as one of @size bytes; an invalid size becomes 0. */
static void put_number(uint8_t *dst, size_t size, const uint8_t *src, size_t len, int sign)
{
	if (len >= size) {
		memcpy(dst, src, size);
		return;
	}
	memcpy(dst, src, len);
	memset(dst + len, sign && len && src[len - 1] & 0x80 ? 0xff : 0, size - len);
}

static void clear_bits(uint8_t *p, uint32_t bits)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	v &= ~bits;
	memcpy(p, &v, sizeof(v));
}

static size_t put_bytes(uint8_t *dst, size_t min, const uint8_t *src, size_t len)
{
	memcpy(dst, src, len);
	if (len >= min)
		return len;
	memset(dst + len, 0, min - len);
	return min;
}

/* Puts the value of @v, made from @from, at @p, before @end. Returns its length, or -ENOSPC. */
static int put_param(uint8_t *p, const uint8_t *end, const struct scap_projection_param *v,
		     const struct scap_param *from)
{
	const size_t len = from->len > v->size ? from->len : v->size;

	if ((size_t)(end - p) < len + v->min)
		return -ENOSPC;
	if (v->absent && !from->len) {
		memset(p, v->absent, v->size);
		return v->size;
	}
	if (!v->size || (!v->min && !from->len))
		return (int)put_bytes(p, v->min, from->p, from->len);
	put_number(p, v->size, from->p, from->len, v->is_signed);
	if (v->clear)
		clear_bits(p, v->clear);
	return v->size;
}

static void put_len(uint8_t *lens, unsigned int i, size_t len_sz, uint32_t len)
{
	uint16_t l16 = len;

	if (len_sz == sizeof(l16))
		memcpy(lens + i * sizeof(l16), &l16, sizeof(l16));
	else
		memcpy(lens + i * sizeof(len), &len, sizeof(len));
}

/* Puts the parameters behind the lengths. Returns their end, or NULL if there is no room. */
static __attribute__((noinline)) uint8_t *put_params(const struct scap_projection *pr,
						     uint8_t *lens, const uint8_t *end,
						     const struct scap_params *params,
						     struct scap_params *out)
{
	static const struct scap_param none = {(const uint8_t *)"", 0};
	uint8_t *p = lens + (size_t)pr->n * pr->len_sz;

	for (unsigned int i = 0; i < pr->n; i++) {
		const struct scap_projection_param *v = &pr->v[i];
		const int known = v->from >= 0 && (unsigned int)v->from < params->n;
		const int len = put_param(p, end, v, known ? &params->v[v->from] : &none);

		if (len < 0 || (pr->len_sz == sizeof(uint16_t) && len > UINT16_MAX))
			return NULL;
		put_len(lens, i, pr->len_sz, (uint32_t)len);
		out->v[i] = (struct scap_param){p, (uint32_t)len};
		p += len;
	}
	return p;
}

/* Works as put_params if all are plain (n_from), which is so for most calls and takes half the
 * time. Returns NULL also if one has not the size of its type. */
static inline uint8_t *put_plain(const struct scap_projection *pr, uint8_t *lens,
				 const uint8_t *end, const struct scap_params *params,
				 struct scap_params *out)
{
	const unsigned int n = pr->n;
	uint8_t *p = lens + n * sizeof(uint16_t);

	if (params->n < pr->n_from || (size_t)(end - p) < n * sizeof(uint64_t))
		return NULL;
	for (unsigned int i = 0; i < n; i++) {
		const uint16_t size = pr->v[i].plain;
		const struct scap_param *from = &params->v[pr->v[i].from];

		if (from->len != size)
			return NULL;
		memcpy(lens + i * sizeof(size), &size, sizeof(size));
		out->v[i].p = p;
		out->v[i].len = size;
		if (size == sizeof(uint64_t))
			memcpy(p, from->p, sizeof(uint64_t));
		else if (size == sizeof(uint32_t))
			memcpy(p, from->p, sizeof(uint32_t));
		else if (size == sizeof(uint16_t))
			memcpy(p, from->p, sizeof(uint16_t));
		else
			*p = *from->p;
		p += size;
	}
	return p;
}

int scap_projection_split(const struct scap_projection *pr, void *buf, size_t buf_sz,
			  const struct ppm_evt_hdr *src, const struct scap_params *params,
			  struct scap_params *out)
{
	const uint8_t *end = (uint8_t *)buf + buf_sz;
	struct ppm_evt_hdr *hdr = buf;
	uint8_t *lens = (uint8_t *)(hdr + 1), *p = NULL;

	if (buf_sz < sizeof(*hdr) + (size_t)pr->n * pr->len_sz)
		return -ENOSPC;
	if (pr->n_from)
		p = put_plain(pr, lens, end, params, out);
	if (!p)
		p = put_params(pr, lens, end, params, out);
	if (!p)
		return -ENOSPC;
	out->n = pr->n;
	hdr->ts = src->ts;
	hdr->tid = src->tid;
	hdr->len = (uint32_t)(p - (uint8_t *)buf);
	hdr->type = pr->type;
	hdr->nparams = pr->n;
	return (int)hdr->len;
}

int scap_projection_run(const struct scap_projection *pr, void *buf, size_t buf_sz,
			const struct ppm_evt_hdr *src, const struct scap_params *params)
{
	struct scap_params unused;

	return scap_projection_split(pr, buf, buf_sz, src, params, &unused);
}

int scap_evt_project(void *buf, size_t buf_sz, unsigned int type, unsigned int n_params,
		     const struct ppm_evt_hdr *src)
{
	struct scap_projection pr;
	struct scap_params params;
	int err = scap_evt_params(src, &params);

	if (!err)
		err = scap_projection_init(&pr, type, n_params, src->type);
	return err ? err : scap_projection_run(&pr, buf, buf_sz, src, &params);
}

static int is_unused(unsigned int type)
{
	const struct scap_event_info *info = scap_event_info(type);

	return !info || info->flags & EF_UNUSED;
}

/* Calls that 2022 recorded as an older call. */
static const struct {
	uint16_t enter, compat_enter;
} compat[] = {
	{EVT_DUP_366_E, EVT_DUP_E},
	{EVT_DUP2_E, EVT_DUP_E},
	{EVT_DUP3_E, EVT_DUP_E},
	{EVT_PIPE2_E, EVT_PIPE_E},
	{EVT_EVENTFD2_E, EVT_EVENTFD_E},
	{EVT_SIGNALFD4_E, EVT_SIGNALFD_E},
	{EVT_INOTIFY_INIT1_E, EVT_INOTIFY_INIT_E},
	{EVT_ACCEPT4_E, EVT_ACCEPT4_248_E},
	{EVT_UMOUNT_386_E, EVT_UMOUNT_E},
	{EVT_UMOUNT2_E, EVT_UMOUNT_E},
};

/* An enter without an exit, such as useradded, is not a system call. */
static int is_call(unsigned int type)
{
	return !is_unused(type | 1);
}

unsigned int scap_event_compat_type(unsigned int type)
{
	const unsigned int dir = type & 1;

	if (type < EVT_COMPAT_MAX || evt_is_private(type) || !is_call(type))
		return type;
	for (size_t i = 0; i < sizeof(compat) / sizeof(compat[0]); i++)
		if (compat[i].enter == type - dir)
			return compat[i].compat_enter + dir;
	return dir ? EVT_SYSCALL_X : EVT_SYSCALL_E;
}
