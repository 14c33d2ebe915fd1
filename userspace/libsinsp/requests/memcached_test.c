/* SPDX-License-Identifier: Apache-2.0 */
/* memcached: commands as text, quiet ones, and the binary protocol. */
#include "requests_test.h"

static void text_commands_end(void **state)
{
	static const struct say said[] = {{'c', "set k 0 0 5\r\nhello\r\n", 0},
					  {'s', "STORED\r\n", 0},
					  {'c', "get k other\r\n", 0},
					  {'s', "VALUE k 0 5\r\nhello\r\nEND\r\n", 0},
					  {'c', "incr n 1\r\n", 0},
					  {'s', "NOT_FOUND\r\n", 0},
					  {'c', "incr k 1\r\n", 0},
					  {'s', "CLIENT_ERROR cannot increment\r\n", 0},
					  {'c', "set k 0 0 7 noreply\r\nEND\r\nxx\r\n", 0},
					  {'c', "gat 10 k\r\n", 0},
					  {'s', "VALUE k 0 7\r\nEND\r\nxx\r\nEND\r\n", 0},
					  {'c', "stats\r\n", 0},
					  {'s', "STAT pid 1\r\nSTAT uptime 2\r\nEND\r\n", 0},
					  {'c', "delete k\r\ntouch k 0\r\n", 0},
					  {'s', "DELETED\r\nTOUCHED\r\n", 0},
					  {'c', "nonsense k\r\n", 0},
					  {'s', "ERROR\r\n", 0},
					  {'c', "quit\r\n", 0},
					  {0}};

	(void)state;
	talk_check(said, 11211,
		   "memcached SET k - 20/8\nmemcached GET k - 13/25\nmemcached INCR n - 10/11\n"
		   "memcached INCR k - 10/31 CLIENT_ERROR\nmemcached oneway SET k - 30/0\n"
		   "memcached GAT k - 10/27\nmemcached STATS - - 7/32\nmemcached DELETE k - 10/9\n"
		   "memcached TOUCH k - 11/9\nmemcached NONSENSE - - 12/7 ERROR\n"
		   "memcached oneway QUIT - - 6/0\n");
}

static void quiet_commands_have_no_answer(void **state)
{
	static const struct say said[] = {
		{'c', "mg a v q\r\nmg b v q Ox1\r\nms c 2 q\r\nhi\r\nmn\r\n", 0},
		{'s', "VA 3 Ox1\r\nabc\r\nMN\r\n", 0},
		{'c', "mg a v\r\n", 0},
		{'s', "EN\r\n", 0},
		{'c', "ms a S2\r\n", 0},
		{'s', "CLIENT_ERROR bad data chunk\r\n", 0},
		{0}};

	(void)state;
	talk_check(said, 11211,
		   "memcached oneway MG a - 10/0\nmemcached MG b - 14/15\nmemcached oneway MS c - "
		   "14/0\n"
		   "memcached MN - - 4/4\nmemcached MG a - 8/4\n"
		   "memcached MS - - 9/29 CLIENT_ERROR\n");
}

#define HEADER(magic, op, key, extras, status, body, opaque)                                       \
	magic op "\0" key extras "\0\0" status "\0\0\0" body "\0\0\0" opaque "\0\0\0\0\0\0\0\0"
#define GET_K(op, opaque) HEADER("\x80", op, "\1", "\0", "\0", "\1", opaque) "k"

static void binary_commands_end(void **state)
{
	static const char gets[] = GET_K("\x00", "\1") GET_K("\x09", "\2") GET_K("\x09", "\3")
		HEADER("\x80", "\x0a", "\0", "\0", "\0", "\0", "\4");
	static const char answers[] =
		HEADER("\x81", "\x00", "\0", "\0", "\1", "\x09", "\1") "Not found" HEADER(
			"\x81", "\x09", "\0", "\4", "\0", "\x06",
			"\3") "\0\0\0\0hi" HEADER("\x81", "\x0a", "\0", "\0", "\0", "\0", "\4");
	static const char bad[] = GET_K("\x05", "\5");
	static const char error[] = HEADER("\x81", "\x05", "\0", "\0", "\4", "\3", "\5") "bad";
	static const struct say said[] = {{'c', gets, sizeof(gets) - 1},
					  {'s', answers, sizeof(answers) - 1},
					  {'c', bad, sizeof(bad) - 1},
					  {'s', error, sizeof(error) - 1},
					  {0}};

	(void)state;
	talk_check(
		said, 11211,
		"memcached GET k 1 25/33\nmemcached oneway GET k - 25/0\nmemcached GET k 0 25/30\n"
		"memcached NOOP - 0 24/24\nmemcached INCR k 4 25/27 0x04\n");
}

static void long_lists_of_keys_are_read(void **state)
{
	static char get[5000 + 3];
	const struct say said[] = {{'c', get, sizeof(get) - 1},
				   {'s', "END\r\n", 0},
				   {'c', "get k\r\n", 0},
				   {'s', "END\r\n", 0},
				   {0}};
	const struct talk_opts o = {.port = 11211}, cut = {.port = 11211, .snaplen = 80};
	char got[500];

	(void)state;
	memcpy(get, "get ", 4);
	for (size_t i = 4; i < 5000; i++)
		get[i] = i % 10 ? 'k' : ' ';
	memcpy(get + 5000, "\r\n", 3);
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "memcached GET kkkkkk - 5002/5\nmemcached GET k - 7/5\n");
	talk_requests(got, sizeof(got), said, &cut, NULL);
	assert_string_equal(got, "memcached GET kkkkkk - 5002/5 cut\nmemcached GET k - 7/5\n");
}

static void large_values_need_no_bytes(void **state)
{
	static char set[9018], value[9023];
	const struct say said[] = {{'c', set, sizeof(set)},
				   {'s', "STORED\r\n", 0},
				   {'c', "get k\r\n", 0},
				   {'s', value, sizeof(value)},
				   {'c', "get k\r\n", 0},
				   {'s', "END\r\n", 0},
				   {0}};
	const struct talk_opts o = {.port = 11211, .snaplen = 80};
	char got[500];

	(void)state;
	memset(set, 'x', sizeof(set));
	memset(value, 'x', sizeof(value));
	memcpy(set, "set k 0 0 9000\r\n", 16);
	memcpy(set + 9016, "\r\n", 2);
	memcpy(value, "VALUE k 0 9000\r\n", 16);
	memcpy(value + 9016, "\r\nEND\r\n", 7);
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "memcached SET k - 9018/8\nmemcached GET k - 7/9023 cut\n"
				 "memcached GET k - 7/5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_commands_end),
		cmocka_unit_test(quiet_commands_have_no_answer),
		cmocka_unit_test(binary_commands_end),
		cmocka_unit_test(long_lists_of_keys_are_read),
		cmocka_unit_test(large_values_need_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
