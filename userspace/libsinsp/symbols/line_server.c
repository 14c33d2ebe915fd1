/* SPDX-License-Identifier: Apache-2.0 */
#include "line_server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ANSWER_MS = 3000,
	FIRST_ANSWER_MS = 20000, /* the file is read */
	RESTARTS_MAX = 8,
	FILES_OPEN = 16, /* at once in the process; of more, the oldest one is read anew */
	SOCKET_FD = 3,
};
/* Of addresses: files are mapped. What finds errors of memory needs all there are. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define MEMORY_MAX RLIM_INFINITY
#else
#define MEMORY_MAX (8ull << 30)
#endif
#define FILES_MAX (1u << 17)

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
	pid_t pid; /* 0: does not run */
	int fd;
	int n_restarts;
	uint8_t *bad; /* bits of files that are not asked about */
	struct answer answer;
};

struct line_server *line_server_new(void)
{
	struct line_server *s = calloc(1, sizeof(*s));

	if (s)
		s->bad = calloc(1, FILES_MAX / 8);
	if (s && !s->bad) {
		free(s);
		s = NULL;
	}
	return s;
}

/* ---- the process ---- */

struct open_file {
	uint32_t file; /* number + 1; 0: free */
	int fd;
	struct dwarf_lines *lines; /* NULL: it has none */
	uint64_t used;
};

static void give_up_rights(void)
{
	const struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX}, nothing = {0, 0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_FSIZE, &nothing);
	setrlimit(RLIMIT_CORE, &nothing);
	syscall(SYS_capset, &h, none);
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

static ssize_t receive(struct request *r, int *fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	struct iovec part = {r, sizeof(*r)};
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const ssize_t n = recvmsg(SOCKET_FD, &msg, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

	*fd = -1;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n;
}

static __attribute__((noreturn)) void serve(void)
{
	static struct open_file files[FILES_OPEN];
	static struct answer a;
	struct request r;
	uint64_t now = 0;
	int fd;

	give_up_rights();
	while (receive(&r, &fd) == sizeof(r)) {
		const struct open_file *f = slot_for(files, r.file, fd, ++now);

		a.kind = f ? ANSWER_FRAMES : ANSWER_NEEDS_FD;
		a.n = f && f->lines ? (uint32_t)dwarf_lines_find(f->lines, r.addr, a.frames) : 0;
		send(SOCKET_FD, &a, offsetof(struct answer, frames) + a.n * sizeof(a.frames[0]),
		     MSG_NOSIGNAL);
	}
	_exit(0);
}

static int start(struct line_server *s)
{
	int ends[2];
	sigset_t all, old;

	if (s->n_restarts++ > RESTARTS_MAX ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	/* A signal that is meant for us must not find our handlers in there. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	s->pid = fork();
	if (!s->pid) {
		if (dup2(ends[1], SOCKET_FD) < 0)
			_exit(1);
		syscall(SYS_close_range, SOCKET_FD + 1, ~0u, 0);
		serve();
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(ends[1]);
	if (s->pid < 0) {
		s->pid = 0;
		close(ends[0]);
		return -1;
	}
	s->fd = ends[0];
	return 0;
}

static void stop(struct line_server *s)
{
	if (!s->pid)
		return;
	close(s->fd);
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
}

void line_server_free(struct line_server *s)
{
	if (!s)
		return;
	stop(s);
	free(s->bad);
	free(s);
}

/* ---- asking ---- */

static int send_request(struct line_server *s, const struct request *r, int fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	struct iovec part = {(void *)r, sizeof(*r)};
	struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.h), &fd, sizeof(fd));
	}
	return sendmsg(s->fd, &msg, MSG_NOSIGNAL) == sizeof(*r) ? 0 : -1;
}

/* 0 with a whole answer, whose texts end. */
static int get_answer(struct line_server *s, int timeout_ms)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	struct answer *a = &s->answer;
	ssize_t n;
	int r;

	do {
		r = poll(&p, 1, timeout_ms);
	} while (r < 0 && errno == EINTR);
	if (r <= 0)
		return -1;
	n = recv(s->fd, a, sizeof(*a), 0);
	if (n < (ssize_t)offsetof(struct answer, frames) || a->n > DWARF_FRAMES_MAX ||
	    n < (ssize_t)(offsetof(struct answer, frames) + a->n * sizeof(a->frames[0])))
		return -1;
	for (uint32_t i = 0; i < a->n; i++) {
		a->frames[i].function[DWARF_NAME_MAX - 1] = '\0';
		a->frames[i].file[DWARF_NAME_MAX - 1] = '\0';
	}
	return 0;
}

/* 1: answered; 0: the file has nothing to be asked about; -1: the process failed. */
static int exchange(struct line_server *s, const struct request *r, line_open_fn open, void *ctx)
{
	int fd, err;

	if (!s->pid && start(s))
		return -1;
	err = send_request(s, r, -1) ?: get_answer(s, ANSWER_MS);
	if (err || s->answer.kind == ANSWER_FRAMES)
		return err ?: 1;
	fd = open(ctx);
	if (fd < 0)
		return 0;
	err = send_request(s, r, fd) ?: get_answer(s, FIRST_ANSWER_MS);
	close(fd);
	return err || s->answer.kind != ANSWER_FRAMES ? -1 : 1;
}

size_t line_server_ask(struct line_server *s, uint32_t file, line_open_fn open, void *ctx,
		       uint64_t addr, struct dwarf_frame out[DWARF_FRAMES_MAX])
{
	const struct request r = {.addr = addr, .file = file};
	int answered;

	if (file >= FILES_MAX || s->bad[file / 8] & 1u << file % 8)
		return 0;
	answered = exchange(s, &r, open, ctx);
	if (answered < 0)
		stop(s);
	if (answered <= 0) {
		s->bad[file / 8] |= (uint8_t)(1u << file % 8);
		return 0;
	}
	memcpy(out, s->answer.frames, s->answer.n * sizeof(out[0]));
	return s->answer.n;
}
