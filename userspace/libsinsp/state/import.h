/* SPDX-License-Identifier: Apache-2.0 */
/* Takes over what libscap knows of the machine's threads and files. */
#ifndef SINSP_STATE_IMPORT_H
#define SINSP_STATE_IMPORT_H

#include "threads.h"

/* Into an empty table. 0 or -ENOMEM. */
int sinsp_import_state(struct sinsp_threads *tt, const struct scap_state *st);
/* One thread with its files; replaces a stand-in. NULL: no memory, or no room. */
struct sinsp_thread *sinsp_import_thread(struct sinsp_threads *tt,
					 const struct scap_thread_info *info);

/* What @info says anew of @t, which is the same thread: all but its files. */
void sinsp_import_refresh(struct sinsp_threads *tt, struct sinsp_thread *t,
			  const struct scap_thread_info *info);
/* One file. What was known of it is kept if it is still the same. NULL: no memory, or too many. */
struct sinsp_fd *sinsp_import_fd(struct sinsp_threads *tt, struct sinsp_files *files,
				 const struct scap_fd_info *info);

/* One bit per port on which somebody listens: tells which end of a connection is ours. */
struct sinsp_ports {
	uint64_t bits[65536 / 64];
};

void sinsp_ports_find(struct sinsp_ports *ports, const struct sinsp_threads *tt);

static inline int sinsp_ports_has(const struct sinsp_ports *ports, uint16_t port)
{
	return ports->bits[port / 64] >> port % 64 & 1;
}

#endif /* SINSP_STATE_IMPORT_H */
