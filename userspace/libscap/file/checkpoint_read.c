// SPDX-License-Identifier: Apache-2.0
/* Finds and reads checkpoints. Everything in the file may be wrong: then it is read from its
 * beginning, as a file without an index. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "event/event_table.h"
#include "file/checkpoint.h"

/* The blocks of a checkpoint can be that much larger than it is: what a file can make its reader
 * hold is in proportion to its size. */
#define RATIO_MAX 1000

/* Reads the next event of saker itself. Returns 1; 0: something else; or a negative errno. */
static int next_own(struct input *in, struct file_block *blk, const struct ppm_evt_hdr **hdr)
{
	const char *what;
	const int ret = file_block_peek(in, blk, &what);

	if (ret != 1)
		return ret < 0 ? ret : 0;
	*hdr = (const struct ppm_evt_hdr *)(blk->body + 6);
	if ((blk->type != BLK_EVF_V2 && blk->type != BLK_EVF_V2_LARGE) || blk->body_len < 6 ||
	    event_block_check(*hdr, blk->body_len - 6))
		return 0;
	in->p += blk->len;
	return 1;
}

/* ---- the index ---- */

static int read_at(int fd, uint64_t at, void *p, size_t n)
{
	return pread(fd, p, n, (off_t)at) == (ssize_t)n ? 0 : -EBADMSG;
}

/* Returns the two offsets of a tail that is @sz bytes long if the file ends with it. */
static int tail_at(int fd, uint64_t size, const uint8_t *head, size_t sz, uint64_t *index_at)
{
	uint8_t tail[CHECKPOINT_TAIL_MAX];

	if (size < sz || read_at(fd, size - sz, tail, sz) || memcmp(tail, head, 16) != 0)
		return 0;
	*index_at = get_u64(tail + 16);
	/* What was joined to another file lies elsewhere. */
	return get_u64(tail + 24) == size - sz && *index_at < size - sz;
}

/* Goes one block back from *at. */
static int step_back(int fd, uint64_t *at)
{
	uint8_t len[4];

	if (*at < BLK_MIN || read_at(fd, *at - 4, len, 4))
		return 0;
	if (get_u32(len) < BLK_MIN || get_u32(len) > *at)
		return 0;
	*at -= get_u32(len);
	return 1;
}

/* Finds where the index should be: before the trailer. Returns whether there may be one. */
static int index_place(const char *path, uint64_t *at)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int found = 0;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		const uint64_t size = (uint64_t)st.st_size;

		*at = size;
		found = tail_at(fd, size, checkpoint_gzip_tail, 42, at) ||
			tail_at(fd, size, checkpoint_zstd_tail, 32, at) ||
			(step_back(fd, at) && step_back(fd, at));
	}
	close(fd);
	return found;
}

/* Returns the last place before @from_ns; NULL: none. They are in the order of time. */
static const uint8_t *last_before(const uint8_t *v, size_t n, uint64_t from_ns)
{
	const uint8_t *found = NULL;

	for (size_t i = 0; i < n; i++, v += sizeof(struct checkpoint_place)) {
		if (get_u64(v) >= from_ns)
			break;
		found = v;
	}
	return found;
}

/* Returns as checkpoint_find. */
static int read_index(const struct ppm_evt_hdr *hdr, uint64_t at, uint64_t from_ns,
		      struct checkpoint_place *place)
{
	struct scap_params params;
	const struct scap_param *v = params.v;
	const uint8_t *found;
	uint64_t own_at = 0;

	if (hdr->type != EVT_CHECKPOINTS || scap_evt_params(hdr, &params) || params.n < 2 ||
	    trailer_kv_get((const char *)v[0].p, v[0].len, "at", &own_at) || own_at != at)
		return -ENOENT;
	found = last_before(v[1].p, v[1].len / sizeof(*place), from_ns);
	if (!found)
		return 0;
	memcpy(place, found, sizeof(*place));
	return place->at < at;
}

static int keep_event(struct file_buf *out, const struct ppm_evt_hdr *hdr)
{
	if (file_buf_need(out, hdr->len))
		return 0;
	memcpy(out->p, hdr, hdr->len);
	return 1;
}

int checkpoint_find(struct checkpoint_place *place, struct file_buf *closing, const char *path,
		    uint64_t from_ns)
{
	static const struct scap_log silent;
	const struct ppm_evt_hdr *hdr;
	struct file_block blk;
	struct input in;
	uint64_t at;
	int found;

	if (!index_place(path, &at) || input_open_at(&in, path, at, 0, &silent))
		return -ENOENT;
	found = next_own(&in, &blk, &hdr) > 0 ? read_index(hdr, at, from_ns, place) : -ENOENT;
	if (found >= 0 && (next_own(&in, &blk, &hdr) <= 0 || hdr->type != EVT_CLOSING ||
			   !keep_event(closing, hdr)))
		found = -ENOENT;
	input_close(&in);
	return found;
}

/* ---- a checkpoint ---- */

static void read_text(struct checkpoint *cp, const struct scap_param *text)
{
	const struct {
		const char *key;
		uint64_t *val;
	} rows[] = {
		{"num", &cp->num},           {"own", &cp->n_own},
		{"first_ns", &cp->first_ns}, {"defaults", &cp->defaults},
		{"packed", &cp->packed_sz},  {"size", &cp->sz},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trailer_kv_get((const char *)text->p, text->len, rows[i].key, rows[i].val);
}

/* Adds the packed bytes of the next event. Memory grows only as they arrive. */
static int add_part(struct checkpoint *cp, struct file_buf *packed, size_t *n, struct input *in)
{
	const struct ppm_evt_hdr *hdr;
	struct scap_params params;
	struct file_block blk;
	size_t len;

	if (next_own(in, &blk, &hdr) <= 0 || hdr->type != EVT_CHECKPOINT ||
	    scap_evt_params(hdr, &params) || params.n < 2)
		return -EBADMSG;
	if (!*n) {
		read_text(cp, &params.v[0]);
		cp->ts_ns = hdr->ts;
	}
	len = params.v[1].len;
	if (!len || len > cp->packed_sz - *n)
		return -EBADMSG;
	if (file_buf_need(packed, *n + len))
		return -ENOMEM;
	memcpy(packed->p + *n, params.v[1].p, len);
	*n += len;
	return 0;
}

static int unpack_blocks(struct checkpoint *cp, const uint8_t *packed)
{
	size_t n;

	if (cp->sz > BLK_BUF_MAX || cp->sz / RATIO_MAX > cp->packed_sz)
		return -EBADMSG;
	cp->blocks = malloc(cp->sz ?: 1);
	if (!cp->blocks)
		return -ENOMEM;
	n = ZSTD_decompress(cp->blocks, cp->sz, packed, cp->packed_sz);
	if (!ZSTD_isError(n) && n == cp->sz)
		return 0;
	free(cp->blocks);
	cp->blocks = NULL;
	return -EBADMSG;
}

int checkpoint_read(struct checkpoint *cp, struct input *in)
{
	struct file_buf packed = {0};
	size_t n = 0;
	int err;

	*cp = (struct checkpoint){0};
	do
		err = add_part(cp, &packed, &n, in);
	while (!err && n < cp->packed_sz);
	err = err ?: unpack_blocks(cp, packed.p);
	free(packed.p);
	return err;
}
