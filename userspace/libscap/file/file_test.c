/* SPDX-License-Identifier: Apache-2.0 */
/* Capture files: what is written is read back to the byte, and so is what others wrote. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file_testing.h"
#include "testing/test_main.h"

static void assert_list_read(const struct list *l, const char *path)
{
	static struct list got;

	assert_int_equal(read_path(&got, path), -ENODATA);
	assert_int_equal(got.n, l->n);
	for (size_t i = 0; i < l->n; i++)
		assert_same(&got.v[i], &l->v[i]);
	list_fini(&got);
}

static void put_event_of(void *ctx, const struct scap_event_info *info)
{
	struct list *l = ctx;
	uint32_t lens[EVT_MAX_PARAMS];
	unsigned int n_of[] = {info->n_params, info->n_public, info->n_2022};

	/* How others lie in the file. */
	if (info->id == EVT_DENSE_E)
		return;
	for (unsigned int i = 0; i < info->n_params; i++) {
		lens[i] = scap_param_size(info->params[i].type);
		if (!lens[i])
			lens[i] = 1 + (i * 5 + info->id) % 23;
	}
	for (unsigned int i = 0; i < 3; i++) {
		struct scap_evt *evt = put_event(l, info->id, n_of[i], lens);

		/* Alternates between saker's own flags, others, and none. */
		if (i == 0)
			event_block_defaults(evt->hdr, EVT_DEFAULTS_SAKER, &evt->flags, &evt->nr);
		else if (i == 1 && !evt_is_private(info->id))
			evt->nr = info->id % 300;
	}
}

/* Writes every event of the table in full, as other tools have it, and as in 2022. */
static void test_every_event(void **state)
{
	static struct list l;

	(void)state;
	scap_event_each(put_event_of, &l);
	assert_true(l.n > 1000);
	for (enum scap_compress c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_ZSTD; c++) {
		write_list(&l, path_of("every"), c);
		assert_list_read(&l, path_of("every"));
		hear_anew();
		assert_int_equal(scap_verify(path_of("every"), hear, NULL), 0);
		assert_int_equal(said.n_errors, 0);
	}
	list_fini(&l);
}

/* The view of other tools: types and parameters of 2022 only. */
static void test_file_is_compatible(void **state)
{
	static struct list l;
	struct bytes b = {0};
	size_t n = 0, n_public = 0;

	(void)state;
	scap_event_each(put_event_of, &l);
	for (size_t i = 0; i < l.n; i++)
		n_public += !evt_is_private(l.v[i].type);
	write_list(&l, path_of("compat"), SCAP_COMPRESS_NONE);
	load(&b, path_of("compat"));
	for (size_t at = 0; at < b.n; at += get_u32(b.p + at + 4)) {
		const struct ppm_evt_hdr *evt = (const void *)(b.p + at + 10);
		const struct scap_event_info *info;

		if (get_u32(b.p + at) != BLK_EV_V2 && get_u32(b.p + at) != BLK_EV_V2_LARGE)
			continue;
		n++;
		info = scap_event_info(evt->type);
		assert_non_null(info);
		assert_true(evt->nparams <= info->n_public);
		assert_int_equal(evt->type, scap_event_compat_type(evt->type));
		if (evt->type <= EVT_SYSCALL_X && evt->nparams)
			assert_true(get_u16((uint8_t *)(evt + 1) + 2 * evt->nparams) <= 328);
	}
	assert_int_equal(n, n_public);
	list_fini(&l);
	free(b.p);
}

