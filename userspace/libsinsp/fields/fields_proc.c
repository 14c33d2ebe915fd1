/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the process and thread of an event, and of its family. A row has the getter, for the
 * thread whose fact it shows, and an index into the table of facts. */
#include <stdlib.h>

#include "family.h"
#include "field_rows.h"
#include "process.h"
#include "state/inspector.h"
#include "text.h"

typedef int (*fact_fn)(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t);

/* ---- lists: arguments, environment, cgroups ---- */

static int list_get(struct sinsp_value *v, const char *list, size_t len, uint64_t index)
{
	for (size_t at = 0, n; at < len; at += n + 1) {
		n = strnlen(list + at, len - at);
		if (!index--)
			return field_mem(v, list + at, n);
	}
	return 0;
}

/* The value of NAME=VALUE. */
static int list_value_of(struct sinsp_value *v, const char *list, const char *name)
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
		if (!*p)
			*p = ' ';
	v->len = (uint32_t)(end - v->p);
	return 1;
}

static int join(struct sinsp_eval *e, struct sinsp_value *v, const char *head, const char *list,
		int blank_at_least)
{
	return join_n(e, v, head, list, sinsp_str_len(list), blank_at_least);
}

/* ---- facts of a thread or its process ---- */

/* Whether the stored fact is valid. */
static int is_known(const struct sinsp_eval *e, const struct sinsp_thread *t)
{
	return t->known || field_guesses(e);
}

static int known_text(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t,
		      const char *text)
{
	return *text || is_known(e, t) ? field_str(v, text) : 0;
}

/* -1: unknown. */
static int known_number(struct sinsp_eval *e, struct sinsp_value *v, int64_t i)
{
	return i == -1 && !field_guesses(e) ? 0 : field_i(v, i);
}

static int known_since(struct sinsp_value *v, uint64_t ns)
{
	return ns ? field_u(v, ns) : 0;
}

static int fact_name(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_str(v, sinsp_thread_proc_name(t));
}

static int fact_thread_name(struct sinsp_eval *e, struct sinsp_value *v,
			    const struct sinsp_thread *t)
{
	(void)e;
	return field_str(v, t->comm);
}

static int fact_exe(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_text(e, v, t, t->proc->exe);
}

static int fact_exepath(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_text(e, v, t, t->proc->exepath);
}

static int fact_args(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return *t->proc->args || is_known(e, t) ? join(e, v, NULL, t->proc->args, 0) : 0;
}

static int fact_cmdline(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return join(e, v, sinsp_thread_proc_name(t), t->proc->args, 0);
}

static int fact_exeline(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return join(e, v, t->proc->exe, t->proc->args, 1);
}

static int fact_env(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const char *env = t->proc->env;
	size_t len = sinsp_str_len(env);

	/* A process may shorten it, which leaves NULs. */
	while (len && !env[len - 1])
		len--;
	return len || is_known(e, t) ? join_n(e, v, NULL, env, len, 0) : 0;
}

static int fact_cmdnargs(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const size_t len = sinsp_str_len(t->proc->args);

	for (size_t i = 0; i < len; i++)
		v->u += !t->proc->args[i] || i + 1 == len;
	return is_known(e, t);
}

static int fact_cmdlenargs(struct sinsp_eval *e, struct sinsp_value *v,
			   const struct sinsp_thread *t)
{
	const size_t len = sinsp_str_len(t->proc->args);

	for (size_t i = 0; i < len; i++)
		v->u += !!t->proc->args[i];
	return is_known(e, t);
}

static int fact_cwd(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return *t->fs->cwd || field_guesses(e) ? field_str(v, t->fs->cwd) : 0;
}

static int fact_pid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_i(v, t->pid);
}

static int fact_vpid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return t->vtid_known && t->vpid != -1 ? field_i(v, t->vpid) : 0;
}

static int fact_vtid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return t->vtid_known && t->vtid != -1 ? field_i(v, t->vtid) : 0;
}

static int fact_ppid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, sinsp_family_ppid(e->insp, t));
}

static int fact_sid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, t->proc->sid);
}

static int fact_vpgid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, t->proc->vpgid);
}

static int fact_pgid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const int64_t pgid = sinsp_family_group(t, SINSP_GROUP_PGID);

	(void)e;
	return pgid == -1 ? 0 : field_i(v, pgid);
}

static int fact_tty(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return t->proc->tty_known || field_guesses(e) ? field_i(v, (int32_t)t->proc->tty) : 0;
}

static int fact_is_sid_leader(struct sinsp_eval *e, struct sinsp_value *v,
			      const struct sinsp_thread *t)
{
	/* Other tools number sessions as the process itself sees them. */
	const int64_t own = e->insp->native ? t->pid : t->vpid;

	return t->proc->sid == -1 ? 0 : field_u(v, t->proc->sid == own);
}

