/* SPDX-License-Identifier: Apache-2.0 */
/* DNS: questions in any order, sent again, over TCP, and those of sendmmsg. */
#include "requests_test.h"

#define HEADER(id, flags, counts) "\0" id flags "\0\1\0" counts
#define QUERY(id, name_type) HEADER(id, "\1\0", "\0\0\0\0\0") name_type "\0\1"
#define ANSWER(id, flags, name_type, answer) HEADER(id, flags, "\1\0\0\0\0") name_type "\0\1" answer
#define NO_ANSWER(id, flags, name_type) HEADER(id, flags, "\0\0\0\0\0") name_type "\0\1"
#define WWW "\3www\4Test\0"
#define A "\0\1"
#define AAAA "\0\x1c"
#define RECORD(type) "\xc0\x0c" type "\0\1\0\0\0\1\0\4\x7f\0\0\1"
#define SAY(from, text)                                                                            \
	{                                                                                          \
		from, text, sizeof(text) - 1                                                       \
	}
#define SAY_TO(from, text, to)                                                                     \
	{                                                                                          \
		from, text, sizeof(text) - 1, to                                                   \
	}

static void check(const struct say *said, uint16_t port, size_t snaplen, const char *want)
{
	char got[1000];

	for (int client = 0; client < 2; client++) {
		talk_requests(got, sizeof(got), said,
			      &(struct talk_opts){
				      .port = port, .client = client, .udp = 1, .snaplen = snaplen},
			      NULL);
		assert_string_equal(got, want);
	}
}

static void answers_come_in_any_order(void **state)
{
	static const struct say said[] = {
		SAY('c', QUERY("\1", WWW A)),
		SAY('c', QUERY("\1", WWW AAAA)),
		SAY('c', QUERY("\2", "\1a\0" A)),
		SAY('s', NO_ANSWER("\2", "\x81\x83", "\1a\0" A)),
		SAY('s', NO_ANSWER("\1", "\x81\x80", "\3WWW\4test\0" AAAA)),
		SAY('s', ANSWER("\1", "\x81\x80", WWW A, RECORD(A))),
		SAY('c', QUERY("\3", "\1a\0"
				     "\xff\1")),
		SAY('c', QUERY("\3", "\3a.b\2\1\xff\0" A)),
		{0}};

	(void)state;
	check(said, 53, 0,
	      "dns A a 3 19/19 NXDOMAIN\ndns AAAA www.Test 0 26/26\ndns A www.Test 0 26/42\n"
	      "dns TYPE65281 a - 19/0 unanswered\ndns A a\\.b.\\001\\255 - 24/0 unanswered\n");
}

static void set_of_answers(const struct sinsp_evt *evt)
{
	assert_string_equal(talk_text(evt, REQUEST_P_STATEMENT),
			    "A www.Test, answers=1, truncated");
}

static void statement_counts_the_answers(void **state)
{
	static const struct say said[] = {SAY('c', QUERY("\1", WWW A)),
					  SAY('s', ANSWER("\1", "\x83\x80", WWW A, RECORD(A))),
					  {0}};
	char got[100];

	(void)state;
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 53, .udp = 1},
		      set_of_answers);
	assert_string_equal(got, "dns A www.Test 0 26/42\n");
}

static void repeated_query_is_one_request(void **state)
{
	static const struct say said[] = {SAY('c', QUERY("\1", WWW A)),
					  SAY('c', QUERY("\1", WWW A)),
					  SAY('s', NO_ANSWER("\1", "\x81\x82", WWW A)),
					  SAY('s', NO_ANSWER("\1", "\x81\x82", WWW A)),
					  SAY('c', QUERY("\1", WWW A)),
					  SAY('s', NO_ANSWER("\1", "\x81\x80", WWW A)),
					  {0}};

	(void)state;
	check(said, 53, 0, "dns A www.Test 2 52/26 SERVFAIL\ndns A www.Test 0 26/26\n");
}

/* Two peers use the same number and question. */
static void peers_are_apart(void **state)
{
	static const struct say said[] = {
		SAY_TO('c', QUERY("\1", WWW A), 0),
		SAY_TO('c', QUERY("\1", WWW A), 1),
		SAY_TO('s', NO_ANSWER("\1", "\x81\x85", WWW A), 1),
		SAY_TO('s', ANSWER("\1", "\x81\x80", WWW A, RECORD(A)), 0),
		SAY_TO('s', NO_ANSWER("\1", "\x81\x80", WWW A), 2),
		{0}};

	(void)state;
	check(said, 53, 0, "dns A www.Test 5 26/26 REFUSED\ndns A www.Test 0 26/42\n");
}

