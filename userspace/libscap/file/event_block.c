// SPDX-License-Identifier: Apache-2.0
/*
 * Shared by reader and writer of one event: facts that follow from its type and are not in the
 * file, and how the native event is stored beside the one that other tools read. Each _put has its
 * _get here, so that they change together.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "file/scap_format.h"

static struct evt_facts facts[EVT_INDEX_MAX];

static bool is_call_exit(unsigned int type)
{
	const struct scap_event_info *info = scap_event_info(type);

	return type % 2 && info && !(info->flags & EF_UNUSED);
}

static void build_fact(void *ctx, const struct scap_event_info *info)
{
	struct evt_facts *f = &facts[evt_index(info->id)];

	(void)ctx;
	f->nr = scap_event_nr(info->id);
	f->lens_sz = scap_evt_len_sz(info->id);
	if (is_call_exit(info->id))
		f->flags = SCAP_EVT_F_FULL;
	else if (is_call_exit(info->id + 1))
		f->flags = SCAP_EVT_F_HIDDEN;
}

static void build_facts(void)
{
	for (size_t i = 0; i < EVT_INDEX_MAX; i++)
		facts[i] = (struct evt_facts){.nr = REC_NR_NONE, .lens_sz = sizeof(uint16_t)};
	scap_event_each(build_fact, NULL);
}

const struct evt_facts *event_block_facts(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, build_facts);
	return facts;
}

static size_t lens_sz_of(unsigned int type)
{
	return event_block_facts()[evt_index(type)].lens_sz;
}

static uint32_t len_at(const uint8_t *lens, size_t lens_sz, unsigned int i)
{
	return lens_sz == 2 ? get_u16(lens + 2 * i) : get_u32(lens + 4 * i);
}

static const uint8_t *lens_of(const struct ppm_evt_hdr *evt)
{
	return (const uint8_t *)(evt + 1);
}

void event_block_defaults(const struct ppm_evt_hdr *evt, enum evt_defaults d, uint16_t *flags,
			  uint16_t *nr)
{
	const struct evt_facts *f;

	*flags = 0;
	*nr = REC_NR_NONE;
	if (d == EVT_DEFAULTS_PLAIN || evt_is_private(evt->type))
		return;
	f = &event_block_facts()[evt_index(evt->type)];
	*flags = f->flags;
	*nr = evt->type <= EVT_SYSCALL_X ? event_block_generic_nr(evt) : f->nr;
}

int file_buf_need(struct file_buf *b, size_t n)
{
	uint8_t *p;

	if (n <= b->sz)
		return 0;
	p = realloc(b->p, n + n / 2);
	if (!p)
		return -ENOMEM;
	b->p = p;
	b->sz = n + n / 2;
	return 0;
}

int event_block_check(const struct ppm_evt_hdr *evt, uint32_t room)
{
	size_t lens_sz = lens_sz_of(evt->type);
	const uint8_t *lens = lens_of(evt);
	uint64_t sum;

	if (room < sizeof(*evt) || evt->len < sizeof(*evt) || evt->len > room ||
	    evt->nparams > EVT_MAX_PARAMS)
		return -EBADMSG;
	sum = sizeof(*evt) + evt->nparams * lens_sz;
	if (sum > evt->len)
		return -EBADMSG;
	for (unsigned int i = 0; i < evt->nparams; i++)
		sum += len_at(lens, lens_sz, i);
	return sum > evt->len ? -EBADMSG : 0;
}

/* Returns how many parameters from the first on are identical. */
static unsigned int common_params(const struct ppm_evt_hdr *a, const struct ppm_evt_hdr *b,
				  uint32_t *bytes)
{
	size_t a_sz = lens_sz_of(a->type), b_sz = lens_sz_of(b->type);
	const uint8_t *pa = lens_of(a) + a_sz * a->nparams, *pb = lens_of(b) + b_sz * b->nparams;
	unsigned int n = a->nparams < b->nparams ? a->nparams : b->nparams;
	unsigned int i;

	*bytes = 0;
	for (i = 0; i < n; i++) {
		uint32_t len = len_at(lens_of(a), a_sz, i);

		if (len != len_at(lens_of(b), b_sz, i) || memcmp(pa + *bytes, pb + *bytes, len))
			break;
		*bytes += len;
	}
	return i;
}

