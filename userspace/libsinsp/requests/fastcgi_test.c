/* SPDX-License-Identifier: Apache-2.0 */
/* FastCGI: records with padding, requests that alternate, results. */
#include "requests_test.h"

#define RECORD(type, id, len, padding) "\1" type "\0" id "\0" len padding "\0"
#define BEGIN(id) RECORD("\1", id, "\x08", "\0") "\0\1\1\0\0\0\0\0"
#define END(id, reason) RECORD("\3", id, "\x08", "\0") "\0\0\0\0" reason "\0\0\0"
#define GET "\x0e\3REQUEST_METHODGET" /* 19 bytes */
#define URI "\x0b\4REQUEST_URI/a?b" /* 17 */
#define SCRIPT "\x0f\4SCRIPT_FILENAME/x.p" /* 21 */
#define NONE(type, id) RECORD(type, id, "\0", "\0")
#define SAY(from, text)                                                                            \
	{                                                                                          \
		from, text, sizeof(text) - 1                                                       \
	}

static void requests_end(void **state)
{
	static const struct say said[] = {
		SAY('c', BEGIN("\1") RECORD("\4", "\1", "\x13", "\5") GET
		    "-----" RECORD("\4", "\1", "\x26", "\0") URI SCRIPT NONE("\4", "\1")
			    RECORD("\5", "\1", "\3", "\1") "abc-" NONE("\5", "\1")),
		SAY('s', RECORD("\6", "\1", "\x12", "\2") "Status: 404 Not Fo--" RECORD(
				 "\6", "\1", "\x0b", "\0") "und\r\n\r\nbody" NONE("\6", "\1")
				 END("\1", "\0")),
		SAY('c', BEGIN("\1") RECORD("\4", "\1", "\x11", "\0") URI NONE("\4", "\1")
				 NONE("\5", "\1")),
		SAY('s', RECORD("\6", "\1", "\x0e", "\0") "X-A: b\r\n\r\nbody" END("\1", "\0")),
		{0}};

	(void)state;
	talk_check(said, 9000, "fastcgi GET /a?b 404 122/71 404\nfastcgi - /a?b 200 57/38\n");
}

static void set_of_script(const struct sinsp_evt *evt)
{
	assert_string_equal(talk_text(evt, REQUEST_P_STATEMENT), "/x.p");
	assert_string_equal(talk_text(evt, REQUEST_P_ERROR_TEXT), "PHP message: no");
}

/* Names and values with sizes of four bytes; the script's errors. */
static void script_and_errors(void **state)
{
	static const struct say said[] = {
		SAY('c', BEGIN("\1") RECORD("\4", "\1", "\x1b",
					    "\0") "\x80\0\0\x0f\x80\0\0\4"
						  "SCRIPT_FILENAME/x.p" NONE("\4", "\1")),
		SAY('s', RECORD("\7", "\1", "\x0f", "\1") "PHP message: no-" END("\1", "\2")),
		{0}};
	char got[200];

	(void)state;
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 9999}, set_of_script);
	assert_string_equal(got, "fastcgi - - - 59/40 OVERLOADED\n");
}

static void requests_alternate(void **state)
{
	static const struct say said[] = {
		SAY('c', BEGIN("\1") BEGIN("\2") RECORD("\4", "\1", "\x13", "\0")
				 GET RECORD("\4", "\2", "\x09",
					    "\0") "\x0b\4REQUEST" RECORD("\4", "\1", "\x11", "\0")
					 URI RECORD("\4", "\2", "\x08", "\0") "_URI/two"),
		SAY('s',
		    RECORD("\6", "\2", "\x09", "\0") "Status: 5" RECORD(
			    "\6", "\1", "\x0f",
			    "\0") "Location: /\r\n\r\n" RECORD("\6", "\2", "\6",
							       "\0") "00\r\n\r\n" END("\2", "\0")
			    END("\1", "\0")),
		SAY('c', BEGIN("\3")),
		{0}};

	(void)state;
	talk_check(said, 9000,
		   "fastcgi - /two 500 49/47 500\nfastcgi GET /a?b 302 68/39\n"
		   "fastcgi - - - 16/0 unanswered\n");
}

/* The body of a response is skipped by its length. */
static void large_bodies_need_no_bytes(void **state)
{
	static char body[8 + 9000 + 16];
	static const struct say said[] = {
		SAY('c', BEGIN("\1") RECORD("\4", "\1", "\x11", "\0") URI),
		{'s', body, sizeof(body)},
		SAY('c', BEGIN("\1")),
		SAY('s', RECORD("\6", "\1", "\2", "\0") "\r\n" END("\1", "\0")),
		{0}};
	const struct talk_opts o = {.port = 9000, .snaplen = 80};
	char got[300];

	(void)state;
	memcpy(body, "\1\6\0\1\x23\x28\0\0\r\n", 10);
	memcpy(body + 9008, END("\1", "\0"), 16);
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "fastcgi - /a?b 200 41/9024 cut\nfastcgi - - 200 16/26\n");
}

/* Records that only the other end sends are of no request. */
static void each_end_has_its_records(void **state)
{
	static const struct say said[] = {
		SAY('c', BEGIN("\1") RECORD("\4", "\1", "\x13", "\0") GET),
		SAY('s', RECORD("\4", "\1", "\x11", "\0") URI RECORD("\5", "\1", "\3", "\0") "abc"),
		SAY('c', RECORD("\6", "\1", "\x0f", "\0") "Status: 500\r\n\r\n" END("\1", "\0")),
		SAY('s', RECORD("\6", "\1", "\2", "\0") "\r\n" END("\1", "\0")),
		{0}};

	(void)state;
	talk_check(said, 9000, "fastcgi GET - 200 43/26\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_end),
		cmocka_unit_test(script_and_errors),
		cmocka_unit_test(requests_alternate),
		cmocka_unit_test(large_bodies_need_no_bytes),
		cmocka_unit_test(each_end_has_its_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
