/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simplifies the tree before it is compiled: moves "not" down to the checks, joins alternatives of
 * one field into sets, drops constant checks, and puts cheap checks first. No result changes:
 * checks have no side effects, except for fields with memory, which are not moved.
 */
#include <errno.h>

#include "program.h"

struct simplifier {
	struct sinsp_filter *f;
	int keep_order; /* a field depends on which events were evaluated before */
};

static struct filter_node *new_node(struct simplifier *s, enum filter_node_kind kind,
				    const struct filter_node *like)
{
	struct filter_node *n = sinsp_arena_alloc(&s->f->ast.arena, sizeof(*n));

	if (n) {
		n->kind = kind;
		n->at = like->at;
	}
	return n;
}

static struct filter_node *new_const(struct simplifier *s, const struct filter_node *like,
				     int value)
{
	struct filter_node *n = new_node(s, FILTER_CONST, like);

	if (n)
		n->value = (uint8_t)value;
	return n;
}

static struct filter_node *new_check(struct simplifier *s, const struct filter_node *like,
				     const struct filter_check *c)
{
	struct filter_node *n = new_node(s, FILTER_CHECK, like);

	if (!n)
		return NULL;
	n->check = sinsp_arena_alloc(&s->f->ast.arena, sizeof(*n->check));
	if (!n->check)
		return NULL;
	*n->check = *c;
	n->check->typed = 0;
	return n;
}

/* ---- single checks ---- */

static int is_set(const struct filter_check *c)
{
	return c->left->is_list && !(c->left->flags & (FIELD_F_ANY | FIELD_F_ENDS));
}

/* Normalizes operators: in with one value is =, and = of a distance is <=. */
static void normalize(struct filter_check *c)
{
	const struct sinsp_field_row *row = c->left->field.row;

	if (c->op == FILTER_INTERSECTS && !is_set(c))
		c->op = FILTER_IN;
	if (c->op == FILTER_IN && !c->right && c->n_values == 1 && !is_set(c))
		c->op = FILTER_EQ;
	if (c->op == FILTER_EQ && row && row->flags & FIELD_F_WITHIN)
		c->op = FILTER_LE;
}

/* Returns whether the operator searches for several values at once. */
static int searches_several(const struct filter_check *c, enum filter_op op)
{
	switch (op) {
	case FILTER_EQ:
		return c->family != FILTER_DOUBLE && !is_set(c) &&
		       !(c->left->kind == FILTER_EXPR_FIELD &&
			 c->left->field.row->flags & FIELD_F_WITHIN);
	case FILTER_CONTAINS:
	case FILTER_BCONTAINS:
	case FILTER_ICONTAINS:
		return c->family == FILTER_TEXT || c->family == FILTER_BYTES;
	default:
		return 0;
	}
}

/* Makes a check for each value, as children of one node. */
static struct filter_node *one_each(struct simplifier *s, const struct filter_node *n,
				    enum filter_node_kind kind)
{
	struct filter_node *all = new_node(s, kind, n), **tail;

	if (!all)
		return NULL;
	tail = &all->children;
	for (size_t i = 0; i < n->check->n_values; i++) {
		struct filter_check one = *n->check;

		one.mod = FILTER_MOD_NONE;
		one.values = &n->check->values[i];
		one.n_values = 1;
		*tail = new_check(s, n, &one);
		if (!*tail)
			return NULL;
		tail = &(*tail)->next;
	}
	return all;
}

/* Makes "exists and not in (a, b)" of "!= allof (a, b)". */
static struct filter_node *none_of(struct simplifier *s, const struct filter_node *n)
{
	struct filter_node *all = new_node(s, FILTER_AND, n);
	struct filter_node *inverse = new_node(s, FILTER_NOT, n);
	struct filter_check in = *n->check, exists = *n->check;

