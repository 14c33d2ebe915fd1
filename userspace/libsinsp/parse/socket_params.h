/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the type, the protocol and the addresses of a socket from parameters of an event. */
#ifndef SINSP_PARSE_SOCKET_PARAMS_H
#define SINSP_PARSE_SOCKET_PARAMS_H

#include "params.h"

/* Values of Linux. */
enum { SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_RAW = 3, SOCK_TYPE_MASK = 0xff };
enum { PROTO_IP = 0, PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_RAW = 255 };

/* Returns the protocol (SCAP_L4_*) by the arguments of socket(2). */
unsigned int socket_l4proto(unsigned int type, unsigned int proto);
/* Returns the descriptor type (SCAP_FD_*) for an address family; 0: unknown. */
unsigned int socket_fd_type(unsigned int domain);
/* Reads the ends of an inet PT_SOCKTUPLE and sets *type to that of its addresses. Returns 0 for
 * another family. */
int socket_read_tuple(const struct scap_param *v, struct sinsp_tuple *t, unsigned int *type);

#endif /* SINSP_PARSE_SOCKET_PARAMS_H */
