/* SPDX-License-Identifier: Apache-2.0 */
#include "event/event_table.h"

#include <errno.h>
#include <string.h>

#include "shared/config.h"
#include "testing/test_main.h"

/* Builds events parameter by parameter. */
struct maker {
	uint8_t buf[4096];
	uint8_t *p;
	unsigned int i;
};

static struct ppm_evt_hdr *begin(struct maker *m, unsigned int type, unsigned int n)
{
	struct ppm_evt_hdr *hdr = (struct ppm_evt_hdr *)m->buf;

	memset(m, 0, sizeof(*m));
	*hdr = (struct ppm_evt_hdr){.ts = 1000, .tid = 42, .type = type, .nparams = n};
	m->p = m->buf + sizeof(*hdr) + n * sizeof(uint16_t);
	hdr->len = (uint32_t)(m->p - m->buf);
	return hdr;
}

static void put(struct maker *m, const void *bytes, uint16_t len)
{
	struct ppm_evt_hdr *hdr = (struct ppm_evt_hdr *)m->buf;

	memcpy(m->buf + sizeof(*hdr) + m->i++ * sizeof(len), &len, sizeof(len));
	memcpy(m->p, bytes, len);
	m->p += len;
	hdr->len += len;
}

static void put_num(struct maker *m, int64_t v, uint16_t len)
{
	put(m, &v, len);
}

static int64_t num(const struct scap_params *p, unsigned int i)
{
	int64_t v = 0;

	memcpy(&v, p->v[i].p, p->v[i].len);
	return v;
}

static int project(struct scap_params *out, uint8_t *buf, size_t sz, unsigned int type,
		   unsigned int n, const struct ppm_evt_hdr *src)
{
	int len = scap_evt_project(buf, sz, type, n, src);

	if (len < 0)
		return len;
	assert_int_equal(((struct ppm_evt_hdr *)buf)->len, len);
	assert_int_equal(((struct ppm_evt_hdr *)buf)->type, type);
	assert_int_equal(((struct ppm_evt_hdr *)buf)->tid, src->tid);
	assert_int_equal(scap_evt_params((struct ppm_evt_hdr *)buf, out), 0);
	return len;
}

/* Parameters that only the raw enter of a call that sleeps has: the kernel overwrites the sets of a
 * select, and the exit of accept is about the new socket, not the listening one. */
static int is_of_raw_enters(unsigned int enter_type, const char *param)
{
	switch (enter_type) {
	case EVT_SELECT_E:
	case EVT_PSELECT6_E:
		return !strcmp(param, "fds");
	case EVT_ACCEPT_E:
	case EVT_ACCEPT4_E:
		return !strcmp(param, "listen_fd");
	default:
		return 0;
	}
}

/* Calls that the driver records get their enter from their exit: it must all be there. */
static void test_exits_know_their_enters(void **state)
{
	(void)state;
	for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++) {
		unsigned int x = scap_syscall_exit_type(nr), e = x & ~1u;
		struct scap_projection pr;

		if (!scap_syscall_name(nr, 0))
			continue;
		assert_int_equal(x & 1, 1);
		assert_false(scap_event_info(e)->flags & EF_UNUSED);
		assert_int_equal(scap_projection_init(&pr, e, EVT_MAX_PARAMS, x), 0);
		assert_int_equal(pr.n, scap_event_info(e)->n_params);
		for (unsigned int i = 0; i < pr.n; i++)
			if (pr.v[i].from < 0 &&
			    !is_of_raw_enters(e, scap_event_info(e)->params[i].name))
				fail_msg("%s: the exit has no %s", scap_syscall_name(nr, 0),
					 scap_event_info(e)->params[i].name);
	}
}

