/* SPDX-License-Identifier: Apache-2.0 */
/* A meter of a fake tree of sysfs, and cgroups that come and go. */
#include "energies.h"

#include "metrics.h"
#include "registry_impl.h"
#include "testing/fake_root.h"

static void put(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/class/powercap/intel-rapl:0/%s", file);
	put_in_root(path, text);
}

static uint64_t sum_of(const struct registry *r, size_t row, const char *label)
{
	uint64_t n = 0;

	for (const struct series *s = r->families[row].first; s; s = s->next)
		if (!label || memmem(s->labels, s->labels_len, label, strlen(label)))
			n += s->value;
	return n;
}

struct fixture {
	struct identities *ids;
	struct energies *e;
	struct registry *r;
};

static void begin(struct fixture *f, int processes)
{
	put("name", "package-0");
	put("energy_uj", "1000");
	assert_int_equal(registry_new(&f->r, metric_rows, METRIC_MAX, NULL), 0);
	assert_int_equal(identities_new(&f->ids, NULL), 0);
	assert_int_equal(energies_open(&f->e, root, processes), 0);
}

static void end(struct fixture *f)
{
	energies_close(f->e);
	identities_free(f->ids);
	registry_free(f->r);
}

/* A cgroup that was removed before its path was read had half of the time. */
static void test_cgroup_without_a_path(void **state)
{
	struct scap_account_cgroup cgroups[] = {{.id = 1, .path = "/a", .n[SCAP_ACCT_CPU] = 50},
						{.id = 2, .n[SCAP_ACCT_CPU] = 50}};
	const struct scap_account_cpu cpu = {.busy_ns = 100, .idle_ns = 100};
	struct scap_account_snapshot s = {
		.cgroups = cgroups, .n_cgroups = 2, .cpus = &cpu, .n_cpus = 1};
	struct fixture f;

	(void)state;
	begin(&f, 0);
	s.node[SCAP_ACCT_CPU] = 100;
	put("energy_uj", "3000");
	identities_update(f.ids, cgroups, 2);
	energies_update(f.e, f.r, f.ids, &s, 1);
	assert_int_equal(sum_of(f.r, METRIC_NODE_ENERGY, "\"active\""), 1000);
	assert_int_equal(sum_of(f.r, METRIC_CGROUP_ENERGY, "\"/a\""), 500);
	assert_int_equal(sum_of(f.r, METRIC_CGROUP_ENERGY, NULL), 1000);
	end(&f);
}

/* Where the list of online CPUs cannot be read, the running tasks are not counted. */
static void test_busy_time_becomes_less(void **state)
{
	struct scap_account_cpu cpu = {.busy_ns = 100, .idle_ns = 100};
	const struct scap_account_snapshot s = {.cpus = &cpu, .n_cpus = 1};
	struct fixture f;

	(void)state;
	begin(&f, 0);
	put("energy_uj", "3000");
	energies_update(f.e, f.r, f.ids, &s, 1);
	cpu = (struct scap_account_cpu){.busy_ns = 50, .idle_ns = 1000};
	put("energy_uj", "5000");
	energies_update(f.e, f.r, f.ids, &s, 2);
	cpu = (struct scap_account_cpu){.busy_ns = 1050, .idle_ns = 2000};
	put("energy_uj", "7000");
	energies_update(f.e, f.r, f.ids, &s, 3);
	assert_int_equal(sum_of(f.r, METRIC_NODE_ENERGY, NULL), 6000);
	assert_int_equal(sum_of(f.r, METRIC_NODE_ENERGY, "\"active\""), 1000 + 2000);
	end(&f);
}

/* A meter that cannot be read for a moment, as of a package whose CPUs are offline: what cgroups
 * got before is not theirs again. */
static void test_unread_meter(void **state)
{
	struct scap_account_cgroup c = {.id = 1, .path = "/a", .n[SCAP_ACCT_CPU] = 100};
	struct scap_account_cpu cpu = {.busy_ns = 100, .idle_ns = 100};
	struct scap_account_snapshot s = {.cgroups = &c, .n_cgroups = 1, .cpus = &cpu, .n_cpus = 1};
	struct fixture f;

	(void)state;
	begin(&f, 0);
	for (unsigned int i = 1; i <= 3; i++) {
		static const char *const meter[] = {"", "3000", "unreadable", "5000"};

		put("energy_uj", meter[i]);
		c.n[SCAP_ACCT_CPU] = s.node[SCAP_ACCT_CPU] = 100 * i;
		cpu.busy_ns = cpu.idle_ns = 100 * i;
		identities_update(f.ids, &c, 1);
		energies_update(f.e, f.r, f.ids, &s, i);
	}
	assert_int_equal(sum_of(f.r, METRIC_NODE_ENERGY, "\"active\""), 2000);
	assert_int_equal(sum_of(f.r, METRIC_CGROUP_ENERGY, NULL), 2000);
	end(&f);
}

/* A process that executes another program keeps its series, which has the new name. */
static void test_exec(void **state)
{
	struct scap_account_process p = {
		.pid = 7, .start_ns = 1, .comm = "bash", .n[SCAP_ACCT_CPU] = 100};
	struct scap_account_cpu cpu = {.busy_ns = 100, .idle_ns = 100};
	struct scap_account_snapshot s = {
		.processes = &p, .n_processes = 1, .cpus = &cpu, .n_cpus = 1};
	struct fixture f;

	(void)state;
	begin(&f, 1);
	for (unsigned int i = 1; i <= 2; i++) {
		put("energy_uj", i == 1 ? "3000" : "5000");
		if (i == 2)
			snprintf(p.comm, sizeof(p.comm), "python3");
		p.n[SCAP_ACCT_CPU] = s.node[SCAP_ACCT_CPU] = 100 * i;
		cpu.busy_ns = cpu.idle_ns = 100 * i;
		energies_update(f.e, f.r, f.ids, &s, i);
	}
	assert_int_equal(sum_of(f.r, METRIC_PROCESS_ENERGY, "\"bash\""), 0);
	assert_int_equal(sum_of(f.r, METRIC_PROCESS_ENERGY, "\"python3\""), 2000);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroup_without_a_path),
		cmocka_unit_test(test_busy_time_becomes_less),
		cmocka_unit_test(test_unread_meter),
		cmocka_unit_test(test_exec),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
