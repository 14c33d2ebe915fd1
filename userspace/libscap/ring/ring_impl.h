/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of rings: what a kind implements, and how live_load.c opens them. */
#ifndef SCAP_RING_RING_IMPL_H
#define SCAP_RING_RING_IMPL_H

#include "ring/ring.h"

struct ring_ops {
	const char *name;
	/* Creates what the kind needs from the kernel for @cpu's ring of @sz bytes, to be put into
	 * the driver's map: a descriptor, or a negative errno. NULL: nothing is needed. */
	int (*create)(unsigned int cpu, size_t sz);
	/*
	 * Maps the ring. @fd: array, the CPU's map; ringbuf, its ring buffer; perf, its perf event.
	 */
	int (*open)(struct ring *r, int fd);
	uint64_t (*head)(struct ring *r); /* position after the last complete record */
	/*
	 * Returns the record at r->pos, below r->head; NULL: invalid. *step: its size in the ring.
	 */
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

/* A ring buffer that several CPUs write: each has a struct ring, which sees only the records of its
 * CPU. */
struct ring_shared {
	struct ring *first; /* by next_sharer */
	uint64_t written; /* all records below it are written */
};

struct ring {
	const struct ring_ops *ops;
	struct ring_hdr *hdr; /* shared with the driver, as slot */
	struct drv_slot *slot; /* of this CPU: its open call, and where writers and reader are */
	unsigned int cpu;
	uint64_t sz; /* bytes of data, a power of two */
	uint64_t head; /* as of the last refresh, in positions of the kind */
	uint64_t settled; /* no writer was in flight below it */
	uint64_t pos; /* position of the next record to peek at */
	uint64_t step; /* distance to the record after it; 0: not read yet */
	const struct rec_hdr *rec; /* the record at pos, if step is set */
	struct ring_item
		run[RING_RUN_MAX]; /* records from pos to run_end, by key, the next one last */
	unsigned int n_run;
	uint64_t run_end;
	uint64_t n_read; /* bytes of records advanced over, in positions of ring_hdr */
	uint64_t n_corrupt;
	struct ring_shared *shared; /* ringbuf; NULL: the ring belongs to this CPU alone */
	struct ring *next_sharer;
	int held_back; /* shared: head lies before a record that is not written yet */
	void *base; /* mapping of the kind */
	size_t base_sz;
	void *base2; /* ringbuf: the consumer's page; perf: room for records that wrap */
};

/* Creates the map of one CPU, which the driver's map of rings refers to. Returns a descriptor or a
 * negative errno. */
int ring_map_create(int kind, size_t ring_sz);

/* @map_fd: from ring_map_create. @slots: the driver's. Returns 0 or a negative errno. */
int ring_open(struct ring **out, const struct ring_ops *ops, unsigned int cpu, size_t ring_sz,
	      int map_fd, int kind_fd, struct drv_slot *slots);
void ring_close(struct ring *r);

/* Makes @r, of the kind ringbuf and unread, one of the sharers of @shared. */
void ring_share(struct ring *r, struct ring_shared *shared);

/* Returns whether a record of @len bytes at @rec, of which @room are there, is valid. */
int ring_rec_ok(const struct rec_hdr *rec, uint64_t room);

#endif /* SCAP_RING_RING_IMPL_H */