static int fact_is_vpgid_leader(struct sinsp_eval *e, struct sinsp_value *v,
				const struct sinsp_thread *t)
{
	(void)e;
	return t->proc->vpgid == -1 || !t->vtid_known ? 0 : field_u(v, t->proc->vpgid == t->vpid);
}

static int fact_is_pgid_leader(struct sinsp_eval *e, struct sinsp_value *v,
			       const struct sinsp_thread *t)
{
	const int64_t pgid = sinsp_family_group(t, SINSP_GROUP_PGID);

	(void)e;
	return pgid == -1 ? 0 : field_u(v, pgid == t->pid);
}

static int fact_start(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->start_ns);
}

static int fact_duration(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const uint64_t now = e->evt->raw.true_ns;

	if (!t->start_ns)
		return 0;
	return field_u(v, now > t->start_ns ? now - t->start_ns : 0);
}

static int fact_nthreads(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	/* An ended main thread stays for the others. */
	return field_u(v, t->proc->n_threads - sinsp_family_main(e->insp, t)->exited);
}

static int fact_nchilds(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_u(v, t->proc->n_threads - 1);
}

static int fact_fdopencount(struct sinsp_eval *e, struct sinsp_value *v,
			    const struct sinsp_thread *t)
{
	return field_u(v, sinsp_files_count(sinsp_family_main(e->insp, t)->files));
}

static int fact_fdlimit(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return known_number(e, v, t->proc->fdlimit);
}

static int fact_fdusage(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const uint32_t n = sinsp_files_count(sinsp_family_main(e->insp, t)->files);
	const int64_t limit = t->proc->fdlimit;

	if (limit <= 0)
		return field_guesses(e);
	v->d = n <= limit ? (double)n * 100 / (double)limit : 100;
	return 1;
}

/* ---- memory and time ---- */

static int fact_vmsize(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->vmsize_kb) : 0;
}

static int fact_vmrss(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->vmrss_kb) : 0;
}

static int fact_vmswap(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->vmswap_kb) : 0;
}

/* Memory belongs to the process: only the main thread has it, so that sums are correct. */
static uint64_t of_main(const struct sinsp_thread *t, uint64_t kb)
{
	return t->tid == t->pid ? kb : 0;
}

static int fact_thread_vmsize(struct sinsp_eval *e, struct sinsp_value *v,
			      const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, of_main(t, t->proc->vmsize_kb)) : 0;
}

static int fact_thread_vmrss(struct sinsp_eval *e, struct sinsp_value *v,
			     const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, of_main(t, t->proc->vmrss_kb)) : 0;
}

static int fact_thread_vmsize_b(struct sinsp_eval *e, struct sinsp_value *v,
				const struct sinsp_thread *t)
{
	const int n = fact_thread_vmsize(e, v, t);

	v->u *= 1024;
	return n;
}

static int fact_thread_vmrss_b(struct sinsp_eval *e, struct sinsp_value *v,
			       const struct sinsp_thread *t)
{
	const int n = fact_thread_vmrss(e, v, t);

	v->u *= 1024;
	return n;
}

static int fact_pfmajor(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->pfmajor) : 0;
}

static int fact_pfminor(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->pfminor) : 0;
}

static int fact_totexectime(struct sinsp_eval *e, struct sinsp_value *v,
			    const struct sinsp_thread *t)
{
	return e->insp->switches.n || field_guesses(e) ? field_u(v, t->exec_ns) : 0;
}

/* ---- identity ---- */

static int fact_ismain(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return field_u(v, t->tid == t->pid);
}

static int fact_nametid(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const size_t n = strlen(t->comm);
	char *p = sinsp_eval_alloc(e, n + TEXT_NUM_MAX);

	if (!p)
		return -ENOMEM;
	return field_mem(v, p, (size_t)(put_i64(put_mem(p, t->comm, n), t->tid) - p));
}

/* "memory=/user.slice", by the subsystem's name in /proc, not in the kernel. */
struct cgroup {
	const char *name, *path;
	size_t name_len, path_len;
};

static const char *next_cgroup(struct cgroup *c, const char *p, const char *end)
{
	static const char *const names[][2] = {
		{"io", "blkio"}, {"mem", "memory"}, {"perf", "perf_event"}};
	const size_t n = strnlen(p, (size_t)(end - p));
	const char *eq = memchr(p, '=', n);

	c->name = p;
	c->name_len = eq ? (size_t)(eq - p) : n;
	c->path = eq ? eq + 1 : p + n;
	c->path_len = (size_t)(p + n - c->path);
	if (c->name_len > 7 && !memcmp(p + c->name_len - 7, "_cgroup", 7))
		c->name_len -= 7;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i][0]) != c->name_len || memcmp(names[i][0], p, c->name_len))
			continue;
		c->name = names[i][1];
		c->name_len = strlen(c->name);
		break;
	}
	return p + n + 1;
}

