/* SPDX-License-Identifier: GPL-2.0 */
/* Computes how many bytes of a call's data are copied, if that depends on its socket's ports. */
#ifndef DRIVER_SNAPLEN_BPF_H
#define DRIVER_SNAPLEN_BPF_H

#include "sock.bpf.h"

/* Calls that move data: they read or write the descriptor in argument 0. */
static const u8 moves_data[DRV_MAX_NR] = {
#define SYS(nr, name, event, ...)                                                                  \
	[nr] = (EVT_##event##_FLAGS & (EF_READS_FROM_FD | EF_WRITES_TO_FD)) != 0,
#include "syscalls.def"
#undef SYS
};

/* Returns the maximum of the ranges that contain one of the socket's ports; without one the
 * default. Unix sockets have port 0. */
__noinline u32 snaplen_of(s32 fd)
{
	struct sock *sk = fd_sock(fd);
	u32 family = sk ? BPF_CORE_READ(sk, __sk_common.skc_family) : 0, most = 0;
	u16 local = 0, remote = 0;
	bool found = false;

	if (family == AF_INET || family == AF_INET6) {
		local = BPF_CORE_READ(sk, __sk_common.skc_num);
		remote = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	} else if (family != AF_UNIX) {
		return cfg.snaplen;
	}
	for (u32 i = 0; i < DRV_MAX_SNAP_PORTS && i < cfg.n_snap_ports; i++) {
		const volatile struct drv_snap_port *p = &cfg.snap_ports[i];

		if ((local < p->from || local > p->to) && (remote < p->from || remote > p->to))
			continue;
		found = true;
		if (p->snaplen > most)
			most = p->snaplen;
	}
	return found ? most : cfg.snaplen;
}

/* Sets how many bytes are kept for the call in @slot, which ends. */
static __always_inline void snaplen_set(struct drv_slot *slot)
{
	u32 nr = slot->call.nr;

	if (!cfg.n_snap_ports)
		return;
	slot->call.snaplen = cfg.snaplen;
	if (nr < DRV_MAX_NR && moves_data[nr])
		slot->call.snaplen = snaplen_of(slot->call.args[0]);
}

#endif /* DRIVER_SNAPLEN_BPF_H */
