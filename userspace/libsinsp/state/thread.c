/* SPDX-License-Identifier: Apache-2.0 */
#include "thread.h"

#include <string.h>
#include <time.h>

#include "proc_scan.h"
#include "sinsp_impl.h"
#include "snapshot.h"
#include "state_build.h"

#define HEALS_PER_SECOND 200 /* a scan takes some 50 us: at most 1% of a CPU */

struct sinsp_thread *sinsp_thread_find(struct sinsp *s, int64_t tid)
{
	return sinsp_threads_find(&s->threads, tid);
}

const struct sinsp_fd *sinsp_thread_fd(const struct sinsp_thread *t, int64_t num)
{
	return t ? sinsp_files_find(t->files, num) : NULL;
}

const char *sinsp_thread_exe(const struct sinsp_thread *t)
{
	return t->proc->exe;
}

const char *sinsp_thread_exepath(const struct sinsp_thread *t)
{
	return t->proc->exepath;
}

const char *sinsp_thread_cwd(const struct sinsp_thread *t)
{
	return t ? t->fs->cwd : "";
}

struct scap_text sinsp_thread_args(const struct sinsp_thread *t)
{
	return (struct scap_text){t->proc->args, sinsp_str_len(t->proc->args)};
}

const char *sinsp_user_name(const struct sinsp *s, uint32_t uid)
{
	return sinsp_names_find(&s->users.users, uid);
}

const char *sinsp_group_name(const struct sinsp *s, uint32_t gid)
{
	return sinsp_names_find(&s->users.groups, gid);
}

static int may_heal(struct sinsp *s, uint64_t ts_ns)
{
	uint64_t second = ts_ns / 1000000000;

	if (!s->heal)
		return 0;
	if (s->heal_second != second) {
		s->heal_second = second;
		s->n_healed = 0;
	}
	return s->n_healed++ < HEALS_PER_SECOND;
}

static int64_t epoch_offset_ns(void)
{
	struct timespec real, boot;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (real.tv_sec - boot.tv_sec) * 1000000000ll + real.tv_nsec - boot.tv_nsec;
}

static void heal(struct sinsp *s, int64_t tid)
{
	struct scap_scan_opts opts = {.sz = sizeof(opts), .epoch_offset_ns = epoch_offset_ns()};
	struct scap_state_build *b = scap_state_build_new();
	const struct scap_state *st;

	if (!b || scap_scan_thread(b, tid, &opts))
		goto out;
	st = scap_state_build_done(b);
	for (size_t i = 0; st && i < st->n_threads; i++)
		sinsp_snapshot_thread(&s->threads, &st->threads[i]);
out:
	scap_state_build_free(b);
}

struct sinsp_thread *sinsp_thread_get(struct sinsp *s, int64_t tid, uint64_t ts_ns)
{
	struct sinsp_thread *t = sinsp_threads_find(&s->threads, tid);

	if (t)
		return t;
	if (tid > 0 && may_heal(s, ts_ns)) {
		heal(s, tid);
		t = sinsp_threads_find(&s->threads, tid);
	}
	if (!t)
		t = sinsp_threads_add_stand_in(&s->threads, tid);
	if (t)
		sinsp_thread_mark(s, t, sinsp_threads_find(&s->threads, t->ptid));
	return t;
}

/* The kernel keeps 15 characters of a name; a person may give them all. */
#define COMM_LEN 15

static int is_suppressed_comm(const struct sinsp *s, const char *comm)
{
	for (const char **p = s->suppress_comms; p && *p; p++)
		if (!strncmp(*p, comm, COMM_LEN))
			return 1;
	return 0;
}

void sinsp_thread_mark(struct sinsp *s, struct sinsp_thread *t, const struct sinsp_thread *parent)
{
	const struct sinsp_thread *main = sinsp_threads_find(&s->threads, t->pid);

	if (is_suppressed_comm(s, t->comm) || (parent && parent->suppressed) ||
	    (main && main->suppressed))
		t->suppressed = 1;
	if (t->pid == s->tree_root || (parent && parent->in_tree) || (main && main->in_tree))
		t->in_tree = 1;
}