/* At another port queries of stub resolvers are recognised; mDNS has the same format. */
static void other_ports(void **state)
{
	static const struct say said[] = {
		SAY('c', QUERY("\1", WWW A)), SAY('s', NO_ANSWER("\1", "\x81\x80", WWW A)), {0}};
	static const struct say mdns[] = {SAY('c', HEADER("\0", "\0\0", "\0\0\0\0\0") WWW A "\0\1"),
					  {'c', "hello, this is something else altogether"},
					  {0}};

	(void)state;
	check(said, 5300, 0, "dns A www.Test 0 26/26\n");
	check(mdns, 5353, 0, "");
}

/* The upper bits of a code are in the record of EDNS, which may not be captured. */
static void codes_of_edns(void **state)
{
	static const struct say said[] = {SAY('c', QUERY("\1", WWW A)),
					  SAY('s', HEADER("\1", "\x81\x80", "\0\0\0\0\1") WWW A
					      "\0\1"
					      "\0\0\x29\x10\0\1\0\0\0\0\0"),
					  {0}};

	(void)state;
	check(said, 53, 0, "dns A www.Test 16 26/37 BADVERS\n");
	check(said, 53, 30, "dns A www.Test - 26/37 cut\n");
}

/* An error without the question is found by its number. */
static void errors_without_a_question(void **state)
{
	static const struct say said[] = {SAY('c', QUERY("\1", WWW A)),
					  SAY('c', QUERY("\2", WWW AAAA)),
					  SAY('s', "\0\2\x81\x81\0\0\0\0\0\0\0\0"),
					  {0}};

	(void)state;
	check(said, 53, 0, "dns AAAA www.Test 1 26/12 FORMERR\ndns A www.Test - 26/0 unanswered\n");
}

static void over_tcp(void **state)
{
	static const struct say said[] = {
		SAY('c', "\0\x1a" QUERY("\1", WWW A) "\0\x1a" QUERY("\2", WWW AAAA)),
		SAY('s', "\0\x1a" NO_ANSWER("\2", "\x81\x80", WWW AAAA)),
		SAY('s', "\0\x2a" ANSWER("\1", "\x81\x80", WWW A, RECORD(A))),
		SAY('c', "\0\x13" QUERY("\3", "\1a\0"
					      "\0\xfc")),
		SAY('s', "\0\x23" ANSWER("\3", "\x81\x80",
					 "\1a\0"
					 "\0\xfc",
					 RECORD("\0\6"))),
		SAY('s', "\0\x23" ANSWER("\3", "\x81\x80",
					 "\1a\0"
					 "\0\xfc",
					 RECORD("\0\1"))),
		SAY('s', "\0\x23" ANSWER("\3", "\x81\x80",
					 "\1a\0"
					 "\0\xfc",
					 RECORD("\0\6"))),
		{0}};

	(void)state;
	talk_check(said, 53,
		   "dns AAAA www.Test 0 28/28\ndns A www.Test 0 28/44\ndns AXFR a 0 21/111\n");
}

static void transfer_has_one_count(const struct sinsp_evt *evt)
{
	assert_string_equal(talk_text(evt, REQUEST_P_STATEMENT), "AXFR a, answers=1");
}

/* The upper bits of the code are behind what was captured of each message. */
static void a_transfer_may_have_an_unknown_code(void **state)
{
#define PART                                                                                       \
	SAY('s', "\0\x23" HEADER("\3", "\x81\x80", "\1\0\0\0\1") "\1a\0"                           \
								 "\0\xfc\0\1" RECORD("\0\6"))
	static const struct say said[] = {SAY('c', "\0\x13" QUERY("\3", "\1a\0"
									"\0\xfc")),
					  PART,
					  PART,
					  PART,
					  {0}};
	char got[200];

	(void)state;
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 53, .snaplen = 30},
		      transfer_has_one_count);
	assert_string_equal(got, "dns AXFR a - 21/111 cut\n");
#undef PART
}

/* A response of which the question was not captured is found by its number. */
static void a_question_may_be_cut(void **state)
{
	static const char a[] = "\0\x1a" QUERY("\1", WWW A),
			  aaaa[] = "\0\x1a" QUERY("\2", WWW AAAA);
	static const struct say said[] = {{'c', a, 14, 0},
					  {'c', a + 14, 14, 0},
					  {'c', aaaa, 14, 0},
					  {'c', aaaa + 14, 14, 0},
					  SAY('s', "\0\x1a" NO_ANSWER("\2", "\x81\x83", WWW AAAA)),
					  {0}};
	char got[200];

	(void)state;
	talk_requests(got, sizeof(got), said, &(struct talk_opts){.port = 53, .snaplen = 20}, NULL);
	assert_string_equal(
		got, "dns AAAA www.Test 3 28/28 NXDOMAIN\ndns A www.Test - 28/0 unanswered\n");
}

