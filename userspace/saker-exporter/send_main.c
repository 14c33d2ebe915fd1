/* SPDX-License-Identifier: Apache-2.0 */
/* saker send: posts a file, such as a profile, to a collector, and again while that is busy. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "option_args.h"
#include "option_values.h"
#include "otlp_headers.h"
#include "otlp_post.h"
#include "otlp_url.h"
#include "privileges.h"
#include "say.h"
#include "standard_streams.h"

#define AT(member) offsetof(struct send_options, member)
#define FOR_NS (60 * CLOCK_S)
#define PAUSE_NS (CLOCK_S / 4)
#define PAUSE_MAX_NS (10 * CLOCK_S)
#define AFTER_MAX_S (1u << 30) /* of Retry-After: its nanoseconds fit */
#define FILE_MAX (256u << 20)

enum send_mode { SEND_FILE, SEND_HELP, SEND_VERSION };

struct send_options {
	int mode; /* enum send_mode */
	const char *url, *file, *ca;
	struct text_list headers; /* owned */
	uint64_t for_ns;
};

/* clang-format off */
static const struct option_row rows[] = {
	{0, "header", "HEADER", GROUP_LIVE,
	 "Send this header, NAME: VALUE; may be repeated. @FILE: the lines of FILE, which others must not be "
	 "able to read, while they can see a command line.", parse_list, AT(headers)},
	{0, "ca", "FILE", GROUP_LIVE,
	 "Trust the certificates in FILE (PEM) instead of those of the system.", set_text, AT(ca)},
	{0, "for", "SECONDS", GROUP_LIVE, "Send again for SECONDS while the collector is busy (default 60).",
	 parse_seconds, AT(for_ns)},
	{'h', "help", NULL, GROUP_LIVE, "Show this text.", set_value, AT(mode), SEND_HELP},
	{0, "version", NULL, GROUP_LIVE, "Show the version.", set_value, AT(mode), SEND_VERSION},
	{0},
};
/* clang-format on */

static const char *help_of(const struct option_row *of)
{
	(void)of;
	return "saker send --help";
}

static int parse(struct send_options *o, int argc, char **argv)
{
	struct option_args args = {argv, argc, 1, rows, help_of, NULL};
	const char *why;
	int err = 0;

	while (!err && args.next < args.n) {
		const char *text = args.v[args.next++];

		if (option_is_one(text))
			err = option_parse(o, text, &args);
		else if (!o->url)
			o->url = text;
		else if (!o->file)
			o->file = text;
		else
			err = -EINVAL;
	}
	if (o->mode != SEND_FILE)
		return err;
	if (err || !o->file) {
		say("needs a URL and a file: saker send http://127.0.0.1:4318 cpu.otlp");
		return -EINVAL;
	}
	why = otlp_target_problem(o->url);
	if (why)
		say("the URL %s", why);
	return why ? -EINVAL : 0;
}

static void help(FILE *f)
{
	fputs("Usage: saker send [OPTION...] URL FILE\n"
	      "\n"
	      "Sends a file by HTTP POST. A profile of OTLP (.otlp, .otlp.gz) goes to\n"
	      "URL/v1development/profiles, any other file, such as one for pprof, to URL itself.\n"
	      "\n",
	      f);
	for (const struct option_row *row = rows; row->name; row++)
		help_put_row(f, row);
}

/* Returns the bytes of the file, owned by the caller; NULL after reporting why not. */
static uint8_t *read_file(const char *path, size_t *len)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = {0};
	uint8_t *p = NULL;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st))
		say("cannot read %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || !st.st_size || st.st_size > FILE_MAX)
		say("cannot send %s: it is no file of 1 byte to 256 MiB", path);
	else if (!(p = malloc((size_t)st.st_size)))
		say("cannot send %s: not enough memory", path);
	else if ((n = read(fd, p, (size_t)st.st_size)) != st.st_size)
		say("cannot read %s: %s", path, n < 0 ? strerror(errno) : "it became shorter");
	if (fd >= 0)
		close(fd);
	if (p && n != st.st_size) {
		free(p);
		return NULL;
	}
	*len = (size_t)st.st_size;
	return p;
}

