/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that wait to be sent, oldest first: in memory, and beyond its limit in files of a
 * directory, if there is one. Adding a batch takes a lock for a moment and never waits for a disk:
 * a thread of the queue writes the files.
 *
 * Invariants: batches leave in the order in which they came, those of an earlier run first;
 * items added or found = sent + dropped (by reason) + queued.
 */
#ifndef OTLP_QUEUE_H
#define OTLP_QUEUE_H

#include <stddef.h>
#include <stdint.h>

enum otlp_signal { OTLP_TRACES, OTLP_METRICS, OTLP_LOGS, OTLP_SIGNALS };
extern const char *const otlp_signal_names[OTLP_SIGNALS];

/* Why items never arrived. */
enum otlp_drop {
	OTLP_DROP_QUEUE_FULL,
	OTLP_DROP_REFUSED, /* the collector answered with an error that is final */
	OTLP_DROP_REJECTED, /* it accepted the batch without these (partial success) */
	OTLP_DROP_DAMAGED, /* a file of the queue */
	OTLP_DROP_NO_MEMORY, /* or too large */
	OTLP_DROP_EXPIRED, /* the collector did not accept it within otlp_sender_opts.max_age_ns */
	OTLP_DROP_ENDED, /* not sent when saker ended, and no directory */
	OTLP_DROPS
};
extern const char *const otlp_drop_names[OTLP_DROPS];

struct otlp_batch {
	struct otlp_batch *next;
	uint64_t seq; /* its place in the order, and its name on disk */
	uint32_t n_items;
	uint8_t signal; /* enum otlp_signal */
	uint8_t on_disk; /* a file has it, too */
	uint64_t age_ns; /* how long the collector did not accept it; used by the sender */
	size_t len;
	uint8_t bytes[];
};

/* Returns a copy of the bytes, owned by the caller (free); NULL: no memory. */
struct otlp_batch *otlp_batch_new(enum otlp_signal signal, const void *p, size_t len,
				  uint32_t n_items);

struct otlp_queue_opts {
	size_t sz;
	size_t memory_sz; /* 0: 16 MiB */
	const char *dir; /* made if it does not exist; NULL: memory only. Borrowed */
	uint64_t dir_sz; /* 0: 256 MiB */
};

struct otlp_queue_stats {
	uint64_t added[OTLP_SIGNALS]; /* items */
	uint64_t sent[OTLP_SIGNALS]; /* done */
	uint64_t dropped[OTLP_SIGNALS][OTLP_DROPS];
	uint64_t queued; /* items, with those that are being sent */
	uint64_t memory, disk; /* bytes */
	uint64_t disk_errors;
};

struct otlp_queue;

/* Reads the names of the files that an earlier run left. Returns 0, or a negative errno; -EPERM:
 * the directory is another user's, or others can write to it; -EBUSY: another queue has it. */
int otlp_queue_new(struct otlp_queue **out, const struct otlp_queue_opts *opts);
/* Starts the thread that writes files, if there is a directory. Returns 0, or a negative errno. */
int otlp_queue_start(struct otlp_queue *q);
/* Writes what is left to the directory, where it stays queued; drops it without one, or if that
 * fails. To be called when no thread takes batches any more. */
void otlp_queue_save(struct otlp_queue *q);
/* Saves it before. NULL is allowed. */
void otlp_queue_free(struct otlp_queue *q);

/* Takes the batch (NULL is allowed). Drops the oldest ones if there is no room. */
void otlp_queue_add(struct otlp_queue *q, struct otlp_batch *batch);
/* The same for a source that can wait, such as a file: returns when there is room, the queue ends,
 * or
 * @stops says so, as of a signal. */
void otlp_queue_add_wait(struct otlp_queue *q, struct otlp_batch *batch, int (*stops)(void));

/* Counts items for which there was no memory. */
void otlp_queue_lost(struct otlp_queue *q, enum otlp_signal signal, uint32_t n_items);

/* Takes the oldest batch out, which stays queued until it is done. Waits up to @wait_ns. NULL:
 * none.
 */
struct otlp_batch *otlp_queue_take(struct otlp_queue *q, uint64_t wait_ns);
/* The batch was accepted, but for @rejected of its items. Frees it. */
void otlp_queue_done(struct otlp_queue *q, struct otlp_batch *batch, uint64_t rejected);
/* Drops the batch. */
void otlp_queue_drop(struct otlp_queue *q, struct otlp_batch *batch, enum otlp_drop why);
/* Puts it back in front of all. */
void otlp_queue_return(struct otlp_queue *q, struct otlp_batch *batch);

/* Ends waits, now and later. */
void otlp_queue_end(struct otlp_queue *q);
void otlp_queue_get_stats(struct otlp_queue *q, struct otlp_queue_stats *st);

#endif /* OTLP_QUEUE_H */