static int fact_cgroups(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const char *list = t->proc->cgroups, *end = list + sinsp_str_len(list);
	char *p = text_begin(&e->text, (size_t)(end - list));
	struct cgroup c;

	if (!*list)
		return 0;
	while (p && list < end) {
		list = next_cgroup(&c, list, end);
		p = text_room(&e->text, p, c.name_len + c.path_len + 2);
		if (!p)
			break;
		if (p != e->text.p)
			*p++ = ' ';
		p = put_mem(p, c.name, c.name_len);
		*p++ = '=';
		p = put_mem(p, c.path, c.path_len);
	}
	return text_end(&e->text, p) ? -ENOMEM : sinsp_eval_keep(e, v);
}

/* The names of capabilities, by number, without CAP_. */
static const char *const cap_names[] = {
	"CHOWN",
	"DAC_OVERRIDE",
	"DAC_READ_SEARCH",
	"FOWNER",
	"FSETID",
	"KILL",
	"SETGID",
	"SETUID",
	"SETPCAP",
	"LINUX_IMMUTABLE",
	"NET_BIND_SERVICE",
	"NET_BROADCAST",
	"NET_ADMIN",
	"NET_RAW",
	"IPC_LOCK",
	"IPC_OWNER",
	"SYS_MODULE",
	"SYS_RAWIO",
	"SYS_CHROOT",
	"SYS_PTRACE",
	"SYS_PACCT",
	"SYS_ADMIN",
	"SYS_BOOT",
	"SYS_NICE",
	"SYS_RESOURCE",
	"SYS_TIME",
	"SYS_TTY_CONFIG",
	"MKNOD",
	"LEASE",
	"AUDIT_WRITE",
	"AUDIT_CONTROL",
	"SETFCAP",
	"MAC_OVERRIDE",
	"MAC_ADMIN",
	"SYSLOG",
	"WAKE_ALARM",
	"BLOCK_SUSPEND",
	"AUDIT_READ",
	"PERFMON",
	"BPF",
	"CHECKPOINT_RESTORE",
};

static int caps_text(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t,
		     uint64_t caps)
{
	const size_t n_names = sizeof(cap_names) / sizeof(cap_names[0]);
	char *p;

	if (!t->proc->caps_known)
		return 0;
	p = text_begin(&e->text, n_names * 32);
	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n_names; i++) {
		if (!(caps >> i & 1))
			continue;
		if (p != e->text.p)
			*p++ = ' ';
		p = stpcpy(put_lit(p, "CAP_"), cap_names[i]);
	}
	return text_end(&e->text, p) ? -ENOMEM : sinsp_eval_keep(e, v);
}

static int fact_cap_permitted(struct sinsp_eval *e, struct sinsp_value *v,
			      const struct sinsp_thread *t)
{
	return caps_text(e, v, t, t->proc->cap_permitted);
}

static int fact_cap_inheritable(struct sinsp_eval *e, struct sinsp_value *v,
				const struct sinsp_thread *t)
{
	return caps_text(e, v, t, t->proc->cap_inheritable);
}

static int fact_cap_effective(struct sinsp_eval *e, struct sinsp_value *v,
			      const struct sinsp_thread *t)
{
	return caps_text(e, v, t, t->proc->cap_effective);
}

/* ---- the program's file ---- */

static int fact_exe_writable(struct sinsp_eval *e, struct sinsp_value *v,
			     const struct sinsp_thread *t)
{
	return is_known(e, t) ? field_u(v, t->proc->exe_writable) : 0;
}

static int exe_is(struct sinsp_value *v, const struct sinsp_thread *t, enum scap_exe_kind kind)
{
	return t->proc->exe_kind_known & kind ? field_u(v, !!(t->proc->exe_kind & kind)) : 0;
}

static int fact_exe_upper_layer(struct sinsp_eval *e, struct sinsp_value *v,
				const struct sinsp_thread *t)
{
	(void)e;
	return exe_is(v, t, SCAP_EXE_UPPER_LAYER);
}

static int fact_exe_lower_layer(struct sinsp_eval *e, struct sinsp_value *v,
				const struct sinsp_thread *t)
{
	(void)e;
	return exe_is(v, t, SCAP_EXE_LOWER_LAYER);
}

static int fact_exe_memfd(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return exe_is(v, t, SCAP_EXE_MEMFD);
}

static int fact_exe_ino(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->exe_ino);
}

static int fact_exe_ctime(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->exe_ctime_ns);
}

static int fact_exe_mtime(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->exe_mtime_ns);
}

