/* SPDX-License-Identifier: Apache-2.0 */
/* MySQL: login, queries with both forms of the end of rows, prepared statements, errors. */
#include "requests_test.h"

#define P(len, num, text) len "\0\0" num text
#define GREETING                                                                                   \
	P("\x3e", "\0",                                                                            \
	  "\x0a"                                                                                   \
	  "10.11.6\0"                                                                              \
	  "1234"                                                                                   \
	  "12345678\0"                                                                             \
	  "\xfe\xf7\x08\2\0\xff\x81\x15"                                                           \
	  "\0\0\0\0\0\0\0\0\0\0"                                                                   \
	  "123456789012\0"                                                                         \
	  "mysql_nat")
#define LOGIN(num, caps)                                                                           \
	P("\x2c", num,                                                                             \
	  caps "\0\0\0\1\x2d"                                                                      \
	       "12345678901234567890123"                                                           \
	       "ann\0"                                                                             \
	       "\2pw"                                                                              \
	       "shop\0")
#define OK(num) P("\7", num, "\0\0\0\2\0\0\0")
#define OK_END(num) P("\7", num, "\xfe\0\0\2\0\0\0")
#define EOF_OLD(num) P("\5", num, "\xfe\0\0\2\0")
#define SAY(from, text)                                                                            \
	{                                                                                          \
		from, text, sizeof(text) - 1                                                       \
	}

static void queries_end(void **state)
{
	static const struct say said[] = {
		SAY('s', GREETING),
		SAY('c', LOGIN("\1", "\x0d\xa2\x3a\1")),
		SAY('s', P("\1", "\2", "\1")), /* goes on with the login */
		SAY('c', P("\2", "\3", "pw")),
		SAY('s', OK("\4")),
		/* both forms of the end of rows, none with a row */
		SAY('c', P("\x11", "\0", "\3select * from it")),
		SAY('s',
		    P("\1", "\1", "\1") P("\3", "\2", "def") P("\2", "\3", "\1a") OK_END("\4")),
		SAY('c', P("\x12", "\0", "\3SELECT x FROM `t`")),
		SAY('s', P("\1", "\1", "\1") P("\3", "\2", "def") EOF_OLD("\3") P("\2", "\4", "\1a")
				 EOF_OLD("\5")),
		SAY('c', P("\x10", "\0", "\3select 1 from t")),
		SAY('s', P("\1", "\1", "\1") P("\3", "\2", "def") OK_END("\3")),
		/* two results */
		SAY('c', P("\7", "\0", "\3call p")),
		SAY('s', P("\7", "\1", "\0\0\0\x0a\0\0\0") OK("\2")),
		SAY('c', P("\x0f", "\0", "\3delete from no")),
		SAY('s', P("\x0c", "\1", "\xff\x7a\4#42S02bad")),
		SAY('c', P("\5", "\0", "\2shop")),
		SAY('s', OK("\1")),
		SAY('c', P("\1", "\0", "\1")),
		{0}};

	(void)state;
	talk_check(
		said, 3306,
		"mysql CONNECT shop - 54/16\nmysql SELECT it - 21/29\nmysql SELECT t - 22/36\n"
		"mysql SELECT t - 20/23\nmysql CALL - - 11/22\nmysql DELETE no 1146 19/16 42S02\n"
		"mysql INIT_DB shop - 9/11\nmysql oneway QUIT - - 5/0\n");
}

static void prepared_statements_are_known(void **state)
{
	static const struct say said[] = {SAY('s', GREETING),
					  SAY('c', LOGIN("\1", "\x0d\xa2\x3a\1")),
					  SAY('s', OK("\2")),
					  SAY('c', P("\x15", "\0", "\x16update t set a=? + ?")),
					  SAY('s', P("\x0c", "\1", "\0\7\0\0\0\0\0\2\0\0\0\0") P(
							   "\3", "\2", "def") P("\3", "\3", "def")),
					  SAY('c', P("\x0a", "\0", "\x17\7\0\0\0\0\1\0\0\0")),
					  SAY('s', OK("\1")),
					  SAY('c', P("\x0a", "\0", "\x17\x09\0\0\0\0\1\0\0\0")),
					  SAY('s', P("\1", "\1", "\1") P("\3", "\2", "def")
							   P("\3", "\3", "\0\0a") OK_END("\4")),
					  SAY('c', P("\5", "\0", "\x19\7\0\0\0")),
					  SAY('c', P("\x0a", "\0", "\x17\7\0\0\0\0\1\0\0\0")),
					  SAY('s', P("\x0c", "\1", "\xff\xdb\4#HY000bad")),
					  {0}};

	(void)state;
	talk_check(said, 3306,
		   "mysql CONNECT shop - 48/11\nmysql PREPARE t - 25/30\nmysql UPDATE t - 14/11\n"
		   "mysql EXECUTE - - 14/30\nmysql oneway CLOSE - - 9/0\n"
		   "mysql EXECUTE - 1243 14/16 HY000\n");
}

