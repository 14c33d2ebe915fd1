/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random filters, with a fixed seed. Every text is an error with a message and a place, or a
 * filter; and the result of a filter is that of its checks, each evaluated alone: joining, ordering
 * and deciding by type change nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ast.h"
#include "filter_events_test.h"

#define N_FILTERS 3000
#define N_BROKEN 8000
#define TEXT_MAX 4096

static uint64_t random_state;

static unsigned int rnd(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)((random_state >> 20) % n);
}

#define PICK(array) ((array)[rnd(sizeof(array) / sizeof((array)[0]))])

struct text {
	char s[TEXT_MAX];
	size_t n;
};

static void add(struct text *t, const char *s)
{
	const size_t n = strlen(s);

	if (t->n + n + 1 > sizeof(t->s))
		return;
	memcpy(t->s + t->n, s, n + 1);
	t->n += n;
}

/* ---- valid filters ---- */

static const char *const words[] = {
	"cat",       "dog",        "/etc", "/etc/passwd", "3",      "-1",          "0",
	"80",        "1k",         "10ms", "0x10",        "1.5s",   "true",        "false",
	"10.0.0.1",  "10.0.0.0/8", "::1",  "\"a b\"",     "''",     "*",           "[a-c]?t",
	"'(a|c).*'", "open",       "read", "write",       ">",      "<",           "SUCCESS",
	"\\x41",     "666f6f",     "http", "a,b",         "passwd", "\"\\n\\\\\"",
};

static const char *const ops[] = {
	"=",        "==",        "!=",        "<",          "<=",          ">",        ">=",
	"contains", "icontains", "bcontains", "startswith", "bstartswith", "endswith", "glob",
	"iglob",    "regex",     "in",        "intersects", "pmatch",      "exists",
};

static const char *const mods[] = {"oneof", "anyof", "allof"};
static const char *const transformers[] = {"tolower", "toupper", "b64", "basename", "len"};
static const char *const args[] = {".fd",  "[0]",       "[1]", "[5]", ".name",
				   ".res", "[\"A B\"]", "",    ""};

/* Fields repeat, so that checks can be joined. */
static const char *const usual[] = {
	"proc.name",  "fd.name",  "fd.num",      "evt.type",      "evt.dir",      "evt.rawres",
	"evt.buffer", "proc.pid", "evt.latency", "evt.rawarg.fd", "evt.arg.name", "evt.failed",
	"fd.port",    "fd.ip",    "proc.aname",  "fd.types",
};

static const struct sinsp_field_row *random_row(void)
{
	const struct sinsp_field_class *c;
	unsigned int n = 0;

	while (sinsp_field_classes[n])
		n++;
	c = sinsp_field_classes[rnd(n)];
	return &c->rows[rnd((unsigned int)c->n_rows)];
}

static void add_field(struct text *t)
{
	const struct sinsp_field_row *row = random_row();

	if (rnd(3) || row->cost == FIELD_COST_SYSTEM || row->flags & FIELD_F_MEMORY) {
		add(t, PICK(usual));
		return;
	}
	add(t, row->name);
	if (row->flags & (FIELD_F_ARG_NEEDED | FIELD_F_ARG_OK))
		add(t, PICK(args));
}

static void add_left(struct text *t)
{
	if (rnd(8)) {
		add_field(t);
		return;
	}
	add(t, PICK(transformers));
	add(t, "(");
	add_left(t);
	add(t, ")");
}

static void add_list(struct text *t)
{
	add(t, "(");
	for (unsigned int i = 0, n = rnd(5); i < n; i++) {
		add(t, i ? "," : "");
		add(t, PICK(words));
	}
	add(t, ")");
}

static void add_check(struct text *t)
{
	const char *op = PICK(ops);

	add_left(t);
	add(t, " ");
	add(t, op);
	add(t, " ");
	if (!strcmp(op, "exists"))
		return;
	if (!rnd(12)) {
		add(t, "val(");
		add_field(t);
		add(t, ")");
	} else if (!strcmp(op, "in") || !strcmp(op, "intersects") || !strcmp(op, "pmatch")) {
		add_list(t);
	} else if (!rnd(6)) {
		add(t, PICK(mods));
		add(t, " ");
		add_list(t);
	} else {
		add(t, PICK(words));
	}
}

static void add_expr(struct text *t, unsigned int depth)
{
	const unsigned int n = depth ? 1 + rnd(4) : 1;

	for (unsigned int i = 0; i < n; i++) {
		add(t, i ? (rnd(2) ? " and " : " or ") : "");
		add(t, rnd(5) ? "" : "not ");
		if (depth && !rnd(3)) {
			add(t, "(");
			add_expr(t, depth - 1);
			add(t, ")");
		} else {
			add_check(t);
		}
	}
}

/* ---- single checks ---- */

static int ask_alone(const struct filter_node *n, const struct sinsp_evt *evt)
{
	struct sinsp_text text = {0};
	struct sinsp_filter *f;
	int r;

	assert_int_equal(sinsp_ast_text(&text, n), 0);
	text.p = realloc(text.p, text.len + 1);
	text.p[text.len] = 0;
	if (sinsp_filter_new(&f, text.p, NULL, NULL))
		fail_msg("refused when it stands alone: %s", text.p);
	r = sinsp_filter_run(f, evt);
	sinsp_filter_free(f);
	free(text.p);
	return r;
}

