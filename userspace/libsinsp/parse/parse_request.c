/* SPDX-License-Identifier: Apache-2.0 */
/* A derived event of a request: its descriptor is that of the connection, if it is still open. */
#include "parsers.h"

void sinsp_parse_request(struct sinsp_parse *p)
{
	p->e->fdnum = sinsp_s64(sinsp_evt_param(p, SINSP_P_fd), -1);
	p->e->fd = sinsp_thread_fd(p->e->thread, p->e->fdnum);
}
