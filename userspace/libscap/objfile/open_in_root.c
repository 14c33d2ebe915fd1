/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper processes open the files (open_checked.h): the look-up in a file system with a dead or
 * hostile server may never return. A helper that does not answer in time is killed, and nothing
 * more is opened at that place for a while.
 */
#include "objfile/open_in_root.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "capabilities.h"
#include "clock.h"
#include "objfile/helper_process.h"
#include "objfile/open_checked.h"

enum {
	ANSWER_MS = 500,
	COPY_MS = 3000,
	IDLE_MAX = 4, /* maximum number of threads that open files */
	PLACES_MAX = 32, /* places without an answer; beyond, the oldest is tried again */
	PLACE_SZ = 256,
	AGAIN_S = 30,
	NICE = -15, /* others wait for it */
};

/* A request is "ROOT\0PATH\0". */
#define QUESTION_MAX (2 * PATH_MAX)

struct answer {
	int32_t copies; /* another answer follows, when the copy is made */
	int32_t err; /* 0 or a negative errno */
	struct stat st;
};

static struct {
	pthread_mutex_t lock;
	struct helper idle[IDLE_MAX];
	unsigned int n_idle;
	struct {
		char name[PLACE_SZ];
		time_t since; /* 0: free */
	} places[PLACES_MAX];
	unsigned int next_place;
	struct scap_open_stats stats;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the process ---- */

static void tell_copy(void)
{
	const struct answer a = {.copies = 1};

	helper_send(HELPER_FD, &a, sizeof(a), -1);
}

/* For other processes' files, also by their mappings, and for folders closed to us. */
static void limit_self(void)
{
	const struct rlimit copy = {OPEN_COPY_MAX, OPEN_COPY_MAX};

	setpriority(PRIO_PROCESS, 0, NICE);
	prctl(PR_SET_NAME, "saker-open");
	setrlimit(RLIMIT_FSIZE, &copy);
	capabilities_keep(1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH |
			  1ull << CAP_CHECKPOINT_RESTORE);
}

static void serve(void)
{
	static char question[QUESTION_MAX + 1];
	ssize_t n;
	int fd;

	limit_self();
	while ((n = helper_receive(HELPER_FD, question, QUESTION_MAX, &fd)) > 0) {
		const char *path = question + strlen(question) + 1;
		struct answer a = {0};

		fd = path < question + n ? open_checked(question, path, &a.st, tell_copy) : -EINVAL;
		a.err = fd < 0 ? fd : 0;
		if (helper_send(HELPER_FD, &a, sizeof(a), fd))
			break;
		if (fd >= 0)
			close(fd);
	}
}

/* ---- places ---- */

static time_t now_s(void)
{
	return (time_t)(clock_now_ns() / CLOCK_S) + 1;
}

/* The place: the root, or the folder of the file. */
static void name_place(char name[PLACE_SZ], const char *root, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (*root)
		snprintf(name, PLACE_SZ, "%s", root);
	else
		snprintf(name, PLACE_SZ, "%.*s", slash ? (int)(slash - path) : 0, path);
}

static int is_avoided(const char *name)
{
	for (unsigned int i = 0; i < PLACES_MAX; i++)
		if (all.places[i].since && now_s() - all.places[i].since < AGAIN_S &&
		    !strcmp(all.places[i].name, name))
			return 1;
	return 0;
}

static void avoid(const char *name)
{
	unsigned int i;

	pthread_mutex_lock(&all.lock);
	i = all.next_place++ % PLACES_MAX;
	snprintf(all.places[i].name, PLACE_SZ, "%s", name);
	all.places[i].since = now_s();
	all.stats.n_late++;
	pthread_mutex_unlock(&all.lock);
}

/* ---- asking ---- */

/* Returns -ETIMEDOUT if this place gave no answer recently. */
static int take_helper(struct helper *h, const char *place)
{
	int avoided, err = 0;

	*h = (struct helper){0};
	pthread_mutex_lock(&all.lock);
	avoided = is_avoided(place);
	if (!avoided && all.n_idle)
		*h = all.idle[--all.n_idle];
	pthread_mutex_unlock(&all.lock);
	if (!avoided && !h->pid)
		err = helper_start(h, serve);
	pthread_mutex_lock(&all.lock);
	all.stats.n_refused += (unsigned int)(avoided || err == -EBUSY);
	pthread_mutex_unlock(&all.lock);
	return avoided ? -ETIMEDOUT : err;
}

static void give_helper(struct helper *h)
{
	pthread_mutex_lock(&all.lock);
	if (all.n_idle < IDLE_MAX) {
		all.idle[all.n_idle++] = *h;
		*h = (struct helper){0};
	}
	pthread_mutex_unlock(&all.lock);
	helper_end(h);
}

/* Returns -EPIPE if the helper has exited. */
static int receive(const struct helper *h, struct answer *a, int *fd, int timeout_ms)
{
	const int err = helper_wait(h->fd, timeout_ms);

	return err ?: helper_receive(h->fd, a, sizeof(*a), fd) == sizeof(*a) ? 0 : -EPIPE;
}

static int exchange(const struct helper *h, const char *question, size_t len, struct stat *st)
{
	struct answer a = {0};
	int fd = -1, err = helper_send(h->fd, question, len, -1);

	if (err)
		return -EPIPE;
	err = receive(h, &a, &fd, ANSWER_MS);
	if (!err && a.copies)
		err = receive(h, &a, &fd, COPY_MS);
	if (err)
		return err;
	*st = a.st;
	return a.err ?: fd;
}

static int query(const char *place, const char *question, size_t len, struct stat *st)
{
	struct helper h;
	int r = take_helper(&h, place);

	if (r)
		return r;
	r = exchange(&h, question, len, st);
	if (r != -ETIMEDOUT && r != -EPIPE) {
		give_helper(&h);
		return r;
	}
	helper_end(&h);
	if (r == -ETIMEDOUT)
		avoid(place);
	return r;
}

int open_in_root(const char *root, const char *path, struct stat *st)
{
	char question[QUESTION_MAX], place[PLACE_SZ];
	const int len = snprintf(question, sizeof(question), "%s%c%s", root ?: "", '\0', path) + 1;
	struct stat found;
	int fd;

	if (len > QUESTION_MAX)
		return -ENAMETOOLONG;
	name_place(place, root ?: "", path);
	fd = query(place, question, (size_t)len, &found);
	if (fd == -EPIPE) /* another process had killed the helper */
		fd = query(place, question, (size_t)len, &found);
	if (fd >= 0 && st)
		*st = found;
	return fd;
}

int open_same_in_root(const char *root, const char *path, uint64_t ino, struct stat *st)
{
	const int fd = open_in_root(root, path, st);

	if (fd >= 0 && ino && st->st_ino != ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int open_mapped(uint32_t pid, uint64_t start, uint64_t end, const char *path, uint64_t ino,
		struct stat *st)
{
	char place[96];
	int fd;

	snprintf(place, sizeof(place), "/proc/%u/map_files/%llx-%llx", pid,
		 (unsigned long long)start, (unsigned long long)end);
	fd = open_in_root(NULL, place, st);
	if (fd >= 0)
		return fd;
	snprintf(place, sizeof(place), "/proc/%u/root", pid);
	return open_same_in_root(place, path, ino, st);
}

void scap_open_stats(struct scap_open_stats *st)
{
	const unsigned int n_hung = helpers_hung();

	pthread_mutex_lock(&all.lock);
	*st = all.stats;
	pthread_mutex_unlock(&all.lock);
	st->n_hung = n_hung;
}
