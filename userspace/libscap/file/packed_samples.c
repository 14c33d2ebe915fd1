// SPDX-License-Identifier: Apache-2.0
/*
 * Packed samples: events of stacks as they are stored in a file. Most of a sample are addresses
 * near each other, most of a mapping is a path that the file already has. Unpacking restores the
 * event byte for byte; an event for which this does not hold is stored unchanged. docs/scap-file.md
 * describes the layout.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "file/scap_format.h"
#include "hash.h"
#include "shared/stack.h"

#define LEB_MAX 10 /* bytes of a u64 */
#define TEXT_MAX 4096 /* maximum size of a text that is stored once */
#define TEXTS_MAX 8192
#define TEXTS_BYTES (1u << 20)
#define N_SLOTS (2 * TEXTS_MAX) /* a power of two: at most half full */
#define DENSE_FIRST EVT_SAMPLE_E
#define DENSE_LAST EVT_SYMBOL_E

enum dense_kind { DENSE_BYTES, DENSE_NUMBER, DENSE_NEAR, DENSE_ADDRESSES, DENSE_TEXT };

struct dense_param {
	uint8_t kind;
	uint8_t size; /* maximum size of a number */
	uint8_t near; /* the parameter with the first address, from which it is counted */
};

/* Facts that the type of a parameter does not say. These rows are part of the format: adding one
 * needs a new event number, since older readers would store other texts. */
static const struct {
	uint16_t type;
	const char *param;
	uint8_t kind;
	const char *near; /* an earlier parameter */
} rows[] = {
	{EVT_SAMPLE_E, "ip", DENSE_NEAR, "user"},     {EVT_SAMPLE_E, "bp", DENSE_NEAR, "sp"},
	{EVT_MAP_E, "path", DENSE_TEXT, NULL},        {EVT_MAP_E, "build_id", DENSE_TEXT, NULL},
	{EVT_SYMBOL_E, "build_id", DENSE_TEXT, NULL}, {EVT_SYMBOL_E, "path", DENSE_TEXT, NULL},
	{EVT_SYMBOL_E, "module", DENSE_TEXT, NULL},
};

static struct dense_param params_of[DENSE_LAST - DENSE_FIRST + 1][EVT_MAX_PARAMS];

static bool is_addresses(const struct scap_param_info *p)
{
	return p->type == PT_LIST && p->list && p->list[0].type == PT_UINT64 && !p->list[1].name;
}

static struct dense_param param_by_type(const struct scap_param_info *p)
{
	const size_t size = scap_param_size(p->type);

	if (is_addresses(p))
		return (struct dense_param){.kind = DENSE_ADDRESSES};
	if (size && size <= sizeof(uint64_t))
		return (struct dense_param){.kind = DENSE_NUMBER, .size = size};
	return (struct dense_param){.kind = DENSE_BYTES};
}

static void build_params(void)
{
	for (unsigned int type = DENSE_FIRST; type <= DENSE_LAST; type++) {
		const struct scap_event_info *info = scap_event_info(type);

		for (unsigned int i = 0; info && i < info->n_params; i++)
			params_of[type - DENSE_FIRST][i] = param_by_type(&info->params[i]);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dense_param *p = &params_of[rows[i].type - DENSE_FIRST]
						  [scap_event_param(rows[i].type, rows[i].param)];

		p->kind = rows[i].kind;
		if (rows[i].near)
			p->near = scap_event_param(rows[i].type, rows[i].near);
	}
}

/* Returns the rows; NULL: events of this type are stored unchanged. */
static const struct dense_param *dense_params(unsigned int type)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (type < DENSE_FIRST || type > DENSE_LAST || type == EVT_DENSE_E ||
	    !scap_event_info(type))
		return NULL;
	pthread_once(&once, build_params);
	return params_of[type - DENSE_FIRST];
}

