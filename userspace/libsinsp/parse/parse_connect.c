/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outcome of connect. A non-blocking connect ends after the call: SO_ERROR, data, an error of a
 * read or write, another connect or the peer's name shows how. Otherwise the outcome stays unknown:
 * events of epoll do not name the descriptor.
 */
#include <errno.h>
#include <string.h>

#include "event/event_table.h"
#include "parsers.h"

/* Errors that the kernel does not return to programs, but to tracers. */
enum { ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };

enum { SOCKOPT_ERRNO = 1, SOL_SOCKET_ID = 1, SO_ERROR_ID = 4 };
enum { AF_UNSPEC = 0 };

static void set_pending(struct sinsp_fd *fd)
{
	sinsp_fd_edit_connect(fd)->known = 0;
	sinsp_fd_set_connect_state(fd, SINSP_FD_F_CONNECT_PENDING);
}

/* @state: the connect flags of the descriptor from now on. */
static void set_outcome(struct sinsp_evt *e, struct sinsp_fd *fd, unsigned int error,
			unsigned int state)
{
	struct sinsp_connect *c = sinsp_fd_edit_connect(fd);

	sinsp_fd_set_connect_state(fd, state);
	if (c->known && c->error == error)
		return;
	c->known = 1;
	c->error = (uint16_t)error;
	c->has_latency = c->begin_ns && c->begin_ns <= e->raw.true_ns;
	c->latency_ns = c->has_latency ? e->raw.true_ns - c->begin_ns : 0;
	e->connect_done = 1;
}

static void set_succeeded(struct sinsp_evt *e, struct sinsp_fd *fd)
{
	set_outcome(e, fd, 0, SINSP_FD_F_CONNECTED);
}

/* Returns the error of a result below 0. A capture may have any number there: Linux has no larger
 * error than 4095. */
static int64_t error_of(int64_t res)
{
	return res >= -4095 ? -res : EINVAL;
}

static void set_failed(struct sinsp_evt *e, struct sinsp_fd *fd, int64_t res)
{
	set_outcome(e, fd, (unsigned int)error_of(res), SINSP_FD_F_CONNECT_FAILED);
}

/* Returns whether the connect continues after the call returned this error. */
static int is_in_progress(int64_t error)
{
	return error == EINPROGRESS || error == EALREADY || error == EINTR ||
	       (error >= ERESTARTSYS && error <= ERESTART_RESTARTBLOCK);
}

/* Returns whether a second connect failed by its arguments, so that the first one is not
 * affected. */
static int is_of_call(int64_t error)
{
	return error == EFAULT || error == EINVAL;
}

static int disconnects(const struct sinsp_parse *p)
{
	const struct scap_param *addr = sinsp_call_param(p, SINSP_P_addr);

	return addr && addr->p[0] == AF_UNSPEC;
}

static void begin_connect(const struct sinsp_evt *e, struct sinsp_fd *fd)
{
	struct sinsp_connect *c = sinsp_fd_edit_connect(fd);

	memset(c, 0, sizeof(*c));
	if (e->latency_known)
		c->begin_ns = e->raw.true_ns - e->latency_ns;
}

void sinsp_connect_exit(struct sinsp_parse *p, struct sinsp_fd *fd)
{
	const int was_pending = fd->flags & SINSP_FD_F_CONNECT_PENDING;
	const int64_t res = sinsp_result(p);

	if (!res && disconnects(p)) {
		memset(sinsp_fd_edit_connect(fd), 0, sizeof(struct sinsp_connect));
		sinsp_fd_set_connect_state(fd, 0);
		return;
	}
	/* The socket is connected, or was refused before. */
	if (res == -EISCONN || (res == -ECONNABORTED && sinsp_fd_edit_connect(fd)->error)) {
		if (was_pending)
			set_succeeded(p->e, fd);
		else if (res == -EISCONN)
			sinsp_fd_set_connect_state(fd, SINSP_FD_F_CONNECTED);
		return;
	}
	if (was_pending && res < 0 && is_of_call(error_of(res)))
		return;
	if (!was_pending)
		begin_connect(p->e, fd);
	if (!res)
		set_succeeded(p->e, fd);
	else if (is_in_progress(error_of(res)))
		set_pending(fd);
	else
		set_failed(p->e, fd, res);
}