static void test_flags_and_times(void **state)
{
	static struct list l;
	const uint32_t two[] = {8, 8}, open[] = {8, 6, 4, 4, 4, 8}, none[] = {8, 0, 0, 0, 0, 0};
	struct scap_evt *e;

	(void)state;
	put_event(&l, EVT_CLOSE_E, 1, two)->flags = SCAP_EVT_F_HIDDEN;
	put_event(&l, EVT_CLOSE_E, 1, two)->flags = SCAP_EVT_F_BLOCKED;
	put_event(&l, EVT_CLOSE_X, 2, two)->flags = SCAP_EVT_F_FULL;
	e = put_event(&l, EVT_CLOSE_X, 2, two);
	e->flags = SCAP_EVT_F_FULL | SCAP_EVT_F_IA32;
	e->nr = 6;
	e = put_event(&l, EVT_OPEN_X, 6, open);
	e->flags = SCAP_EVT_F_CLAMPED | SCAP_EVT_F_FULL;
	e->true_ns = e->ts_ns - 12345;
	put_event(&l, EVT_OPEN_X, 6, none)->flags = SCAP_EVT_F_STATE_ONLY | SCAP_EVT_F_FULL;
	put_event(&l, EVT_PRIVATE + 7, 2, two);
	put_event(&l, EVT_PRIVATE, 0, NULL);
	write_list(&l, path_of("flags"), SCAP_COMPRESS_NONE);
	assert_list_read(&l, path_of("flags"));
	list_fini(&l);
}

/* A hidden enter and a full exit of a call, which is nearly all there is, cost no option. */
static void test_common_events_have_no_options(void **state)
{
	static struct list l;
	const uint32_t lens[] = {8, 8};
	struct scap_evt *e;
	struct bytes b = {0};
	size_t n = 0;

	(void)state;
	for (unsigned int type = EVT_CLOSE_E; type <= EVT_CLOSE_X; type++) {
		e = put_event(&l, type, 1 + (type & 1), lens);
		event_block_defaults(e->hdr, EVT_DEFAULTS_SAKER, &e->flags, &e->nr);
		assert_int_equal(e->nr, 3);
	}
	assert_int_equal(l.v[0].flags, SCAP_EVT_F_HIDDEN);
	assert_int_equal(l.v[1].flags, SCAP_EVT_F_FULL);
	write_list(&l, path_of("common"), SCAP_COMPRESS_NONE);
	load(&b, path_of("common"));
	for (size_t at = 0; at < b.n; at += get_u32(b.p + at + 4)) {
		if (get_u32(b.p + at) != BLK_EV_V2)
			continue;
		assert_int_equal(get_u32(b.p + at + 4), (14 + l.v[n].hdr->len + 3) / 4 * 4);
		n++;
	}
	assert_int_equal(n, 2);
	list_fini(&l);
	free(b.p);
}

/* Longer than a block of sysdig's, longer than the buffers, and with long lengths. */
static void test_large_events(void **state)
{
	static struct list l;
	const uint32_t large[] = {8, 65000}, larger[] = {8, 65535}, json[] = {3000000};
	struct bytes b = {0};
	unsigned int n = 0;

	(void)state;
	put_event(&l, EVT_READ_X, 2, large);
	put_event(&l, EVT_READ_X, 2, larger);
	put_event(&l, EVT_CONTAINER_E, 1, json);
	put_event(&l, EVT_READ_X, 2, large);
	write_list(&l, path_of("large"), SCAP_COMPRESS_NONE);
	assert_list_read(&l, path_of("large"));
	load(&b, path_of("large"));
	for (size_t at = 0; at < b.n; at += get_u32(b.p + at + 4)) {
		uint32_t type = get_u32(b.p + at), len = get_u32(b.p + at + 4);

		assert_true(type != BLK_EV_V2 || len - 8 <= BLK_EVT_MAX);
		n += type == BLK_EV_V2_LARGE;
	}
	assert_int_equal(n, 2);
	list_fini(&l);
	free(b.p);
}

static char long_text[5000];

