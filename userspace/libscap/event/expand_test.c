/* SPDX-License-Identifier: Apache-2.0 */
#include "event/expand.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/un.h>

#include "testing/test_main.h"

/* A record under construction. */
struct rec {
	union {
		struct rec_hdr hdr;
		uint8_t bytes[8192];
	};
	uint8_t *p;
	unsigned int i;
};

static void begin(struct rec *r, uint16_t flags, uint16_t nr, unsigned int type, unsigned int n)
{
	memset(r, 0, sizeof(*r));
	r->hdr.flags = flags;
	r->hdr.nr = nr;
	r->hdr.evt = (struct ppm_evt_hdr){.ts = 900, .tid = 42, .type = type, .nparams = n};
	r->p = r->bytes + sizeof(r->hdr) + n * sizeof(uint16_t);
}

static void put(struct rec *r, const void *bytes, uint16_t len)
{
	memcpy(r->bytes + sizeof(r->hdr) + r->i++ * sizeof(len), &len, sizeof(len));
	memcpy(r->p, bytes, len);
	r->p += len;
	r->hdr.evt.len = (uint32_t)(r->p - r->bytes - offsetof(struct rec_hdr, evt));
	r->hdr.len = (uint32_t)(r->p - r->bytes);
}

static void put_num(struct rec *r, int64_t v, uint16_t len)
{
	put(r, &v, len);
}

/* The type is what the driver writes: enters_test compares the two for each number. */
static void begin_raw(struct rec *r, uint16_t flags, uint16_t nr, const uint64_t args[6],
		      const void *pointed, uint16_t len)
{
	begin(r, REC_F_RAW_ENTER | flags, nr, scap_syscall_exit_type(nr) & ~1u, pointed ? 7 : 6);
	for (int i = 0; i < 6; i++)
		put_num(r, (int64_t)args[i], 8);
	if (pointed)
		put(r, pointed, len);
}

struct result {
	struct scap_evt evt;
	struct scap_params p;
};

static void enter(struct result *res, struct scap_expand *x, const struct rec *r)
{
	assert_int_equal(scap_expand_enter(x, &res->evt, NULL, &r->hdr), 0);
	assert_int_equal(scap_evt_params(res->evt.hdr, &res->p), 0);
	assert_int_equal(res->evt.type, res->evt.hdr->type);
}

static int64_t num(const struct result *res, unsigned int i)
{
	int64_t v = 0;

	assert_true(res->p.v[i].len <= sizeof(v));
	memcpy(&v, res->p.v[i].p, res->p.v[i].len);
	return v;
}

static int setup(void **state)
{
	*state = scap_expand_new();
	return !*state;
}

static int teardown(void **state)
{
	scap_expand_free(*state);
	return 0;
}

static void test_finished_call(void **state)
{
	struct result res;
	struct rec r;

	begin(&r, 0, 0, EVT_READ_X, 4);
	put_num(&r, 3, 8);
	put(&r, "abc", 3);
	put_num(&r, 5, 8);
	put_num(&r, 80, 4);
	assert_int_equal(scap_rec_has_enter(&r.hdr), 0); /* enter_ns is 0: not known */
	r.hdr.enter_ns = 100;
	assert_int_equal(scap_rec_has_enter(&r.hdr), 1);

	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_READ_E);
	assert_int_equal(res.evt.flags, SCAP_EVT_F_HIDDEN);
	assert_int_equal(res.evt.hdr->ts, 100);
	assert_int_equal(num(&res, 0), 5);
	assert_int_equal(num(&res, 1), 80);

	assert_int_equal(scap_expand_exit(&res.evt, NULL, &r.hdr), 0);
	assert_ptr_equal(res.evt.hdr, &r.hdr.evt);
	assert_int_equal(res.evt.flags, SCAP_EVT_F_FULL);
	assert_int_equal(res.evt.nr, 0);

	r.hdr.flags = REC_F_ENTER_SENT;
	assert_int_equal(scap_rec_has_enter(&r.hdr), 0);
}

/* Two parameters have the name "flags": those of the enter use its own table. */
static void test_flags_of_the_right_table(void **state)
{
	const struct scap_event_info *x = scap_event_info(EVT_EXECVEAT_X);
	struct result res;
	struct rec r;

	begin(&r, 0, 322, EVT_EXECVEAT_X, x->n_params);
	for (unsigned int i = 0; i < x->n_params; i++)
		put_num(&r, i, scap_param_size(x->params[i].type));
	r.hdr.enter_ns = 100;
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_EXECVEAT_E);
	assert_int_equal(num(&res, 0), x->n_params - 4); /* dirfd, pathname, flags, raw_flags */
	assert_int_equal(num(&res, 2), x->n_params - 2);
}

static void test_no_call(void **state)
{
	struct scap_evt evt;
	struct rec r;

	(void)state;
	begin(&r, 0, REC_NR_NONE, EVT_SWITCH_E, 1);
	put_num(&r, 17, 8);
	assert_int_equal(scap_rec_has_enter(&r.hdr), 0);
	assert_int_equal(scap_expand_exit(&evt, NULL, &r.hdr), 0);
	assert_int_equal(evt.flags, 0);
	assert_int_equal(evt.nr, REC_NR_NONE);
}

