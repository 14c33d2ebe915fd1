/* SPDX-License-Identifier: Apache-2.0 */
/* Passes the bytes of events on to their connections. */
#include "requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn_life.h"
#include "datagram.h"
#include "event/event_table.h"
#include "feed.h"
#include "fields/evt_io.h"
#include "fields/info.h"
#include "memory/hash.h"

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
	rs->seed = sinsp_hash_seed(rs);
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

void sinsp_requests_get_stats(const struct sinsp_requests *rs, struct sinsp_requests_stats *st)
{
	*st = rs->stats;
	st->memory = rs->used;
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

static void move(struct sinsp_requests *rs, const struct sinsp_evt *evt, const struct sinsp_fd *fd,
		 int64_t num, int out, uint64_t total, const struct scap_param *data)
{
	const int datagram = datagram_is(fd);
	struct sinsp_conn *c = datagram ? datagram_conn(rs, evt, fd, out) : conn_of(rs, fd);
	size_t captured = data ? data->len : 0;
	const uint8_t *p = captured ? data->p : (const uint8_t *)"";

	if (!c)
		return;
	begin_call(c, evt, num, out);
	if (captured > total)
		captured = (size_t)total;
	if (datagram)
		datagram_feed(c, evt, out, p, captured, total);
	else if (total)
		conn_feed(c, out, p, captured, total);
	else
		end_of_stream(c, out);
}

/* Returns the name of an error that ends a connection; NULL: it does not. */
static const char *fatal_error(int64_t res)
{
	switch (-res) {
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
	const uint32_t io = EF_READS_FROM_FD | EF_WRITES_TO_FD;
	const struct sinsp_open_file *file = sinsp_fd_file(evt->fd);
	const char *why = fatal_error(res);
	struct sinsp_conn *c;
	struct conn_key key;

	if (!why || !file || !file->conn || !(evt->info->flags & io))
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
	if (io.ends & SINSP_IO_READ && is_socket(io.in))
		move(rs, evt, io.in, io.in_num, 0, io.n_bytes, data_of(evt));
	if (io.ends & SINSP_IO_WRITE && is_socket(io.out))
		move(rs, evt, io.out, io.out_num, 1, io.n_bytes, data_of(evt));
}

void sinsp_requests_event(struct sinsp_requests *rs, const struct sinsp_evt *evt)
{
	rs->now_ns = evt->raw.true_ns;
	if (rs->now_ns >= rs->sweep_at_ns)
		sweep(rs);
	if (!evt->info || evt_is_enter(evt->raw.type) || !evt->thread)
		return;
	if (is_socket(evt->fd) || is_socket(evt->other_fd))
		follow(rs, evt);
}