static struct scap_state_build *make_state(void)
{
	struct scap_state_build *b = scap_state_build_new();
	struct scap_machine m = {4, 1ull << 33, 32768, T0, "host.example"};
	struct scap_thread_info t = {.tid = 10,
				     .pid = 10,
				     .ptid = 1,
				     .sid = 3,
				     .vpgid = 4,
				     .vtid = 5,
				     .vpid = 6,
				     .comm = "cat",
				     .exe = "/bin/cat",
				     .exepath = "/usr/bin/cat",
				     .cwd = "/tmp",
				     .root = "/",
				     .args = {"a\0b", 4},
				     .env = {"X=1", 4},
				     .cgroups = {"cpu=/\0mem=/", 12},
				     .fdlimit = 1024,
				     .flags = 7,
				     .uid = 1000,
				     .gid = 1001,
				     .vmsize_kb = 1,
				     .vmrss_kb = 2,
				     .vmswap_kb = 3,
				     .pfmajor = 4,
				     .pfminor = 5,
				     .tty = 34816,
				     .loginuid = -1,
				     .exe_writable = 1,
				     .cap_inheritable = 1,
				     .cap_permitted = 2,
				     .cap_effective = 3,
				     .start_ns = T0 - 5,
				     .snapshot_ns = T0,
				     .tty_known = 1,
				     .caps_known = 1,
				     .pgid = 17,
				     .exe_ino = 18,
				     .exe_ctime_ns = 19,
				     .exe_mtime_ns = 20,
				     .pidns_start_ns = 21,
				     .exe_kind = SCAP_EXE_MEMFD,
				     .exe_kind_known = SCAP_EXE_MEMFD | SCAP_EXE_LOWER_LAYER,
				     .ran_ns = 22,
				     .ran_at_ns = 23};
	struct scap_fd_info fd = {.fd = 3, .ino = 99};
	struct scap_user u = {1000, 1001, "u", "/home/u", "/bin/sh"};
	struct scap_group g = {1001, "g"};
	struct scap_iface i4 = {0, {127, 0, 0, 1}, {255}, {0}, 1000, "lo"};
	struct scap_iface i6 = {1, {0xfe, 0x80}, {255, 255}, {0}, 0, "eth0"};

	assert_non_null(b);
	memset(long_text, 'x', sizeof(long_text) - 1);
	assert_int_equal(scap_state_build_machine(b, &m), 0);
	assert_int_equal(scap_state_build_thread(b, &t), 0);
	for (unsigned int type = SCAP_FD_FILE; type < SCAP_FD_MAX; type++) {
		fd = (struct scap_fd_info){
			.fd = type, .ino = 90 + type, .type = type, .name = "name"};
		if (type >= SCAP_FD_IPV4_SOCK && type <= SCAP_FD_IPV6_SERVSOCK) {
			fd.l4proto = SCAP_L4_TCP;
			fd.sport = 80;
			fd.sip[0] = 10;
			fd.name = "";
		}
		if (type == SCAP_FD_UNIX_SOCK)
			fd.unix_src = 0xffff888000000000;
		if (type == SCAP_FD_FILE_V2)
			fd.dev = fd.open_flags = 5;
		assert_int_equal(scap_state_build_fd(b, 10, &fd), 0);
	}
	t.tid = 11;
	t.tty = 0;
	t.start_ns = t.snapshot_ns = 0;
	t.tty_known = t.caps_known = t.exe_kind_known = 0;
	t.comm = t.cwd = long_text;
	t.env = (struct scap_text){long_text, sizeof(long_text)};
	assert_int_equal(scap_state_build_thread(b, &t), 0);
	assert_int_equal(scap_state_build_user(b, &u), 0);
	assert_int_equal(scap_state_build_group(b, &g), 0);
	assert_int_equal(scap_state_build_iface(b, &i4), 0);
	assert_int_equal(scap_state_build_iface(b, &i6), 0);
	return b;
}

