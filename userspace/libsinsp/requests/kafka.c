/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kafka ("Protocol Guide" in its manual). Requests have a number, which their responses repeat, in
 * the order of the requests. Layouts change with the version of each API: topics and errors are
 * read of versions whose layout is known, and unknown of others.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "protocol.h"
#include "wire.h"

enum {
	HEADER_SZ = 14, /* of a request, up to the length of the client's name */
	MESSAGE_MAX = 104857600, /* default limit of brokers */
	CLIENT_MAX = 255,
	VERSION_MAX = 24,
	KEPT_MAX = 1024, /* bytes of a message that are waited for */
	PRODUCE = 0,
	FETCH = 1,
	METADATA = 3,
	API_VERSIONS = 18,
};

/* Where the error is in a response. */
enum error_at {
	E_NONE = 0, /* it is not read */
	E_FIRST, /* the first two bytes, or behind the time of throttling */
	E_TOPIC, /* of the first topic, or what else has a name */
	E_PARTITION, /* of the first partition of the first topic */
	E_METADATA, /* of the first topic, behind the brokers */
};

enum { NEVER = UINT8_MAX };

/* By number. @throttled: first version whose response begins with the time of throttling;
 * @flexible: first version with compact numbers; @known: last version with the layout that is read
 * here. */
static const struct api {
	const char *name;
	uint8_t error; /* enum error_at */
	uint8_t throttled, flexible, known;
} apis[] = {
	[0] = {"Produce", E_PARTITION, NEVER, 9, 12},
	[1] = {"Fetch", E_PARTITION, 1, 12, 12},
	[2] = {"ListOffsets", E_PARTITION, 2, 6, 8},
	[3] = {"Metadata", E_METADATA, 3, 9, 12},
	[4] = {"LeaderAndIsr"},
	[5] = {"StopReplica"},
	[6] = {"UpdateMetadata"},
	[7] = {"ControlledShutdown"},
	[8] = {"OffsetCommit", E_PARTITION, 3, 8, 9},
	[9] = {"OffsetFetch"},
	[10] = {"FindCoordinator", E_FIRST, 1, 3, 3},
	[11] = {"JoinGroup", E_FIRST, 2, 6, 9},
	[12] = {"Heartbeat", E_FIRST, 1, 4, 4},
	[13] = {"LeaveGroup", E_FIRST, 1, 4, 5},
	[14] = {"SyncGroup", E_FIRST, 1, 4, 5},
	[15] = {"DescribeGroups"},
	[16] = {"ListGroups", E_FIRST, 1, 3, 4},
	[17] = {"SaslHandshake", E_FIRST, NEVER, NEVER, 1},
	[18] = {"ApiVersions", E_FIRST, NEVER, NEVER, 4}, /* its responses have the old header */
	[19] = {"CreateTopics", E_TOPIC, 2, 5, 6},
	[20] = {"DeleteTopics", E_TOPIC, 1, 4, 5},
	[21] = {"DeleteRecords"},
	[22] = {"InitProducerId", E_FIRST, 0, 2, 4},
	[23] = {"OffsetForLeaderEpoch"},
	[24] = {"AddPartitionsToTxn", E_PARTITION, 0, 3, 3},
	[25] = {"AddOffsetsToTxn", E_FIRST, 0, 3, 3},
	[26] = {"EndTxn", E_FIRST, 0, 3, 3},
	[27] = {"WriteTxnMarkers"},
	[28] = {"TxnOffsetCommit", E_PARTITION, 0, 3, 3},
	[29] = {"DescribeAcls"},
	[30] = {"CreateAcls"},
	[31] = {"DeleteAcls"},
	[32] = {"DescribeConfigs"},
	[33] = {"AlterConfigs"},
	[34] = {"AlterReplicaLogDirs"},
	[35] = {"DescribeLogDirs"},
	[36] = {"SaslAuthenticate", E_FIRST, NEVER, 2, 2},
	[37] = {"CreatePartitions", E_TOPIC, 0, 2, 3},
	[38] = {"CreateDelegationToken"},
	[39] = {"RenewDelegationToken"},
	[40] = {"ExpireDelegationToken"},
	[41] = {"DescribeDelegationToken"},
	[42] = {"DeleteGroups", E_TOPIC, 0, 2, 2},
	[43] = {"ElectLeaders"},
	[44] = {"IncrementalAlterConfigs"},
	[45] = {"AlterPartitionReassignments"},
	[46] = {"ListPartitionReassignments"},
	[47] = {"OffsetDelete"},
	[48] = {"DescribeClientQuotas"},
	[49] = {"AlterClientQuotas"},
	[50] = {"DescribeUserScramCredentials"},
	[51] = {"AlterUserScramCredentials"},
	[56] = {"AlterPartition"},
	[57] = {"UpdateFeatures"},
	[60] = {"DescribeCluster"},
	[61] = {"DescribeProducers"},
	[65] = {"DescribeTransactions"},
	[66] = {"ListTransactions"},
	[67] = {"AllocateProducerIds"},
	[68] = {"ConsumerGroupHeartbeat"},
	[69] = {"ConsumerGroupDescribe"},
	[71] = {"GetTelemetrySubscriptions"},
	[72] = {"PushTelemetry"},
};

