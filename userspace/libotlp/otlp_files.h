/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches as files of a directory, one each: SEQUENCE.SIGNAL.ITEMS.otlp, where the sequence orders
 * them. A file gets its name when it is complete, and has a checksum: what a crash cut is found.
 */
#ifndef OTLP_FILES_H
#define OTLP_FILES_H

#include "otlp_queue.h"

enum { OTLP_FILE_MIN_SZ = 4096 }; /* each counts as so much at least: their number is bounded */

struct otlp_file {
	uint64_t seq, size; /* size: as it counts */
	uint32_t n_items;
	uint8_t signal;
};

/* Opens the directory, making it if needed (not its parents), for the owner alone. Returns a
 * descriptor, or a negative errno. */
int otlp_dir_open(const char *path);
/* Lists the files, oldest first, and removes unfinished ones. Returns their number with *out owned
 * by the caller (free), or a negative errno. */
int otlp_dir_list(struct otlp_file **out, int dir);

enum otlp_sync { OTLP_SYNC_LATER, OTLP_SYNC_NOW };
/* Returns 0, or a negative errno with no file. OTLP_SYNC_NOW: it is on the disk then, name
 * included; else otlp_dir_sync is to follow. */
int otlp_file_write(int dir, const struct otlp_batch *batch, enum otlp_sync sync);
void otlp_dir_sync(int dir);
/* Returns 0 with *out owned by the caller (free); -EAGAIN: no descriptor or memory is free now;
 * -EBADMSG: it is damaged. */
int otlp_file_read(struct otlp_batch **out, int dir, const struct otlp_file *f);
void otlp_file_remove(int dir, const struct otlp_file *f);

/* Returns how much a batch of this length counts. */
uint64_t otlp_file_size(size_t len);

#endif /* OTLP_FILES_H */
