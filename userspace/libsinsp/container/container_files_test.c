// SPDX-License-Identifier: Apache-2.0
/* Tests container events of the files of runtimes: trees in their layouts, and bad ones. */
#include "container_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container_json.h"
#include "containers.h"
#include "testing/fake_root.h"

#define ID12 "0123456789ab"
#define ID ID12 "cdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CONTAINERD "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json"
#define CRIO "/run/containers/storage/overlay-containers/" ID "/userdata/config.json"
#define PODMAN "/var/lib/containers/storage/vfs-containers/containers.json"

static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, name);
	return path;
}

static int event(char **json, enum sinsp_container_type type)
{
	return container_files_event(json, root, type, ID12, ID);
}

/* Compares what a reader of events has of the container. */
static void check(enum sinsp_container_type type, const char *name, const char *image,
		  const char *repo, const char *tag, const char *labels)
{
	struct sinsp_container_info info;
	char *json = NULL, text[2048] = "";

	assert_int_equal(event(&json, type), 0);
	assert_int_equal(sinsp_container_json_read(&info, json, strlen(json)), 0);
	assert_string_equal(info.id, ID12);
	assert_int_equal(info.type, type);
	assert_string_equal(info.name, name);
	assert_string_equal(info.image, image);
	assert_string_equal(info.image_repo, repo);
	assert_string_equal(info.image_tag, tag);
	for (const char *p = info.labels.p; p && p < info.labels.p + info.labels.len;
	     p += strlen(p) + 1) {
		strcat(text, p);
		strcat(text, "\n");
	}
	assert_string_equal(text, labels);
	sinsp_container_info_fini(&info);
	free(json);
}

static void containerd(void **state)
{
	(void)state;
	put_in_root(CONTAINERD,
		    "{\"ociVersion\": \"1.1.0\", \"annotations\": {"
		    "\"io.kubernetes.cri.container-name\": \"web\","
		    "\"io.kubernetes.cri.container-type\": \"container\","
		    "\"io.kubernetes.cri.image-name\": \"registry:5000/shop/web:1.2\","
		    "\"io.kubernetes.cri.sandbox-name\": \"web-7d4f\","
		    "\"io.kubernetes.cri.sandbox-namespace\": \"shop\","
		    "\"io.kubernetes.cri.sandbox-uid\": \"4a1b\", \"n\": 1, \"team\": \"a\"}}");
	check(SINSP_CT_CONTAINERD, "web", "registry:5000/shop/web:1.2", "registry:5000/shop/web",
	      "1.2",
	      "io.kubernetes.pod.name=web-7d4f\nio.kubernetes.pod.namespace=shop\n"
	      "io.kubernetes.pod.uid=4a1b\nio.kubernetes.container.name=web\n"
	      "io.kubernetes.cri.container-name=web\nio.kubernetes.cri.container-type=container\n"
	      "io.kubernetes.cri.image-name=registry:5000/shop/web:1.2\n"
	      "io.kubernetes.cri.sandbox-name=web-7d4f\nio.kubernetes.cri.sandbox-namespace=shop\n"
	      "io.kubernetes.cri.sandbox-uid=4a1b\nteam=a\n");
	put_in_root(CONTAINERD, "{\"annotations\": {\"nerdctl/name\": \"box\"}}");
	check(SINSP_CT_CRI, "box", "", "", "", "nerdctl/name=box\n");
	put_in_root(CONTAINERD,
		    "{\"annotations\": {\"io.kubernetes.cri.container-type\": \"sandbox\","
		    "\"io.kubernetes.cri.sandbox-name\": \"web-7d4f\"}}");
	check(SINSP_CT_CONTAINERD, "web-7d4f", "", "", "",
	      "io.kubernetes.pod.name=web-7d4f\nio.kubernetes.cri.container-type=sandbox\n"
	      "io.kubernetes.cri.sandbox-name=web-7d4f\n");
	put_in_root(CONTAINERD, "{}");
	check(SINSP_CT_CONTAINERD, ID12, "", "", "", "");
}

static void crio(void **state)
{
	(void)state;
	put_in_root(CRIO,
		    "{\"annotations\": {\"io.kubernetes.container.name\": \"db\","
		    "\"io.kubernetes.cri-o.ImageName\": \"quay.io/db@sha256:12\","
		    "\"io.kubernetes.cri-o.Labels\": \"{\\\"app\\\": \\\"shop\\\", \\\"x\\\": 1}\","
		    "\"io.kubernetes.pod.name\": \"db-0\"}}");
	check(SINSP_CT_CRIO, "db", "quay.io/db@sha256:12", "quay.io/db", "",
	      "app=shop\nio.kubernetes.container.name=db\n"
	      "io.kubernetes.cri-o.ImageName=quay.io/db@sha256:12\n"
	      "io.kubernetes.cri-o.Labels={\"app\": \"shop\", \"x\": "
	      "1}\nio.kubernetes.pod.name=db-0\n");
}