/*
 * Stored texts, by number. A text is added when its event is complete; if it does not fit, writer
 * and reader drop all others. No number is reused, and each text comes with its number: a reader of
 * a file with removed events lacks texts, but has no wrong ones.
 */
struct packed_texts {
	uint64_t first; /* number of the first text */
	uint64_t seed; /* of hashes: who names files may not choose them */
	uint32_t n;
	uint32_t end[TEXTS_MAX]; /* end of each text; it begins where the one before ends */
	uint16_t
		slots[N_SLOTS]; /* in the writer: number + 1, from the first on, by hash; 0: free */
	uint8_t bytes[TEXTS_BYTES];
};

struct packed_texts *packed_texts_new(void)
{
	struct packed_texts *t = calloc(1, sizeof(*t));

	if (t)
		t->seed = scap_hash_seed(t);
	return t;
}

void packed_texts_free(struct packed_texts *t)
{
	free(t);
}

/* Sets the number of the next text to @next. */
static void forget_to(struct packed_texts *t, uint64_t next)
{
	t->first = next;
	t->n = 0;
	memset(t->slots, 0, sizeof(t->slots));
}

void packed_texts_clear(struct packed_texts *t)
{
	forget_to(t, 0);
}

void packed_texts_forget(struct packed_texts *t)
{
	forget_to(t, t->first + t->n);
}

static uint32_t text_begin(const struct packed_texts *t, uint32_t i)
{
	return i ? t->end[i - 1] : 0;
}

static void texts_add(struct packed_texts *t, const uint8_t *p, uint32_t len)
{
	if (t->n == TEXTS_MAX || text_begin(t, t->n) + len > TEXTS_BYTES)
		forget_to(t, t->first + t->n);
	memcpy(t->bytes + text_begin(t, t->n), p, len);
	t->end[t->n] = text_begin(t, t->n) + len;
	t->n++;
}

/* Returns the place of the text's number in the hash table, or a free one. */
static uint16_t *text_slot(struct packed_texts *t, const uint8_t *p, uint32_t len)
{
	uint64_t hash = scap_hash_bytes(t->seed, (const char *)p, len);

	for (;; hash++) {
		uint16_t *slot = &t->slots[hash % N_SLOTS];
		const uint32_t i = *slot - 1u;

		if (!*slot || (t->end[i] - text_begin(t, i) == len &&
			       !memcmp(t->bytes + text_begin(t, i), p, len)))
			return slot;
	}
}

/* Texts of one event that are to be added. */
struct new_texts {
	struct scap_param v[EVT_MAX_PARAMS];
	uint64_t number[EVT_MAX_PARAMS];
	unsigned int n;
};

static bool is_remembered(uint64_t len)
{
	return len && len <= TEXT_MAX;
}

static void note_text(struct new_texts *texts, uint64_t number, const uint8_t *p, uint32_t len)
{
	texts->number[texts->n] = number;
	texts->v[texts->n++] = (struct scap_param){p, len};
}

/* Makes @number the next one: missing texts in between are empty. */
static void skip_to(struct packed_texts *t, uint64_t number)
{
	if (number - t->first - t->n > TEXTS_MAX - t->n)
		forget_to(t, number);
	for (; t->first + t->n < number; t->n++)
		t->end[t->n] = text_begin(t, t->n);
}

static void remember(struct packed_texts *t, const struct new_texts *texts, bool to_find)
{
	for (unsigned int i = 0; i < texts->n; i++) {
		const struct scap_param *p = &texts->v[i];

		skip_to(t, texts->number[i]);
		texts_add(t, p->p, p->len);
		if (to_find)
			*text_slot(t, p->p, p->len) = t->n;
	}
}

/* Splits an address from the highest byte (stack.h). */
#define HIGH(v) ((v) >> STACK_HOW_SHIFT)

/* The lower bytes as a signed number: kernel addresses are below 0. */
static int64_t low(uint64_t v)
{
	const int shift = 64 - STACK_HOW_SHIFT;

	return (int64_t)(v << shift) >> shift;
}