static void test_raw_numbers(void **state)
{
	const uint64_t args[6] = {(uint32_t)-100, 0x1000, 4096, 0, 0, 0};
	struct result res;
	struct rec r;

	begin_raw(&r, REC_F_BLOCKED, 0, args, NULL, 0);
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_READ_E);
	assert_int_equal(res.evt.flags, SCAP_EVT_F_BLOCKED);
	assert_int_equal(num(&res, 0), -100);
	assert_int_equal(num(&res, 1), 4096);

	begin_raw(&r, 0, 0, args, NULL, 0);
	enter(&res, *state, &r);
	assert_int_equal(res.evt.flags, SCAP_EVT_F_HIDDEN); /* merely preempted */
}

static void test_raw_path(void **state)
{
	/* openat(AT_FDCWD, "x", O_WRONLY | O_CREAT, 0644) */
	const uint64_t args[6] = {(uint32_t)-100, 0x1000, 1 | 0x40, 0644, 0, 0};
	struct result res;
	struct rec r;

	begin_raw(&r, REC_F_BLOCKED, 257, args, "x", 2);
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_OPENAT_E);
	assert_int_equal(num(&res, 0), -100);
	assert_string_equal((const char *)res.p.v[1].p, "x");
	assert_int_equal(num(&res, 2), 2 | 4); /* PPM_O_WRONLY, PPM_O_CREAT */
	assert_int_equal(num(&res, 3), 0644);

	begin_raw(&r, REC_F_BLOCKED, 257, args, NULL, 0); /* the path could not be read */
	enter(&res, *state, &r);
	assert_string_equal((const char *)res.p.v[1].p, "(NULL)");
}

static void test_raw_path_of_exec(void **state)
{
	const uint64_t args[6] = {0x1000};
	struct result res;
	struct rec r;

	begin_raw(&r, 0, 59, args, NULL, 0);
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_EXECVE_E);
	assert_string_equal((const char *)res.p.v[0].p, "<NA>");
}

static void test_raw_number_behind_a_pointer(void **state)
{
	const uint64_t args[6] = {0x1000, 0, 0, 0, 0, 0};
	const uint64_t ns = 1500000000;
	struct result res;
	struct rec r;

	begin_raw(&r, REC_F_BLOCKED, 35, args, &ns, sizeof(ns));
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_NANOSLEEP_E);
	assert_int_equal(num(&res, 0), 1500000000);
}

static void test_raw_fd_is_oldfd(void **state)
{
	const uint64_t args[6] = {7, 8, 0, 0, 0, 0};
	struct result res;
	struct rec r;

	begin_raw(&r, 0, 33, args, NULL, 0);
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_DUP2_E);
	assert_int_equal(num(&res, 0), 7);
}

static void test_raw_sockaddr(void **state)
{
	const uint64_t args[6] = {3, 0x1000, 0, 0, 0, 0};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/s"};
	struct result res;
	struct rec r;

	inet_pton(AF_INET, "10.0.0.1", &in.sin_addr);
	begin_raw(&r, REC_F_BLOCKED, 42, args, &in, sizeof(in));
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_CONNECT_E);
	assert_int_equal(num(&res, 0), 3);
	assert_int_equal(res.p.v[1].len, 7);
	assert_memory_equal(res.p.v[1].p, "\x02\x0a\x00\x00\x01\x50\x00", 7);

	in6.sin6_addr.s6_addr[15] = 1;
	begin_raw(&r, REC_F_BLOCKED, 42, args, &in6, sizeof(in6));
	enter(&res, *state, &r);
	assert_int_equal(res.p.v[1].len, 19);
	assert_int_equal(res.p.v[1].p[0], AF_INET6);
	assert_int_equal(res.p.v[1].p[16], 1);
	assert_memory_equal(res.p.v[1].p + 17, "\xbb\x01", 2);

	begin_raw(&r, REC_F_BLOCKED, 42, args, &un, 2 + sizeof("/run/s"));
	enter(&res, *state, &r);
	assert_int_equal(res.p.v[1].len, 1 + sizeof("/run/s"));
	assert_string_equal((const char *)res.p.v[1].p + 1, "/run/s");

	memcpy(un.sun_path, "\0abstract", 9);
	begin_raw(&r, REC_F_BLOCKED, 42, args, &un, 2 + 9);
	enter(&res, *state, &r);
	assert_string_equal((const char *)res.p.v[1].p + 1, "@abstract");
	begin_raw(&r, REC_F_BLOCKED, 42, args, &un, 2); /* no name at all */
	enter(&res, *state, &r);
	assert_int_equal(res.p.v[1].len, 2);

	/* cut, longer than any, and of a family that the format does not have */
	begin_raw(&r, REC_F_BLOCKED, 42, args, &in, 5);
	enter(&res, *state, &r);
	assert_int_equal(res.p.v[1].len, 0);
	memset(un.sun_path, 'a', sizeof(un.sun_path));
	begin_raw(&r, REC_F_BLOCKED, 42, args, &un, sizeof(un));
	enter(&res, *state, &r);
	assert_int_equal(res.p.v[1].p[res.p.v[1].len - 1], '\0');
	in.sin_family = AF_APPLETALK;
	begin_raw(&r, REC_F_BLOCKED, 42, args, &in, sizeof(in));
	enter(&res, *state, &r);
	assert_int_equal(res.p.v[1].len, 0);
}