static void put_u16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

size_t event_block_native_put(uint8_t *out, const struct ppm_evt_hdr *native,
			      const struct ppm_evt_hdr *file)
{
	size_t lens_sz = lens_sz_of(native->type);
	const uint8_t *lens = lens_of(native);
	const uint8_t *end = (const uint8_t *)native + native->len;
	uint8_t *p = out + 4;
	uint32_t common_bytes;
	unsigned int first = common_params(native, file, &common_bytes);
	unsigned int n = native->nparams - first;
	const uint8_t *data = lens + lens_sz * native->nparams + common_bytes;
	bool more = native->type == file->type && first == file->nparams;

	if ((more && n == 0) || 4 + lens_sz * n + (end - data) > UINT16_MAX)
		return 0;
	put_u16(out, more ? OPT_MORE : OPT_NATIVE);
	if (!more) {
		put_u16(p, native->type);
		p[2] = first;
		p[3] = n;
		p += 4;
	} else {
		put_u16(p, n);
		p += 2;
	}
	memcpy(p, lens + lens_sz * first, lens_sz * n);
	p += lens_sz * n;
	memcpy(p, data, end - data);
	p += end - data;
	put_u16(out + 2, p - out - 4);
	while ((p - out) % 4)
		*p++ = 0;
	return p - out;
}

/* Returns whether an option may turn the event into this one: one of the system, not of the
 * capture. */
static bool is_native(unsigned int type)
{
	return scap_event_info(type) && !evt_is_private(type);
}

/* The head of the option: what it adds to the first parameters of @file. */
static bool native_head(const struct ppm_evt_hdr *file, uint16_t opt, const uint8_t **val,
			uint32_t *len, struct ppm_evt_hdr *native, unsigned int *first)
{
	uint32_t head = opt == OPT_NATIVE ? 4 : 2;
	unsigned int n;

	if (*len < head)
		return false;
	*native = *file;
	*first = file->nparams;
	if (opt == OPT_NATIVE) {
		native->type = get_u16(*val);
		*first = (*val)[2];
		n = (*val)[3];
	} else {
		n = get_u16(*val);
	}
	if (*first > file->nparams || n > EVT_MAX_PARAMS || *first + n > EVT_MAX_PARAMS ||
	    !is_native(native->type))
		return false;
	native->nparams = *first + n;
	*val += head;
	*len -= head;
	return true;
}

int event_block_native_get(struct file_buf *buf, const struct ppm_evt_hdr **native,
			   const struct ppm_evt_hdr *file, uint16_t opt, const uint8_t *val,
			   uint32_t len)
{
	size_t file_sz = lens_sz_of(file->type), lens_sz, new_lens;
	const uint8_t *file_data = lens_of(file) + file_sz * file->nparams;
	struct ppm_evt_hdr hdr;
	uint32_t kept = 0;
	unsigned int first;
	uint8_t *p;

	if (!native_head(file, opt, &val, &len, &hdr, &first))
		return -EBADMSG;
	lens_sz = lens_sz_of(hdr.type);
	new_lens = lens_sz * (hdr.nparams - first);
	if (len < new_lens || lens_sz != file_sz)
		return -EBADMSG;
	for (unsigned int i = 0; i < first; i++)
		kept += len_at(lens_of(file), file_sz, i);
	hdr.len = sizeof(hdr) + lens_sz * first + kept + len;
	if (file_buf_need(buf, hdr.len))
		return -ENOMEM;
	p = buf->p;
	p = mempcpy(p, &hdr, sizeof(hdr));
	p = mempcpy(p, lens_of(file), lens_sz * first);
	p = mempcpy(p, val, new_lens);
	p = mempcpy(p, file_data, kept);
	memcpy(p, val + new_lens, len - new_lens);
	*native = (const struct ppm_evt_hdr *)buf->p;
	return event_block_check(*native, hdr.len);
}
