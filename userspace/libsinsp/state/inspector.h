/* SPDX-License-Identifier: Apache-2.0 */
/* Inside libsinsp: an inspector, which is all that is known of a machine. */
#ifndef SINSP_STATE_INSPECTOR_H
#define SINSP_STATE_INSPECTOR_H

#include "code_maps.h"
#include "ifaces.h"
#include "resync.h"
#include "sinsp.h"
#include "switches.h"
#include "threads.h"
#include "users.h"

struct sinsp_lookup; /* container/container_lookup.h */
struct sinsp_symbols; /* symbols/symbols.h */

struct sinsp {
	struct scap *src;
	const char *source_name; /* NULL: not told */
	const char *debug_dirs; /* NULL: none */
	struct sinsp_threads threads;
	struct sinsp_ifaces ifaces;
	struct sinsp_users users;
	struct sinsp_switches switches;
	struct sinsp_code_maps code_maps;
	struct sinsp_symbols *symbols; /* NULL: nobody asked for the name of a frame yet */
	uint64_t n_events; /* handed out */

	/* What the last event ended, to be removed before the next. */
	int64_t ended_tid, reaper_tid; /* ended_tid -1: nobody */
	int64_t closed_tid, closed_fd; /* closed_fd -1: nothing */
	int64_t execed_tid; /* the thread that the current exec was called in, if not the leader */

	sinsp_before_fn before; /* NULL: none */
	void *before_ctx;
	sinsp_section_fn section; /* NULL: none */
	void *section_ctx;
	struct scap_state_build *machine; /* users, interfaces: what the source began with */

	uint64_t first_ns;
	char hostname[128]; /* of the section */
	uint8_t native; /* events come from saker: exits carry everything, and are right */
	uint8_t begun; /* an event that is not of the section's preface was seen */
	uint8_t evt_in_preface; /* the current event tells of containers before the first one */

	const char **suppress_comms; /* NULL: none */
	int64_t tree_root;
	uint8_t enter_events;
	uint16_t unshown_flags; /* SCAP_EVT_F_*: events with any of these are not shown */
	struct sinsp_resync resync;
	scap_log_fn log; /* NULL: silent */
	void *log_ctx;
	uint8_t container_events; /* live: new ones become events */
	struct sinsp_lookup *lookup; /* NULL: nobody is asked about them */
	uint8_t warned_fd_limit; /* that files are left out was said */
};

/* The user or group that @id is to @t (NULL: to the host). NULL: not known. */
const struct sinsp_name *sinsp_thread_user(const struct sinsp *s, const struct sinsp_thread *t,
					   enum sinsp_name_kind kind, uint32_t id);

/* Asks about containers that are new, and adds to the stream what is told of others. */
void sinsp_step_containers(struct sinsp *s);

/* Whether its name, or an ancestor's, is one that is not to be shown. Called when a thread
 * begins or changes its name. */
void sinsp_thread_mark(struct sinsp *s, struct sinsp_thread *t, const struct sinsp_thread *parent);

/* Logs once that descriptors are dropped because their tables are full. */
void sinsp_warn_fd_limit(struct sinsp *s);

#endif /* SINSP_STATE_INSPECTOR_H */
