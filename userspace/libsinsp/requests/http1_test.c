/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1: framing of messages, and what a capture that cuts them still shows. */
#include "requests_test.h"

static void requests_follow_each_other(void **state)
{
	static const struct say said[] = {
		{'c', "GET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\n", 0},
		{'s', "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0},
		{'c', "POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 0},
		{'s', "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 0},
		{0}};

	(void)state;
	talk_check(said, 80, "http GET /a?x=1 200 32/43\nhttp POST /b 404 42/45 404\n");
}

static void requests_are_pipelined(void **state)
{
	static const struct say said[] = {
		{'c', "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nHEAD /c HTTP/1.1\r\n\r\n", 0},
		{'s',
		 "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
		 "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n",
		 0},
		{0}};

	(void)state;
	talk_check(said, 1234,
		   "http GET /a 204 19/27\nhttp GET /b 200 19/40\nhttp HEAD /c 200 20/41\n");
}

/* Appends a message for each byte. */
static size_t drip(struct say *said, char from, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		said[i] = (struct say){from, text + i, 1, 0};
	return n;
}

/* The end of a header is found wherever its line ends are split, and in a second header again. */
static void headers_come_byte_by_byte(void **state)
{
	static const char *const ends[] = {"\r\n", "\n"};
	static const char *const wants[] = {"http GET /a 200 28/39\nhttp GET /b 304 18/29\n",
					    "http GET /a 200 25/36\nhttp GET /b 304 18/29\n"};
	struct say said[200];
	char request[64], response[64];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t n;

		snprintf(request, sizeof(request), "GET /a HTTP/1.1%sHost: h%s%s", ends[i], ends[i],
			 ends[i]);
		snprintf(response, sizeof(response), "HTTP/1.1 200 OK%sContent-Length: 1%s%sx",
			 ends[i], ends[i], ends[i]);
		n = drip(said, 'c', request);
		n += drip(said + n, 's', response);
		n += drip(said + n, 'c', "GET /b HTTP/1.1\r\n\n");
		n += drip(said + n, 's', "HTTP/1.1 304 Not Modified\r\n\r\n");
		said[n] = (struct say){0};
		talk_check(said, 80, wants[i]);
	}
}

static void bodies_are_chunked(void **state)
{
	static const struct say said[] = {
		{'c', "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		 0},
		{'s',
		 "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
		 "b;x=y\r\nHTTP/1.1 20\r\n1\r\n\r\r\n0\r\nA: b\r\n\r\n",
		 0},
		{'c', "GET /b HTTP/1.1\r\n\r\n", 0},
		{'s', "HTTP/1.1 304 Not Modified\r\n\r\n", 0},
		{0}};

	(void)state;
	talk_check(said, 80, "http PUT /a 200 60/90\nhttp GET /b 304 19/29\n");
}

static void a_body_follows_100_continue(void **state)
{
	static const struct say said[] = {
		{'c', "POST /up HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", 0},
		{'s', "HTTP/1.1 100 Continue\r\n\r\n", 0},
		{'c', "body", 0},
		{'s', "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", 0},
		{0}};

	(void)state;
	talk_check(said, 80, "http POST /up 201 66/68\n");
}

static void other_protocols_follow_an_upgrade(void **state)
{
	static const struct say said[] = {
		{'c', "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", 0},
		{'s', "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", 0},
		{'c', "GET /not HTTP/1.1\r\n\r\n", 0},
		{'s', "\x81\x05hello", 0},
		{0}};

	(void)state;
	talk_check(said, 80, "http GET /ws 101 40/56\n");
}

static void a_body_ends_with_the_connection(void **state)
{
	static const struct say said[] = {{'c', "GET / HTTP/1.0\r\n\r\n", 0},
					  {'s', "HTTP/1.0 200 OK\r\n\r\n<html>", 0},
					  {'s', "</html>", 0},
					  {0}};

	(void)state;
	talk_check(said, 80, "http GET / 200 18/32\n");
}

static void unfinished_requests_have_an_error(void **state)
{
	static const struct say unanswered[] = {{'c', "GET / HTTP/1.1\r\n\r\n", 0}, {0}};
	static const struct say half[] = {
		{'c', "GET / HTTP/1.1\r\n\r\n", 0},
		{'s', "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 0},
		{0}};
	static const struct talk_opts open = {.port = 80, .no_close = 1};
	char got[1000];

	(void)state;
	talk_check(unanswered, 80, "http GET / - 18/0 unanswered\n");
	talk_check(half, 80, "http GET / 200 18/42 closed\n");
	talk_requests(got, sizeof(got), half, &open, NULL);
	assert_string_equal(got, "http GET / 200 18/42 unfinished\n");
}

/* Bodies need no bytes, and a header that is cut hides the end of its response. */
static void bytes_that_were_not_captured_count(void **state)
{
	static char body[5000];
	const struct say said[] = {
		{'c', "GET /a HTTP/1.1\r\n\r\n", 0},
		{'s', "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", 0},
		{'s', body, sizeof(body)},
		{'c', "GET /b HTTP/1.1\r\nA: 12345678901234567890123456789\r\n\r\n", 0},
		{'s', "HTTP/1.1 500 Oh\r\nServer: 1234567890\r\nContent-Length: 5000\r\n\r\n", 0},
		{'s', body, sizeof(body)},
		{'c', "GET /c HTTP/1.1\r\n\r\n", 0},
		{'s', "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0},
		{0}};
	const struct talk_opts o = {.port = 80, .snaplen = 45};
	char got[1000];

	(void)state;
	memset(body, 'x', sizeof(body));
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "http GET /a 200 19/5041\nhttp GET /b 500 53/5061 500 cut\n"
				 "http GET /c 200 19/38\n");
}

static void the_middle_of_a_connection_is_recognised(void **state)
{
	static const struct say said[] = {{'s', "rest of a body that began before", 0},
					  {'c', "GET /b HTTP/1.1\r\n\r\n", 0},
					  {'s', "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0},
					  {0}};
	char got[1000];

	(void)state;
	for (int client = 0; client < 2; client++) {
		const struct talk_opts o = {.port = 5555, .client = client};

		talk_requests(got, sizeof(got), said, &o, NULL);
		assert_string_equal(got, "http GET /b 200 19/38\n");
	}
}

/* Checks the request that has this header. */
static void check_header(const char *header, void (*check)(const struct sinsp_evt *evt))
{
	const struct talk_opts o = {.port = 80};
	char text[300], got[1000];
	const struct say said[] = {{'c', text, 0}, {0}};

	snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n%s\r\n\r\n", header);
	talk_requests(got, sizeof(got), said, &o, check);
	assert_true(*got);
}

static void check_trace(const struct sinsp_evt *evt)
{
	assert_string_equal(talk_text(evt, REQUEST_P_TRACE_ID), "0af7651916cd43dd8448eb211c80319c");
	assert_string_equal(talk_text(evt, REQUEST_P_SPAN_ID), "b7ad6b7169203331");
}

static void traces_have_identifiers(void **state)
{
	static const char *const headers[] = {
		"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"b3: 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
		"Uber-Trace-Id: 0af7651916cd43dd8448eb211c80319c:b7ad6b7169203331:0:1",
		"X-B3-TraceId: 0af7651916cd43dd8448eb211c80319c\r\nX-B3-SpanId:b7ad6b7169203331"};

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		check_header(headers[i], check_trace);
}

static void check_no_trace(const struct sinsp_evt *evt)
{
	assert_string_equal(talk_text(evt, REQUEST_P_TRACE_ID), "-");
}

static void long_numbers_are_no_identifiers(void **state)
{
	static const char *const headers[] = {
		"b3: 00af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
		"b3: 0af7651916cd43dd8448eb211c80319c-0b7ad6b7169203331",
		"X-B3-TraceId: 00af7651916cd43dd8448eb211c80319c",
		"traceparent: 00-0af7651916cd43dd8448eb211c80319c0b7ad6b7169203331-01-01"};

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		check_header(headers[i], check_no_trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_follow_each_other),
		cmocka_unit_test(requests_are_pipelined),
		cmocka_unit_test(headers_come_byte_by_byte),
		cmocka_unit_test(bodies_are_chunked),
		cmocka_unit_test(a_body_follows_100_continue),
		cmocka_unit_test(other_protocols_follow_an_upgrade),
		cmocka_unit_test(a_body_ends_with_the_connection),
		cmocka_unit_test(unfinished_requests_have_an_error),
		cmocka_unit_test(bytes_that_were_not_captured_count),
		cmocka_unit_test(the_middle_of_a_connection_is_recognised),
		cmocka_unit_test(traces_have_identifiers),
		cmocka_unit_test(long_numbers_are_no_identifiers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