static const struct api *api_of(uint32_t number)
{
	if (number >= sizeof(apis) / sizeof(apis[0]) || !apis[number].name)
		return NULL;
	return &apis[number];
}

/* ---- reading ---- */

struct reader {
	struct wire_reader in;
	int flexible;
};

static const uint8_t *take(struct reader *f, size_t n)
{
	return wire_take(&f->in, n);
}

static int32_t take16(struct reader *f)
{
	return (int16_t)wire_take_be16(&f->in);
}

static int32_t take32(struct reader *f)
{
	return (int32_t)wire_take_be32(&f->in);
}

/* Reads a compact number, of at most five bytes. */
static uint32_t take_compact(struct reader *f)
{
	uint32_t sum = 0;

	for (unsigned int shift = 0; shift < 35; shift += 7) {
		const uint8_t *p = take(f, 1);

		if (!p)
			return 0;
		sum |= (uint32_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return sum;
	}
	f->in.is_short = 1;
	return 0;
}

/* Reads the length of an array; -1: it is null. */
static int64_t take_count(struct reader *f)
{
	return f->flexible ? (int64_t)take_compact(f) - 1 : take32(f);
}

/* Reads a string. Returns NULL if it is null, or not here. */
static const uint8_t *take_string(struct reader *f, size_t *n)
{
	const int64_t len = f->flexible ? (int64_t)take_compact(f) - 1 : take16(f);

	if (f->in.is_short || len < 0)
		return NULL;
	*n = (size_t)len;
	return take(f, *n);
}

/* Skips the fields behind a header, or of a later version. */
static void skip_tagged(struct reader *f)
{
	uint32_t count = f->flexible ? take_compact(f) : 0;

	while (count-- && !f->in.is_short) {
		take_compact(f);
		take(f, take_compact(f));
	}
}

/* ---- recognition ---- */

static int is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isprint(p[i]))
			return 0;
	return 1;
}

/* Returns whether the bytes are the header of a request, with @n here. */
static int is_request(const uint8_t *p, size_t n)
{
	const uint32_t sz = wire_be32(p), len = wire_be16(p + 12);

	if (sz < HEADER_SZ - 4 || sz > MESSAGE_MAX || !api_of(wire_be16(p + 4)))
		return 0;
	if (wire_be16(p + 6) > VERSION_MAX || p[8] & 0x80)
		return 0;
	if (len == UINT16_MAX)
		return 1;
	if (len > CLIENT_MAX || len + HEADER_SZ - 4 > sz)
		return 0;
	return is_printable(p + HEADER_SZ, len < n - HEADER_SZ ? len : n - HEADER_SZ);
}

/* Returns whether fewer bytes than a header may be one: brokers read the size by a call of its own.
 */
static int may_be_request(const uint8_t *p, size_t n)
{
	return n >= 4 && wire_be32(p) >= HEADER_SZ - 4 && wire_be32(p) <= MESSAGE_MAX &&
	       (n < 6 || api_of(wire_be16(p + 4))) && (n < 8 || wire_be16(p + 6) <= VERSION_MAX);
}

/* At another port than that of Kafka the client has a name, and the request is whole, or long, or
 * followed by another one. */
static enum req_match match_named(const struct req_look *l)
{
	const uint32_t sz = wire_be32(l->p) + 4, len = wire_be16(l->p + 12);
	const int is_short = l->n < sz && !l->cut && l->n < REQ_MATCH_MAX;
	size_t rest;

	if (!len || len == UINT16_MAX)
		return REQ_NO;
	if (is_short || l->n < HEADER_SZ + len)
		return is_short ? REQ_MAYBE : REQ_NO;
	if (l->n <= sz)
		return REQ_IS_REQUEST;
	rest = l->n - sz;
	if (rest < HEADER_SZ)
		return may_be_request(l->p + sz, rest) ? REQ_IS_REQUEST : REQ_NO;
	return is_request(l->p + sz, rest) ? REQ_IS_REQUEST : REQ_NO;
}

