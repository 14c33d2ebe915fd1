/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: a conversation over a connection. A byte selects how it is watched, the next one
 * the port unless SAKER_FUZZ_ARG names a protocol; then messages: a byte for who sends it and for
 * its peer, two for its length, the bytes. requests_test.h writes conversations of tests so, as
 * seeds.
 */
#include "testing/fuzz.h"

#include "conn.h"
#include "requests_test.h"

enum { SAYS_MAX = 256, OUT_SZ = 1 << 16 };

static const struct req_protocol *const protocols[] = {
#define PROTOCOL(symbol) &req_##symbol,
#include "protocols.def"
#undef PROTOCOL
};

static uint16_t port_of(uint8_t byte)
{
	const char *name = getenv("SAKER_FUZZ_ARG");
	const size_t n = sizeof(protocols) / sizeof(*protocols);

	for (size_t i = 0; name && i < n; i++)
		if (!strcmp(protocols[i]->name, name))
			return protocols[i]->ports ? protocols[i]->ports[0] : 7777;
	return byte < n && protocols[byte]->ports ? protocols[byte]->ports[0] : 7777;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static char out[OUT_SZ];
	struct say says[SAYS_MAX + 1] = {0};
	struct fuzz_in in = {data, sz};
	const uint8_t how = fuzz_u8(&in);
	const struct talk_opts o = {.port = port_of(fuzz_u8(&in)),
				    .client = how & 1,
				    .udp = how >> 1 & 1,
				    .no_close = how >> 2 & 1,
				    .old = how >> 3 & 1,
				    .snaplen = how >> 4 & 1 ? 80 : 0,
				    .cut = how >> 5};

	for (int i = 0; i < SAYS_MAX && in.n > 3; i++) {
		const uint8_t who = fuzz_u8(&in);
		size_t len = fuzz_u16(&in);

		says[i].p = (const char *)fuzz_bytes(&in, len, &says[i].n);
		says[i].from = who & 1 ? 's' : 'c';
		says[i].peer = who >> 1 & 3;
		if (!says[i].n) {
			free((void *)says[i].p);
			says[i] = (struct say){.from = 'c', .p = strdup("x"), .n = 1};
		}
	}
	talk_requests(out, sizeof(out), says, &o, NULL);
	for (int i = 0; i < SAYS_MAX && says[i].from; i++)
		free((void *)says[i].p);
	return 0;
}
