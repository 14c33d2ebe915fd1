/* SPDX-License-Identifier: Apache-2.0 */
#include "line_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "objfile/helper_process.h"
#include "seal_process.h"

enum {
	ANSWER_MS = 3000, /* CPU time */
	FIRST_ANSWER_MS = 20000, /* CPU time of the first answer: the file is read */
	FILE_MS = 60000, /* CPU time of all answers about a file */
	ALL_MS = 600000, /* of all answers about all files; grows by a tenth of the elapsed time */
	ALL_SHARE = 10,
	/* Elapsed time for each ms of CPU time: a busy machine makes the helper wait that long. A
	 * blocked helper is given up then. */
	WAIT_SHARE = 5,
	PATIENCE_MS = 2000, /* wait for one answer, while others wait for us */
	PATIENCE_MAX_MS = 4000, /* for all answers; grows by a tenth of the elapsed time */
	PATIENCE_SHARE = 10,
	LATE_MAX = 64,
	RESTARTS_MAX = 8,
	FILES_OPEN = 16, /* open at once in the helper; beyond, the oldest is read again */
};
/* Of address space: files are mapped. Address sanitizers need all there is. */
#define MEMORY_MAX (SEAL_PROCESS_WHOLE ? 8ull << 30 : RLIM_INFINITY)
#define FILES_MAX (1u << 17)
#define NEVER_ASKED UINT32_MAX /* as the CPU time of a file: not queried again */

struct request {
	uint64_t addr;
	uint32_t file;
	uint32_t has_fd;
};

enum { ANSWER_FRAMES, ANSWER_NEEDS_FD };

struct answer {
	uint32_t kind, n;
	struct dwarf_frame frames[DWARF_FRAMES_MAX];
};

struct line_server {
	struct line_server_opts opts;
	struct helper h;
	int n_restarts;
	int said_last; /* failures after which no file is queried any more */
	int said_all; /* the limit for all files was reported */
	uint32_t *spent_us; /* CPU time by number of the file; NEVER_ASKED */
	int64_t all_us; /* CPU time for all files */
	int is_busy; /* with this */
	struct request out;
	int64_t since_ms;
	int64_t since_us; /* the helper's CPU time then, which does not run while it is idle */
	int64_t begin_ms, waited_ms; /* of patience */
	/* Late answers, which came during another query. */
	struct late {
		uint64_t addr;
		uint32_t file, n;
		struct dwarf_frame *v; /* NULL: free */
	} late[LATE_MAX];
	struct answer answer;
};

/* ---- the process ---- */

struct open_file {
	uint32_t file; /* number + 1; 0: free */
	int fd;
	struct dwarf_lines *lines; /* NULL: none */
	uint64_t used;
};

static int limit_self(void)
{
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};

	prctl(PR_SET_NAME, "saker-lines");
	setrlimit(RLIMIT_AS, &memory);
	return seal_process();
}

static struct open_file *slot_for(struct open_file *v, uint32_t file, int fd, uint64_t now)
{
	struct open_file *oldest = &v[0];

	for (int i = 0; i < FILES_OPEN; i++) {
		if (v[i].file == file + 1) {
			if (fd >= 0)
				close(fd);
			v[i].used = now;
			return &v[i];
		}
		if (v[i].used < oldest->used)
			oldest = &v[i];
	}
	if (fd < 0)
		return NULL;
	dwarf_lines_close(oldest->lines);
	if (oldest->file)
		close(oldest->fd);
	*oldest = (struct open_file){file + 1, fd, dwarf_lines_open(fd), now};
	return oldest;
}

static void serve(void)
{
	static struct open_file files[FILES_OPEN];
	static struct answer a;
	struct request r;
	uint64_t now = 0;
	int fd;

	if (limit_self())
		return;
	while (helper_receive(HELPER_FD, &r, sizeof(r), &fd) == sizeof(r)) {
		const struct open_file *f = slot_for(files, r.file, fd, ++now);

		a.kind = f ? ANSWER_FRAMES : ANSWER_NEEDS_FD;
		a.n = f && f->lines ? (uint32_t)dwarf_lines_find(f->lines, r.addr, a.frames) : 0;
		if (helper_send(HELPER_FD, &a,
				offsetof(struct answer, frames) + a.n * sizeof(a.frames[0]), -1))
			return;
	}
}

static int start(struct line_server *s)
{
	s->since_us = 0;
	return s->n_restarts++ > RESTARTS_MAX ? -EUSERS : helper_start(&s->h, s->opts.serve);
}

/* Returns the helper's CPU time; @unknown: it ended. */
static int64_t cpu_us(const struct line_server *s, int64_t unknown)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(s->h.pid, &clock) || clock_gettime(clock, &t))
		return unknown;
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void stop(struct line_server *s)
{
	s->is_busy = 0;
	helper_end(&s->h);
}

