/* SPDX-License-Identifier: Apache-2.0 */
/* Container lookup: the thread that queries docker and podman. The lock is never held during a
 * query. A server that timed out is not queried for a while: otherwise one user's server would
 * delay the names of all others. */
#include "container_lookup.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "container_files.h"
#include "cri_api.h"
#include "docker_api.h"
#include "thread_start.h"
#include "unix_http.h"

#define NS_PER_MS 1000000ull

enum {
	QUEUE_MAX = 256,
	SERVERS_MAX = 16,
	TRIES_MAX = 5,
	TIMEOUT_MS = 2000,
	RETRY_MS = 1000,
	DOWN_MS = 10000, /* pause after a server did not answer */
	ANSWER_MAX = 1 << 20,
	LIST_MAX = 8 << 20, /* of a list of all containers: each may have long labels */
	/* A user can create any number of cgroups. So users share a part of the queue, and a rate
	 * of their own. */
	USERS_MAX = QUEUE_MAX / 2, /* requests of all users */
	USER_MAX = 32, /* of one */
	/* Rate limits of queries, one for the system and one for users. */
	BURST = QUEUE_MAX,
	INTERVAL_MS = 50,
	/* A user's server is left alone for so many times the time that it took. */
	SLOW_MS = 100,
	SLOW_TIMES = 10,
};

/* Sockets of engines. "%u": a user's own engine, which runs containers without root. */
static const struct place {
	enum sinsp_container_type type;
	int of_user;
	const char *path;
} places[] = {
	{SINSP_CT_DOCKER, 0, "/var/run/docker.sock"},
	{SINSP_CT_DOCKER, 1, "/run/user/%u/docker.sock"},
	{SINSP_CT_PODMAN, 0, "/run/podman/podman.sock"},
	{SINSP_CT_PODMAN, 1, "/run/user/%u/podman/podman.sock"},
};

enum request_state { FREE, WAITING, RUNNING };

struct request {
	enum request_state state;
	unsigned int n_tries;
	uint64_t due_ns;
	enum sinsp_container_type type;
	uint32_t uid;
	char id[13], full_id[65];
};

static int is_of_user(const struct request *r)
{
	return r->uid != SINSP_NO_UID;
}

struct server {
	char path[108];
	uint64_t down_until_ns;
	int reported; /* the failures since the last success were reported */
};

struct sinsp_lookup {
	char *socket; /* NULL: the default sockets, and files */
	char *root; /* of the files and the default sockets; "": / */
	char *cri; /* NULL: labels of pods are not queried */
	void (*on_start)(void);
	int timeout_ms;
	uint64_t retry_ns;
	int quit_fd;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* a request came, or quit */
	int quit;
	struct request queue[QUEUE_MAX];
	struct sinsp_lookup_result *first, **last;
	atomic_int has_results;

	/* Used by the thread only. */
	struct server servers[SERVERS_MAX];
	unsigned int next_server;
	int files_reported;
	uint64_t paid_until_ns[2]; /* of the queries, at INTERVAL_MS each; by is_of_user */
};

int sinsp_lookup_supports(enum sinsp_container_type type)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (places[i].type == type)
			return 1;
	return container_files_support(type);
}

/* ---- results ---- */

static void append(struct sinsp_lookup *l, struct sinsp_lookup_result *r)
{
	pthread_mutex_lock(&l->lock);
	*l->last = r;
	l->last = &r->next;
	atomic_store_explicit(&l->has_results, 1, memory_order_relaxed);
	pthread_mutex_unlock(&l->lock);
}

/* Adds a result, which owns the text. */
static void add_result(struct sinsp_lookup *l, const struct request *of, char *json)
{
	struct sinsp_lookup_result *r = calloc(1, sizeof(*r));

	if (!r) {
		free(json);
		return;
	}
	r->json = json;
	memcpy(r->id, of->id, sizeof(r->id));
	memcpy(r->full_id, of->full_id, sizeof(r->full_id));
	r->uid = of->uid;
	append(l, r);
}

/* Adds a note for the user, a warning if it is about a server that the user named. */
__attribute__((format(printf, 3, 4))) static void add_note(struct sinsp_lookup *l, int is_warning,
							   const char *fmt, ...)
{
	struct sinsp_lookup_result *r = calloc(1, sizeof(*r));
	va_list args;

	if (!r)
		return;
	va_start(args, fmt);
	if (vasprintf(&r->note, fmt, args) < 0)
		r->note = NULL;
	va_end(args);
	r->is_warning = is_warning;
	append(l, r);
}

