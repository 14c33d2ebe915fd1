/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of pods, by the API of container runtimes for Kubernetes (CRI v1): gRPC over a unix
 * socket. A process that can use that socket can become root, so it is used only on request.
 */
#ifndef SINSP_CONTAINER_CRI_API_H
#define SINSP_CONTAINER_CRI_API_H

#include <stddef.h>

struct cri_opts {
	size_t sz;
	int quit_fd; /* when it becomes readable, the query is cancelled */
	int timeout_ms; /* of the whole query */
};

/*
 * Adds the labels of its pod ("pod_sandbox_labels") to the text of a container event, *json, which
 * the caller owns before and after. Returns 0, also if it is in no pod; 1: the
 * server does not list the pod yet; or a negative errno with *json untouched: that of connect,
 * -ETIMEDOUT, -ECANCELED, -EFBIG: answer too long, -EBADMSG: invalid answer, -EOPNOTSUPP: the
 * server has no CRI v1, -EPROTO: the server refuses the query.
 */
int cri_add_pod_labels(char **json, const char *socket, const struct cri_opts *opts);

#endif /* SINSP_CONTAINER_CRI_API_H */