/* The value from which a near number is counted. */
static uint64_t first_address(const uint8_t *p, size_t len)
{
	return len < sizeof(uint64_t) ? 0 : low(get_u64(p));
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ -(v & 1));
}

struct dense_out {
	uint8_t *p, *end;
	struct packed_texts *texts;
	struct new_texts new;
};

static bool has_room(const struct dense_out *out, size_t n)
{
	return (size_t)(out->end - out->p) >= n;
}

static void put_leb(struct dense_out *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*out->p++ = v | 0x80;
	*out->p++ = v;
}

/* Each address as the difference from the one before, and whether its highest byte changed. */
static bool put_addresses(struct dense_out *out, const struct scap_param *param)
{
	const uint8_t *end = param->p + param->len;
	uint64_t last = 0;

	if (param->len % sizeof(last) || !has_room(out, LEB_MAX))
		return false;
	put_leb(out, param->len / sizeof(last));
	for (const uint8_t *p = param->p; p < end; p += sizeof(last)) {
		const uint64_t v = get_u64(p);
		const bool other = HIGH(v) != HIGH(last);

		if (!has_room(out, LEB_MAX + 1))
			return false;
		put_leb(out, zigzag(low(v - last)) << 1 | other);
		if (other)
			*out->p++ = HIGH(v);
		last = v;
	}
	return true;
}

static bool put_bytes(struct dense_out *out, const uint8_t *p, uint32_t len)
{
	if (!has_room(out, len))
		return false;
	out->p = mempcpy(out->p, p, len);
	return true;
}

static bool put_text(struct dense_out *out, const struct scap_param *p)
{
	const uint16_t *slot = text_slot(out->texts, p->p, p->len);
	const uint64_t next = out->texts->first + out->texts->n + out->new.n;

	if (!has_room(out, 2 * LEB_MAX))
		return false;
	if (*slot) {
		put_leb(out, (out->texts->first + *slot - 1) << 1 | 1);
		return true;
	}
	put_leb(out, (uint64_t)p->len << 1);
	if (is_remembered(p->len)) {
		put_leb(out, next);
		note_text(&out->new, next, p->p, p->len);
	}
	return put_bytes(out, p->p, p->len);
}

static bool put_number(struct dense_out *out, const struct dense_param *d,
		       const struct scap_param *p, const struct scap_param *near)
{
	uint64_t v = 0;

	if (p->len != d->size || !has_room(out, LEB_MAX))
		return false;
	memcpy(&v, p->p, p->len);
	if (d->kind == DENSE_NEAR)
		v = zigzag(v - first_address(near->p, near->len));
	put_leb(out, v);
	return true;
}

static bool put_param(struct dense_out *out, const struct dense_param *d,
		      const struct scap_params *params, unsigned int i)
{
	const struct scap_param *p = &params->v[i];

	switch (d->kind) {
	case DENSE_ADDRESSES:
		return put_addresses(out, p);
	case DENSE_TEXT:
		return put_text(out, p);
	case DENSE_BYTES:
		if (!has_room(out, LEB_MAX))
			return false;
		put_leb(out, p->len);
		return put_bytes(out, p->p, p->len);
	default:
		return put_number(out, d, p, &params->v[d->near]);
	}
}

/* A bit for each parameter with a value, and one above the last. */
static uint64_t which_params(const struct scap_params *params)
{
	uint64_t which = 1ull << params->n;

	for (unsigned int i = 0; i < params->n; i++)
		which |= (uint64_t)(params->v[i].len > 0) << i;
	return which;
}

/* Data after the parameters would be lost: stored unchanged. */
static bool is_plain(const struct ppm_evt_hdr *evt, const struct scap_params *params)
{
	const struct scap_param *last = params->v + params->n - 1;

	return last->p + last->len == (const uint8_t *)evt + evt->len;
}

