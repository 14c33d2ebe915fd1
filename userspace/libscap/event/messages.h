/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a sendmmsg or recvmmsg event. Its parameter messages has an entry for each of the
 * first ones if the call moved several: u32 size of the message, u16 sizes of the address and of
 * the data that follow. In the entry of the first message both are 0, as its address and data are
 * in the parameters tuple and data.
 */
#ifndef SCAP_EVENT_MESSAGES_H
#define SCAP_EVENT_MESSAGES_H

#include "event/event_table.h"

struct scap_message {
	struct scap_param tuple; /* PT_SOCKTUPLE; empty: the message has no address */
	struct scap_param data; /* as far as captured */
	uint64_t size;
};

struct scap_messages {
	struct scap_param rest; /* entries */
	struct scap_message first; /* its size is 0 if unknown */
	uint32_t n; /* messages that were returned */
};

/* Returns whether events of @type are of several messages. */
int scap_is_messages(unsigned int type);
/* Begins with the first message of the event, whose parameters are borrowed. */
void scap_messages_begin(struct scap_messages *it, const struct scap_event_info *info,
			 const struct scap_params *params);
/* Returns 1 with the next message in *m; 0: the event has no more, or is malformed. */
int scap_messages_next(struct scap_messages *it, struct scap_message *m);

#endif /* SCAP_EVENT_MESSAGES_H */
