// SPDX-License-Identifier: Apache-2.0
/*
 * Writes captures that sysdig 0.29.3, tshark and Falco's libs read correctly: the state in the
 * layout of 2022, events with the types of 2022. Fields for which these have no place follow an
 * event in its block as options, or are in blocks before the first event, which other tools skip.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/checkpoint.h"
#include "file/sink.h"

#define PPM_SC_2022_MAX 328 /* a higher code crashes sysdig 0.29.3 */
#define N_NR 1024
#define NR_UNKNOWN 0xffff /* in sc_of: not computed yet */

_Static_assert(EVT_MAX_PARAMS <= 64, "out_rule.not_empty has a bit per parameter");

/* How events of a type are written. */
struct out_rule {
	bool known;
	bool own_last; /* saker's own parameters follow the public ones */
	uint8_t n_public;
	uint16_t type; /* in the file */
	uint64_t not_empty; /* a bit per parameter that sysdig reads without checking its length */
	struct scap_projection *projection; /* if the types differ */
};

/* What is of the file itself; while a checkpoint is made, of its blocks, which are like a file. */
struct out {
	struct scap_log log;
	struct sink *sink;
	struct packed_texts *texts; /* of the section */
	enum evt_defaults defaults;
	uint64_t n_events; /* public parameters */
	uint64_t n_private;
	uint64_t n_numbered; /* events that take a number, of all sections */
	uint64_t last_ns;
	uint64_t first_ns; /* time of the first event of the system; 0: none yet */
	uint64_t most_ns; /* the latest time of an event so far */
	bool goes_back; /* times do, or may in another section: so there is no index */
};

struct scap_writer {
	struct out out;
	const struct evt_facts *facts;
	struct out_rule rules[EVT_INDEX_MAX];
	uint16_t sc_of[2][N_NR]; /* PPM_SC codes of x86_64 and ia32 calls */
	struct file_buf scratch; /* an event that is written in another form */
	char *provenance; /* owned */
	enum scap_compress compress;
	struct checkpoint_index index;
};

static bool own_params_last(const struct scap_event_info *info)
{
	for (unsigned int i = 0; i < info->n_params; i++)
		if (info->params[i].own != (i >= info->n_public))
			return false;
	return true;
}

/* Once per type: *rule is set only when it is complete. */
static int make_rule(struct out_rule *rule, unsigned int type)
{
	const struct scap_event_info *info = scap_event_info(type);
	struct out_rule made = {.known = true, .type = type, .n_public = EVT_MAX_PARAMS};
	struct scap_projection same;

	if (info) {
		made.n_public = info->n_public;
		made.own_last = own_params_last(info);
		made.type = scap_event_compat_type(type);
		if (scap_projection_init(&same, made.type, 0, type))
			return -EINVAL;
		for (unsigned int i = 0; made.type == type && i < same.n; i++)
			made.not_empty |= (uint64_t)(same.v[i].min > 0) << i;
	}
	if (made.type != type) {
		made.projection = malloc(sizeof(same));
		if (!made.projection)
			return -ENOMEM;
		*made.projection = same;
	}
	*rule = made;
	return 0;
}

static int put_section_header(struct scap_writer *w)
{
	struct {
		uint32_t magic;
		uint16_t major, minor;
		uint64_t section_len;
	} __attribute__((packed)) shb = {SHB_MAGIC, 1, 2, UINT64_MAX};

	sink_begin(w->out.sink, BLK_SHB);
	sink_put(w->out.sink, &shb, sizeof(shb));
	return sink_end(w->out.sink);
}

static int put_provenance(struct scap_writer *w, const char *text)
{
	sink_begin(w->out.sink, BLK_SAKER);
	sink_put(w->out.sink, text, strlen(text));
	return sink_end(w->out.sink);
}

static int begin_section(struct scap_writer *w, const struct scap_state *state)
{
	int err = put_section_header(w);

	if (!err)
		err = put_provenance(w, w->provenance);
	return err ? err : state_write(w->out.sink, state);
}

