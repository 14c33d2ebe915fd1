/* SPDX-License-Identifier: GPL-2.0 */
/* Shows that a walk has come to its end with frames of an interpreter left. */
#ifndef DRIVER_SCRIPTS_LEFT_BPF_H
#define DRIVER_SCRIPTS_LEFT_BPF_H

#include "walk_perl.bpf.h"
#include "walk_php.bpf.h"
#include "walk_ruby.bpf.h"

/* Returns the walker of an interpreter that had frames of more activations than the stack has
 * frames of its loop; 0: none. Verified on its own. */
WALK_FUNC int scripts_left(struct user_walk *w)
{
	struct interp_key key = {.walker = STACK_WALKER_PERL};
	const struct interp_process *p;

	if (!w || !w->scripts)
		return 0;
	if (w->scripts & 1u << STACK_WALKER_PHP && php_left(w))
		return STACK_WALKER_PHP;
	if (w->scripts & 1u << STACK_WALKER_RUBY && ruby_left(w))
		return STACK_WALKER_RUBY;
	if (!(w->scripts & 1u << STACK_WALKER_PERL))
		return 0;
	key.pid = w->pid;
	p = bpf_map_lookup_elem(&interp_processes, &key);
	return p && perl_left(w, &p->perl) ? STACK_WALKER_PERL : 0;
}

#endif /* DRIVER_SCRIPTS_LEFT_BPF_H */