static void assert_fds_same(const struct scap_thread_info *a, const struct scap_thread_info *b)
{
	assert_int_equal(a->n_fds, b->n_fds);
	for (size_t i = 0; i < a->n_fds; i++) {
		const struct scap_fd_info *fa = &a->fds[i], *fb = &b->fds[i];

		assert_int_equal(fa->fd, fb->fd);
		assert_int_equal(fa->ino, fb->ino);
		assert_int_equal(fa->type, fb->type);
		assert_int_equal(fa->l4proto, fb->l4proto);
		assert_int_equal(fa->sport, fb->sport);
		assert_int_equal(fa->dport, fb->dport);
		assert_memory_equal(fa->sip, fb->sip, sizeof(fa->sip));
		assert_memory_equal(fa->dip, fb->dip, sizeof(fa->dip));
		assert_int_equal(fa->open_flags, fb->open_flags);
		assert_int_equal(fa->dev, fb->dev);
		assert_int_equal(fa->unix_src, fb->unix_src);
		assert_int_equal(fa->unix_dst, fb->unix_dst);
		assert_string_equal(fa->name, fb->name);
	}
}

static void assert_thread_same(const struct scap_thread_info *a, const struct scap_thread_info *b)
{
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->ptid, b->ptid);
	assert_int_equal(a->sid, b->sid);
	assert_int_equal(a->vpgid, b->vpgid);
	assert_int_equal(a->vtid, b->vtid);
	assert_int_equal(a->vpid, b->vpid);
	assert_string_equal(a->comm, b->comm);
	assert_string_equal(a->exepath, b->exepath);
	assert_string_equal(a->cwd, b->cwd);
	assert_string_equal(a->root, b->root);
	assert_int_equal(a->args.len, b->args.len);
	assert_memory_equal(a->args.p, b->args.p, a->args.len);
	assert_int_equal(a->cgroups.len, b->cgroups.len);
	assert_int_equal(a->uid, b->uid);
	assert_int_equal(a->pfminor, b->pfminor);
	assert_int_equal(a->tty, b->tty);
	assert_int_equal(a->loginuid, b->loginuid);
	assert_int_equal(a->exe_writable, b->exe_writable);
	assert_int_equal(a->cap_effective, b->cap_effective);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->snapshot_ns, b->snapshot_ns);
	assert_int_equal(a->tty_known, b->tty_known);
	assert_int_equal(a->caps_known, b->caps_known);
	assert_int_equal(a->pgid, b->pgid);
	assert_int_equal(a->exe_ino, b->exe_ino);
	assert_int_equal(a->exe_ctime_ns, b->exe_ctime_ns);
	assert_int_equal(a->exe_mtime_ns, b->exe_mtime_ns);
	assert_int_equal(a->pidns_start_ns, b->pidns_start_ns);
	assert_int_equal(a->exe_kind, b->exe_kind);
	assert_int_equal(a->exe_kind_known, b->exe_kind_known);
	assert_int_equal(a->ran_ns, b->ran_ns);
	assert_int_equal(a->ran_at_ns, b->ran_at_ns);
	assert_fds_same(a, b);
}

static void write_state(const struct scap_state *st, const char *path)
{
	struct scap_writer_opts opts = {.sz = sizeof(opts), .log = hear};
	struct scap_writer *w;

	assert_int_equal(scap_writer_open(&w, path, st, &opts), 0);
	assert_int_equal(scap_writer_close(w, NULL, NULL), 0);
}

