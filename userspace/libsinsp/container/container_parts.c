/* SPDX-License-Identifier: Apache-2.0 */
#include "container_parts.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "container_json.h"

int container_is_digest(const char *text)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

const char *container_text(const cJSON *object, const char *key)
{
	const char *text = sinsp_json_text(object, key);

	return strlen(text) <= CONTAINER_TEXT_MAX ? text : "";
}

size_t container_repo_len(const char *image)
{
	const char *slash = strrchr(image, '/'), *at = strchr(image, '@');

	if (!strncmp(image, "sha256:", 7))
		return 0;
	if (at && slash > at)
		slash = NULL;
	return (slash ? slash - image : 0) + strcspn(slash ? slash : image, ":@");
}

static cJSON *append_text(cJSON *to, const char *key, const char *text, size_t n)
{
	char buf[CONTAINER_TEXT_MAX + 1];

	if (n > CONTAINER_TEXT_MAX)
		n = 0;
	memcpy(buf, text, n);
	buf[n] = 0;
	return cJSON_AddStringToObject(to, key, buf);
}

void container_add_image(cJSON *to, const char *image, const char *id, const char *digest)
{
	const size_t n = container_repo_len(image);
	const char *tag = n && image[n] == ':' ? image + n + 1 : "";

	cJSON_AddStringToObject(to, "image", image);
	cJSON_AddStringToObject(to, "imageid", id);
	append_text(to, "imagerepo", image, n);
	if (!*tag && n && image[n] != '@')
		tag = "latest";
	append_text(to, "imagetag", tag, strcspn(tag, "@"));
	cJSON_AddStringToObject(to, "imagedigest", digest);
}

void container_add_label(cJSON *to, size_t *room, const char *key, const char *text)
{
	const size_t sz = strlen(key) + strlen(text) + 2;

	if (sz > CONTAINER_TEXT_MAX || sz > *room)
		return;
	*room -= sz;
	cJSON_AddStringToObject(to, key, text);
}

void container_add_labels(cJSON *to, size_t *room, const cJSON *labels)
{
	const cJSON *label;

	cJSON_ArrayForEach(label, labels)
	{
		const char *text = cJSON_GetStringValue(label);

		if (text && label->string)
			container_add_label(to, room, label->string, text);
	}
}
