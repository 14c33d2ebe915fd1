// SPDX-License-Identifier: Apache-2.0
/*
 * Reads one .scap file as a stream of events. Nothing is used before it is checked against its
 * block, and a block against the input; delivered events lie in the input itself, unless their
 * layout is old or the native event must be restored.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "file/checkpoint.h"
#include "file/sums_check.h"

#define OLD_HDR_SZ 22 /* header of an event before nparams was added */

struct scap_reader {
	struct input in;
	struct input rest; /* the file behind a checkpoint that is read; src NULL: none */
	struct checkpoint checkpoint; /* where reading began */
	bool in_order; /* it has an index */
	bool begins_later; /* at the checkpoint, not at the file's beginning */
	struct scap_skipped skipped;
	const struct scap_log *log;
	struct state_reader state;
	const struct scap_state *done_state;
	struct file_buf scratch; /* an event that is delivered in another form than in the input */
	struct packed_texts *texts; /* texts of packed events of the section */
	bool saker; /* saker wrote the section: options are read */
	enum evt_defaults defaults;
	const struct evt_facts *facts;
	bool reported_skip, reported_new;
	unsigned int n_closings, n_unclosed;
	bool closed; /* the section has its trailer */
	bool run_ahead; /* is due */
	struct file_trailer closing;
	struct scap_cpu_stats *cpus; /* number of trailers */
	uint64_t n_events; /* delivered, over all sections */
	uint64_t n_section; /* blocks of the format in this section */
	struct sums_check sums;
	const uint8_t *block; /* of the event that is read */
	int err; /* once failed, always failed */
};

#define ULL(x) ((unsigned long long)(x))

static int damaged(struct scap_reader *r, uint64_t offset, const char *what)
{
	return scap_fail(r->log, -EBADMSG,
			 "%s: at byte %llu%s %s: the file is damaged; %llu events before it were "
			 "read",
			 r->in.name, ULL(offset), input_unit(&r->in), what, ULL(r->n_events));
}

static int cut(struct scap_reader *r, uint64_t offset)
{
	return scap_fail(r->log, -EBADMSG,
			 "%s: the file ends inside a block at byte %llu%s: it is truncated; %llu "
			 "events before it were read",
			 r->in.name, ULL(offset), input_unit(&r->in), ULL(r->n_events));
}

/* Advances to the next block. Returns 1; 0 at the end of the file; or a negative errno. */
static int peek_block(struct scap_reader *r, struct file_block *blk)
{
	const char *what;
	const int ret = file_block_peek(&r->in, blk, &what);

	if (ret != FILE_BLOCK_BAD)
		return ret;
	return what ? damaged(r, input_offset(&r->in), what) : cut(r, input_offset(&r->in));
}

/* Returns the program that unpacks what begins with these @n bytes; NULL: none is known. */
static const char *unpacker_of(const uint8_t *p, size_t n)
{
	static const struct {
		const char *magic, *program;
	} packers[] = {
		{"\3757zXZ", "xz"},
		{"BZh", "bzip2"},
		{"\4\42\115\30", "lz4"},
	};

	for (size_t i = 0; i < sizeof(packers) / sizeof(*packers); i++) {
		const size_t len = strlen(packers[i].magic);

		if (n >= len && !memcmp(p, packers[i].magic, len))
			return packers[i].program;
	}
	return NULL;
}

