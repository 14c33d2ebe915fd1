/* SPDX-License-Identifier: Apache-2.0 */
/* NATS: publications, requests by inbox, messages of subscriptions. */
#include "requests_test.h"

static void messages_are_one_way(void **state)
{
	static const struct say said[] = {
		{'s', "INFO {\"server_id\":\"a\",\"max_payload\":1048576} \r\n", 0},
		{'c', "CONNECT {\"verbose\": false,\"pass\":\"secret\"}\r\nPING\r\n", 0},
		{'s', "PONG\r\n", 0},
		{'c', "SUB a.> 1\r\npub a.b 5\r\nPUB x\r\nHPUB a.c 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
		 0},
		{'s', "MSG a.b 1 5\r\nPUB x\r\nHMSG a.c 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n", 0},
		{'s', "PING\r\n", 0},
		{'c', "PONG\r\nUNSUB 1\r\n", 0},
		{'s', "-ERR 'Stale Connection'\r\n", 0},
		{0}};

	(void)state;
	talk_check(said, 4222,
		   "nats oneway CONNECT - - 44/0\nnats PING - - 6/6\nnats oneway SUB a.> - 11/0\n"
		   "nats oneway PUB a.b - 18/0\nnats oneway HPUB a.c - 32/0\n"
		   "nats oneway MSG a.b - 0/20\nnats oneway HMSG a.c - 0/34\n"
		   "nats oneway UNSUB - - 9/0\nnats oneway -ERR - - 0/25 ERR\n");
}

static void no_secret(const struct sinsp_evt *evt)
{
	for (unsigned int i = 0; i < evt->params.n; i++)
		assert_null(memmem(evt->params.v[i].p, evt->params.v[i].len, "secret", 6));
}

static void requests_have_replies(void **state)
{
	static const struct say said[] = {
		{'c', "PUB q _INBOX.1 2\r\nhi\r\nPUB q _INBOX.2 0\r\n\r\n", 0},
		{'s', "MSG _INBOX.2 1 3\r\nyes\r\n", 0},
		{'s', "HMSG _INBOX.1 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", 0},
		{'c', "PUB q _INBOX.3 2\r\nhi\r\n", 0},
		{'s', "MSG _INBOX.2 1 3\r\nyes\r\n", 0},
		{0}};
	static const struct say secret[] = {
		{'c', "CONNECT {\"auth_token\":\"secret\"}\r\nPING\r\n", 0},
		{'s', "+OK\r\nPONG\r\n", 0},
		{'c', "PUB a r 2\r\nhi\r\n", 0},
		{'s', "+OK\r\nMSG r 1 1\r\nx\r\n", 0},
		{'c', "PUB a 2\r\nhi\r\n", 0},
		{'s', "-ERR 'no'\r\n", 0},
		{0}};
	char got[300];

	(void)state;
	talk_check(said, 4222,
		   "nats PUB q - 20/23\nnats PUB q 503 22/41 503\nnats oneway MSG _INBOX.2 - 0/23\n"
		   "nats PUB q - 22/0 unanswered\n");
	talk_requests(got, sizeof(got), secret, &(struct talk_opts){.port = 4000}, no_secret);
	assert_string_equal(got, "nats CONNECT - - 33/5\nnats PING - - 6/6\nnats PUB a - 15/19\n"
				 "nats PUB a - 13/11 ERR\n");
}

/* Payloads are skipped by their length. */
static void large_payloads_need_no_bytes(void **state)
{
	static char payload[9000 + 2 + 12];
	const struct say said[] = {
		{'c', payload, sizeof(payload)}, {'c', "PUB b 0\r\n\r\n", 0}, {0}};
	const struct talk_opts o = {.port = 4222, .snaplen = 80};
	char got[300];

	(void)state;
	memset(payload, '\n', sizeof(payload));
	memcpy(payload, "PUB a 9000\r\n", 12);
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "nats oneway PUB a - 9014/0\nnats oneway PUB b - 11/0\n");
}

/* What a long CONNECT says may be behind its kept bytes: then no line waits for an answer. */
static void a_long_connect_is_cut(void **state)
{
	static char connect[5000];
	static const char end[] = "\",\"verbose\":false}\r\nPUB a 2\r\nhi\r\n";
	const struct say said[] = {{'c', connect, sizeof(connect), 0}, {0}};
	char got[200];

	(void)state;
	memset(connect, 'x', sizeof(connect));
	memcpy(connect, "CONNECT {\"jwt\":\"", 16);
	memcpy(connect + sizeof(connect) - (sizeof(end) - 1), end, sizeof(end) - 1);
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 4222, .cut = 4200}, NULL);
	assert_non_null(strstr(got, "nats oneway CONNECT"));
	assert_non_null(strstr(got, "nats oneway PUB a - 13/0\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_one_way),
		cmocka_unit_test(requests_have_replies),
		cmocka_unit_test(large_payloads_need_no_bytes),
		cmocka_unit_test(a_long_connect_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
