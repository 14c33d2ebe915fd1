/* SPDX-License-Identifier: Apache-2.0 */
/* Compares thread and descriptor of every event in sysdig's captures with sysdig's own output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinsp.h"
#include "state/thread.h"
#include "testing/captures_testing.h"
#include "testing/test_main.h"

#define SKIPPED 77
#define FORMAT "*%evt.num|%proc.name|%thread.tid|%fd.type|%fd.num|%fd.name"

static const char *type_of(const struct sinsp_fd *fd)
{
	static const char *const names[SCAP_FD_MAX] = {
		[SCAP_FD_FILE] = "file",           [SCAP_FD_FILE_V2] = "file",
		[SCAP_FD_DIRECTORY] = "directory", [SCAP_FD_IPV4_SOCK] = "ipv4",
		[SCAP_FD_IPV4_SERVSOCK] = "ipv4",  [SCAP_FD_IPV6_SOCK] = "ipv6",
		[SCAP_FD_IPV6_SERVSOCK] = "ipv6",  [SCAP_FD_UNIX_SOCK] = "unix",
		[SCAP_FD_FIFO] = "pipe",           [SCAP_FD_EVENT] = "event",
		[SCAP_FD_SIGNALFD] = "signalfd",   [SCAP_FD_EVENTPOLL] = "eventpoll",
		[SCAP_FD_INOTIFY] = "inotify",     [SCAP_FD_TIMERFD] = "timerfd",
		[SCAP_FD_NETLINK] = "netlink",
	};

	return fd->type < SCAP_FD_MAX && names[fd->type] ? names[fd->type] : "<NA>";
}

/* Appends without bytes that do not print. */
static void append_clean(char *out, size_t sz, const char *text)
{
	size_t n = strlen(out);

	for (; *text && n + 1 < sz; text++)
		if (*text >= ' ' && *text < 0x7f)
			out[n++] = *text;
	out[n] = 0;
}

static void assert_thread(const char *theirs, const struct sinsp_evt *evt)
{
	const char *comm = evt->thread ? evt->thread->comm : "<NA>";
	char ours[128];

	snprintf(ours, sizeof(ours), "%ld|%s|%ld|", (long)evt->raw.num, comm,
		 (long)evt->raw.hdr->tid);
	if (strncmp(theirs, ours, strlen(ours)))
		assert_string_equal(ours, theirs);
}

/* Compares the last three fields: type, number, name. An unknown descriptor has the type <NA>. */
static void assert_file(const char *theirs, const struct sinsp_evt *evt)
{
	static const char none[] = "<NA>|";
	const char *at = theirs;
	char ours[8192];

	for (int i = 0; i < 3; i++) {
		at = strchr(at, '|');
		assert_non_null(at);
		at++;
	}
	if (!evt->fd) {
		assert_memory_equal(at, none, sizeof(none) - 1);
		return;
	}
	snprintf(ours, sizeof(ours), "%s|%ld|", type_of(evt->fd), (long)evt->fdnum);
	append_clean(ours, sizeof(ours), evt->fd->name);
	assert_string_equal(ours, at);
}

/*
 * Events whose fields differ from the state in sysdig: setsockopt and getsockopt name their
 * descriptor in the line only, an exit without an enter has the last descriptor of the thread, and
 * a failed connect is named by its own tuple.
 */
static int is_fields_own(const struct sinsp_evt *evt)
{
	switch (evt->raw.type) {
	case EVT_SETSOCKOPT_X:
	case EVT_GETSOCKOPT_X:
	case EVT_CONNECT_X:
		return 1;
	}
	return !evt_is_enter(evt->raw.type) && (evt->info->flags & EF_USES_FD) &&
	       !evt->latency_known;
}

static void compare(const char *path)
{
	const char *paths[] = {path, NULL};
	const struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths};
	char cmd[4096], theirs[8192];
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "TZ=UTC sysdig -r '%s' -p '%s' 2>/dev/null", path, FORMAT);
	f = popen(cmd, "r");
	assert_non_null(f);
	assert_int_equal(scap_open(&src, &opts), 0);
	assert_int_equal(sinsp_open(&s, src, NULL), 0);
	while (sinsp_next(s, &evt, -1) == 1) {
		if (!sinsp_evt_shown(s, &evt))
			continue;
		assert_non_null(fgets(theirs, sizeof(theirs), f));
		theirs[strcspn(theirs, "\n")] = 0;
		assert_thread(theirs, &evt);
		if (!is_fields_own(&evt))
			assert_file(theirs, &evt);
	}
	assert_null(fgets(theirs, sizeof(theirs), f));
	pclose(f);
	sinsp_close(s);
}

static glob_t captures;

static void test_captures(void **state)
{
	(void)state;
	for (size_t i = 0; i < captures.gl_pathc; i++)
		compare(captures.gl_pathv[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_captures)};
	int failed;

	if (!find_captures(&captures))
		return SKIPPED;
	if (system("sysdig --version >/dev/null 2>&1")) {
		fprintf(stderr, "skipped: sysdig is missing: run scripts/setup --tests\n");
		globfree(&captures);
		return SKIPPED;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	globfree(&captures);
	return failed;
}
