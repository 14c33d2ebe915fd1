/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"

#define HEAD_SZ 8u /* of an entry */

int scap_is_messages(unsigned int type)
{
	return type == EVT_SENDMMSG_X || type == EVT_RECVMMSG_X;
}

static struct scap_param param(const struct scap_event_info *info, const struct scap_params *params,
			       const char *name)
{
	const int at = scap_event_param(info->id, name);

	return at >= 0 && (unsigned int)at < params->n ? params->v[at] : (struct scap_param){0};
}

void scap_messages_begin(struct scap_messages *it, const struct scap_event_info *info,
			 const struct scap_params *params)
{
	const struct scap_param res = param(info, params, "res"),
				size = param(info, params, "size");

	*it = (struct scap_messages){.rest = param(info, params, "messages")};
	it->first.tuple = param(info, params, "tuple");
	it->first.data = param(info, params, "data");
	if (it->rest.len >= HEAD_SZ)
		return;
	it->rest.len = 0;
	/* Files of other tools lack the entries. */
	if (res.len == 8 && size.len == 4 && get_u64(res.p) == 1)
		it->first.size = get_u32(size.p);
}

static struct scap_param cut(const uint8_t *p, uint32_t len, uint32_t left)
{
	return (struct scap_param){p, len < left ? len : left};
}

/* Reads the entry of a message. Returns 0 if there is none. */
static int next_entry(struct scap_messages *it, struct scap_message *m)
{
	const uint8_t *p = it->rest.p;
	uint32_t left = it->rest.len;

	if (left < HEAD_SZ)
		return 0;
	m->size = get_u32(p);
	left -= HEAD_SZ;
	m->tuple = cut(p + HEAD_SZ, get_u16(p + 4), left);
	left -= m->tuple.len;
	m->data = cut(m->tuple.p + m->tuple.len, get_u16(p + 6), left);
	it->rest.len = left - m->data.len;
	it->rest.p = m->data.p + m->data.len;
	return 1;
}

int scap_messages_next(struct scap_messages *it, struct scap_message *m)
{
	struct scap_message entry;
	const int is_entry = next_entry(it, &entry);

	if (!is_entry && it->n)
		return 0;
	*m = it->n ? entry : it->first;
	if (is_entry)
		m->size = entry.size;
	it->n++;
	return 1;
}
