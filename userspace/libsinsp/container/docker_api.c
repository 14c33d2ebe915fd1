/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts answers of the docker API to container events. The container's owner chose much of an
 * answer: members may be missing, of another type, or many. The used part is bounded, so that an
 * event stays far below SINSP_CONTAINER_JSON_MAX.
 */
#include "docker_api.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "container_json.h"
#include "container_parts.h"

enum {
	HEALTHCHECK_SZ = 16384,
	MEMBER_MAX = 65536, /* maximum size of a member that is used in a list of containers */
	ENTRIES_MAX = 64, /* mounts, ports */
	DEFAULT_SHARES = 1024,
	DEFAULT_PERIOD_US = 100000,
};

struct sinsp_docker_answer {
	cJSON *container, *image; /* image NULL: unknown */
};

int sinsp_docker_answer_new(struct sinsp_docker_answer **out, const char *json, size_t len)
{
	struct sinsp_docker_answer *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->container = cJSON_ParseWithLength(json, len);
	if (!*sinsp_json_text(a->container, "Id")) {
		sinsp_docker_answer_free(a);
		return -EBADMSG;
	}
	*out = a;
	return 0;
}

void sinsp_docker_answer_free(struct sinsp_docker_answer *a)
{
	if (!a)
		return;
	cJSON_Delete(a->container);
	cJSON_Delete(a->image);
	free(a);
}

/* Returns whether the text is safe as a part of a request path. */
static int is_image_id(const char *text)
{
	return !strncmp(text, "sha256:", 7) && container_is_digest(text + 7);
}

const char *sinsp_docker_answer_image(const struct sinsp_docker_answer *a)
{
	const char *text = sinsp_json_text(a->container, "Image");

	return is_image_id(text) ? text : "";
}

void sinsp_docker_answer_add_image(struct sinsp_docker_answer *a, const char *json, size_t len)
{
	cJSON_Delete(a->image);
	a->image = cJSON_ParseWithLength(json, len);
}

static const cJSON *member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static double number(const cJSON *object, const char *key, double none)
{
	const cJSON *v = member(object, key);

	return cJSON_IsNumber(v) && v->valuedouble ? v->valuedouble : none;
}

/* Returns whether @name, "repository:tag" or "repository@digest", is of @repo, @n bytes. */
static int is_of_repo(const char *name, const char *repo, size_t n)
{
	return !strncmp(name, repo, n) && strchr(":@", name[n]);
}

/* Returns the first text of an array that is of the repository; any, if that is "". "": none. */
static const char *first_of_repo(const cJSON *array, const char *repo, size_t n)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, array)
	{
		const char *text = cJSON_GetStringValue(v);

		if (text && strlen(text) <= CONTAINER_TEXT_MAX && (!n || is_of_repo(text, repo, n)))
			return text;
	}
	return "";
}

static void add_image(cJSON *to, const struct sinsp_docker_answer *a)
{
	const char *image = container_text(member(a->container, "Config"), "Image");
	const char *id = sinsp_docker_answer_image(a), *digest, *tag;
	size_t n;

	/* A container that was created by an image ID, not by name. */
	if (!*image || !strncmp(image, "sha256:", 7)) {
		tag = first_of_repo(member(a->image, "RepoTags"), "", 0);
		image = *tag ? tag : image;
	}
	n = container_repo_len(image);
	digest = strchr(image, '@');
	if (!digest && n)
		digest = strchr(first_of_repo(member(a->image, "RepoDigests"), image, n), '@');
	if (!digest)
		digest = strchr(first_of_repo(member(a->image, "RepoDigests"), "", 0), '@');
	container_add_image(to, image, *id ? id + 7 : "", digest ? digest + 1 : "");
}

static void add_mounts(cJSON *to, const cJSON *mounts)
{
	cJSON *out = cJSON_AddArrayToObject(to, "Mounts"), *m, *entry;
	int n = 0;

	cJSON_ArrayForEach(m, mounts)
	{
		if (n++ == ENTRIES_MAX)
			break;
		entry = cJSON_CreateObject();
		if (!cJSON_AddItemToArray(out, entry))
			break;
		cJSON_AddStringToObject(entry, "Source", container_text(m, "Source"));
		cJSON_AddStringToObject(entry, "Destination", container_text(m, "Destination"));
		cJSON_AddStringToObject(entry, "Mode", container_text(m, "Mode"));
		cJSON_AddBoolToObject(entry, "RW", cJSON_IsTrue(member(m, "RW")));
		cJSON_AddStringToObject(entry, "Propagation", container_text(m, "Propagation"));
	}
}