static void test_state(void **state)
{
	struct scap_state_build *b = make_state();
	const struct scap_state *st = scap_state_build_done(b), *got;
	const char *paths[] = {path_of("state"), NULL};
	struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths, .log = hear};
	struct scap_evt evt;
	struct scap *s;

	(void)state;
	write_state(st, paths[0]);
	assert_int_equal(scap_open(&s, &opts), 0);
	got = scap_state(s);
	assert_int_equal(got->machine.n_cpus, 4);
	assert_int_equal(got->machine.memory_bytes, 1ull << 33);
	assert_int_equal(got->machine.max_pid, 32768);
	assert_int_equal(got->machine.boot_ns, T0);
	assert_string_equal(got->machine.hostname, "host.example");
	assert_int_equal(got->n_threads, 2);
	assert_thread_same(&got->threads[0], &st->threads[0]);
	/* As much of a text as sysdig accepts. */
	assert_int_equal(strlen(got->threads[1].comm), 1023);
	assert_int_equal(strlen(got->threads[1].cwd), 1023);
	assert_int_equal(got->threads[1].env.len, 4095);
	assert_int_equal(got->n_users, 1);
	assert_string_equal(got->users[0].shell, "/bin/sh");
	assert_int_equal(got->n_groups, 1);
	assert_string_equal(got->groups[0].name, "g");
	assert_int_equal(got->n_ifaces, 2);
	for (int i = 0; i < 2; i++) {
		assert_memory_equal(got->ifaces[i].addr, st->ifaces[i].addr, 16);
		assert_int_equal(got->ifaces[i].linkspeed, st->ifaces[i].linkspeed);
		assert_string_equal(got->ifaces[i].name, st->ifaces[i].name);
	}
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	scap_close(s);
	scap_state_build_free(b);
}

/* More threads than stand in one block, each with something in our own block. */
static void test_many_threads(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	struct scap_open_opts opts = {.sz = sizeof(opts), .log = hear};
	const char *paths[] = {path_of("threads"), NULL};
	struct scap *s;

	(void)state;
	for (unsigned int i = 1; i <= 1000; i++) {
		struct scap_thread_info t = {.tid = i, .pid = i, .start_ns = T0 + i};
		struct scap_fd_info fd = {.fd = 5, .type = SCAP_FD_PIDFD, .name = "pid"};

		assert_int_equal(scap_state_build_thread(b, &t), 0);
		assert_int_equal(scap_state_build_fd(b, i, &fd), 0);
	}
	write_state(scap_state_build_done(b), paths[0]);
	scap_state_build_free(b);
	opts.paths = paths;
	assert_int_equal(scap_open(&s, &opts), 0);
	assert_int_equal(scap_state(s)->n_threads, 1000);
	for (unsigned int i = 0; i < 1000; i++) {
		const struct scap_thread_info *t = &scap_state(s)->threads[i];

		assert_int_equal(t->start_ns, T0 + t->tid);
		assert_int_equal(t->n_fds, 1);
		assert_int_equal(t->fds[0].type, SCAP_FD_PIDFD);
	}
	scap_close(s);
}

static struct scap *open_bytes(struct bytes *b)
{
	const char *paths[] = {path_of("old"), NULL};
	struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths, .log = hear};
	struct scap *s = NULL;

	save(paths[0], b->p, b->n);
	assert_int_equal(scap_open(&s, &opts), 0);
	free(b->p);
	memset(b, 0, sizeof(*b));
	return s;
}

static void test_old_process_lists(void **state)
{
	static const uint32_t types[] = {BLK_PL_V1, BLK_PL_V2,     BLK_PL_V3,     BLK_PL_V4,
					 BLK_PL_V5, BLK_PL_V6,     BLK_PL_V7,     BLK_PL_V8,
					 BLK_PL_V9, BLK_PL_V1_INT, BLK_PL_V2_INT, BLK_PL_V3_INT};

	(void)state;
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int v = i < 9 ? i + 1 : i - 8;
		const struct scap_thread_info *t;
		struct bytes b = {0};
		struct scap *s;

		add_shb(&b);
		add_process_list(&b, types[i], v, NULL);
		s = open_bytes(&b);
		assert_int_equal(scap_state(s)->n_threads, 1);
		t = scap_state(s)->threads;
		assert_int_equal(t->ptid, 12);
		assert_int_equal(t->sid, v >= 6 ? 13 : -1);
		assert_int_equal(t->vpgid, v >= 8 ? 14 : -1);
		assert_string_equal(t->exepath, v >= 7 ? "exepath" : "");
		assert_string_equal(t->cwd, "/cwd");
		assert_int_equal(t->gid, 1001);
		assert_int_equal(t->pfminor, v >= 2 ? 5 : 0);
		assert_int_equal(t->env.len, v >= 3 ? 3 : 0);
		assert_int_equal(t->vpid, v >= 4 ? 16 : -1);
		assert_string_equal(t->root, v >= 5 ? "/root" : "");
		assert_int_equal(t->loginuid, -1);
		scap_close(s);
	}
}

