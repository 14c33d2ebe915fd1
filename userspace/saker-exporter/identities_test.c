/* SPDX-License-Identifier: Apache-2.0 */
/* Names of containers and pods by the paths of cgroups, from a fake tree of containerd's files. */
#include "identities.h"

#include <time.h>
#include <unistd.h>

#include "testing/fake_root.h"

#define WEB "00000000000000000000000000000000000000000000000000000000000000aa"
#define PAUSE "bbbbbbbbbbbb0000000000000000000000000000000000000000000000000000"
#define POD "/kubepods/burstable/pod01234567-89ab-cdef-0123-456789abcdef"
#define UID "01234567-89ab-cdef-0123-456789abcdef"
#define BUNDLES "/run/containerd/io.containerd.runtime.v2.task/k8s.io"

static void write_config(const char *id)
{
	char path[512];

	snprintf(path, sizeof(path), BUNDLES "/%s/config.json", id);
	put_in_root(path, "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"web\","
			  "\"io.kubernetes.cri.image-name\":\"shop/web:1\","
			  "\"io.kubernetes.cri.sandbox-name\":\"shop-7\","
			  "\"io.kubernetes.cri.sandbox-namespace\":\"prod\"}}");
}

static int is_label(const struct label_value *l, const char *text)
{
	return l->len == strlen(text) && memcmp(l->p ?: "", text, l->len) == 0;
}

static void check_labels(const struct label_value *labels, size_t n, const char *const *texts)
{
	for (size_t i = 0; i < n; i++)
		assert_true(is_label(&labels[i], texts[i]));
}

/* A path of a container whose files do not exist, then exist; its pause container has no files. */
static void test_names(void **state)
{
	const struct sinsp_lookup_opts opts = {.sz = sizeof(opts), .root = root, .retry_ms = 1};
	const struct scap_account_cgroup cgroups[] = {
		{.id = 1, .path = "/"},           {.id = 2, .path = POD "/" WEB},
		{.id = 3, .path = POD "/" PAUSE}, {.id = 4, .path = POD "/" WEB "/init.scope"},
		{.id = 5, .path = NULL},
	};
	const struct timespec ms = {.tv_nsec = 1000000};
	const struct identity *web, *pause;
	struct sinsp_lookup *lookup;
	struct identities *ids;
	int n_changes = 0;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(sinsp_lookup_new(&lookup, &opts), 0);
	assert_int_equal(identities_new(&ids, lookup), 0);
	identities_update(ids, cgroups, 5);
	web = identities_find(ids, 2);
	check_labels(web->container, CONTAINER_LABELS,
		     (const char *const[]){"000000000000", "", "", "", ""});
	check_labels(web->pod, POD_LABELS, (const char *const[]){UID, "", ""});
	assert_false(identities_find(ids, 1)->has_container || identities_find(ids, 1)->has_pod);
	assert_null(identities_find(ids, 5));
	write_config(WEB);
	for (int i = 0; i < 20000 && !web->container[1].len; i++) {
		nanosleep(&ms, NULL);
		identities_update(ids, cgroups, 5);
		n_changes += web->changed;
	}
	check_labels(web->container, CONTAINER_LABELS,
		     (const char *const[]){"000000000000", "web", "shop/web:1", "prod", "shop-7"});
	check_labels(identities_find(ids, 4)->container, CONTAINER_LABELS,
		     (const char *const[]){"000000000000", "web", "shop/web:1", "prod", "shop-7"});
	pause = identities_find(ids, 3);
	check_labels(pause->container, CONTAINER_LABELS,
		     (const char *const[]){"bbbbbbbbbbbb", "", "", "prod", "shop-7"});
	check_labels(pause->pod, POD_LABELS, (const char *const[]){UID, "prod", "shop-7"});
	assert_int_equal(n_changes, 1);
	identities_update(ids, cgroups, 5);
	assert_false(web->changed);
	identities_free(ids);
}

/* The id of a cgroup with another path is another cgroup. */
static void test_reuse(void **state)
{
	const struct scap_account_cgroup paths[] = {
		{.id = 7, .path = "/docker/" WEB},
		{.id = 7, .path = "/system.slice"},
		{.id = 7, .path = "/docker/" PAUSE},
	};
	const char *const expected[] = {"000000000000", "", "bbbbbbbbbbbb"};
	struct identities *ids;

	(void)state;
	assert_int_equal(identities_new(&ids, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		identities_update(ids, &paths[i], 1);
		assert_true(is_label(&identities_find(ids, 7)->container[0], expected[i]));
		assert_true(identities_find(ids, 7)->changed);
	}
	identities_update(ids, NULL, 0);
	assert_null(identities_find(ids, 7));
	identities_free(ids);
}

/* What a user's process uses is not that of a pod whose UID he gave to a cgroup. */
static void test_user_joins_no_pod(void **state)
{
	const struct scap_account_cgroup cgroups[] = {
		{.id = 2, .path = POD "/" WEB},
		{.id = 3, .path = "/user.slice/user-1000.slice" POD "/" PAUSE},
	};
	struct identities *ids;

	(void)state;
	assert_int_equal(identities_new(&ids, NULL), 0);
	identities_update(ids, cgroups, 2);
	assert_true(identities_find(ids, 2)->has_pod);
	assert_false(identities_find(ids, 3)->has_pod);
	identities_free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_user_joins_no_pod),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
