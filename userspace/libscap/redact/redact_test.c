/* SPDX-License-Identifier: Apache-2.0 */
/* Redaction: which values of events and states are overwritten, limits of patterns, and lengths
 * that lie. */
#include "redact.h"

#include <errno.h>
#include <stdlib.h>

#include "event/event_build.h"
#include "procfs/state_build.h"
#include "testing/test_main.h"

#define ALL "buffers", "args", "env"

static uint8_t original[1 << 18], copy[sizeof(original)];
static struct scap_params params; /* of the copy */
static struct scap_redact_counts counts;

/* Each of @v, up to NULL, is a kind, or a pattern that begins with a slash. */
static struct scap_redact *new_redact(const char *const *v)
{
	struct scap_redact *r;
	char why[256];
	size_t at;

	assert_int_equal(scap_redact_new(&r), 0);
	for (; *v; v++)
		assert_int_equal(
			**v == '/' ? scap_redact_add_pattern(r, *v + 1, strlen(*v) - 1, why, &at)
				   : scap_redact_add(r, *v),
			0);
	return r;
}

/* Redacts the event in original. Returns whether it had to be. */
static int redact(const char *const *v)
{
	const struct ppm_evt_hdr *evt = (const struct ppm_evt_hdr *)original;
	struct scap_redact *r = new_redact(v);
	int wanted;

	scap_evt_params(evt, &params);
	wanted = scap_redact_wants(r, evt, &params);
	memcpy(copy, original, sizeof(copy));
	scap_redact_event(r, copy, evt, &params);
	scap_redact_get_counts(r, &counts);
	scap_redact_free(r);
	for (unsigned int i = 0; i < params.n; i++)
		params.v[i].p = copy + (params.v[i].p - original);
	return wanted;
}

static void build(unsigned int type, const struct evt_value *values, unsigned int n)
{
	assert_true(scap_evt_build(original, sizeof(original), type, 1, 2, values, n) > 0);
}

/* Builds an event whose parameter @name has the value; all others are empty. */
static unsigned int build_one(unsigned int type, const char *name, const char *p, size_t len)
{
	const int at = scap_event_param(type, name);
	struct evt_value values[EVT_MAX_PARAMS] = {0};

	assert_true(at >= 0);
	values[at] = (struct evt_value){p, (uint16_t)len};
	build(type, values, scap_event_info(type)->n_params);
	return (unsigned int)at;
}

#define EXPECT(type, name, in, out, ...)                                                           \
	expect(type, name, in, sizeof(in) - 1, out, sizeof(out) - 1,                               \
	       (const char *const[]){__VA_ARGS__, NULL})

static void expect(unsigned int type, const char *name, const char *in, size_t in_len,
		   const char *out, size_t out_len, const char *const *what)
{
	const unsigned int at = build_one(type, name, in, in_len);
	const int wanted = redact(what);

	assert_int_equal(params.v[at].len, out_len);
	assert_memory_equal(params.v[at].p, out, out_len);
	assert_true(wanted || !counts.n);
	if (in_len != out_len || memcmp(in, out, in_len))
		assert_true(counts.n > 0);
}

static void test_kinds(void **state)
{
	struct scap_redact *r = new_redact((const char *const[]){"args", NULL});

	(void)state;
	assert_int_equal(scap_redact_kinds(r), SCAP_REDACT_ARGS);
	for (unsigned int i = 0; scap_redact_name(i); i++)
		assert_int_equal(scap_redact_add(r, scap_redact_name(i)), 0);
	assert_int_equal(scap_redact_kinds(r),
			 SCAP_REDACT_BUFFERS | SCAP_REDACT_ARGS | SCAP_REDACT_ENV);
	assert_int_equal(scap_redact_add(r, "buffer"), -ENOENT);
	assert_int_equal(scap_redact_add(r, ""), -ENOENT);
	scap_redact_free(r);
	scap_redact_free(NULL);
}

