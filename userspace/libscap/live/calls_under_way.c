// SPDX-License-Identifier: Apache-2.0
/*
 * A thread of its own reads the memory that a call's pointers point to, and is waited for at most
 * WAIT_NS: a page can leave the RAM after it was checked, and a watched process can keep it from
 * coming back. Without an answer in time all records are built without that memory.
 */
#include "live/calls_under_way.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capabilities.h"
#include "live/raw_call.h"
#include "thread_within.h"

#define WAIT_NS 500000000ull
#define CHUNK_ROWS 256

struct records {
	uint8_t *v;
	size_t sz, room;
};

/* Shared with the thread that reads; whichever releases it last frees it. */
struct calls_under_way {
	atomic_int n_refs;
	struct call_under_way *rows;
	size_t n_rows, room;
	/* Owned by the thread until it has ended, then by us. */
	struct records read;
	int read_err;
	struct records *records; /* the records to deliver; NULL: none yet */
	struct records plain;
	size_t at;
};

static void put_ref(struct calls_under_way *s)
{
	if (atomic_fetch_sub(&s->n_refs, 1) != 1)
		return;
	free(s->rows);
	free(s->read.v);
	free(s->plain.v);
	free(s);
}

static int read_rows(struct calls_under_way *s, int fd)
{
	ssize_t got;

	do {
		if (s->room - s->n_rows < CHUNK_ROWS) {
			const size_t room = 2 * s->room + CHUNK_ROWS;
			void *v = realloc(s->rows, room * sizeof(*s->rows));

			if (!v)
				return -ENOMEM;
			s->rows = v;
			s->room = room;
		}
		got = read(fd, s->rows + s->n_rows, (s->room - s->n_rows) * sizeof(*s->rows));
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (got > 0 && (size_t)got % sizeof(*s->rows))
			return -EPROTO;
		s->n_rows += got > 0 ? (size_t)got / sizeof(*s->rows) : 0;
	} while (got);
	return 0;
}

/* Builds all records; with @with_memory, with the values behind pointers. */
static int make_records(const struct calls_under_way *s, struct records *r, int with_memory)
{
	struct remote_memory mem = {.pagemap = -1};
	int n = 0;

	for (size_t i = 0; i < s->n_rows && n >= 0; i++) {
		if (r->room - r->sz < RAW_CALL_MAX) {
			const size_t room = 2 * r->room + 4 * RAW_CALL_MAX;
			void *v = realloc(r->v, room);

			if (!v) {
				n = -ENOMEM;
				break;
			}
			r->v = v;
			r->room = room;
		}
		remote_memory_of(&mem, (int)s->rows[i].tid);
		n = scap_raw_call(r->v + r->sz, r->room - r->sz, &s->rows[i],
				  with_memory ? &mem : NULL);
		r->sz += n > 0 ? (size_t)n : 0;
	}
	remote_memory_close(&mem);
	return n < 0 ? n : 0;
}

static void read_memory(void *arg)
{
	struct calls_under_way *s = arg;

	/* A process may hold this thread for ever, and the others drop theirs only later. */
	capabilities_keep(1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH);
	s->read_err = make_records(s, &s->read, 1);
}

static void end_left(void *arg)
{
	put_ref(arg);
}

/* Returns 1 if the records were read in time, else 0. */
static int wait_for_memory(struct calls_under_way *s)
{
	int done;

	atomic_fetch_add(&s->n_refs, 1);
	done = thread_run_within(read_memory, end_left, s, WAIT_NS);
	if (done) /* else the thread keeps its reference */
		put_ref(s);
	return done > 0 && !s->read_err;
}

/* The stream has the enters of later calls. */
static void drop_later(struct calls_under_way *s, uint64_t begin_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_rows; i++)
		if (s->rows[i].enter_ns < begin_ns)
			s->rows[n++] = s->rows[i];
	s->n_rows = n;
}

int calls_under_way_read(struct calls_under_way **out, int fd, uint64_t begin_ns)
{
	struct calls_under_way *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	atomic_init(&s->n_refs, 1);
	err = read_rows(s, fd);
	drop_later(s, begin_ns);
	if (!err && s->n_rows) {
		if (wait_for_memory(s)) {
			s->records = &s->read;
		} else {
			s->records = &s->plain;
			err = make_records(s, &s->plain, 0);
		}
	}
	if (err) {
		put_ref(s);
		return err;
	}
	*out = s;
	return 0;
}

void calls_under_way_free(struct calls_under_way *s)
{
	if (s)
		put_ref(s);
}

const struct rec_hdr *calls_under_way_first(const struct calls_under_way *s)
{
	if (!s->records || s->at == s->records->sz)
		return NULL;
	return (const struct rec_hdr *)(s->records->v + s->at);
}

void calls_under_way_pop(struct calls_under_way *s)
{
	const struct rec_hdr *rec = calls_under_way_first(s);

	if (rec)
		s->at += rec->len;
}
