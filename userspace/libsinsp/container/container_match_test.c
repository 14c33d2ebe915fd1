/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup paths of runtimes, and hostile ones. */
#include "container_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/test_main.h"

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define G "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define H12 "0123456789ab"
#define G12 "fedcba987654"
#define POD "1b8b6a2e-4f0c-4a0e-9a53-0a1b2c3d4e5f"
#define POD_ "1b8b6a2e_4f0c_4a0e_9a53_0a1b2c3d4e5f"
#define STATIC_POD "5f2b3a1c9d8e7f605142332415060708"
#define USER1000 "/user.slice/user-1000.slice/user@1000.service"
#define DASH "\\x2d"
#define NOBODY SINSP_NO_UID

enum { HOST = -1 };
#define NONE(path)                                                                                 \
	{                                                                                          \
		path, HOST, "", NOBODY, ""                                                         \
	}

/* clang-format off */
static const struct row {
	const char *path;
	int type;
	const char *id;
	uint32_t uid;
	const char *pod;
} rows[] = {
	/* docker */
	{"/docker/" H, SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/system.slice/docker-" H ".scope", SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/system.slice/docker-" H ".scope/init.scope", SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/docker/" H "/system.slice/sshd.service", SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/docker/" H "/docker/" G, SINSP_CT_DOCKER, G12, NOBODY, ""},
	{"/actions_job/" H, SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/ecs/task/" H, SINSP_CT_DOCKER, H12, NOBODY, ""},
	{USER1000 "/user.slice/docker-" H ".scope", SINSP_CT_DOCKER, H12, 1000, ""},
	/* podman */
	{"/machine.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/machine.slice/libpod-" H ".scope/container", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/libpod_parent/libpod-" H, SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/libpod_parent/libpod-payload-" H, SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/machine.slice/machine-libpod_pod_" G ".slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{USER1000 "/user.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, 1000, ""},
	{USER1000 "/user.slice/user-libpod_pod_" G ".slice/libpod-" H ".scope/container", SINSP_CT_PODMAN, H12, 1000, ""},
	{USER1000 "/user.slice/user-1001.slice/docker-" H ".scope", SINSP_CT_DOCKER, H12, 1000, ""},
	{USER1000 "/kubepods/pod" POD "/" H, SINSP_CT_CRI, H12, 1000, ""},
	{"/.../user-1000.slice/docker-" H ".scope", SINSP_CT_DOCKER, H12, SINSP_UNKNOWN_UID, ""},
	{"/user.slice/user-4294967294.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, 4294967294, ""},
	NONE("/machine.slice/libpod-conmon-" H ".scope"),
	NONE("/libpod_parent/conmon"),
	/* containerd */
	{"/system.slice/cri-containerd-" H ".scope", SINSP_CT_CONTAINERD, H12, NOBODY, ""},
	{"/system.slice/containerd.service/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" H, SINSP_CT_CONTAINERD, H12, NOBODY, POD},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" POD_ ".slice/cri-containerd-" H ".scope", SINSP_CT_CONTAINERD, H12, NOBODY, POD},
	{"/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" H ".scope", SINSP_CT_CONTAINERD, H12, NOBODY, POD},
	{"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" STATIC_POD ".slice/cri-containerd-" H ".scope", SINSP_CT_CONTAINERD, H12, NOBODY, STATIC_POD},
	{"/docker/" G "/kubelet/kubepods/burstable/pod" POD "/" H, SINSP_CT_CRI, H12, NOBODY, POD},
	{"/k8s.io/" H, SINSP_CT_CONTAINERD, H12, NOBODY, ""},
	{"/default/" H, SINSP_CT_CONTAINERD, H12, NOBODY, ""},
	{"/system.slice/nerdctl-" H ".scope", SINSP_CT_CONTAINERD, H12, NOBODY, ""},
	/* cri-o */
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_ ".slice/crio-" H ".scope", SINSP_CT_CRIO, H12, NOBODY, POD},
	{"/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" H ".scope/container", SINSP_CT_CRIO, H12, NOBODY, POD},
	{"/kubepods/burstable/pod" POD "/crio-" H, SINSP_CT_CRIO, H12, NOBODY, POD},
	NONE("/kubepods/burstable/pod" POD "/crio-conmon-" H),
	NONE("/system.slice/crio-conmon-" H ".scope"),
	/* kubernetes, cgroupfs driver */
	{"/kubepods/besteffort/pod" POD "/" H, SINSP_CT_CRI, H12, NOBODY, POD},
	{"/kubepods/pod" STATIC_POD "/" H, SINSP_CT_CRI, H12, NOBODY, STATIC_POD},
	NONE("/kubepods/pod" POD),
	NONE("/kubepods.slice/kubepods-pod" POD_ ".slice"),
	{"/pod" POD "/" H, SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/kubepods/pod" POD "0/" H, SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/kubepods/pod1234/" H, SINSP_CT_DOCKER, H12, NOBODY, ""},
	/* lxc */
	{"/lxc/web-1", SINSP_CT_LXC, "web-1", NOBODY, ""},
	{"/lxc/101/ns/init.scope", SINSP_CT_LXC, "101", NOBODY, ""},
	{"/lxc.payload.web/system.slice/cron.service", SINSP_CT_LXC, "web", NOBODY, ""},
	{"/lxc.payload/web", SINSP_CT_LXC, "web", NOBODY, ""},
	{"/lxc/web/docker/" H, SINSP_CT_DOCKER, H12, NOBODY, ""},
	NONE("/lxc.monitor.web"),
	NONE("/lxc.monitor/web"),
	NONE("/lxc"),
	NONE("/lxc/"),
	NONE("/lxc.payload."),
	/* libvirt */
	{"/machine/box.libvirt-lxc", SINSP_CT_LIBVIRT_LXC, "box", NOBODY, ""},
	{"/machine.slice/machine-lxc" DASH "421" DASH "box.scope", SINSP_CT_LIBVIRT_LXC, "421" DASH "box", NOBODY, ""},
	{"/libvirt/lxc/box", SINSP_CT_LIBVIRT_LXC, "box", NOBODY, ""},
	NONE("/machine.slice/machine-qemu" DASH "1" DASH "vm.scope/libvirt/emulator"),
	/* systemd-nspawn */
	{"/machine.slice/machine-deb" DASH "12.scope", SINSP_CT_CUSTOM, "deb-12", NOBODY, ""},
	{"/machine.slice/systemd-nspawn@deb.service/payload", SINSP_CT_CUSTOM, "deb", NOBODY, ""},
	{"/machine.slice/systemd-nspawn@a" DASH "b.service/payload/system.slice", SINSP_CT_CUSTOM, "a-b", NOBODY, ""},
	NONE("/machine.slice/systemd-nspawn@.service"),
	NONE("/system.slice/machine-deb.scope"),
	NONE("/machine.slice"),
	/* no container */
	NONE("/"),
	NONE(""),
	NONE("relative/docker/" H),
	NONE("/user.slice/user-1000.slice/session-2.scope"),
	NONE("/process_api/5dc122e404a0058a2ff19acb7d15057f"),
	NONE("/system.slice/docker.service"),
	/* hostile paths */
	NONE("/docker/" H "0"),
	NONE("/docker/0123456789abcdef"),
	NONE("/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
	NONE("/docker-" H ".scope.d"),
	NONE("/docker-.scope"),
	NONE("/docker-scope"),
	NONE("/libpod-"),
	NONE("/x:cri-containerd:"),
	NONE("/x:cri-containerd:" H ":cri-containerd:" G),
	{"//docker//" H "//", SINSP_CT_DOCKER, H12, NOBODY, ""},
	{"/user.slice/user-.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/user.slice/user-4294967295.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/user.slice/user-99999999999999999999.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/user.slice/user-1x.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/x/user-1000.slice/libpod-" H ".scope", SINSP_CT_PODMAN, H12, NOBODY, ""},
	{"/machine.slice/machine-a\\x00b.scope", SINSP_CT_CUSTOM, "a?b", NOBODY, ""},
	{"/machine.slice/machine-\\x2.scope", SINSP_CT_CUSTOM, "\\x2", NOBODY, ""},
	{"/lxc/\x1b[31m\xff", SINSP_CT_LXC, "\x1b[31m\xff", NOBODY, ""},
};
/* clang-format on */

/* Copies to a buffer of the exact size: sanitizers find reads beyond it. */
static int match(struct sinsp_container_match *m, const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	int found;

	assert_non_null(copy);
	memcpy(copy, text, len);
	found = sinsp_container_match(m, copy, len);
	free(copy);
	return found;
}

static int match_path(struct sinsp_container_match *m, const char *path, int with_nul)
{
	char text[1024];
	int n = snprintf(text, sizeof(text), "cpu=%s", path);

	return match(m, text, n + with_nul);
}

static void expect(const struct row *r, int with_nul)
{
	struct sinsp_container_match m;
	int found = match_path(&m, r->path, with_nul);

	if (found != (r->type != HOST))
		fail_msg("%s: found %d", r->path, found);
	if (!found)
		return;
	if ((int)m.type != r->type || strcmp(m.id, r->id) || m.uid != r->uid ||
	    strcmp(m.pod_uid, r->pod))
		fail_msg("%s: type %d id %s uid %u pod %s", r->path, m.type, m.id, m.uid,
			 m.pod_uid);
	assert_true(!m.full_id[0] || !strncmp(m.full_id, m.id, 12));
}

static void test_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		expect(&rows[i], 1);
		expect(&rows[i], 0);
	}
}

/* The cgroups of a process, of both versions: the first line with a container counts. */
static void test_lines(void **state)
{
	static const char list[] =
		"cpuset=/\0cpu=/user.slice\0=\0\0x\0memory=/docker/" H "\0unified=/docker/" G;
	struct sinsp_container_match m;

	(void)state;
	assert_int_equal(match(&m, list, sizeof(list)), 1);
	assert_string_equal(m.id, H12);
	assert_string_equal(m.full_id, H);
	assert_int_equal(match(&m, list, 10), 0);
	assert_int_equal(match(&m, "", 0), 0);
}

/* A name may have the maximum length of a file name. */
static void test_length(void **state)
{
	struct sinsp_container_match m;
	char path[300] = "/lxc/";

	(void)state;
	memset(path + 5, 'n', 255);
	assert_int_equal(match_path(&m, path, 1), 1);
	assert_int_equal(strlen(m.id), 255);
	path[5 + 255] = 'n';
	assert_int_equal(match_path(&m, path, 1), 0);
}

/* Every row, cut anywhere and with any one byte changed, is read within its bounds. */
static void test_damage(void **state)
{
	struct sinsp_container_match m;
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t len = snprintf(text, sizeof(text), "unified=%s", rows[i].path);

		for (size_t n = 0; n < len; n++) {
			char was = text[n];

			match(&m, text, n);
			for (const char *c = "/-:.\\0p"; *c; c++) {
				text[n] = *c;
				if (match(&m, text, len))
					assert_true(strlen(m.id) > 0 && m.type < SINSP_CT_MAX);
			}
			text[n] = was;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