enum dense_event_param { DENSE_P_TYPE, DENSE_P_DATA, DENSE_P_MAX };

#define DENSE_LENS_SZ (DENSE_P_MAX * sizeof(uint16_t))
#define DENSE_HEAD_SZ (sizeof(struct ppm_evt_hdr) + DENSE_LENS_SZ + sizeof(uint16_t))

static void finish_dense(struct ppm_evt_hdr *dense, const struct ppm_evt_hdr *evt, uint32_t data_sz)
{
	const uint16_t head[] = {sizeof(evt->type), data_sz, evt->type};

	_Static_assert(sizeof(head) == DENSE_LENS_SZ + sizeof(uint16_t), "type and data");
	*dense = *evt;
	dense->type = EVT_DENSE_E;
	dense->nparams = DENSE_P_MAX;
	dense->len = DENSE_HEAD_SZ + data_sz;
	memcpy(dense + 1, head, sizeof(head));
}

int packed_samples_put(struct file_buf *buf, const struct ppm_evt_hdr **out,
		       struct packed_texts *texts, const struct ppm_evt_hdr *evt)
{
	const struct dense_param *d = dense_params(evt->type);
	struct dense_out o = {.texts = texts};
	struct scap_params params;
	uint8_t *data;

	*out = evt;
	if (!d || evt->len <= DENSE_HEAD_SZ || scap_evt_params(evt, &params) || !params.n ||
	    params.n > scap_event_info(evt->type)->n_params || !is_plain(evt, &params))
		return 0;
	if (file_buf_need(buf, evt->len))
		return -ENOMEM;
	o.p = data = buf->p + DENSE_HEAD_SZ;
	/* Stored unchanged unless it becomes shorter. */
	o.end = buf->p + (evt->len < UINT16_MAX ? evt->len : UINT16_MAX);
	if (!has_room(&o, LEB_MAX))
		return 0;
	put_leb(&o, which_params(&params));
	for (unsigned int i = 0; i < params.n; i++)
		if (params.v[i].len && !put_param(&o, &d[i], &params, i))
			return 0;
	finish_dense((struct ppm_evt_hdr *)buf->p, evt, o.p - data);
	remember(texts, &o.new, true);
	*out = (const struct ppm_evt_hdr *)buf->p;
	return 0;
}

struct dense_in {
	const uint8_t *p, *end;
	const struct packed_texts *texts;
	uint8_t *out; /* where the next parameter goes; followed by room for all of them */
	struct scap_param v[EVT_MAX_PARAMS]; /* parameters unpacked so far */
	struct new_texts new;
};

static bool get_leb(struct dense_in *in, uint64_t *v)
{
	*v = 0;
	for (unsigned int shift = 0; in->p < in->end && shift < 64; shift += 7) {
		const uint8_t byte = *in->p++;

		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool get_addresses(struct dense_in *in)
{
	uint64_t n, v, last = 0, high = 0;

	/* Each takes at least one byte. */
	if (!get_leb(in, &n) || n > (uint64_t)(in->end - in->p))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!get_leb(in, &v) || (v & 1 && in->p == in->end))
			return false;
		if (v & 1)
			high = *in->p++;
		last = STACK_ADDR(last + unzigzag(v >> 1)) | high << STACK_HOW_SHIFT;
		in->out = mempcpy(in->out, &last, sizeof(last));
	}
	return true;
}

static bool get_bytes(struct dense_in *in, uint64_t len)
{
	if (len > (uint64_t)(in->end - in->p))
		return false;
	in->out = mempcpy(in->out, in->p, len);
	in->p += len;
	return true;
}

/* A parameter whose text is missing has no value. */
static void get_known(struct dense_in *in, uint64_t number)
{
	const struct packed_texts *t = in->texts;
	const uint64_t i = number - t->first;

	if (i < t->n)
		in->out =
			mempcpy(in->out, t->bytes + text_begin(t, i), t->end[i] - text_begin(t, i));
}

