/* SPDX-License-Identifier: Apache-2.0 */
/* Who a span or a log record belongs to: attributes of the resource. */
#ifndef SAKER_EXPORTER_OTLP_RESOURCE_H
#define SAKER_EXPORTER_OTLP_RESOURCE_H

#include "otlp_message.h"
#include "sinsp.h"

/* Writes the attributes of saker itself on the machine @host. */
void otlp_resource_self(struct pb *b, const char *host, const char *version);
/* Writes those of the process of the event. */
void otlp_resource_process(struct pb *b, const struct sinsp_evt *evt);

/* Items by resource: a batch has each resource once. */
struct otlp_groups;

/* Returns 0 or -ENOMEM. @version: of saker, borrowed. */
int otlp_groups_new(struct otlp_groups **out, uint8_t signal, const char *version);
void otlp_groups_free(struct otlp_groups *g);
/* Returns where an item of the event's process is to be written, as a field SCOPES_ITEMS; NULL: no
 * memory. */
struct pb *otlp_groups_item(struct otlp_groups *g, const struct sinsp_evt *evt);
/* Returns how many items were lost for lack of memory since the last call. */
uint32_t otlp_groups_take_lost(struct otlp_groups *g);
/* Returns whether a batch should be made. */
int otlp_groups_full(const struct otlp_groups *g);
/* Returns a batch of all items, owned by the caller; NULL: there are none. */
struct otlp_batch *otlp_groups_flush(struct otlp_groups *g);

#endif /* SAKER_EXPORTER_OTLP_RESOURCE_H */
