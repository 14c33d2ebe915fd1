/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver is told to record: the settings and maps that driver/select.bpf.h reads. */
#ifndef SCAP_LIVE_LIVE_SELECT_H
#define SCAP_LIVE_LIVE_SELECT_H

#include "scap.h"
#include "shared/config.h"

/* The driver's maps, by file descriptor; -1: not made. */
struct live_select_maps {
	int marks, comms, suppressed, uids, cgroups;
};

/* Sets what of @c is about selection; @s NULL: everything is recorded. 0, or a negative errno
 * after saying why. */
int live_select_config(struct drv_config *c, const struct scap_select *s,
		       const struct scap_log *log);

/* Fills the lists, before the driver is attached. 0, or a negative errno after saying why. */
int live_select_fill(const struct live_select_maps *maps, const struct scap_select *s,
		     const struct scap_log *log);

/* Marks the processes of suppressed names, and the descendants that those of @s have already. To be
 * called when new ones get their mark in the kernel, and before calls are recorded. 0 or a negative
 * errno. */
int live_select_mark(const struct live_select_maps *maps, const struct scap_select *s);

/* Processes were chosen by number: does one of them, or of their marked descendants, live? Who asks
 * while a mark passes from parent to child may miss the one that lives, but not twice. */
int live_select_any_lives(const struct live_select_maps *maps);

#endif /* SCAP_LIVE_LIVE_SELECT_H */
