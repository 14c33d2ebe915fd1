/* SPDX-License-Identifier: Apache-2.0 */
/* Services are asked for once per port: that reads /etc/services. */
#include "port_name.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <stdlib.h>

#include "fd.h"
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

int port_name_has_ports(const struct sinsp_fd *fd)
{
	return fd->type >= SCAP_FD_IPV4_SOCK && fd->type <= SCAP_FD_IPV6_SERVSOCK;
}

/* A port is what stands between the last colon and the end, or "->". */
char *port_name_put_fd(char *p, const struct sinsp_fd *fd)
{
	const char *s = fd->name;

	while (*s) {
		size_t digits = 0;
		unsigned long port;

		*p++ = *s;
		if (*s++ != ':')
			continue;
		while (isdigit((unsigned char)s[digits]))
			digits++;
		if (!digits || (s[digits] && strncmp(s + digits, "->", 2)))
			continue;
		port = strtoul(s, NULL, 10);
		if (port > UINT16_MAX)
			continue;
		p = port_name_put(p, (uint16_t)port);
		s += digits;
	}
	return p;
}
