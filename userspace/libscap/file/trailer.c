// SPDX-License-Identifier: Apache-2.0
/*
 * The trailer: what a section says about itself at its end, as counters, one "key=value" line each.
 */
#include <errno.h>
#include <stdio.h>

#include "file/scap_format.h"

#define ULL(x) ((unsigned long long)(x))

static const struct stats_row {
	const char *key;
	size_t offset;
} stats_rows[] = {
#define ROW(member)                                                                                \
	{                                                                                          \
#member, offsetof(struct scap_stats, member)                                       \
	}
	ROW(n_events),
	ROW(n_records),
	ROW(n_seen),
	ROW(n_dropped),
	{"dropped_0", offsetof(struct scap_stats, dropped_by[0])},
	{"dropped_1", offsetof(struct scap_stats, dropped_by[1])},
	{"dropped_2", offsetof(struct scap_stats, dropped_by[2])},
	{"dropped_3", offsetof(struct scap_stats, dropped_by[3])},
	{"dropped_4", offsetof(struct scap_stats, dropped_by[4])},
	{"dropped_5", offsetof(struct scap_stats, dropped_by[5])},
	{"dropped_6", offsetof(struct scap_stats, dropped_by[6])},
	{"dropped_7", offsetof(struct scap_stats, dropped_by[7])},
	ROW(n_clamped),
	ROW(n_no_enter),
	ROW(n_storage_fail),
	ROW(n_bad_record),
	ROW(n_self),
	ROW(n_filtered),
	ROW(n_suppressed),
	ROW(n_unsampled),
	ROW(n_unmarked),
	ROW(bpf_run_ns),
	ROW(bpf_run_cnt),
#undef ROW
};
_Static_assert(sizeof(((struct scap_stats *)0)->dropped_by) == 8 * sizeof(uint64_t),
	       "a row for each reason of a drop");
#define N_STATS_ROWS (sizeof(stats_rows) / sizeof(stats_rows[0]))

static uint64_t *stat_at(struct scap_stats *st, const struct stats_row *row)
{
	return (uint64_t *)((char *)st + row->offset);
}

void scap_stats_add(struct scap_stats *sum, const struct scap_stats *st)
{
	struct scap_stats copy = *st;

	for (size_t i = 0; i < N_STATS_ROWS; i++)
		*stat_at(sum, &stats_rows[i]) += *stat_at(&copy, &stats_rows[i]);
}

size_t trailer_stats_put(char *buf, size_t sz, const struct scap_stats *st)
{
	struct scap_stats copy = *st;
	size_t at = 0;

	for (size_t i = 0; i < N_STATS_ROWS && at < sz; i++) {
		uint64_t v = *stat_at(&copy, &stats_rows[i]);

		if (v)
			at += snprintf(buf + at, sz - at, "%s=%llu\n", stats_rows[i].key,
				       (unsigned long long)v);
	}
	return at < sz ? at : sz;
}

int trailer_kv_get(const char *text, size_t len, const char *key, uint64_t *val)
{
	size_t key_len = strlen(key);
	const char *end = text + len;

	while (text < end) {
		const char *nl = memchr(text, '\n', end - text);

		if (!nl)
			nl = end;
		if ((size_t)(nl - text) > key_len && text[key_len] == '=' &&
		    memcmp(text, key, key_len) == 0) {
			*val = 0;
			for (text += key_len + 1; text < nl && *text >= '0' && *text <= '9'; text++)
				*val = *val * 10 + (*text - '0');
			return 0;
		}
		text = nl + 1;
	}
	return -ENOENT;
}

void trailer_stats_get(struct scap_stats *st, const char *text, size_t len)
{
	memset(st, 0, sizeof(*st));
	for (size_t i = 0; i < N_STATS_ROWS; i++)
		trailer_kv_get(text, len, stats_rows[i].key, stat_at(st, &stats_rows[i]));
}

size_t trailer_cpus_put(char *buf, const struct scap_cpu_stats *v, size_t n)
{
	char *p = buf;

	for (size_t i = 0; i < n; i++) {
		unsigned int last = 8;

		while (last && !v[i].dropped_by[last - 1])
			last--;
		p += sprintf(p, "cpu%llu=%llu,%llu", ULL(v[i].cpu), ULL(v[i].n_seen),
			     ULL(v[i].n_records));
		for (unsigned int why = 0; why < last; why++)
			p += sprintf(p, ",%llu", ULL(v[i].dropped_by[why]));
		*p++ = '\n';
	}
	return p - buf;
}

static const char *get_number(const char *p, const char *end, uint64_t *val)
{
	for (*val = 0; p < end && *p >= '0' && *p <= '9'; p++)
		*val = *val * 10 + (*p - '0');
	return p;
}

static const char *get_cpu(struct scap_cpu_stats *v, const char *p, const char *end)
{
	uint64_t *rest[] = {&v->n_seen, &v->n_records};

	memset(v, 0, sizeof(*v));
	p = get_number(p, end, &v->cpu);
	for (unsigned int i = 0; i < 2 + 8 && p < end && *p != '\n'; i++)
		p = get_number(p + 1, end, i < 2 ? rest[i] : &v->dropped_by[i - 2]);
	while (p < end && *p++ != '\n')
		;
	return p;
}

size_t trailer_cpus_get(struct scap_cpu_stats *v, size_t max, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	size_t n = 0;

	while (n < max && end - p > 3 && !memcmp(p, "cpu", 3))
		p = get_cpu(&v[n++], p + 3, end);
	return n;
}