static int between(struct sinsp_value *v, uint64_t from, uint64_t to)
{
	return from && from < to ? field_u(v, to - from) : 0;
}

static int fact_ctime_to_start(struct sinsp_eval *e, struct sinsp_value *v,
			       const struct sinsp_thread *t)
{
	(void)e;
	return between(v, t->proc->exe_ctime_ns, t->start_ns);
}

static int fact_pidns_to_ctime(struct sinsp_eval *e, struct sinsp_value *v,
			       const struct sinsp_thread *t)
{
	(void)e;
	return between(v, t->proc->pidns_start_ns, t->proc->exe_ctime_ns);
}

static int fact_pidns_start(struct sinsp_eval *e, struct sinsp_value *v,
			    const struct sinsp_thread *t)
{
	(void)e;
	return known_since(v, t->proc->pidns_start_ns);
}

/* ---- health checks ---- */

static int probe_is(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t,
		    enum sinsp_probe kind)
{
	if (t->proc->container && !t->proc->container->told)
		return 0;
	return field_u(v, sinsp_family_probe(e->insp, t) == kind);
}

static int fact_is_healthcheck(struct sinsp_eval *e, struct sinsp_value *v,
			       const struct sinsp_thread *t)
{
	return probe_is(e, v, t, SINSP_PROBE_HEALTH);
}

static int fact_is_liveness(struct sinsp_eval *e, struct sinsp_value *v,
			    const struct sinsp_thread *t)
{
	return probe_is(e, v, t, SINSP_PROBE_LIVENESS);
}

static int fact_is_readiness(struct sinsp_eval *e, struct sinsp_value *v,
			     const struct sinsp_thread *t)
{
	return probe_is(e, v, t, SINSP_PROBE_READINESS);
}

/* ---- the table of facts ---- */

/* clang-format off */
#define FACTS(X) \
	X(name) X(thread_name) X(exe) X(exepath) X(args) X(cmdline) X(exeline) X(env) \
	X(cmdnargs) X(cmdlenargs) X(cwd) X(pid) X(vpid) X(vtid) X(ppid) X(sid) X(vpgid) \
	X(pgid) X(tty) X(is_sid_leader) X(is_vpgid_leader) X(is_pgid_leader) X(start) \
	X(duration) X(nthreads) X(nchilds) X(fdopencount) X(fdlimit) X(fdusage) X(vmsize) \
	X(vmrss) X(vmswap) X(thread_vmsize) X(thread_vmrss) X(thread_vmsize_b) \
	X(thread_vmrss_b) X(pfmajor) X(pfminor) X(totexectime) X(ismain) X(nametid) X(cgroups) \
	X(cap_permitted) X(cap_inheritable) X(cap_effective) X(exe_writable) \
	X(exe_upper_layer) X(exe_lower_layer) X(exe_memfd) X(exe_ino) X(exe_ctime) \
	X(exe_mtime) X(ctime_to_start) X(pidns_to_ctime) X(pidns_start) X(is_healthcheck) \
	X(is_liveness) X(is_readiness)
/* clang-format on */

enum fact {
#define X(name) FACT_##name,
	FACTS(X)
#undef X
};

static const fact_fn facts[] = {
#define X(name) [FACT_##name] = fact_##name,
	FACTS(X)
#undef X
};

static int fact_of(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_thread *t)
{
	return t ? facts[f->row->variant](e, v, t) : 0;
}

/* ---- whose ---- */

static int get_own(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)more;
	return fact_of(e, f, v, e->evt->thread);
}

static int get_parents(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)more;
	return fact_of(e, f, v, t ? sinsp_family_parent(e->insp, t) : NULL);
}

static int leaders(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   enum sinsp_group_kind kind)
{
	const struct sinsp_thread *t = e->evt->thread;

	return fact_of(e, f, v, t ? sinsp_family_leader(e->insp, t, kind) : NULL);
}

static int get_sid_leaders(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more)
{
	(void)more;
	return leaders(e, f, v, SINSP_GROUP_SESSION);
}

static int get_vpgid_leaders(struct sinsp_eval *e, const struct sinsp_field *f,
			     struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)more;
	return leaders(e, f, v, SINSP_GROUP_VPGID);
}

static int get_pgid_leaders(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)more;
	return leaders(e, f, v, SINSP_GROUP_PGID);
}

