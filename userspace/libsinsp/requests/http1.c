/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.0 and 1.1: requests are answered in order. Bodies are skipped by their length. A header
 * that is cut hides the length of its body: the response then has no known end.
 */
#include <string.h>
#include <strings.h>

#include "http2.h"
#include "protocol.h"
#include "trace_ids.h"
#include "wire.h"

/* What comes next in a stream. */
enum http_part { PART_HEADER, PART_CHUNK_SIZE, PART_CHUNK_END, PART_TRAILER };

struct http {
	uint8_t part[2]; /* enum http_part, by enum req_from */
	uint32_t searched[2]; /* bytes of an unfinished header that have no end */
};

/* What a header says of the message. */
struct head {
	const char *line; /* the first line, without its end */
	size_t line_len;
	uint64_t length; /* of the body */
	uint8_t has_length, chunked;
	uint8_t h2c; /* upgrade to HTTP/2 */
	uint8_t is_cut; /* the rest of the header is missing */
};

/* mark of a request */
enum { MARK_HEAD = 1, MARK_CONNECT = 2 };

/* ---- recognition ---- */

static const char *const methods[] = {"GET",     "POST",   "PUT",   "HEAD",      "DELETE",
				      "OPTIONS", "PATCH",  "TRACE", "CONNECT",   "PROPFIND",
				      "REPORT",  "MKCOL",  "COPY",  "MOVE",      "LOCK",
				      "UNLOCK",  "SEARCH", "PURGE", "PROPPATCH", "LINK"};

/* Returns whether the bytes, or as many as there are, are @text. */
static int begins(const uint8_t *p, size_t n, const char *text)
{
	const size_t len = strlen(text);

	return !memcmp(p, text, n < len ? n : len);
}

static int is_target_start(uint8_t c, const char *method)
{
	if (!strcmp(method, "CONNECT"))
		return c > ' ' && c < 0x7f;
	return c == '/' || c == '*' || c == 'h' || c == 'H';
}

/* Returns whether the visible line, up to the end of the bytes, has the version where a line of
 * HTTP/1 has it. */
static int has_version(const uint8_t *p, size_t n, int cut)
{
	const uint8_t *nl = memchr(p, '\n', n);
	size_t len = nl ? (size_t)(nl - p) : n;

	if (!nl)
		return cut || n >= REQ_MATCH_MAX;
	if (len && p[len - 1] == '\r')
		len--;
	return len > 9 && !memcmp(p + len - 9, " HTTP/1.", 8);
}

static enum req_match match_request(const struct req_look *l)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const size_t len = strlen(methods[i]);

		if (!begins(l->p, l->n, methods[i]))
			continue;
		if (l->n < len + 2)
			return REQ_MAYBE;
		if (l->p[len] != ' ' || !is_target_start(l->p[len + 1], methods[i]))
			continue;
		if (has_version(l->p, l->n, l->cut))
			return REQ_IS_REQUEST;
		return memchr(l->p, '\n', l->n) ? REQ_NO : REQ_MAYBE;
	}
	return REQ_NO;
}

static int is_status_line(const uint8_t *p, size_t n)
{
	return n >= 12 && begins(p, n, "HTTP/1.") && p[8] == ' ' && p[9] >= '1' && p[9] <= '5' &&
	       p[10] >= '0' && p[10] <= '9' && p[11] >= '0' && p[11] <= '9';
}

static enum req_match match(const struct req_look *l)
{
	if (l->from != REQ_CLIENT && begins(l->p, l->n, "HTTP/1.")) {
		if (l->n < 12)
			return REQ_MAYBE;
		return is_status_line(l->p, l->n) ? REQ_IS_RESPONSE : REQ_NO;
	}
	return l->from == REQ_SERVER ? REQ_NO : match_request(l);
}

/* ---- headers ---- */

/* Returns the length of the header with the empty line at its end; 0: the end is not there. What
 * was searched before is not searched again: a peer can send byte by byte. */