/* Fields that followed the root over the years: up to 29 bytes without the two rows in the middle.
 */
static void test_newer_process_lists(void **state)
{
	static const struct {
		int with_12, caps, more;
	} forms[] = {{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 1, 1}};

	(void)state;
	for (unsigned int i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct scap_thread_info *t;
		struct bytes b = {0}, tail = {0};
		struct scap *s;

		if (forms[i].with_12) {
			ADD(&tail, uint64_t, T0);
			ADD(&tail, uint32_t, 34816);
		}
		ADD(&tail, uint32_t, 1000);
		ADD(&tail, uint8_t, 1);
		for (uint64_t cap = 1; forms[i].caps && cap <= 3; cap++)
			ADD(&tail, uint64_t, cap);
		if (forms[i].more) {
			ADD(&tail, uint8_t, 1);
			for (uint64_t v = 101; v <= 103; v++)
				ADD(&tail, uint64_t, v);
			ADD(&tail, uint8_t, 0);
			ADD(&tail, uint8_t, 1);
			ADD(&tail, int64_t, 104);
		}
		add_shb(&b);
		add_process_list(&b, BLK_PL_V9, 9, &tail);
		s = open_bytes(&b);
		t = scap_state(s)->threads;
		assert_int_equal(t->loginuid, 1000);
		assert_int_equal(t->exe_writable, 1);
		assert_int_equal(t->tty, forms[i].with_12 ? 34816 : 0);
		assert_int_equal(t->tty_known, forms[i].with_12);
		assert_int_equal(t->pidns_start_ns, forms[i].with_12 ? T0 : 0);
		assert_int_equal(t->cap_effective, forms[i].caps ? 3 : 0);
		assert_int_equal(t->caps_known, forms[i].caps);
		assert_int_equal(t->exe_ino, forms[i].more ? 101 : 0);
		assert_int_equal(t->exe_ctime_ns, forms[i].more ? 102 : 0);
		assert_int_equal(t->exe_mtime_ns, forms[i].more ? 103 : 0);
		assert_int_equal(t->exe_kind,
				 forms[i].more ? SCAP_EXE_UPPER_LAYER | SCAP_EXE_LOWER_LAYER : 0);
		assert_int_equal(t->exe_kind_known, forms[i].more ? SCAP_EXE_UPPER_LAYER |
									    SCAP_EXE_MEMFD |
									    SCAP_EXE_LOWER_LAYER
								  : 0);
		assert_int_equal(t->pgid, forms[i].more ? 104 : 0);
		scap_close(s);
		free(tail.p);
	}
}

static void test_old_events(void **state)
{
	static struct list l, got;
	const uint32_t two[] = {8, 8}, data[] = {8, 300}, note[] = {5, 6};
	struct bytes b = {0};

	(void)state;
	put_event(&l, EVT_CLOSE_E, 1, two);
	put_event(&l, EVT_READ_X, 2, data);
	put_event(&l, EVT_EXECVE_12_E, 0, NULL);
	put_event(&l, EVT_NOTIFICATION_E, 2, note);
	add_shb(&b);
	add_process_list(&b, BLK_PL_V1_INT, 1, NULL);
	add_old_lists(&b);
	add_old_event(&b, BLK_EV_INT, l.v[0].hdr, 0);
	add_old_event(&b, BLK_EV, l.v[1].hdr, 0);
	add_old_event(&b, BLK_EVF, l.v[2].hdr, 0);
	add_old_event(&b, BLK_EV, l.v[3].hdr, 3);
	assert_int_equal(read_bytes(&got, b.p, b.n), -ENODATA);
	assert_int_equal(got.n, l.n);
	for (size_t i = 0; i < l.n; i++) {
		assert_int_equal(got.v[i].hdr->len, l.v[i].hdr->len);
		assert_memory_equal(got.v[i].hdr, l.v[i].hdr, l.v[i].hdr->len);
		assert_int_equal(got.v[i].flags, i == 2 ? SCAP_EVT_F_STATE_ONLY : 0);
	}
	list_fini(&got);
	list_fini(&l);
	free(b.p);
}

