/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy meters of the CPU and its memory: zones of powercap in sysfs. Zones overlap: a package
 * contains its cores, psys contains all. So they are never summed. A zone whose value is not known
 * has a reason instead. One thread uses a handle at a time.
 */
#ifndef SCAP_ENERGY_H
#define SCAP_ENERGY_H

#include <stddef.h>
#include <stdint.h>

struct scap_energy;

struct scap_energy_zone {
	char name[32]; /* package, core, uncore, dram, psys */
	char package[16]; /* number of the package; "": of the machine */
	uint64_t uj; /* since open. Never decreases */
	const char *why; /* why uj is not known; NULL: it is. Static */
};

/* Opens the meters below @sysfs ("/sys"): later reads need no privilege. A machine may have none.
 * Returns 0 with *out owned by the caller, or -ENOMEM. */
int scap_energy_open(struct scap_energy **out, const char *sysfs);
void scap_energy_close(struct scap_energy *e);

/* Reads all zones. Returns their number; *zones is borrowed until the next call or close. A zone is
 * known once its value has changed. */
size_t scap_energy_read(struct scap_energy *e, const struct scap_energy_zone **zones);

/* Returns what a meter counted from @was to @now, whose values wrap after @max; 0: it does not
 * wrap, and began again. */
uint64_t scap_energy_delta(uint64_t was, uint64_t now, uint64_t max);

#endif /* SCAP_ENERGY_H */
