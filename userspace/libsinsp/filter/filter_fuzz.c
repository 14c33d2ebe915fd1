/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: the text of a filter, or after a byte 1 that of a format. What compiles is applied
 * to events; an error has its position in the text. */
#include "testing/fuzz.h"

#include <errno.h>

#include "fields/format.h"
#include "filter.h"
#include "filter_events_test.h"

static void fuzz_filter(const char *text, const struct sinsp_evt *evts)
{
	struct sinsp_filter_error error = {0};
	struct sinsp_filter_needs needs;
	struct sinsp_text lines = {0};
	struct sinsp_filter *f;
	const int err = sinsp_filter_new(&f, text, NULL, &error);

	if (err) {
		if (err != -EINVAL || error.text != text || error.pos > strlen(text) ||
		    sinsp_filter_error_lines(&lines, &error))
			abort();
		free(lines.p);
		return;
	}
	if (sinsp_filter_explain(f, &lines) || sinsp_filter_needs(f, &needs))
		abort();
	for (int i = 0; i < N_EVENTS; i++)
		if (sinsp_filter_run(f, &evts[i]) < 0)
			abort();
	free(lines.p);
	sinsp_filter_free(f);
}

static void fuzz_format(const char *text, const struct sinsp_evt *evts)
{
	struct sinsp_format_opts opts = {.sz = sizeof(opts)};

	for (opts.kind = SINSP_FORMAT_TEXT; opts.kind <= SINSP_FORMAT_TSV; opts.kind++) {
		struct sinsp_format_error error = {0};
		struct sinsp_text lines = {0};
		struct sinsp_format *f;
		const int err = sinsp_format_new(&f, text, &opts, &error);

		if (err) {
			if (err != -EINVAL || error.pos > strlen(text))
				abort();
			return;
		}
		if (sinsp_format_header(f, &lines))
			abort();
		for (int i = 0; i < N_EVENTS; i++)
			if (sinsp_format_line(f, &lines, &evts[i]) < 0)
				abort();
		free(lines.p);
		sinsp_format_free(f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static struct sinsp_evt evts[N_EVENTS];
	static void *machine;
	struct fuzz_in in = {data, sz};
	char *text;

	if (!machine) {
		fixture_open(&machine);
		make_events(machine, evts);
	}
	if (sz && *data == 1) {
		fuzz_u8(&in);
		text = fuzz_text(&in);
		fuzz_format(text, evts);
	} else {
		text = fuzz_text(&in);
		fuzz_filter(text, evts);
	}
	free(text);
	return 0;
}
