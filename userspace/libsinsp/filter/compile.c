/* SPDX-License-Identifier: Apache-2.0 */
/* The filter compiler: emits the checks of a tree as a program, and finds the entry point of each
 * event type. */
#include <errno.h>

#include "program.h"

struct emitter {
	struct sinsp_filter *f;
	struct sinsp_matcher_maker mm;
	unsigned int top; /* compiled from the last instruction to the first, so that jump targets
			     are known */
	struct made {
		const struct filter_check *check;
		unsigned int insn;
		struct made *next;
	} * table[256]; /* matchers by check, for reuse */
};

static unsigned int count_checks(const struct filter_node *n)
{
	unsigned int sum = n->kind == FILTER_CHECK;

	for (n = n->children; n; n = n->next)
		sum += count_checks(n);
	return sum;
}

static unsigned int hash_check(const struct filter_check *c)
{
	unsigned int h = c->left->slot * 31 + c->op;

	for (size_t i = 0; i < c->n_values; i++)
		h = h * 31 + sinsp_strset_hash(c->values[i].p, c->values[i].len);
	return h ^ h >> 8 ^ h >> 16;
}

static int same_values(const struct filter_check *a, const struct filter_check *b)
{
	for (size_t i = 0; i < a->n_values; i++)
		if (a->values[i].len != b->values[i].len ||
		    memcmp(a->values[i].p, b->values[i].p, a->values[i].len))
			return 0;
	return 1;
}

static int same_check(const struct filter_check *a, const struct filter_check *b)
{
	return a->left->slot == b->left->slot && a->op == b->op && a->mod == b->mod &&
	       (a->right ? a->right->slot : 0) == (b->right ? b->right->slot : 0) &&
	       a->n_values == b->n_values && same_values(a, b);
}

/* Shares matcher and result with an equal earlier check. Returns whether there is one. */
static int share_matcher(struct emitter *em, const struct filter_check *c, unsigned int hash,
			 struct filter_insn *insn)
{
	for (const struct made *m = em->table[hash % 256]; m; m = m->next) {
		struct filter_insn *other = &em->f->insns[m->insn];

		if (!same_check(m->check, c))
			continue;
		if (!other->memo)
			other->memo = ++em->f->n_memos;
		insn->memo = other->memo;
		insn->matcher = other->matcher;
		return 1;
	}
	return 0;
}

static int make_matcher(struct emitter *em, const struct filter_check *c, struct filter_insn *insn)
{
	const unsigned int hash = hash_check(c);
	struct sinsp_matcher *m;
	struct made *made;

	if (share_matcher(em, c, hash, insn))
		return 0;
	m = sinsp_arena_alloc(&em->f->ast.arena, sizeof(*m));
	made = sinsp_arena_alloc(&em->f->ast.arena, sizeof(*made));
	if (!m || !made)
		return -ENOMEM;
	*made = (struct made){c, em->top, em->table[hash % 256]};
	em->table[hash % 256] = made;
	insn->matcher = m;
	return sinsp_matcher_make(&em->mm, m, c);
}

static int emit_check(struct emitter *em, const struct filter_check *c, unsigned int yes,
		      unsigned int no, unsigned int *at)
{
	struct filter_insn *insn = &em->f->insns[--em->top];

	*insn = (struct filter_insn){
		.slot = c->left->slot,
		.right = c->right ? c->right->slot : 0,
		.yes = yes,
		.no = no,
		.check = c,
	};
	*at = em->top;
	return make_matcher(em, c, insn);
}

static struct filter_node *reversed(struct filter_node *n)
{
	struct filter_node *head = NULL, *next;

	for (; n; n = next) {
		next = n->next;
		n->next = head;
		head = n;
	}
	return head;
}

/* Emits code that continues at @yes or @no; *at is its start. */
static int emit(struct emitter *em, struct filter_node *n, unsigned int yes, unsigned int no,
		unsigned int *at)
{
	int err = 0;

	switch (n->kind) {
	case FILTER_CONST:
		*at = n->value ? yes : no;
		return 0;
	case FILTER_CHECK:
		return emit_check(em, n->check, yes, no, at);
	case FILTER_NOT:
		return emit(em, n->children, no, yes, at);
	default:
		break;
	}
	*at = n->kind == FILTER_AND ? yes : no;
	n->children = reversed(n->children);
	for (struct filter_node *c = n->children; c && !err; c = c->next)
		err = n->kind == FILTER_AND ? emit(em, c, *at, no, at) : emit(em, c, yes, *at, at);
	n->children = reversed(n->children);
	return err;
}

/* Returns the entry point for a type: after the checks that the type decides. */
static unsigned int find_entry(const struct sinsp_filter *f, unsigned int index)
{
	unsigned int at = f->start;

	if (f->has_memory &&
	    (sinsp_types_have(f->may.yes, index) || sinsp_types_have(f->may.no, index)))
		return at;
	if (!sinsp_types_have(f->may.yes, index))
		return FILTER_NO;
	if (!sinsp_types_have(f->may.no, index))
		return FILTER_YES;
	while (at < FILTER_NO && f->insns[at].check->may) {
		const struct filter_types *may = f->insns[at].check->may;

		if (!sinsp_types_have(may->no, index))
			at = f->insns[at].yes;
		else if (!sinsp_types_have(may->yes, index))
			at = f->insns[at].no;
		else
			break;
	}
	return at;
}

int sinsp_filter_emit(struct sinsp_filter *f)
{
	struct emitter em = {.f = f, .mm = {.ast = &f->ast, .regexes = f->regexes}};
	int err;

	f->n_insns = em.top = count_checks(f->ast.root);
	f->insns = sinsp_arena_alloc(&f->ast.arena, (f->n_insns + 1) * sizeof(*f->insns));
	if (!f->insns)
		return -ENOMEM;
	err = emit(&em, f->ast.root, FILTER_YES, FILTER_NO, &f->start);
	f->regexes = em.mm.regexes;
	if (err)
		return err;
	f->memos = sinsp_arena_alloc(&f->ast.arena, (f->n_memos + 1) * sizeof(*f->memos));
	if (!f->memos)
		return -ENOMEM;
	sinsp_node_types(f->ast.root, &f->may);
	for (unsigned int i = 0; i < EVT_INDEX_MAX; i++)
		f->entry[i] = find_entry(f, i);
	return 0;
}
