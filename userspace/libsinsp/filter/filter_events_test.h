/* SPDX-License-Identifier: Apache-2.0 */
/* Events that random filters are applied to: a read of a socket, an open that failed, a call without a
 * type of its own, a close of a file. */
#ifndef SINSP_FILTER_FILTER_EVENTS_TEST_H
#define SINSP_FILTER_FILTER_EVENTS_TEST_H

#include "fields/text_test.h"

enum { N_EVENTS = 4 };

static const struct scap_param read_params[] = {I64(8), BYTES("GET /a\0\xff"), I64(3), U32(80)};
static const struct scap_param open_params[] = {I64(-2), TEXT("/x"), U32(1), U32(0), U32(0)};
static const struct scap_param generic_params[] = {U16(4), U16(1)};

static inline void make_events(struct fixture *f, struct sinsp_evt *evts)
{
	static struct ppm_evt_hdr headers[N_EVENTS];

	evts[0] = fixture_evt(f, &headers[0], EVT_READ_X, read_params, 4);
	evts[0].fdnum = 4;
	evts[0].fd = sinsp_thread_fd(evts[0].thread, 4);
	evts[1] = fixture_evt(f, &headers[1], EVT_OPEN_X, open_params, 5);
	evts[2] = fixture_evt(f, &headers[2], EVT_SYSCALL_E, generic_params, 2);
	evts[3] = fixture_evt(f, &headers[3], EVT_CLOSE_E, read_params + 2, 1);
	evts[3].fdnum = 3;
	evts[3].fd = sinsp_thread_fd(evts[3].thread, 3);
}

#endif /* SINSP_FILTER_FILTER_EVENTS_TEST_H */
