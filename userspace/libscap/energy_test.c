/* SPDX-License-Identifier: Apache-2.0 */
/* Energy meters of a fake tree of sysfs. */
#include "energy.h"

#include "testing/fake_root.h"
#include <inttypes.h>

static void write_file(const char *zone, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "/class/powercap/%s/%s", zone, file);
	put_in_root(path, text);
}

static void make_zone(const char *zone, const char *name, const char *uj, const char *max)
{
	write_file(zone, "name", name);
	if (uj)
		write_file(zone, "energy_uj", uj);
	if (max)
		write_file(zone, "max_energy_range_uj", max);
}

static const struct scap_energy_zone *find(struct scap_energy *e, const char *name)
{
	const struct scap_energy_zone *zones;
	const size_t n = scap_energy_read(e, &zones);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(zones[i].name, name))
			return &zones[i];
	return NULL;
}

static void test_zones(void **state)
{
	const struct scap_energy_zone *z;
	struct scap_energy *e;

	(void)state;
	make_zone("intel-rapl:1", "package-3\n", "900\n", "1000\n");
	make_zone("intel-rapl:1:0", "core\n", "7\n", NULL);
	make_zone("intel-rapl:1:1", "dram\n", NULL, "1000\n");
	make_zone("intel-rapl:2", "psys\n", "5\n", "1000\n");
	make_zone("intel-rapl-mmio:0", "package-3\n", "900\n", "1000\n");
	assert_int_equal(scap_energy_open(&e, root), 0);
	assert_int_equal(scap_energy_read(e, &z), 4);
	z = find(e, "package");
	assert_non_null(strstr(z->why, "stuck"));
	assert_string_equal(z->package, "3");
	write_file("intel-rapl:1", "energy_uj", "950\n");
	z = find(e, "package");
	assert_null(z->why);
	assert_int_equal(z->uj, 50);
	write_file("intel-rapl:1", "energy_uj", "20\n"); /* wraps at 1000 */
	assert_int_equal(find(e, "package")->uj, 120);
	z = find(e, "core");
	assert_string_equal(z->package, "3");
	assert_non_null(z->why);
	write_file("intel-rapl:1:0", "energy_uj", "9\n");
	assert_int_equal(find(e, "core")->uj, 2);
	write_file("intel-rapl:1:0", "energy_uj", "1\n"); /* does not wrap: it began again */
	assert_int_equal(find(e, "core")->uj, 2);
	write_file("intel-rapl:1:0", "energy_uj", "none\n");
	assert_non_null(find(e, "core")->why);
	assert_string_equal(find(e, "psys")->package, "");
	assert_non_null(find(e, "dram")->why);
	scap_energy_close(e);
}

static void test_none(void **state)
{
	const struct scap_energy_zone *z;
	struct scap_energy *e;

	(void)state;
	assert_int_equal(scap_energy_open(&e, "/none"), 0);
	assert_int_equal(scap_energy_read(e, &z), 0);
	scap_energy_close(e);
	scap_energy_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_zones),
					   cmocka_unit_test(test_none)};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
