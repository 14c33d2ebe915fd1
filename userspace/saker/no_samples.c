/* SPDX-License-Identifier: Apache-2.0 */
#include "no_samples.h"

#include "say.h"

/* The command, if only it is sampled; NULL: what the options select. */
static const char *sampled_command(const struct options *o)
{
	return o->command && !o->all && !o->comms.n && !o->cgroups.n ? o->command[0] : NULL;
}

static void say_live(const struct options *o, double seconds)
{
	const char *who = sampled_command(o);

	if (!who)
		say("no samples: no matching thread %s in %.2f s; check -p, --comm, --cgroup and "
		    "the filter%s",
		    !o->profile.off_cpu   ? "ran at a sampling tick"
		    : o->sample.period_ns ? "ran or waited"
					  : "waited",
		    seconds, o->profile.off_cpu ? "" : ", or add --off-cpu");
	else if (!o->profile.off_cpu)
		say("no samples: %2$s did not run at any sampling tick (%1$llu Hz) in %3$.2f s: "
		    "raise -F, or add --off-cpu to see what it waits for",
		    1000000000ull / o->sample.period_ns, who, seconds);
	else if (o->sample.period_ns)
		say("no samples: %s neither ran at a sampling tick nor waited in %.2f s", who,
		    seconds);
	else
		say("no samples: %s did not wait in %.2f s", who, seconds);
}

static void say_file(const struct options *o, const char *name, const struct sample_count *c)
{
	if (c->n_read)
		say("%s: none of its %llu samples matches the filter", name,
		    (unsigned long long)c->n_read);
	else if (o->max_ns)
		say("%s: no samples in its first %g s", name, o->max_ns / 1e9);
	else
		say("%s: contains no samples; record some with saker profile -w FILE or saker "
		    "--sample 99 -w FILE",
		    name);
}

static int is_missing_in_one(const struct options *o, const struct sample_count *counts)
{
	for (size_t i = 0; i < o->read.n; i++) {
		if (counts[i].n_matched_samples)
			continue;
		say_file(o, o->read.v[i], &counts[i]);
		return 1;
	}
	return 0;
}

int report_no_samples(const struct options *o, const struct sample_count *counts, double seconds)
{
	struct sample_count all = {0};

	if (o->profile.diff)
		return is_missing_in_one(o, counts);
	for (size_t i = 0; i < (o->read.n ?: 1); i++) {
		all.n_read += counts[i].n_read;
		all.n_matched_samples += counts[i].n_matched_samples;
	}
	if (all.n_matched_samples)
		return 0;
	if (o->read.n)
		say_file(o, o->read.n == 1 ? o->read.v[0] : "these files", &all);
	else
		say_live(o, seconds);
	return 1;
}
