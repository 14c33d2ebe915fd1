/* SPDX-License-Identifier: Apache-2.0 */
#include "top_feed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "filter/filter.h"
#include "privileges.h"
#include "say.h"
#include "state/inspector.h"
#include "top_capture.h"
#include "top_cell.h"
#include "top_job.h"
#include "top_side.h"

enum { IDLE_MS = 200, EVENTS_PER_NOTE = 65536 };

/* The first table of a view comes early, not after a whole interval; at once if it shows threads.
 */
#define FIRST_NS 250000000ull
#define DEFAULT_INTERVAL_NS 1000000000ull
#define LINES_INTERVAL_NS 200000000ull
/* How long a view of threads has stayed when the source is narrowed. */
#define STAYED_NS 5000000000ll

struct top_feed {
	const struct top_options *o;
	struct sinsp_filter *filter; /* of the command line; NULL: none */
	pthread_t thread;
	int has_thread, event_fd;

	/* of the thread */
	struct sinsp *s;
	uint64_t begin_ns, due_ns, last_ns, n_events;
	uint64_t n_lost_before; /* of the sources before this one */
	uint8_t at_end;
	unsigned int n_errors; /* of say_n_errors, before the step */
	unsigned int n_intervals; /* of the job so far */
	int64_t job_ns; /* when the job began: events may be late */
	uint64_t last_open_ns; /* when a source was opened for a job that goes on */
	uint8_t is_special; /* the source is that of one view alone */
	uint8_t is_fresh; /* the source was opened for the first job, which has not begun */
	struct top_needs needs; /* what the source has: few events, or all */
	struct top_times times; /* of a file */
	struct sinsp_evt evt; /* the last one */
	uint8_t has_evt; /* it belongs to the next interval */
	int64_t play_ns; /* CLOCK_MONOTONIC: when the next interval of a file is played */

	atomic_int is_wanted; /* request, clear or stop */
	pthread_mutex_t lock; /* all below, and the snapshots of the job */
	pthread_cond_t changed;
	struct top_job *job; /* what the thread fills; NULL: nothing yet */
	struct top_job *request; /* takes its place */
	uint8_t wants_clear;
	atomic_int wants_stop;
	struct top_feed_status status;
	struct top_times read_times; /* of a file that was read to its end */
	struct top_side side; /* partly; see there */
	unsigned int n_steps; /* tables to play in spite of a pause */
};

static int is_live(const struct top_feed *f)
{
	return !f->o->read;
}

/* Returns whether a table follows another: live, or of a file that is played. */
static int goes_on(const struct top_feed *f)
{
	return is_live(f) || f->job->play.is_on;
}

static void note(struct top_feed *f)
{
	const uint64_t one = 1;

	if (write(f->event_fd, &one, sizeof(one)) < 0)
		return; /* EAGAIN: it was noted often and not seen yet */
}

/* ---- the thread: intervals ---- */

static uint64_t interval_of(const struct top_feed *f)
{
	if (f->job->kind == TOP_FEED_ECHO || f->job->kind == TOP_FEED_DIG)
		return LINES_INTERVAL_NS;
	if (is_live(f) && !f->n_intervals && f->job->needs.few)
		return 0;
	if (is_live(f) && f->n_intervals <= f->job->needs.few)
		return FIRST_NS;
	return f->o->interval_ns ?: DEFAULT_INTERVAL_NS;
}

static void begin_interval(struct top_feed *f, uint64_t ns)
{
	f->begin_ns = ns;
	f->due_ns = ns + interval_of(f);
	f->n_events = 0;
}

static void update_status(struct top_feed *f)
{
	struct scap_stats st = {0};

	top_side_update(&f->side, is_live(f) ? f->s : NULL);
	f->status.record = f->side.record_status;
	f->status.n_events = f->n_events;
	f->status.at_end = f->at_end;
	if (!f->s)
		return;
	if (!is_live(f))
		f->status.progress = scap_progress(sinsp_source(f->s));
	else if (!scap_stats(sinsp_source(f->s), &st))
		f->status.n_lost = f->n_lost_before + st.n_dropped;
}

/* ---- the thread: the source ---- */

static void close_source(struct top_feed *f)
{
	struct scap_stats st = {0};

	if (f->s && is_live(f) && !scap_stats(sinsp_source(f->s), &st))
		f->n_lost_before += st.n_dropped;
	sinsp_close(f->s);
	f->s = NULL;
}

