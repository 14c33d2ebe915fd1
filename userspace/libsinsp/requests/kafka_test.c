/* SPDX-License-Identifier: Apache-2.0 */
/* Kafka: topics and errors by version, and messages without a response. */
#include "requests_test.h"

/* A request of an API and a version, with its number and the client "cl". */
#define REQUEST(sz, api, version, id) "\0\0\0" sz "\0" api "\0" version "\0\0\0" id "\0\2cl"
#define RESPONSE(sz, id) "\0\0\0" sz "\0\0\0" id
#define SAY(from, text)                                                                            \
	{                                                                                          \
		from, text, sizeof(text) - 1                                                       \
	}

static void requests_end(void **state)
{
	static const struct say said[] = {
		/* Produce 7: no transaction, acks 1, timeout, one topic */
		SAY('c', REQUEST("\x1d", "\0", "\7", "\1") "\xff\xff\0\1\0\0\0\5\0\0\0\1\0\3top"),
		SAY('s', RESPONSE("\x17", "\1") "\0\0\0\1\0\3top\0\0\0\1\0\0\0\0\0\3"),
		/* Produce 9: compact, acks 0 */
		SAY('c', REQUEST("\x1a", "\0", "\x09", "\2") "\0\0\0\0\0\0\0\5\2\4two\0"),
		/* Fetch 4, and Metadata 1, answered together */
		SAY('c', REQUEST("\x2a", "\1", "\4",
				 "\3") "\xff\xff\xff\xff\0\0\0\1\0\0\0\1\0\0\0\1"
				       "\0\0\0\0\1\0\3top\0\0\0\0" REQUEST("\x14", "\3", "\1",
									   "\4") "\0\0\0\1\0\2ab"),
		SAY('s',
		    RESPONSE("\x1b", "\3") "\0\0\0\0\0\0\0\1\0\3top\0\0\0\1\0\0\0\0\0\0" RESPONSE(
			    "\x1f", "\4") "\0\0\0\1\0\0\0\1\0\1h\0\0\x23\x84\xff\xff"
					  "\0\0\0\1\0\0\0\1\0\5"),
		/* Heartbeat 0 and 4, ApiVersions 3 */
		SAY('c', REQUEST("\x0c", "\x0c", "\0", "\5")
				 REQUEST("\x0d", "\x0c", "\4", "\6") "\0" REQUEST("\x0d", "\x12",
										  "\3", "\7") "\0"),
		SAY('s', RESPONSE("\6", "\5") "\0\x1b" RESPONSE(
				 "\x0b", "\6") "\0\0\0\0\0\0\0" RESPONSE("\6", "\7") "\0\0"),
		SAY('c', REQUEST("\x0c", "\x0a", "\7", "\x08")),
		{0}};

	(void)state;
	talk_check(said, 9092,
		   "kafka Produce top 3 33/27 UNKNOWN_TOPIC_OR_PARTITION\n"
		   "kafka oneway Produce two - 30/0\nkafka Fetch top 0 46/31\n"
		   "kafka Metadata ab 5 24/35 LEADER_NOT_AVAILABLE\n"
		   "kafka Heartbeat - 27 16/10 REBALANCE_IN_PROGRESS\n"
		   "kafka Heartbeat - 0 17/15\nkafka ApiVersions - 0 17/10\n"
		   "kafka FindCoordinator - - 16/0 unanswered\n");
}

/* At another port brokers read parts of the header by calls of their own; the version of metadata
 * is one of PostgreSQL's as well. */
static void headers_come_in_parts(void **state)
{
	static const struct say said[] = {
		SAY('c', REQUEST("\x14", "\3", "\2", "\1") "\0\0\0\1\0\2ab"),
		SAY('s', RESPONSE("\x12", "\1") "\0\0\0\0\xff\xff\0\0\0\1\0\0\0\0"),
		SAY('c', REQUEST("\x0c", "\x0c", "\0", "\2")),
		SAY('s', RESPONSE("\6", "\2") "\0\0"),
		{0}};

	(void)state;
	talk_check(said, 999, "kafka Metadata ab - 24/22\nkafka Heartbeat - 0 16/10\n");
}