/* Reads the header of a section, whose byte order is needed to read its own length. */
static int check_section_header(struct scap_reader *r)
{
	struct input *in = &r->in;
	uint64_t offset = input_offset(in);
	int ret = input_need(in, BLK_MIN);
	const char *unpacker = ret < 0 ? NULL : unpacker_of(in->p, in->end - in->p);

	if (ret < 0)
		return ret;
	if (unpacker && !offset)
		return scap_fail(
			r->log, -EBADMSG,
			"%s is packed by %s, which saker does not unpack: %s -dc FILE | saker "
			"-r -",
			in->name, unpacker, unpacker);
	if (ret == 0 || get_u32(in->p) != BLK_SHB)
		return scap_fail(r->log, -EBADMSG,
				 "%s is not a .scap file: no section header at byte %llu", in->name,
				 ULL(offset));
	if (get_u32(in->p + 8) == SHB_MAGIC_SWAPPED)
		return scap_fail(r->log, -EBADMSG,
				 "%s was written on a machine with another byte order (byte "
				 "%llu); read it on such a machine",
				 in->name, ULL(offset + 8));
	if (get_u32(in->p + 8) != SHB_MAGIC)
		return damaged(r, offset, "the header of a section has a wrong magic number");
	return 0;
}

static int read_section_header(struct scap_reader *r)
{
	struct file_block blk;
	int ret = check_section_header(r);

	if (ret)
		return ret;
	ret = peek_block(r, &blk);
	if (ret < 0)
		return ret;
	if (blk.body_len < 16)
		return damaged(r, input_offset(&r->in), "the header of a section is too short");
	if (get_u16(blk.body + 4) > 1)
		return scap_fail(r->log, -ENOTSUP,
				 "%s has version %u of the .scap format, at byte %llu; this saker "
				 "reads version 1: use a newer saker",
				 r->in.name, get_u16(blk.body + 4), ULL(input_offset(&r->in) + 12));
	r->in.p += blk.len;
	return 0;
}

static int read_state_block(struct scap_reader *r, const struct file_block *blk)
{
	int err;

	if (blk->type == BLK_SAKER) {
		r->saker = true;
		r->defaults = EVT_DEFAULTS_SAKER;
		return 0;
	}
	err = state_read(&r->state, blk);
	if (err == -ENOENT)
		return 0;
	r->n_section++;
	if (err == -EBADMSG)
		return damaged(r, input_offset(&r->in), r->state.what);
	if (err)
		return scap_fail(r->log, err, "%s: no memory for the state in it", r->in.name);
	return 0;
}

/* Reads from the header of a section to its first event. */
static int begin_section(struct scap_reader *r)
{
	struct file_block blk;
	int ret;

	state_reader_fini(&r->state);
	r->done_state = NULL;
	r->saker = false;
	r->closed = false;
	r->defaults = EVT_DEFAULTS_PLAIN;
	r->n_section = 0;
	packed_texts_clear(r->texts);
	r->state.build = scap_state_build_new();
	if (!r->state.build)
		return scap_fail(r->log, -ENOMEM, "%s: no memory for the state in it", r->in.name);
	ret = read_section_header(r);
	if (ret)
		return ret;
	while ((ret = peek_block(r, &blk)) > 0) {
		if (file_block_is_event(blk.type) || blk.type == BLK_SHB)
			break;
		ret = read_state_block(r, &blk);
		if (ret)
			return ret;
		r->in.p += blk.len;
	}
	if (ret < 0)
		return ret;
	r->done_state = scap_state_build_done(r->state.build);
	if (!r->done_state)
		return scap_fail(r->log, -ENOMEM, "%s: no memory for the state in it", r->in.name);
	return 0;
}

/* Converts an event of before 2017 to today's layout. The number of parameters follows from the
 * lengths: each additional one increases the sum, so at most one number fits. */
static int modernize(struct scap_reader *r, const uint8_t *old, uint32_t room,
		     const struct ppm_evt_hdr **out)
{
	struct ppm_evt_hdr hdr;
	const uint8_t *lens = old + OLD_HDR_SZ;
	uint32_t len, sum = 0, n;

	if (room < OLD_HDR_SZ)
		return -EBADMSG;
	memcpy(&hdr, old, OLD_HDR_SZ);
	len = hdr.len;
	/* sysdig counted three bytes too many in these two. */
	if ((hdr.type == EVT_NOTIFICATION_E || hdr.type == EVT_INFRA_E) && len > 3)
		len -= 3;
	if (len < OLD_HDR_SZ || len > room)
		return -EBADMSG;
	len -= OLD_HDR_SZ;
	for (n = 0; 2 * n + sum < len && n < EVT_MAX_PARAMS && 2 * n + 2 <= len; n++)
		sum += get_u16(lens + 2 * n);
	if (2 * n + sum != len)
		return -EBADMSG;
	if (file_buf_need(&r->scratch, sizeof(hdr) + len))
		return -ENOMEM;
	hdr.len = sizeof(hdr) + len;
	hdr.nparams = n;
	memcpy(r->scratch.p, &hdr, sizeof(hdr));
	memcpy(r->scratch.p + sizeof(hdr), lens, len);
	*out = (const struct ppm_evt_hdr *)r->scratch.p;
	return 0;
}