static enum req_match match(const struct req_look *l)
{
	if (l->from == REQ_SERVER)
		return REQ_NO;
	if (l->n < HEADER_SZ)
		return !l->cut && (l->by_port || may_be_request(l->p, l->n)) ? REQ_MAYBE : REQ_NO;
	if (!is_request(l->p, l->n))
		return REQ_NO;
	return l->by_port ? REQ_IS_REQUEST : match_named(l);
}

/* ---- requests ---- */

static void take_name(struct reader *f, struct request *r)
{
	size_t n;
	const uint8_t *name = take_string(f, &n);

	if (name && is_printable(name, n))
		req_set_text(r, REQ_RESOURCE, name, n);
}

/* Sets the first topic of a list; others are named by identifiers, or not here. */
static void take_topic(struct reader *f, struct request *r)
{
	if (take_count(f) > 0)
		take_name(f, r);
}

static void read_produce(struct reader *f, struct request *r, uint32_t version)
{
	size_t ignored;
	int32_t acks;

	if (version >= 3)
		take_string(f, &ignored); /* of the transaction */
	acks = take16(f);
	if (!f->in.is_short && !acks)
		r->kind = REQ_KIND_ONEWAY;
	take32(f);
	if (version <= 12)
		take_topic(f, r);
}

static void read_fetch(struct reader *f, struct request *r, uint32_t version)
{
	if (version > 12)
		return;
	take(f, 12); /* replica, time, least bytes */
	if (version >= 3)
		take32(f);
	if (version >= 4)
		take(f, 1);
	if (version >= 7)
		take(f, 8); /* session */
	take_topic(f, r);
}

static void read_metadata(struct reader *f, struct request *r, uint32_t version)
{
	if (version > 12)
		return;
	if (version < 10) {
		take_topic(f, r);
		return;
	}
	if (take_count(f) > 0 && take(f, 16)) /* an identifier, and a name unless that is set */
		take_name(f, r);
}

static void read_body(struct reader *f, struct request *r, uint32_t number, uint32_t version)
{
	const uint32_t flexible_metadata = 9;

	f->flexible = version >= (number == METADATA ? flexible_metadata : apis[number].flexible);
	skip_tagged(f);
	if (number == PRODUCE)
		read_produce(f, r, version);
	else if (number == FETCH)
		read_fetch(f, r, version);
	else
		read_metadata(f, r, version);
	r->truncated = f->in.is_short;
}

static int parse_request(struct sinsp_conn *c, const uint8_t *p, size_t n, uint32_t sz)
{
	const uint32_t number = wire_be16(p + 4), version = wire_be16(p + 6);
	struct reader f = {.in = {.p = p + 12, .n = n - 12}};
	struct request *r;
	size_t ignored;

	if (!is_request(p, n))
		return REQ_LOST;
	r = req_begin(c);
	req_skip(c, REQ_CLIENT, sz - n);
	if (!r)
		return (int)n;
	r->id = (uint64_t)number << 40 | (uint64_t)version << 32 | wire_be32(p + 8);
	req_set_string(r, REQ_METHOD, api_of(number)->name);
	take_string(&f, &ignored);
	if (number == PRODUCE || number == FETCH || number == METADATA)
		read_body(&f, r, number, version);
	if (r->kind == REQ_KIND_ONEWAY)
		req_end(c, r, REQ_CLIENT);
	return (int)n;
}

/* ---- responses ---- */

static const char *const errors[] = {
	NULL,
	"OFFSET_OUT_OF_RANGE",
	"CORRUPT_MESSAGE",
	"UNKNOWN_TOPIC_OR_PARTITION",
	"INVALID_FETCH_SIZE",
	"LEADER_NOT_AVAILABLE",
	"NOT_LEADER_OR_FOLLOWER",
	"REQUEST_TIMED_OUT",
	"BROKER_NOT_AVAILABLE",
	"REPLICA_NOT_AVAILABLE",
	"MESSAGE_TOO_LARGE",
	"STALE_CONTROLLER_EPOCH",
	"OFFSET_METADATA_TOO_LARGE",
	"NETWORK_EXCEPTION",
	"COORDINATOR_LOAD_IN_PROGRESS",
	"COORDINATOR_NOT_AVAILABLE",
	"NOT_COORDINATOR",
	"INVALID_TOPIC_EXCEPTION",
	"RECORD_LIST_TOO_LARGE",
	"NOT_ENOUGH_REPLICAS",
	"NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	"INVALID_REQUIRED_ACKS",
	"ILLEGAL_GENERATION",
	"INCONSISTENT_GROUP_PROTOCOL",
	"INVALID_GROUP_ID",
	"UNKNOWN_MEMBER_ID",
	"INVALID_SESSION_TIMEOUT",
	"REBALANCE_IN_PROGRESS",
	"INVALID_COMMIT_OFFSET_SIZE",
	"TOPIC_AUTHORIZATION_FAILED",
	"GROUP_AUTHORIZATION_FAILED",
	"CLUSTER_AUTHORIZATION_FAILED",
	"INVALID_TIMESTAMP",
	"UNSUPPORTED_SASL_MECHANISM",
	"ILLEGAL_SASL_STATE",
	"UNSUPPORTED_VERSION",
	"TOPIC_ALREADY_EXISTS",
};

