/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a struct scap_state: copies its input into one arena. Used by the /proc scan, the file
 * reader and tests. */
#ifndef SCAP_PROCFS_STATE_BUILD_H
#define SCAP_PROCFS_STATE_BUILD_H

#include "state.h"

struct scap_state_build;

struct scap_state_build *scap_state_build_new(void); /* NULL: no memory */
void scap_state_build_free(struct scap_state_build *b);

/* All copy and return 0 or -ENOMEM. NULL text becomes "". A thread's member fds is ignored. */
int scap_state_build_machine(struct scap_state_build *b, const struct scap_machine *m);
int scap_state_build_thread(struct scap_state_build *b, const struct scap_thread_info *t);
/* Adds a file of the thread @tid, which may be added before or after it. */
int scap_state_build_fd(struct scap_state_build *b, uint64_t tid, const struct scap_fd_info *fd);
int scap_state_build_user(struct scap_state_build *b, const struct scap_user *u);
int scap_state_build_group(struct scap_state_build *b, const struct scap_group *g);
int scap_state_build_iface(struct scap_state_build *b, const struct scap_iface *i);

int scap_state_build_turn(struct scap_state_build *b, const struct scap_turn *turn);

/* Moves all threads and files of @from to @b. If both have their processes in order of PIDs, the
 * result has, too. Returns 0 or -ENOMEM; afterwards @from can only be freed. */
int scap_state_build_join(struct scap_state_build *b, struct scap_state_build *from);

/* Assigns files to threads. The result is borrowed until the next change or the free. */
const struct scap_state *scap_state_build_done(struct scap_state_build *b);

#endif /* SCAP_PROCFS_STATE_BUILD_H */