static void test_old_state(void **state)
{
	const struct scap_state *st;
	struct bytes b = {0};
	struct scap *s;

	(void)state;
	add_shb(&b);
	add_process_list(&b, BLK_PL_V1, 1, NULL);
	add_old_lists(&b);
	s = open_bytes(&b);
	st = scap_state(s);
	assert_int_equal(st->threads[0].n_fds, 2);
	assert_string_equal(st->threads[0].fds[0].name, "/etc/passwd");
	assert_int_equal(st->threads[0].fds[1].dport, 80);
	assert_int_equal(st->n_ifaces, 2);
	assert_int_equal(st->ifaces[0].linkspeed, 0);
	assert_int_equal(st->ifaces[1].linkspeed, 1000);
	assert_int_equal(st->n_users, 1);
	assert_int_equal(st->n_groups, 1);
	assert_string_equal(st->groups[0].name, "tty");
	scap_close(s);
}

/* Captures behind one another in one file, and files behind one another. */
static void test_sections(void **state)
{
	static struct list l, got;
	const uint32_t lens[] = {8};
	const char *one = path_of("one"), *two = path_of("two");
	const char *paths[] = {two, one, NULL};
	struct bytes b = {0};
	int n_sections;

	(void)state;
	put_event(&l, EVT_CLOSE_E, 1, lens);
	put_event(&l, EVT_CLOSE_E, 1, lens);
	write_list(&l, one, SCAP_COMPRESS_GZIP);
	load(&b, one);
	add_bytes(&b, b.p, b.n);
	save(two, b.p, b.n);
	assert_int_equal(read_paths(&got, paths, &n_sections), -ENODATA);
	assert_int_equal(n_sections, 3);
	assert_int_equal(got.n, 6);
	hear_anew();
	assert_int_equal(scap_verify(two, hear, NULL), 0);
	paths[1] = path_of("absent");
	list_fini(&got);
	assert_int_equal(read_paths(&got, paths, NULL), -ENOENT);
	list_fini(&l);
	free(b.p);
}

static void test_blocks_of_others(void **state)
{
	static struct list l, got;
	const uint32_t lens[] = {8};
	struct bytes b = {0};
	size_t at;

	(void)state;
	put_event(&l, EVT_CLOSE_E, 1, lens);
	add_shb(&b);
	at = begin_block(&b, 1); /* an interface description of pcapng */
	add_bytes(&b, long_text, 33);
	end_block(&b, at);
	add_event(&b, l.v[0].hdr);
	hear_anew();
	at = begin_block(&b, 5);
	end_block(&b, at);
	at = begin_block(&b, BLK_MI);
	end_block(&b, at);
	add_event(&b, l.v[0].hdr);
	assert_int_equal(read_bytes(&got, b.p, b.n), -ENODATA);
	assert_int_equal(got.n, 2);
	assert_int_equal(said.n_all, 1);
	assert_int_equal(said.n_errors, 0);
	list_fini(&l);
	list_fini(&got);
	free(b.p);
}

