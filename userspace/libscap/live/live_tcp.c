/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's events of TCP need: settings, the names of the kernel's reasons, and the
 * programs of the events that are shown. */
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "live/live_driver.h"

/* The numbers include the tracepoint's own data. */
uint32_t live_tcp_args(const struct live_driver *d)
{
	uint32_t args = 0;

	if (live_progs_hook_args(d->progs, "btf_trace_tcp_send_reset") == 4)
		args |= DRV_TCP_RESET_REASON;
	if (live_progs_hook_args(d->progs, "btf_trace_kfree_skb") == 5)
		args |= DRV_TCP_DROP_SOCK;
	return args;
}

int live_set_tcp_maps(struct live_driver *d, int on)
{
	const int err = bpf_map__set_autocreate(d->skel->maps.tcp_owners, on);

	return err ?: bpf_map__set_autocreate(d->skel->maps.tcp_listeners, on);
}

int live_is_tcp(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "tcp_", strlen("tcp_"));
}

static int shows(const struct live_driver *d, unsigned int type)
{
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;
	const unsigned int i = evt_index(type);

	return c->show_events[i / 64] >> (i % 64) & 1;
}

/* Programs without an event of their own store the owners of connections. */
int live_is_wanted_tcp(const struct live_driver *d, const struct bpf_program *p)
{
	const struct driver *s = d->skel;

	if (p == s->progs.tcp_retransmit || p == s->progs.tcp_synack)
		return shows(d, EVT_TCP_RETRANSMIT_E);
	if (p == s->progs.tcp_reset_sent || p == s->progs.tcp_reset_received)
		return shows(d, EVT_TCP_RESET_E);
	if (p == s->progs.tcp_rtt)
		return shows(d, EVT_TCP_RTT_E);
	if (p == s->progs.tcp_drop)
		return shows(d, EVT_TCP_DROP_E) || shows(d, EVT_TCP_OVERFLOW_E);
	if (p == s->progs.tcp_left) /* the helper of perf rings needs the context of an event */
		return shows(d, EVT_TCP_OVERFLOW_E) && d->kind != RING_PERF;
	return 1;
}

struct reasons_to {
	struct drv_tcp_reason *reasons;
	const char *prefix;
};

/* Stores a name of the kernel's enum, without its prefix. */
static void put_reason(void *ctx, const char *name, uint32_t value)
{
	const struct reasons_to *to = ctx;
	const size_t len = strlen(to->prefix);

	if (value < DRV_TCP_REASONS && !strncmp(name, to->prefix, len))
		snprintf(to->reasons[value].name, sizeof(to->reasons[value].name), "%s",
			 name + len);
}

void live_set_tcp_reasons(struct live_driver *d)
{
	struct drv_tcp_reason *all = (struct drv_tcp_reason *)d->skel->rodata->tcp_reasons;
	struct reasons_to drops = {all + DRV_TCP_DROP * DRV_TCP_REASONS, "SKB_DROP_REASON_"};
	struct reasons_to resets = {all + DRV_TCP_RESET * DRV_TCP_REASONS, "SK_RST_REASON_"};

	live_progs_each_enum(d->progs, "skb_drop_reason", put_reason, &drops);
	live_progs_each_enum(d->progs, "sk_rst_reason", put_reason, &resets);
}
