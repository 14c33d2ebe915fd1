/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests of capture files: files made by hand, lists of events. */
#ifndef SCAP_FILE_FILE_TESTING_H
#define SCAP_FILE_FILE_TESTING_H

#include "file/scap_file.h"
#include "file/scap_format.h"

#define MAX_EVTS 4096
#define T0 1700000000000000000ull

/* The last message and how many there were. */
extern struct said {
	char text[1024];
	int n_errors, n_all;
} said;
void hear(void *ctx, enum scap_log_level level, const char *text);
void hear_anew(void);

/* A directory of the test's own, as fixtures of a group; a file in it. */
int make_dir(void **state);
int remove_dir(void **state);
const char *path_of(const char *name);

/* Bytes that grow. */
struct bytes {
	uint8_t *p;
	size_t n;
};
void add_bytes(struct bytes *b, const void *p, size_t n);
#define ADD(b, type, v) add_bytes(b, &(type){v}, sizeof(type))
void add_text(struct bytes *b, const char *text);
void save(const char *path, const void *p, size_t n);
void load(struct bytes *b, const char *path);
/* A file in memory with these bytes, until the next call. */
const char *file_of(const void *p, size_t n);

/* Blocks: other tools' and of older versions. */
size_t begin_block(struct bytes *b, uint32_t type);
void end_block(struct bytes *b, size_t at);
void add_shb(struct bytes *b);
void add_event(struct bytes *b, const struct ppm_evt_hdr *evt);
/* One thread of the process list in version @v, with the fields that newer tools append. */
void add_process_list(struct bytes *b, uint32_t type, int v, const struct bytes *tail);
/* Files, interfaces and users of 2014. */
void add_old_lists(struct bytes *b);
/* An event with a header of 22 bytes and a length that is @extra too large. */
void add_old_event(struct bytes *b, uint32_t type, const struct ppm_evt_hdr *evt, int extra);

/* Events that were written, or read, kept as they were. */
struct list {
	struct scap_evt v[MAX_EVTS];
	size_t n;
};
void keep(struct list *l, const struct scap_evt *evt);
void list_fini(struct list *l);
/* An event with parameters of these lengths, filled with a pattern; to be changed in place. */
struct scap_evt *put_event(struct list *l, unsigned int type, unsigned int n, const uint32_t *lens);
void assert_same(const struct scap_evt *a, const struct scap_evt *b);

/* Reads all events, and the last result of scap_next. n_sections may be NULL. */
int read_paths(struct list *l, const char *const *paths, int *n_sections);
int read_path(struct list *l, const char *path);
int read_bytes(struct list *l, const void *p, size_t n);

extern const struct scap_state no_state;
void write_list(const struct list *l, const char *path, enum scap_compress compress);
/* Makes events, and a small file of them with state, options and counters. */
void make_small(struct bytes *b, struct list *l, enum scap_compress compress);
/* Writes such a file, each event in a drain of its own. Returns 0 or a negative errno. */
int write_small(const struct list *l, const char *path, enum scap_compress compress);

uint32_t random_u32(uint64_t *seed);

#endif /* SCAP_FILE_FILE_TESTING_H */