static int open_shared(struct top_feed *f)
{
	struct sinsp_filter_needs tasks = {0};
	int err = 0;

	if (!f->needs.few)
		return top_capture_open(&f->s, f->o, f->filter, 0);
	if (f->filter)
		err = sinsp_filter_needs(f->filter, &tasks);
	return err ?: top_capture_open_types(&f->s, f->o, f->needs.types, &tasks);
}

/* Returns whether what is beside the table takes any event: a capture file, the details of a row.
 */
static int uses_all(const struct top_feed *f)
{
	return f->side.record || f->side.watch;
}

/* A view of threads was returned to, and has stayed: the source of the views below it records far
 * more than it needs. */
static int is_wasteful(const struct top_feed *f)
{
	return is_live(f) && f->job->needs.few && !f->needs.few && !f->is_special && !uses_all(f) &&
	       clock_now_ns() - f->job_ns >= STAYED_NS;
}

/* Replaces the source of a job that goes on. */
static int reopen(struct top_feed *f, const struct top_needs *needs)
{
	int err;

	close_source(f);
	f->needs = *needs;
	err = open_shared(f);
	if (!err) {
		sinsp_cpu_use_read(f->s, interval_of(f));
		f->last_open_ns = scap_now_ns(sinsp_source(f->s));
	}
	return err;
}

/* ---- the thread: the end of an interval ---- */

/* Ends the interval of a live capture, or the file. */
static int end_interval(struct top_feed *f, uint64_t ns)
{
	struct top_job *job = f->job;
	int err = 0;

	if (job->kind == TOP_FEED_TABLE) {
		struct top_snapshot *snap = top_job_filling(job);

		if (is_live(f) && view_table_needs(snap->table) & FIELD_NEEDS_CPU_TIME)
			sinsp_cpu_use_read(f->s, interval_of(f));
		err = top_capture_add_waits(f->s, snap->table, ns, is_live(f));
		/* A thread is no event of a list. */
		err = err ?: view_table_end(snap->table, job->is_list ? NULL : f->s, ns);
		snap->end_ns = ns;
		snap->length_ns = ns > f->begin_ns && f->begin_ns ? ns - f->begin_ns : 0;
		snap->n_events = f->n_events;
	}
	pthread_mutex_lock(&f->lock);
	if (job->kind == TOP_FEED_TABLE)
		top_job_publish(job);
	if (top_job_is_graph(job))
		top_graph_tick(&job->graph, ns);
	update_status(f);
	pthread_mutex_unlock(&f->lock);
	note(f);
	if (err || !goes_on(f))
		return err;
	f->n_intervals++;
	err = is_wasteful(f) ? reopen(f, &f->job->needs) : 0;
	begin_interval(f, err || f->last_open_ns < ns ? ns : f->last_open_ns);
	err = err ?: job->kind == TOP_FEED_TABLE ? top_job_begin(job) : 0;
	return err;
}

/* Returns 1 if the event is for the next table, which begins after the time that an interval takes
 * at this speed. */
static int play(struct top_feed *f, const struct sinsp_evt *evt)
{
	const uint64_t length = f->o->interval_ns ?: DEFAULT_INTERVAL_NS;
	const int speed = f->job->play.speed;
	int err;

	if (!f->begin_ns)
		begin_interval(f, f->job->from_ns ?: evt->raw.ts_ns);
	if (evt->raw.ts_ns < f->due_ns)
		return 0;
	err = end_interval(f, f->due_ns);
	f->play_ns = clock_now_ns() + (int64_t)(speed < 0 ? length << -speed : length >> speed);
	return err ?: 1;
}

/* Returns the begin of the table of a whole file, or of a span of it. */
static uint64_t first_ns(const struct top_feed *f, const struct sinsp_evt *evt)
{
	const uint64_t begin = sinsp_first_ns(f->s), from = f->job->from_ns;

	if (!from || !begin)
		return evt->raw.ts_ns;
	return from > begin ? from : begin;
}

