/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the rings: what a kind implements, and how live_load.c opens them. */
#ifndef SCAP_RING_RING_IMPL_H
#define SCAP_RING_RING_IMPL_H

#include "ring/ring.h"

struct ring_ops {
	const char *name;
	/* What the kind needs of the kernel for a ring of @sz bytes for @cpu, to be put into the
	 * driver's map: a descriptor, or a negative errno. NULL: nothing. */
	int (*create)(unsigned int cpu, size_t sz);
	/* Maps what the kind needs. @fd: array, the CPU's map; ringbuf, its ring buffer; perf, its
	 * perf event. */
	int (*open)(struct ring *r, int fd);
	uint64_t (*head)(struct ring *r); /* position after the last complete record */
	/* The record at r->pos, below r->head; NULL: no sense in it. *step: what it takes up. */
	const struct rec_hdr *(*at)(struct ring *r, uint64_t *step);
	void (*release)(struct ring *r); /* everything below r->pos is read */
	void (*close)(struct ring *r);
};

extern const struct ring_ops ring_array_ops, ring_ringbuf_ops, ring_perf_ops;

#define RING_RUN_MAX 64

/* A record of a run, see ring.c. */
struct ring_item {
	uint64_t pos, step, key;
};

/* A ring buffer that several CPUs write: each has a struct ring of its own, which sees only what is
 * of its CPU. */
struct ring_shared {
	struct ring *first; /* by next_sharer */
	uint64_t written; /* below it, nobody's record is still being written */
};

struct ring {
	const struct ring_ops *ops;
	struct ring_hdr *hdr; /* shared with the driver */
	const struct drv_slot *slot; /* shared: this CPU's open call */
	unsigned int cpu;
	uint64_t sz; /* bytes of data, a power of two */
	uint64_t head; /* at the last refresh, in the kind's own positions */
	uint64_t settled; /* below it, no writer was at work any more */
	uint64_t pos; /* of the next record to peek at */
	uint64_t step; /* to the record after it; 0: not looked at yet */
	const struct rec_hdr *rec; /* at pos, if step is set */
	struct ring_item run[RING_RUN_MAX]; /* from pos to run_end, by key, the next one last */
	unsigned int n_run;
	uint64_t run_end;
	uint64_t n_read; /* bytes of records advanced over, as ring_hdr counts them */
	uint64_t n_corrupt;
	struct ring_shared *shared; /* ringbuf; NULL: the ring is this CPU's alone */
	struct ring *next_sharer;
	int held_back; /* shared: head is lower than it was, as a record there is not yet written */
	void *base; /* the kind's mapping */
	size_t base_sz;
	void *base2; /* ringbuf: the consumer's page; perf: room for records that straddle */
};

/* The map of one CPU, which the driver's map of rings refers to. A descriptor or a negative errno.
 */
int ring_map_create(int kind, size_t ring_sz);

/* @map_fd: of ring_map_create. @slots: the driver's. 0 or a negative errno. */
int ring_open(struct ring **out, const struct ring_ops *ops, unsigned int cpu, size_t ring_sz,
	      int map_fd, int kind_fd, const struct drv_slot *slots);
void ring_close(struct ring *r);

/* @r, of the kind ringbuf and not yet looked at, is one of those that share @shared. */
void ring_share(struct ring *r, struct ring_shared *shared);

/* Does a record of @len bytes at @rec, of which @room are there, add up? */
int ring_rec_ok(const struct rec_hdr *rec, uint64_t room);

#endif /* SCAP_RING_RING_IMPL_H */
