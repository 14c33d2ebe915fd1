/* SPDX-License-Identifier: Apache-2.0 */
#include "container_json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 32768 /* bytes kept of the labels of one container */

const char *sinsp_json_text(const struct cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return text ? text : "";
}

static enum sinsp_container_type read_type(const cJSON *container)
{
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(container, "type");
	double v = cJSON_IsNumber(type) ? type->valuedouble : SINSP_CT_DOCKER;

	return v >= 0 && v < SINSP_CT_MAX ? (enum sinsp_container_type)v : SINSP_CT_CUSTOM;
}

static int read_labels(struct sinsp_container_told *out, const cJSON *labels)
{
	const cJSON *label;
	size_t sz = 0;
	char *p;

	cJSON_ArrayForEach(label, labels)
	{
		if (label->string && cJSON_IsString(label))
			sz += strlen(label->string) + strlen(label->valuestring) + 2;
	}
	if (!sz)
		return 0;
	p = out->labels = malloc(sz);
	if (!p)
		return -ENOMEM;
	cJSON_ArrayForEach(label, labels)
	{
		if (!label->string || !cJSON_IsString(label))
			continue;
		sz = strlen(label->string) + strlen(label->valuestring) + 2;
		if (p - out->labels + sz > LABELS_MAX)
			continue;
		p = stpcpy(stpcpy(stpcpy(p, label->string), "="), label->valuestring) + 1;
	}
	out->labels_len = p - out->labels;
	return 0;
}

int sinsp_container_json_read(struct sinsp_container_told *out, const char *json, size_t len)
{
	const cJSON *c;
	int err = -EBADMSG;

	memset(out, 0, sizeof(*out));
	len = strnlen(json, len);
	if (len > SINSP_CONTAINER_JSON_MAX)
		return err;
	out->tree = cJSON_ParseWithLength(json, len);
	c = cJSON_GetObjectItemCaseSensitive(out->tree, "container");
	out->id = sinsp_json_text(c, "id");
	if (!*out->id || strlen(out->id) >= SINSP_CONTAINER_ID_SZ)
		goto err;
	out->type = read_type(c);
	out->name = sinsp_json_text(c, "name");
	out->image = sinsp_json_text(c, "image");
	out->image_id = sinsp_json_text(c, "imageid");
	out->image_repo = sinsp_json_text(c, "imagerepo");
	out->image_tag = sinsp_json_text(c, "imagetag");
	out->image_digest = sinsp_json_text(c, "imagedigest");
	out->ip = sinsp_json_text(c, "ip");
	err = read_labels(out, cJSON_GetObjectItemCaseSensitive(c, "labels"));
	if (err)
		goto err;
	return 0;
err:
	sinsp_container_told_fini(out);
	return err;
}

void sinsp_container_told_fini(struct sinsp_container_told *told)
{
	free(told->labels);
	cJSON_Delete(told->tree);
	memset(told, 0, sizeof(*told));
}

struct cJSON *sinsp_container_json_new(struct cJSON **container, const char *id,
				       enum sinsp_container_type type, const char *name)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *c = cJSON_AddObjectToObject(root, "container");

	if (!cJSON_AddStringToObject(c, "id", id) || !cJSON_AddNumberToObject(c, "type", type) ||
	    !cJSON_AddStringToObject(c, "name", name) ||
	    !cJSON_AddNumberToObject(c, "lookup_state", 1)) {
		cJSON_Delete(root);
		return NULL;
	}
	*container = c;
	return root;
}

char *sinsp_container_json_of_name(const char *id, enum sinsp_container_type type)
{
	cJSON *c, *root = sinsp_container_json_new(&c, id, type, id);
	char *text = NULL;

	if (root && cJSON_AddStringToObject(c, "image", "") &&
	    cJSON_AddStringToObject(c, "imageid", "") &&
	    cJSON_AddStringToObject(c, "ip", "0.0.0.0"))
		text = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	return text;
}