static int read_option(struct scap_reader *r, struct scap_evt *evt, bool *marked, uint16_t code,
		       const uint8_t *val, uint32_t len)
{
	switch (code) {
	case OPT_MARK:
		if (len < 4)
			return -EBADMSG;
		evt->flags |= get_u16(val);
		evt->nr = get_u16(val + 2);
		if (evt->flags & SCAP_EVT_F_CLAMPED && len >= 12)
			evt->true_ns = get_u64(val + 4);
		*marked = true;
		return 0;
	case OPT_NATIVE:
	case OPT_MORE:
		return event_block_native_get(&r->scratch, &evt->hdr, evt->hdr, code, val, len);
	case OPT_SUMS:
		sums_check_option(&r->sums, &r->in, r->block, val, len);
		return 0;
	case OPT_DEFAULTS:
		if (len < 4 || get_u32(val) > EVT_DEFAULTS_PLAIN)
			return -EBADMSG;
		r->defaults = get_u32(val);
		return 0;
	default:
		return 0;
	}
}

static int read_options(struct scap_reader *r, struct scap_evt *evt, const uint8_t *p,
			const uint8_t *end)
{
	const struct ppm_evt_hdr *file_hdr = evt->hdr;
	uint16_t flags, nr;
	bool marked = false;

	while (end - p >= 4 && get_u16(p)) {
		uint32_t len = get_u16(p + 2);
		int err;

		if (len > end - p - 4)
			return -EBADMSG;
		/*
		 * The native event is restored from the one in the file: a second option is damage.
		 */
		if ((get_u16(p) == OPT_NATIVE || get_u16(p) == OPT_MORE) && evt->hdr != file_hdr)
			return -EBADMSG;
		err = read_option(r, evt, &marked, get_u16(p), p + 4, len);
		if (err)
			return err;
		p += 4 + len + pad4(len);
	}
	if (!marked) {
		event_block_defaults(evt->hdr, r->defaults, &flags, &nr);
		evt->flags |= flags;
		evt->nr = nr;
	}
	return 0;
}

/*
 * Reads the counters of CPUs, in all parameters after the first. Without memory they are unknown.
 */
static void read_closing_cpus(struct scap_reader *r, const struct ppm_evt_hdr *evt,
			      const char *text)
{
	const uint8_t *lens = (const uint8_t *)(evt + 1);
	struct scap_stats *st = &r->closing.stats;
	const size_t max = (size_t)CAP_CPUS_MAX * (evt->nparams - 1);

	free(r->cpus);
	r->cpus = max ? malloc(max * sizeof(*r->cpus)) : NULL;
	for (uint32_t i = 1; r->cpus && i < evt->nparams; i++) {
		text += get_u16(lens + 2 * (i - 1));
		st->n_cpus += trailer_cpus_get(r->cpus + st->n_cpus, max - st->n_cpus, text,
					       get_u16(lens + 2 * i));
	}
	st->cpus = r->cpus;
}

static void read_closing(struct scap_reader *r, const struct ppm_evt_hdr *evt)
{
	const char *text = (const char *)(evt + 1) + 2 * evt->nparams;
	uint32_t len;

	if (evt->nparams < 1)
		return;
	len = get_u16((const uint8_t *)(evt + 1));
	memset(&r->closing, 0, sizeof(r->closing));
	trailer_kv_get(text, len, "written_events", &r->closing.events);
	trailer_kv_get(text, len, "written_private", &r->closing.private_events);
	trailer_stats_get(&r->closing.stats, text, len);
	read_closing_cpus(r, evt, text);
	r->n_closings++;
	r->closed = true;
}

