/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a TLS connection belong to its socket, if that is known. */
#include "parsers.h"
#include "state/fd.h"

void sinsp_parse_tls(struct sinsp_parse *p)
{
	p->e->fdnum = sinsp_s64(sinsp_evt_param(p, SINSP_P_fd), -1);
	if (p->e->thread)
		p->e->fd = sinsp_thread_fd(p->e->thread, p->e->fdnum);
}
