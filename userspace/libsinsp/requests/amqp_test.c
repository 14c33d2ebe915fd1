/* SPDX-License-Identifier: Apache-2.0 */
/* AMQP 0-9-1: methods by channel, publications with and without confirmations, content, closing. */
#include "requests_test.h"

#define END "\xce"
#define SAY(from, text)                                                                            \
	{                                                                                          \
		from, text, sizeof(text) - 1                                                       \
	}
#define OPEN_1 "\1\0\1\0\0\0\5\0\x14\0\x0a\0" END
#define OPEN_1_OK "\1\0\1\0\0\0\x08\0\x14\0\x0b\0\0\0\0" END
#define CONFIRM_1 "\1\0\1\0\0\0\5\0\x55\0\x0a\0" END
#define CONFIRM_1_OK "\1\0\1\0\0\0\4\0\x55\0\x0b" END
#define HEARTBEAT "\x08\0\0\0\0\0\0" END
#define PUBLISH_EK "\1\0\1\0\0\0\x0b\0\x3c\0\x28\0\0\1e\1k\0" END
#define PUBLISH_Q "\1\0\1\0\0\0\x0a\0\x3c\0\x28\0\0\0\1q\0" END
#define HEADER(size) "\2\0\1\0\0\0\x0e\0\x3c\0\0\0\0\0\0\0\0\0" size "\0\0" END
#define BODY_HI "\3\0\1\0\0\0\2hi" END
#define ACK(tag, multiple) "\1\0\1\0\0\0\x0d\0\x3c\0\x50\0\0\0\0\0\0\0" tag multiple END
#define NACK(tag) "\1\0\1\0\0\0\x0d\0\x3c\0\x78\0\0\0\0\0\0\0" tag "\0" END
#define DECLARE_Q "\1\0\1\0\0\0\x0d\0\x32\0\x0a\0\0\1q\0\0\0\0\0" END
#define DECLARE_Q_OK "\1\0\1\0\0\0\x0e\0\x32\0\x0b\1q\0\0\0\0\0\0\0\0" END

static void connections_and_channels(void **state)
{
	static const struct say said[] = {
		SAY('c', "AMQP\0\0\x09\1"),
		SAY('s', "\1\0\0\0\0\0\x12\0\x0a\0\x0a\0\x09\0\0\0\0\0\0\0\0\0\0\0\0" END),
		SAY('c', "\1\0\0\0\0\0\x0e\0\x0a\0\x0b\0\0\0\0\0\0\0\0\0\0" END),
		SAY('s', "\1\0\0\0\0\0\x0c\0\x0a\0\x1e\0\0\0\2\0\0\0\0" END),
		SAY('c', "\1\0\0\0\0\0\x0c\0\x0a\0\x1f\0\0\0\2\0\0\0\0" END
			 "\1\0\0\0\0\0\x08\0\x0a\0\x28\1/\0\0" END),
		SAY('s', "\1\0\0\0\0\0\5\0\x0a\0\x29\0" END HEARTBEAT),
		SAY('c', HEARTBEAT OPEN_1),
		SAY('s', OPEN_1_OK),
		SAY('c', DECLARE_Q),
		SAY('s', DECLARE_Q_OK),
		SAY('c', "\1\0\0\0\0\0\x0b\0\x0a\0\x32\0\xc8\0\0\0\0\0" END),
		SAY('s', "\1\0\0\0\0\0\4\0\x0a\0\x33" END),
		{0}};

	(void)state;
	talk_check(said, 5672,
		   "amqp connection.start - - 8/26\namqp connection.start-ok - - 22/20\n"
		   "amqp oneway connection.tune-ok - - 20/0\namqp connection.open / - 16/13\n"
		   "amqp channel.open - - 13/16\namqp queue.declare q - 21/22\n"
		   "amqp connection.close - - 19/12\n");
}

static void publications(void **state)
{
	static const struct say said[] = {
		SAY('c', OPEN_1),
		SAY('s', OPEN_1_OK),
		SAY('c', PUBLISH_EK HEADER("\2") BODY_HI PUBLISH_Q HEADER("\0")),
		SAY('c', CONFIRM_1),
		SAY('s', CONFIRM_1_OK),
		SAY('c', PUBLISH_EK HEADER("\4") BODY_HI BODY_HI PUBLISH_Q HEADER("\2") BODY_HI),
		SAY('c', PUBLISH_Q HEADER("\0") PUBLISH_Q HEADER("\0")),
		SAY('s', ACK("\2", "\1")),
		SAY('s', ACK("\4", "\0") NACK("\3")),
		{0}};

	(void)state;
	talk_check(said, 5672,
		   "amqp channel.open - - 13/16\namqp oneway basic.publish e/k - 51/0\n"
		   "amqp oneway basic.publish q - 40/0\namqp confirm.select - - 13/12\n"
		   "amqp basic.publish e/k - 61/0\namqp basic.publish q - 50/21\n"
		   "amqp basic.publish q - 40/21\namqp basic.publish q - 40/21 nack\n");
}

