/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that follow events share when they open their source. */
#ifndef SAKER_INSPECTOR_OPEN_H
#define SAKER_INSPECTOR_OPEN_H

#include "container/container_lookup.h"
#include "sinsp.h"

/* Starts queries of container engines at @socket; NULL: the usual ones, "none": no queries. @cri:
 * socket that is queried for labels of pods; NULL: none. @root: before the usual paths; NULL:
 * nothing. Returns NULL without queries, after reporting a failure: then containers have no names,
 * which is no error. */
struct sinsp_lookup *inspector_lookup(const char *socket, const char *cri, const char *root);

/* Keeps as much of the data on sockets as requests need. */
void inspector_keep_requests(struct scap_open_opts *opts);

/* Reports how many values were redacted. NULL: nothing. */
void inspector_report_redacted(const struct scap_redact *redact);

/* Opens a source, live or the file opts->paths[0], and its inspector. Takes ownership of
 * inspector->lookup. Returns 0, or a negative errno after reporting it. */
int inspector_open(struct sinsp **out, const struct scap_open_opts *opts,
		   const struct sinsp_opts *inspector);

#endif /* SAKER_INSPECTOR_OPEN_H */
