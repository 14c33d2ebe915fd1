/* SPDX-License-Identifier: Apache-2.0 */
/* The selection that the driver gets: the settings and maps that driver/select.bpf.h reads. */
#ifndef SCAP_LIVE_LIVE_SELECT_H
#define SCAP_LIVE_LIVE_SELECT_H

#include "scap.h"
#include "shared/config.h"

/* Descriptors of the driver's maps; -1: not created. */
struct live_select_maps {
	int marks, comms, suppressed, uids, cgroups;
};

/* Sets the selection in @c; @s NULL: everything is recorded. Returns 0, or a negative errno after
 * reporting the reason. */
int live_select_config(struct drv_config *c, const struct scap_select *s,
		       const struct scap_log *log);

/* Fills the lists, before the driver is attached. Returns 0, or a negative errno after reporting
 * the reason. */
int live_select_fill(const struct live_select_maps *maps, const struct scap_select *s,
		     const struct scap_log *log);

/* Marks suppressed processes, and the existing descendants of those in @s. Must be called when the
 * kernel already marks new ones, and before calls are recorded. Returns 0 or a negative errno. */
int live_select_mark(const struct live_select_maps *maps, const struct scap_select *s);

/*
 * Returns whether one of the processes selected by PID, or of their marked descendants, lives. A
 * query while a mark passes from parent to child may miss the living one, but not twice in a row.
 */
int live_select_any_lives(const struct live_select_maps *maps);

#endif /* SCAP_LIVE_LIVE_SELECT_H */