static void messages_of_the_server(void **state)
{
	static const struct say said[] = {
		SAY('c', "\1\0\1\0\0\0\x0f\0\x3c\0\x14\0\0\1q\1t\0\0\0\0\0" END),
		SAY('s', "\1\0\1\0\0\0\6\0\x3c\0\x15\1t" END
			 "\1\0\1\0\0\0\x13\0\x3c\0\x3c\1t\0\0\0\0\0\0\0\1\0\1e\1k" END HEADER("\2")
				 BODY_HI),
		SAY('c', ACK("\1", "\0") "\1\0\1\0\0\0\x09\0\x3c\0\x46\0\0\1q\0" END),
		SAY('s', "\1\0\1\0\0\0\5\0\x3c\0\x48\0" END),
		SAY('c', "\1\0\1\0\0\0\x09\0\x3c\0\x46\0\0\1q\0" END),
		SAY('s', "\1\0\1\0\0\0\x14\0\x3c\0\x47\0\0\0\0\0\0\0\2\0\0\1q\0\0\0\0" END HEADER(
				 "\2") BODY_HI),
		{0}};

	(void)state;
	talk_check(said, 5672,
		   "amqp basic.consume q - 23/14\namqp oneway basic.deliver e/k - 0/59\n"
		   "amqp oneway basic.ack - - 21/0\namqp basic.get q - 17/13\n"
		   "amqp basic.get q - 17/60\n");
}

static void closing_ends_requests(void **state)
{
	static const struct say said[] = {
		SAY('c', CONFIRM_1),
		SAY('s', CONFIRM_1_OK),
		SAY('c', PUBLISH_EK HEADER("\0") DECLARE_Q),
		SAY('s', "\1\0\1\0\0\0\x0d\0\x14\0\x28\1\x94\2no\0\x32\0\x0a" END),
		SAY('c', "\1\0\1\0\0\0\4\0\x14\0\x29" END PUBLISH_EK HEADER("\0")),
		SAY('s', "\1\0\1\0\0\0\x0d\0\x14\0\x28\1\x94\2no\0\x3c\0\x28" END),
		{0}};

	(void)state;
	talk_check(
		said, 5672,
		"amqp confirm.select - - 13/12\namqp basic.publish e/k - 41/0 closed\n"
		"amqp queue.declare q 404 21/21 NOT_FOUND\namqp oneway basic.publish e/k - 41/0\n"
		"amqp oneway channel.close - 404 0/21 NOT_FOUND\n");
}

static void has_trace(const struct sinsp_evt *evt)
{
	assert_string_equal(talk_text(evt, REQUEST_P_TRACE_ID), "0af7651916cd43dd8448eb211c80319c");
}

/* The body is skipped by its length; identifiers of traces are among the headers. */
static void large_bodies_need_no_bytes(void **state)
{
	static char body[7 + 9000 + 1] = "\3\0\1\0\0\x23\x28";
	const struct say said[] = {
		SAY('c', PUBLISH_EK),
		SAY('c', "\2\0\1\0\0\0\x61\0\x3c\0\0\0\0\0\0\0\0\x23\x28\x20\0\0\0\0\x4f"
			 "\1nI\0\0\0\1\x0btraceparentS\0\0\0\x37"
			 "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" END),
		{'c', body, sizeof(body)},
		{0}};
	const struct talk_opts o = {.port = 4000, .snaplen = 110};
	char got[300];

	(void)state;
	body[sizeof(body) - 1] = END[0];
	talk_requests(got, sizeof(got), said, &o, has_trace);
	assert_string_equal(got, "amqp oneway basic.publish e/k - 9132/0\n");
}

/* Where publications were lost, confirmations of later ones are unknown. */
static void lost_publications_are_not_guessed(void **state)
{
	static char lost[200];
	const struct say said[] = {SAY('c', CONFIRM_1),       SAY('s', CONFIRM_1_OK),
				   SAY('c', PUBLISH_EK),      SAY('c', HEADER("\0")),
				   {'c', lost, sizeof(lost)}, SAY('c', PUBLISH_Q),
				   SAY('c', HEADER("\0")),    SAY('s', ACK("\1", "\0")),
				   SAY('s', ACK("\2", "\0")), {0}};
	const struct talk_opts o = {.port = 5672, .snaplen = 60};
	char got[400];

	(void)state;
	talk_requests(got, sizeof(got), said, &o, NULL);
	assert_string_equal(got, "amqp confirm.select - - 13/12\n"
				 "amqp oneway basic.publish q - 40/0 cut\n"
				 "amqp basic.publish e/k - 41/21 cut\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_and_channels),
		cmocka_unit_test(publications),
		cmocka_unit_test(messages_of_the_server),
		cmocka_unit_test(closing_ends_requests),
		cmocka_unit_test(large_bodies_need_no_bytes),
		cmocka_unit_test(lost_publications_are_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
