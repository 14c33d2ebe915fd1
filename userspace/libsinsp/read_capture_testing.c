/* SPDX-License-Identifier: Apache-2.0 */
#include "read_capture_testing.h"

#include "testing/fuzz.h"

#include <errno.h>

#include "fields/field.h"
#include "fields/format.h"
#include "file/scap_file.h"
#include "filter/filter.h"
#include "procfs/state_build.h"
#include "sinsp.h"

enum { JSON_EACH = 16, N_FILTERS = 8, FIELDS_MAX = 400 };

struct printers {
	struct sinsp_printer *line;
	struct sinsp_format *json;
	struct sinsp_filter *filters[N_FILTERS];
	struct sinsp_text text;
};

/* Makes filters of successive fields, from field @at on. They also run on events that are not
 * shown. */
static void make_filters(struct sinsp_filter *to[N_FILTERS], size_t at)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; n < N_FILTERS; i = sinsp_field_classes[i + 1] ? i + 1 : 0)
		for (size_t r = 0; r < sinsp_field_classes[i]->n_rows && n < N_FILTERS; r++, k++) {
			char text[100];

			if (k < at % FIELDS_MAX)
				continue;
			snprintf(text, sizeof(text), "%s exists",
				 sinsp_field_classes[i]->rows[r].name);
			n += !sinsp_filter_new(&to[n], text, NULL, NULL);
		}
}

/* Returns a format of all fields; those that require an argument have one. */
static struct sinsp_format *all_fields(void)
{
	const struct sinsp_format_opts opts = {.sz = sizeof(opts), .kind = SINSP_FORMAT_JSON};
	const uint32_t unprinted = FIELD_F_FILTER_ONLY | FIELD_F_UNSUPPORTED;
	struct sinsp_format_error error;
	struct sinsp_format *f = NULL;
	size_t len;
	char *text;
	FILE *to = fuzz_must(open_memstream(&text, &len));

	for (size_t i = 0; sinsp_field_classes[i]; i++)
		for (size_t k = 0; k < sinsp_field_classes[i]->n_rows; k++) {
			const struct sinsp_field_row *r = &sinsp_field_classes[i]->rows[k];

			if (!(r->flags & (unprinted | FIELD_F_ARG_NEEDED)))
				fprintf(to, "%%%s ", r->name);
		}
	fputs("%evt.arg[0] %evt.rawarg.res %evt.arg.fd %proc.aname[2] %proc.env[HOME] "
	      "%thread.cgroup.cpu "
	      "%span.tag[1] %span.arg.k",
	      to);
	fclose(to);
	if (sinsp_format_new(&f, text, &opts, &error)) {
		fprintf(stderr, "%s\n%s\n", text, error.message);
		abort();
	}
	free(text);
	return f;
}

static void print_event(struct printers *p, const struct sinsp_evt *evt)
{
	for (int i = 0; i < N_FILTERS; i++)
		if (sinsp_filter_run(p->filters[i], evt) < 0)
			abort();
	if (!sinsp_evt_shown(evt->insp, evt))
		return;
	p->text.len = 0;
	if (sinsp_printer_line(p->line, &p->text, evt))
		abort();
	if (evt->raw.num % JSON_EACH <= 1 && sinsp_format_line(p->json, &p->text, evt) < 0)
		abort();
}

static int read_all(struct printers *p, const char *path, uint64_t from_ns, scap_log_fn log,
		    void *log_ctx, uint64_t *n_events)
{
	const char *const paths[] = {path, NULL};
	const struct scap_open_opts from = {.sz = sizeof(from),
					    .paths = paths,
					    .log = log,
					    .log_ctx = log_ctx,
					    .from_ns = from_ns};
	const struct sinsp_opts opts = {.sz = sizeof(opts),
					.enter_events = 1,
					.interpreter_frames = 1,
					.derive = SINSP_DERIVE_REQUESTS | SINSP_DERIVE_SLICES |
						  SINSP_DERIVE_TRACERS,
					.log = fuzz_log};
	struct scap_state_build *state;
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	int err = scap_open(&src, &from);

	if (err)
		return err;
	if (sinsp_open(&s, src, &opts))
		abort();
	for (; (err = sinsp_next(s, &evt, 0)) == 1; ++*n_events)
		print_event(p, &evt);
	if (sinsp_export(s, &state))
		abort();
	scap_state_build_free(state);
	sinsp_close(s);
	return err;
}

int read_capture(uint64_t *n_events, const char *path, uint64_t from_ns, size_t pick,
		 scap_log_fn log, void *log_ctx)
{
	const struct sinsp_printer_opts opts = {.sz = sizeof(opts)};
	struct printers p = {0};
	int err;

	*n_events = 0;
	if (sinsp_printer_new(&p.line, &opts))
		abort();
	p.json = all_fields();
	make_filters(p.filters, pick);
	err = read_all(&p, path, from_ns, log, log_ctx, n_events);
	if (err != -ENODATA && err != -EBADMSG && err != -ENOTSUP)
		abort();
	for (int i = 0; i < N_FILTERS; i++)
		sinsp_filter_free(p.filters[i]);
	sinsp_format_free(p.json);
	sinsp_printer_free(p.line);
	free(p.text.p);
	return err;
}
