/* SPDX-License-Identifier: Apache-2.0 */
#include "flight.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "file/scap_file.h"
#include "file_guard.h"
#include "say.h"

enum {
	BLOCK_SZ = 2 << 20, /* a huge page: first use of memory costs more than the copy */
	CATCH_UP = 16, /* events that are written for each new one */
	CATCH_UP_IDLE = 4096,
	KEYS_MAX = 1024, /* beyond, the one that was used for longest goes */
	FILES_MAX = 100, /* default */
	SPANS_MAX = 10, /* maximum length of a file after its first trigger, in recorded times */
};

#define MEMORY_DEFAULT (256u << 20)
#define EVERY_DEFAULT_NS 60000000000ull
#define LATE_NS 500000000ull /* an event may come from the rings that much later */

/* An event in memory; its bytes follow. */
struct kept {
	uint64_t ts_ns, true_ns, num;
	uint16_t cpu, type, nr, flags;
	uint32_t len;
	uint32_t begins; /* the part begins with it: only for files that begin with the part */
};

struct block {
	struct block *next;
	size_t sz, used;
	uint8_t bytes[];
};

struct part {
	struct part *next;
	struct scap_state_build *state;
	uint32_t number;
	uint64_t begin_ns;
	uint64_t bytes; /* as flight.bytes */
	struct block *first, *last;
};

#define BLOCK_ROOM (BLOCK_SZ - sizeof(struct block))

/* Where the open file continues. */
struct place {
	struct part *part;
	struct block *block;
	size_t at;
};

struct key {
	char *text; /* owned; NULL: free */
	uint64_t ts_ns; /* of its last file */
};

struct flight {
	const struct options *o;
	char *provenance;
	struct part *first, *last;
	struct block *unused; /* of the usual size */
	uint64_t bytes; /* of events, without those that parts begin with */
	uint32_t n_parts;
	int begins; /* what the last part begins with is put */
	struct key keys[KEYS_MAX];
	/* The open file. */
	struct scap_writer *writer; /* NULL: none */
	struct file_guard guard;
	struct place place;
	uint32_t first_part; /* its number */
	char *path, *what;
	uint64_t from_ns, trigger_ns, until_ns;
	uint64_t last_ns; /* of its last event, or of its end if that passed */
	uint64_t n_events, n_merged;
	/* In all. */
	uint64_t n_files, n_bytes;
	uint64_t n_too_soon, n_too_many; /* triggers without a file */
	int is_full; /* all files together have --max-size */
	int failed;
};

static uint64_t files_max(const struct flight *f)
{
	return f->o->n_pieces ?: FILES_MAX;
}

static uint64_t memory_max(const struct flight *f)
{
	return f->o->flight.memory ?: MEMORY_DEFAULT;
}

static uint64_t every_ns(const struct flight *f)
{
	return f->o->flight.every_ns ?: EVERY_DEFAULT_NS;
}

static int use_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST) {
		say("cannot create the folder %s: %s", path, strerror(errno));
		return -EINVAL;
	}
	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		say("%s is no folder: --flight-recorder writes its files to a folder", path);
		return -EINVAL;
	}
	return 0;
}

