/* SPDX-License-Identifier: Apache-2.0 */
/* io_uring requests that open, change or close descriptors of the process. Files in the ring's own
 * table (slot) have no descriptor. */
#include "parsers.h"
#include "state/fd.h"

enum { OP_ACCEPT = 13, OP_CONNECT = 16, OP_OPENAT = 18, OP_CLOSE = 19, OP_OPENAT2 = 28 };
enum { OP_SOCKET = 45 };
enum { CQE_SKIP_SUCCESS = 1 << 6 };

static uint64_t op_of(const struct sinsp_parse *p)
{
	return sinsp_u64(sinsp_evt_param(p, SINSP_P_op), UINT64_MAX);
}

static int in_ring(const struct sinsp_parse *p)
{
	return sinsp_u64(sinsp_evt_param(p, SINSP_P_slot), 0) != 0;
}

/* Closes the descriptor after the event, which still shows it. */
static void close_fd(struct sinsp_parse *p)
{
	if (!p->e->thread || !p->e->fd)
		return;
	p->s->closed_tid = p->e->thread->tid;
	p->s->closed_fd = p->e->fdnum;
}

static void bind_fd(struct sinsp_parse *p)
{
	p->e->fdnum = sinsp_s64(sinsp_evt_param(p, SINSP_P_fd), -1);
	p->e->fd = sinsp_thread_fd(p->e->thread, p->e->fdnum);
}

/* A close with CQE_SKIP_SUCCESS sends no completion if it succeeds. */
void sinsp_parse_io_submit(struct sinsp_parse *p)
{
	bind_fd(p);
	if (op_of(p) == OP_CLOSE &&
	    sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0) & CQE_SKIP_SUCCESS)
		close_fd(p);
}

static void accept_fd(struct sinsp_parse *p)
{
	int64_t num = sinsp_result(p);
	struct sinsp_fd *fd;

	sinsp_parse_accept(p);
	if (!p->e->thread)
		return;
	fd = sinsp_files_edit(&p->s->threads.fds, p->e->thread->files, num);
	if (fd && sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0) & SINSP_O_CLOEXEC)
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

void sinsp_parse_io_complete(struct sinsp_parse *p)
{
	p->e->latency_ns = sinsp_u64(sinsp_evt_param(p, SINSP_P_latency), 0);
	p->e->latency_known = p->e->latency_ns != 0;
	bind_fd(p);
	if (in_ring(p))
		return;
	if (op_of(p) == OP_CONNECT)
		sinsp_parse_connect(p);
	if (sinsp_result(p) < 0)
		return;
	switch (op_of(p)) {
	case OP_OPENAT:
	case OP_OPENAT2:
		sinsp_parse_open_by_handle(p);
		break;
	case OP_ACCEPT:
		accept_fd(p);
		break;
	case OP_SOCKET:
		sinsp_parse_socket(p);
		break;
	case OP_CLOSE:
		close_fd(p);
		break;
	}
}