static void test_enter_of_exit(void **state)
{
	struct scap_params p;
	struct maker m;
	uint8_t buf[256];

	(void)state;
	begin(&m, EVT_READ_X, 4);
	put_num(&m, 3, 8);
	put(&m, "abc", 3);
	put_num(&m, 5, 8);
	put_num(&m, 100, 4);
	project(&p, buf, sizeof(buf), EVT_READ_E, 0, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(p.n, 2);
	assert_int_equal(num(&p, 0), 5);
	assert_int_equal(num(&p, 1), 100);
}

static void test_oldfd_is_fd(void **state)
{
	struct scap_params p;
	struct maker m;
	uint8_t buf[256];

	(void)state;
	begin(&m, EVT_DUP2_X, 3);
	put_num(&m, 9, 8);
	put_num(&m, 4, 8);
	put_num(&m, 9, 8);
	project(&p, buf, sizeof(buf), EVT_DUP2_E, 0, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(p.n, 1);
	assert_int_equal(num(&p, 0), 4);
	project(&p, buf, sizeof(buf), scap_event_compat_type(EVT_DUP2_X), 0,
		(struct ppm_evt_hdr *)m.buf);
	assert_int_equal(p.n, 1);
	assert_int_equal(num(&p, 0), 9);
}

/* An event projected on its own type with all parameters is itself. */
static void test_identity(void **state)
{
	struct scap_params p;
	struct maker m;
	uint8_t buf[256];

	(void)state;
	begin(&m, EVT_OPEN_X, 6);
	put_num(&m, 3, 8);
	put(&m, "/etc/passwd", 12);
	put_num(&m, 1, 4);
	put_num(&m, 0, 4);
	put_num(&m, 50, 4);
	put_num(&m, 1234, 8);
	assert_int_equal(project(&p, buf, sizeof(buf), EVT_OPEN_X, 0, (struct ppm_evt_hdr *)m.buf),
			 m.p - m.buf);
	assert_memory_equal(buf, m.buf, m.p - m.buf);
	project(&p, buf, sizeof(buf), EVT_OPEN_X, 5, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(p.n, 5);
}

/* Older tools read the parameters of 2022 without looking at the length. */
static void test_what_is_missing_has_its_size(void **state)
{
	struct scap_params p;
	struct maker m;
	uint8_t buf[256];

	(void)state;
	begin(&m, EVT_OPEN_X, 2);
	put_num(&m, -2, 8);
	put(&m, "", 0);
	project(&p, buf, sizeof(buf), EVT_OPEN_X, 0, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(p.n, 6);
	assert_int_equal(p.v[1].len, 1);
	assert_int_equal(p.v[1].p[0], 0);
	assert_int_equal(p.v[4].len, 4);
	assert_int_equal(num(&p, 4), 0);
	assert_int_equal(p.v[5].len, 0); /* behind the prefix empty means unknown */
}

/* No limit was given: other tools read -1, which is what their own driver writes. */
static void test_limits_that_are_not_given(void **state)
{
	struct scap_params p;
	struct maker m;
	uint8_t buf[256];

	(void)state;
	begin(&m, EVT_PRLIMIT_X, 7);
	put_num(&m, 0, 8);
	put(&m, "", 0);
	put(&m, "", 0);
	put_num(&m, 64, 8);
	put_num(&m, -1, 8);
	put(&m, "", 0);
	put_num(&m, 4, 1);
	project(&p, buf, sizeof(buf), EVT_PRLIMIT_X, 0, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(p.v[1].len, 8);
	assert_int_equal(num(&p, 1), -1);
	assert_int_equal(num(&p, 2), -1);
	assert_int_equal(num(&p, 3), 64);
	assert_int_equal(num(&p, 4), -1);
	assert_int_equal(num(&p, 5), 0);
}

static void test_widths_follow_the_sign(void **state)
{
	struct scap_params p;
	struct maker m;
	uint8_t buf[256];

	(void)state;
	begin(&m, EVT_INOTIFY_INIT1_X, 2);
	put_num(&m, -22, 8);
	put_num(&m, 0x1041, 2);
	project(&p, buf, sizeof(buf), EVT_INOTIFY_INIT_E, 0, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(p.v[0].len, 1);
	assert_int_equal(num(&p, 0), 0x41);

	begin(&m, EVT_EVENTFD2_X, 3);
	put_num(&m, 4, 8);
	put_num(&m, 0x8001, 2);
	put_num(&m, 77, 8);
	project(&p, buf, sizeof(buf), EVT_EVENTFD_X, 0, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(num(&p, 1), 77);
	assert_int_equal(p.v[2].len, 4);
	assert_int_equal(num(&p, 2), 0x8001);

	/* listen: the exit's backlog is signed, of the same width */
	begin(&m, EVT_LISTEN_X, 3);
	put_num(&m, 0, 8);
	put_num(&m, 3, 8);
	put_num(&m, -1, 1); /* a hostile file: one byte where four belong */
	project(&p, buf, sizeof(buf), EVT_LISTEN_E, 0, (struct ppm_evt_hdr *)m.buf);
	assert_int_equal(num(&p, 1), UINT32_MAX);
}

static void test_refusals(void **state)
{
	struct maker m;
	uint8_t buf[256];
	struct ppm_evt_hdr *hdr = begin(&m, EVT_OPEN_X, 1);

	(void)state;
	put_num(&m, 3, 8);
	for (size_t sz = 0; sz < 60; sz++)
		assert_int_equal(scap_evt_project(buf, sz, EVT_OPEN_X, 0, hdr), -ENOSPC);
	assert_int_equal(scap_evt_project(buf, sizeof(buf), EVT_PUBLIC_MAX, 0, hdr), -EINVAL);
	hdr->len--;
	assert_int_equal(scap_evt_project(buf, sizeof(buf), EVT_OPEN_X, 0, hdr), -EBADMSG);
}

static void test_compat_types(void **state)
{
	(void)state;
	assert_int_equal(scap_event_compat_type(EVT_OPENAT2_X), EVT_OPENAT2_X);
	assert_int_equal(scap_event_compat_type(EVT_PIPE2_E), EVT_PIPE_E);
	assert_int_equal(scap_event_compat_type(EVT_ACCEPT4_X), EVT_ACCEPT4_248_X);
	assert_int_equal(scap_event_compat_type(EVT_UMOUNT2_X), EVT_UMOUNT_X);
	assert_int_equal(scap_event_compat_type(EVT_MEMFD_CREATE_X), EVT_SYSCALL_X);
	assert_int_equal(scap_event_compat_type(EVT_MEMFD_CREATE_E), EVT_SYSCALL_E);
	assert_int_equal(scap_event_compat_type(EVT_KEYCTL_X), EVT_SYSCALL_X);
	/* no system call, so no generic one either */
	assert_int_equal(scap_event_compat_type(EVT_USERADDED_E), EVT_USERADDED_E);
	assert_int_equal(scap_event_compat_type(EVT_PRIVATE), EVT_PRIVATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exits_know_their_enters),
		cmocka_unit_test(test_enter_of_exit),
		cmocka_unit_test(test_oldfd_is_fd),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_what_is_missing_has_its_size),
		cmocka_unit_test(test_limits_that_are_not_given),
		cmocka_unit_test(test_widths_follow_the_sign),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_compat_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