static size_t header_len(struct http *h, enum req_from from, const uint8_t *p, size_t n)
{
	size_t i = h->searched[from] < n ? h->searched[from] : 0;
	const uint8_t *nl;

	h->searched[from] = 0;
	for (; (nl = memchr(p + i, '\n', n - i)); i++) {
		i = (size_t)(nl - p);
		if (!i || nl[-1] == '\n' || (nl[-1] == '\r' && (i == 1 || nl[-2] == '\n')))
			return i + 1;
	}
	return 0;
}

static int need_more(struct http *h, enum req_from from, size_t n)
{
	h->searched[from] = (uint32_t)n;
	return REQ_MORE;
}

static int is_name(const char *p, size_t n, const char *name)
{
	return strlen(name) == n && !strncasecmp(p, name, n);
}

/* Returns whether @word is the last of a list: "gzip, chunked". */
static int ends_with(const char *p, size_t n, const char *word)
{
	const size_t len = strlen(word);

	return n >= len && !strncasecmp(p + n - len, word, len);
}

static void read_length(struct head *h, const char *p, size_t n)
{
	if (wire_decimal((const uint8_t *)p, n, &h->length))
		h->has_length = 1;
}

static void read_field(struct head *h, struct request *r, const char *p, size_t n)
{
	const char *colon = memchr(p, ':', n), *value;
	size_t name_len, len;

	if (!colon)
		return;
	name_len = (size_t)(colon - p);
	value = colon + 1;
	len = n - name_len - 1;
	while (len && (*value == ' ' || *value == '\t')) {
		value++;
		len--;
	}
	while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	if (is_name(p, name_len, "content-length"))
		read_length(h, value, len);
	else if (is_name(p, name_len, "transfer-encoding"))
		h->chunked = (uint8_t)ends_with(value, len, "chunked");
	else if (is_name(p, name_len, "upgrade"))
		h->h2c = (uint8_t)is_name(value, len, "h2c");
	else if (r)
		req_trace_header(r, p, name_len, value, len);
}

/* Reads the complete lines of a header. @r: gets the identifiers of traces; may be NULL. */
static void read_head(struct head *h, struct request *r, const uint8_t *p, size_t n, int is_cut)
{
	const char *at = (const char *)p, *end = at + n, *nl;

	*h = (struct head){.line = at, .line_len = n, .is_cut = (uint8_t)is_cut};
	for (int first = 1; (nl = memchr(at, '\n', (size_t)(end - at))); first = 0) {
		size_t len = (size_t)(nl - at);

		if (len && at[len - 1] == '\r')
			len--;
		if (first)
			h->line_len = len;
		else
			read_field(h, r, at, len);
		at = nl + 1;
	}
}

/* ---- bodies ---- */

/* The line with the size of a chunk; the chunk is skipped with the end of its line. */
static int parse_chunk_size(struct sinsp_conn *c, struct http *h, enum req_from from,
			    const uint8_t *p, size_t n)
{
	const uint8_t *nl = memchr(p, '\n', n);
	uint64_t sz = 0;
	size_t i = 0;

	for (; i < n && wire_hex(p[i]) >= 0; i++) {
		if (i == 15)
			return REQ_LOST;
		sz = sz << 4 | (uint64_t)wire_hex(p[i]);
	}
	if (i < n && (!i || !strchr(";\r\n \t", p[i])))
		return REQ_LOST;
	if (!nl)
		return n > 4096 ? REQ_LOST : REQ_MORE;
	if (sz)
		req_skip(c, from, sz);
	h->part[from] = sz ? PART_CHUNK_END : PART_TRAILER;
	return (int)(nl + 1 - p);
}

