/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector: all state of one source. */
#ifndef SINSP_STATE_INSPECTOR_H
#define SINSP_STATE_INSPECTOR_H

#include "code_maps.h"
#include "cpu_use.h"
#include "derived.h"
#include "ifaces.h"
#include "resync.h"
#include "sinsp.h"
#include "switches.h"
#include "thread_table.h"
#include "user_table.h"

struct sinsp_lookup; /* container/container_lookup.h */
struct sinsp_requests; /* requests/requests.h */
struct sinsp_spans; /* markers/spans.h */
struct sinsp_symbols; /* symbols/symbols.h */
struct sinsp_timeline; /* timeline/timeline.h */

/* The sample of the current exit event, which came before it: --sample-on syscall. */
struct sinsp_call_sample {
	struct sinsp_saved_enter *saved; /* owned; NULL: none */
	struct scap_evt raw;
	struct scap_params params;
	uint8_t is_written; /* sinsp_evt_written was called for it */
};

struct sinsp {
	struct scap *src;
	const char *source_name; /* NULL: none */
	const char *debug_dirs; /* NULL: none */
	uint8_t interpreter_frames; /* stacks have the native frames of interpreters, too */
	struct sinsp_threads threads;
	struct sinsp_ifaces ifaces;
	struct sinsp_users users;
	struct sinsp_switches switches;
	struct sinsp_cpu_clock cpu_clock;
	struct sinsp_code_maps code_maps;
	struct sinsp_symbols *symbols; /* NULL: no frame was named yet */
	struct sinsp_requests *requests; /* derives events of requests; NULL: none are wanted */
	uint64_t n_events; /* returned so far */
	struct sinsp_call_sample call_sample;
	struct sinsp_derived derived;
	struct sinsp_timeline *timeline; /* NULL: not requested */
	struct sinsp_spans *spans; /* NULL: no event tracer yet */

	/* Ended by the last event, removed before the next. */
	int64_t ended_tid, reaper_tid; /* ended_tid -1: none */
	int64_t closed_tid, closed_fd; /* closed_fd -1: none */
	int64_t execed_tid; /* the thread that called the current exec, if not the leader */

	sinsp_before_fn before; /* NULL: none */
	void *before_ctx;
	sinsp_section_fn section; /* NULL: none */
	void *section_ctx;
	struct scap_state_build *machine; /* users and interfaces at the beginning */

	uint64_t first_ns;
	char hostname[128]; /* of the section */
	uint8_t native; /* events of saker, whose exit events are complete */
	uint8_t begun; /* an event after the section's preface was seen */
	uint8_t evt_in_preface; /* the current event is a container of the preface */

	const char **suppress_comms; /* NULL: none */
	int64_t tree_root;
	uint8_t enter_events;
	uint16_t hidden_flags; /* SCAP_EVT_F_*: hide events with any of these */
	struct sinsp_resync resync;
	scap_log_fn log; /* NULL: no messages */
	void *log_ctx;
	uint8_t container_events; /* live: new containers become events */
	struct sinsp_lookup *lookup; /* NULL: no queries */
	uint8_t section_due; /* a new section begins behind the derived events */
	uint32_t derive; /* SINSP_DERIVE_*: in each section */
	uint8_t warned_refused; /* sinsp_warn_refused logged */
};

/* Returns the user or group with @id as @t sees it (NULL: on the host), or NULL. */
const struct sinsp_name *sinsp_thread_user(const struct sinsp *s, const struct sinsp_thread *t,
					   enum sinsp_name_kind kind, uint32_t id);

/* Queries container engines about new containers, and injects an event for each answer. */
void sinsp_step_containers(struct sinsp *s);

/* Marks the thread as hidden if its name or an ancestor is, and as part of the selected tree.
 * Called when a thread starts or changes its name. */
void sinsp_thread_mark(struct sinsp *s, struct sinsp_thread *t, const struct sinsp_thread *parent);

/* Logs once that something of the state was dropped for lack of room or memory. */
void sinsp_warn_refused(struct sinsp *s);

#endif /* SINSP_STATE_INSPECTOR_H */
