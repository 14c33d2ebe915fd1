/* SPDX-License-Identifier: Apache-2.0 */
/* Formats socket addresses as sysdig does. */
#ifndef SINSP_STATE_SOCKNAME_H
#define SINSP_STATE_SOCKNAME_H

#include <stddef.h>
#include <stdint.h>

#include "fd.h"

#define SINSP_SOCK_TEXT 1280 /* a path and two addresses, with the NUL */

/* PPM_AF_*: values of the format. */
enum { SINSP_AF_UNIX = 1, SINSP_AF_INET = 2, SINSP_AF_INET6 = 10, SINSP_AF_NETLINK = 16 };

/* Bytes of PT_SOCKADDR and PT_SOCKTUPLE parameters of each family; unix ones add a path. */
enum {
	SINSP_ADDR_V4_SZ = 7,
	SINSP_ADDR_V6_SZ = 19,
	SINSP_TUPLE_V4_SZ = 13,
	SINSP_TUPLE_V6_SZ = 37,
	SINSP_TUPLE_UNIX_SZ = 17,
};

/* Returns whether the address is an IPv4-mapped one (::ffff:a.b.c.d). */
int sinsp_ip_is_mapped(const uint8_t ip[16]);

/* Write at most SINSP_SOCK_TEXT bytes, with the NUL, and return the length. @strict: keep UTF-8,
 * which sysdig drops. */
size_t sinsp_sockaddr_text(char *out, const uint8_t *p, size_t len, int strict);
size_t sinsp_socktuple_text(char *out, const uint8_t *p, size_t len, int strict);
/* Formats an inet socket: "ip:port->ip:port", a listening one "ip:port". */
size_t sinsp_fd_tuple_text(char *out, const struct sinsp_fd *fd);
/* Formats one end, at most INET6_ADDRSTRLEN bytes with the NUL. */
size_t sinsp_fd_ip_text(char *out, const struct sinsp_fd *fd, int is_dest);
/* Formats both ends without ports: "ip->ip". */
size_t sinsp_fd_ips_text(char *out, const struct sinsp_fd *fd);

#endif /* SINSP_STATE_SOCKNAME_H */
