/* SPDX-License-Identifier: Apache-2.0 */
/* What a living process has mapped, of which no event told: from /proc/PID/maps. */
#ifndef SINSP_SYMBOLS_PROC_MAPS_H
#define SINSP_SYMBOLS_PROC_MAPS_H

#include <stdio.h>

#include "state/code_maps.h"

/* Adds the executable mappings of files that @maps lists. 0 or -ENOMEM. */
int sinsp_proc_maps_read(struct sinsp_code_maps *m, int64_t pid, FILE *maps);

/* The same of the process; one that is not there any more has none. */
int sinsp_proc_maps_load(struct sinsp_code_maps *m, int64_t pid);

#endif /* SINSP_SYMBOLS_PROC_MAPS_H */