struct sinsp_lookup_result *sinsp_lookup_results(struct sinsp_lookup *l)
{
	struct sinsp_lookup_result *r;

	/* A late read is harmless: the lock orders access. */
	if (!atomic_load_explicit(&l->has_results, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&l->lock);
	r = l->first;
	l->first = NULL;
	l->last = &l->first;
	atomic_store_explicit(&l->has_results, 0, memory_order_relaxed);
	pthread_mutex_unlock(&l->lock);
	return r;
}

void sinsp_lookup_result_free(struct sinsp_lookup_result *r)
{
	free(r->json);
	free(r->note);
	free(r);
}

/* ---- servers ---- */

static struct server *server_at(struct sinsp_lookup *l, const char *path)
{
	struct server *s;

	for (int i = 0; i < SERVERS_MAX; i++)
		if (!strcmp(l->servers[i].path, path))
			return &l->servers[i];
	s = &l->servers[l->next_server++ % SERVERS_MAX];
	memset(s, 0, sizeof(*s));
	snprintf(s->path, sizeof(s->path), "%s", path);
	return s;
}

/* /var/run is a link to /run, which below another root would lead out of it. */
static void put_path(char *to, size_t sz, const struct sinsp_lookup *l, const char *path,
		     uint32_t uid)
{
	const int n = snprintf(to, sz, "%s", l->root);

	if (*l->root && !strncmp(path, "/var/run/", 9))
		path += 4;
	if (n >= 0 && (size_t)n < sz)
		snprintf(to + n, sz - (size_t)n, path, uid);
}

/* Returns the server to query about a container; NULL: none. */
static struct server *server_of(struct sinsp_lookup *l, const struct request *r)
{
	char path[108];
	const int of_user = is_of_user(r);

	if (l->socket)
		return server_at(l, l->socket);
	if (r->uid == SINSP_UNKNOWN_UID)
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (places[i].type != r->type || places[i].of_user != of_user)
			continue;
		put_path(path, sizeof(path), l, places[i].path, r->uid);
		return server_at(l, path);
	}
	return NULL;
}

static const char *reason(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "timed out";
	case -EBADMSG:
		return "invalid answer";
	case -EPERM:
		return "the socket belongs to another user";
	case -EOPNOTSUPP:
		return "it does not serve CRI v1";
	case -EPROTO:
		return "it refuses";
	}
	return strerror(-err);
}

static void report_failure(struct sinsp_lookup *l, struct server *s, int err)
{
	if (err == -ETIMEDOUT)
		s->down_until_ns = clock_now_ns() + DOWN_MS * NS_PER_MS;
	if (s->reported || err == -ECANCELED)
		return;
	s->reported = 1;
	add_note(l, l->socket != NULL,
		 "cannot query %s for names of containers: %s; they are shown by ID", s->path,
		 reason(err));
}

/* ---- queries ---- */

/* Queries the server. @cut_at: keep only this much of a longer answer; 0: a longer one is an
 * error. */
static int get_some(struct sinsp_lookup *l, uint32_t uid, const struct server *s, const char *path,
		    char **body, size_t *len, size_t cut_at)
{
	const struct sinsp_http_opts opts = {
		.may_cut = cut_at != 0,
		.sz = sizeof(opts),
		.owner = l->socket ? SINSP_NO_UID : uid,
		.quit_fd = l->quit_fd,
		.timeout_ms = l->timeout_ms,
		.max_sz = cut_at ?: ANSWER_MAX,
	};

	return sinsp_http_get(body, len, s->path, path, &opts);
}

static int get(struct sinsp_lookup *l, uint32_t uid, const struct server *s, const char *path,
	       char **body, size_t *len)
{
	return get_some(l, uid, s, path, body, len, 0);
}

/* Adds the names of the image, which the description of the container lacks. */
static void query_image(struct sinsp_lookup *l, const struct request *r, const struct server *s,
			struct sinsp_docker_answer *a)
{
	const char *image = sinsp_docker_answer_image(a);
	char path[128], *body;
	size_t len;
	int status;

	if (!*image)
		return;
	snprintf(path, sizeof(path), "/images/%s/json", image);
	status = get(l, r->uid, s, path, &body, &len);
	if (status <= 0)
		return;
	if (status == 200)
		sinsp_docker_answer_add_image(a, body, len);
	free(body);
}

/* Queries a list of this container only, whose beginning has its name: for a container whose
 * description is too large. Returns 0 or a negative errno. */
