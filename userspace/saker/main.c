/* SPDX-License-Identifier: Apache-2.0 */
/* The command saker: parses options, then captures, prints lists, or verifies files. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "chisels.h"
#include "clock.h"
#include "fields/format.h"
#include "filter_arg.h"
#include "list_capabilities.h"
#include "list_events.h"
#include "list_fields.h"
#include "options.h"
#include "other_program.h"
#include "profile_send.h"
#include "redact/redact.h"
#include "say.h"
#include "selftest.h"
#include "spawn.h"
#include "standard_streams.h"
#include "verify.h"
#include "wrap.h"

static int list_all_fields(const struct options *o)
{
	if (o->markdown)
		list_fields_markdown(stdout);
	else
		list_fields(stdout, o->verbose, terminal_width(stdout));
	return 0;
}

static int list(const struct options *o)
{
	if (o->markdown)
		list_events_markdown(stdout);
	else
		list_events(stdout, o->verbose);
	return 0;
}

/* A chisel requested another run, as `around` does. It redacts what this one did. */
static int run_again(const struct chisels *cs, struct options *first)
{
	static char self[] = "saker";
	struct options o = {0};
	int argc, status = STATUS_FAILED;
	char **argv;

	if (!chisels_split_run_app(cs, self, &argv, &argc) && !options_parse(&o, argc, argv) &&
	    !chisels_check_run_app(cs, &o)) {
		if (first->redact) {
			scap_redact_free(o.redact);
			o.redact = first->redact;
			scap_redact_restart(o.redact);
			first->redact = NULL;
		}
		status = capture_run(&o, NULL, clock_now_ns());
	}
	for (int i = 1; i < argc; i++)
		free(argv[i]);
	free(argv);
	options_fini(&o);
	return status;
}

static int run_chisels(struct options *o, uint64_t start_ns)
{
	struct chisels cs;
	int err, status = capture_check_privileges(o);

	/* Checked before chisels and filters are read: their errors are no help to an unprivileged
	 * user. */
	if (status)
		return status;
	err = chisels_open(&cs, o);
	if (err)
		status = o->command ? STATUS_SELF_FAILED : STATUS_FAILED;
	else
		status = capture_run(o, &cs, start_ns);
	if (cs.run.ends_with_status)
		status = cs.run.status;
	else if (cs.run.run_app && cs.runs)
		status = run_again(&cs, o) ?: status;
	chisels_close(&cs);
	return status;
}

static int run_and_send(struct options *o, uint64_t start_ns)
{
	struct profile_send ps;

	profile_send_open(&ps, o);
	return profile_send_close(&ps, o, run_chisels(o, start_ns));
}

static int run_mode(struct options *o, uint64_t start_ns)
{
	if (o->verbose)
		say_info_too();
	switch ((enum saker_mode)o->mode) {
	case MODE_CAPTURE:
		if (o->line.print_default) {
			puts(sinsp_format_preset(o->line.preset));
			return 0;
		}
		return o->profile.otlp ? run_and_send(o, start_ns)
		       : o->chisels.n  ? run_chisels(o, start_ns)
				       : capture_run(o, NULL, start_ns);
	case MODE_SELFTEST:
		return selftest_run(o);
	case MODE_VERIFY:
		return verify_files(o->read.v);
	case MODE_EXPLAIN_FILTER:
		return filter_arg_explain(o);
	case MODE_LIST_EVENTS:
		return list(o);
	case MODE_LIST_FIELDS:
		return list_all_fields(o);
	case MODE_LIST_CHISELS:
		return chisels_list(o);
	case MODE_SHOW_CHISEL:
		return chisels_show(o);
	case MODE_CAPABILITIES:
		list_capabilities(stdout);
		return 0;
	case MODE_HELP:
		if (o->profile.on)
			help_print_profile(stdout);
		else if (o->selftest.on)
			help_print_selftest(stdout);
		else
			help_print(stdout);
		return 0;
	case MODE_VERSION:
		printf("saker %s\n", SAKER_VERSION);
		return 0;
	}
	return STATUS_FAILED;
}

static int has_command(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return 1;
	}
	return 0;
}

/*
 * Large blocks, mostly of symbols, get mappings of their own, which are returned to the system. By
 * default the C library adapts its threshold after some were freed, and then keeps twice of what is
 * in use. Failure is harmless.
 */
static void give_memory_back(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

int main(int argc, char **argv)
{
	uint64_t start_ns = clock_now_ns();
	struct options o = {0};
	int status;

	standard_fds_fill();
	give_memory_back();
	if (other_program_is_named(argc, argv))
		return other_program_run(argc, argv);
	if (options_parse(&o, argc, argv))
		status = has_command(argc, argv) ? STATUS_SELF_FAILED : STATUS_FAILED;
	else
		status = stdout_end(run_mode(&o, start_ns));
	options_fini(&o);
	return status;
}
