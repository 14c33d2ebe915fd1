/* SPDX-License-Identifier: Apache-2.0 */
/* Names of services by port: each is looked up once, which reads /etc/services. */
#include "port_name.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>

#include "fd.h"
#include "state/sockname.h"
#include "text.h"

static const char *names[UINT16_MAX + 1]; /* "": it has none */

static const char *name_of(uint16_t port)
{
	if (!names[port]) {
		const struct servent *s = getservbyport(htons(port), NULL);

		names[port] = s ? strndup(s->s_name, PORT_NAME_MAX) : "";
	}
	return names[port] ?: "";
}

char *port_name_put(char *p, uint16_t port)
{
	const char *name = name_of(port);

	return *name ? put_utf8(p, name, strlen(name)) : put_u64(p, port);
}

/* A peer may choose any text as the name of a unix socket: only a name of addresses has ports. */
int port_name_has_ports(const struct sinsp_fd *fd)
{
	char text[SINSP_SOCK_TEXT];

	return sinsp_fd_tuple_text(text, fd) && !strcmp(text, fd->name);
}

static char *put_end(char *p, const struct sinsp_fd *fd, int is_dest)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);

	p += sinsp_fd_ip_text(p, fd, is_dest);
	*p++ = ':';
	return port_name_put(p, is_dest ? t->dport : t->sport);
}

char *port_name_put_fd(char *p, const struct sinsp_fd *fd)
{
	p = put_end(p, fd, 0);
	if (fd->type == SCAP_FD_IPV4_SERVSOCK || fd->type == SCAP_FD_IPV6_SERVSOCK)
		return p;
	return put_end(put_lit(p, "->"), fd, 1);
}
