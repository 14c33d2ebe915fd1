/* SPDX-License-Identifier: Apache-2.0 */
/* State events of one process that no written event needs yet, in stream order. Reducing a list
 * keeps the state that it leads to. */
#ifndef SAKER_HELD_LIST_H
#define SAKER_HELD_LIST_H

#include <stddef.h>

#include "scap.h"

/* The effect of an event on the state. */
enum held_kind {
	HELD_OTHER,
	HELD_SETS, /* the facts of group key, as every event of that group has */
	HELD_MAKES_FILE, /* descriptor key, which had no file */
	HELD_COPIES_FILE, /* descriptor made from key; it may have had a file unless is_new */
	HELD_CHANGES_FILE,
	HELD_IO, /* data transfer, which shows the peers of socket key */
	HELD_ENDS_FILE,
	HELD_COPIES_FILES, /* a thread has an fd table of its own from here on */
	HELD_MAKES_THREAD, /* key is its TID */
	HELD_ENDS_THREAD,
};

struct held_what {
	enum held_kind kind;
	int64_t key, made;
	int copies_files; /* HELD_MAKES_THREAD: the new thread has its own fd table */
	int is_new;
	int with_next; /* an enter: stays with the exit that follows */
};

struct held_list {
	uint8_t *p; /* owned */
	size_t len, cap;
	size_t reduce_at; /* reduced when it grows beyond this */
	uint32_t n;
};

struct held_reducer;

/* Appends a copy of @evt. Returns 0 or -ENOMEM. */
int held_list_add(struct held_list *l, const struct scap_evt *evt, const struct held_what *what);

/* Returns whether no later event can concern the thread. */
typedef int (*held_gone_fn)(void *ctx, int64_t tid);

/* Memory for reducing lists, one after the other. NULL: no memory. */
struct held_reducer *held_reducer_new(void);
void held_reducer_free(struct held_reducer *d);

/* Removes events without effect at the end of the list: descriptors that are closed again, threads
 * that have ended. Keeps all without memory. */
void held_list_reduce(struct held_reducer *d, struct held_list *l, held_gone_fn is_gone, void *ctx);

/* Removes the end of the thread, if the list has it. */
void held_list_drop_end(struct held_list *l, int64_t tid);

/* Calls @fn for each event until the first error, which it returns. */
int held_list_each(const struct held_list *l,
		   int (*fn)(void *ctx, const struct scap_evt *evt, const struct held_what *what),
		   void *ctx);

void held_list_clear(struct held_list *l);

#endif /* SAKER_HELD_LIST_H */