struct line_server *line_server_new(const struct line_server_opts *opts)
{
	struct line_server *s = calloc(1, sizeof(*s));

	if (s)
		s->spent_us = calloc(FILES_MAX, sizeof(*s->spent_us));
	if (!s || !s->spent_us) {
		free(s);
		return NULL;
	}
	s->opts = opts ? *opts : (struct line_server_opts){0};
	s->opts.serve = s->opts.serve ?: serve;
	s->opts.answer_ms = s->opts.answer_ms ?: ANSWER_MS;
	s->opts.first_answer_ms = s->opts.first_answer_ms ?: FIRST_ANSWER_MS;
	s->opts.file_ms = s->opts.file_ms ?: FILE_MS;
	s->opts.all_ms = s->opts.all_ms ?: ALL_MS;
	s->opts.wait_share = s->opts.wait_share ?: WAIT_SHARE;
	s->begin_ms = clock_now_ms();
	return s;
}

int line_server_pid(const struct line_server *s)
{
	return s->h.pid;
}

void line_server_free(struct line_server *s)
{
	if (!s)
		return;
	stop(s);
	for (size_t i = 0; i < LATE_MAX; i++)
		free(s->late[i].v);
	free(s->spent_us);
	free(s);
}

/* ---- asking ---- */

static const char *reason(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "an answer takes too long";
	case -ETIME:
		return "its answers take too long together";
	case -EDQUOT:
		return "reading lines of all files takes too long";
	case -EUSERS:
		return "too many files made the process fail that reads lines";
	case -EPIPE:
	case -ECONNRESET:
	case -EBADMSG:
		return "the process that reads them failed";
	}
	return strerror(-err);
}

/* Reports it once per file, and once for all files after too many failures. */
static void give_up(struct line_server *s, uint32_t file, int err)
{
	stop(s);
	if (s->opts.gave_up && !s->said_last && s->spent_us[file] != NEVER_ASKED)
		s->opts.gave_up(s->opts.ctx, file, reason(err));
	s->said_last |= err == -EUSERS;
	s->spent_us[file] = NEVER_ASKED;
}

static int send_request(struct line_server *s, uint32_t file, uint64_t addr, int fd)
{
	s->out = (struct request){.addr = addr, .file = file, .has_fd = fd >= 0};
	s->since_ms = clock_now_ms();
	s->is_busy = 1;
	return helper_send(s->h.fd, &s->out, sizeof(s->out), fd);
}

/* Receives a complete answer, with terminated texts. Returns 0. */
static int get_answer(struct line_server *s)
{
	struct answer *a = &s->answer;
	int fd;
	const ssize_t n = helper_receive(s->h.fd, a, sizeof(*a), &fd);

	s->is_busy = 0;
	if (fd >= 0) /* only a helper that was taken over sends this */
		close(fd);
	if (fd >= 0 || n < (ssize_t)offsetof(struct answer, frames) || a->n > DWARF_FRAMES_MAX ||
	    n < (ssize_t)(offsetof(struct answer, frames) + a->n * sizeof(a->frames[0])))
		return -EBADMSG;
	for (uint32_t i = 0; i < a->n; i++) {
		a->frames[i].function[DWARF_NAME_MAX - 1] = '\0';
		a->frames[i].file[DWARF_NAME_MAX - 1] = '\0';
	}
	return 0;
}

/* Returns the milliseconds to wait now: up to the limit of the answer, or a moment. */
static int patience(const struct line_server *s, int64_t left, int can_wait)
{
	const int64_t room =
		PATIENCE_MAX_MS + (clock_now_ms() - s->begin_ms) / PATIENCE_SHARE - s->waited_ms;
	const int64_t some = room < PATIENCE_MS ? room : PATIENCE_MS;

	if (left <= 0 || (!can_wait && some <= 0))
		return 0;
	return (int)(can_wait || left < some ? left : some);
}

/* Returns the milliseconds before which the answer cannot exceed its limit: CPU time is at most
 * elapsed time. */
static int64_t in_time_ms(const struct line_server *s)
{
	const int64_t limit = s->out.has_fd ? s->opts.first_answer_ms : s->opts.answer_ms;
	const int64_t used = (cpu_us(s, s->since_us) - s->since_us) / 1000;
	const int64_t left = s->since_ms + limit * s->opts.wait_share - clock_now_ms();

	return limit - used < left ? limit - used : left;
}

/* Adds the CPU time since the request to the file's. */
static void charge(struct line_server *s)
{
	const int64_t now = cpu_us(s, s->since_us);
	const int64_t spent = s->spent_us[s->out.file] + now - s->since_us;

	s->all_us += now - s->since_us;
	s->since_us = now;
	s->spent_us[s->out.file] = spent < NEVER_ASKED ? (uint32_t)spent : NEVER_ASKED - 1;
}