static void add_port(cJSON *out, const cJSON *binding, int container_port)
{
	cJSON *entry = cJSON_CreateObject();
	struct in_addr ip = {0};

	if (!cJSON_AddItemToArray(out, entry))
		return;
	inet_pton(AF_INET, sinsp_json_text(binding, "HostIp"), &ip);
	cJSON_AddNumberToObject(entry, "HostIp", ntohl(ip.s_addr));
	cJSON_AddNumberToObject(entry, "HostPort",
				atoi(container_text(binding, "HostPort")) & 0xffff);
	cJSON_AddNumberToObject(entry, "ContainerPort", container_port);
}

/* {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "8080"}], "443/tcp": null} */
static void add_ports(cJSON *to, const cJSON *ports)
{
	cJSON *out = cJSON_AddArrayToObject(to, "port_mappings"), *port, *binding;
	int n = 0;

	cJSON_ArrayForEach(port, ports)
	{
		if (!port->string || !strstr(port->string, "/tcp"))
			continue;
		cJSON_ArrayForEach(binding, port)
		{
			if (n++ < ENTRIES_MAX)
				add_port(out, binding, atoi(port->string) & 0xffff);
		}
	}
}

static const char *find_ip(const cJSON *settings)
{
	const char *ip = container_text(settings, "IPAddress");
	const cJSON *network;

	cJSON_ArrayForEach(network, member(settings, "Networks"))
	{
		if (!*ip)
			ip = container_text(network, "IPAddress");
	}
	return *ip ? ip : "0.0.0.0";
}

static void add_limits(cJSON *to, const cJSON *host)
{
	double period = number(host, "CpuPeriod", DEFAULT_PERIOD_US);
	/* --cpus is stored in billionths of a CPU. */
	double quota = number(host, "NanoCpus", 0) / 1e9 * period;

	cJSON_AddBoolToObject(to, "privileged", cJSON_IsTrue(member(host, "Privileged")));
	cJSON_AddNumberToObject(to, "memory_limit", number(host, "Memory", 0));
	cJSON_AddNumberToObject(to, "swap_limit", number(host, "MemorySwap", 0));
	cJSON_AddNumberToObject(to, "cpu_shares", number(host, "CpuShares", DEFAULT_SHARES));
	cJSON_AddNumberToObject(to, "cpu_quota", number(host, "CpuQuota", quota));
	cJSON_AddNumberToObject(to, "cpu_period", period);
}

static int is_sandbox(const cJSON *labels)
{
	return !strcmp(sinsp_json_text(labels, "io.kubernetes.docker.type"), "podsandbox");
}

/* Adds the arguments of the program; drops those that do not fit. */
static void add_args(cJSON *to, const cJSON *test, int first)
{
	const int n = cJSON_GetArraySize(test);
	size_t room = HEALTHCHECK_SZ;

	for (int i = first; i < n && i < ENTRIES_MAX; i++) {
		const char *arg = cJSON_GetStringValue(cJSON_GetArrayItem(test, i));
		const size_t sz = arg ? strlen(arg) + 1 : 0;

		if (!sz || sz > CONTAINER_TEXT_MAX || sz > room)
			continue;
		room -= sz;
		cJSON_AddItemToArray(to, cJSON_CreateString(arg));
	}
}

/* {"Test": ["CMD", program, argument...]}, or "CMD-SHELL" and one text, or "NONE". */
static void add_healthcheck(cJSON *to, const cJSON *check)
{
	const cJSON *test = member(check, "Test");
	const char *kind = cJSON_GetStringValue(cJSON_GetArrayItem(test, 0));
	const int shell = kind && !strcmp(kind, "CMD-SHELL");
	const char *exe = shell ? "/bin/sh" : cJSON_GetStringValue(cJSON_GetArrayItem(test, 1));
	cJSON *out, *args;

	if (!kind || !exe || strlen(exe) > CONTAINER_TEXT_MAX || (!shell && strcmp(kind, "CMD")))
		return;
	out = cJSON_AddObjectToObject(to, "Healthcheck");
	cJSON_AddStringToObject(out, "exe", exe);
	args = cJSON_AddArrayToObject(out, "args");
	if (shell)
		cJSON_AddItemToArray(args, cJSON_CreateString("-c"));
	add_args(args, test, shell ? 1 : 2);
}

static void add_lists(cJSON *to, const cJSON *in)
{
	size_t room = CONTAINER_LABELS_SZ;

	container_add_labels(cJSON_AddObjectToObject(to, "labels"), &room,
			     member(member(in, "Config"), "Labels"));
	add_mounts(to, member(in, "Mounts"));
	add_healthcheck(to, member(member(in, "Config"), "Healthcheck"));
	add_ports(to, member(member(in, "NetworkSettings"), "Ports"));
}

static char *print_event(const struct sinsp_docker_answer *a, const char *id,
			 enum sinsp_container_type type, int with_lists)
{
	const cJSON *in = a->container;
	const char *name = container_text(in, "Name");
	cJSON *c, *root = sinsp_container_json_new(&c, id, type, name + (*name == '/'));
	char *text;