static int all_ancestors(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_value empty = *v;
	const struct sinsp_thread *t;
	struct sinsp_ancestry w;
	struct sinsp_value *list;
	int n = 0, got = 0;

	sinsp_ancestry_begin(&w, e->insp, e->evt->thread);
	while (sinsp_ancestry_next(&w))
		n++;
	list = sinsp_eval_alloc(e, (size_t)n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	sinsp_ancestry_begin(&w, e->insp, e->evt->thread);
	n = 0;
	while ((t = sinsp_ancestry_next(&w))) {
		list[n] = empty;
		got = fact_of(e, f, &list[n], t);
		if (got < 0)
			return got;
		n += got;
	}
	if (n)
		*v = list[0];
	*more = list;
	return n;
}

/* All ancestors, or with [n] the one of that degree: 0 is the process itself. */
static int get_ancestors(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	if (!t)
		return 0;
	if (!f->arg)
		return all_ancestors(e, f, v, more);
	return fact_of(e, f, v, sinsp_family_ancestor(e->insp, t, (uint64_t)f->index));
}

/* [NAME] finds the first ancestor with a variable of that name. */
static int get_aenv(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	struct sinsp_ancestry w;
	const struct sinsp_thread *t = e->evt->thread;

	if (!f->arg || f->has_index)
		return get_ancestors(e, f, v, more);
	if (!t)
		return 0;
	sinsp_ancestry_begin(&w, e->insp, t);
	while ((t = sinsp_ancestry_next(&w)))
		if (list_value_of(v, t->proc->env, f->arg))
			return 1;
	return 0;
}

static int get_args(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	if (!t || !f->has_index)
		return get_own(e, f, v, more);
	return list_get(v, t->proc->args, sinsp_str_len(t->proc->args), (uint64_t)f->index);
}

static int get_env(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	if (!t || !f->arg)
		return get_own(e, f, v, more);
	return list_value_of(v, t->proc->env, f->arg);
}

static int get_cgroup(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;
	const char *p = t ? t->proc->cgroups : NULL, *end = p ? p + sinsp_str_len(p) : NULL;
	struct cgroup c;

	(void)more;
	while (p < end) {
		p = next_cgroup(&c, p, end);
		if (strlen(f->arg) == c.name_len && !memcmp(f->arg, c.name, c.name_len))
			return field_mem(v, c.path, c.path_len);
	}
	return 0;
}

static int get_tid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_i(v, (int64_t)e->evt->raw.hdr->tid);
}

static int get_exectime(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	(void)f, (void)more;
	return e->evt->ran_known ? field_u(v, e->evt->ran_ns) : field_guesses(e); /* 0 */
}

static int is_shell(const struct sinsp_thread *t)
{
	const char *name = sinsp_thread_proc_name(t);
	const size_t n = strlen(name);

	return n >= 2 && !strcmp(name + n - 2, "sh");
}

static int get_loginshellid(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;
	struct sinsp_ancestry w;
	int found = 0;

	(void)f, (void)more;
	if (!t)
		return 0;
	sinsp_ancestry_begin(&w, e->insp, t);
	for (t = w.at; t; t = sinsp_ancestry_next(&w))
		if (is_shell(t))
			found = field_i(v, t->pid);
	return found;
}

/* Facts of the standard descriptors, by row. */
enum std { STDIN_TYPE, STDIN_NAME, STDOUT_TYPE, STDOUT_NAME, STDERR_TYPE, STDERR_NAME };

static int get_std(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = sinsp_thread_fd(e->evt->thread, f->row->variant / 2);

	(void)more;
	if (!fd)
		return 0;
	return field_str(v, f->row->variant % 2 ? fd->name : sinsp_fd_typename(fd));
}

enum cpu_time { CPU_ALL, CPU_USER, CPU_SYSTEM };

static int get_cpu(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	enum { MOST = 100 };
	const struct sinsp_thread *t = e->evt->thread;
	uint32_t n;

	(void)more;
	if (e->evt->raw.type != EVT_PROCINFO_E || !t)
		return 0;
	n = (f->row->variant != CPU_SYSTEM ? t->cpu_usr_delta : 0) +
	    (f->row->variant != CPU_USER ? t->cpu_sys_delta : 0);
	v->d = n < MOST ? n : MOST;
	return 1;
}

/* clang-format off */
#define ROW(name, type, cost, flags, fact, get, help)                                              \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_##cost, flags, FACT_##fact, get, help, NULL}
#define ANCESTORS (FIELD_F_LIST | FIELD_F_ANY | FIELD_F_ARG_OK | FIELD_F_ARG_INDEX)

