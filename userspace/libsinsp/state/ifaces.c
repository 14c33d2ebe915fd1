/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the interfaces of the machine. */
#include "ifaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sinsp_ifaces_load(struct sinsp_ifaces *ifs, const struct scap_state *st)
{
	sinsp_ifaces_fini(ifs);
	if (!st->n_ifaces)
		return 0;
	ifs->v = calloc(st->n_ifaces, sizeof(*ifs->v));
	if (!ifs->v)
		return -ENOMEM;
	memcpy(ifs->v, st->ifaces, st->n_ifaces * sizeof(*ifs->v));
	ifs->n = st->n_ifaces;
	for (size_t i = 0; i < ifs->n; i++)
		ifs->v[i].name = NULL; /* borrowed from the state, not used */
	return 0;
}

void sinsp_ifaces_fini(struct sinsp_ifaces *ifs)
{
	free(ifs->v);
	memset(ifs, 0, sizeof(*ifs));
}

static int same_subnet(const struct scap_iface *f, const uint8_t *ip)
{
	if (f->ipv6)
		return !memcmp(f->addr, ip, 8); /* by convention: v6 has no mask here */
	for (int i = 0; i < 4; i++)
		if ((f->addr[i] ^ ip[i]) & f->netmask[i])
			return 0;
	return 1;
}

int sinsp_ifaces_have(const struct sinsp_ifaces *ifs, const uint8_t *ip, int v6)
{
	for (size_t i = 0; i < ifs->n; i++) {
		const struct scap_iface *f = &ifs->v[i];

		if (f->ipv6 == v6 && !memcmp(f->addr, ip, v6 ? 16 : 4))
			return 1;
	}
	return 0;
}

static int is_loopback(const struct scap_iface *f)
{
	static const uint8_t lo4[4] = {127, 0, 0, 1}, lo6[16] = {[15] = 1};

	return f->ipv6 ? !memcmp(f->addr, lo6, 16) : !memcmp(f->addr, lo4, 4);
}

/* Returns the local address for @ip: itself, one of the same network, else the first that is not
 * loopback. */
static const uint8_t *own_address(const struct sinsp_ifaces *ifs, const uint8_t *ip, int v6)
{
	static const uint8_t none[16];
	const struct scap_iface *f, *end;

	if (!ifs->n)
		return none;
	end = ifs->v + ifs->n;
	for (f = ifs->v; f < end; f++)
		if (f->ipv6 == v6 && !memcmp(f->addr, ip, v6 ? 16 : 4))
			return f->addr;
	for (f = ifs->v; f < end; f++)
		if (f->ipv6 == v6 && same_subnet(f, ip))
			return f->addr;
	for (f = ifs->v; f < end; f++)
		if (f->ipv6 == v6 && !is_loopback(f))
			return f->addr;
	return none;
}

void sinsp_ifaces_complete(const struct sinsp_ifaces *ifs, struct sinsp_fd *fd, int own_is_dest)
{
	static const uint8_t zero[16];
	struct sinsp_tuple *t = &sinsp_fd_edit_ends(fd)->tuple;
	uint8_t *missing = own_is_dest ? t->dip : t->sip;
	const uint8_t *own, *known = own_is_dest ? t->sip : t->dip;
	int v6 = fd->type == SCAP_FD_IPV6_SOCK;
	size_t len = v6 ? 16 : 4;

	if (!v6 && fd->type != SCAP_FD_IPV4_SOCK)
		return;
	if (memcmp(missing, zero, len) || !memcmp(known, zero, len))
		return;
	own = own_address(ifs, known, v6);
	/* Otherwise the socket would connect to itself. */
	if (!memcmp(own, known, len) && t->sport == t->dport)
		return;
	memcpy(missing, own, len);
}
