/* SPDX-License-Identifier: Apache-2.0 */
/* What the messages of all signals have in common: attributes, resources, scopes. */
#ifndef OTLP_MESSAGE_H
#define OTLP_MESSAGE_H

#include "otlp_fields.h"
#include "pb.h"

/* Texts are UTF-8 in OTLP, else receivers reject the whole message: other bytes become U+FFFD. */
void otlp_text(struct pb *b, uint32_t field, const char *p, size_t n);

/* Attributes of @field; without a value (NULL, or len 0) nothing is written. */
void otlp_attr(struct pb *b, uint32_t field, const char *key, const char *p, size_t len);
void otlp_attr_string(struct pb *b, uint32_t field, const char *key, const char *text);
void otlp_attr_int(struct pb *b, uint32_t field, const char *key, int64_t v);

/* The beginning of a request with one resource, up to its items (spans, metrics, log records). */
struct otlp_request {
	size_t resources, scopes;
};

/* @resource: attributes of the resource, written by otlp_attr with RESOURCE_ATTRIBUTES. Items are
 * fields SCOPES_ITEMS. A request may have several such parts. */
void otlp_request_begin(struct otlp_request *r, struct pb *b, const struct pb *resource,
			const char *version);
void otlp_request_end(const struct otlp_request *r, struct pb *b);

/* Returns how many items the response rejects: 0 if it is no message of that kind. */
uint64_t otlp_response_rejected(const uint8_t *p, size_t n);

#endif /* OTLP_MESSAGE_H */
