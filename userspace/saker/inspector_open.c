/* SPDX-License-Identifier: Apache-2.0 */
#include "inspector_open.h"

#include <string.h>

#include "privileges.h"
#include "redact/redact.h"
#include "say.h"

struct sinsp_lookup *inspector_lookup(const char *socket, const char *cri, const char *root)
{
	const struct sinsp_lookup_opts opts = {
		.sz = sizeof(opts),
		.socket = socket,
		.cri = cri,
		.root = root,
		.on_start = privileges_drop_to_files,
	};
	struct sinsp_lookup *lookup = NULL;
	int err;

	if (socket && strcmp(socket, "none") == 0)
		return NULL;
	err = sinsp_lookup_new(&lookup, &opts);
	if (err)
		say("cannot start the thread that queries names of containers: %s", strerror(-err));
	return lookup;
}

void inspector_keep_requests(struct scap_open_opts *opts)
{
	static const struct scap_snap_port all = {.from = 0, .to = UINT16_MAX, .snaplen = 2048};

	opts->snap_ports = &all;
	opts->n_snap_ports = 1;
}

void inspector_report_redacted(const struct scap_redact *redact)
{
	struct scap_redact_counts n;

	if (!redact)
		return;
	scap_redact_get_counts(redact, &n);
	if (n.n_unsearched)
		say_notice("%llu values were redacted; %llu of them as a whole, since their search "
			   "exceeded its limit",
			   (unsigned long long)n.n, (unsigned long long)n.n_unsearched);
	else
		say_notice("%llu values were redacted", (unsigned long long)n.n);
}

int inspector_open(struct sinsp **out, const struct scap_open_opts *opts,
		   const struct sinsp_opts *inspector)
{
	const unsigned int before = say_n_errors();
	struct scap *source;
	int err = scap_open(&source, opts);

	if (err)
		sinsp_lookup_free(inspector->lookup);
	else
		err = sinsp_open(out, source, inspector);
	if (err)
		say_cause(before, opts->paths ? opts->paths[0] : "cannot capture", err);
	return err;
}
