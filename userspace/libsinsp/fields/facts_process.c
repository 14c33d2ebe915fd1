/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a process: names, command line, IDs, session, group, counts, memory, health checks. */
#include <errno.h>

#include "facts.h"
#include "family.h"
#include "process.h"
#include "state/inspector.h"

int fact_list_get(struct sinsp_value *v, const char *list, size_t len, uint64_t index)
{
	for (size_t at = 0, n; at < len; at += n + 1) {
		n = strnlen(list + at, len - at);
		if (!index--)
			return field_mem(v, list + at, n);
	}
	return 0;
}

int fact_list_value(struct sinsp_value *v, const char *list, const char *name)
{
	const size_t len = sinsp_str_len(list), name_len = strlen(name);

	for (size_t at = 0, n; at < len; at += n + 1) {
		n = strnlen(list + at, len - at);
		if (n > name_len && list[at + name_len] == '=' &&
		    !memcmp(list + at, name, name_len))
			return field_mem(v, list + at + name_len + 1, n - name_len - 1);
	}
	return 0;
}

/* Joins @head, NULL for none, and the elements in @len bytes, with blanks. */
static int join_n(struct sinsp_eval *e, struct sinsp_value *v, const char *head, const char *list,
		  size_t len, int blank_at_least)
{
	const size_t n_head = head ? strlen(head) : 0;
	char *p = sinsp_eval_alloc(e, n_head + len + 2), *end;

	if (!p)
		return -ENOMEM;
	v->p = p;
	end = mempcpy(p, head ? head : "", n_head);
	if (head && (len || blank_at_least))
		*end++ = ' ';
	p = end;
	end = mempcpy(end, list, len);
	if (len && !end[-1])
		end--;
	for (; p < end; p++)
		*p = *p ? *p : ' '; /* always stores: the compiler then handles many at once */
	v->len = (uint32_t)(end - v->p);
	return 1;
}

static int join(struct sinsp_eval *e, struct sinsp_value *v, const char *head, const char *list,
		int blank_at_least)
{
	return join_n(e, v, head, list, sinsp_str_len(list), blank_at_least);
}

int fact_name(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_str(v, sinsp_thread_proc_name(t));
}

int fact_exe(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_text(e, v, t, t->proc->exe);
}

int fact_exepath(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_text(e, v, t, t->proc->exepath);
}

int fact_args(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return *t->proc->args || is_known(e, t) ? join(e, v, NULL, t->proc->args, 0) : 0;
}

int fact_cmdline(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return join(e, v, sinsp_thread_proc_name(t), t->proc->args, 0);
}

int fact_exeline(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return join(e, v, t->proc->exe, t->proc->args, 1);
}

/* As ps shows it: kernel threads have a name only. */
int fact_command(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const char *name = sinsp_thread_proc_name(t);
	const size_t n = strlen(name);
	char *p;

	if (*t->proc->exe || *t->proc->args || !n)
		return fact_exeline(e, v, t);
	p = sinsp_eval_alloc(e, n + 2);
	if (!p)
		return -ENOMEM;
	v->p = p;
	v->len = (uint32_t)n + 2;
	*p = '[';
	p = mempcpy(p + 1, name, n);
	*p = ']';
	return 1;
}

int fact_env(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const char *env = t->proc->env;
	size_t len = sinsp_str_len(env);

	/* A process may shorten its environment, which leaves NULs. */
	while (len && !env[len - 1])
		len--;
	return len || is_known(e, t) ? join_n(e, v, NULL, env, len, 0) : 0;
}

int fact_cmdnargs(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const size_t len = sinsp_str_len(t->proc->args);

	for (size_t i = 0; i < len; i++)
		v->u += !t->proc->args[i] || i + 1 == len;
	return is_known(e, t);
}

int fact_cmdlenargs(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const size_t len = sinsp_str_len(t->proc->args);

	for (size_t i = 0; i < len; i++)
		v->u += !!t->proc->args[i];
	return is_known(e, t);
}

int fact_cwd(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return *t->fs->cwd || field_has_default(e) ? field_str(v, t->fs->cwd) : 0;
}

int fact_pid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return t->pid < 0 ? 0 : field_i(v, t->pid); /* a container event is of no process */
}

int fact_vpid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return t->vtid_known && t->vpid >= 0 ? field_i(v, t->vpid) : 0;
}

int fact_ppid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, sinsp_family_ppid(e->insp, t));
}

int fact_sid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, t->proc->sid);
}

int fact_vpgid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, t->proc->vpgid);
}

int fact_pgid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const int64_t pgid = sinsp_family_group(t, SINSP_GROUP_PGID);

	(void)e;
	return pgid == -1 ? 0 : field_i(v, pgid);
}

int fact_tty(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return t->proc->tty_known || field_has_default(e) ? field_i(v, (int32_t)t->proc->tty) : 0;
}

int fact_is_sid_leader(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	/* Other tools record session IDs of the PID namespace of the process. */
	const int64_t own = e->insp->native ? t->pid : t->vpid;

	return t->proc->sid == -1 ? 0 : field_u(v, t->proc->sid == own);
}

int fact_is_vpgid_leader(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return t->proc->vpgid == -1 || !t->vtid_known ? 0 : field_u(v, t->proc->vpgid == t->vpid);
}

int fact_is_pgid_leader(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const int64_t pgid = sinsp_family_group(t, SINSP_GROUP_PGID);

	(void)e;
	return pgid == -1 ? 0 : field_u(v, pgid == t->pid);
}

int fact_start(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->start_ns);
}

int fact_duration(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const uint64_t now = e->evt->raw.true_ns;

	if (!t->start_ns)
		return 0;
	return field_u(v, now > t->start_ns ? now - t->start_ns : 0);
}

int fact_nthreads(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	/* An ended main thread stays in the table until the others end, then its last switches
	 * follow. */
	const uint32_t n = t->proc->n_threads, n_ended = sinsp_family_main(e->insp, t)->exited;

	return field_u(v, n > n_ended ? n - n_ended : 0);
}

int fact_nchilds(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_u(v, t->proc->n_threads - 1);
}

int fact_fdopencount(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return field_u(v, sinsp_files_count(sinsp_family_main(e->insp, t)->files));
}

int fact_fdlimit(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, t->proc->fdlimit);
}

int fact_fdusage(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const uint32_t n = sinsp_files_count(sinsp_family_main(e->insp, t)->files);
	const int64_t limit = t->proc->fdlimit;

	if (limit <= 0)
		return field_has_default(e);
	v->d = n <= limit ? (double)n * 100 / (double)limit : 100;
	return 1;
}

int fact_vmsize(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->vmsize_kb) : 0;
}

int fact_vmrss(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->vmrss_kb) : 0;
}

int fact_vmswap(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->vmswap_kb) : 0;
}

static int probe_is(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t,
		    enum sinsp_probe kind)
{
	if (t->proc->container && !t->proc->container->has_event)
		return 0;
	return field_u(v, sinsp_family_probe(e->insp, t) == kind);
}

int fact_is_healthcheck(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return probe_is(e, v, t, SINSP_PROBE_HEALTH);
}

int fact_is_liveness(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return probe_is(e, v, t, SINSP_PROBE_LIVENESS);
}

int fact_is_readiness(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return probe_is(e, v, t, SINSP_PROBE_READINESS);
}
