/* SPDX-License-Identifier: Apache-2.0 */
#include "text_test.h"

#include <stdio.h>

static const char *info(struct fixture *f, const struct sinsp_evt *evt)
{
	assert_int_equal(sinsp_evt_info(&f->text, evt, SINSP_BUF_DOTS), 0);
	return fixture_take(f);
}

/* read: res data, then the parameters of the enter: fd size. */
static void test_appended_parameters(void **state)
{
	const struct scap_param params[] = {I64(2), BYTES("hi"), I64(3), U32(80)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_READ_X, params, 4);

	assert_string_equal(info(f, &evt), "res=2 data=hi ");
	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=2 data=hi fd=3(<f>/etc/passwd) size=80 ");
	evt.params.n = 3;
	assert_string_equal(info(f, &evt), "res=2 data=hi fd=3(<f>/etc/passwd) ");
	evt.params.n = 1;
	assert_string_equal(info(f, &evt), "res=2 ");
	evt.params.n = 0;
	assert_string_equal(info(f, &evt), "");
}

/* Newer files may have more parameters than we know. */
static void test_parameters_of_the_future(void **state)
{
	const struct scap_param params[] = {I64(0), I64(3), I64(7), I64(8)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_X, params, 4);

	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=0 fd=3(<f>/etc/passwd) ");
}

static void test_generic_calls(void **state)
{
	const struct scap_param enter[] = {U16(4), U16(1)};
	const struct scap_param with_result[] = {U16(4), U16(1), I64(-38)};
	const struct scap_param none[] = {U16(0), U16(999)};
	const struct scap_param unheard_of[] = {U16(65535)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_SYSCALL_E, enter, 2);

	assert_string_equal(sinsp_evt_type(&evt), "write");
	assert_string_equal(info(f, &evt), "");
	evt = fixture_evt(f, &hdr, EVT_SYSCALL_X, with_result, 2);
	assert_string_equal(info(f, &evt), "");
	evt = fixture_evt(f, &hdr, EVT_SYSCALL_X, with_result, 3);
	assert_string_equal(info(f, &evt), "res=-38(ENOSYS) ");
	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=-38(ENOSYS) ");
	evt = fixture_evt(f, &hdr, EVT_SYSCALL_E, none, 2);
	assert_string_equal(sinsp_evt_type(&evt), "<unknown>");
	evt = fixture_evt(f, &hdr, EVT_SYSCALL_E, unheard_of, 1);
	assert_string_equal(sinsp_evt_type(&evt), "<unknown>");
	evt = fixture_evt(f, &hdr, EVT_SYSCALL_E, NULL, 0);
	assert_string_equal(sinsp_evt_type(&evt), "<unknown>");
}

/* A capture of saker has the number of the call, also of one without a code in the format. */
static void test_generic_calls_by_their_number(void **state)
{
	const struct scap_param none[] = {U16(0), U16(0)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_SYSCALL_E, none, 2);

	evt.raw.nr = 332;
	assert_string_equal(sinsp_evt_type(&evt), "statx");
	evt.raw.nr = 383;
	evt.raw.flags = SCAP_EVT_F_IA32;
	assert_string_equal(sinsp_evt_type(&evt), "statx");
}

/* The line has the number of a call without a name. */
static void test_calls_without_a_name(void **state)
{
	const struct scap_param unknown[] = {U16(0), U16(999), I64(-38)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_SYSCALL_X, unknown, 3);

	evt.raw.nr = 999;
	assert_string_equal(sinsp_evt_type(&evt), "<unknown>");
	assert_string_equal(info(f, &evt), "res=-38(ENOSYS) "); /* as sysdig, but the result */
	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "nativeID=999 res=-38(ENOSYS) ");
}

/* No error, unreadable text, and an error as the result of a call that returns an address. */
static void test_errors_of_whole_calls(void **state)
{
	const struct scap_param closed[] = {I64(-9), I64(-1)};
	const struct scap_param mapped[] = {I64(-22), U32(1), U32(2), U32(3)};
	const struct scap_param at[] = {I64(0x1000), U32(1), U32(2), U32(3)};
	const struct scap_param moved[] = {I64(3), BYTES(""), I64(7), U32(3)};
	const struct scap_param unread[] = {I64(-14), BYTES("\0")};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_X, closed, 2);

	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=-9(EBADF) fd=-1 ");
	evt = fixture_evt(f, &hdr, EVT_MMAP_X, mapped, 4);
	assert_string_equal(info(f, &evt), "res=FFFFFFFFFFFFFFEA vm_size=1 vm_rss=2 vm_swap=3 ");
	evt.show_full = 1;
	assert_string_equal(info(f, &evt),
			    "res=FFFFFFFFFFFFFFEA(EINVAL) vm_size=1 vm_rss=2 vm_swap=3 ");
	evt = fixture_evt(f, &hdr, EVT_MMAP_X, at, 4);
	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=1000 vm_size=1 vm_rss=2 vm_swap=3 ");
	evt = fixture_evt(f, &hdr, EVT_WRITE_X, moved, 4);
	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=3 data=<NA> fd=7(<u>/run/x) size=3 ");
	evt = fixture_evt(f, &hdr, EVT_CHDIR_X, unread, 2);
	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=-14(EFAULT) path=<NA> ");
}

