/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the events of TCP: each event has those of the connection and its own, and no others.
 */
#include "field_test.h"

#define TUPLE_V4 "\2\12\0\0\1\x40\x9c\12\0\0\2\x50\0"
#define IN6 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
#define TUPLE_V6 "\12" IN6 "\x40\x9c" IN6 "\x50\0"

#define CONN(tuple, role)                                                                          \
	BYTES(tuple), U8(role), U64(77), TEXT("curl"), U8(1), U64(27000), U64(13500), U32(10),     \
		U32(3), U64(1001), U64(500)

struct want {
	const char *field, *text;
};

static void check(struct fixture *f, unsigned int type, const struct scap_param *params, size_t n,
		  const struct want *want)
{
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, type, params, n);

	for (; want->field; want++) {
		const char *text = fixture_field(f, &evt, want->field);

		if (!text != !want->text || (text && strcmp(text, want->text)))
			fail_msg("%s is %s, not %s", want->field, text ? text : "no value",
				 want->text ? want->text : "no value");
	}
}

static void test_of_each_event(void **state)
{
	const struct scap_param params[] = {CONN(TUPLE_V4, 1), U8(2)};
	static const struct want want[] = {{"tcp.conn", "10.0.0.1:40000->10.0.0.2:80"},
					   {"tcp.local", "10.0.0.1:40000"},
					   {"tcp.remote", "10.0.0.2:80"},
					   {"tcp.local.ip", "10.0.0.1"},
					   {"tcp.local.port", "40000"},
					   {"tcp.remote.ip", "10.0.0.2"},
					   {"tcp.remote.port", "80"},
					   {"tcp.role", "client"},
					   {"tcp.pid", "77"},
					   {"tcp.comm", "curl"},
					   {"tcp.state", "ESTABLISHED"},
					   {"tcp.state.old", "SYN_SENT"},
					   {"tcp.srtt", "27000"},
					   {"tcp.rttvar", "13500"},
					   {"tcp.cwnd", "10"},
					   {"tcp.retrans", "3"},
					   {"tcp.bytes.out", "1001"},
					   {"tcp.bytes.in", "500"},
					   {"tcp.connect.outcome", NULL},
					   {"tcp.way", NULL},
					   {"tcp.reason", NULL},
					   {"tcp.overflow.n", NULL},
					   {NULL, NULL}};

	check(*state, EVT_TCP_STATE_E, params, sizeof(params) / sizeof(params[0]), want);
}

/* The client is first, whichever end is the own one. */
static void test_server(void **state)
{
	const struct scap_param params[] = {CONN(TUPLE_V6, 2)};
	static const struct want want[] = {
		{"tcp.conn", "::1:80->::1:40000"}, {"tcp.local", "::1:40000"},
		{"tcp.remote.ip", "::1"},          {"tcp.role", "server"},
		{"tcp.state.old", NULL},           {NULL, NULL}};

	check(*state, EVT_TCP_RTT_E, params, sizeof(params) / sizeof(params[0]), want);
}

static void test_own_fields(void **state)
{
	const struct scap_param connect[] = {CONN(TUPLE_V4, 1), U8(1), U64(46802), I64(-111)};
	const struct scap_param drop[] = {CONN(TUPLE_V4, 2), U8(0), TEXT("SOCKET_FILTER"),
					  U32(132)};
	const struct scap_param reset[] = {CONN(TUPLE_V4, 2), U8(1), TEXT("NO_SOCKET")};
	static const struct want of_connect[] = {{"tcp.connect.outcome", "refused"},
						 {"tcp.connect.latency", "46802"},
						 {"tcp.way", NULL},
						 {NULL, NULL}};
	static const struct want of_drop[] = {{"tcp.way", "received"},
					      {"tcp.reason", "SOCKET_FILTER"},
					      {"tcp.drop.length", "132"},
					      {"tcp.connect.outcome", NULL},
					      {NULL, NULL}};
	static const struct want of_reset[] = {{"tcp.way", "sent"},
					       {"tcp.reason", "NO_SOCKET"},
					       {"tcp.drop.length", NULL},
					       {NULL, NULL}};

	check(*state, EVT_TCP_CONNECT_E, connect, sizeof(connect) / sizeof(connect[0]), of_connect);
	check(*state, EVT_TCP_DROP_E, drop, sizeof(drop) / sizeof(drop[0]), of_drop);
	check(*state, EVT_TCP_RESET_E, reset, sizeof(reset) / sizeof(reset[0]), of_reset);
}

/* A tuple may be shorter than its family says, or of another one, and a value may be missing. */
static void test_hostile(void **state)
{
	static const char *const tuples[] = {"\2\12\0\0\1", "\12\0\0", "\1\0\0\0\0\0\0\0\0", "\2"};
	static const struct want want[] = {{"tcp.conn", NULL},        {"tcp.local", NULL},
					   {"tcp.remote.ip", NULL},   {"tcp.local.port", NULL},
					   {"tcp.role", NULL},        {"tcp.pid", NULL},
					   {"tcp.srtt", NULL},        {"tcp.reason", NULL},
					   {"tcp.drop.length", NULL}, {NULL, NULL}};

	for (size_t i = 0; i < sizeof(tuples) / sizeof(tuples[0]); i++) {
		const struct scap_param params[] = {
			{(const uint8_t *)tuples[i], (uint32_t)(i == 1   ? 3
								: i == 2 ? 9
								: i      ? 1
									 : 5)},
			U8(200)};

		check(*state, EVT_TCP_DROP_E, params, 2, want);
	}
}

/* Another event has none of them. */
static void test_other_event(void **state)
{
	const struct scap_param params[] = {U64(1)};
	static const struct want want[] = {
		{"tcp.conn", NULL}, {"tcp.srtt", NULL}, {"tcp.state", NULL}, {NULL, NULL}};

	check(*state, EVT_GETUID_E, params, 1, want);
	check(*state, EVT_FILE_E, params, 1, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_each_event), cmocka_unit_test(test_server),
		cmocka_unit_test(test_own_fields),    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_other_event),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
