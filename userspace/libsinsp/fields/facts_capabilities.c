/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the capabilities of a process, as names. */
#include "facts.h"
#include "process.h"
#include "text.h"

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

int fact_cap_permitted(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return caps_text(e, v, t, t->proc->cap_permitted);
}

int fact_cap_inheritable(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return caps_text(e, v, t, t->proc->cap_inheritable);
}

int fact_cap_effective(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	return caps_text(e, v, t, t->proc->cap_effective);
}