static bool get_text(struct dense_in *in)
{
	const uint8_t *begin = in->out;
	uint64_t v, len, number;

	if (!get_leb(in, &v))
		return false;
	if (v & 1) {
		get_known(in, v >> 1);
		return true;
	}
	len = v >> 1;
	if (!is_remembered(len))
		return get_bytes(in, len);
	if (!get_leb(in, &number) || !get_bytes(in, len))
		return false;
	note_text(&in->new, number, begin, len);
	return true;
}

static bool get_number(struct dense_in *in, const struct dense_param *d)
{
	uint64_t v;

	if (!get_leb(in, &v))
		return false;
	if (d->kind == DENSE_NEAR)
		v = unzigzag(v) + first_address(in->v[d->near].p, in->v[d->near].len);
	in->out = mempcpy(in->out, &v, d->size);
	return true;
}

static bool get_value(struct dense_in *in, const struct dense_param *d)
{
	uint64_t len;

	switch (d->kind) {
	case DENSE_ADDRESSES:
		return get_addresses(in);
	case DENSE_TEXT:
		return get_text(in);
	case DENSE_BYTES:
		return get_leb(in, &len) && get_bytes(in, len);
	default:
		return get_number(in, d);
	}
}

/* Unpacks the parameters of @which that have a value; @lens gets all lengths. */
static bool get_params(struct dense_in *in, const struct dense_param *d, uint64_t which,
		       uint8_t *lens, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *begin = in->out;
		uint16_t len;

		if (which >> i & 1 && !get_value(in, &d[i]))
			return false;
		if (in->out - begin > UINT16_MAX)
			return false;
		len = in->out - begin;
		in->v[i] = (struct scap_param){begin, len};
		memcpy(lens + i * sizeof(len), &len, sizeof(len));
	}
	return true;
}

static unsigned int n_params(uint64_t which)
{
	return which ? 63 - __builtin_clzll(which) : 0;
}

int packed_samples_get(struct file_buf *buf, const struct ppm_evt_hdr **out,
		       struct packed_texts *texts, const struct ppm_evt_hdr *dense)
{
	struct dense_in in = {.texts = texts};
	const struct dense_param *d;
	struct scap_params params;
	unsigned int n, n_known;
	struct ppm_evt_hdr *evt;
	uint64_t which;
	uint16_t type;

	*out = dense;
	if (scap_evt_params(dense, &params) || params.n < DENSE_P_MAX ||
	    params.v[DENSE_P_TYPE].len != sizeof(type))
		return -EBADMSG;
	type = get_u16(params.v[DENSE_P_TYPE].p);
	d = dense_params(type);
	/* From a newer saker, not needed here. */
	if (!d)
		return 0;
	in.p = params.v[DENSE_P_DATA].p;
	in.end = in.p + params.v[DENSE_P_DATA].len;
	if (!get_leb(&in, &which))
		return -EBADMSG;
	n = n_params(which);
	n_known = scap_event_info(type)->n_params;
	if (file_buf_need(buf, sizeof(*evt) + EVT_MAX_PARAMS * (sizeof(uint16_t) + TEXT_MAX) +
				       params.v[DENSE_P_DATA].len * sizeof(uint64_t)))
		return -ENOMEM;
	evt = (struct ppm_evt_hdr *)buf->p;
	*evt = *dense;
	evt->type = type;
	evt->nparams = n < n_known ? n : n_known;
	in.out = (uint8_t *)(evt + 1) + sizeof(uint16_t) * evt->nparams;
	/* Parameters that a newer saker appended are dropped. */
	if (!get_params(&in, d, which, (uint8_t *)(evt + 1), evt->nparams) ||
	    (n <= n_known && in.p != in.end))
		return -EBADMSG;
	evt->len = in.out - buf->p;
	remember(texts, &in.new, false);
	*out = evt;
	return 0;
}