static int query_list(struct sinsp_lookup *l, const struct request *r, const struct server *s,
		      char **json)
{
	char path[192], *body;
	size_t len;
	int status;

	snprintf(path, sizeof(path),
		 "/containers/json?all=1&filters=%%7B%%22id%%22%%3A%%5B%%22%s%%22%%5D%%7D",
		 r->full_id);
	status = get_some(l, r->uid, s, path, &body, &len, ANSWER_MAX);
	if (status < 0)
		return status;
	if (status == 200)
		*json = sinsp_docker_listed_event(body, len, r->id, r->full_id, r->type);
	free(body);
	return *json ? 0 : -EBADMSG;
}

/* Returns 0; 1: the server has no such container; a negative errno: the query failed. */
static int query(struct sinsp_lookup *l, const struct request *r, const struct server *s,
		 char **json)
{
	struct sinsp_docker_answer *a;
	char path[128], *body;
	size_t len;
	int status, err;

	snprintf(path, sizeof(path), "/containers/%s/json", r->full_id);
	status = get(l, r->uid, s, path, &body, &len);
	if (status == -EFBIG)
		return query_list(l, r, s, json);
	if (status < 0)
		return status;
	err = status == 404 ? 1 : -EBADMSG;
	if (status == 200)
		err = sinsp_docker_answer_new(&a, body, len);
	free(body);
	if (err)
		return err;
	query_image(l, r, s, a);
	*json = sinsp_docker_answer_event(a, r->id, r->type);
	sinsp_docker_answer_free(a);
	return *json ? 0 : -ENOMEM;
}

/* An answer that is too long is that of one pod, whose owner chooses its length: the server is not
 * down for the others. */
static void report_cri(struct sinsp_lookup *l, struct server *s, int err)
{
	if (err != -EFBIG)
		s->down_until_ns = clock_now_ns() + DOWN_MS * NS_PER_MS;
	if (s->reported || err == -ECANCELED)
		return;
	s->reported = 1;
	add_note(l, 1, "cannot query %s for labels of pods: %s", s->path, reason(err));
}

/* Adds the labels of its pod to an event. Returns whether it has all that it can have. */
static int add_pod_labels(struct sinsp_lookup *l, const struct request *r, char **json)
{
	const struct cri_opts opts = {
		.sz = sizeof(opts), .quit_fd = l->quit_fd, .timeout_ms = l->timeout_ms};
	struct server *s = l->cri ? server_at(l, l->cri) : NULL;
	int err;

	if (!s || r->uid != SINSP_NO_UID)
		return 1;
	if (clock_now_ns() < s->down_until_ns)
		return 0;
	err = cri_add_pod_labels(json, l->cri, &opts);
	if (err < 0)
		report_cri(l, s, err);
	else
		s->reported = 0;
	return err == 0;
}

/* Adds the event of a container, and another one once the runtime lists its pod, which it does when
 * the pod's first process runs. */
static void deliver(struct sinsp_lookup *l, struct request *r, char *json)
{
	const int is_whole = add_pod_labels(l, r, &json);

	if (is_whole || !r->n_tries)
		add_result(l, r, json);
	else
		free(json);
	if (is_whole)
		r->n_tries = TRIES_MAX;
}

static void report_file(struct sinsp_lookup *l, int err)
{
	if (l->files_reported)
		return;
	l->files_reported = 1;
	add_note(l, l->socket != NULL,
		 "cannot read the files of a container: %s; it is shown by ID",
		 err == -EPERM ? "others may write to them" : reason(err));
}

/* Returns whether the files of the runtime have the container. */
static int found_in_files(struct sinsp_lookup *l, struct request *r)
{
	char *json;
	int err;

	if (l->socket || r->uid != SINSP_NO_UID || !container_files_support(r->type))
		return 0;
	err = container_files_event(&json, l->root, r->type, r->id, r->full_id);
	if (err < 0)
		report_file(l, err);
	if (err)
		return 0;
	deliver(l, r, json);
	return 1;
}

/* A server that takes long for each answer would delay the names of all other users. */
static void rest(struct server *s, uint64_t begin_ns)
{
	const uint64_t now = clock_now_ns();

	if (now - begin_ns > SLOW_MS * NS_PER_MS)
		s->down_until_ns = now + SLOW_TIMES * (now - begin_ns);
}