/* Statement -1 is the last one that was prepared; a client that knows no other has EOFs. */
static void prepared_and_executed_at_once(void **state)
{
	static const struct say said[] = {
		SAY('s', GREETING),
		SAY('c', LOGIN("\1", "\x0d\xa2\x3a\0")),
		SAY('s', OK("\2")),
		SAY('c', P("\x15", "\0", "\x16update t set a=? + ?")
				 P("\x0a", "\0", "\x17\xff\xff\xff\xff\0\1\0\0\0")),
		SAY('s', P("\x0c", "\1", "\0\7\0\0\0\0\0\2\0\0\0\0") P("\3", "\2", "def")
				 P("\3", "\3", "def") EOF_OLD("\4")
					 P("\x0c", "\1", "\xff\xdb\4#HY000bad")),
		{0}};

	(void)state;
	talk_check(said, 3306,
		   "mysql CONNECT shop - 48/11\nmysql PREPARE t - 25/39\n"
		   "mysql UPDATE t 1243 14/16 HY000\n");
}

/* MariaDB reports how far it is, as an error with a number of its own. */
static void progress_is_no_error(void **state)
{
	static const struct say said[] = {
		SAY('s', GREETING),
		SAY('c', LOGIN("\1", "\x0d\xa2\x3a\1")),
		SAY('s', OK("\2")),
		SAY('c', P("\x10", "\0", "\3alter table t a")),
		SAY('s', P("\x0e", "\1", "\xff\xff\xff\1\1\2\x10\x27\0\4work")),
		SAY('s', OK("\2")),
		{0}};

	(void)state;
	talk_check(said, 3306, "mysql CONNECT shop - 48/11\nmysql ALTER t - 20/29\n");
}

/* Instead of the greeting. */
static void refusals_are_told(void **state)
{
	static const struct say said[] = {
		SAY('s', P("\x19", "\0", "\xff\x10\4#08004Too many of them")), {0}};

	(void)state;
	talk_check(said, 3306, "mysql oneway CONNECT - 1040 0/29 08004\n");
}

static void rows_that_were_not_captured_end_with_the_next_query(void **state)
{
	static char rows[5012];
	const struct say said[] = {SAY('c', P("\x10", "\0", "\3select 1 from t")),
				   {'s', rows, sizeof(rows)},
				   {'s', rows, 700},
				   SAY('c', P("\x10", "\0", "\3select 2 from u")),
				   SAY('s', OK("\1")),
				   {0}};
	const struct talk_opts o = {.port = 3306, .snaplen = 80};
	char got[500];

	(void)state;
	memset(rows, 'x', sizeof(rows));
	memcpy(rows, P("\1", "\1", "\1") P("\3", "\2", "def"), 12);
	for (size_t at = 12, num = 3; at < sizeof(rows); at += 100, num++)
		memcpy(rows + at, (const char[]){96, 0, 0, (char)num}, 4);
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "mysql SELECT t - 20/5712 cut\nmysql SELECT u - 20/11\n");
}

/* Of a file that the client sends not all headers are captured: its text is no packet. */
static void queries_behind_a_file_are_found(void **state)
{
	enum { PACKET_SZ = 204 };
	static char file[2 * PACKET_SZ];
	const size_t first = PACKET_SZ + 50;
	const struct say said[] = {SAY('c', P("\x10", "\0", "\3load data in t ")),
				   SAY('s', P("\2", "\1",
					      "\xfb"
					      "f")),
				   {'c', file, first},
				   {'c', file + first, sizeof(file) - first},
				   SAY('c', P("\0", "\4", "")),
				   SAY('s', OK("\5")),
				   SAY('c', P("\x10", "\0", "\3select 2 from u")),
				   SAY('s', OK("\1")),
				   {0}};
	const struct talk_opts o = {.port = 3306, .client = 1, .snaplen = 80};
	char got[300];

	(void)state;
	memset(file, 'x', sizeof(file));
	memcpy(file, "\xc8\0\0\2", 4);
	memcpy(file + PACKET_SZ, "\xc8\0\0\3", 4);
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "mysql LOAD - - 432/17 cut\nmysql SELECT u - 20/11\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_end),
		cmocka_unit_test(prepared_statements_are_known),
		cmocka_unit_test(prepared_and_executed_at_once),
		cmocka_unit_test(progress_is_no_error),
		cmocka_unit_test(refusals_are_told),
		cmocka_unit_test(queries_behind_a_file_are_found),
		cmocka_unit_test(rows_that_were_not_captured_end_with_the_next_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
