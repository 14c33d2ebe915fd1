/* SPDX-License-Identifier: Apache-2.0 */
/* Redis: commands, pipelines, replies of each kind, messages to subscribers. */
#include "requests_test.h"

#define GET_K "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"

static void replies_of_each_kind_end(void **state)
{
	static const struct say said[] = {
		{'c', GET_K, 0},
		{'s', "$5\r\nhello\r\n", 0},
		{'c', GET_K, 0},
		{'s', "$-1\r\n", 0},
		{'c', "*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\nv\r\n", 0},
		{'s', "+OK\r\n", 0},
		{'c', "*2\r\n$4\r\nLPOP\r\n$1\r\nk\r\n", 0},
		{'s', "-WRONGTYPE Operation against a key\r\n", 0},
		{'c', "*2\r\n$4\r\nXYZA\r\n$1\r\nq\r\n", 0},
		{'s', "*3\r\n:1\r\n*2\r\n$1\r\na\r\n_\r\n%1\r\n+k\r\n#t\r\n", 0},
		{0}};

	(void)state;
	talk_check(said, 6379,
		   "redis GET k - 20/11\nredis GET k - 20/5\nredis SET k - 27/5\n"
		   "redis LPOP k - 21/36 WRONGTYPE\nredis XYZA q - 21/34\n");
}

static void commands_are_pipelined(void **state)
{
	static const struct say said[] = {{'c', GET_K GET_K "*1\r\n$4\r\nPING\r\n", 0},
					  {'s', "$1\r\na\r\n-ERR no\r\n+PONG\r\n", 0},
					  {0}};

	(void)state;
	talk_check(said, 7777, "redis GET k - 20/7\nredis GET k - 20/9 ERR\nredis PING - - 14/7\n");
}

static void messages_to_subscribers_are_oneway(void **state)
{
	static const struct say said[] = {
		{'c', "*2\r\n$9\r\nSUBSCRIBE\r\n$2\r\nch\r\n", 0},
		{'s', "*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n", 0},
		{'s', "*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$2\r\nhi\r\n", 0},
		{'s', ">3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$2\r\nyo\r\n", 0},
		{0}};

	(void)state;
	talk_check(said, 6379,
		   "redis SUBSCRIBE ch - 27/31\nredis oneway message ch - 0/33\n"
		   "redis oneway message ch - 0/33\n");
}

static void check_secret(const struct sinsp_evt *evt)
{
	const char *statement = talk_text(evt, REQUEST_P_STATEMENT);

	assert_null(strstr(statement, "secret"));
	assert_non_null(strstr(statement, "***"));
}

static void passwords_are_not_shown(void **state)
{
	static const struct say said[] = {
		{'c', "*2\r\n$4\r\nauth\r\n$6\r\nsecret\r\n", 0},
		{'s', "+OK\r\n", 0},
		{'c',
		 "*5\r\n$8\r\nSENTINEL\r\n$3\r\nSET\r\n$1\r\na\r\n$9\r\nauth-pass\r\n"
		 "$6\r\nsecret\r\n",
		 0},
		{'s', "+OK\r\n", 0},
		{0}};
	const struct talk_opts o = {.port = 6379};
	char got[500];

	(void)state;
	talk_requests(got, sizeof(got), said, &o, check_secret);
	assert_string_equal(got, "redis AUTH - - 26/5\nredis SENTINEL SET - 61/5\n");
}

static void large_values_need_no_bytes(void **state)
{
	static char value[9000 + 2];
	const struct say said[] = {
		{'c', GET_K, 0}, {'s', "$9000\r\n", 0}, {'s', value, sizeof(value)},
		{'c', GET_K, 0}, {'s', "$-1\r\n", 0},   {0}};
	const struct talk_opts o = {.port = 6379, .snaplen = 80};
	char got[500];

	(void)state;
	memset(value, 'x', sizeof(value));
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "redis GET k - 20/9009\nredis GET k - 20/5\n");
}

/* Arrays end in bytes that were not captured: the replies behind them are not those of the next
 * commands. */
static void replies_behind_missing_bytes_are_lost(void **state)
{
#define TEN ":1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n:9\r\n:0\r\n"
#define ARRAY "*20\r\n" TEN TEN
	static const struct say said[] = {{'c', GET_K GET_K GET_K, 0},
					  {'s', "$-1\r\n" ARRAY "$-1\r\n", 0},
					  {'c', GET_K, 0},
					  {'s', "-ERR no\r\n", 0},
					  {'c', GET_K, 0},
					  {'s', ARRAY, 0},
					  {'c', GET_K, 0},
					  {'s', "$-1\r\n", 0},
					  {'c', GET_K GET_K, 0},
					  {'s', ARRAY "$-1\r\n", 0},
					  {0}};
	const struct talk_opts o = {.port = 6379, .snaplen = 70};
	char got[500];

	(void)state;
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(
		got, "redis GET k - 20/5\nredis GET k - 20/90 cut\nredis GET k - 20/0 lost cut\n"
		     "redis GET k - 20/9 ERR\nredis GET k - 20/85 cut\nredis GET k - 20/5\n"
		     "redis GET k - 20/90 cut\nredis GET k - 20/0 lost cut\n");
}

/* Responses in the order of the requests need no search. */
static void pipelines_are_long(void **state)
{
	enum { N = 2000, GET_SZ = 22, OK_SZ = 5 };
	static char gets[N * GET_SZ], oks[N * OK_SZ], got[N * 40];
	const struct say said[] = {{'c', gets, sizeof(gets), 0}, {'s', oks, sizeof(oks), 0}, {0}};
	size_t n = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		memcpy(gets + i * GET_SZ, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", GET_SZ);
		memcpy(oks + i * OK_SZ, "+OK\r\n", OK_SZ);
	}
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 6379}, NULL);
	for (const char *at = got; (at = strstr(at, "/5\n")); at++)
		n++;
	assert_int_equal(n, N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_of_each_kind_end),
		cmocka_unit_test(commands_are_pipelined),
		cmocka_unit_test(messages_to_subscribers_are_oneway),
		cmocka_unit_test(passwords_are_not_shown),
		cmocka_unit_test(large_values_need_no_bytes),
		cmocka_unit_test(replies_behind_missing_bytes_are_lost),
		cmocka_unit_test(pipelines_are_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