static int parse_chunk_end(struct http *h, enum req_from from, const uint8_t *p, size_t n)
{
	const size_t len = *p == '\r' ? 2 : 1;

	if (n < len)
		return REQ_MORE;
	if (p[len - 1] != '\n')
		return REQ_LOST;
	h->part[from] = PART_CHUNK_SIZE;
	return (int)len;
}

static void end_message(struct sinsp_conn *c, enum req_from from)
{
	if (from == REQ_SERVER)
		req_end(c, req_first(c), REQ_SERVER);
}

static int parse_trailer(struct sinsp_conn *c, struct http *h, enum req_from from, const uint8_t *p,
			 size_t n)
{
	const uint8_t *nl = memchr(p, '\n', n);

	if (!nl)
		return n > 4096 ? REQ_LOST : REQ_MORE;
	if (nl == p || (nl == p + 1 && *p == '\r')) {
		h->part[from] = PART_HEADER;
		end_message(c, from);
	}
	return (int)(nl + 1 - p);
}

static int parse_body(struct sinsp_conn *c, struct http *h, enum req_from from, const uint8_t *p,
		      size_t n)
{
	switch (h->part[from]) {
	case PART_CHUNK_SIZE:
		return parse_chunk_size(c, h, from, p, n);
	case PART_CHUNK_END:
		return parse_chunk_end(h, from, p, n);
	default:
		return parse_trailer(c, h, from, p, n);
	}
}

/* ---- requests ---- */

/* A response without a known end ends where the next request begins. */
static void end_earlier(struct sinsp_conn *c)
{
	struct request *r = req_first(c);

	if (r && r->first_ns && r->end == REQ_END_OPEN)
		req_end_now(c, r);
}

/* Reads "METHOD TARGET VERSION", of which the end may be cut. */
static void read_request_line(struct request *r, const struct head *h)
{
	const char *sp = memchr(h->line, ' ', h->line_len), *target, *end;
	size_t left;

	if (!sp)
		return;
	req_set_text(r, REQ_METHOD, h->line, (size_t)(sp - h->line));
	target = sp + 1;
	left = h->line_len - (size_t)(target - h->line);
	end = memchr(target, ' ', left);
	req_set_text(r, REQ_RESOURCE, target, end ? (size_t)(end - target) : left);
	if (!strcmp(req_text(r, REQ_METHOD), "HEAD"))
		r->mark = MARK_HEAD;
	else if (!strcmp(req_text(r, REQ_METHOD), "CONNECT"))
		r->mark = MARK_CONNECT;
}

static enum req_match look_again(const uint8_t *p, size_t n, int cut)
{
	const struct req_look look = {
		.p = p,
		.n = n < REQ_MATCH_MAX ? n : REQ_MATCH_MAX,
		.from = REQ_CLIENT,
		.cut = (uint8_t)cut,
	};

	return match_request(&look);
}

static int parse_request(struct sinsp_conn *c, struct http *h, const uint8_t *p, size_t n,
			 unsigned int flags)
{
	const size_t len = header_len(h, REQ_CLIENT, p, n);
	const int cut = !len && flags & REQ_F_CUT;
	const enum req_match is = look_again(p, n, cut);
	struct request *r;
	struct head head;

	if (*p == '\r' || *p == '\n') /* some clients send an empty line behind a body */
		return 1;
	if (is == REQ_NO || (is == REQ_MAYBE && cut))
		return REQ_LOST;
	if (!len && !cut)
		return need_more(h, REQ_CLIENT, n);
	end_earlier(c);
	r = req_begin(c);
	if (!r)
		return REQ_LOST;
	read_head(&head, r, p, len ? len : n, cut);
	read_request_line(r, &head);
	if (cut) {
		r->truncated = 1;
		return REQ_LOST;
	}
	if (head.chunked)
		h->part[REQ_CLIENT] = PART_CHUNK_SIZE;
	else
		req_skip(c, REQ_CLIENT, head.length);
	return (int)len;
}

/* ---- responses ---- */