static void test_buffers(void **state)
{
	(void)state;
	EXPECT(EVT_READ_X, "data", "a\0b", "***", "buffers");
	EXPECT(EVT_READ_X, "data", "a\0b", "a\0b", "args", "env");
	EXPECT(EVT_READ_X, "res", "\3\0\0\0\0\0\0\0", "\3\0\0\0\0\0\0\0", ALL, "/.");
	EXPECT(EVT_TLS_WRITE_X, "data", "key", "***", "buffers");
	EXPECT(EVT_ADD_KEY_X, "payload", "key", "***", "buffers");
	EXPECT(EVT_SETXATTR_X, "value", "key", "***", "buffers");
	EXPECT(EVT_FSCONFIG_X, "value_charbuf", "key\0", "***\0", "buffers");
	EXPECT(EVT_REQUEST_E, "statement", "AUTH key\0", "********\0", "buffers");
	EXPECT(EVT_MARKER_E, "args", "a\0key\0", "*\0***\0", "buffers");
	EXPECT(EVT_MARKER_E, "args", "a\0key\0", "a\0key\0", "args");
	EXPECT(EVT_OPENAT_X, "name", "/etc/passwd\0", "/etc/passwd\0", ALL);
}

static void test_processes(void **state)
{
	(void)state;
	EXPECT(EVT_EXECVE_X, "args", "-p\0key\0\0x", "**\0***\0\0*", "args");
	EXPECT(EVT_EXECVE_X, "exe", "/bin/key\0", "/bin/key\0", ALL);
	EXPECT(EVT_EXECVE_X, "comm", "key\0", "key\0", ALL);
	EXPECT(EVT_CLONE_X, "args", "key\0", "***\0", "args");
	EXPECT(EVT_EXECVE_X, "env", "A=key\0B_1=\0=x\0a b=c\0none", "A=***\0B_1=\0**\0*****\0****",
	       "env");
	EXPECT(EVT_EXECVE_X, "env", "A=b=c\0A=", "A=***\0A=", "env");
	EXPECT(EVT_EXECVE_X, "env", "A=key\0", "A=key\0", "buffers", "args");
	EXPECT(EVT_TASK_E, "argv", "prog\0-p\0key\0", "prog\0**\0***\0", "args");
	EXPECT(EVT_TASK_E, "env", "A=key\0", "A=***\0", "env");
	EXPECT(EVT_EXECVE_X, "cgroups", "cpu=/key\0", "cpu=/key\0", ALL);
}

static void test_containers(void **state)
{
	(void)state;
	EXPECT(EVT_CONTAINER_272_E, "json",
	       "{\"env\": [\"A=b\",\"B=\\\"\\\\\",\"c\"],\"args\":[\"-p\"],\"name\":\"env\"}\0",
	       "{\"env\": [\"A=*\",\"B=****\",\"*\"],\"args\":[\"-p\"],\"name\":\"env\"}\0", "env");
	EXPECT(EVT_CONTAINER_272_E, "json", "{\"args\":[\"-p\",\"key\"],\"a\":\"args\"}\0",
	       "{\"args\":[\"**\",\"***\"],\"a\":\"args\"}\0", "args");
	EXPECT(EVT_CONTAINER_272_E, "json", "{\"env\":[\"A=key", "{\"env\":[\"A=***", "env");
	EXPECT(EVT_CONTAINER_272_E, "json", "{\"env\":[\"A=key\\", "{\"env\":[\"A=****", "env");
	EXPECT(EVT_CONTAINER_272_E, "json", "{\"env\":[\"", "{\"env\":[\"", "env");
	EXPECT(EVT_CONTAINER_272_E, "json", "\"env", "\"env", "env");
	EXPECT(EVT_CONTAINER_272_E, "json", "\"", "\"", "env");
}

#define ENTRY(tuple_sz, data_sz) "\1\0\0\0" tuple_sz "\0" data_sz "\0"

