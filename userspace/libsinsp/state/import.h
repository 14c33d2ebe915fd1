/* SPDX-License-Identifier: Apache-2.0 */
/* Imports threads and descriptors from a snapshot of /proc or the state in a file. */
#ifndef SINSP_STATE_IMPORT_H
#define SINSP_STATE_IMPORT_H

#include "thread_table.h"

/* Loads the state into an empty table. Returns 0 or -ENOMEM. */
int sinsp_import_state(struct sinsp_threads *tt, const struct scap_state *st);
/* Returns whether something in the state may have been changed by events that were lost before it.
 * It is then older than that time. */
#define SINSP_LOST_BEFORE_NS 1
int sinsp_state_is_uncertain(const struct scap_state *st);
/* Adds a thread with its descriptors, or replaces a stand-in. NULL: no memory, or no room. */
struct sinsp_thread *sinsp_import_thread(struct sinsp_threads *tt,
					 const struct scap_thread_info *info);

/* Updates all of @t except its descriptors; @info is the same thread. */
void sinsp_import_refresh(struct sinsp_threads *tt, struct sinsp_thread *t,
			  const struct scap_thread_info *info);
/* Adds one descriptor; keeps the known one if it is the same. NULL: no memory, or too many. */
struct sinsp_fd *sinsp_import_fd(struct sinsp_threads *tt, struct sinsp_files *files,
				 const struct scap_fd_info *info);

/* One bit per port with a listening socket: the end with such a port is the server. */
struct sinsp_ports {
	uint64_t bits[65536 / 64];
};

void sinsp_ports_find(struct sinsp_ports *ports, const struct sinsp_threads *tt);

static inline int sinsp_ports_has(const struct sinsp_ports *ports, uint16_t port)
{
	return ports->bits[port / 64] >> port % 64 & 1;
}

#endif /* SINSP_STATE_IMPORT_H */