/* Returns whether the error of a read or write is that of the connect. */
static int is_of_connect(int64_t error)
{
	switch (error) {
	case EPERM:
	case EACCES:
	case EPROTO:
	case ENOPROTOOPT:
	case EADDRNOTAVAIL:
	case ENETDOWN:
	case ENETUNREACH:
	case ECONNABORTED:
	case ECONNRESET:
	case ETIMEDOUT:
	case ECONNREFUSED:
	case EHOSTDOWN:
	case EHOSTUNREACH:
		return 1;
	}
	return 0;
}

/* SO_ERROR 0 also stands for a connect that continues: success holds until another event
 * contradicts it. */
static void read_so_error(struct sinsp_parse *p, struct sinsp_fd *fd)
{
	const struct scap_param *val = sinsp_evt_param(p, SINSP_P_val);
	int64_t error;

	if (sinsp_result(p) || sinsp_u64(sinsp_evt_param(p, SINSP_P_level), 0) != SOL_SOCKET_ID ||
	    sinsp_u64(sinsp_evt_param(p, SINSP_P_optname), 0) != SO_ERROR_ID || !val ||
	    val->len != 9 || val->p[0] != SOCKOPT_ERRNO)
		return;
	error = (int64_t)get_u64(val->p + 1);
	if (error < 0)
		set_failed(p->e, fd, error);
	else if (!error)
		set_outcome(p->e, fd, 0, SINSP_FD_F_CONNECT_PENDING | SINSP_FD_F_CONNECTED);
}

static void read_io_result(struct sinsp_parse *p, struct sinsp_fd *fd)
{
	const int64_t res = sinsp_result(p);

	if (res > 0)
		set_succeeded(p->e, fd);
	else if (res == -ENOTCONN && fd->flags & SINSP_FD_F_CONNECTED)
		set_pending(fd);
	else if (res < 0 && is_of_connect(error_of(res)))
		set_failed(p->e, fd, res);
}

void sinsp_connect_outcome(struct sinsp *s, struct sinsp_evt *e, const struct sinsp_parse_row *row)
{
	const uint32_t io = EF_READS_FROM_FD | EF_WRITES_TO_FD;
	struct sinsp_parse p;
	struct sinsp_fd *fd;

	if (e->raw.type != EVT_GETSOCKOPT_X && !(e->info->flags & io))
		return;
	p.s = s;
	p.e = e;
	p.row = row;
	p.enter_row = NULL;
	fd = sinsp_parse_edit_socket(&p);
	if (fd && e->raw.type == EVT_GETSOCKOPT_X)
		read_so_error(&p, fd);
	else if (fd)
		read_io_result(&p, fd);
}

/* The event does not count as one of the descriptor: fd.* stays empty. */
void sinsp_parse_getpeername(struct sinsp_parse *p)
{
	const int64_t num = sinsp_s64(sinsp_evt_param(p, SINSP_P_fd), -1), res = sinsp_result(p);
	const struct sinsp_thread *t = p->e->thread;
	const struct sinsp_fd *known = t ? sinsp_thread_fd(t, num) : NULL;
	struct sinsp_fd *fd;

	if (!known || !(known->flags & SINSP_FD_F_CONNECT_PENDING) || (res && res != -ENOTCONN))
		return;
	fd = sinsp_files_edit_socket(&p->s->threads.fds, t->files, num);
	if (!fd)
		return;
	if (!res)
		set_succeeded(p->e, fd);
	else if (fd->flags & SINSP_FD_F_CONNECTED)
		set_pending(fd);
	p->e->connect_done = 0;
}