int scap_writer_open(struct scap_writer **out, const char *path, const struct scap_state *state,
		     const struct scap_writer_opts *opts)
{
	struct scap_writer_opts o = {0};
	struct scap_writer *w;
	int err;

	if (opts) {
		if (opts->sz < sizeof(opts->sz) || opts->sz > sizeof(o))
			return -EINVAL;
		memcpy(&o, opts, opts->sz);
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->out.log = (struct scap_log){o.log, o.log_ctx};
	w->facts = event_block_facts();
	w->out.texts = packed_texts_new();
	memset(w->sc_of, 0xff, sizeof(w->sc_of));
	w->provenance = strdup(o.provenance ? o.provenance : "");
	w->compress = o.compress;
	err = w->out.texts && w->provenance ? sink_open(&w->out.sink, path, o.compress, &w->out.log)
					    : -ENOMEM;
	if (!err)
		err = begin_section(w, state);
	if (!err)
		err = sink_flush(w->out.sink);
	if (!err)
		checkpoint_index_begin(&w->index, o.checkpoint_every, sink_bytes(w->out.sink));
	if (err)
		scap_writer_close(w, NULL, NULL);
	else
		*out = w;
	return err;
}

/* Returns the code of 2022 of a generic call; 0: none. */
static uint16_t generic_code(struct scap_writer *w, unsigned int nr, bool ia32)
{
	const char *name;
	uint16_t *code;

	if (nr >= N_NR)
		return 0;
	code = &w->sc_of[ia32][nr];
	if (*code == NR_UNKNOWN) {
		name = scap_syscall_name(nr, ia32);
		*code = name ? scap_syscall_ppm_sc(name) : 0;
		if (*code > PPM_SC_2022_MAX)
			*code = 0;
	}
	return *code;
}

/* Builds the generic event that replaces another one: ID and nativeID of the call. */
static void fill_generic(struct scap_writer *w, const struct scap_evt *evt, struct ppm_evt_hdr *hdr)
{
	uint16_t ids[2] = {0, 0};

	if (evt->nr != REC_NR_NONE) {
		ids[0] = generic_code(w, evt->nr, evt->flags & SCAP_EVT_F_IA32);
		ids[1] = evt->nr;
	}
	memcpy((uint8_t *)(hdr + 1) + 2 * hdr->nparams, ids, sizeof(ids));
}

/* Returns whether sysdig reads a parameter that has no bytes. */
static bool has_gap(const struct out_rule *rule, const struct ppm_evt_hdr *hdr)
{
	const uint8_t *lens = (const uint8_t *)(hdr + 1);

	for (unsigned int i = 0; i < hdr->nparams; i++)
		if (rule->not_empty >> i & 1 && get_u16(lens + 2 * i) == 0)
			return true;
	return false;
}

static bool code_too_new(const struct ppm_evt_hdr *hdr)
{
	return hdr->type <= EVT_SYSCALL_X && hdr->nparams &&
	       get_u16((const uint8_t *)(hdr + 1) + 2 * hdr->nparams) > PPM_SC_2022_MAX;
}

/* Cuts the event to its first @n parameters. */
static const struct ppm_evt_hdr *first_params(struct scap_writer *w, const struct ppm_evt_hdr *hdr,
					      unsigned int n)
{
	size_t lens_sz = w->facts[evt_index(hdr->type)].lens_sz;
	const uint8_t *lens = (const uint8_t *)(hdr + 1);
	struct ppm_evt_hdr *out = (struct ppm_evt_hdr *)w->scratch.p;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += lens_sz == 2 ? get_u16(lens + 2 * i) : get_u32(lens + 4 * i);
	memcpy(out, hdr, sizeof(*hdr) + lens_sz * n);
	memcpy((uint8_t *)(out + 1) + lens_sz * n, lens + lens_sz * hdr->nparams, sum);
	out->nparams = n;
	out->len = sizeof(*hdr) + lens_sz * n + sum;
	return out;
}

static int project(struct scap_writer *w, const struct scap_evt *evt, const struct out_rule *rule,
		   const struct ppm_evt_hdr **out)
{
	const struct scap_projection *pr = rule->projection;
	struct scap_projection same;
	struct scap_params params;
	unsigned int n = evt->hdr->nparams;
	int ret = scap_evt_params(evt->hdr, &params);

	if (!ret && !pr) {
		/* Parameters that an event of an older layout lacks must not be invented. */
		ret = scap_projection_init(&same, rule->type,
					   n < rule->n_public ? n : rule->n_public, evt->type);
		pr = &same;
	}
	if (!ret)
		ret = scap_projection_run(pr, w->scratch.p, w->scratch.sz, evt->hdr, &params);
	if (ret < 0)
		return ret;
	*out = (const struct ppm_evt_hdr *)w->scratch.p;
	if (rule->type != evt->type && rule->type <= EVT_SYSCALL_X)
		fill_generic(w, evt, (struct ppm_evt_hdr *)w->scratch.p);
	return 0;
}

/* For a relative path sysdig looks up the directory in a thread that it does not have at that point
 * (parse_dirfd), and crashes. */
static bool crashes_sysdig(const struct ppm_evt_hdr *hdr, struct scap_params *params)
{
	const struct scap_param *path = &params->v[1];

	return hdr->type == EVT_EXECVEAT_E && !scap_evt_params(hdr, params) && params->n > 2 &&
	       path->len && path->p[0] != '/' && strncmp((const char *)path->p, "<NA>", path->len);
}

/* The enter of an execveat with unknown path: the option has the details. */
static const struct ppm_evt_hdr *without_path(struct scap_writer *w, const struct ppm_evt_hdr *hdr,
					      const struct scap_params *params)
{
	static const char na[] = "<NA>";
	struct ppm_evt_hdr *out = (struct ppm_evt_hdr *)w->scratch.p;
	uint8_t *lens = (uint8_t *)(out + 1), *p = lens + 2 * params->n;

	*out = *hdr;
	for (unsigned int i = 0; i < params->n; i++) {
		const uint16_t len = i == 1 ? sizeof(na) : params->v[i].len;

		memcpy(lens + 2 * i, &len, 2);
		p = mempcpy(p, i == 1 ? (const void *)na : params->v[i].p, len);
	}
	out->len = p - w->scratch.p;
	return out;
}

/* Returns the event as other tools know it, which may be @evt's own. */
static int compat_event(struct scap_writer *w, const struct scap_evt *evt,
			const struct ppm_evt_hdr **out)
{
	const struct ppm_evt_hdr *hdr = evt->hdr;
	struct out_rule *rule = &w->rules[evt_index(hdr->type)];
	struct scap_params params;

	if (!rule->known) {
		int err = make_rule(rule, hdr->type);

		if (err)
			return err;
	}
	if (crashes_sysdig(hdr, &params)) {
		if (file_buf_need(&w->scratch, hdr->len + sizeof("<NA>")))
			return -ENOMEM;
		*out = without_path(w, hdr, &params);
		return 0;
	}
	*out = hdr;
	if (rule->type == hdr->type && hdr->nparams <= rule->n_public && !has_gap(rule, hdr) &&
	    !code_too_new(hdr))
		return 0;
	/* Zeros for missing parameters: at most 16 bytes each. */
	if (file_buf_need(&w->scratch, hdr->len + EVT_MAX_PARAMS * 20))
		return -ENOMEM;
	if (rule->type != hdr->type || has_gap(rule, hdr) || !rule->own_last)
		return project(w, evt, rule, out);
	*out = first_params(w, hdr, hdr->nparams < rule->n_public ? hdr->nparams : rule->n_public);
	if (code_too_new(*out))
		memset(w->scratch.p + sizeof(*hdr) + 2 * (*out)->nparams, 0, 2);
	return 0;
}

static uint8_t *put_opt(uint8_t *p, uint16_t code, const void *val, uint16_t len)
{
	p = mempcpy(p, &code, 2);
	p = mempcpy(p, &len, 2);
	return mempcpy(p, val, len);
}

/* Writes flags and number, unless they follow from the type. */
static uint8_t *put_mark(struct scap_writer *w, uint8_t *p, const struct scap_evt *evt)
{
	enum evt_defaults other = EVT_DEFAULTS_PLAIN - w->out.defaults;
	uint16_t own_flags = evt->flags & ~SCAP_EVT_F_STATE_ONLY;
	struct {
		uint16_t flags, nr;
		uint64_t true_ns;
	} __attribute__((packed)) mark = {own_flags, evt->nr, evt->true_ns};
	uint16_t flags, nr;
	uint32_t val;

	event_block_defaults(evt->hdr, w->out.defaults, &flags, &nr);
	if (flags == own_flags && nr == evt->nr)
		return p;
	event_block_defaults(evt->hdr, other, &flags, &nr);
	if (flags == own_flags && nr == evt->nr) {
		w->out.defaults = val = other;
		return put_opt(p, OPT_DEFAULTS, &val, sizeof(val));
	}
	return put_opt(p, OPT_MARK, &mark, own_flags & SCAP_EVT_F_CLAMPED ? 12 : 4);
}

/* Returns the checksums for which an option is due in the block of such an event; NULL: none. */
static struct page_sums *due_sums(struct scap_writer *w, unsigned int type)
{
	struct page_sums *s = sink_sums(w->out.sink);

	return s && (page_sums_n_due(s) >= PAGE_SUMS_EVERY || type == EVT_CLOSING) ? s : NULL;
}

static uint8_t *put_sums(struct scap_writer *w, uint8_t *p, struct page_sums *sums, bool last)
{
	const uint16_t code = OPT_SUMS;
	const uint16_t len = page_sums_put(sums, p + 4, sink_bytes(w->out.sink), last);

	if (!len)
		return p;
	memcpy(p, &code, 2);
	memcpy(p + 2, &len, 2);
	return p + 4 + len;
}

static uint32_t block_type(const struct scap_writer *w, const struct ppm_evt_hdr *hdr,
			   bool with_flags, uint32_t len)
{
	bool large = len - 8 > BLK_EVT_MAX || w->facts[evt_index(hdr->type)].lens_sz == 4;

	if (with_flags)
		return large ? BLK_EVF_V2_LARGE : BLK_EVF_V2;
	return large ? BLK_EV_V2_LARGE : BLK_EV_V2;
}

/* Writes a block with @file, which stands for @evt. */
static int put_block(struct scap_writer *w, const struct scap_evt *evt,
		     const struct ppm_evt_hdr *file, bool with_flags)
{
	struct page_sums *sums = due_sums(w, evt->type);
	/* 64: framing, the mark, headers and padding of options. */
	uint8_t *blk = sink_room(w->out.sink, 64 + (size_t)file->len + evt->hdr->len +
						      (sums ? PAGE_SUMS_OPTION_MAX : 0));
	uint8_t *p;
	uint32_t len;

	if (!blk)
		return sink_flush(w->out.sink);
	p = blk + 8;
	p = mempcpy(p, &evt->cpu, 2);
	if (with_flags) {
		uint32_t flags = EVF_STATE_ONLY;

		p = mempcpy(p, &flags, 4);
	}
	memcpy(p, file, file->len);
	memcpy(p, &evt->ts_ns, 8);
	p += file->len;
	memset(p, 0, 4);
	p += pad4(p - blk);
	p = put_mark(w, p, evt);
	if (file != evt->hdr && !evt_is_private(evt->type))
		p += event_block_native_put(p, evt->hdr, file);
	if (sums)
		p = put_sums(w, p, sums, evt->type == EVT_CLOSING);
	len = p - blk + 4;
	memcpy(p, &len, 4);
	memcpy(blk + 4, &len, 4);
	len = block_type(w, file, with_flags, len);
	memcpy(blk, &len, 4);
	return sink_commit(w->out.sink, p + 4);
}

/* Whether a capture begins with such an event: not with containers that were there before, or with
 * events of the capture itself. */
static bool is_of_system(unsigned int type)
{
	const struct scap_event_info *info = scap_event_info(type);

	if (evt_is_of_container(type))
		return false;
	return evt_takes_number(type) || (info && !(info->category & EC_INTERNAL));
}

static void count_event(struct scap_writer *w, const struct scap_evt *evt, bool is_private)
{
	w->out.last_ns = evt->ts_ns;
	if (evt->ts_ns > w->out.most_ns)
		w->out.most_ns = evt->ts_ns;
	else if (evt->ts_ns < w->out.most_ns && evt_takes_number(evt->type) &&
		 !(evt->flags & SCAP_EVT_F_STATE_ONLY))
		w->out.goes_back = true;
	w->out.n_events += !is_private;
	w->out.n_private += is_private;
	w->out.n_numbered += evt_takes_number(evt->type);
	if (!w->out.first_ns && is_of_system(evt->type))
		w->out.first_ns = evt->ts_ns;
}

int scap_writer_put(struct scap_writer *w, const struct scap_evt *evt)
{
	const struct ppm_evt_hdr *file = evt->hdr;
	bool is_private = evt_is_private(evt->type);
	int err;

	/* Those of another file mean nothing here. */
	if (evt->type == EVT_CHECKPOINT || evt->type == EVT_CHECKPOINTS)
		return 0;
	if (!is_private && !scap_event_info(evt->type))
		return scap_fail(&w->out.log, -EINVAL, "cannot write an event of type %u",
				 evt->type);
	err = is_private ? packed_samples_put(&w->scratch, &file, w->out.texts, evt->hdr)
			 : compat_event(w, evt, &file);
	if (err)
		return scap_fail(&w->out.log, err, "cannot write event %llu (type %u): %s",
				 (unsigned long long)evt->num, evt->type, strerror(-err));
	err = put_block(w, evt, file, is_private || evt->flags & SCAP_EVT_F_STATE_ONLY);
	if (err)
		return err;
	count_event(w, evt, is_private);
	return 0;
}

int scap_writer_fd(const struct scap_writer *w)
{
	return sink_fd(w->out.sink);
}

void scap_writer_skip_checkpoint(struct scap_writer *w)
{
	checkpoint_index_skip(&w->index, sink_unpacked(w->out.sink));
}

uint64_t scap_writer_bytes(const struct scap_writer *w)
{
	return sink_bytes(w->out.sink) + checkpoint_index_sz(&w->index);
}

int scap_writer_flush(struct scap_writer *w)
{
	return sink_flush(w->out.sink);
}

/* Puts the event of saker itself that is in the scratch: other tools skip it, since it is
 * state-only and of a type they do not know. */
static int put_own(struct scap_writer *w, uint64_t ts_ns)
{
	const struct ppm_evt_hdr *hdr = (const struct ppm_evt_hdr *)w->scratch.p;
	const struct scap_evt evt = {
		.ts_ns = ts_ns, .type = hdr->type, .nr = REC_NR_NONE, .hdr = hdr};

	return put_block(w, &evt, hdr, true);
}

/* The same for those that the trailer counts. */
static int put_private(struct scap_writer *w)
{
	w->out.n_private++;
	return put_own(w, w->out.most_ns);
}

#define CLOSING_TEXT_SZ 2048

static size_t put_counters(const struct scap_writer *w, char *text, const struct scap_stats *st)
{
	size_t n =
		snprintf(text, CLOSING_TEXT_SZ, "written_events=%llu\nwritten_private=%llu\n",
			 (unsigned long long)w->out.n_events, (unsigned long long)w->out.n_private);

	return n + trailer_stats_put(text + n, CLOSING_TEXT_SZ - n, st);
}

/* Writes the counters. The first parameter has the sums, each other one the counters of
 * CAP_CPUS_MAX CPUs. */
static int put_closing(struct scap_writer *w, const struct scap_stats *st)
{
	const size_t n_params = 1 + (st->n_cpus + CAP_CPUS_MAX - 1) / CAP_CPUS_MAX;
	struct ppm_evt_hdr *hdr;
	uint16_t *lens;
	char *p;

	if (n_params > EVT_MAX_PARAMS ||
	    file_buf_need(&w->scratch, sizeof(*hdr) + 2 * n_params + CLOSING_TEXT_SZ +
					       (n_params - 1) * CAP_CPUS_SZ))
		return -ENOMEM;
	hdr = (struct ppm_evt_hdr *)w->scratch.p;
	*hdr = (struct ppm_evt_hdr){.tid = UINT64_MAX, .type = EVT_CLOSING, .nparams = n_params};
	lens = (uint16_t *)(hdr + 1);
	p = (char *)(lens + n_params);
	lens[0] = put_counters(w, p, st);
	p += lens[0];
	for (size_t i = 1; i < n_params; i++) {
		const size_t at = (i - 1) * CAP_CPUS_MAX, left = st->n_cpus - at;

		lens[i] = trailer_cpus_put(p, st->cpus + at,
					   left < CAP_CPUS_MAX ? left : CAP_CPUS_MAX);
		p += lens[i];
	}
	hdr->len = p - (char *)hdr;
	return put_own(w, w->out.last_ns);
}

/* Makes the blocks of a checkpoint, in *memory, as a file of its own. The events in it are none of
 * the file's. */
static int make_checkpoint(struct scap_writer *w, struct checkpoint *cp, struct sink **memory,
			   const struct scap_state *state, int (*put_known)(void *ctx), void *ctx)
{
	static const struct scap_log silent;
	const struct out file = w->out;
	int err = sink_open_memory(memory, &silent);

	if (err)
		return err;
	w->out = (struct out){.log = silent, .sink = *memory, .texts = packed_texts_new()};
	err = w->out.texts ? begin_section(w, state) : -ENOMEM;
	if (!err && put_known)
		err = put_known(ctx);
	*cp = (struct checkpoint){
		.num = file.n_numbered,
		.n_own = w->out.n_numbered,
		.first_ns = file.first_ns,
		.defaults = file.defaults,
	};
	packed_texts_free(w->out.texts);
	w->out = file;
	return err;
}

/* Puts the packed blocks as a row of events, the first of which begins a member or frame. */
static int put_checkpoint(struct scap_writer *w, const struct checkpoint *cp, const uint8_t *packed)
{
	struct checkpoint_place place = {.ts_ns = w->out.most_ns, .num = cp->num};
	int err = sink_flush(w->out.sink);

	place.at = sink_bytes(w->out.sink);
	place.unpacked_at = sink_unpacked(w->out.sink);
	for (size_t at = 0; at < cp->packed_sz && !err; at += checkpoint_part(cp, at))
		err = checkpoint_event(&w->scratch, cp, packed, at) ?: put_private(w);
	if (!err)
		checkpoint_index_add(&w->index, &place, cp->packed_sz);
	packed_texts_forget(w->out.texts);
	return err;
}

int scap_writer_wants_checkpoint(const struct scap_writer *w)
{
	return !w->out.goes_back &&
	       checkpoint_is_due(&w->index, sink_bytes(w->out.sink), sink_unpacked(w->out.sink));
}

int scap_writer_checkpoint(struct scap_writer *w, const struct scap_state *state, uint64_t room,
			   int (*put_known)(void *ctx), void *ctx)
{
	struct file_buf packed = {0};
	struct sink *memory = NULL;
	struct checkpoint cp;
	ssize_t sz = make_checkpoint(w, &cp, &memory, state, put_known, ctx);
	int err = 0;

	if (!sz) {
		const uint8_t *blocks = sink_memory(memory, &cp.sz);

		sz = checkpoint_pack(&packed, blocks, cp.sz);
	}
	if (memory)
		sink_close(memory, NULL);
	if (sz > 0 && checkpoint_file_sz((uint64_t)sz) < room) {
		cp.packed_sz = (size_t)sz;
		err = put_checkpoint(w, &cp, packed.p);
	} else { /* tried again later */
		scap_writer_skip_checkpoint(w);
	}
	free(packed.p);
	return err;
}

/* Puts the index; @at receives the offset of its member or frame. */
static int put_index(struct scap_writer *w, uint64_t *at)
{
	int err = sink_flush(w->out.sink);

	*at = sink_bytes(w->out.sink);
	return err ?: checkpoint_index_event(&w->scratch, &w->index, *at) ?: put_private(w);
}

/* The end of a section, and of a file with an index. */
static int put_end(struct scap_writer *w, const struct scap_stats *st)
{
	const bool has_index = w->index.n && !w->out.goes_back;
	uint8_t tail[CHECKPOINT_TAIL_MAX];
	uint64_t index_at = 0;
	int err = has_index ? put_index(w, &index_at) : 0;

	/* So that its checksums are those of all bytes before it. */
	if (!err && sink_sums(w->out.sink))
		err = sink_flush(w->out.sink);
	if (!err)
		err = put_closing(w, st);
	if (err || !has_index)
		return err;
	err = sink_flush(w->out.sink);
	return err
		       ?: sink_put_tail(w->out.sink, tail,
					checkpoint_tail(tail, w->compress, index_at,
							sink_bytes(w->out.sink)));
}

int scap_writer_section(struct scap_writer *w, const struct scap_state *state)
{
	static const struct scap_stats none;
	int err = put_closing(w, &none);

	w->out.goes_back = true;
	w->out.n_events = w->out.n_private = w->out.last_ns = 0;
	w->out.defaults = EVT_DEFAULTS_SAKER;
	packed_texts_clear(w->out.texts);
	return err ? err : begin_section(w, state);
}

int scap_writer_close(struct scap_writer *w, const struct scap_stats *st, uint64_t *bytes)
{
	int err = 0, close_err;

	if (!w)
		return 0;
	if (st && w->out.sink)
		err = put_end(w, st);
	close_err = sink_close(w->out.sink, bytes);
	for (size_t i = 0; i < EVT_INDEX_MAX; i++)
		free(w->rules[i].projection);
	free(w->scratch.p);
	free(w->index.v);
	packed_texts_free(w->out.texts);
	free(w->provenance);
	free(w);
	return err ? err : close_err;
}