	if (!root)
		return NULL;
	add_image(c, a);
	cJSON_AddStringToObject(c, "ip", find_ip(member(in, "NetworkSettings")));
	cJSON_AddBoolToObject(c, "is_pod_sandbox",
			      is_sandbox(member(member(in, "Config"), "Labels")));
	add_limits(c, member(in, "HostConfig"));
	if (with_lists)
		add_lists(c, in);
	/* Environments contain secrets, and no field uses them: as in sysdig, they are dropped. */
	cJSON_AddArrayToObject(c, "env");
	text = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	return text;
}

/* A byte of a text may be printed as six: if that makes the event too large, it has no lists. */
char *sinsp_docker_answer_event(const struct sinsp_docker_answer *a, const char *id,
				enum sinsp_container_type type)
{
	char *text = print_event(a, id, type, 1);

	if (!text || strlen(text) <= SINSP_CONTAINER_JSON_MAX)
		return text;
	free(text);
	return print_event(a, id, type, 0);
}

/* ---- lists that may be truncated ---- */

struct listing {
	const char *p, *end;
	char id[65], name[CONTAINER_TEXT_MAX + 1], image[CONTAINER_TEXT_MAX + 1];
};

static int skip(struct listing *l, char c)
{
	while (l->p < l->end && strchr(" \t\r\n", *l->p))
		l->p++;
	if (l->p == l->end || *l->p != c)
		return 0;
	l->p++;
	return 1;
}

/* Parses the next value, which the caller owns. NULL: truncated, or longer than any member that is
 * used. */
static cJSON *next_value(struct listing *l)
{
	const size_t left = (size_t)(l->end - l->p);
	const char *end = NULL;
	cJSON *v = cJSON_ParseWithLengthOpts(l->p, left < MEMBER_MAX ? left : MEMBER_MAX, &end, 0);

	if (v)
		l->p = end;
	return v;
}

static void copy_text(char *to, size_t sz, const cJSON *v)
{
	const char *text = cJSON_GetStringValue(v);

	if (text && strlen(text) < sz)
		strcpy(to, text);
}

/* Parses a member of a container. Returns 0 if it is the last. */
static int next_member(struct listing *l)
{
	cJSON *key = next_value(l), *v = key && skip(l, ':') ? next_value(l) : NULL;
	const char *name = cJSON_GetStringValue(key) ?: "";
	const int more = v && skip(l, ',');

	if (!strcmp(name, "Id"))
		copy_text(l->id, sizeof(l->id), v);
	else if (!strcmp(name, "Names"))
		copy_text(l->name, sizeof(l->name), cJSON_GetArrayItem(v, 0));
	else if (!strcmp(name, "Image"))
		copy_text(l->image, sizeof(l->image), v);
	cJSON_Delete(key);
	cJSON_Delete(v);
	return more;
}

char *sinsp_docker_listed_event(const char *json, size_t len, const char *id, const char *full_id,
				enum sinsp_container_type type)
{
	struct listing l = {.p = json, .end = json + len};
	cJSON *c, *root;
	char *text;

	if (!skip(&l, '[') || !skip(&l, '{'))
		return NULL;
	while (next_member(&l))
		;
	if (strcmp(l.id, full_id) || !*l.name)
		return NULL;
	root = sinsp_container_json_new(&c, id, type, l.name + (*l.name == '/'));
	if (!root)
		return NULL;
	cJSON_AddStringToObject(c, "image", l.image);
	cJSON_AddStringToObject(c, "ip", "0.0.0.0");
	text = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	return text;
}

/* Advances to the next element of a list. Returns 0 at the end. */
static int skip_element(struct listing *l)
{
	int depth = 0, is_text = 0;

	for (; l->p < l->end; l->p++) {
		const char c = *l->p;

		if (c == '"')
			is_text = !is_text;
		else if (is_text && c == '\\' && l->p + 1 < l->end)
			l->p++;
		else if (!is_text && (c == '[' || c == '{'))
			depth++;
		else if (!is_text && (c == ']' || c == '}') && !depth--)
			return 0;
		else if (!is_text && c == ',' && !depth)
			return l->p++, 1;
	}
	return 0;
}

/* Parses each container separately, up to its ID: a tree of all needs much memory. */
void sinsp_docker_each(const char *json, size_t len, void (*fn)(void *ctx, const char *id),
		       void *ctx)
{
	struct listing l = {.p = json, .end = json + len};
	int more = skip(&l, '[');

	while (more) {
		struct listing one = {.p = l.p};

		more = skip_element(&l);
		one.end = l.p;
		if (skip(&one, '{'))
			while (next_member(&one) && !*one.id)
				;
		if (container_is_digest(one.id))
			fn(ctx, one.id);
	}
}