static int bad_event(struct scap_reader *r, const struct file_block *blk, int err)
{
	/* The block is consumed: it lies before p. */
	uint64_t offset = input_offset(&r->in) - blk->len;

	if (err == -ENOMEM)
		return scap_fail(r->log, err, "%s: no memory for an event of %u bytes", r->in.name,
				 blk->len);
	return damaged(r, offset, "an event is malformed");
}

/* Returns 1 with an event, 0 if the block has none for the caller. */
static int read_event(struct scap_reader *r, const struct file_block *blk, struct scap_evt *evt)
{
	bool with_flags =
		blk->type == BLK_EVF_V2 || blk->type == BLK_EVF_V2_LARGE || blk->type == BLK_EVF;
	bool old = blk->type == BLK_EV || blk->type == BLK_EVF || blk->type == BLK_EV_INT;
	uint32_t off = with_flags ? 6 : 2, used;
	int err = 0;

	if (blk->body_len < off)
		return bad_event(r, blk, -EBADMSG);
	evt->cpu = get_u16(blk->body);
	evt->flags = 0;
	if (with_flags && get_u32(blk->body + 2) & EVF_STATE_ONLY)
		evt->flags = SCAP_EVT_F_STATE_ONLY;
	evt->hdr = (const struct ppm_evt_hdr *)(blk->body + off);
	if (old)
		err = modernize(r, blk->body + off, blk->body_len - off, &evt->hdr);
	if (!err)
		err = event_block_check(evt->hdr, old ? evt->hdr->len : blk->body_len - off);
	if (err)
		return bad_event(r, blk, err);
	evt->nr = REC_NR_NONE;
	evt->ts_ns = evt->true_ns = evt->hdr->ts;
	if (r->saker && !old) {
		r->block = blk->body - 8;
		used = off + evt->hdr->len;
		used += pad4(used);
		err = read_options(r, evt,
				   blk->body + (used < blk->body_len ? used : blk->body_len),
				   blk->body + blk->body_len);
		if (!err && evt->hdr->type == EVT_DENSE_E)
			err = packed_samples_get(&r->scratch, &evt->hdr, r->texts, evt->hdr);
		if (err)
			return bad_event(r, blk, err);
	}
	evt->type = evt->hdr->type;
	if (evt->type < EVT_PUBLIC_MAX || evt_is_own_call(evt->type))
		return 1;
	if (evt->type == EVT_CLOSING && r->saker) {
		read_closing(r, evt->hdr);
		return 0;
	}
	if (evt->type == EVT_CLOSING)
		sums_check_no_head(&r->sums, &r->in);
	/* Private events are state-only so that other tools skip them. */
	evt->flags &= ~SCAP_EVT_F_STATE_ONLY;
	return evt_is_private(evt->type);
}

static void tell_skip(struct scap_reader *r, const struct file_block *blk)
{
	if (!r->reported_skip)
		scap_say(r->log, SCAP_LOG_WARN,
			 "%s: skipping blocks of unknown type, the first at byte %llu%s has type "
			 "0x%x",
			 r->in.name, ULL(input_offset(&r->in)), input_unit(&r->in), blk->type);
	r->reported_skip = true;
}

static void tell_new(struct scap_reader *r, unsigned int type)
{
	if (!r->reported_new && type < EVT_PRIVATE)
		scap_say(r->log, SCAP_LOG_WARN,
			 "%s: skipping events of unknown types, the first is type %u: they are of "
			 "a newer version",
			 r->in.name, type);
	r->reported_new |= type < EVT_PRIVATE;
}

static void end_section(struct scap_reader *r)
{
	r->n_unclosed += r->saker && !r->closed;
}

