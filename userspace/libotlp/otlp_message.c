/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_message.h"

#include <string.h>

#include "state/utf8.h"

void otlp_text(struct pb *b, uint32_t field, const char *p, size_t n)
{
	const uint8_t *at = (const uint8_t *)p, *end = at + n, *begin = at;
	const size_t message = pb_begin(b, field);

	while (at < end) {
		const size_t len = *at < 0x80 ? 1 : sinsp_utf8_len(at, (size_t)(end - at));

		if (len) {
			at += len;
			continue;
		}
		pb_put_raw(b, begin, (size_t)(at - begin));
		pb_put_raw(b, "\xef\xbf\xbd", 3);
		begin = ++at;
	}
	pb_put_raw(b, begin, (size_t)(at - begin));
	pb_end(b, message);
}

void otlp_attr(struct pb *b, uint32_t field, const char *key, const char *p, size_t len)
{
	size_t attr, value;

	if (!p || !len)
		return;
	attr = pb_begin(b, field);
	pb_string(b, KEY_VALUE_KEY, key);
	value = pb_begin(b, KEY_VALUE_VALUE);
	otlp_text(b, ANY_STRING, p, len);
	pb_end(b, value);
	pb_end(b, attr);
}

void otlp_attr_string(struct pb *b, uint32_t field, const char *key, const char *text)
{
	otlp_attr(b, field, key, text, text ? strlen(text) : 0);
}

void otlp_attr_int(struct pb *b, uint32_t field, const char *key, int64_t v)
{
	const size_t attr = pb_begin(b, field);
	size_t value;

	pb_string(b, KEY_VALUE_KEY, key);
	value = pb_begin(b, KEY_VALUE_VALUE);
	pb_u64(b, ANY_INT, (uint64_t)v);
	pb_end(b, value);
	pb_end(b, attr);
}

void otlp_request_begin(struct otlp_request *r, struct pb *b, const struct pb *resource,
			const char *version)
{
	size_t scope;

	r->resources = pb_begin(b, EXPORT_RESOURCES);
	pb_bytes(b, RESOURCES_RESOURCE, resource->p, resource->len);
	r->scopes = pb_begin(b, RESOURCES_SCOPES);
	scope = pb_begin(b, SCOPES_SCOPE);
	pb_string(b, SCOPE_NAME, "saker");
	pb_string(b, SCOPE_VERSION, version);
	pb_end(b, scope);
}

void otlp_request_end(const struct otlp_request *r, struct pb *b)
{
	pb_end(b, r->scopes);
	pb_end(b, r->resources);
}

uint64_t otlp_response_rejected(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	struct pb_field f, in;
	uint64_t rejected = 0;
	int more;

	while ((more = pb_next(&f, &p, end)) > 0) {
		const uint8_t *at = f.p;
		int r = 0;

		if (f.number != RESPONSE_PARTIAL_SUCCESS || f.wire != 2)
			continue;
		while ((r = pb_next(&in, &at, f.p + f.len)) > 0)
			if (in.number == PARTIAL_SUCCESS_REJECTED && in.wire == 0)
				rejected = in.value;
		if (r < 0)
			return 0;
	}
	return more < 0 ? 0 : rejected;
}