static void test_raw_pollfds(void **state)
{
	const struct pollfd fds[2] = {{.fd = 4, .events = POLLIN}, {.fd = -1, .events = POLLOUT}};
	const uint64_t args[6] = {0x1000, 2, (uint32_t)-1, 0, 0, 0};
	struct result res;
	struct rec r;

	begin_raw(&r, REC_F_BLOCKED, 7, args, fds, sizeof(fds));
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_POLL_E);
	assert_int_equal(res.p.v[0].len, 2 + 2 * 10);
	assert_memory_equal(res.p.v[0].p, "\2\0\4\0\0\0\0\0\0\0\1\0\377\377", 14);
	assert_int_equal(num(&res, 1), -1);
}

static void test_raw_several_pointers(void **state)
{
	const struct pollfd fd = {.fd = 4, .events = POLLIN};
	const uint64_t ns = 20, mask = 0x200;
	struct result res;
	struct rec r;

	begin(&r, REC_F_RAW_ENTER | REC_F_BLOCKED, 271, EVT_PPOLL_E, 9);
	for (int i = 0; i < 6; i++)
		put_num(&r, i == 1, 8);
	put(&r, &fd, sizeof(fd));
	put(&r, &ns, sizeof(ns));
	put(&r, &mask, sizeof(mask));
	enter(&res, *state, &r);
	assert_int_equal(res.p.v[0].len, 2 + 10);
	assert_int_equal(num(&res, 1), 20);
	assert_int_equal(num(&res, 2), 0x200);
}

static void test_raw_generic(void **state)
{
	const uint64_t args[6] = {0};
	struct result res;
	struct rec r;

	begin_raw(&r, REC_F_BLOCKED, 34, args, NULL, 0);
	enter(&res, *state, &r);
	assert_int_equal(res.evt.type, EVT_SYSCALL_E);
	assert_string_equal(scap_ppm_sc_name(num(&res, 0)), "pause");
	assert_int_equal(num(&res, 1), 34);

	/* the same number is another call in 32 bits */
	begin_raw(&r, REC_F_BLOCKED | REC_F_IA32, 34, args, NULL, 0);
	r.hdr.evt.type = EVT_SYSCALL_E;
	enter(&res, *state, &r);
	assert_string_equal(scap_ppm_sc_name(num(&res, 0)), "nice");
	assert_true(res.evt.flags & SCAP_EVT_F_IA32);
}

/* Every call can be preempted, so every row must give a well-formed enter. */
static void test_all_calls_raw(void **state)
{
	const uint64_t args[6] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
	static const uint8_t bytes[64] = {1, 2, 3};
	struct result res;
	struct rec r;

	for (uint16_t nr = 0; nr < 512; nr++)
		for (uint16_t len = 0; len <= sizeof(bytes); len += 8) {
			begin_raw(&r, 0, nr, args, len ? bytes : NULL, len);
			enter(&res, *state, &r);
			assert_int_equal(res.p.n, scap_event_info(res.evt.type)->n_params);
		}
}

static void test_malformed(void **state)
{
	const uint64_t args[6] = {0};
	struct scap_evt evt;
	struct rec r;

	begin_raw(&r, 0, 0, args, NULL, 0);
	r.hdr.evt.nparams = 5;
	assert_int_equal(scap_expand_enter(*state, &evt, NULL, &r.hdr), -EBADMSG);
	begin_raw(&r, 0, 0, args, NULL, 0);
	r.hdr.evt.len = r.hdr.len; /* as long as the record with its header */
	assert_int_equal(scap_expand_enter(*state, &evt, NULL, &r.hdr), -EBADMSG);
	assert_int_equal(scap_expand_exit(&evt, NULL, &r.hdr), -EBADMSG);
	begin(&r, 0, 0, EVT_PRIVATE + 1, 0);
	put_num(&r, 0, 0);
	r.hdr.enter_ns = 1;
	assert_int_equal(scap_expand_enter(*state, &evt, NULL, &r.hdr), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finished_call),
		cmocka_unit_test(test_flags_of_the_right_table),
		cmocka_unit_test(test_no_call),
		cmocka_unit_test(test_raw_numbers),
		cmocka_unit_test(test_raw_path),
		cmocka_unit_test(test_raw_path_of_exec),
		cmocka_unit_test(test_raw_number_behind_a_pointer),
		cmocka_unit_test(test_raw_fd_is_oldfd),
		cmocka_unit_test(test_raw_sockaddr),
		cmocka_unit_test(test_raw_pollfds),
		cmocka_unit_test(test_raw_several_pointers),
		cmocka_unit_test(test_raw_generic),
		cmocka_unit_test(test_all_calls_raw),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