static void set_error(struct request *r, int32_t code)
{
	char text[16];

	req_set_status(r, code);
	if (!code)
		return;
	snprintf(text, sizeof(text), "%d", code);
	req_set_string(r, REQ_ERROR,
		       code > 0 && code < (int)(sizeof(errors) / sizeof(errors[0])) ? errors[code]
										    : text);
}

/* Goes to the error of the first topic or partition. Returns 0 if there is none: @code is the error
 * of the session, of which the response has no more. */
static int to_name(struct reader *f, const struct api *a, uint32_t version, int32_t *code)
{
	size_t ignored;

	if (a == &apis[FETCH] && version >= 7) {
		*code = take16(f);
		take32(f); /* number of the session */
	}
	if (take_count(f) < 1 || !take_string(f, &ignored))
		return 0;
	if (a->error == E_TOPIC)
		return 1;
	if (take_count(f) < 1)
		return 0;
	take32(f);
	return 1;
}

/* Goes to the error of the first topic of metadata. Returns 0 if there is none. */
static int to_metadata(struct reader *f, uint32_t version)
{
	int64_t brokers = take_count(f);
	size_t ignored;

	while (brokers-- > 0 && !f->in.is_short) {
		take32(f); /* number */
		take_string(f, &ignored);
		take32(f); /* port */
		if (version >= 1)
			take_string(f, &ignored); /* rack */
		skip_tagged(f);
	}
	if (version >= 2)
		take_string(f, &ignored); /* of the cluster */
	if (version >= 1)
		take32(f); /* controller */
	return take_count(f) > 0;
}

static void read_error(struct request *r, struct reader *f)
{
	const uint32_t version = r->id >> 32 & 0xff;
	const struct api *a = api_of((uint32_t)(r->id >> 40));
	int32_t code = 0;
	int found = 1;

	if (!a || !a->error || version > a->known)
		return;
	f->flexible = version >= a->flexible;
	skip_tagged(f);
	if (version >= a->throttled)
		take32(f);
	if (a->error == E_METADATA)
		found = to_metadata(f, version);
	else if (a->error != E_FIRST)
		found = to_name(f, a, version, &code);
	if (found)
		code = take16(f);
	if (f->in.is_short)
		r->truncated = 1;
	else if (found || code)
		set_error(r, code);
}

static struct request *answered(struct sinsp_conn *c, uint32_t id)
{
	struct request *r = req_first(c);

	while (r && (r->kind == REQ_KIND_ONEWAY || (uint32_t)r->id != id))
		r = req_next(r);
	return r;
}

static int parse_response(struct sinsp_conn *c, const uint8_t *p, size_t n, uint32_t sz,
			  unsigned int flags)
{
	struct reader f = {.in = {.p = p + 8, .n = n - 8}};
	struct request *r = answered(c, wire_be32(p + 4));

	if (!r && flags & REQ_F_SEARCH)
		return REQ_LOST;
	req_answer(c, r);
	if (r) {
		read_error(r, &f);
		req_end(c, r, REQ_SERVER);
	}
	req_skip(c, REQ_SERVER, sz - n);
	return (int)n;
}

static int parse(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		 unsigned int flags)
{
	const size_t header = from == REQ_CLIENT ? HEADER_SZ : 8;
	uint32_t sz;

	if (n < header)
		return flags & REQ_F_CUT ? REQ_LOST : REQ_MORE;
	sz = wire_be32(p);
	if (sz < header - 4 || sz > MESSAGE_MAX)
		return REQ_LOST;
	sz += 4;
	if (n < sz && n < KEPT_MAX && !(flags & REQ_F_CUT))
		return REQ_MORE;
	if (n > sz)
		n = sz;
	return from == REQ_CLIENT ? parse_request(c, p, n, sz) : parse_response(c, p, n, sz, flags);
}

static const uint16_t ports[] = {9092, 9093, 9094, 0};

const struct req_protocol req_kafka = {
	.name = "kafka",
	.ports = ports,
	.streams = 1,
	.open_max = REQ_SEARCHED_MAX,
	.match = match,
	.parse = parse,
	.lost = req_lost,
};