static void test_stats(void **state)
{
	struct scap_stats st = {.n_events = 3,
				.n_seen = 10,
				.n_records = 7,
				.n_dropped = 3,
				.dropped_by = {1, 2},
				.n_clamped = 4,
				.n_filtered = 5,
				.n_unsampled = 6,
				.n_unmarked = 7,
				.bpf_run_ns = 1ull << 40};
	struct scap_cpu_stats cpus[CAP_CPUS_MAX + 1] = {[CAP_CPUS_MAX] = {.cpu = 9, .n_seen = 1}};
	struct scap_writer_opts wopts = {.sz = sizeof(wopts), .log = hear};
	const char *paths[] = {path_of("stats"), NULL};
	struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths, .log = hear};
	struct scap_stats got;
	struct scap_writer *w;
	struct scap_evt evt;
	struct scap *s;

	(void)state;
	memset(&cpus[0], 0xff, sizeof(cpus[0]) * CAP_CPUS_MAX);
	st.cpus = cpus;
	st.n_cpus = CAP_CPUS_MAX + 1;
	assert_int_equal(scap_writer_open(&w, paths[0], &no_state, &wopts), 0);
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
	assert_int_equal(scap_open(&s, &opts), 0);
	assert_int_equal(scap_stats(s, &got), -ENODATA);
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	assert_int_equal(scap_stats(s, &got), 0);
	assert_memory_equal(got.cpus, cpus, sizeof(cpus));
	got.cpus = st.cpus;
	assert_memory_equal(&got, &st, sizeof(got));
	scap_close(s);
}

/* The writer's byte count equals the size of the file, packed or not, with the closing block. */
static void test_bytes_written(void **state)
{
	static const enum scap_compress ways[] = {SCAP_COMPRESS_NONE, SCAP_COMPRESS_GZIP,
						  SCAP_COMPRESS_ZSTD};
	const uint32_t lens[] = {8, 8};
	struct scap_stats st = {.n_events = 1000};
	static struct list l;
	struct scap_writer *w;
	struct stat file;
	uint64_t bytes;

	(void)state;
	put_event(&l, EVT_CLOSE_X, 2, lens);
	for (size_t i = 0; i < 3; i++) {
		struct scap_writer_opts opts = {
			.sz = sizeof(opts), .compress = ways[i], .log = hear};

		assert_int_equal(scap_writer_open(&w, path_of("bytes"), &no_state, &opts), 0);
		for (int j = 0; j < 1000; j++)
			assert_int_equal(scap_writer_put(w, &l.v[0]), 0);
		assert_int_equal(scap_writer_close(w, &st, &bytes), 0);
		assert_int_equal(stat(path_of("bytes"), &file), 0);
		assert_int_equal(bytes, file.st_size);
	}
	list_fini(&l);
}

/* Standard input, a few bytes at a time. */
static void test_pipe(void **state)
{
	static struct list l, got;
	struct bytes b = {0};
	int fds[2], saved = dup(STDIN_FILENO);
	pid_t pid;

	(void)state;
	make_small(&b, &l, SCAP_COMPRESS_NONE);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < b.n; i += 7)
			if (write(fds[1], b.p + i, b.n - i < 7 ? b.n - i : 7) < 0)
				break;
		_exit(0);
	}
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	assert_int_equal(read_path(&got, "-"), -ENODATA);
	dup2(saved, STDIN_FILENO);
	close(saved);
	assert_int_equal(got.n, l.n);
	for (size_t i = 0; i < l.n; i++)
		assert_same(&got.v[i], &l.v[i]);
	list_fini(&got);
	list_fini(&l);
	free(b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event),
		cmocka_unit_test(test_file_is_compatible),
		cmocka_unit_test(test_flags_and_times),
		cmocka_unit_test(test_common_events_have_no_options),
		cmocka_unit_test(test_large_events),
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_old_process_lists),
		cmocka_unit_test(test_newer_process_lists),
		cmocka_unit_test(test_old_events),
		cmocka_unit_test(test_old_state),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_blocks_of_others),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_bytes_written),
		cmocka_unit_test(test_pipe),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