static int read_status(struct request *r, const struct head *h)
{
	const int status = (h->line[9] - '0') * 100 + (h->line[10] - '0') * 10 + h->line[11] - '0';

	if (!r)
		return status;
	req_set_status(r, status);
	if (status >= 400) {
		req_set_text(r, REQ_ERROR, h->line + 9, 3);
		if (h->line_len > 13)
			req_set_text(r, REQ_ERROR_TEXT, h->line + 13, h->line_len - 13);
	}
	return status;
}

static int has_no_body(const struct request *r, int status)
{
	return status < 200 || status == 204 || status == 304 || (r && r->mark == MARK_HEAD);
}

/* From here on the connection carries another protocol. */
static void upgrade(struct sinsp_conn *c, struct request *r)
{
	req_end(c, r, REQ_SERVER);
	req_switch(c, NULL);
}

/* Finds the end of the response's body. */
static void frame_response(struct sinsp_conn *c, struct http *h, struct request *r,
			   const struct head *head, int status)
{
	if (status == 101 || (r && r->mark == MARK_CONNECT && status / 100 == 2)) {
		upgrade(c, r);
	} else if (has_no_body(r, status)) {
		req_end(c, r, REQ_SERVER);
	} else if (head->chunked) {
		h->part[REQ_SERVER] = PART_CHUNK_SIZE;
	} else if (head->has_length) {
		req_skip(c, REQ_SERVER, head->length);
		req_end(c, r, REQ_SERVER);
	} else {
		req_skip(c, REQ_SERVER, REQ_SKIP_ALL);
		if (r)
			r->end = REQ_END_CLOSE;
	}
}

static int parse_response(struct sinsp_conn *c, struct http *h, const uint8_t *p, size_t n,
			  unsigned int flags)
{
	const size_t len = header_len(h, REQ_SERVER, p, n);
	const int cut = !len && flags & REQ_F_CUT;
	struct request *r;
	struct head head;
	int status;

	if (!begins(p, n, "HTTP/1."))
		return REQ_LOST;
	if (!len && !cut)
		return need_more(h, REQ_SERVER, n);
	if (!is_status_line(p, n))
		return REQ_LOST;
	end_earlier(c);
	r = req_first(c);
	read_head(&head, NULL, p, len ? len : n, cut);
	if (r && len && head.h2c && !memcmp(p + 9, "101", 3)) {
		http2_upgrade(c, r);
		return (int)len;
	}
	status = p[9] == '1' && p[11] != '1' ? 100 : read_status(r, &head);
	if (status == 100) {
		req_answer_early(c, r);
		return cut ? REQ_LOST : (int)len;
	}
	req_answer(c, r);
	if (cut) {
		if (r) {
			r->truncated = 1;
			r->end = REQ_END_OPEN;
		}
		return REQ_LOST;
	}
	frame_response(c, h, r, &head, status);
	return (int)len;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	struct http *h = req_state(c);

	if (flags & REQ_F_SEARCH) {
		h->part[from] = PART_HEADER;
		h->searched[from] = 0;
	}
	if (h->part[from] != PART_HEADER)
		return parse_body(c, h, from, p, n);
	return from == REQ_CLIENT ? parse_request(c, h, p, n, flags)
				  : parse_response(c, h, p, n, flags);
}

/* The end of the body is lost with its bytes. */
static void lost(struct sinsp_conn *c, enum req_from from)
{
	struct request *r = req_first(c);

	if (from == REQ_SERVER && r && r->first_ns && r->end == REQ_END_KNOWN && !r->ends_with) {
		r->end = REQ_END_OPEN;
		r->truncated = 1;
	}
}

static const uint16_t ports[] = {80, 8080, 8000, 3000, 5000, 8888, 9090, 0};

const struct req_protocol req_http = {
	.name = "http",
	.ports = ports,
	.state_sz = sizeof(struct http),
	.streams = 1,
	.match = match,
	.parse = parse,
	.lost = lost,
};
