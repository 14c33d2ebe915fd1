/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a struct scap_state: copies what it is given into one arena. Used by the
 * /proc scan, the file reader and tests.
 */
#ifndef SCAP_PROCFS_STATE_BUILD_H
#define SCAP_PROCFS_STATE_BUILD_H

#include "state.h"

struct scap_state_build;

struct scap_state_build *scap_state_build_new(void); /* NULL: no memory */
void scap_state_build_free(struct scap_state_build *b);

/* All copy; 0 or -ENOMEM. NULL text becomes "". A thread's fds member is ignored. */
int scap_state_build_machine(struct scap_state_build *b, const struct scap_machine *m);
int scap_state_build_thread(struct scap_state_build *b, const struct scap_thread_info *t);
/* A file of the thread @tid, which may be added before or after it. */
int scap_state_build_fd(struct scap_state_build *b, uint64_t tid, const struct scap_fd_info *fd);
int scap_state_build_user(struct scap_state_build *b, const struct scap_user *u);
int scap_state_build_group(struct scap_state_build *b, const struct scap_group *g);
int scap_state_build_iface(struct scap_state_build *b, const struct scap_iface *i);

/* Moves all threads and files of @from, built beside @b. Where both have their processes in the
 * order of their numbers, so they are then. 0 or -ENOMEM; @from can only be freed. */
int scap_state_build_join(struct scap_state_build *b, struct scap_state_build *from);

/* Ties files to threads. The result is borrowed until the next change or the free. */
const struct scap_state *scap_state_build_done(struct scap_state_build *b);

#endif /* SCAP_PROCFS_STATE_BUILD_H */