/* Returns 1 if the event is for the next table. */
static int take_event(struct top_feed *f, const struct sinsp_evt *evt)
{
	const uint64_t opened_ns = f->last_open_ns;
	int err = 0;

	/* Also an event that is not shown: where these never cease, no wait for one times out. */
	if (is_live(f) && evt->raw.ts_ns >= f->due_ns)
		err = end_interval(f, evt->raw.ts_ns);
	if (err || f->last_open_ns != opened_ns)
		return err; /* an event is gone with its capture */
	if (!top_capture_sees(f->s, evt, is_live(f)) || evt->raw.ts_ns < f->job->from_ns)
		return 0;
	if (f->job->to_ns && evt->raw.ts_ns >= f->job->to_ns) {
		f->last_ns = f->job->to_ns;
		return -ENODATA;
	}
	if (f->job->play.is_on)
		err = play(f, evt);
	if (err)
		return err;
	if (!is_live(f))
		top_times_add(&f->times, evt->raw.ts_ns);
	if (!f->begin_ns)
		f->begin_ns = first_ns(f, evt);
	if (f->last_ns < evt->raw.ts_ns)
		f->last_ns = evt->raw.ts_ns;
	if (++f->n_events % EVENTS_PER_NOTE == 0 && !is_live(f)) {
		pthread_mutex_lock(&f->lock);
		update_status(f);
		pthread_mutex_unlock(&f->lock);
		note(f);
	}
	if (f->job->kind == TOP_FEED_TABLE)
		return view_table_event(top_job_filling(f->job)->table, evt);
	err = top_job_format(f->job, evt);
	if (err <= 0)
		return err;
	pthread_mutex_lock(&f->lock);
	err = top_job_add(f->job, evt);
	pthread_mutex_unlock(&f->lock);
	return err;
}

/* ---- the thread: requests ---- */

/* Requests, waits and samples cost more than calls: a live capture has them only for the views that
 * need them. */
static int is_special(const struct top_job *job)
{
	const struct sinsp_filter *filter = top_job_filter(job);
	const unsigned int needs =
		FIELD_NEEDS_REQUESTS | FIELD_NEEDS_SLICES | FIELD_NEEDS_TRACERS | FIELD_NEEDS_TCP;

	return (top_job_needs(job) & needs) != 0 ||
	       (filter && sinsp_filter_names_type(filter, EVT_SAMPLE_E));
}

/* Live, the views without such needs share a capture of all calls that the command line selects,
 * but for views of threads, which need few. */
static int open_source(struct top_feed *f)
{
	static const struct top_needs all;
	const int special = is_live(f) && is_special(f->job);
	const struct top_needs *needs = uses_all(f) ? &all : &f->job->needs;
	int err;

	if (f->is_fresh || (is_live(f) && f->s && !special && !f->is_special &&
			    top_needs_cover(&f->needs, needs))) {
		f->is_fresh = 0;
		return 0;
	}
	close_source(f);
	f->is_special = (uint8_t)special;
	f->needs = *needs;
	if (is_live(f) && !special)
		err = open_shared(f);
	else
		err = top_capture_open(&f->s, f->o, top_job_filter(f->job), top_job_needs(f->job));
	if (!err && is_live(f))
		top_side_attach(&f->side, f->s);
	return err;
}

static int begin_job(struct top_feed *f)
{
	int err;

	f->n_intervals = 0;
	f->job_ns = clock_now_ns();
	f->at_end = 0;
	f->n_events = 0;
	f->has_evt = 0;
	f->play_ns = 0;
	f->begin_ns = f->last_ns = f->due_ns = 0;
	f->times = (struct top_times){0};
	err = open_source(f);
	if (!err && is_live(f)) {
		if (f->job->kind == TOP_FEED_TABLE)
			sinsp_cpu_use_read(f->s, FIRST_NS);
		begin_interval(f, scap_now_ns(sinsp_source(f->s)));
	}
	return err;
}

/* The source gives no more events. The screen shows what was said last: of an error the cause that
 * libscap named, or this. */
static void stop(struct top_feed *f, int err)
{
	f->at_end = 1;
	if (err)
		say_cause(f->n_errors, "the capture stopped", err);
}

/* What begins beside the table takes any event: a capture of few of them is replaced. */
static void widen(struct top_feed *f)
{
	static const struct top_needs all;
	int err;

	if (!is_live(f) || !f->s || f->is_special || !f->needs.few ||
	    (!f->side.record_request && !f->side.watch_request))
		return;
	err = reopen(f, &all);
	if (err)
		stop(f, err);
}

