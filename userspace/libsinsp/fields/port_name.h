/* SPDX-License-Identifier: Apache-2.0 */
/* Names of services for ports: option -R of the command. */
#ifndef SINSP_FIELDS_PORT_NAME_H
#define SINSP_FIELDS_PORT_NAME_H

#include <stdint.h>

struct sinsp_fd;

#define PORT_NAME_MAX 40

/* Writes the name, at most PORT_NAME_MAX bytes, or the number of a port without one; returns the
 * end. Used by one thread. */
char *port_name_put(char *p, uint16_t port);

/*
 * Returns whether the file is a socket whose name is the text of its addresses and ports. Only then
 * port_name_put_fd may be called: it writes that text with the names of the ports, at most 2 *
 * PORT_NAME_MAX bytes longer than the name, and returns the end.
 */
int port_name_has_ports(const struct sinsp_fd *fd);
char *port_name_put_fd(char *p, const struct sinsp_fd *fd);

#endif /* SINSP_FIELDS_PORT_NAME_H */