int flight_new(struct flight **out, const struct options *o, const char *provenance)
{
	struct flight *f = calloc(1, sizeof(*f));
	int err = f ? use_folder(o->write) : -ENOMEM;

	if (err) {
		free(f);
		return err;
	}
	f->o = o;
	f->provenance = strdup(provenance);
	if (!f->provenance) {
		free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

static void free_blocks(struct block *b)
{
	while (b) {
		struct block *next = b->next;

		free(b);
		b = next;
	}
}

/* Blocks of the usual size are used again. */
static void free_part(struct flight *f, struct part *p)
{
	while (p->first) {
		struct block *b = p->first;

		p->first = b->next;
		b->next = b->sz == BLOCK_ROOM ? f->unused : NULL;
		if (b->sz == BLOCK_ROOM)
			f->unused = b;
		else
			free(b);
	}
	scap_state_build_free(p->state);
	free(p);
}

static void free_parts(struct flight *f)
{
	while (f->first) {
		struct part *next = f->first->next;

		free_part(f, f->first);
		f->first = next;
	}
	f->last = NULL;
	f->bytes = 0;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	scap_writer_close(f->writer, NULL, NULL);
	free_parts(f);
	free_blocks(f->unused);
	for (size_t i = 0; i < KEYS_MAX; i++)
		free(f->keys[i].text);
	free(f->path);
	free(f->what);
	free(f->provenance);
	free(f);
}

/* ---- the memory ---- */

/* Returns whether the time went back, in a file of another tool: earlier parts are of no use. */
static int went_back(const struct flight *f, uint64_t ts_ns)
{
	return f->last && ts_ns + f->o->flight.span_ns < f->last->begin_ns;
}

int flight_is_due(const struct flight *f, uint64_t ts_ns)
{
	/* Two parts, and the beginning of a third one, have to fit. */
	return !f->last || ts_ns >= f->last->begin_ns + f->o->flight.span_ns ||
	       went_back(f, ts_ns) || f->last->bytes >= memory_max(f) / 2;
}

/* The oldest part is not needed once the others begin early enough, or do not fit beside it. */
static int can_drop_first(const struct flight *f, uint64_t ts_ns)
{
	const struct part *second = f->first ? f->first->next : NULL;

	if (!second || (f->writer && f->place.part == f->first))
		return 0;
	return second->begin_ns + f->o->flight.span_ns <= ts_ns || f->bytes > memory_max(f) / 2;
}

static void drop_old(struct flight *f, uint64_t ts_ns)
{
	while (can_drop_first(f, ts_ns)) {
		struct part *old = f->first;

		f->first = old->next;
		f->bytes -= old->bytes;
		free_part(f, old);
	}
}

static int write_some(struct flight *f, unsigned int n);

int flight_begin(struct flight *f, struct scap_state_build *state, uint64_t ts_ns)
{
	struct part *p = calloc(1, sizeof(*p));

	if (!p) {
		scap_state_build_free(state);
		return -ENOMEM;
	}
	if (went_back(f, ts_ns))
		flight_section(f);
	/* The file must not hold parts in memory. */
	while (f->writer && f->place.part != f->last && write_some(f, CATCH_UP_IDLE))
		;
	drop_old(f, ts_ns);
	*p = (struct part){.state = state, .number = ++f->n_parts, .begin_ns = ts_ns};
	*(f->last ? &f->last->next : &f->first) = p;
	f->last = p;
	f->begins = 1;
	return 0;
}

void flight_begun(struct flight *f)
{
	f->begins = 0;
}

uint32_t flight_part(const struct flight *f)
{
	return f->n_parts;
}

static struct block *new_block(struct flight *f, size_t need)
{
	const size_t sz = need > BLOCK_ROOM ? need : BLOCK_ROOM;
	struct block *b = sz == BLOCK_ROOM ? f->unused : NULL;

	if (b) {
		f->unused = b->next;
	} else {
		b = aligned_alloc(BLOCK_SZ, (sizeof(*b) + sz + BLOCK_SZ - 1) / BLOCK_SZ * BLOCK_SZ);
		if (b)
			madvise(b, BLOCK_SZ, MADV_HUGEPAGE);
	}
	if (!b)
		return NULL;
	*b = (struct block){.sz = sz};
	return b;
}

static struct block *add_block(struct flight *f, struct part *p, size_t need)
{
	struct block *b = new_block(f, need);

	if (!b)
		return NULL;
	*(p->last ? &p->last->next : &p->first) = b;
	p->last = b;
	return b;
}

/* Events begin at multiples of eight bytes. */
static size_t room_of(uint32_t len)
{
	return (sizeof(struct kept) + len + 7) & ~(size_t)7;
}

static int keep(struct flight *f, const struct scap_evt *evt)
{
	struct part *p = f->last;
	const uint32_t len = evt->hdr->len;
	const size_t need = room_of(len);
	struct block *b = p->last;
	struct kept *k;

	if (!b || b->sz - b->used < need)
		b = add_block(f, p, need);
	if (!b)
		return -ENOMEM;
	k = (struct kept *)(b->bytes + b->used);
	*k = (struct kept){.ts_ns = evt->ts_ns,
			   .true_ns = evt->true_ns,
			   .num = evt->num,
			   .cpu = evt->cpu,
			   .type = evt->type,
			   .nr = evt->nr,
			   .flags = evt->flags,
			   .len = len,
			   .begins = f->begins};
	memcpy(k + 1, evt->hdr, len);
	b->used += need;
	if (f->begins)
		return 0;
	p->bytes += need;
	f->bytes += need;
	return 0;
}

int flight_put(struct flight *f, const struct scap_evt *evt)
{
	const int err = f->last ? keep(f, evt) : 0;

	if (f->writer)
		write_some(f, CATCH_UP);
	return err;
}

/* ---- the file ---- */

/* Returns 0 if @end_ns is earlier: an event that is late may trigger a file. */
static double seconds_between(uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e9 : 0;
}

static void say_file(const struct flight *f)
{
	const double before = seconds_between(f->from_ns, f->trigger_ns);
	const double after = seconds_between(f->trigger_ns, f->last_ns);

	fprintf(stderr, "saker: %s: %" PRIu64 " events, %.1f s before to %.1f s after %s", f->path,
		f->n_events, before, after, f->what);
	if (f->n_merged)
		fprintf(stderr, ", with %" PRIu64 " more %s", f->n_merged,
			f->n_merged == 1 ? "trigger" : "triggers");
	fputc('\n', stderr);
}

/* Closes the file, and says what it has; @err: writing failed. */
static void end_file(struct flight *f, int err)
{
	static const struct scap_stats none;
	const unsigned int before = say_n_errors();
	uint64_t bytes = 0;

	err = scap_writer_close(f->writer, &none, &bytes) ?: err;
	f->writer = NULL;
	f->n_bytes += bytes;
	f->failed |= err != 0;
	if (err)
		say_cause(before, f->path, err);
	else
		say_file(f);
}

/* Ends the file whose time is over; nothing may have happened up to its end. */
static void end_in_time(struct flight *f)
{
	f->last_ns = f->until_ns;
	end_file(f, 0);
}

/* Returns whether a limit ends the file. Later ones may have room on the file system again. */
static int is_at_limit(struct flight *f, size_t sz)
{
	const uint64_t bytes = scap_writer_bytes(f->writer);
	enum file_guard_end end;

	if (!file_guard_is_due(&f->guard, bytes, sz))
		return 0;
	end = file_guard_look(&f->guard, f->o, f->path, scap_writer_fd(f->writer), bytes,
			      f->n_bytes + bytes, sz);
	f->is_full = end == FILE_REACHED_SIZE;
	f->failed |= end == FILE_LEAVES_NO_ROOM;
	return end != FILE_GOES_ON;
}

/* Returns the next event for the file; NULL: none yet. */
static const struct kept *next_kept(struct flight *f)
{
	struct place *at = &f->place;

	for (;;) {
		if (at->block && at->at < at->block->used)
			return (const struct kept *)(at->block->bytes + at->at);
		if (at->block ? !at->block->next : !at->part->first) {
			if (!at->part->next)
				return NULL;
			*at = (struct place){.part = at->part->next};
			continue;
		}
		*at = (struct place){.part = at->part,
				     .block = at->block ? at->block->next : at->part->first};
	}
}

static int write_one(struct flight *f, const struct kept *k)
{
	struct scap_evt evt = {.hdr = (const struct ppm_evt_hdr *)(k + 1),
			       .ts_ns = k->ts_ns,
			       .true_ns = k->true_ns,
			       .num = k->num,
			       .cpu = k->cpu,
			       .type = k->type,
			       .nr = k->nr,
			       .flags = k->flags};

	f->place.at += room_of(k->len);
	if (k->begins && f->place.part->number != f->first_part)
		return 0;
	f->last_ns = k->ts_ns;
	if (k->begins || k->ts_ns < f->from_ns)
		evt.flags |= SCAP_EVT_F_STATE_ONLY;
	else
		f->n_events += k->num && !(k->flags & (SCAP_EVT_F_STATE_ONLY | SCAP_EVT_F_HIDDEN));
	return scap_writer_put(f->writer, &evt);
}

/* Writes up to @n events; ends the file behind its last one. Returns whether there may be more. */
static int write_some(struct flight *f, unsigned int n)
{
	for (unsigned int i = 0; i < n && f->writer; i++) {
		const struct kept *k = next_kept(f);
		int err = 0;

		if (!k)
			return 0;
		if (k->ts_ns > f->until_ns)
			end_in_time(f);
		else if (is_at_limit(f, k->len))
			end_file(f, 0);
		else
			err = write_one(f, k);
		if (err)
			end_file(f, err);
	}
	return f->writer != NULL;
}

/* Returns the path of a file around @ts_ns; owned. NULL without memory. */
static char *file_path(const struct flight *f, uint64_t ts_ns)
{
	const time_t s = (time_t)(ts_ns / 1000000000);
	char stamp[32] = "", *path;
	struct tm tm;

	if (localtime_r(&s, &tm))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	if (asprintf(&path, "%s/flight-%s.%03u.scap", f->o->write, stamp,
		     (unsigned int)(ts_ns / 1000000 % 1000)) < 0)
		return NULL;
	return path;
}

/* Returns the newest part that begins early enough, or else the oldest. */
static struct part *part_before(const struct flight *f, uint64_t ts_ns)
{
	struct part *found = f->first;

	for (struct part *p = f->first; p && p->begin_ns <= ts_ns; p = p->next)
		found = p;
	return found;
}

static int open_file(struct flight *f, uint64_t ts_ns, const char *what)
{
	const struct scap_writer_opts opts = {
		.sz = sizeof(opts),
		.compress = f->o->compress,
		.provenance = f->provenance,
		.log = say_log,
	};
	const uint64_t span = f->o->flight.span_ns, from_ns = ts_ns > span ? ts_ns - span : 0;
	struct part *p = part_before(f, from_ns);

	free(f->path);
	free(f->what);
	f->path = file_path(f, ts_ns);
	f->what = strdup(what);
	if (!f->path || !f->what)
		return -ENOMEM;
	f->from_ns = from_ns > p->begin_ns ? from_ns : p->begin_ns;
	f->trigger_ns = ts_ns;
	f->until_ns = ts_ns + span;
	f->n_events = f->n_merged = f->last_ns = 0;
	f->guard = (struct file_guard){0};
	f->place = (struct place){.part = p};
	f->first_part = p->number;
	return scap_writer_open(&f->writer, f->path, scap_state_build_done(p->state), &opts);
}

/* Returns the entry of @key, or the one that it replaces. */
static struct key *find_key(struct flight *f, const char *key)
{
	struct key *oldest = f->keys;

	for (size_t i = 0; i < KEYS_MAX; i++) {
		if (f->keys[i].text && strcmp(f->keys[i].text, key) == 0)
			return &f->keys[i];
		if (!f->keys[i].text || (oldest->text && f->keys[i].ts_ns < oldest->ts_ns))
			oldest = &f->keys[i];
	}
	free(oldest->text);
	*oldest = (struct key){.text = strdup(key)};
	return oldest;
}

/* Returns whether the limits allow a file now. @k: NULL: none. */
static int may_begin(struct flight *f, uint64_t ts_ns, const struct key *k)
{
	if (k && k->ts_ns && ts_ns - k->ts_ns < every_ns(f)) {
		f->n_too_soon++;
		return 0;
	}
	if (f->n_files >= files_max(f) || f->is_full) {
		f->n_too_many++;
		return 0;
	}
	return 1;
}

/* Writes what the memory has for the open file, and ends it. */
static void complete_file(struct flight *f)
{
	while (f->writer && write_some(f, CATCH_UP_IDLE))
		;
	if (f->writer)
		end_file(f, 0);
}

void flight_trigger(struct flight *f, uint64_t ts_ns, const char *key, const char *what)
{
	const uint64_t span = f->o->flight.span_ns;
	const unsigned int before = say_n_errors();
	struct key *k;
	int err;

	if (!f->first) {
		say("no event came yet: no file after %s", what);
		return;
	}
	if (f->writer && ts_ns <= f->until_ns && ts_ns <= f->trigger_ns + SPANS_MAX * span) {
		f->n_merged++;
		if (ts_ns + span > f->until_ns)
			f->until_ns = ts_ns + span;
		return;
	}
	complete_file(f);
	k = key ? find_key(f, key) : NULL;
	if (!may_begin(f, ts_ns, k))
		return;
	err = open_file(f, ts_ns, what);
	if (!err) {
		f->n_files++;
		if (k)
			k->ts_ns = ts_ns;
		return;
	}
	f->failed = 1;
	f->writer = NULL;
	say_cause(before, f->path ?: f->o->write, err);
}

void flight_idle(struct flight *f, uint64_t now_ns)
{
	const unsigned int before = say_n_errors();
	int err;

	if (!f->writer || write_some(f, CATCH_UP_IDLE) || !f->writer)
		return;
	if (now_ns > f->until_ns + LATE_NS) {
		end_in_time(f);
		return;
	}
	err = scap_writer_flush(f->writer);
	if (!err)
		return;
	say_cause(before, f->path, err);
	end_file(f, err);
}

void flight_section(struct flight *f)
{
	complete_file(f);
	free_parts(f);
}

static void say_left_out(uint64_t n, const char *why)
{
	if (n)
		fprintf(stderr, "saker: %" PRIu64 " more %s %s: no file\n", n,
			n == 1 ? "trigger" : "triggers", why);
}

int flight_finish(struct flight *f)
{
	complete_file(f);
	say_left_out(f->n_too_soon, "came soon after a file with the same --trigger-key");
	say_left_out(f->n_too_many, "came after the last file");
	return f->failed;
}
