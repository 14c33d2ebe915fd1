/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <sys/prctl.h>

enum { ROWS_PER_RULE = 5, ROWS_OF_FRAME = 8 };

struct call_program {
	unsigned short n;
	struct sock_filter v[CALL_RULES_MAX * ROWS_PER_RULE + ROWS_OF_FRAME];
};

static void put(struct call_program *p, struct sock_filter row)
{
	p->v[p->n++] = row;
}

#define JUMP(how, value, if_true, if_false)                                                        \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_##how | BPF_K, value, if_true, if_false))
#define LOAD(field)                                                                                \
	((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                    \
				      offsetof(struct seccomp_data, field)))
#define RETURN(what) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what))

/* The condition jumps over the return if it does not hold; then the number is loaded again. */
static void put_rule(struct call_program *p, const struct call_rule *r)
{
	const int is_set = r->test == CALL_IF_SET || r->test == CALL_IF_CLEAR;
	const int is_negated = r->test == CALL_IF_OTHER || r->test == CALL_IF_CLEAR;

	if (r->test == CALL_ANY) {
		put(p, JUMP(JEQ, r->nr, 0, 1));
		put(p, RETURN(r->then));
		return;
	}
	put(p, JUMP(JEQ, r->nr, 0, 4));
	put(p, LOAD(args[r->arg]));
	put(p, is_set ? JUMP(JSET, r->value, is_negated, !is_negated)
		      : JUMP(JEQ, r->value, is_negated, !is_negated));
	put(p, RETURN(r->then));
	put(p, LOAD(nr));
}

int call_filter_install(const struct call_rule *rules, size_t n, uint32_t otherwise)
{
	struct call_program p = {0};
	struct sock_fprog program;

	if (n > CALL_RULES_MAX)
		return -E2BIG;
	put(&p, LOAD(arch));
	put(&p, JUMP(JEQ, AUDIT_ARCH_X86_64, 1, 0));
	put(&p, RETURN(SECCOMP_RET_KILL_PROCESS));
	put(&p, LOAD(nr));
	/* Also those of the x32 ABI. */
	put(&p, JUMP(JGT, CALL_NEWEST, 0, 1));
	put(&p, RETURN(CALL_UNKNOWN));
	for (size_t i = 0; i < n; i++)
		put_rule(&p, &rules[i]);
	put(&p, RETURN(otherwise));
	program = (struct sock_fprog){p.n, p.v};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ? -errno : 0;
}
