/* SPDX-License-Identifier: Apache-2.0 */
#include "event/event_table.h"

#include <errno.h>
#include <string.h>

#include "shared/config.h"
#include "testing/test_main.h"

struct walk {
	int64_t last_id;
	unsigned int n;
};

static void check_row(void *ctx, const struct scap_event_info *info)
{
	struct walk *w = ctx;
	int own_seen = 0;

	assert_true((int64_t)info->id > w->last_id);
	assert_ptr_equal(scap_event_info(info->id), info);
	assert_true(info->n_2022 <= info->n_public);
	assert_true(info->n_public <= info->n_params);
	assert_true(info->n_params <= EVT_MAX_PARAMS);
	for (unsigned int i = 0; i < info->n_params; i++) {
		const struct scap_param_info *p = &info->params[i];

		assert_non_null(p->name);
		assert_true(p->type > PT_NONE && p->type < PT_MAX);
		/* Parameters that compatible files leave out are at the end. */
		assert_true(p->own >= own_seen);
		own_seen = p->own;
		if (p->type == PT_FSRELPATH)
			assert_int_equal(info->params[p->dirfd].type, PT_FD);
		else
			assert_int_equal(p->dirfd, -1);
	}
	w->last_id = info->id;
	w->n++;
}

static void test_ids_ascend_and_rows_agree(void **state)
{
	struct walk w = {.last_id = -1};

	(void)state;
	scap_event_each(check_row, &w);
	assert_true(w.n >= EVT_PUBLIC_MAX);
	assert_null(scap_event_info(EVT_PUBLIC_MAX));
	assert_null(scap_event_info(EVT_PRIVATE - 1));
	assert_null(scap_event_info(UINT16_MAX));
}

/* A call has one name, whichever side of it one looks at. */
static void test_pairs_share_their_name(void **state)
{
	(void)state;
	for (unsigned int t = 0; t < EVT_PUBLIC_MAX; t += 2) {
		const struct scap_event_info *e = scap_event_info(t), *x = scap_event_info(t + 1);

		if (!(e->flags & EF_UNUSED) && !(x->flags & EF_UNUSED))
			assert_string_equal(e->name, x->name);
	}
}

static void expect_row(unsigned int id, const char *name, unsigned int n_2022,
		       unsigned int n_public)
{
	const struct scap_event_info *info = scap_event_info(id);

	assert_string_equal(info->name, name);
	assert_int_equal(info->n_2022, n_2022);
	assert_int_equal(info->n_public, n_public);
}

/* Copied by hand from the tables of sysdig 0.29.3 and of Falco's libs. */
static void test_known_rows(void **state)
{
	(void)state;
	expect_row(3, "open", 5, 6);
	expect_row(7, "read", 2, 4);
	expect_row(186, "procexit", 4, 5);
	expect_row(223, "clone", 20, 21);
	expect_row(293, "execve", 20, 31);
	expect_row(307, "openat", 6, 7);
	expect_row(331, "execveat", 20, 30);
	expect_row(389, "accept4", 6, 6);
	expect_row(453, "keyctl", 6, 6);
	assert_string_equal(scap_event_info(3)->params[1].name, "name");
	assert_int_equal(scap_event_info(3)->params[2].type, PT_FLAGS32);
	assert_string_equal(scap_event_info(322)->params[0].name, "plugin ID");
	assert_int_equal(scap_event_info(307)->params[2].dirfd, 1);
}

static void test_flag_tables_end(void **state)
{
	const struct scap_flag_name *f = scap_event_info(EVT_OPEN_X)->params[2].flags;
	unsigned int n = 0;

	(void)state;
	for (; f->name; f++)
		n++;
	assert_true(n > 10 && n < 64);
}