/* ---- messages of sendmmsg and recvmmsg ---- */

static void connect_client(struct talk *t)
{
	uint8_t tuple[13];

	talk_tuple(tuple, 53);
	talk_open(t);
	CALL(t, EVT_CONNECT_X, 3, I(0), tuple, sizeof(tuple), I(TALK_FD));
}

static void receive(struct talk *t, const char *p, size_t n)
{
	CALL(t, EVT_RECVFROM_X, 5, I(n), p, n, "", (size_t)0, I(TALK_FD), I(n));
}

static void finish(struct talk *t, const char *want)
{
	char got[1000];

	CALL(t, EVT_CLOSE_X, 2, I(0), I(TALK_FD));
	talk_play(t, got, sizeof(got), NULL);
	assert_string_equal(got, want);
}

static void resolver_sends_two_questions_at_once(void **state)
{
	static const char a[] = QUERY("\1", WWW A),
			  to_aaaa[] = NO_ANSWER("\2", "\x81\x80", WWW AAAA),
			  to_a[] = NO_ANSWER("\1", "\x81\x80", WWW A);
	const size_t n = sizeof(a) - 1;

	(void)state;
	for (int answered = 0; answered < 2; answered++) {
		struct talk t = {.f = scap_fake_new(), .o = {.port = 53, .client = 1, .udp = 1}};

		connect_client(&t);
		CALL(&t, EVT_SENDMMSG_X, 5, I(2), I(TALK_FD), I(2 * n), a, n, "", (size_t)0);
		if (answered)
			receive(&t, to_aaaa, sizeof(to_aaaa) - 1);
		receive(&t, to_a, sizeof(to_a) - 1);
		finish(&t, answered ? "dns AAAA www.Test 0 26/26 cut\ndns A www.Test 0 26/26\n"
				    : "dns A www.Test 0 26/26\ndns - - - 26/0 unanswered cut\n");
	}
}

static void answers_that_were_not_captured(void **state)
{
	static const char a[] = QUERY("\1", WWW A), aaaa[] = QUERY("\2", WWW AAAA),
			  to_a[] = NO_ANSWER("\1", "\x81\x80", WWW A);
	struct talk t = {.f = scap_fake_new(), .o = {.port = 53, .client = 1, .udp = 1}};
	const size_t n = sizeof(a) - 1;

	(void)state;
	connect_client(&t);
	CALL(&t, EVT_SENDTO_X, 5, I(n), a, n, I(TALK_FD), I(n), "", (size_t)0);
	CALL(&t, EVT_SENDTO_X, 5, I(n), aaaa, n, I(TALK_FD), I(n), "", (size_t)0);
	CALL(&t, EVT_RECVMMSG_X, 6, I(2), I(TALK_FD), I(2 * n), to_a, n, "", (size_t)0, "",
	     (size_t)0);
	finish(&t, "dns A www.Test 0 26/26\ndns AAAA www.Test - 26/0 lost cut\n");
}

/* The server's answers to requests of several peers are not looked for among those of one. */
static void server_receives_several_at_once(void **state)
{
	static const char a[] = QUERY("\1", WWW A), to_a[] = NO_ANSWER("\1", "\x81\x80", WWW A);
	struct talk t = {.f = scap_fake_new(), .o = {.port = 53, .udp = 1}};
	const size_t n = sizeof(a) - 1;
	uint8_t ends[13], back[13];

	(void)state;
	talk_open(&t);
	talk_ends(ends, &t, 'c', 0);
	talk_ends(back, &t, 's', 0);
	CALL(&t, EVT_RECVMMSG_X, 6, I(2), I(TALK_FD), I(2 * n), a, n, ends, sizeof(ends), "",
	     (size_t)0);
	CALL(&t, EVT_SENDMMSG_X, 5, I(2), I(TALK_FD), I(2 * n), to_a, n, back, sizeof(back));
	finish(&t, "dns A www.Test 0 26/26\n");
}

/* Appends the entry of a message. Returns the new size. */
static size_t add_entry(char *to, size_t at, size_t size, const uint8_t *ends, const char *p,
			size_t n)
{
	const uint16_t ends_sz = ends ? 13 : 0, data_sz = (uint16_t)n;
	const uint32_t sz = (uint32_t)size;

	memcpy(to + at, &sz, 4);
	memcpy(to + at + 4, &ends_sz, 2);
	memcpy(to + at + 6, &data_sz, 2);
	at += 8;
	if (ends)
		memcpy(to + at, ends, ends_sz);
	memcpy(to + at + ends_sz, p, n);
	return at + ends_sz + n;
}