/* Returns whether the job is another one. */
static int take_requests(struct top_feed *f)
{
	int is_other = 0;

	pthread_mutex_lock(&f->lock);
	atomic_store(&f->is_wanted, f->wants_stop);
	if (f->request) {
		f->job = f->request;
		f->request = NULL;
		is_other = 1;
	} else if (f->wants_clear && f->job) {
		top_job_clear(f->job);
	}
	f->wants_clear = 0;
	if (top_side_is_asked(&f->side)) {
		widen(f);
		top_side_take(&f->side, is_live(f) ? f->s : NULL);
		f->status.record = f->side.record_status;
	}
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	return is_other;
}

static void wait_for_request(struct top_feed *f)
{
	pthread_mutex_lock(&f->lock);
	while (!atomic_load(&f->is_wanted))
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

static void end_source(struct top_feed *f, int err)
{
	int table_err = 0;

	/* Of a damaged file, what comes before the damage. */
	if (f->s && f->job->kind == TOP_FEED_TABLE && !is_live(f))
		table_err = end_interval(f, f->last_ns);
	stop(f, err ?: table_err);
	pthread_mutex_lock(&f->lock);
	update_status(f);
	if (!f->job->play.is_on && !f->job->from_ns && !f->job->to_ns)
		f->read_times = f->times;
	pthread_mutex_unlock(&f->lock);
	note(f);
}

/* Returns whether the next interval of a file may be played. Waits for that or a request. */
static int may_play(struct top_feed *f)
{
	const int64_t rest = f->play_ns - clock_now_ns();
	const uint64_t until = clock_now_ns() + (uint64_t)(rest > 0 ? rest : 0);
	const struct timespec ts = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
	int may = 1;

	pthread_mutex_lock(&f->lock);
	if (f->n_intervals && f->n_steps)
		f->n_steps--;
	else if (f->n_intervals && f->job->play.is_paused)
		may = 0;
	else if (atomic_load(&f->is_wanted))
		may = 0;
	else if (rest > 0)
		may = pthread_cond_timedwait(&f->changed, &f->lock, &ts) == ETIMEDOUT;
	pthread_mutex_unlock(&f->lock);
	if (!may && !atomic_load(&f->is_wanted) && !top_side_reads(&f->side))
		wait_for_request(f);
	return may;
}

/* Returns as sinsp_next, which @f->evt is of. */
static int next_event(struct top_feed *f)
{
	int n;

	if (f->has_evt) {
		if (!may_play(f))
			return 0;
		f->has_evt = 0;
		return 1;
	}
	n = sinsp_next(f->s, &f->evt, is_live(f) && interval_of(f) ? IDLE_MS : 0);
	if (n > 0 && is_live(f))
		top_side_event(&f->side, &f->evt);
	return n;
}

static void step(struct top_feed *f)
{
	int n = next_event(f), err = 0;
	uint64_t now;

	if (n < 0 && n != -EINTR) {
		end_source(f, n == -ENODATA ? 0 : n);
		return;
	}
	if (n > 0) {
		err = take_event(f, &f->evt);
		f->has_evt = err > 0;
		err = err > 0 ? 0 : err;
	} else if (is_live(f)) {
		now = scap_now_ns(sinsp_source(f->s));
		if (now >= f->due_ns)
			err = end_interval(f, now);
	}
	if (err)
		end_source(f, err == -ENODATA ? 0 : err);
}

/* Reads the file for what is beside the table. */
static void step_side(struct top_feed *f)
{
	top_side_step(&f->side);
	pthread_mutex_lock(&f->lock);
	update_status(f);
	pthread_mutex_unlock(&f->lock);
	note(f);
}

static void *run(void *ctx)
{
	struct top_feed *f = ctx;
	int err;

	while (!f->wants_stop) {
		f->n_errors = say_n_errors();
		if (!atomic_load(&f->is_wanted) && top_side_reads(&f->side))
			step_side(f);
		else if (f->at_end || !f->job)
			wait_for_request(f);
		if (atomic_load(&f->is_wanted) && take_requests(f)) {
			err = begin_job(f);
			if (err)
				end_source(f, err);
		}
		if (f->job && !f->at_end && !f->wants_stop)
			step(f);
	}
	return NULL;
}

/* ---- the screen's side ---- */

/* Interrupts the wait for events. */
static void wake(struct top_feed *f)
{
	atomic_store(&f->is_wanted, 1);
	pthread_cond_broadcast(&f->changed);
	pthread_kill(f->thread, SIGUSR2);
}

static void on_wake(int sig)
{
	(void)sig;
}

/* Only the screen's thread handles signals: those that a library starts begin with all blocked, as
 * does this one, but for the one that wakes it. */
static int start_thread(struct top_feed *f)
{
	const struct sigaction act = {.sa_handler = on_wake};
	sigset_t all, before;
	int err;

	sigaction(SIGUSR2, &act, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&f->thread, NULL, run, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	f->has_thread = !err;
	return -err;
}

static int new_job(struct top_job **out, const struct top_feed *f, const struct top_query *query,
		   struct view_error *err)
{
	const int r = top_job_new(out, query, f->o->containers, err);

	if (!r)
		(*out)->keeps &= is_live(f) || query->play.is_on;
	return r;
}

/* The source of the first job, before privileges are dropped. */
static int open_now(struct top_feed *f)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (f->is_special || f->o->read)
		err = top_capture_open(&f->s, f->o, top_job_filter(f->request),
				       top_job_needs(f->request));
	else
		err = open_shared(f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err && is_live(f))
		privileges_drop_to_control();
	return err;
}

static int open_first(struct top_feed *f, const struct top_query *query)
{
	struct view_error why = {""};
	int err = new_job(&f->request, f, query, &why);

	if (err) {
		say("%s", err == -EINVAL ? why.message : strerror(-err));
		return err;
	}
	f->is_special = (uint8_t)(is_live(f) && is_special(f->request));
	f->needs = f->request->needs;
	f->is_fresh = 1;
	atomic_store(&f->is_wanted, 1);
	return open_now(f);
}

static int check_filter(struct top_feed *f)
{
	struct sinsp_filter_error why = {0};
	int err;

	if (!f->o->filter)
		return 0;
	err = sinsp_filter_new(&f->filter, f->o->filter, NULL, &why);
	if (err)
		say("%s", err == -EINVAL ? why.message : strerror(-err));
	return err;
}

static void wait_for_job(struct top_feed *f)
{
	pthread_mutex_lock(&f->lock);
	while (f->request)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

int top_feed_open(struct top_feed **out, const struct top_options *o, const struct top_query *query)
{
	struct top_feed *f = calloc(1, sizeof(*f));
	pthread_condattr_t attr;
	int err;

	if (!f)
		return -ENOMEM;
	f->o = f->side.o = o;
	pthread_mutex_init(&f->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* that of clock_now_ns */
	pthread_cond_init(&f->changed, &attr);
	pthread_condattr_destroy(&attr);
	f->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = f->event_fd < 0 ? -errno : check_filter(f);
	err = err ?: open_first(f, query);
	if (err)
		top_feed_close(f);
	else
		*out = f;
	return err;
}

int top_feed_start(struct top_feed *f)
{
	const int err = start_thread(f);

	if (err)
		say("cannot start a thread: %s", strerror(-err));
	else
		wait_for_job(f);
	return err;
}

void top_feed_close(struct top_feed *f)
{
	if (!f)
		return;
	if (f->has_thread) {
		pthread_mutex_lock(&f->lock);
		f->wants_stop = 1;
		wake(f);
		pthread_mutex_unlock(&f->lock);
		pthread_join(f->thread, NULL);
	}
	top_side_fini(&f->side);
	sinsp_close(f->s);
	top_job_free(f->job);
	top_job_free(f->request);
	sinsp_filter_free(f->filter);
	if (f->event_fd >= 0)
		close(f->event_fd);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int top_feed_show(struct top_feed *f, const struct top_query *query, struct view_error *err)
{
	struct top_job *job = NULL, *before;
	int r = new_job(&job, f, query, err);

	if (r)
		return r;
	pthread_mutex_lock(&f->lock);
	before = f->job;
	f->request = job;
	f->status =
		(struct top_feed_status){.n_lost = f->status.n_lost, .record = f->status.record};
	f->n_steps = 0;
	wake(f);
	while (f->request)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
	top_job_free(before);
	return 0;
}

const struct top_snapshot *top_feed_take(struct top_feed *f, int *is_new)
{
	const struct top_snapshot *snap;

	pthread_mutex_lock(&f->lock);
	snap = top_job_take(f->job, is_new);
	pthread_mutex_unlock(&f->lock);
	return snap;
}

void top_feed_status(struct top_feed *f, struct top_feed_status *st)
{
	pthread_mutex_lock(&f->lock);
	*st = f->status;
	pthread_mutex_unlock(&f->lock);
}

void top_feed_times(struct top_feed *f, struct top_times *times)
{
	pthread_mutex_lock(&f->lock);
	*times = f->read_times;
	pthread_mutex_unlock(&f->lock);
}

void top_feed_history(struct top_feed *f, uint64_t *from, uint64_t *to)
{
	*from = *to = 0;
	pthread_mutex_lock(&f->lock);
	if (f->job) {
		*from = f->job->history.from;
		*to = f->job->history.to;
	}
	pthread_mutex_unlock(&f->lock);
}

const struct top_snapshot *top_feed_past(struct top_feed *f, uint64_t number)
{
	const struct top_snapshot *snap;

	pthread_mutex_lock(&f->lock);
	snap = f->job ? top_history_pin(&f->job->history, number) : NULL;
	pthread_mutex_unlock(&f->lock);
	return snap;
}

uint64_t top_feed_past_at(struct top_feed *f, uint64_t ns)
{
	uint64_t number;

	pthread_mutex_lock(&f->lock);
	number = top_history_find(&f->job->history, ns);
	pthread_mutex_unlock(&f->lock);
	return number;
}

size_t top_feed_series(struct top_feed *f, double *points, size_t max, const struct view_cell *key,
		       size_t col, double *seconds)
{
	size_t n;

	pthread_mutex_lock(&f->lock);
	n = top_history_series(&f->job->history, points, max, key, col, seconds);
	pthread_mutex_unlock(&f->lock);
	return n;
}

void top_feed_play(struct top_feed *f, const struct top_play *play, unsigned int steps)
{
	pthread_mutex_lock(&f->lock);
	f->job->play.is_paused = play->is_paused;
	f->job->play.speed = play->speed;
	f->n_steps += steps;
	wake(f);
	pthread_mutex_unlock(&f->lock);
}

/* Waits until the thread did what the side was asked for. */
static void wait_for_side(struct top_feed *f)
{
	wake(f);
	while (top_side_is_asked(&f->side))
		pthread_cond_wait(&f->changed, &f->lock);
}

void top_feed_record(struct top_feed *f, struct top_record *record)
{
	pthread_mutex_lock(&f->lock);
	f->side.record_request = record;
	wait_for_side(f);
	pthread_mutex_unlock(&f->lock);
}

uint64_t top_feed_end_record(struct top_feed *f)
{
	uint64_t n;

	pthread_mutex_lock(&f->lock);
	f->side.ends_record = 1;
	wait_for_side(f);
	n = f->side.record_status.n_events;
	pthread_mutex_unlock(&f->lock);
	return n;
}

void top_feed_watch(struct top_feed *f, struct top_watch *watch)
{
	pthread_mutex_lock(&f->lock);
	f->side.watch_request = watch;
	f->side.ends_watch = !watch;
	wait_for_side(f);
	pthread_mutex_unlock(&f->lock);
}

int top_feed_watch_text(struct top_feed *f, struct sinsp_text *out)
{
	const struct sinsp_text *text = &f->side.watch_text;
	int err;

	pthread_mutex_lock(&f->lock);
	err = top_put(out, "%.*s", (int)text->len, text->p ?: "");
	pthread_mutex_unlock(&f->lock);
	return err;
}

void top_feed_clear(struct top_feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->wants_clear = 1;
	wake(f);
	while (f->wants_clear)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

void top_feed_lines(struct top_feed *f, uint64_t *from, uint64_t *to)
{
	pthread_mutex_lock(&f->lock);
	*from = f->job->lines.from;
	*to = f->job->lines.to;
	pthread_mutex_unlock(&f->lock);
}

int top_feed_line(struct top_feed *f, uint64_t number, struct sinsp_text *out)
{
	int r;

	pthread_mutex_lock(&f->lock);
	r = top_job_line(f->job, number, out);
	pthread_mutex_unlock(&f->lock);
	return r;
}

const struct top_graph *top_feed_lock_spectrum(struct top_feed *f)
{
	pthread_mutex_lock(&f->lock);
	return &f->job->graph;
}

struct top_flame *top_feed_lock_flame(struct top_feed *f)
{
	pthread_mutex_lock(&f->lock);
	return f->job->graph.flame;
}

void top_feed_unlock(struct top_feed *f)
{
	pthread_mutex_unlock(&f->lock);
}

int top_feed_fd(const struct top_feed *f)
{
	return f->event_fd;
}

void top_feed_seen(struct top_feed *f)
{
	uint64_t n;

	while (read(f->event_fd, &n, sizeof(n)) > 0)
		;
}
