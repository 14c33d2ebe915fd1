/* SPDX-License-Identifier: Apache-2.0 */
/* Passes the bytes of events on to their connections. */
#include "requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn_life.h"
#include "datagram.h"
#include "event/event_table.h"
#include "event/messages.h"
#include "feed.h"
#include "fields/errno_signal_names.h"
#include "fields/evt_io.h"
#include "fields/info.h"
#include "hash.h"
#include "parse/socket_params.h"
#include "recognise.h"
#include "tls_conn.h"

enum { N_BUCKETS = 1 << 14, SWEEP_NS = 1000000000 };

/* ---- life ---- */

/* The last descriptor of the socket is gone. */
static void end_file(void *ctx, struct sinsp_open_file *file)
{
	struct sinsp_conn *c = file->conn;
	struct sinsp_open_file **at = &c->files;

	(void)ctx;
	if (c->is_udp) {
		datagram_end(file, "closed");
		return;
	}
	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	if (!c->files)
		conn_free(c, "closed");
}

int sinsp_requests_new(struct sinsp_requests **out, struct sinsp *s)
{
	struct sinsp_requests *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return -ENOMEM;
	rs->by_key = calloc(N_BUCKETS, sizeof(*rs->by_key));
	if (!rs->by_key) {
		free(rs);
		return -ENOMEM;
	}
	rs->s = s;
	rs->seed = scap_hash_seed(rs);
	sinsp_slab_init(&rs->requests, sizeof(struct request));
	s->threads.fds.file_end = end_file;
	s->threads.fds.file_end_ctx = rs;
	*out = rs;
	return 0;
}

int sinsp_requests_end(struct sinsp_requests *rs)
{
	if (!rs->oldest)
		return 0;
	conn_free(rs->oldest, "unfinished");
	return 1;
}

void sinsp_requests_free(struct sinsp_requests *rs)
{
	if (!rs)
		return;
	while (sinsp_requests_end(rs))
		;
	rs->s->threads.fds.file_end = NULL;
	sinsp_slab_fini(&rs->requests);
	free(rs->by_key);
	free(rs);
}

void sinsp_requests_get_stats(const struct sinsp *s, struct sinsp_requests_stats *st)
{
	const struct sinsp_requests *rs = s->requests;

	*st = rs ? rs->stats : (struct sinsp_requests_stats){0};
	st->memory = rs ? rs->used : 0;
}

/* ---- events ---- */

/* Ends responses without a known end on connections that are idle, and those of datagrams. */
static void sweep(struct sinsp_requests *rs)
{
	struct sinsp_conn *c = rs->oldest;

	rs->sweep_at_ns = rs->now_ns + SWEEP_NS;
	while (c && c->now.end_ns + CONN_IDLE_NS < rs->now_ns) {
		struct sinsp_conn *newer = c->newer;

		if (c->is_udp)
			conn_free(c, "closed");
		else
			conn_end_open(c);
		c = newer;
	}
}

static const struct scap_param *data_of(const struct sinsp_evt *evt)
{
	for (unsigned int i = 0; i < evt->info->n_params && i < evt->params.n; i++)
		if (evt->info->params[i].type == PT_BYTEBUF &&
		    !strcmp(evt->info->params[i].name, "data"))
			return &evt->params.v[i];
	return NULL;
}

static void begin_call(struct sinsp_conn *c, const struct sinsp_evt *evt, int64_t fd, int out)
{
	c->now = (struct conn_call){
		.begin_ns = evt->raw.true_ns - (evt->latency_known ? evt->latency_ns : 0),
		.end_ns = evt->raw.true_ns,
		.tid = evt->thread->tid,
		.fd = fd,
		.out = (uint8_t)out,
		.datagram = c->is_udp,
	};
	conn_touch(c);
}

/* A read of no bytes is the end of what the peer sends. */
static void end_of_stream(struct sinsp_conn *c, int out)
{
	if (!out && c->client && c->role_known)
		conn_end_requests(c, "closed");
}

static void feed(struct sinsp_conn *c, int out, const struct conn_bytes *bytes, uint64_t total)
{
	nesting_before(c);
	conn_feed(c, out, bytes->p, bytes->captured, total);
	nesting_after(c);
}

