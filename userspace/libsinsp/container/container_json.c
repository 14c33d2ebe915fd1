/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the JSON text of container events. */
#include "container_json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 32768 /* maximum size of the labels, or of the mounts, of one container */

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

/* Appends @n texts, all or none; drops them if they do not fit. Returns 0 or -ENOMEM. */
static int add(struct sinsp_json_list *list, const char *const *texts, int n)
{
	size_t sz = 0;
	char *p;

	for (int i = 0; i < n; i++)
		sz += strlen(texts[i]) + 1;
	if (list->len + sz > LIST_MAX)
		return 0;
	p = realloc(list->p, list->len + sz);
	if (!p)
		return -ENOMEM;
	list->p = p;
	p += list->len;
	for (int i = 0; i < n; i++)
		p = stpcpy(p, texts[i]) + 1;
	list->len += sz;
	return 0;
}

static size_t n_label_bytes(const cJSON *labels)
{
	const cJSON *label;
	size_t sz = 0;

	cJSON_ArrayForEach(label, labels)
	{
		if (label->string && cJSON_IsString(label))
			sz += strlen(label->string) + strlen(label->valuestring) + 2;
	}
	return sz;
}

static int read_labels(struct sinsp_json_list *out, const cJSON *labels)
{
	size_t sz = n_label_bytes(labels);
	const cJSON *label;
	char *p;

	if (!sz)
		return 0;
	p = out->p = malloc(sz);
	if (!p)
		return -ENOMEM;
	cJSON_ArrayForEach(label, labels)
	{
		if (!label->string || !cJSON_IsString(label))
			continue;
		sz = strlen(label->string) + strlen(label->valuestring) + 2;
		if (p - out->p + sz > LIST_MAX)
			continue;
		p = stpcpy(stpcpy(stpcpy(p, label->string), "="), label->valuestring) + 1;
	}
	out->len = p - out->p;
	return 0;
}

static int read_mounts(struct sinsp_json_list *out, const cJSON *mounts)
{
	const cJSON *m;
	int err = 0;

	cJSON_ArrayForEach(m, mounts)
	{
		const cJSON *rw = cJSON_GetObjectItemCaseSensitive(m, "RW");
		const char *const texts[SINSP_MOUNT_TEXTS] = {
			sinsp_json_text(m, "Source"),      sinsp_json_text(m, "Destination"),
			sinsp_json_text(m, "Mode"),        cJSON_IsTrue(rw) ? "true" : "false",
			sinsp_json_text(m, "Propagation"),
		};

		if (!err && cJSON_IsObject(m))
			err = add(out, texts, SINSP_MOUNT_TEXTS);
	}
	return err;
}

static int read_probe(struct sinsp_json_list *out, const cJSON *probe)
{
	const cJSON *arg, *args = cJSON_GetObjectItemCaseSensitive(probe, "args");
	const char *text = sinsp_json_text(probe, "exe");
	int err;

	if (!*text)
		return 0;
	err = add(out, &text, 1);
	cJSON_ArrayForEach(arg, args)
	{
		text = cJSON_GetStringValue(arg);
		if (!err && text)
			err = add(out, &text, 1);
	}
	return err;
}

static int read_lists(struct sinsp_container_info *out, const cJSON *c)
{
	static const char *const keys[SINSP_PROBE_MAX] = {"Healthcheck", "LivenessProbe",
							  "ReadinessProbe"};
	int err =
		read_labels(&out->labels, cJSON_GetObjectItemCaseSensitive(c, "labels"))
			?: read_labels(&out->pod_labels, cJSON_GetObjectItemCaseSensitive(c, "pod_sandbox_labels"))
			?: read_mounts(&out->mounts, cJSON_GetObjectItemCaseSensitive(c, "Mounts"));

	for (int i = 0; i < SINSP_PROBE_MAX && !err; i++)
		err = read_probe(&out->probes[i], cJSON_GetObjectItemCaseSensitive(c, keys[i]));
	return err;
}

static int8_t read_privileged(const cJSON *c)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(c, "privileged");

	return cJSON_IsBool(v) ? (int8_t)cJSON_IsTrue(v) : -1;
}

int sinsp_container_json_read(struct sinsp_container_info *out, const char *json, size_t len)
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
	out->privileged = read_privileged(c);
	err = read_lists(out, c);
	if (err)
		goto err;
	return 0;
err:
	sinsp_container_info_fini(out);
	return err;
}

void sinsp_container_info_fini(struct sinsp_container_info *info)
{
	free(info->labels.p);
	free(info->pod_labels.p);
	free(info->mounts.p);
	for (int i = 0; i < SINSP_PROBE_MAX; i++)
		free(info->probes[i].p);
	cJSON_Delete(info->tree);
	memset(info, 0, sizeof(*info));
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