/* The blocks of the checkpoint are read: goes on in the file. Returns whether there was one. */
static bool go_on_behind_checkpoint(struct scap_reader *r)
{
	if (!r->rest.src)
		return false;
	r->in = r->rest;
	r->rest.src = NULL;
	r->defaults = r->checkpoint.defaults;
	packed_texts_clear(r->texts);
	free(r->checkpoint.blocks);
	r->checkpoint.blocks = NULL;
	return true;
}

/* Works as peek_block, of the checkpoint and then the file. */
static int peek_next(struct scap_reader *r, struct file_block *blk)
{
	const int ret = peek_block(r, blk);

	return ret == 0 && go_on_behind_checkpoint(r) ? peek_block(r, blk) : ret;
}

static int next_any(struct scap_reader *r, struct scap_evt *evt)
{
	struct file_block blk;
	int ret;

	while ((ret = peek_next(r, &blk)) > 0) {
		if (blk.type == BLK_SHB) {
			end_section(r);
			ret = begin_section(r);
			return ret ? ret : SCAP_NEW_SECTION;
		}
		if (!file_block_is_event(blk.type)) {
			tell_skip(r, &blk);
			r->in.p += blk.len;
			continue;
		}
		r->in.p += blk.len;
		ret = read_event(r, &blk, evt);
		if (ret > 0)
			r->n_events++;
		if (ret)
			return ret;
		tell_new(r, evt->type);
	}
	if (ret < 0)
		return ret;
	end_section(r);
	sums_check_end(&r->sums, &r->in);
	return -ENODATA;
}

/* Splits an event with two-byte lengths. Returns false if they exceed the event. */
static inline bool split_plain(const struct ppm_evt_hdr *hdr, struct scap_params *params)
{
	const uint8_t *lens = (const uint8_t *)(hdr + 1);
	const uint32_t n = hdr->nparams;
	uint64_t used = sizeof(*hdr) + 2 * n;

	if (n > EVT_MAX_PARAMS || used > hdr->len)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t len = get_u16(lens + 2 * i);

		params->v[i].p = (const uint8_t *)hdr + used;
		params->v[i].len = len;
		used += len;
	}
	params->n = n;
	return used <= hdr->len;
}

/* Bytes behind a block that are prefetched: another CPU has copied them from the file just now. */
#define PREFETCH 1024

/*
 * The common case: an EV_V2 block with an event and nothing after it. Makes the same checks as
 * peek_block and read_event, without their other cases. Returns false for any other or invalid
 * block, which those handle.
 */
static inline bool next_plain(struct scap_reader *r, struct scap_evt *evt,
			      struct scap_params *params)
{
	const uint8_t *p = r->in.p;
	size_t have = r->in.end - p;
	const struct ppm_evt_hdr *hdr = (const struct ppm_evt_hdr *)(p + 10);
	const struct evt_facts *f;
	uint64_t len, used;

	if (have < BLK_MIN + 2 + sizeof(*hdr) || get_u32(p) != BLK_EV_V2)
		return false;
	len = get_u32(p + 4);
	used = 10 + (uint64_t)hdr->len;
	/* In this order: the second check ensures that len is at least 14. */
	if (len > have || ((used + 3) & ~3ull) + 4 != len || get_u32(p + len - 4) != len ||
	    hdr->type >= EVT_PUBLIC_MAX)
		return false;
	f = &r->facts[hdr->type];
	if (f->lens_sz != 2 || !split_plain(hdr, params))
		return false;
	evt->hdr = hdr;
	evt->ts_ns = evt->true_ns = hdr->ts;
	evt->cpu = get_u16(p + 8);
	evt->type = hdr->type;
	evt->flags = 0;
	evt->nr = REC_NR_NONE;
	if (r->defaults == EVT_DEFAULTS_SAKER) {
		evt->flags = f->flags;
		evt->nr = hdr->type <= EVT_SYSCALL_X ? event_block_generic_nr(hdr) : f->nr;
	}
	__builtin_prefetch(p + PREFETCH);
	r->in.p = p + len;
	r->n_events++;
	return true;
}