/* A server knows more than the files: it comes first. */
static void run_request(struct sinsp_lookup *l, struct request *r)
{
	const uint64_t begin_ns = clock_now_ns();
	struct server *s = server_of(l, r);
	char *json = NULL;
	int err;

	if (!s) {
		found_in_files(l, r);
		return;
	}
	if (begin_ns < s->down_until_ns)
		return;
	err = query(l, r, s, &json);
	if (is_of_user(r) && !l->socket)
		rest(s, begin_ns);
	if (!err) {
		s->reported = 0;
		deliver(l, r, json);
	} else if (!found_in_files(l, r) && err < 0) {
		report_failure(l, s, err);
	}
}

/* ---- running containers ---- */

struct list_running {
	struct sinsp_lookup *l;
	enum sinsp_container_type type;
};

static void request_one(void *ctx, const char *full_id)
{
	const struct list_running *v = ctx;
	char id[13];

	snprintf(id, sizeof(id), "%.12s", full_id);
	sinsp_lookup_request(v->l, v->type, SINSP_NO_UID, id, full_id);
}

/* Reports that a list failed. A server with an invalid list may still answer for a single
 * container. */
static void report_no_list(struct sinsp_lookup *l, struct server *s, int err)
{
	if (err != -EBADMSG)
		report_failure(l, s, err);
	else
		add_note(l, 1,
			 "cannot list containers of %s: %s; each is looked up at its first event",
			 s->path, reason(err));
}

/* Requests all running containers of a server. A missing server is reported only if the user named
 * the socket. Containers beyond the maximum size of the list are looked up at their first event. */
static void list_running(struct sinsp_lookup *l, enum sinsp_container_type type, const char *path)
{
	struct list_running v = {l, type};
	char *body;
	size_t len;
	struct server *s = server_at(l, path);
	int status = get_some(l, SINSP_NO_UID, s, "/containers/json", &body, &len, LIST_MAX);

	if (status < 0 && l->socket)
		report_no_list(l, s, status);
	if (status <= 0)
		return;
	if (status == 200)
		sinsp_docker_each(body, len, request_one, &v);
	free(body);
}

/* Returns which engine the server is: podman's version lists "Podman" as a component. */
static enum sinsp_container_type engine_of(struct sinsp_lookup *l, const char *path)
{
	enum sinsp_container_type type = SINSP_CT_DOCKER;
	char *body;
	size_t len;
	int status = get(l, SINSP_NO_UID, server_at(l, path), "/version", &body, &len);

	if (status <= 0)
		return type;
	if (status == 200 && strstr(body, "Podman"))
		type = SINSP_CT_PODMAN;
	free(body);
	return type;
}

static void list_all_running(struct sinsp_lookup *l)
{
	char path[108];

	if (l->socket) {
		list_running(l, engine_of(l, l->socket), l->socket);
		return;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (places[i].of_user)
			continue;
		put_path(path, sizeof(path), l, places[i].path, 0);
		list_running(l, places[i].type, path);
	}
}

/* ---- the thread ---- */

/* Returns when the rate allows one more query. */
static uint64_t allowed_ns(const struct sinsp_lookup *l, int of_user)
{
	const uint64_t ahead = BURST * INTERVAL_MS * NS_PER_MS, paid = l->paid_until_ns[of_user];

	return paid > ahead ? paid - ahead : 0;
}

static struct request *first_waiting(struct sinsp_lookup *l, int of_user)
{
	struct request *first = NULL;

	for (int i = 0; i < QUEUE_MAX; i++) {
		struct request *r = &l->queue[i];

		if (r->state == WAITING && is_of_user(r) == of_user &&
		    (!first || r->due_ns < first->due_ns))
			first = r;
	}
	return first;
}

/* Returns when the request can be sent; UINT64_MAX: there is none. */
static uint64_t due_ns(const struct sinsp_lookup *l, const struct request *r)
{
	uint64_t allowed;

	if (!r)
		return UINT64_MAX;
	allowed = allowed_ns(l, is_of_user(r));
	return r->due_ns > allowed ? r->due_ns : allowed;
}

/* Returns the next request, and when it is due: one of the system if that is due now or first.
 * NULL: none. */
static struct request *next_request(struct sinsp_lookup *l, uint64_t now, uint64_t *due)
{
	struct request *of_system = first_waiting(l, 0), *of_user = first_waiting(l, 1);
	const uint64_t system_ns = due_ns(l, of_system), user_ns = due_ns(l, of_user);

	if (system_ns <= now || system_ns <= user_ns) {
		*due = system_ns;
		return of_system;
	}
	*due = user_ns;
	return of_user;
}

static void charge_query(struct sinsp_lookup *l, int of_user, uint64_t now)
{
	uint64_t *paid = &l->paid_until_ns[of_user];

	if (*paid < now)
		*paid = now;
	*paid += INTERVAL_MS * NS_PER_MS;
}