/* Errors of topics and partitions, and with a time of throttling. */
static void errors_have_their_place(void **state)
{
	static const struct say said[] = {
		/* ListOffsets 2, OffsetCommit 8, CreateTopics 2, InitProducerId 1 */
		SAY('c', REQUEST("\x0c", "\2", "\2", "\1")),
		SAY('s', RESPONSE("\x1b", "\1") "\0\0\0\0\0\0\0\1\0\3top\0\0\0\1\0\0\0\0\0\6"),
		SAY('c', REQUEST("\x0c", "\x08", "\x08", "\2")),
		SAY('s', RESPONSE("\x16", "\2") "\0\0\0\0\0\2\4top\2\0\0\0\0\0\x16\0"),
		SAY('c', REQUEST("\x0c", "\x13", "\2", "\3")),
		SAY('s', RESPONSE("\x13", "\3") "\0\0\0\0\0\0\0\1\0\3top\0\x24"),
		SAY('c', REQUEST("\x0c", "\x16", "\1", "\4")),
		SAY('s', RESPONSE("\x0a", "\4") "\0\0\0\0\0\x0e"),
		/* Produce 13 has no name of the topic: acks 0 */
		SAY('c', REQUEST("\x14", "\0", "\x0d", "\5") "\0\0\0\0\0\0\0\5"),
		{0}};

	(void)state;
	talk_check(said, 9092,
		   "kafka ListOffsets - 6 16/31 NOT_LEADER_OR_FOLLOWER\n"
		   "kafka OffsetCommit - 22 16/26 ILLEGAL_GENERATION\n"
		   "kafka CreateTopics - 36 16/23 TOPIC_ALREADY_EXISTS\n"
		   "kafka InitProducerId - 14 16/14 COORDINATOR_LOAD_IN_PROGRESS\n"
		   "kafka oneway Produce - - 24/0\n");
}

/* Versions whose topics are identifiers have none; at another port the client has a name. */
static void layouts_that_are_not_known(void **state)
{
	static const struct say said[] = {
		SAY('c', REQUEST("\x15", "\1", "\x0f", "\1") "\0\1\2\3\4\5\6\7\x08"),
		SAY('s', RESPONSE("\x08", "\1") "\0\0\0\0"),
		{0}};
	char got[200];

	(void)state;
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 999}, NULL);
	assert_string_equal(got, "kafka Fetch - - 25/12\n");
}

/* Records are skipped by their length. */
static void large_messages_need_no_bytes(void **state)
{
	static char produce[4 + 9000], fetched[4 + 9000];
	const struct say said[] = {{'c', produce, sizeof(produce)},
				   {'s', fetched, sizeof(fetched)},
				   SAY('c', REQUEST("\x0c", "\x0c", "\0", "\2")),
				   SAY('s', RESPONSE("\6", "\2") "\0\0"),
				   {0}};
	char got[200];

	(void)state;
	memcpy(produce, "\0\0\x23\x28\0\0\0\7\0\0\0\1\0\2cl\xff\xff\0\1\0\0\0\5\0\0\0\1\0\3top",
	       33);
	memcpy(fetched, "\0\0\x23\x28\0\0\0\1\0\0\0\1\0\3top\0\0\0\1\0\0\0\0\0\0", 27);
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 9092, .snaplen = 80},
		      NULL);
	assert_string_equal(got, "kafka Produce top 0 9004/9004\nkafka Heartbeat - 0 16/10\n");
}

/* A session that the server does not know: the response has no topic. */
static void sessions_have_errors(void **state)
{
	static const struct say said[] = {
		SAY('c',
		    REQUEST("\x2e", "\1", "\7", "\1") "\xff\xff\xff\xff\0\0\0\1\0\0\0\1\0\0\0\1\0"
						      "\0\0\0\5\0\0\0\1\0\0\0\1\0\3top"),
		SAY('s', RESPONSE("\x12", "\1") "\0\0\0\0\0\x46\0\0\0\0\0\0\0\0"),
		{0}};

	(void)state;
	talk_check(said, 9092, "kafka Fetch top 70 50/22 70\n");
}

/* Each response searches the open requests: the oldest of too many are evicted. */
static void too_many_are_evicted(void **state)
{
	enum { N = 300, SZ = 33, KEPT = 256 };
	static const char metadata[SZ + 1] = "\0\0\0\x1d\0\3\0\1\0\0\0\0\0\2cl\0\0\0\1\0\x09"
					     "abcdefghi";
	static char requests[N * SZ], got[N * 60];
	static const char answer[] = "\0\0\0\x10\0\0\1\x2b\0\0\0\0\0\0\0\1\0\0\0\0";
	const struct say said[] = {
		{'c', requests, sizeof(requests), 0}, {'s', answer, sizeof(answer) - 1, 0}, {0}};
	size_t evicted = 0, unanswered = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		memcpy(requests + i * SZ, metadata, SZ);
		requests[i * SZ + 10] = (char)(i >> 8);
		requests[i * SZ + 11] = (char)i;
	}
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 9092}, NULL);
	for (const char *at = got; (at = strstr(at, " evicted\n")); at++)
		evicted++;
	for (const char *at = got; (at = strstr(at, " unanswered\n")); at++)
		unanswered++;
	assert_int_equal(evicted, N - KEPT);
	assert_int_equal(unanswered, KEPT - 1);
	assert_non_null(strstr(got, "33/20\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_end),
		cmocka_unit_test(headers_come_in_parts),
		cmocka_unit_test(errors_have_their_place),
		cmocka_unit_test(layouts_that_are_not_known),
		cmocka_unit_test(large_messages_need_no_bytes),
		cmocka_unit_test(sessions_have_errors),
		cmocka_unit_test(too_many_are_evicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
