/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: arguments of chisels. A byte selects the chisel, texts with a NUL each are words
 * of the command line; the chisel then starts, receives events, and ends. Run in the source folder.
 */
#include "testing/fuzz.h"

#include "chisel.h"
#include "fields/text_test.h"

enum { WORDS_MAX = 8, NAMES_MAX = 256, INSTRUCTIONS_MAX = 1000000, MEMORY_MAX = 64 << 20 };

static const char *names[NAMES_MAX];
static size_t n_names;

static int add_name(void *ctx, const char *name)
{
	(void)ctx;
	if (n_names < NAMES_MAX)
		names[n_names++] = fuzz_must(strdup(name));
	return 0;
}

static void apply(struct sinsp_chisel *c, struct fixture *machine)
{
	const struct scap_param params[] = {I64(5), BYTES("hello"), I64(4), U32(80)};
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(machine, &hdr, EVT_READ_X, params, 4);

	evt.fdnum = 4;
	evt.fd = sinsp_thread_fd(evt.thread, 4);
	if (sinsp_chisel_begin(c))
		return;
	if (!sinsp_chisel_tick(c, &evt) && !sinsp_chisel_event(c, &evt))
		sinsp_chisel_end(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static const char *const dirs[] = {"chisels", NULL};
	struct fuzz_in in = {data, sz};
	static void *machine;
	struct sinsp_chisel_run run;
	struct sinsp_chisel *c;
	char *words[WORDS_MAX];
	size_t n = 0;

	sinsp_chisel_run_init(&run);
	run.dirs = dirs;
	run.log = fuzz_log;
	run.source = "fuzz.scap";
	run.max_instructions = INSTRUCTIONS_MAX;
	run.max_bytes = MEMORY_MAX;
	run.out = fuzz_must(fopen("/dev/null", "we"));
	if (!machine) {
		fixture_open(&machine);
		if (sinsp_chisel_each(&run, add_name, NULL) || !n_names)
			abort();
	}
	run.insp = ((struct fixture *)machine)->s;
	if (!sinsp_chisel_open(&c, &run, names[fuzz_u8(&in) % n_names])) {
		while (n < WORDS_MAX && in.n)
			words[n++] = fuzz_text(&in);
		sinsp_chisel_needs_arg(c, (const char *const *)words, n);
		if (!sinsp_chisel_info(c)->view &&
		    !sinsp_chisel_set_args(c, (const char *const *)words, n) &&
		    !sinsp_chisel_init(c))
			apply(c, machine);
		sinsp_chisel_close(c);
		while (n)
			free(words[--n]);
	}
	fclose(run.out);
	run.out = stdout;
	sinsp_chisel_run_fini(&run);
	return 0;
}