static void test_messages(void **state)
{
	(void)state;
	EXPECT(EVT_SENDMMSG_X, "messages", ENTRY("\0", "\0") ENTRY("\0", "\3") "key",
	       ENTRY("\0", "\0") ENTRY("\0", "\3") "***", "buffers");
	EXPECT(EVT_SENDMMSG_X, "messages", ENTRY("\0", "\3") "key", ENTRY("\0", "\3") "***",
	       "buffers");
	EXPECT(EVT_SENDMMSG_X, "messages", ENTRY("\2", "\x7f") "abkey", ENTRY("\2", "\x7f") "ab***",
	       "buffers");
	EXPECT(EVT_SENDMMSG_X, "messages", ENTRY("\0", "\1") "akey", ENTRY("\0", "\1") "****",
	       "buffers");
	EXPECT(EVT_SENDMMSG_X, "messages",
	       ENTRY("\x14", "\3") "\1"
				   "0123456701234567"
				   "key"
				   "key",
	       ENTRY("\x14", "\3") "\1"
				   "0123456701234567"
				   "***"
				   "***",
	       "/key|0");
}

static void test_sockets(void **state)
{
	(void)state;
	EXPECT(EVT_CONNECT_X, "tuple",
	       "\1"
	       "kkkkkkkkkkkkkkkk"
	       "/run/key\0",
	       "\1"
	       "kkkkkkkkkkkkkkkk"
	       "********\0",
	       "/.+");
	EXPECT(EVT_CONNECT_X, "tuple",
	       "\2"
	       "kkkkkkkkkkkk",
	       "\2"
	       "kkkkkkkkkkkk",
	       "/k");
	EXPECT(EVT_CONNECT_X, "tuple",
	       "\1"
	       "kk",
	       "\1"
	       "kk",
	       "/k");
	EXPECT(EVT_CONNECT_X, "addr",
	       "\1"
	       "/key\0",
	       "\1"
	       "/***\0",
	       "/key");
	EXPECT(EVT_CONNECT_X, "addr", "\1", "\1", "/.");
	EXPECT(EVT_CONNECT_X, "addr", "\x7fkey", "\x7f***", "/key");
}

static void test_dynamic(void **state)
{
	(void)state;
	EXPECT(EVT_SETSOCKOPT_X, "val", "\0key", "\0***", "buffers");
	EXPECT(EVT_SETSOCKOPT_X, "val", "\0key", "\0k**", "/ey");
	EXPECT(EVT_SETSOCKOPT_X, "val", "\0", "\0", "buffers");
	EXPECT(EVT_SETSOCKOPT_X, "val", "\2\1\0\0\0", "\2\1\0\0\0", ALL, "/.");
	EXPECT(EVT_SETSOCKOPT_X, "val", "\x7fkey", "\x7f***", "buffers");
	EXPECT(EVT_KEYCTL_X, "arg2", "\1key\0", "\1***\0", "/key");
}

static void test_patterns(void **state)
{
	(void)state;
	EXPECT(EVT_READ_X, "data", "a key, two keys", "a ***, two ***s", "/key");
	assert_int_equal(counts.n, 2);
	EXPECT(EVT_READ_X, "data", "p=key;q=1", "p=***;q=1", "/p=\\K\\w+");
	/* The match before is seen as it was. */
	EXPECT(EVT_READ_X, "data", "abc", "**c", "/a|(?<=a)b");
	EXPECT(EVT_READ_X, "data", "abc", "***", "/ab", "/bc");
	EXPECT(EVT_READ_X, "data", "\xff\xfekey\xc3", "\xff\xfe***\xc3", "/k\\w+");
	EXPECT(EVT_READ_X, "data", "k\0y", "***", "/k\\x00y");
	EXPECT(EVT_READ_X, "data", "abc", "abc", "/x*");
	EXPECT(EVT_OPENAT_X, "name", "/home/ann/x\0", "/home/***/x\0", "/ann");
	EXPECT(EVT_EXECVE_X, "args", "a\0b\0", "a\0b\0", "/a.b");
	EXPECT(EVT_EXECVE_X, "args", "xa\0ax\0", "x*\0ax\0", "/a$");
	EXPECT(EVT_EXECVE_X, "env", "KEY=b\0", "***=*\0", "env", "/KEY");
	EXPECT(EVT_EXECVE_X, "env", "***=*\0", "***=*\0", "env", "/KEY");
	EXPECT(EVT_CONTAINER_272_E, "json", "{\"a\":\"key\"}\0", "{\"a\":\"***\"}\0", "/key");
}