static const struct sinsp_field_row rows[] = {
	ROW("proc.pid", INT, STATE, 0, pid, get_own, "number of the process"),
	ROW("proc.exe", STR, STATE, 0, exe, get_own,
	    "first argument of the command line: mostly the program, as it was called"),
	ROW("proc.pexe", STR, SEARCH, 0, exe, get_parents, "proc.exe of the parent"),
	ROW("proc.aexe", STR, SEARCH, ANCESTORS, exe, get_ancestors,
	    "proc.exe of the ancestors; proc.aexe[1] is the parent's, [0] the process's own"),
	ROW("proc.exepath", PATH, STATE, 0, exepath, get_own,
	    "path of the program, links followed"),
	ROW("proc.pexepath", PATH, SEARCH, 0, exepath, get_parents, "proc.exepath of the parent"),
	ROW("proc.aexepath", PATH, SEARCH, ANCESTORS, exepath, get_ancestors,
	    "proc.exepath of the ancestors; proc.aexepath[1] is the parent's"),
	ROW("proc.name", STR, STATE, 0, name, get_own,
	    "name of the process, which is that of its main thread: its program's, up to 15 "
	    "characters, unless the thread chose another"),
	ROW("proc.pname", STR, SEARCH, 0, name, get_parents, "proc.name of the parent"),
	ROW("proc.aname", STR, SEARCH, ANCESTORS, name, get_ancestors,
	    "proc.name of the ancestors, such as proc.aname=sshd; proc.aname[1] is the parent's, "
	    "[2] that of its parent"),
	ROW("proc.args", STR, TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_INDEX, args, get_args,
	    "arguments of the command line, without the program; proc.args[0] is the first"),
	ROW("proc.aargs", STR, TEXT, ANCESTORS, args, get_ancestors,
	    "proc.args of the ancestors; proc.aargs[1] is the parent's"),
	ROW("proc.cmdline", STR, TEXT, 0, cmdline, get_own, "proc.name and proc.args"),
	ROW("proc.pcmdline", STR, TEXT, 0, cmdline, get_parents, "proc.cmdline of the parent"),
	ROW("proc.acmdline", STR, TEXT, ANCESTORS, cmdline, get_ancestors,
	    "proc.cmdline of the ancestors; proc.acmdline[1] is the parent's"),
	ROW("proc.cmdnargs", UINT, SEARCH, 0, cmdnargs, get_own, "number of arguments"),
	ROW("proc.cmdlenargs", UINT, SEARCH, 0, cmdlenargs, get_own,
	    "characters of all arguments, without blanks between them"),
	ROW("proc.exeline", STR, TEXT, 0, exeline, get_own, "proc.exe and proc.args"),
	ROW("proc.env", STR, TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_KEY, env, get_env,
	    "environment, as NAME=VALUE with blanks between; proc.env[NAME] is the value of one "
	    "variable"),
	ROW("proc.aenv", STR, TEXT, ANCESTORS | FIELD_F_ARG_KEY, env, get_aenv,
	    "proc.env of the ancestors; proc.aenv[1] is the parent's, proc.aenv[NAME] the value of "
	    "the nearest ancestor who has that variable"),
	ROW("proc.cwd", PATH, STATE, 0, cwd, get_own, "current directory, with a slash at its end"),
	ROW("proc.loginshellid", INT, SEARCH, 0, pid, get_loginshellid,
	    "number of the eldest shell among the process and its ancestors: one per login"),
	ROW("proc.tty", INT, STATE, 0, tty, get_own,
	    "number of the controlling terminal, 0 without one"),
	ROW("proc.ppid", INT, SEARCH, 0, ppid, get_own, "number of the parent process"),
	ROW("proc.apid", INT, SEARCH, ANCESTORS, pid, get_ancestors,
	    "numbers of the ancestors; proc.apid[1] is the parent's"),
	ROW("proc.vpid", INT, STATE, 0, vpid, get_own,
	    "number of the process in its own pid namespace"),
	ROW("proc.pvpid", INT, SEARCH, 0, vpid, get_parents, "proc.vpid of the parent"),
	ROW("proc.sid", INT, STATE, 0, sid, get_own, "number of the session"),
	ROW("proc.sname", STR, SEARCH, 0, name, get_sid_leaders,
	    "proc.name of the leader of the session; if it is gone, of the eldest ancestor in it"),
	ROW("proc.sid.exe", STR, SEARCH, 0, exe, get_sid_leaders,
	    "proc.exe of the leader of the session"),
	ROW("proc.sid.exepath", PATH, SEARCH, 0, exepath, get_sid_leaders,
	    "proc.exepath of the leader of the session"),
	ROW("proc.vpgid", INT, STATE, 0, vpgid, get_own,
	    "number of the process group, in the process's own pid namespace"),
	ROW("proc.vpgid.name", STR, SEARCH, 0, name, get_vpgid_leaders,
	    "proc.name of the leader of the process group"),
	ROW("proc.vpgid.exe", STR, SEARCH, 0, exe, get_vpgid_leaders,
	    "proc.exe of the leader of the process group"),
	ROW("proc.vpgid.exepath", PATH, SEARCH, 0, exepath, get_vpgid_leaders,
	    "proc.exepath of the leader of the process group"),
	ROW("proc.pgid", INT, STATE, 0, pgid, get_own,
	    "number of the process group, in the first pid namespace"),
	ROW("proc.pgid.name", STR, SEARCH, 0, name, get_pgid_leaders,
	    "proc.name of the leader of the process group"),
	ROW("proc.pgid.exe", STR, SEARCH, 0, exe, get_pgid_leaders,
	    "proc.exe of the leader of the process group"),
	ROW("proc.pgid.exepath", PATH, SEARCH, 0, exepath, get_pgid_leaders,
	    "proc.exepath of the leader of the process group"),
	ROW("proc.duration", DURATION, STATE, 0, duration, get_own,
	    "time since the thread began, in nanoseconds; files of other tools do not say it of those "
	    "that began before"),
	ROW("proc.ppid.duration", DURATION, SEARCH, 0, duration, get_parents,
	    "proc.duration of the parent"),
	ROW("proc.pid.ts", TIME, STATE, 0, start, get_own,
	    "when the thread began, in nanoseconds since the epoch"),
	ROW("proc.ppid.ts", TIME, SEARCH, 0, start, get_parents, "proc.pid.ts of the parent"),
	ROW("proc.is_exe_writable", BOOL, STATE, 0, exe_writable, get_own,
	    "true if the user who runs the program may write to its file"),
	ROW("proc.is_exe_upper_layer", BOOL, STATE, 0, exe_upper_layer, get_own,
	    "true if the program's file is in the upper layer of an overlay: changed or made in a "
	    "container. saker does not record it: only files of other tools have it"),
	ROW("proc.is_exe_lower_layer", BOOL, STATE, 0, exe_lower_layer, get_own,
	    "true if the program's file is in the lower layer of an overlay: of the image. saker "
	    "does not record it: only files of other tools have it"),
	ROW("proc.is_exe_from_memfd", BOOL, STATE, 0, exe_memfd, get_own,
	    "true if the program's file is in memory only, made by memfd_create"),
	ROW("proc.is_sid_leader", BOOL, STATE, 0, is_sid_leader, get_own,
	    "true if the process leads its session"),
	ROW("proc.is_vpgid_leader", BOOL, STATE, 0, is_vpgid_leader, get_own,
	    "true if the process leads its process group: a shell's job, not a child of one"),
	ROW("proc.is_pgid_leader", BOOL, STATE, 0, is_pgid_leader, get_own,
	    "the same, by the numbers of the first pid namespace"),
	ROW("proc.exe_ino", UINT, STATE, 0, exe_ino, get_own,
	    "number of the inode of the program's file; files of sysdig do not say it"),
	ROW("proc.exe_ino.ctime", TIME, STATE, 0, exe_ctime, get_own,
	    "when the program's file, its owner or its rights last changed, in nanoseconds since the "
	    "epoch"),
	ROW("proc.exe_ino.mtime", TIME, STATE, 0, exe_mtime, get_own,
	    "when the program's file was last written, in nanoseconds since the epoch"),
	ROW("proc.exe_ino.ctime_duration_proc_start", DURATION, STATE, 0, ctime_to_start, get_own,
	    "time from proc.exe_ino.ctime to the start of the process, in nanoseconds"),
	ROW("proc.exe_ino.ctime_duration_pidns_start", DURATION, STATE, 0, pidns_to_ctime, get_own,
	    "time from the start of the pid namespace to proc.exe_ino.ctime, in nanoseconds; none if "
	    "the file is older"),
	ROW("proc.pidns_init_start_ts", TIME, STATE, 0, pidns_start, get_own,
	    "when the first process of the pid namespace began, in nanoseconds since the epoch; known "
	    "of processes that began during the capture"),
	ROW("proc.is_container_healthcheck", BOOL, SEARCH, 0, is_healthcheck, get_own,
	    "true if the process is of a health check of its container"),
	ROW("proc.is_container_liveness_probe", BOOL, SEARCH, 0, is_liveness, get_own,
	    "true if the process is of a liveness probe of its container"),
	ROW("proc.is_container_readiness_probe", BOOL, SEARCH, 0, is_readiness, get_own,
	    "true if the process is of a readiness probe of its container"),
	ROW("proc.nthreads", UINT, STATE, 0, nthreads, get_own, "threads that the process has"),
	ROW("proc.nchilds", UINT, STATE, 0, nchilds, get_own,
	    "threads that the process has beside its main thread"),
	ROW("proc.fdopencount", UINT, STATE, 0, fdopencount, get_own,
	    "files that the process has open"),
	ROW("proc.fdlimit", INT, STATE, 0, fdlimit, get_own,
	    "files that the process may have open"),
	ROW("proc.fdusage", DOUBLE, STATE, 0, fdusage, get_own,
	    "files that the process has open, in percent of those that it may"),
	ROW("proc.vmsize", UINT, STATE, 0, vmsize, get_own, "virtual memory of the process, in kB"),
	ROW("proc.vmrss", UINT, STATE, 0, vmrss, get_own, "resident memory of the process, in kB"),
	ROW("proc.vmswap", UINT, STATE, 0, vmswap, get_own,
	    "memory of the process that is swapped out, in kB"),
	{"proc.stdin.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDIN_TYPE, get_std,
	 "what the standard input is, as fd.type", NULL},
	{"proc.stdout.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDOUT_TYPE, get_std,
	 "what the standard output is, as fd.type", NULL},
	{"proc.stderr.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDERR_TYPE, get_std,
	 "what the standard error output is, as fd.type", NULL},
	{"proc.stdin.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDIN_NAME, get_std,
	 "name of the standard input, as fd.name", NULL},
	{"proc.stdout.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDOUT_NAME, get_std,
	 "name of the standard output, as fd.name", NULL},
	{"proc.stderr.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDERR_NAME, get_std,
	 "name of the standard error output, as fd.name", NULL},

	{"thread.tid", FIELD_INT, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_tid,
	 "number of the thread", NULL},
	ROW("thread.name", STR, STATE, 0, thread_name, get_own,
	    "name of the thread, up to 15 characters: proc.name unless the thread chose another"),
	ROW("thread.ismain", BOOL, STATE, 0, ismain, get_own,
	    "true if the thread is the main one of its process"),
	ROW("thread.vtid", INT, STATE, 0, vtid, get_own,
	    "number of the thread in its own pid namespace"),
	ROW("thread.nametid", STR, TEXT, FIELD_F_HIDDEN, nametid, get_own,
	    "proc.name and thread.tid, without anything between"),
	{"thread.exectime", FIELD_DURATION, FIELD_FMT_DEC, FIELD_COST_STATE, 0, 0, get_exectime,
	 "of a switch and of procexit: how long the thread ran since it was told of last, in nanoseconds; "
	 "as the kernel counts it, or in files of others since it came to the CPU",
	 NULL},
	ROW("thread.totexectime", DURATION, STATE, 0, totexectime, get_own,
	    "time that the thread was on a CPU since the capture began, in nanoseconds; needs switch "
	    "events"),
	ROW("thread.cgroups", STR, TEXT, 0, cgroups, get_own,
	    "cgroups of the process, as SUBSYSTEM=PATH with blanks between"),
	ROW("thread.cgroup", STR, SEARCH, FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY, cgroups, get_cgroup,
	    "cgroup of the process in one subsystem, such as thread.cgroup.cpuacct"),
	{"thread.cpu", FIELD_DOUBLE, FIELD_FMT_DEC, FIELD_COST_STATE, 0, CPU_ALL, get_cpu,
	 "of procinfo events, which sysdig writes: CPU time of the thread since the one before, in "
	 "hundredths of a second, 100 at most", NULL},
	{"thread.cpu.user", FIELD_DOUBLE, FIELD_FMT_DEC, FIELD_COST_STATE, 0, CPU_USER, get_cpu,
	 "user part of thread.cpu", NULL},
	{"thread.cpu.system", FIELD_DOUBLE, FIELD_FMT_DEC, FIELD_COST_STATE, 0, CPU_SYSTEM, get_cpu,
	 "system part of thread.cpu", NULL},
	ROW("thread.vmsize", UINT, STATE, 0, thread_vmsize, get_own,
	    "proc.vmsize of a main thread, 0 of others"),
	ROW("thread.vmrss", UINT, STATE, 0, thread_vmrss, get_own,
	    "proc.vmrss of a main thread, 0 of others"),
	ROW("thread.vmsize.b", UINT, STATE, FIELD_F_HIDDEN, thread_vmsize_b, get_own,
	    "thread.vmsize in bytes"),
	ROW("thread.vmrss.b", UINT, STATE, FIELD_F_HIDDEN, thread_vmrss_b, get_own,
	    "thread.vmrss in bytes"),
	ROW("thread.pfmajor", UINT, STATE, 0, pfmajor, get_own,
	    "page faults of the thread that had to read"),
	ROW("thread.pfminor", UINT, STATE, 0, pfminor, get_own,
	    "page faults of the thread that did not"),
	ROW("thread.cap_permitted", STR, TEXT, 0, cap_permitted, get_own,
	    "capabilities that the process may use, such as CAP_NET_RAW, with blanks between"),
	ROW("thread.cap_inheritable", STR, TEXT, 0, cap_inheritable, get_own,
	    "capabilities that it may hand to programs"),
	ROW("thread.cap_effective", STR, TEXT, 0, cap_effective, get_own,
	    "capabilities that it uses"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_proc = {
	.name = "proc",
	.title = "process",
	.help = "The process and the thread that the event is of",
	FIELD_ROWS(rows),
};
