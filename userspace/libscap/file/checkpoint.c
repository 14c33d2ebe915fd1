// SPDX-License-Identifier: Apache-2.0
#include "file/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#define PART_SZ (48u << 10) /* packed bytes in an event */
#define PACK_LEVEL 3
#define ULL(x) ((unsigned long long)(x))

void checkpoint_index_begin(struct checkpoint_index *x, uint64_t every, uint64_t head_sz)
{
	x->exact = every != 0;
	x->every = every ?: CHECKPOINT_EVERY;
	x->next_at = x->exact ? 0 : 4 * head_sz;
	x->next_unpacked_at = x->every;
}

bool checkpoint_is_due(const struct checkpoint_index *x, uint64_t at, uint64_t unpacked_at)
{
	return unpacked_at >= x->next_unpacked_at && at >= x->next_at;
}

/* Half of the places, evenly spread: from now on they are twice as far apart. */
static void thin_out(struct checkpoint_index *x)
{
	for (size_t i = 0; i < x->n / 2; i++)
		x->v[i] = x->v[2 * i + 1];
	x->n /= 2;
	x->every *= 2;
}

void checkpoint_index_add(struct checkpoint_index *x, const struct checkpoint_place *place,
			  uint64_t sz)
{
	x->v = x->v ?: malloc(CHECKPOINTS_MAX * sizeof(*x->v));
	if (x->n == CHECKPOINTS_MAX)
		thin_out(x);
	if (x->v)
		x->v[x->n++] = *place;
	x->next_unpacked_at = place->unpacked_at + x->every;
	x->next_at = x->exact ? 0 : place->at + CHECKPOINT_SHARE * sz;
}

void checkpoint_index_skip(struct checkpoint_index *x, uint64_t unpacked_at)
{
	x->next_unpacked_at = unpacked_at + x->every;
}

uint64_t checkpoint_file_sz(uint64_t packed_sz)
{
	return packed_sz + packed_sz / 512 + 1024;
}

uint64_t checkpoint_index_sz(const struct checkpoint_index *x)
{
	return x->n ? x->n * sizeof(*x->v) + CHECKPOINT_TAIL_MAX + 128 : 0;
}

ssize_t checkpoint_pack(struct file_buf *out, const uint8_t *blocks, size_t n)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t sz;

	if (!c || file_buf_need(out, ZSTD_compressBound(n))) {
		ZSTD_freeCCtx(c);
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, PACK_LEVEL);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	sz = ZSTD_compress2(c, out->p, out->sz, blocks, n);
	ZSTD_freeCCtx(c);
	return ZSTD_isError(sz) ? -ENOMEM : (ssize_t)sz;
}

/* An event of two parameters: text and data. */
static int build_event(struct file_buf *out, unsigned int type, const char *text,
		       const uint8_t *data, size_t n)
{
	const uint16_t lens[2] = {(uint16_t)strlen(text), (uint16_t)n};
	const struct ppm_evt_hdr hdr = {.tid = UINT64_MAX,
					.type = (uint16_t)type,
					.nparams = 2,
					.len = sizeof(hdr) + sizeof(lens) + lens[0] + lens[1]};
	uint8_t *p;

	if (file_buf_need(out, hdr.len))
		return -ENOMEM;
	p = mempcpy(out->p, &hdr, sizeof(hdr));
	p = mempcpy(p, lens, sizeof(lens));
	p = mempcpy(p, text, lens[0]);
	memcpy(p, data, lens[1]);
	return 0;
}

size_t checkpoint_part(const struct checkpoint *cp, size_t at)
{
	return cp->packed_sz - at < PART_SZ ? cp->packed_sz - at : PART_SZ;
}

int checkpoint_event(struct file_buf *out, const struct checkpoint *cp, const uint8_t *packed,
		     size_t at)
{
	char text[256] = "";

	if (!at)
		snprintf(text, sizeof(text),
			 "num=%llu\nown=%llu\nfirst_ns=%llu\ndefaults=%llu\npacked=%llu\nsize=%"
			 "llu\n",
			 ULL(cp->num), ULL(cp->n_own), ULL(cp->first_ns), ULL(cp->defaults),
			 ULL(cp->packed_sz), ULL(cp->sz));
	return build_event(out, EVT_CHECKPOINT, text, packed + at, checkpoint_part(cp, at));
}

int checkpoint_index_event(struct file_buf *out, const struct checkpoint_index *x, uint64_t at)
{
	char text[64];

	snprintf(text, sizeof(text), "at=%llu\n", ULL(at));
	return build_event(out, EVT_CHECKPOINTS, text, (const uint8_t *)x->v, x->n * sizeof(*x->v));
}

size_t checkpoint_tail(uint8_t *out, enum scap_compress compress, uint64_t index_at,
		       uint64_t tail_at)
{
	const uint64_t places[2] = {index_at, tail_at};
	uint8_t *p = out;

	if (compress == SCAP_COMPRESS_NONE)
		return 0;
	if (compress == SCAP_COMPRESS_GZIP)
		p = mempcpy(p, checkpoint_gzip_tail, sizeof(checkpoint_gzip_tail));
	else
		p = mempcpy(p, checkpoint_zstd_tail, sizeof(checkpoint_zstd_tail));
	p = mempcpy(p, places, sizeof(places));
	if (compress == SCAP_COMPRESS_GZIP)
		p = mempcpy(p, checkpoint_gzip_empty, sizeof(checkpoint_gzip_empty));
	return p - out;
}