static void test_bad_patterns(void **state)
{
	struct scap_redact *r = new_redact((const char *const[]){NULL});
	char why[256] = "";
	size_t at = 99;

	(void)state;
	assert_int_equal(scap_redact_add_pattern(r, "ab(", 3, why, &at), -EINVAL);
	assert_int_equal(at, 3);
	assert_true(*why);
	assert_int_equal(scap_redact_add_pattern(r, "(*UTF)a", 7, why, &at), -EINVAL);
	scap_redact_free(r);
}

/* What is not searched is overwritten: work is at most proportional to the length. */
static void test_limit(void **state)
{
	static char long_text[60000];
	unsigned int at;

	(void)state;
	memset(long_text, 'a', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '@';
	EXPECT(EVT_READ_X, "data", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
	       "***************************************", "/(a+)+$");
	assert_int_equal(counts.n_unsearched, 1);
	at = build_one(EVT_READ_X, "data", long_text, sizeof(long_text));
	redact((const char *const[]){"/\\w+@\\w+", NULL});
	assert_int_equal(counts.n_unsearched, 1);
	assert_int_equal(params.v[at].p[0], '*');
	assert_memory_equal(params.v[at].p, params.v[at].p + 1, sizeof(long_text) - 1);
	/* A long value that needs few steps is searched. */
	redact((const char *const[]){"/@", NULL});
	assert_int_equal(counts.n_unsearched, 0);
	assert_int_equal(params.v[at].p[0], 'a');
	assert_int_equal(params.v[at].p[sizeof(long_text) - 1], '*');
}

/* Parameters of newer versions, bytes behind the parameters, and lengths beyond the event. */
static void test_unknown(void **state)
{
	const struct evt_value values[] = {{"\3\0\0\0\0\0\0\0", 8}, {"n=1", 3}};
	struct ppm_evt_hdr *evt = (struct ppm_evt_hdr *)original;

	(void)state;
	build(EVT_FSTAT_E, values, 2);
	assert_true(redact((const char *const[]){"env", NULL}));
	assert_memory_equal(params.v[0].p, values[0].p, 8);
	assert_memory_equal(params.v[1].p, "***", 3);

	build(EVT_FSTAT_E, values, 1);
	memcpy(original + evt->len, "key", 4);
	evt->len += 3;
	assert_true(redact((const char *const[]){"env", NULL}));
	assert_memory_equal(copy + evt->len - 3, "***", 4);

	build(EVT_EXECVE_X, (const struct evt_value[]){{"12345678", 8}, {"key", 3}}, 2);
	((uint16_t *)(evt + 1))[1] = 4;
	assert_true(redact((const char *const[]){"env", NULL}));
	assert_int_equal(params.n, 1);
	assert_memory_equal(copy + evt->len - 3, "***", 3);

	build(EVT_EXECVE_X, NULL, 0);
	evt->nparams = UINT32_MAX;
	redact((const char *const[]){"env", NULL});
	assert_int_equal(params.n, 0);

	build(EVT_FSTAT_E, values, 1);
	assert_false(redact((const char *const[]){ALL, NULL}));
	build(EVT_NA_17, values, 1);
	assert_true(redact((const char *const[]){"env", NULL}));
}

/* Collects the parameters of type BYTEBUF that are not overwritten. */
struct left {
	const char *const *what;
	char text[512];
};

static void try_event(void *ctx, const struct scap_event_info *info)
{
	struct left *left = ctx;

	for (unsigned int i = 0; i < info->n_params; i++) {
		const char *name = info->params[i].name;

		/* Messages are of several parts. scap_evt_build makes no large events. */
		if (info->params[i].type != PT_BYTEBUF || !strcmp(name, "messages") ||
		    info->flags & EF_LARGE_PAYLOAD || strstr(left->text, name))
			continue;
		expect(info->id, name, "", 0, "", 0, left->what);
		build_one(info->id, name, "keykeykeykey", 12);
		redact(left->what);
		if (memcmp(params.v[i].p, "keykeykeykey", 12))
			continue;
		strcat(left->text, name);
		strcat(left->text, " ");
	}
}

/* A new parameter of bytes is a buffer, unless the table says otherwise. */
static void test_every_buffer(void **state)
{
	struct left whole = {(const char *const[]){ALL, NULL}, ""},
		    pattern = {(const char *const[]){"/key", NULL}, ""};

	(void)state;
	scap_event_each(try_event, &whole);
	assert_string_equal(whole.text,
			    "msgcontrol cgroups build_id lines function_text file_text line_table "
			    "line_bases mnt_ids ns_ids ");
	scap_event_each(try_event, &pattern);
	assert_string_equal(pattern.text, "build_id line_table line_bases mnt_ids ns_ids ");
}

static const struct scap_state *state_of_two(struct scap_state_build *b)
{
	struct scap_thread_info t = {
		.tid = 1,
		.pid = 1,
		.comm = "key",
		.exe = "/bin/key",
		.cwd = "/home/key",
		.args = {"-p\0key", 7},
		.env = {"A=key", 6},
		.cgroups = {"cpu=/key", 9},
	};
	const struct scap_fd_info fd = {.fd = 3,
					.name = "/tmp/key",
					.so_far = {.known = 1, .shown = "a key", .given = "./key"}};
	const struct scap_user user = {.name = "ann", .home = "/home/key"};

	assert_int_equal(scap_state_build_thread(b, &t), 0);
	t.tid = 2;
	assert_int_equal(scap_state_build_thread(b, &t), 0);
	assert_int_equal(scap_state_build_fd(b, 1, &fd), 0);
	assert_int_equal(scap_state_build_user(b, &user), 0);
	return scap_state_build_done(b);
}

static void test_state(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	const struct scap_state *st = state_of_two(b);
	struct scap_redact *r = new_redact((const char *const[]){ALL, NULL});

	(void)state;
	scap_redact_state(r, st);
	assert_memory_equal(st->threads[1].args.p, "**\0***", 7);
	assert_memory_equal(st->threads[1].env.p, "A=***", 6);
	assert_string_equal(st->threads[0].exe, "/bin/key");
	assert_string_equal(st->threads[0].fds[0].name, "/tmp/key");
	scap_redact_get_counts(r, &counts);
	assert_int_equal(counts.n, 3); /* text that threads share is one */
	scap_redact_restart(r);
	scap_redact_get_counts(r, &counts);
	assert_int_equal(counts.n, 0);
	scap_redact_free(r);
	scap_state_build_free(b);

	b = scap_state_build_new();
	st = state_of_two(b);
	r = new_redact((const char *const[]){"/key", NULL});
	scap_redact_state(r, st);
	assert_string_equal(st->threads[1].comm, "***");
	assert_string_equal(st->threads[1].exe, "/bin/***");
	assert_string_equal(st->threads[0].cwd, "/home/***");
	assert_string_equal(st->threads[0].fds[0].so_far.given, "./***");
	assert_string_equal(st->threads[0].fds[0].so_far.shown, "a ***");
	assert_string_equal(st->threads[0].cgroups.p, "cpu=/***");
	assert_memory_equal(st->threads[0].args.p, "-p\0***", 7);
	assert_string_equal(st->threads[0].fds[0].name, "/tmp/***");
	assert_string_equal(st->users[0].home, "/home/***");
	assert_string_equal(st->users[0].name, "ann");
	scap_redact_free(r);
	scap_state_build_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),        cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_processes),    cmocka_unit_test(test_containers),
		cmocka_unit_test(test_messages),     cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_dynamic),      cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_bad_patterns), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_unknown),      cmocka_unit_test(test_every_buffer),
		cmocka_unit_test(test_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