	if (!all || !inverse)
		return NULL;
	in.mod = exists.mod = FILTER_MOD_NONE;
	in.op = FILTER_IN;
	exists.op = FILTER_EXISTS;
	exists.n_values = 0;
	all->children = new_check(s, n, &exists);
	inverse->children = new_check(s, n, &in);
	if (!all->children || !inverse->children)
		return NULL;
	all->children->next = inverse;
	return all;
}

/* Rewrites oneof, anyof, allof on a single value as other checks: *out then differs. */
static int expand_mod(struct simplifier *s, struct filter_node *n, struct filter_node **out)
{
	struct filter_check *c = n->check;
	const int any = c->mod == FILTER_MOD_ANYOF;

	*out = n;
	if (!c->mod)
		return 0;
	if (!c->n_values) {
		*out = new_const(s, n, 0);
	} else if (c->mod == FILTER_MOD_ONEOF || (c->left->is_list && !(any && !c->all))) {
		return 0;
	} else if (any && searches_several(c, c->op)) {
		c->mod = FILTER_MOD_NONE;
		c->op = c->op == FILTER_EQ ? FILTER_IN : c->op;
	} else if (!any && c->op == FILTER_NE && c->family != FILTER_DOUBLE) {
		*out = none_of(s, n);
	} else {
		*out = one_each(s, n, any ? FILTER_OR : FILTER_AND);
	}
	return *out ? 0 : -ENOMEM;
}

/* ---- sets of alternatives ---- */

/* Returns the operator of a set that the check can join; FILTER_OP_MAX: none. */
static enum filter_op set_kind(const struct filter_check *c)
{
	if (c->mod || c->right || c->op == FILTER_EXISTS)
		return FILTER_OP_MAX;
	if ((c->op == FILTER_EQ || c->op == FILTER_IN) && searches_several(c, FILTER_EQ))
		return FILTER_IN;
	if (c->op == FILTER_INTERSECTS || c->op == FILTER_PMATCH || searches_several(c, c->op))
		return c->op == FILTER_EQ ? FILTER_OP_MAX : c->op;
	return FILTER_OP_MAX;
}

static int append_values(struct simplifier *s, struct filter_check *to,
			 const struct filter_check *from, size_t *room)
{
	struct filter_const *v = to->values;
	const size_t n = to->n_values + from->n_values;

	if (n > *room) {
		*room = 2 * n;
		v = sinsp_arena_alloc(&s->f->ast.arena, *room * sizeof(*v));
		if (!v)
			return -ENOMEM;
		memcpy(v, to->values, to->n_values * sizeof(*v));
		to->values = v;
	}
	if (from->n_values)
		memcpy(v + to->n_values, from->values, from->n_values * sizeof(*v));
	to->n_values = n;
	return 0;
}

/* The first check of each field and kind among a node's children. */
struct group {
	struct filter_check *first;
	size_t room; /* size of its own array of values; 0: none yet */
};

static struct group *find_group(struct group *groups, unsigned int mask,
				const struct filter_check *c, enum filter_op kind)
{
	unsigned int at = (c->left->slot * FILTER_OP_MAX + kind) * 0x9e3779b1u >> 8 & mask;

	while (groups[at].first && (groups[at].first->left->slot != c->left->slot ||
				    set_kind(groups[at].first) != kind))
		at = (at + 1) & mask;
	return &groups[at];
}

/* Returns the check of a child that can join others: in "or" as it is, in "and" below a not. */
static struct filter_check *joinable(const struct filter_node *n, int negated)
{
	if (negated)
		n = n->kind == FILTER_NOT ? n->children : NULL;
	return n && n->kind == FILTER_CHECK ? n->check : NULL;
}

static int join(struct simplifier *s, struct group *g, const struct filter_check *c,
		enum filter_op kind)
{
	g->first->op = kind;
	g->first->typed = 0;
	return append_values(s, g->first, c, &g->room);
}