static int ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), len = strlen(end);

	return n > len && strcmp(text + n - len, end) == 0;
}

static void pause_ns(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / CLOCK_S), (long)(ns % CLOCK_S)};

	nanosleep(&t, NULL);
}

/* Returns how long to wait before it is sent again. What the collector wants may be any number. */
static uint64_t next_pause(uint64_t pause, const struct otlp_answer *a)
{
	return a->after_s > AFTER_MAX_S ? UINT64_MAX : pause + a->after_s * CLOCK_S;
}

/* Sends it until the collector accepts or refuses it, or the time is over. */
static int post(struct otlp_post *post, const char *url, const uint8_t *p, size_t len,
		uint64_t until_ns)
{
	uint64_t pause = PAUSE_NS, now_ns;
	struct otlp_answer a;

	for (;;) {
		otlp_post_send(post, &a, url, p, len);
		if (a.outcome == OTLP_ACCEPTED || a.outcome == OTLP_FINAL)
			break;
		now_ns = clock_now_ns();
		if (now_ns > until_ns || next_pause(pause, &a) > until_ns - now_ns)
			break;
		pause_ns(next_pause(pause, &a));
		pause = 2 * pause < PAUSE_MAX_NS ? 2 * pause : PAUSE_MAX_NS;
	}
	if (a.outcome == OTLP_ACCEPTED && a.rejected)
		say("the collector rejected %llu profiles", (unsigned long long)a.rejected);
	else if (a.outcome != OTLP_ACCEPTED && a.status)
		say("cannot send: the collector answers with status %ld", a.status);
	else if (a.outcome != OTLP_ACCEPTED)
		say("cannot send: %s", a.reason);
	return a.outcome == OTLP_ACCEPTED && !a.rejected ? 0 : 1;
}

static int send_file(const struct send_options *o, const struct otlp_headers *headers)
{
	const int is_gzip = ends_with(o->file, ".otlp.gz");
	const int is_otlp = is_gzip || ends_with(o->file, ".otlp");
	const struct otlp_post_opts opts = {
		.sz = sizeof(opts),
		.ca = o->ca,
		.headers = headers->list.v,
		.n_headers = headers->list.n,
		.type = is_otlp ? NULL : "Content-Type: application/octet-stream",
		.user_agent = "saker/" SAKER_VERSION,
		.is_gzip = is_gzip,
		.timeout_ns = o->for_ns ?: FOR_NS,
	};
	const uint64_t until_ns = clock_now_ns() + opts.timeout_ns;
	struct otlp_post *p = NULL;
	uint8_t *bytes = NULL;
	char *url = NULL;
	size_t len, n = strlen(o->url);
	int status = 1;

	while (is_otlp && n && o->url[n - 1] == '/')
		n--;
	bytes = read_file(o->file, &len);
	if (bytes && !otlp_post_new(&p, &opts) &&
	    asprintf(&url, "%.*s%s", (int)n, o->url, is_otlp ? "/v1development/profiles" : "") >= 0)
		status = post(p, url, bytes, len, until_ns);
	otlp_post_free(p);
	free(bytes);
	free(url);
	return status;
}

int main(int argc, char **argv)
{
	struct send_options o = {0};
	struct otlp_headers headers = {0};
	int status = 0;

	standard_fds_fill();
	signal(SIGPIPE, SIG_IGN);
	if (parse(&o, argc, argv))
		status = 1;
	else if (o.mode == SEND_HELP)
		help(stdout);
	else if (o.mode == SEND_VERSION)
		printf("saker %s\n", SAKER_VERSION);
	else if (otlp_headers_read(&headers, &o.headers, "--header"))
		status = 1;
	else
		status = send_file(&o, &headers);
	otlp_headers_fini(&headers);
	free(o.headers.v);
	return stdout_end(status);
}
