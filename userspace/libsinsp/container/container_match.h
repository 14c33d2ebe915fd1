/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the container of a process by its cgroup paths. */
#ifndef SINSP_CONTAINER_CONTAINER_MATCH_H
#define SINSP_CONTAINER_CONTAINER_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* Values of the format. */
enum sinsp_container_type {
	SINSP_CT_DOCKER = 0,
	SINSP_CT_LXC = 1,
	SINSP_CT_LIBVIRT_LXC = 2,
	SINSP_CT_MESOS = 3,
	SINSP_CT_RKT = 4,
	SINSP_CT_CUSTOM = 5, /* systemd-nspawn, which has no number in the format */
	SINSP_CT_CRI = 6, /* in a pod whose path does not show the runtime */
	SINSP_CT_CONTAINERD = 7,
	SINSP_CT_CRIO = 8,
	SINSP_CT_BPM = 9,
	SINSP_CT_STATIC = 10,
	SINSP_CT_PODMAN = 11,
	SINSP_CT_MAX
};

#define SINSP_CONTAINER_ID_SZ 256 /* maximum length of a path component */
#define SINSP_NO_UID UINT32_MAX
#define SINSP_UNKNOWN_UID (UINT32_MAX - 1) /* somebody's: the beginning of the path is missing */

struct sinsp_container_match {
	enum sinsp_container_type type;
	uint32_t uid; /* the user of its session; SINSP_NO_UID: none, the system's; or
			 SINSP_UNKNOWN_UID */
	char id[SINSP_CONTAINER_ID_SZ]; /* 12 hexadecimal digits, or a name */
	char full_id[65]; /* all 64 digits; "": the ID is a name */
	char pod_uid[37]; /* kubernetes' pod UID, with dashes; "": not in a pod, or not the
			     system's */
};

/* @cgroups: "subsys=path" texts, each with a NUL, @len bytes. Returns 1 and sets *out; 0: not in a
 * container. Of nested containers the innermost counts. */
int sinsp_container_match(struct sinsp_container_match *out, const char *cgroups, size_t len);

#endif /* SINSP_CONTAINER_CONTAINER_MATCH_H */
