/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that were taken for the exit event of a call: sinsp.h. */
#include "shared/stack.h"
#include "state/inspector.h"

const struct scap_params *sinsp_evt_sample(const struct sinsp_evt *evt)
{
	if (evt->raw.type == EVT_SAMPLE_E)
		return &evt->params;
	return evt->call_sample ? &evt->call_sample->params : NULL;
}

int sinsp_evt_as_sample(const struct sinsp_evt *evt, struct sinsp_evt *sample)
{
	const struct sinsp_call_sample *c = evt->call_sample;

	if (!c && evt->raw.type != EVT_SAMPLE_E)
		return 0;
	*sample = *evt;
	if (!c)
		return 1;
	sample->raw = c->raw;
	sample->params = c->params;
	sample->info = scap_event_info(EVT_SAMPLE_E);
	sample->call_sample = NULL;
	return 1;
}

int sinsp_evt_is_of_call(const struct sinsp_evt *evt)
{
	const struct scap_param *reason = &evt->params.v[SAMPLE_P_REASON];

	return evt->raw.type == EVT_SAMPLE_E && evt->params.n > SAMPLE_P_REASON &&
	       reason->len == 1 && reason->p[0] == SAMPLE_SYSCALL;
}

int sinsp_evt_lacks_sample(const struct sinsp_evt *evt)
{
	return evt->call_sample && !evt->call_sample->is_written;
}

void sinsp_evt_written(const struct sinsp_evt *evt)
{
	if (evt->raw.type == EVT_SAMPLE_E && evt->thread)
		sinsp_thread_note_written(evt->thread);
}