static void move(struct sinsp_requests *rs, const struct sinsp_evt *evt, const struct sinsp_fd *fd,
		 int64_t num, int out, const struct conn_bytes *bytes)
{
	const int plain = tls_is_plain(evt), datagram = !plain && datagram_is(fd);
	struct sinsp_conn *c = plain      ? tls_conn_of(rs, evt, fd)
			       : datagram ? datagram_conn(rs, bytes->tuple, fd, out)
					  : conn_of(rs, fd);
	const uint64_t total = bytes->total + (datagram ? 0 : bytes->others);

	if (!c || (c->plain && !plain && total))
		return;
	begin_call(c, evt, num, out);
	if (datagram)
		datagram_feed(c, out, bytes);
	else if (total)
		feed(c, out, bytes, total);
	else
		end_of_stream(c, out);
}

static struct conn_bytes bytes_of(const struct scap_param *data, uint64_t total,
				  const struct scap_param *tuple)
{
	const int any = data && data->len;

	return (struct conn_bytes){
		.p = any ? data->p : (const uint8_t *)"",
		.captured = any && data->len < total ? data->len
			    : any                    ? (size_t)total
						     : 0,
		.total = total,
		.tuple = tuple,
	};
}

/* Moves each message of the call, with the last one what is known of those behind it. */
static void move_messages(struct sinsp_requests *rs, const struct sinsp_evt *evt,
			  const struct sinsp_fd *fd, int64_t num, int out, uint64_t total)
{
	struct scap_message m, next = {0};
	struct scap_messages it;
	struct conn_bytes bytes;
	int64_t n = 1;
	int more;

	sinsp_evt_result(evt, &n);
	scap_messages_begin(&it, evt->info, &evt->params);
	more = n > 0 && scap_messages_next(&it, &next);
	while (more) {
		m = next;
		more = it.n < n && scap_messages_next(&it, &next);
		if (!m.size)
			m.size = m.data.len;
		bytes = bytes_of(&m.data, m.size, &m.tuple);
		total -= m.size < total ? m.size : total;
		if (!more) {
			n -= it.n;
			bytes.n_others = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
			bytes.others = total;
		}
		move(rs, evt, fd, num, out, &bytes);
	}
}

static void move_all(struct sinsp_requests *rs, const struct sinsp_evt *evt,
		     const struct sinsp_fd *fd, int64_t num, int out, uint64_t total)
{
	static const struct scap_param no_tuple;
	struct conn_bytes bytes;

	if (scap_is_messages(evt->info->id)) {
		move_messages(rs, evt, fd, num, out, total);
		return;
	}
	bytes = bytes_of(data_of(evt), total, &no_tuple);
	move(rs, evt, fd, num, out, &bytes);
}

/* Returns the name of an error that ends a connection; NULL: it does not. */
static const char *fatal_error(int64_t res)
{
	switch (res < -SINSP_ERRNO_MAX ? 0 : -res) {
	case ECONNRESET:
	case EPIPE:
	case ECONNABORTED:
		return "reset";
	case ECONNREFUSED: /* no socket has the port that a datagram was sent to */
		return "refused";
	case ETIMEDOUT:
		return "timed_out";
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "unreachable";
	}
	return NULL;
}

/* An error ends the requests on the socket. One of a datagram socket is that of its connected
 * peer. */
static void fail(struct sinsp_requests *rs, const struct sinsp_evt *evt, int64_t res)
{
	const int moves = evt->info->flags & (EF_READS_FROM_FD | EF_WRITES_TO_FD) ||
			  evt->raw.type == EVT_IO_URING_COMPLETE_X;
	const struct sinsp_open_file *file = sinsp_fd_file(evt->fd);
	const char *why = fatal_error(res);
	struct sinsp_conn *c;
	struct conn_key key;

	if (!why || !file || !file->conn || !moves)
		return;
	if (!file->conn->is_udp) {
		conn_end_requests(file->conn, why);
		return;
	}
	conn_make_key(&key, evt->fd);
	c = conn_find(rs, &key);
	if (c && c->files == file)
		conn_free(c, why);
}