static int ask(const struct filter_node *n, const struct sinsp_evt *evt)
{
	const int is_and = n->kind == FILTER_AND;

	if (n->kind == FILTER_CHECK)
		return ask_alone(n, evt);
	if (n->kind == FILTER_NOT)
		return !ask(n->children, evt);
	for (n = n->children; n; n = n->next)
		if (ask(n, evt) != is_and)
			return !is_and;
	return is_and;
}

static void check_answer(const char *text, struct sinsp_filter *f, const struct sinsp_evt *evt)
{
	struct sinsp_filter_error error = {0};
	struct filter_ast ast = {.err = &error};
	const int got = sinsp_filter_run(f, evt);
	int want;

	assert_int_equal(sinsp_ast_parse(&ast, text, NULL), 0);
	want = ask(ast.root, evt);
	if (got != want)
		print_error("%s: %d, not %d\n", text, got, want);
	assert_int_equal(got, want);
	sinsp_ast_fini(&ast);
}

static void check_refusal(const char *text, const struct sinsp_filter_error *error)
{
	struct sinsp_text lines = {0};

	assert_ptr_equal(error->text, text);
	assert_true(error->pos <= strlen(text));
	assert_true(error->message[0]);
	assert_null(strchr(error->message, '\n'));
	assert_int_equal(sinsp_filter_error_lines(&lines, error), 0);
	free(lines.p);
}

/* Returns whether the text is a filter. */
static int check_text(const char *text, const struct sinsp_evt *evts)
{
	struct sinsp_filter_error error = {0};
	struct sinsp_text explained = {0};
	struct sinsp_filter *f = NULL;
	const int err = sinsp_filter_new(&f, text, NULL, &error);

	if (err) {
		assert_int_equal(err, -EINVAL);
		check_refusal(text, &error);
		return 0;
	}
	assert_int_equal(sinsp_filter_explain(f, &explained), 0);
	free(explained.p);
	for (unsigned int i = 0; i < N_EVENTS; i++)
		check_answer(text, f, &evts[i]);
	sinsp_filter_free(f);
	return 1;
}

static void test_filters_that_mean_something(void **state)
{
	struct sinsp_evt evts[N_EVENTS];
	unsigned int n_good = 0;

	random_state = 0x9e3779b97f4a7c15;
	make_events(*state, evts);
	for (unsigned int i = 0; i < N_FILTERS; i++) {
		struct text t = {0};

		add_expr(&t, rnd(4));
		n_good += (unsigned int)check_text(t.s, evts);
	}
	assert_true(n_good > N_FILTERS / 20);
}

/* ---- mostly invalid filters ---- */

static const char *const pieces[] = {
	"(",
	")",
	"[",
	"]",
	"\"",
	"'",
	"\\",
	"\\x",
	"=",
	"!",
	"<",
	">",
	",",
	".",
	" ",
	"\n",
	"and",
	"or",
	"not",
	"in",
	"exists",
	"val(",
	"tolower(",
	"join(",
	"concat(",
	"getopt(",
	"proc.name",
	"evt.arg",
	"\xff",
	"\x01",
	"-",
	"0x",
	"99999999999999999999",
	"%s%n",
	"k8s.pod.name",
	"regex '(",
	"regex 'a{1,9}{9}'",
};

static void damage(struct text *t)
{
	const size_t at = rnd((unsigned int)t->n + 1), cut = rnd(4);
	struct text out = {0};

	memcpy(out.s, t->s, at);
	out.n = at;
	if (rnd(3))
		add(&out, PICK(pieces));
	add(&out, t->s + (at + cut < t->n ? at + cut : t->n));
	*t = out;
}

static void test_filters_that_do_not(void **state)
{
	struct sinsp_evt evts[N_EVENTS];
	unsigned int n_good = 0;

	random_state = 88172645463325252;
	make_events(*state, evts);
	for (unsigned int i = 0; i < N_BROKEN; i++) {
		struct text t = {0};

		add_expr(&t, rnd(2));
		for (unsigned int k = rnd(4); k; k--)
			damage(&t);
		n_good += (unsigned int)check_text(t.s, evts);
	}
	assert_true(n_good > N_BROKEN / 100);
}

static void test_bytes_at_random(void **state)
{
	struct sinsp_evt evts[N_EVENTS];

	random_state = 2463534242;
	make_events(*state, evts);
	for (unsigned int i = 0; i < N_BROKEN; i++) {
		struct text t = {0};

		for (unsigned int k = rnd(12); k; k--)
			add(&t, PICK(pieces));
		check_text(t.s, evts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_filters_that_mean_something, fixture_open,
						fixture_close),
		cmocka_unit_test_setup_teardown(test_filters_that_do_not, fixture_open,
						fixture_close),
		cmocka_unit_test_setup_teardown(test_bytes_at_random, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
