/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_use.h"

#include <fcntl.h>
#include <unistd.h>

#include "clock.h"
#include "inspector.h"
#include "process.h"
#include "procfs/cpu_time.h"

/* A read takes 7 us of CPU time: at most 0.25 s in all. */
enum { MOST_THREADS = 32768, ALL_OF_CPU = 100 };

static double percent_of(uint64_t ns, uint64_t length_ns)
{
	const double n = ALL_OF_CPU * (double)ns / (double)length_ns;

	return n < ALL_OF_CPU ? n : ALL_OF_CPU; /* ticks are rounded */
}

/* Sets the time at the begin of the interval: read then, or 0 if the thread began within. Returns
 * 0 if it is unknown. */
static int at_begin(struct sinsp_cpu_use *from, const struct sinsp_cpu_clock *c,
		    const struct sinsp_cpu_use *last, uint64_t start_ns)
{
	if (!c->begin_ns)
		return 0;
	*from = *last;
	if (last->at_ns >= c->begin_ns && last->start_ns == start_ns)
		return 1;
	*from = (struct sinsp_cpu_use){.at_ns = c->begin_ns};
	return start_ns + SINSP_TICK_NS > c->begin_ns;
}

static void forget(struct sinsp_thread *t)
{
	if (t->cpu_use)
		*t->cpu_use = (struct sinsp_cpu_use){0};
}

/* Events have it only of calls that change it. */
static void set_memory(struct sinsp_process *p, const struct scap_cpu_time *now)
{
	p->vmsize_kb = now->vmsize_kb;
	p->vmrss_kb = now->vmrss_kb;
}

static void measure(struct sinsp *s, struct sinsp_thread *t, int proc_fd)
{
	const struct sinsp_cpu_clock *c = &s->cpu_clock;
	const uint64_t at_ns = clock_boot_ns();
	struct sinsp_cpu_use *u, from;
	struct scap_cpu_time now;

	if (!t->cpu_use)
		t->cpu_use = sinsp_slab_get(&s->threads.cpu_uses);
	u = t->cpu_use;
	if (!u || scap_cpu_time_read(&now, proc_fd, t->pid, t->tid)) {
		forget(t);
		return;
	}
	if (t->tid == t->pid)
		set_memory(t->proc, &now);
	t->pfminor = now.pfminor;
	t->pfmajor = now.pfmajor;
	u->known = at_begin(&from, c, u, now.start_ns) && at_ns > from.at_ns &&
		   now.user_ns >= from.user_ns && now.system_ns >= from.system_ns;
	if (u->known) {
		u->user = percent_of(now.user_ns - from.user_ns, at_ns - from.at_ns);
		u->system = percent_of(now.system_ns - from.system_ns, at_ns - from.at_ns);
	}
	u->at_ns = at_ns;
	u->start_ns = now.start_ns;
	u->user_ns = now.user_ns;
	u->system_ns = now.system_ns;
}

void sinsp_cpu_use_read(struct sinsp *s, uint64_t length_ns)
{
	const uint64_t begin_ns = clock_boot_ns();
	const int proc_fd = s->resync.on ? open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	uint32_t n = 0;

	if (proc_fd < 0)
		return;
	for (uint32_t i = 0; i < s->threads.n_slots; i++) {
		struct sinsp_thread *t = s->threads.slots[i].t;

		if (!t || !t->known)
			continue;
		/* The use of a thread that ended is that of its procexit event. */
		if (t->exited || t->tid == s->ended_tid || n >= MOST_THREADS)
			forget(t);
		else
			measure(s, t, proc_fd);
		n++;
	}
	close(proc_fd);
	s->cpu_clock = (struct sinsp_cpu_clock){begin_ns, clock_read_ns(CLOCK_REALTIME), length_ns};
}

int sinsp_cpu_use_at_exit(const struct sinsp_evt *evt, double *percent)
{
	const struct sinsp_cpu_clock *c = &evt->insp->cpu_clock;
	const struct sinsp_thread *t = evt->thread;
	uint64_t from = 0;

	if (!c->begin_ns || !c->length_ns || !t->ran_at_ns || t->ran_at_ns != evt->raw.true_ns)
		return 0;
	if (t->cpu_use && t->cpu_use->at_ns >= c->begin_ns)
		from = t->cpu_use->user_ns + t->cpu_use->system_ns;
	else if (t->start_ns + SINSP_TICK_NS <= c->begin_real_ns)
		return 0;
	*percent = percent_of(t->ran_ns > from ? t->ran_ns - from : 0, c->length_ns);
	return 1;
}
