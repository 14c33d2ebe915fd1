/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State events of one process that no written event needs yet, in the order of the stream.
 * Applied in that order, what a list holds leads to the same state before and after it is reduced.
 */
#ifndef SAKER_HELD_LIST_H
#define SAKER_HELD_LIST_H

#include <stddef.h>

#include "scap.h"

/* What an event does to the state. */
enum held_kind {
	HELD_OTHER,
	HELD_SETS, /* the facts of group key, as every event of that group does */
	HELD_MAKES_FILE, /* number key, which had no file */
	HELD_COPIES_FILE, /* key to number made, which may have had one unless is_new */
	HELD_CHANGES_FILE,
	HELD_IO, /* a transfer, which reports the peers of the socket key */
	HELD_ENDS_FILE,
	HELD_MAKES_THREAD, /* key is its TID */
	HELD_ENDS_THREAD,
};

struct held_what {
	enum held_kind kind;
	int64_t key, made;
	int copies_files; /* HELD_MAKES_THREAD: the new thread has a table of files of its own */
	int is_new;
	int with_next; /* an enter: it goes with the exit that follows it */
};

struct held_list {
	uint8_t *p; /* owned */
	size_t len, cap;
	size_t reduce_at; /* reduced when it is longer */
	uint32_t n;
};

/* Copies @evt to the end. 0 or -ENOMEM. */
int held_list_add(struct held_list *l, const struct scap_evt *evt, const struct held_what *what);

/* Returns whether no event that may come has to do with the thread any more. */
typedef int (*held_gone_fn)(void *ctx, int64_t tid);

/* Removes what has no effect at the end of the list: files that are closed again, threads that
 * have ended. Keeps all without memory. */
void held_list_reduce(struct held_list *l, held_gone_fn is_gone, void *ctx);

/* Calls @fn for each event; ends with the first error, which it returns. */
int held_list_each(const struct held_list *l,
		   int (*fn)(void *ctx, const struct scap_evt *evt, const struct held_what *what),
		   void *ctx);

void held_list_clear(struct held_list *l);

#endif /* SAKER_HELD_LIST_H */
