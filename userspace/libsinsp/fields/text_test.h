/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of text: a machine with two processes and every kind of file, and events made
 * of literal bytes. Expected texts in the tests were printed by sysdig 0.29.3 from a
 * capture with this state and these bytes.
 */
#ifndef SINSP_FIELDS_TEXT_TEST_H
#define SINSP_FIELDS_TEXT_TEST_H

#include <stdlib.h>

#include "testing/engine_fake.h"
#include "testing/test_main.h"
#include "thread.h"
#include "value.h"

#define FIXTURE_TID 1234
#define FIXTURE_TS 1700000000123456789 /* 2023-11-14 22:13:20 UTC */

/* One parameter: bytes and how many. */
#define RAW(T, ...)                                                                                \
	{                                                                                          \
		(const uint8_t *)&(const T){__VA_ARGS__}, sizeof(T)                                \
	}
#define U8(v) RAW(uint8_t, v)
#define U16(v) RAW(uint16_t, v)
#define U32(v) RAW(uint32_t, v)
#define U64(v) RAW(uint64_t, v)
#define I64(v) RAW(int64_t, v)
#define TEXT(s)                                                                                    \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s)                                                    \
	}
#define BYTES(s)                                                                                   \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}

struct fixture {
	struct sinsp *s;
	struct sinsp_text text;
};

static inline void fixture_fd(struct scap_state_build *b, const struct scap_fd_info *fd)
{
	assert_int_equal(scap_state_build_fd(b, FIXTURE_TID, fd), 0);
}

static inline void fixture_fds(struct scap_state_build *b)
{
	static const struct scap_fd_info fds[] = {
		{.fd = 0, .type = SCAP_FD_FILE, .name = "/dev/pts/0"},
		{.fd = 3, .type = SCAP_FD_FILE_V2, .name = "/etc/passwd"},
		{.fd = 4,
		 .type = SCAP_FD_IPV4_SOCK,
		 .l4proto = SCAP_L4_TCP,
		 .sip = {10, 0, 0, 1},
		 .sport = 40000,
		 .dip = {10, 0, 0, 2},
		 .dport = 80},
		{.fd = 5, .type = SCAP_FD_DIRECTORY, .name = "/var/lib"},
		{.fd = 6, .type = SCAP_FD_FIFO, .name = "pipe:[77]"},
		{.fd = 7,
		 .type = SCAP_FD_UNIX_SOCK,
		 .unix_src = 0xabc,
		 .unix_dst = 0xdef,
		 .name = "/run/x"},
		{.fd = 8,
		 .type = SCAP_FD_IPV6_SERVSOCK,
		 .l4proto = SCAP_L4_UDP,
		 .sip = {[15] = 1},
		 .sport = 8080},
		{.fd = 9, .type = SCAP_FD_EVENTPOLL, .name = ""},
		{.fd = 12, .type = SCAP_FD_EVENT, .name = ""},
		{.fd = 13, .type = SCAP_FD_SIGNALFD, .name = ""},
		{.fd = 14, .type = SCAP_FD_INOTIFY, .name = ""},
		{.fd = 15, .type = SCAP_FD_TIMERFD, .name = ""},
		{.fd = 16, .type = SCAP_FD_NETLINK, .name = ""},
		{.fd = 17, .type = SCAP_FD_UNSUPPORTED, .name = ""},
		{.fd = 18,
		 .type = SCAP_FD_FILE_V2,
		 .name = "/a\x1b"
			 "b\xc3\xa9"
			 "c"},
		{.fd = 19, .type = SCAP_FD_FILE_V2, .name = ""},
	};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fixture_fd(b, &fds[i]);
}

static inline void fixture_state(struct scap_state_build *b)
{
	static const struct scap_thread_info threads[] = {
		{.tid = 1, .pid = 1, .vtid = 1, .vpid = 1, .comm = "systemd", .cwd = "/"},
		{.tid = FIXTURE_TID,
		 .pid = FIXTURE_TID,
		 .ptid = 1,
		 .vtid = FIXTURE_TID,
		 .vpid = FIXTURE_TID,
		 .comm = "cat",
		 .exe = "/bin/cat",
		 .cwd = "/home/x/"},
	};

	for (size_t i = 0; i < 2; i++)
		assert_int_equal(scap_state_build_thread(b, &threads[i]), 0);
	scap_state_build_user(b, &(struct scap_user){.uid = 0, .name = "root"});
	scap_state_build_user(b, &(struct scap_user){.uid = 1000, .name = "al\x01ice"});
	scap_state_build_group(b, &(struct scap_group){.gid = 0, .name = "root"});
	scap_state_build_group(b, &(struct scap_group){.gid = 1000, .name = "users"});
	fixture_fds(b);
}

/* The first event imports the state; the others, for fixture_make_native, are as in captures of
 * saker. */
static inline int fixture_open(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct scap_fake *fake = scap_fake_new();
	struct sinsp_evt evt;
	struct scap *src;

	assert_non_null(f);
	assert_non_null(fake);
	fixture_state(scap_fake_state(fake));
	assert_int_equal(scap_fake_add(fake, FIXTURE_TS - 1000000000, 0, 1, EVT_GETUID_E, 0), 0);
	assert_int_equal(scap_fake_add_call(fake, FIXTURE_TS, FIXTURE_TS + 1, 0, 1, EVT_GETUID_X, 1,
					    (uint64_t)0),
			 0);
	assert_int_equal(scap_fake_open(&src, fake), 0);
	assert_int_equal(sinsp_open(&f->s, src, NULL), 0);
	assert_int_equal(sinsp_next(f->s, &evt, 0), 1);
	*state = f;
	return 0;
}

static inline void fixture_make_native(struct fixture *f)
{
	struct sinsp_evt evt;

	while (sinsp_next(f->s, &evt, 0) == 1)
		;
}

static inline int fixture_close(void **state)
{
	struct fixture *f = *state;

	sinsp_close(f->s);
	free(f->text.p);
	free(f);
	return 0;
}

/* Makes an event of the fixture's thread, with the header in @hdr. */
static inline struct sinsp_evt fixture_evt(struct fixture *f, struct ppm_evt_hdr *hdr,
					   unsigned int type, const struct scap_param *params,
					   unsigned int n)
{
	struct sinsp_evt evt = {
		.raw = {.hdr = hdr,
			.num = 7,
			.ts_ns = FIXTURE_TS,
			.true_ns = FIXTURE_TS,
			.cpu = 1,
			.type = (uint16_t)type,
			.nr = REC_NR_NONE},
		.insp = f->s,
		.info = scap_event_info(type),
		.thread = sinsp_thread_find(f->s, FIXTURE_TID),
		.fdnum = -1,
	};

	*hdr = (struct ppm_evt_hdr){.tid = FIXTURE_TID, .type = (uint16_t)type, .nparams = n};
	evt.params.n = n;
	for (unsigned int i = 0; i < n; i++)
		evt.params.v[i] = params[i];
	return evt;
}

/* Returns the text so far, with a NUL, and empties it. */
static inline const char *fixture_take(struct fixture *f)
{
	char *p = text_begin(&f->text, 1);

	assert_non_null(p);
	*p = 0;
	f->text.len = 0;
	return f->text.p;
}

#endif /* SINSP_FIELDS_TEXT_TEST_H */