/* A function of its own, so that the common path saves no registers for it. */
static __attribute__((noinline)) int next_slow(struct scap_reader *r, struct scap_evt *evt,
					       struct scap_params *params, int timeout_ms)
{
	int ret;

	if (r->err)
		return r->err;
	/* Not before: what reads is confined meanwhile, and threads inherit that. */
	if (r->run_ahead)
		input_run_ahead(r->rest.src ? &r->rest : &r->in);
	r->run_ahead = false;
	if (!input_ready(&r->in, timeout_ms))
		return 0;
	ret = next_any(r, evt);
	if (ret < 0) {
		r->err = ret;
		r->in.p = r->in.end; /* no event follows the damage */
	}
	if (ret == 1)
		scap_evt_params(evt->hdr, params);
	return ret;
}

int scap_reader_next(struct scap_reader *r, struct scap_evt *evt, struct scap_params *params,
		     int timeout_ms)
{
	return next_plain(r, evt, params) ? 1 : next_slow(r, evt, params, timeout_ms);
}

/* A packet capture has the same framing, and no block of ours. */
static int check_any(struct scap_reader *r)
{
	if (r->n_section || r->saker || r->in.p != r->in.end ||
	    input_offset(&r->in) <= BLK_MIN + 16)
		return 0;
	return scap_fail(
		r->log, -EBADMSG,
		"%s is a pcapng file without system calls up to its end, byte %llu; it may "
		"contain network packets",
		r->in.name, ULL(input_offset(&r->in)));
}

static void close_checkpoint(struct scap_reader *r)
{
	input_close(&r->rest);
	free(r->checkpoint.blocks);
	r->checkpoint.blocks = NULL;
	r->in = (struct input){0};
}

static int open_at_beginning(struct scap_reader *r, const char *path)
{
	int err = input_open(&r->in, path, r->log);

	if (!err)
		err = begin_section(r);
	/* Another tool's has none; what was joined to it has none that are used. */
	if (!err && !r->saker)
		input_drop_sums(&r->in);
	return err ?: check_any(r);
}

/* Reads the trailer ahead: reading may end before it. */
static void note_trailer(struct scap_reader *r, const struct ppm_evt_hdr *closing)
{
	struct scap_params params;

	if (!scap_evt_params(closing, &params))
		read_closing(r, closing);
	r->closed = false;
}

/* Begins with the blocks of the checkpoint, as with a file. */
static int begin_blocks(struct scap_reader *r)
{
	const struct checkpoint *cp = &r->checkpoint;

	input_open_memory(&r->in, cp->blocks, cp->sz, r->rest.name);
	return begin_section(r);
}

/* Reads the blocks to their end: if one is damaged, the file is read from its beginning. Other
 * events of saker, and other sections, have no place in them. */
static int check_blocks(struct scap_reader *r)
{
	struct input rest = r->rest;
	struct scap_evt evt;
	int ret = begin_blocks(r);

	if (ret)
		return ret;
	r->rest.src = NULL;
	do
		ret = next_any(r, &evt);
	while (ret == 1);
	r->rest = rest;
	if (ret == -ENODATA && (!r->saker || r->n_closings))
		ret = -EBADMSG;
	r->n_closings = r->n_unclosed = 0;
	r->n_events = 0;
	r->reported_skip = r->reported_new = false; /* nobody heard it */
	return ret == -ENODATA ? 0 : ret < 0 ? ret : -EBADMSG;
}

/* Whether the checkpoint is the one of that place. Each event before it takes some bytes. */
static bool is_of_place(const struct checkpoint *cp, const struct checkpoint_place *place)
{
	return cp->num == place->num && cp->ts_ns == place->ts_ns && cp->n_own <= cp->num &&
	       cp->num <= place->unpacked_at / sizeof(struct ppm_evt_hdr) &&
	       cp->defaults <= EVT_DEFAULTS_PLAIN;
}

