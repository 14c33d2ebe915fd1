/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy as metrics: what each zone used is split into idle and active by the busy time of the
 * CPUs, and active among cgroups and processes by their CPU time. Their sum is active, exactly.
 */
#ifndef SAKER_EXPORTER_ENERGIES_H
#define SAKER_EXPORTER_ENERGIES_H

#include "account.h"
#include "identities.h"
#include "registry.h"

struct energies;

/* @processes: they have series, too. Returns 0 with *out owned by the caller, or -ENOMEM. */
int energies_open(struct energies **out, const char *sysfs, int processes);
void energies_close(struct energies *e);

/* Adds what was used since the last call. The identities are those of the snapshot. */
void energies_update(struct energies *e, struct registry *r, const struct identities *ids,
		     const struct scap_account_snapshot *s, uint64_t now_ns);

#endif /* SAKER_EXPORTER_ENERGIES_H */