static void test_syscalls(void **state)
{
	(void)state;
	assert_string_equal(scap_syscall_name(0, 0), "read");
	assert_string_equal(scap_syscall_name(0, 1), "restart_syscall");
	assert_string_equal(scap_syscall_name(257, 0), "openat");
	assert_null(scap_syscall_name(DRV_MAX_NR, 0));
	assert_null(scap_syscall_name(UINT32_MAX, 1));
	assert_int_equal(scap_syscall_exit_type(257), EVT_OPENAT_X);
	assert_int_equal(scap_syscall_exit_type(39), EVT_SYSCALL_X);
	assert_int_equal(scap_syscall_exit_type(UINT32_MAX), EVT_SYSCALL_X);
	assert_int_equal(scap_event_nr(EVT_OPENAT_X), 257);
	assert_int_equal(scap_event_nr(EVT_OPENAT_E), 257);
	assert_int_equal(scap_event_nr(EVT_SYSCALL_X), REC_NR_NONE);
	assert_int_equal(scap_event_nr(EVT_SWITCH_E), REC_NR_NONE);
}

static void test_ppm_sc(void **state)
{
	(void)state;
	assert_int_equal(scap_syscall_ppm_sc("open"), 5);
	assert_int_equal(scap_syscall_ppm_sc("no such call"), 0);
	assert_int_equal(scap_syscall_ppm_sc(NULL), 0);
	assert_string_equal(scap_ppm_sc_name(5), "open");
	assert_null(scap_ppm_sc_name(UINT32_MAX));
}

/* read() = 3 with data "abc", as it is on disk. */
struct read_event {
	struct ppm_evt_hdr hdr;
	uint16_t lens[4];
	int64_t res;
	char data[3];
	int64_t fd;
	uint32_t size;
} __attribute__((packed));

static struct read_event a_read(void)
{
	return (struct read_event){
		.hdr = {.ts = 7,
			.tid = 42,
			.len = sizeof(struct read_event),
			.type = EVT_READ_X,
			.nparams = 4},
		.lens = {8, 3, 8, 4},
		.res = 3,
		.data = {'a', 'b', 'c'},
		.fd = 5,
		.size = 100,
	};
}

static void test_params(void **state)
{
	struct read_event e = a_read();
	struct scap_params p;

	(void)state;
	assert_int_equal(scap_evt_params(&e.hdr, &p), 0);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.v[1].len, 3);
	assert_memory_equal(p.v[1].p, "abc", 3);
	assert_ptr_equal(p.v[3].p, &e.size);
}

static void test_malformed_events_are_refused(void **state)
{
	struct read_event e = a_read();
	struct scap_params p;

	(void)state;
	e.lens[2] = 9 + sizeof(e.size);
	assert_int_equal(scap_evt_params(&e.hdr, &p), -EBADMSG);
	assert_int_equal(p.n, 2);

	e = a_read();
	e.hdr.len = sizeof(e.hdr) + 7;
	assert_int_equal(scap_evt_params(&e.hdr, &p), -EBADMSG);
	assert_int_equal(p.n, 0);

	e = a_read();
	e.hdr.nparams = UINT32_MAX;
	assert_int_equal(scap_evt_params(&e.hdr, &p), -EBADMSG);

	e = a_read();
	e.hdr.len = 3;
	assert_int_equal(scap_evt_params(&e.hdr, &p), -EBADMSG);
}

static void test_long_lengths(void **state)
{
	struct {
		struct ppm_evt_hdr hdr;
		uint32_t len;
		char json[3];
	} __attribute__((packed))
	e = {{.len = sizeof(e), .type = EVT_CONTAINER_E, .nparams = 1}, 3, {'{', '}', 0}};
	struct scap_params p;

	(void)state;
	assert_int_equal(scap_evt_len_sz(EVT_CONTAINER_E), 4);
	assert_int_equal(scap_evt_len_sz(EVT_READ_X), 2);
	assert_int_equal(scap_evt_params(&e.hdr, &p), 0);
	assert_string_equal((const char *)p.v[0].p, "{}");
	e.len = UINT32_MAX;
	assert_int_equal(scap_evt_params(&e.hdr, &p), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_ascend_and_rows_agree),
		cmocka_unit_test(test_pairs_share_their_name),
		cmocka_unit_test(test_known_rows),
		cmocka_unit_test(test_flag_tables_end),
		cmocka_unit_test(test_syscalls),
		cmocka_unit_test(test_ppm_sc),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_malformed_events_are_refused),
		cmocka_unit_test(test_long_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
