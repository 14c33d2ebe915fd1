/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a thread that need the whole state: container, user, hidden or not. */
#include "inspector.h"

#include <string.h>

#include "pathname.h"
#include "quirks.h"

struct sinsp_thread *sinsp_thread_find(struct sinsp *s, int64_t tid)
{
	return sinsp_threads_find(&s->threads, tid);
}

struct sinsp_thread *sinsp_thread_in_pidns(struct sinsp *s, const struct sinsp_thread *by,
					   int64_t number)
{
	struct sinsp_thread *t;
	struct sinsp_process *c;

	if (!by || by->vtid == by->tid || sinsp_quirk(s, SINSP_QUIRK_HOST_NUMBERS))
		return sinsp_threads_find(&s->threads, number);
	for (t = by->proc->threads; t; t = t->sibling)
		if (t->vtid == number)
			return t;
	/* Only children are certain to be in this namespace, except the one with VPID 1, which is
	 * the first process of a nested one. */
	for (c = by->proc->children; c && number != 1; c = c->next_child)
		if (c->threads && c->threads->vpid == number)
			return sinsp_threads_find(&s->threads, c->pid);
	return NULL;
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

const struct sinsp_container *sinsp_thread_container(const struct sinsp_thread *t)
{
	return t->proc->container;
}

int sinsp_thread_is_on_host(const struct sinsp_thread *t)
{
	return !t->proc->container && *t->proc->cgroups;
}

const char *sinsp_thread_container_id(const struct sinsp_thread *t)
{
	const struct sinsp_container *c = sinsp_thread_container(t);

	if (c)
		return c->id;
	return sinsp_thread_is_on_host(t) ? "host" : "<NA>";
}

const char *sinsp_thread_container_name(const struct sinsp_thread *t)
{
	const struct sinsp_container *c = sinsp_thread_container(t);

	return c && *c->name ? c->name : sinsp_thread_container_id(t);
}

const struct sinsp_name *sinsp_thread_user(const struct sinsp *s, const struct sinsp_thread *t,
					   enum sinsp_name_kind kind, uint32_t id)
{
	/* Only events have names of containers. */
	const struct sinsp_container *c =
		t && s->users.n_reported ? sinsp_thread_container(t) : NULL;

	return sinsp_users_find(&s->users, c ? c->id : "", kind, id);
}

const char *sinsp_user_name(const struct sinsp *s, const struct sinsp_thread *t, uint32_t uid)
{
	const struct sinsp_name *user = sinsp_thread_user(s, t, SINSP_NAME_USER, uid);

	return user ? user->name : NULL;
}

const char *sinsp_group_name(const struct sinsp *s, const struct sinsp_thread *t, uint32_t gid)
{
	const struct sinsp_name *group = sinsp_thread_user(s, t, SINSP_NAME_GROUP, gid);

	return group ? group->name : NULL;
}

/* The kernel keeps 15 characters of a name; an option may have more. */
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

	if (is_suppressed_comm(s, t->comm))
		t->suppressed |= SINSP_SUPPRESSED_NAME;
	if (parent && parent->suppressed)
		t->suppressed |= SINSP_SUPPRESSED_ANCESTOR;
	if (main && main != t)
		t->suppressed |= main->suppressed;
	if (t->pid == s->tree_root || (parent && parent->in_tree) || (main && main->in_tree))
		t->in_tree = 1;
}

enum sinsp_path_rules sinsp_path_rules_of(const struct sinsp *s)
{
	return sinsp_quirk(s, SINSP_QUIRK_PATH_JOIN) ? SINSP_PATH_SYSDIG : SINSP_PATH_STRICT;
}

/* Returns how much of the state was dropped for lack of room or memory. */
static uint64_t n_refused(const struct sinsp_threads *tt)
{
	const struct sinsp_fd_mem *fds = &tt->fds;

	return tt->n_refused + tt->threads.n_refused + tt->procs.n_refused + tt->fses.n_refused +
	       tt->saved.n_refused + tt->cpu_uses.n_refused + tt->strings.n_refused +
	       fds->n_refused + fds->fds.n_refused + fds->fds_with_ends.n_refused +
	       fds->chunks.n_refused + fds->tables.n_refused + fds->files.n_refused;
}

void sinsp_warn_refused(struct sinsp *s)
{
	if (s->warned_refused || !n_refused(&s->threads))
		return;
	s->warned_refused = 1;
	if (s->log)
		s->log(s->log_ctx, SCAP_LOG_WARN,
		       "some threads, descriptors or names are missing: a limit of the tables was "
		       "reached, or there was no memory for them");
}
