/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"

#include "wrap.h"

/* clang-format off */
#define L(...) {__VA_ARGS__}
#define METRIC(id, kind_, unit_, set_, name_, labels_, help_) \
	[METRIC_##id] = {.name = name_, .help = help_, .kind = METRIC_##kind_, .unit = METRIC_##unit_, \
			 .set = METRIC_##set_, .labels = labels_},
const struct metric_row metric_rows[METRIC_MAX] = {
#include "metrics.def"
};
/* clang-format on */

/* clang-format off */
static const char *const kinds[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
	[METRIC_INFO] = "info",
	[METRIC_POWERS] = "histogram",
};
/* clang-format on */

void metric_set(struct registry *r, enum metric_id id, const char *a, const char *b, uint64_t value)
{
	const struct label_value labels[METRIC_LABELS] = {label_of(a), label_of(b)};

	series_set(registry_series(r, id, labels, 0), value);
}

static void put_labels(FILE *f, const struct metric_row *row, const char *quote, const char *none)
{
	if (!row->labels[0])
		fputs(none, f);
	for (size_t i = 0; row->labels[i]; i++)
		fprintf(f, "%s%s%s%s", i ? ", " : "", quote, row->labels[i], quote);
}

void metrics_list(FILE *f)
{
	for (size_t i = 0; i < METRIC_MAX; i++) {
		const struct metric_row *row = &metric_rows[i];

		fprintf(f, "%s (%s) ", row->name, kinds[row->kind]);
		put_labels(f, row, "", "");
		fputs("\n    ", f);
		put_wrapped(f, row->help, 4);
	}
}

void metrics_list_markdown(FILE *f)
{
	fputs("| metric | type | labels | meaning |\n|---|---|---|---|\n", f);
	for (size_t i = 0; i < METRIC_MAX; i++) {
		const struct metric_row *row = &metric_rows[i];

		fprintf(f, "| `%s` | %s | ", row->name, kinds[row->kind]);
		put_labels(f, row, "`", "none");
		fprintf(f, " | %s |\n", row->help);
	}
}