/* Passed descriptors, a truncated message, and an impossible length. */
static void test_control_messages(void **state)
{
	static const char rights[] = "\x18\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\7\0\0\0\x9\0\0\0"
				     "\x1c\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\1\0\0";
	static const char bad[] = "\3\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\7\0\0\0";
	const struct scap_param good[] = {I64(5), U32(5), BYTES("hello"), BYTES(""), BYTES(rights)};
	const struct scap_param short_len[] = {I64(5), U32(5), BYTES("hello"), BYTES(""),
					       BYTES(bad)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_RECVMSG_X, good, 5);

	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=5 size=5 data=hello tuple=NULL "
					   "msgcontrol=SCM_RIGHTS:7(<u>/run/x),9(<l>) 1:2:3 ");
	evt = fixture_evt(f, &hdr, EVT_RECVMSG_X, short_len, 5);
	evt.show_full = 1;
	assert_string_equal(info(f, &evt), "res=5 size=5 data=hello tuple=NULL msgcontrol= ");
}

/* The second message has an address, the third one is malformed. */
static void test_messages(void **state)
{
	static const char entries[] = "\5\0\0\0\0\0\0\0"
				      "\7\0\0\0\xd\0\3\0\2\x7f\0\0\1\7\0\x7f\0\0\1\x35\0abc"
				      "\2\0\0\0\0\0\7\0x";
	const struct scap_param sent[] = {I64(3),    I64(7), U32(14),       BYTES("hello"),
					  BYTES(""), U32(0), BYTES(entries)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_SENDMMSG_X, sent, 7);

	evt.show_full = 1;
	assert_string_equal(info(f, &evt),
			    "res=3 fd=7(<u>/run/x) size=14 data=hello tuple=NULL msg_flags=0 "
			    "messages=5 7:127.0.0.1:7->127.0.0.1:53:abc 2:x ");
}

static void test_events_beside_calls(void **state)
{
	const struct scap_param exit[] = {I64(256), I64(1), U8(0), U8(0)};
	const struct scap_param signal[] = {I64(1), I64(1234), U8(9)};
	const struct scap_param to[] = {I64(1), U64(2), U64(3), U32(4), U32(5), U32(6)};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_PROCEXIT_E, exit, 4);

	assert_string_equal(sinsp_evt_type(&evt), "procexit");
	assert_string_equal(info(f, &evt), "status=256 ret=1 sig=0 core=0 ");
	evt = fixture_evt(f, &hdr, EVT_SIGNALDELIVER_E, signal, 3);
	assert_string_equal(info(f, &evt), "spid=1(systemd) dpid=1234(cat) sig=9(SIGKILL) ");
	evt = fixture_evt(f, &hdr, EVT_SWITCH_E, to, 6);
	assert_string_equal(info(f, &evt),
			    "next=1(systemd) pgft_maj=2 pgft_min=3 vm_size=4 vm_rss=5 vm_swap=6 ");
}

static void check_names(void *ctx, const struct scap_event_info *row)
{
	static const uint8_t zeros[64];
	struct fixture *f = ctx;
	struct scap_param params[EVT_MAX_PARAMS];
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt;
	const char *p;

	for (unsigned int i = 0; i < row->n_params; i++)
		params[i] = (struct scap_param){zeros, sizeof(zeros)};
	evt = fixture_evt(f, &hdr, row->id, params, row->n_params);
	evt.show_full = 1;
	p = info(f, &evt);
	for (unsigned int i = row->id == EVT_SYSCALL_E || row->id == EVT_SYSCALL_X ? 2 : 0;
	     i < row->n_params; i++) {
		char label[64];

		snprintf(label, sizeof(label), "%s=", row->params[i].name);
		p = strstr(p, label);
		assert_non_null(p);
		assert_true(p == f->text.p || p[-1] == ' ');
		p += strlen(label);
	}
}

/* The labels are made of the same rows as the table, but beside it. */
static void test_every_parameter_has_its_name(void **state)
{
	scap_event_each(check_names, *state);
}

/* As in sysdig; an enter event, or a message without a priority, prints as arguments. */
static void test_messages_to_the_log(void **state)
{
	static const struct sinsp_fd log = {
		.num = 7, .type = SCAP_FD_UNIX_SOCK, .name = "/dev/log"};
	const struct scap_param message[] = {I64(8), BYTES("<13>a: b\n")};
	const struct scap_param other[] = {I64(4), BYTES("a: b")};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_WRITE_X, message, 2);

	evt.fd = &log;
	assert_string_equal(info(f, &evt), "syslog sev=notice msg=a: b.");
	evt = fixture_evt(f, &hdr, EVT_READ_X, message, 2);
	evt.fd = &log;
	assert_string_equal(info(f, &evt), "res=8 data=<13>a: b. ");
	evt = fixture_evt(f, &hdr, EVT_WRITE_X, other, 2);
	evt.fd = &log;
	assert_string_equal(info(f, &evt), "res=4 data=a: b ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appended_parameters),
		cmocka_unit_test(test_parameters_of_the_future),
		cmocka_unit_test(test_generic_calls),
		cmocka_unit_test(test_generic_calls_by_their_number),
		cmocka_unit_test(test_calls_without_a_name),
		cmocka_unit_test(test_errors_of_whole_calls),
		cmocka_unit_test(test_control_messages),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_events_beside_calls),
		cmocka_unit_test(test_every_parameter_has_its_name),
		cmocka_unit_test(test_messages_to_the_log),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