/* Copies the descriptor of a connect that failed, with the ends that the connect had: it does not
 * get them if the call fails. */
static struct sinsp_fd_with_ends connect_fd(const struct sinsp_evt *evt)
{
	struct sinsp_fd_with_ends fd = *(const struct sinsp_fd_with_ends *)evt->fd;
	struct sinsp_tuple t;
	unsigned int type;

	if (evt->raw.type == EVT_CONNECT_X && evt->params.n > 1 &&
	    socket_read_tuple(&evt->params.v[1], &t, &type)) {
		fd.ends.tuple = t;
		fd.fd.type = (uint8_t)type;
	}
	return fd;
}

/* A connect that failed is a request of its own, without bytes. Connections that end by themselves
 * later, and names of unix sockets that do not exist, are none. */
static void fail_connect(struct sinsp_requests *rs, const struct sinsp_evt *evt)
{
	const struct sinsp_connect *connect = sinsp_fd_connect(evt->fd);
	const char *why = connect->error == ECONNRESET ? NULL : fatal_error(-connect->error);
	const struct sinsp_open_file *file = sinsp_fd_file(evt->fd);
	const struct sinsp_fd_with_ends fd = connect_fd(evt);
	struct sinsp_conn *c = why && file && !file->conn ? conn_of(rs, &fd.fd) : NULL;
	struct request *r;

	if (!c)
		return;
	begin_call(c, evt, evt->fdnum, 1);
	c->streams[REQ_CLIENT].begin_ns = connect->begin_ns ?: c->now.begin_ns;
	r = req_begin(c);
	if (r) {
		r->kind = REQ_KIND_CONNECT;
		r->proto = req_generic.name;
		conn_end_requests(c, why);
	}
	conn_free(c, "closed");
}

/* Adds the type if it can move bytes of sockets, or begins or ends a connection. */
static void add_io_type(void *ctx, const struct scap_event_info *info)
{
	const uint32_t io = EF_READS_FROM_FD | EF_WRITES_TO_FD;
	uint64_t *types = ctx;

	if (info->flags & io || sinsp_io_moves(info) || info->id == EVT_SHUTDOWN_X ||
	    info->id == EVT_CONNECT_X || info->id == EVT_GETSOCKOPT_X)
		scap_types_add(types, info->id);
}

void sinsp_requests_types(uint64_t *types)
{
	scap_event_each(add_io_type, types);
}

static int is_socket(const struct sinsp_fd *fd)
{
	return fd && fd->has_ends;
}

static void follow(struct sinsp_requests *rs, const struct sinsp_evt *evt)
{
	struct sinsp_io io;
	int64_t res;

	if (!sinsp_evt_io(evt, &io)) {
		if (is_socket(evt->fd) && sinsp_evt_result(evt, &res) && res < 0)
			fail(rs, evt, res);
		return;
	}
	if (tls_is_plain(evt) && !evt->fd) {
		move_all(rs, evt, NULL, evt->fdnum, io.ends & SINSP_IO_WRITE, io.n_bytes);
		return;
	}
	if (io.ends & SINSP_IO_READ && is_socket(io.in))
		move_all(rs, evt, io.in, io.in_num, 0, io.n_bytes);
	if (io.ends & SINSP_IO_WRITE && is_socket(io.out))
		move_all(rs, evt, io.out, io.out_num, 1, io.n_bytes);
}

void sinsp_requests_event(struct sinsp_requests *rs, const struct sinsp_evt *evt)
{
	rs->now_ns = evt->raw.true_ns;
	if (rs->now_ns >= rs->sweep_at_ns)
		sweep(rs);
	if (!evt->info || evt_is_enter(evt->raw.type) || !evt->thread)
		return;
	if (evt->raw.type == EVT_CONNECT_X && is_socket(evt->fd))
		nesting_connect(rs, evt);
	if (evt->connect_done && is_socket(evt->fd) && sinsp_fd_connect(evt->fd)->error)
		fail_connect(rs, evt);
	if (is_socket(evt->fd) || is_socket(evt->other_fd) || tls_is_plain(evt))
		follow(rs, evt);
}
