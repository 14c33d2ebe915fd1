/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A registry of metrics: families are rows of a table, each with series by the values of its
 * labels. Values are 64-bit totals. It does no I/O and no locking: one thread at a time uses it.
 *
 * Invariant: for each counter and histogram, the sum of all its series is the sum of all that was
 * ever added. A series that ends adds its value to the series `other` of its family; values for
 * which there is no room are added there, too. `other` exists as long as the registry.
 */
#ifndef SAKER_EXPORTER_REGISTRY_H
#define SAKER_EXPORTER_REGISTRY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* METRIC_POWERS: a histogram whose bounds are powers of two of a microsecond. */
enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO, METRIC_POWERS };
/* Of the stored value; METRIC_NS is printed in seconds, METRIC_UJ in joules. */
enum metric_unit { METRIC_COUNT, METRIC_NS, METRIC_BYTES, METRIC_UJ };
/* METRIC_FIXED: few label values, chosen by saker: never refused, never evicted. METRIC_MANY: as
 * METRIC_OPEN, but of each process or syscall, or with many lines for each cgroup: they leave a
 * quarter of the room to the others. */
enum metric_set { METRIC_OPEN, METRIC_MANY, METRIC_FIXED };

enum {
	METRIC_LABELS = 8,
	METRIC_VALUE_SZ = 256, /* bytes of a label value; longer ones are cut */
	METRIC_BUCKETS = 14, /* finite ones: registry_bounds_ns */
	METRIC_POWERS_BUCKETS = 25, /* 1 us to 16.8 s */
	METRIC_HISTOGRAM_LINES = METRIC_BUCKETS + 3, /* +Inf, sum, count */
};

struct metric_row {
	const char *name, *help;
	uint8_t kind, unit, set;
	const char *labels[METRIC_LABELS + 1]; /* NULL-terminated */
};

extern const uint64_t registry_bounds_ns[METRIC_BUCKETS];

struct registry;
struct series;

struct registry_opts {
	size_t sz; /* sizeof(struct registry_opts); new fields go last */
	uint32_t max_lines; /* of series of open sets, histograms count each bucket; 0: 50,000 */
	uint64_t idle_ns; /* a series that nothing was added to for so long may be evicted when
			     there is no room; 0: an hour */
};

/* Borrows @rows. Returns 0 or -ENOMEM with *out untouched. opts may be NULL. */
int registry_new(struct registry **out, const struct metric_row *rows, size_t n_rows,
		 const struct registry_opts *opts);
void registry_free(struct registry *r);
/* Applies other limits from now on. A lower number of lines ends no series that is used. */
void registry_set_limits(struct registry *r, const struct registry_opts *opts);

/* The value of a label; len 0: unknown, the label is left out. Any bytes: invalid UTF-8 and control
 * characters are replaced. */
struct label_value {
	const char *p;
	size_t len;
};

/* Of a string; NULL: unknown. */
static inline struct label_value label_of(const char *s)
{
	return (struct label_value){s, s ? strlen(s) : 0};
}

/*
 * Returns the series with these values, one per label of the row (NULL: a row without labels).
 * Makes it if it does not exist; without room or memory for it, returns the series `other`.
 * Borrowed until the next call of registry_series or registry_end. @now_ns never decreases.
 */
struct series *registry_series(struct registry *r, size_t row, const struct label_value *values,
			       uint64_t now_ns);

/* Returns the series with these values, NULL: it does not exist. */
struct series *registry_find(struct registry *r, size_t row, const struct label_value *values);

void series_add(struct series *s, uint64_t n);
/* For gauges, and for totals that are read from elsewhere: a lower value than before is ignored
 * there. */
void series_set(struct series *s, uint64_t value);

/* The trace that an observation belongs to. */
struct exemplar {
	struct label_value trace_id;
	uint64_t at_ns; /* since the epoch */
};

/* Adds an observation to a histogram. @exemplar: NULL: none. */
void series_observe(struct series *s, uint64_t ns, const struct exemplar *exemplar);

/* For histograms whose totals are read from elsewhere: @buckets has each finite bucket, and +Inf.
 * Lower values than before are ignored. */
void series_set_buckets(struct series *s, const uint64_t *buckets, uint64_t sum_ns);

/* Adds the differences since the last read to a histogram that is counted elsewhere. */
void series_add_buckets(struct series *s, const uint64_t *buckets, uint64_t sum_ns);

/* The owner of the series has ended: adds its value to `other`, and removes it. NULL is allowed. */
void registry_end(struct registry *r, struct series *s);

/* The owner of a series has other labels from now on: moves the value of the series @old, if there
 * is one, to the series @new. */
void registry_rename(struct registry *r, size_t row, const struct label_value *old,
		     const struct label_value *new, uint64_t now_ns);

struct registry_stats {
	uint64_t n_lines; /* as max_lines counts, and those of fixed sets and `other` */
	uint64_t n_evicted,
		n_refused; /* series that ended; values added to `other` for lack of room */
};
void registry_get_stats(const struct registry *r, struct registry_stats *st);

#endif /* SAKER_EXPORTER_REGISTRY_H */
