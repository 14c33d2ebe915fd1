/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the machine's interfaces: they complete tuples with one unknown end. */
#ifndef SINSP_STATE_IFACES_H
#define SINSP_STATE_IFACES_H

#include "fd.h"

struct sinsp_ifaces {
	struct scap_iface *v;
	size_t n;
};

int sinsp_ifaces_load(struct sinsp_ifaces *ifs, const struct scap_state *st);
void sinsp_ifaces_fini(struct sinsp_ifaces *ifs);
/* Returns whether the address is one of the machine. */
int sinsp_ifaces_have(const struct sinsp_ifaces *ifs, const uint8_t *ip, int v6);
/* Fills the local end of a message's tuple, the destination if @own_is_dest, if it is zero and the
 * other end is known. */
void sinsp_ifaces_complete(const struct sinsp_ifaces *ifs, struct sinsp_fd *fd, int own_is_dest);

#endif /* SINSP_STATE_IFACES_H */