/* The second question is cut in the second round, and of three messages in the third round. */
static void both_questions_are_captured(void **state)
{
	static const char a[] = QUERY("\1", WWW A), aaaa[] = QUERY("\2", WWW AAAA),
			  to_a[] = NO_ANSWER("\1", "\x81\x80", WWW A);
	static const char *const want[] = {
		"dns A www.Test 0 26/26\ndns AAAA www.Test - 26/0 unanswered\n",
		"dns A www.Test 0 26/26 cut\n",
		("dns A www.Test 0 26/26\ndns AAAA www.Test - 26/0 unanswered\n"
		 "dns - - - 26/0 unanswered cut\n"),
	};
	const size_t n = sizeof(a) - 1;
	char entries[100];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct talk t = {.f = scap_fake_new(), .o = {.port = 53, .client = 1, .udp = 1}};
		const int64_t n_messages = i == 2 ? 3 : 2;
		size_t sz = add_entry(entries, 0, n, NULL, "", 0);

		sz = add_entry(entries, sz, n, NULL, aaaa, i == 1 ? 10 : n);
		connect_client(&t);
		CALL(&t, EVT_SENDMMSG_X, 7, I(n_messages), I(TALK_FD), I(n_messages * n), a, n, "",
		     (size_t)0, I(0), entries, sz);
		receive(&t, to_a, sizeof(to_a) - 1);
		finish(&t, want[i]);
	}
}

/* Each message has the peer of its own address. */
static void server_moves_messages_of_two_peers(void **state)
{
	static const char a[] = QUERY("\1", WWW A), aaaa[] = QUERY("\1", WWW AAAA),
			  to_a[] = NO_ANSWER("\1", "\x81\x80", WWW A),
			  to_aaaa[] = NO_ANSWER("\1", "\x81\x83", WWW AAAA);
	struct talk t = {.f = scap_fake_new(), .o = {.port = 53, .udp = 1}};
	const size_t n = sizeof(a) - 1;
	uint8_t ends[13], back[13], other[13], other_back[13];
	char entries[100];
	size_t sz;

	(void)state;
	talk_open(&t);
	talk_ends(ends, &t, 'c', 0);
	talk_ends(back, &t, 's', 0);
	talk_ends(other, &t, 'c', 1);
	talk_ends(other_back, &t, 's', 1);
	sz = add_entry(entries, 0, n, NULL, "", 0);
	sz = add_entry(entries, sz, n, other, aaaa, n);
	CALL(&t, EVT_RECVMMSG_X, 8, I(2), I(TALK_FD), I(2 * n), a, n, ends, sizeof(ends), "",
	     (size_t)0, I(0), entries, sz);
	sz = add_entry(entries, 0, n, NULL, "", 0);
	sz = add_entry(entries, sz, n, back, to_a, n);
	CALL(&t, EVT_SENDMMSG_X, 7, I(2), I(TALK_FD), I(2 * n), to_aaaa, n, other_back,
	     sizeof(other_back), I(0), entries, sz);
	finish(&t, "dns AAAA www.Test 3 26/26 NXDOMAIN\ndns A www.Test 0 26/26\n");
}

static void refused(void **state)
{
	static const char a[] = QUERY("\1", WWW A);
	struct talk t = {.f = scap_fake_new(), .o = {.port = 53, .client = 1, .udp = 1}};
	const size_t n = sizeof(a) - 1;

	(void)state;
	connect_client(&t);
	CALL(&t, EVT_SENDTO_X, 5, I(n), a, n, I(TALK_FD), I(n), "", (size_t)0);
	CALL(&t, EVT_RECVFROM_X, 5, I(-ECONNREFUSED), "", (size_t)0, "", (size_t)0, I(TALK_FD),
	     I(512));
	finish(&t, "dns A www.Test - 26/0 refused\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_come_in_any_order),
		cmocka_unit_test(statement_counts_the_answers),
		cmocka_unit_test(repeated_query_is_one_request),
		cmocka_unit_test(peers_are_apart),
		cmocka_unit_test(other_ports),
		cmocka_unit_test(codes_of_edns),
		cmocka_unit_test(errors_without_a_question),
		cmocka_unit_test(over_tcp),
		cmocka_unit_test(a_transfer_may_have_an_unknown_code),
		cmocka_unit_test(a_question_may_be_cut),
		cmocka_unit_test(resolver_sends_two_questions_at_once),
		cmocka_unit_test(answers_that_were_not_captured),
		cmocka_unit_test(server_receives_several_at_once),
		cmocka_unit_test(both_questions_are_captured),
		cmocka_unit_test(server_moves_messages_of_two_peers),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