static int join_sets(struct simplifier *s, struct filter_node *n, unsigned int n_children)
{
	struct filter_node **link = &n->children;
	unsigned int mask = 4;
	struct group *groups;

	while (mask < 2 * n_children)
		mask *= 2;
	groups = sinsp_arena_alloc(&s->f->ast.arena, mask * sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	while (*link) {
		struct filter_check *c = joinable(*link, n->kind == FILTER_AND);
		const enum filter_op kind = c ? set_kind(c) : FILTER_OP_MAX;
		struct group *g =
			kind < FILTER_OP_MAX ? find_group(groups, mask - 1, c, kind) : NULL;

		if (g && g->first) {
			if (join(s, g, c, kind))
				return -ENOMEM;
			*link = (*link)->next;
			continue;
		}
		if (g)
			g->first = c;
		link = &(*link)->next;
	}
	return 0;
}

/* ---- order ---- */

static unsigned int expr_cost(const struct filter_expr *e)
{
	static const unsigned int costs[] = {
		[FIELD_COST_HEADER] = 2, [FIELD_COST_STATE] = 4,     [FIELD_COST_SEARCH] = 20,
		[FIELD_COST_TEXT] = 100, [FIELD_COST_SYSTEM] = 5000,
	};
	unsigned int cost = e->kind == FILTER_EXPR_FIELD ? costs[e->field.row->cost] : 20;

	for (const struct filter_expr *a = e->args; a; a = a->next)
		cost += expr_cost(a);
	return cost;
}

/* Returns the cost of a check, lower if the type decides it: entry points skip such checks. */
static unsigned int check_cost(const struct filter_check *c)
{
	unsigned int cost = expr_cost(c->left) + sinsp_matcher_cost(c);

	if (c->right)
		cost += expr_cost(c->right);
	return c->may ? cost / 4 : cost;
}

static void add_cost(struct filter_node *n)
{
	if (n->kind == FILTER_CHECK)
		n->cost = check_cost(n->check);
	else
		n->cost = 0;
	for (const struct filter_node *c = n->children; c; c = c->next)
		n->cost += c->cost < 1000000 ? c->cost : 1000000;
}

static struct filter_node *merge(struct filter_node *a, struct filter_node *b)
{
	struct filter_node *head = NULL, **tail = &head;

	while (a && b) {
		struct filter_node **less = b->cost < a->cost ? &b : &a;

		*tail = *less;
		tail = &(*less)->next;
		*less = *tail;
	}
	*tail = a ? a : b;
	return head;
}

/* Stable sort: equal costs keep the order as written. */
static struct filter_node *sorted(struct filter_node *n, unsigned int count)
{
	struct filter_node *last = n, *second;

	if (count < 2)
		return n;
	for (unsigned int i = 1; i < count / 2; i++)
		last = last->next;
	second = last->next;
	last->next = NULL;
	return merge(sorted(n, count / 2), sorted(second, count - count / 2));
}

/* ---- the tree ---- */

static int simplify(struct simplifier *s, struct filter_node *n, int negate,
		    struct filter_node **out);

static int negated(struct simplifier *s, struct filter_node *n, struct filter_node **out)
{
	struct filter_node *inverse = new_node(s, FILTER_NOT, n);

	if (!inverse)
		return -ENOMEM;
	inverse->children = n;
	add_cost(inverse);
	*out = inverse;
	return 0;
}

static int is_empty(const uint64_t *types)
{
	for (unsigned int i = 0; i < FILTER_TYPE_WORDS; i++)
		if (types[i])
			return 0;
	return 1;
}

/* Drops a check that has the same result for all events. */
static int fold(struct simplifier *s, struct filter_node *n, int negate, struct filter_node **out)
{
	const struct filter_types *may = n->check->may;

	*out = n;
	if (may && (is_empty(may->yes) || is_empty(may->no))) {
		*out = new_const(s, n, is_empty(may->no) != negate);
		return *out ? 0 : -ENOMEM;
	}
	add_cost(n);
	return negate ? negated(s, n, out) : 0;
}

static int simplify_check(struct simplifier *s, struct filter_node *n, int negate,
			  struct filter_node **out)
{
	struct filter_node *other;
	int err;

	normalize(n->check);
	err = expand_mod(s, n, &other);
	if (err)
		return err;
	if (other != n)
		return simplify(s, other, negate, out);
	err = sinsp_check_types(s->f, n->check);
	return err ? err : fold(s, n, negate, out);
}

/* Appends a simplified child: the children of a node of the same kind, nothing if it is neutral.
 * Returns 1 if it decides the whole. */
static int adopt_child(struct filter_node *to, struct filter_node ***tail, struct filter_node *c,
		       unsigned int *n)
{
	const int neutral = to->kind == FILTER_AND;

	if (c->kind == FILTER_CONST)
		return c->value != neutral;
	c->next = NULL;
	if (c->kind == to->kind)
		c = c->children;
	for (**tail = c; **tail; *tail = &(**tail)->next)
		++*n;
	return 0;
}

static int finish(struct simplifier *s, struct filter_node *n, unsigned int n_children,
		  struct filter_node **out)
{
	unsigned int left = 0;

	if (!n_children) {
		*out = new_const(s, n, n->kind == FILTER_AND);
		return *out ? 0 : -ENOMEM;
	}
	if (!s->keep_order && join_sets(s, n, n_children))
		return -ENOMEM;
	for (struct filter_node *c = n->children; c; c = c->next) {
		struct filter_check *check = joinable(c, c->kind == FILTER_NOT);
		const int err = check ? sinsp_check_types(s->f, check) : 0;

		if (err)
			return err;
		left++;
		if (check && c->kind == FILTER_NOT)
			add_cost(c->children);
		if (check)
			add_cost(c);
	}
	if (!s->keep_order)
		n->children = sorted(n->children, left);
	add_cost(n);
	*out = left == 1 ? n->children : n;
	return 0;
}

static int simplify_terms(struct simplifier *s, struct filter_node *n, int negate,
			  struct filter_node **out)
{
	const int is_and = (n->kind == FILTER_AND) != negate;
	struct filter_node *all = new_node(s, is_and ? FILTER_AND : FILTER_OR, n), **tail;
	struct filter_node *next, *child;
	unsigned int count = 0;
	int err;

	if (!all)
		return -ENOMEM;
	tail = &all->children;
	for (struct filter_node *c = n->children; c; c = next) {
		next = c->next;
		c->next = NULL;
		err = simplify(s, c, negate, &child);
		if (err)
			return err;
		if (adopt_child(all, &tail, child, &count)) {
			*out = child;
			return 0;
		}
	}
	return finish(s, all, count, out);
}

static int simplify(struct simplifier *s, struct filter_node *n, int negate,
		    struct filter_node **out)
{
	switch (n->kind) {
	case FILTER_NOT:
		return simplify(s, n->children, !negate, out);
	case FILTER_CHECK:
		return simplify_check(s, n, negate, out);
	case FILTER_CONST:
		*out = new_const(s, n, n->value != negate);
		return *out ? 0 : -ENOMEM;
	default:
		return simplify_terms(s, n, negate, out);
	}
}

static int has_memory(const struct sinsp_filter *f)
{
	for (unsigned int i = 1; i < f->n_slots; i++) {
		const struct filter_expr *e = f->slots[i].expr;

		if (e->kind == FILTER_EXPR_FIELD && e->field.row->flags & FIELD_F_MEMORY)
			return 1;
	}
	return 0;
}

int sinsp_filter_simplify(struct sinsp_filter *f)
{
	struct simplifier s = {.f = f, .keep_order = has_memory(f)};

	f->has_memory = s.keep_order;
	return simplify(&s, f->ast.root, 0, &f->ast.root);
}