/* CRI-O copies the annotations of a pod, which whoever makes it writes, to its containers. */
static void annotations_of_another_runtime(void **state)
{
	(void)state;
	put_in_root(CRIO, "{\"annotations\": {"
			  "\"io.kubernetes.cri.container-name\": \"etcd\","
			  "\"io.kubernetes.cri.image-name\": \"registry.k8s.io/etcd:3.5\","
			  "\"io.kubernetes.cri.sandbox-name\": \"etcd-master\","
			  "\"io.kubernetes.cri.sandbox-id\": \"etcd-master\","
			  "\"io.kubernetes.cri-o.ImageName\": \"shop/web:1\","
			  "\"io.kubernetes.container.name\": \"web\"}}");
	check(SINSP_CT_CRIO, "web", "shop/web:1", "shop/web", "1",
	      "io.kubernetes.cri-o.ImageName=shop/web:1\nio.kubernetes.container.name=web\n");
	put_in_root(CONTAINERD, "{\"annotations\": {"
				"\"io.kubernetes.cri-o.ImageName\": \"registry.k8s.io/etcd:3.5\","
				"\"io.kubernetes.cri-o.ContainerType\": \"sandbox\","
				"\"io.kubernetes.cri.container-name\": \"web\"}}");
	check(SINSP_CT_CONTAINERD, "web", "", "", "",
	      "io.kubernetes.container.name=web\nio.kubernetes.cri.container-name=web\n");
}

static void podman(void **state)
{
	char *json;

	(void)state;
	put_in_root(PODMAN,
		    "[{\"id\": \"00\", \"names\": [\"other\"]}, {\"id\": \"" ID
		    "\", \"names\": [\"db\", \"alias\"], \"image\": \"" ID
		    "\", \"metadata\": \"{\\\"image-name\\\":\\\"docker.io/library/db:15\\\"}\"}]");
	check(SINSP_CT_PODMAN, "db", "docker.io/library/db:15", "docker.io/library/db", "15", "");
	put_in_root(PODMAN, "[{\"id\": \"" ID "\"}]");
	check(SINSP_CT_PODMAN, ID12, "", "", "", "");
	put_in_root(PODMAN, "[{\"id\": \"00\", \"names\": [\"other\"]}]");
	assert_int_equal(event(&json, SINSP_CT_PODMAN), 1);
}

static void files_that_are_not_theirs(void **state)
{
	char *json, *long_text;

	(void)state;
	unlink(path_of(CONTAINERD));
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), 1);
	assert_int_equal(event(&json, SINSP_CT_DOCKER), 1);
	assert_int_equal(container_files_event(&json, root, SINSP_CT_CONTAINERD, "..", "../.."), 1);
	put_in_root(CONTAINERD, "{");
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), -EBADMSG);
	put_in_root(CONTAINERD, "[]");
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), -EBADMSG);
	put_in_root(CONTAINERD, "{\"annotations\": [1, 2]}");
	check(SINSP_CT_CONTAINERD, ID12, "", "", "", "");
	chmod(path_of(CONTAINERD), 0666);
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), -EPERM);
	assert_int_equal(truncate(path_of(CONTAINERD), CONTAINER_FILE_MAX + 1), 0);
	chmod(path_of(CONTAINERD), 0600);
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), -EFBIG);
	unlink(path_of(CONTAINERD));
	assert_int_equal(symlink("/etc/passwd", path_of(CONTAINERD)), 0);
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), -ELOOP);
	unlink(path_of(CONTAINERD));
	assert_int_equal(mkfifo(path_of(CONTAINERD), 0600), 0);
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), -EPERM);
	unlink(path_of(CONTAINERD));
	/* A long name is none. */
	assert_true(asprintf(&long_text, "{\"annotations\": {\"nerdctl/name\": \"%02000d\"}}", 0) >
		    0);
	put_in_root(CONTAINERD, long_text);
	check(SINSP_CT_CONTAINERD, ID12, "", "", "", "");
	free(long_text);
}

/* A user can write labels of any number and depth. */
static void hostile_labels(void **state)
{
	struct sinsp_container_info info;
	char *json = NULL, *text = malloc(3 << 20);
	size_t n;

	(void)state;
	assert_non_null(text);
	n = (size_t)sprintf(text, "{\"annotations\": {\"io.kubernetes.cri-o.Labels\": \"");
	memset(text + n, '[', 1 << 20);
	n += 1 << 20;
	n += (size_t)sprintf(text + n, "\"");
	for (int i = 0; i < 50000; i++)
		n += (size_t)sprintf(text + n, ",\"label-%d\": \"\\u001b%d\"", i, i);
	sprintf(text + n, "}}");
	put_in_root(CONTAINERD, text);
	assert_int_equal(event(&json, SINSP_CT_CONTAINERD), 0);
	assert_in_range(strlen(json), 1, SINSP_CONTAINER_JSON_MAX);
	assert_int_equal(sinsp_container_json_read(&info, json, strlen(json)), 0);
	assert_in_range(info.labels.len, 10000, 32768);
	sinsp_container_info_fini(&info);
	free(json);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containerd),
		cmocka_unit_test(crio),
		cmocka_unit_test(annotations_of_another_runtime),
		cmocka_unit_test(podman),
		cmocka_unit_test(files_that_are_not_theirs),
		cmocka_unit_test(hostile_labels),
	};

	if (geteuid()) {
		puts("skipped: files of runtimes belong to root");
		return 77;
	}
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