static int begin_at_checkpoint(struct scap_reader *r, const struct checkpoint_place *place)
{
	struct checkpoint *cp = &r->checkpoint;
	int err = checkpoint_read(cp, &r->rest);

	if (!err && !is_of_place(cp, place))
		err = -EBADMSG;
	if (!err)
		err = check_blocks(r);
	if (err)
		return err;
	r->skipped =
		(struct scap_skipped){.n_events = cp->num - cp->n_own, .first_ns = cp->first_ns};
	return begin_blocks(r);
}

/* Begins at the last checkpoint before @from_ns. Returns 0; or an error: then nothing is open. What
 * is wrong with a checkpoint is not reported: the file can be read from its beginning. */
static int open_at_checkpoint(struct scap_reader *r, const char *path, uint64_t from_ns)
{
	static const struct scap_log silent;
	const struct scap_log *log = r->log;
	struct checkpoint_place place;
	struct file_buf closing = {0};
	const int found = checkpoint_find(&place, &closing, path, from_ns);
	int err = found > 0 ? 0 : -ENOENT;

	r->in_order = found >= 0;
	if (!err)
		err = input_open_at(&r->rest, path, place.at, place.unpacked_at, &silent);
	r->log = &silent;
	if (!err)
		err = begin_at_checkpoint(r, &place);
	r->log = log;
	r->begins_later = !err;
	if (!err)
		note_trailer(r, (const struct ppm_evt_hdr *)closing.p);
	else
		close_checkpoint(r);
	free(closing.p);
	return err;
}

int scap_reader_open(struct scap_reader **out, const char *path,
		     const struct scap_reader_opts *opts, const struct scap_log *log)
{
	struct scap_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return scap_fail(log, -ENOMEM, "cannot read %s: not enough memory", path);
	r->log = r->sums.log = log;
	r->run_ahead = !opts->one_thread;
	r->facts = event_block_facts();
	r->texts = packed_texts_new();
	if (!r->texts)
		err = scap_fail(log, -ENOMEM, "cannot read %s: not enough memory", path);
	else if (opts->from_ns && !open_at_checkpoint(r, path, opts->from_ns))
		err = 0;
	else
		err = open_at_beginning(r, path);
	if (err)
		scap_reader_close(r);
	else
		*out = r;
	return err;
}

void scap_reader_close(struct scap_reader *r)
{
	if (!r)
		return;
	input_close(&r->in);
	close_checkpoint(r);
	state_reader_fini(&r->state);
	free(r->scratch.p);
	packed_texts_free(r->texts);
	free(r->cpus);
	free(r);
}

const struct scap_state *scap_reader_state(const struct scap_reader *r)
{
	return r->done_state;
}

void scap_reader_state_drop(struct scap_reader *r)
{
	state_reader_fini(&r->state);
	r->done_state = NULL;
}

uint64_t scap_reader_taken(const struct scap_reader *r)
{
	return input_taken(r->rest.src ? &r->rest : &r->in);
}

bool scap_reader_in_order(const struct scap_reader *r)
{
	return r->in_order;
}

const struct scap_skipped *scap_reader_skipped(const struct scap_reader *r)
{
	return r->begins_later ? &r->skipped : NULL;
}

unsigned int scap_reader_trailer(const struct scap_reader *r, struct file_trailer *c)
{
	if (r->n_closings)
		*c = r->closing;
	return r->n_closings;
}

unsigned int scap_reader_n_unclosed(const struct scap_reader *r)
{
	return r->n_unclosed;
}

bool scap_reader_left_out(const struct scap_reader *r)
{
	return input_left_out(&r->in);
}

bool scap_reader_has_uncompared(const struct scap_reader *r)
{
	return r->sums.n_elsewhere;
}

bool scap_reader_is_damaged(const struct scap_reader *r)
{
	return r->sums.n_wrong || r->sums.has_no_head;
}

int scap_reader_is_saker(const struct scap_reader *r)
{
	return r->saker;
}