static void wait_until(struct sinsp_lookup *l, uint64_t ns)
{
	const struct timespec ts = {ns / 1000000000, ns % 1000000000};

	pthread_cond_timedwait(&l->changed, &l->lock, &ts);
}

/* Schedules a retry, or frees the request. Called with the lock held. */
static void finish_request(struct sinsp_lookup *l, struct request *r)
{
	if (r->n_tries >= TRIES_MAX) {
		r->state = FREE;
		return;
	}
	r->due_ns = clock_now_ns() + (l->retry_ns << 2 * r->n_tries);
	r->n_tries++;
	r->state = WAITING;
}

static void *thread_main(void *ctx)
{
	struct sinsp_lookup *l = ctx;
	struct request *r;

	if (l->on_start)
		l->on_start();
	list_all_running(l);
	pthread_mutex_lock(&l->lock);
	while (!l->quit) {
		const uint64_t now = clock_now_ns();
		uint64_t due;

		r = next_request(l, now, &due);
		if (!r) {
			pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		if (due > now) {
			wait_until(l, due);
			continue;
		}
		charge_query(l, is_of_user(r), now);
		r->state = RUNNING;
		pthread_mutex_unlock(&l->lock);
		run_request(l, r);
		pthread_mutex_lock(&l->lock);
		finish_request(l, r);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

int sinsp_lookup_request(struct sinsp_lookup *l, enum sinsp_container_type type, uint32_t uid,
			 const char *id, const char *full_id)
{
	const int of_user = uid != SINSP_NO_UID;
	struct request *r = NULL;
	int pending = 0, n_users = 0, n_own = 0;

	pthread_mutex_lock(&l->lock);
	for (int i = 0; i < QUEUE_MAX; i++) {
		struct request *q = &l->queue[i];

		if (q->state == FREE) {
			r = r ? r : q;
			continue;
		}
		pending |= !strcmp(q->full_id, full_id) && q->uid == uid;
		n_users += is_of_user(q);
		n_own += q->uid == uid;
	}
	if (of_user && (n_users >= USERS_MAX || n_own >= USER_MAX))
		r = NULL;
	/* Its result may wait to be fetched. */
	for (const struct sinsp_lookup_result *a = l->first; a; a = a->next)
		pending |= !strcmp(a->full_id, full_id) && a->uid == uid;
	if (r && !pending) {
		*r = (struct request){.state = WAITING, .type = type, .uid = uid};
		r->due_ns = clock_now_ns();
		snprintf(r->id, sizeof(r->id), "%s", id);
		snprintf(r->full_id, sizeof(r->full_id), "%s", full_id);
		pthread_cond_signal(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return r || pending ? 0 : -EAGAIN;
}

/* ---- start and end ---- */

static void init_locks(struct sinsp_lookup *l)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&l->changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void destroy(struct sinsp_lookup *l)
{
	struct sinsp_lookup_result *r, *next;

	for (r = l->first; r; r = next) {
		next = r->next;
		sinsp_lookup_result_free(r);
	}
	if (l->quit_fd >= 0)
		close(l->quit_fd);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l->socket);
	free(l->root);
	free(l->cri);
	free(l);
}

int sinsp_lookup_new(struct sinsp_lookup **out, const struct sinsp_lookup_opts *opts)
{
	struct sinsp_lookup *l;
	int err;

	if (opts->sz != sizeof(*opts))
		return -EINVAL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	init_locks(l);
	l->last = &l->first;
	l->on_start = opts->on_start;
	l->timeout_ms = opts->timeout_ms ?: TIMEOUT_MS;
	l->retry_ns = (opts->retry_ms ?: RETRY_MS) * NS_PER_MS;
	l->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = l->quit_fd < 0 ? -errno : 0;
	if (!err && opts->socket) {
		l->socket = strdup(opts->socket);
		err = l->socket ? 0 : -ENOMEM;
	}
	l->root = strdup(opts->root ?: "");
	l->cri = opts->cri ? strdup(opts->cri) : NULL;
	if (!l->root || (opts->cri && !l->cri))
		err = -ENOMEM;
	if (!err)
		err = thread_start(&l->thread, thread_main, l);
	if (err) {
		destroy(l);
		return err;
	}
	*out = l;
	return 0;
}

void sinsp_lookup_free(struct sinsp_lookup *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->quit = 1;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->lock);
	eventfd_write(l->quit_fd, 1);
	pthread_join(l->thread, NULL);
	destroy(l);
}
