/* SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

/* Names are static texts, some hundred, found by address. */
enum { N_SLOTS = 4096 };

struct summary_row {
	const char *name; /* NULL: free */
	int enter;
	uint64_t n, n_failed, n_timed, time_ns;
};

struct summary {
	struct summary_row slots[N_SLOTS];
	struct summary_row sorted[N_SLOTS]; /* for what is printed, which needs no memory then */
};

struct summary *summary_new(void)
{
	return calloc(1, sizeof(struct summary));
}

void summary_free(struct summary *sum)
{
	free(sum);
}

/* NULL: full, which needs more names than there are events. */
static struct summary_row *find_slot(struct summary *sum, const char *name, int enter)
{
	uint64_t h = ((uintptr_t)name * 2 + enter) * UINT64_C(0x9e3779b97f4a7c15);
	struct summary_row *row;
	unsigned int i;

	for (i = 0; i < N_SLOTS; i++) {
		row = &sum->slots[((h >> 48) + i) % N_SLOTS];
		if (row->name && (row->name != name || row->enter != enter))
			continue;
		row->name = name;
		row->enter = enter;
		return row;
	}
	return NULL;
}

/* Returns whether the event is a failed call: its first parameter is a negative result. */
static int has_failed(const struct sinsp_evt *evt)
{
	int64_t res;
	int type;

	if (evt_is_enter(evt->raw.type) || !evt->params.n || !evt->info->n_params)
		return 0;
	type = evt->info->params[0].type;
	if (evt->params.v[0].len != sizeof(res))
		return 0;
	memcpy(&res, evt->params.v[0].p, sizeof(res));
	if (type == PT_UINT64) /* an address: mmap's */
		return !strcmp(evt->info->params[0].name, "res") && res < 0 && res >= -4095;
	return (type == PT_ERRNO || type == PT_FD || type == PT_PID) && res < 0;
}

__attribute__((noinline)) void summary_add(struct summary *sum, const struct sinsp_evt *evt)
{
	struct summary_row *row = find_slot(sum, sinsp_evt_type(evt), evt_is_enter(evt->raw.type));

	if (!row)
		return;
	row->n++;
	row->n_failed += has_failed(evt);
	if (evt->latency_known) {
		row->n_timed++;
		row->time_ns += evt->latency_ns;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : y->enter - x->enter;
}

static int by_count(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return by_name(a, b);
}

/* Merges rows with equal names: old layouts of an event have texts of their own. */
static size_t merge_names(struct summary_row *rows, size_t n)
{
	size_t i, out = 0;

	for (i = 1; i < n; i++) {
		if (by_name(&rows[out], &rows[i]) != 0) {
			rows[++out] = rows[i];
			continue;
		}
		rows[out].n += rows[i].n;
		rows[out].n_failed += rows[i].n_failed;
		rows[out].n_timed += rows[i].n_timed;
		rows[out].time_ns += rows[i].time_ns;
	}
	return n ? out + 1 : 0;
}

/* Sorts the rows into sum->sorted. Returns their number. */
static size_t sort_rows(struct summary *sum)
{
	struct summary_row *rows = sum->sorted;
	size_t i, n = 0;

	for (i = 0; i < N_SLOTS; i++) {
		if (sum->slots[i].name)
			rows[n++] = sum->slots[i];
	}
	qsort(rows, n, sizeof(*rows), by_name);
	n = merge_names(rows, n);
	qsort(rows, n, sizeof(*rows), by_count);
	return n;
}

static void print_row(FILE *f, const struct summary_row *row, uint64_t total)
{
	fprintf(f, "%c %-24s %10llu %6.2f%% %9llu", row->enter ? '>' : '<', row->name,
		(unsigned long long)row->n, 100.0 * row->n / total,
		(unsigned long long)row->n_failed);
	if (row->n_timed)
		fprintf(f, " %12.6f %11.3f\n", row->time_ns / 1e9,
			row->time_ns / 1e3 / row->n_timed);
	else
		fprintf(f, " %12s %11s\n", "-", "-");
}

void summary_print(struct summary *sum, FILE *f)
{
	const size_t n = sort_rows(sum);
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += sum->sorted[i].n;
	fprintf(f, "%-26s %10s %7s %9s %12s %11s\n", "Event", "Count", "Share", "Failed", "Seconds",
		"Mean us");
	for (i = 0; i < n; i++)
		print_row(f, &sum->sorted[i], total);
}

void summary_print_json(struct summary *sum, FILE *f)
{
	const size_t n = sort_rows(sum);

	for (size_t i = 0; i < n; i++) {
		const struct summary_row *row = &sum->sorted[i];

		fprintf(f, "{\"evt.dir\":\"%c\",\"evt.type\":\"%s\",\"count\":%llu,\"failed\":%llu",
			row->enter ? '>' : '<', row->name, (unsigned long long)row->n,
			(unsigned long long)row->n_failed);
		if (row->n_timed)
			fprintf(f, ",\"time_ns\":%llu,\"mean_ns\":%llu",
				(unsigned long long)row->time_ns,
				(unsigned long long)(row->time_ns / row->n_timed));
		fputs("}\n", f);
	}
}