/* Waits for the answer to the last request. Returns 0 with it, -EAGAIN: not there yet, or another
 * negative errno: the helper failed. */
static int await(struct line_server *s, int can_wait, int is_new)
{
	const int64_t begin = clock_now_ms();
	int64_t left = in_time_ms(s);
	int late;

	do {
		const int ms = is_new || can_wait ? patience(s, left, can_wait) : 0;

		late = helper_wait(s->h.fd, ms);
		left = late ? in_time_ms(s) : 0;
	} while (can_wait && left > 0);
	s->waited_ms += clock_now_ms() - begin;
	if (late && left > 0)
		return -EAGAIN;
	charge(s);
	return late ? -ETIMEDOUT : get_answer(s);
}

static struct late *late_slot(struct line_server *s, uint32_t file, uint64_t addr)
{
	return &s->late[((addr ^ (uint64_t)file << 40) * 0x9e3779b97f4a7c15ull) >> 58];
}

static void keep_late(struct line_server *s)
{
	struct late *l = late_slot(s, s->out.file, s->out.addr);
	const size_t sz = (s->answer.n ? s->answer.n : 1) * sizeof(*l->v);

	if (s->answer.kind != ANSWER_FRAMES)
		return;
	free(l->v);
	*l = (struct late){s->out.addr, s->out.file, s->answer.n, malloc(sz)};
	if (l->v)
		memcpy(l->v, s->answer.frames, s->answer.n * sizeof(*l->v));
}

/* Returns the number of frames of a late answer; -ENOENT: none. */
static int take_late(struct line_server *s, uint32_t file, uint64_t addr, struct dwarf_frame *out)
{
	struct late *l = late_slot(s, file, addr);

	if (!l->v || l->file != file || l->addr != addr)
		return -ENOENT;
	memcpy(out, l->v, l->n * sizeof(*out));
	free(l->v);
	l->v = NULL;
	return (int)l->n;
}

/* Finishes the pending request: returns 0, or -EAGAIN if it continues. */
static int settle(struct line_server *s, int can_wait)
{
	const uint32_t file = s->out.file;
	const int err = s->is_busy ? await(s, can_wait, 0) : -ENOENT;

	if (!err)
		keep_late(s);
	else if (err != -EAGAIN && err != -ENOENT)
		give_up(s, file, err);
	return err == -EAGAIN ? err : 0;
}

static int exchange(struct line_server *s, uint32_t file, uint64_t addr, int fd, int can_wait)
{
	return send_request(s, file, addr, fd) ?: await(s, can_wait, 1);
}

/* Like await; -ENOENT: the file has no debug information. */
static int query(struct line_server *s, uint32_t file, line_open_fn open, void *ctx, uint64_t addr,
		 int can_wait)
{
	int fd, err = s->h.pid ? 0 : start(s);

	err = err ?: exchange(s, file, addr, -1, can_wait);
	if (err || s->answer.kind == ANSWER_FRAMES)
		return err;
	fd = open(ctx);
	if (fd < 0)
		return -ENOENT;
	err = exchange(s, file, addr, fd, can_wait);
	close(fd);
	return err ?: s->answer.kind == ANSWER_FRAMES ? 0 : -EBADMSG;
}

/* Any user can have many files that each take long. Returns whether there is time for another
 * query. */
static int has_time(struct line_server *s, uint32_t file)
{
	if (s->all_us / 1000 < s->opts.all_ms + (clock_now_ms() - s->begin_ms) / ALL_SHARE)
		return 1;
	if (s->opts.gave_up && !s->said_all)
		s->opts.gave_up(s->opts.ctx, file, reason(-EDQUOT));
	s->said_all = 1;
	return 0;
}

int line_server_query(struct line_server *s, uint32_t file, line_open_fn open, void *ctx,
		      uint64_t addr, struct dwarf_frame out[DWARF_FRAMES_MAX], int can_wait)
{
	int err, n;

	if (file >= FILES_MAX)
		return 0;
	if (settle(s, can_wait))
		return -EAGAIN;
	n = take_late(s, file, addr, out);
	if (n >= 0)
		return n;
	if (s->spent_us[file] == NEVER_ASKED)
		return 0;
	if (s->spent_us[file] / 1000 >= s->opts.file_ms) {
		give_up(s, file, -ETIME);
		return 0;
	}
	if (!has_time(s, file))
		return 0;
	err = query(s, file, open, ctx, addr, can_wait);
	if (err == -EAGAIN && s->is_busy)
		return err;
	if (err == -ENOENT)
		s->spent_us[file] = NEVER_ASKED;
	else if (err)
		give_up(s, file, err);
	if (err)
		return 0;
	memcpy(out, s->answer.frames, s->answer.n * sizeof(out[0]));
	return (int)s->answer.n;
}
