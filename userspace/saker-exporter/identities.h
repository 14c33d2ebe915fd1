/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which container and pod a cgroup belongs to, as labels: by its path, and the names that the
 * container look-up finds. An entry is kept by the id of the cgroup as long as that is in the
 * snapshots with this path. What is unknown is an empty label.
 */
#ifndef SAKER_EXPORTER_IDENTITIES_H
#define SAKER_EXPORTER_IDENTITIES_H

#include "account.h"
#include "container/container_lookup.h"
#include "registry.h"

struct identities;

enum { CGROUP_LABELS = 3, CONTAINER_LABELS = 5, POD_LABELS = 3 };

struct identity {
	int has_container, has_pod;
	int changed; /* its labels are not those of the update before */
	struct label_value cgroup[CGROUP_LABELS]; /* cgroup, container_id, pod_uid */
	struct label_value container[CONTAINER_LABELS]; /* container_id, container, image,
							   namespace, pod */
	struct label_value pod[POD_LABELS]; /* pod_uid, namespace, pod */
	const char *labels_of_pod; /* "key=value", each with a NUL; "": none, or unknown */
	size_t labels_of_pod_sz;
};

/* Takes @lookup, also on failure; NULL: names stay unknown. Returns 0 with *out owned by the
 * caller, or -ENOMEM. */
int identities_new(struct identities **out, struct sinsp_lookup *lookup);
void identities_free(struct identities *ids);

/* Takes the names that were found since the last call, requests those of new containers, and drops
 * the entries of cgroups that are gone. */
void identities_update(struct identities *ids, const struct scap_account_cgroup *cgroups, size_t n);
/* Returns the identity of a cgroup, borrowed until the next update; NULL: unknown. */
const struct identity *identities_find(const struct identities *ids, uint64_t cgroup);

#endif /* SAKER_EXPORTER_IDENTITIES_H */
