/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the screen that need no terminal: the path, the keys, the prompt, texts, lines. */
#include <errno.h>
#include <ncurses.h>
#include <stdlib.h>

#include "fields/text_columns.h"
#include "testing/test_main.h"
#include "top_cell.h"
#include "top_command.h"
#include "top_find.h"
#include "top_flame.h"
#include "top_history.h"
#include "top_keys.h"
#include "top_lines.h"
#include "top_needs.h"
#include "top_path.h"
#include "top_prompt.h"
#include "top_spark.h"
#include "top_spectrum.h"
#include "top_times.h"
#include "top_tree.h"
#include "top_words.h"

#define NO_TEXTS ((const char *const[]){NULL})

/* ---- the path ---- */

static const struct sinsp_view_column pid = {
	.name = "PID", .field = "proc.pid", .filterfield = "", .tags = NO_TEXTS, .is_key = 1};
static const struct sinsp_view_column child_only = {.name = "RES",
						    .field = "evt.res",
						    .filterfield = "evt.type",
						    .tags = NO_TEXTS,
						    .filter_in_child_only = 1};
static const struct sinsp_view_column tag = {
	.name = "TAG", .field = "span.tag[%depth]", .filterfield = "", .tags = NO_TEXTS};

static const struct sinsp_view procs = {.id = "procs",
					.filter = "evt.type!=switch",
					.drilldown_target = "threads",
					.applies_to = NO_TEXTS,
					.keeps_filter = 1};
static const struct sinsp_view threads = {.id = "threads",
					  .filter = "",
					  .drilldown_target = "",
					  .applies_to = (const char *const[]){"proc.pid", NULL},
					  .keeps_filter = 1};
static const struct sinsp_view spans = {.id = "spans",
					.filter = "span.ntags>=%depth+1",
					.drilldown_target = "spans",
					.applies_to = NO_TEXTS,
					.is_deeper = 1};

static void assert_filter(const struct top_path *p, const char *expected)
{
	char *text = top_level_filter(&p->v[p->n - 1]);

	assert_string_equal(text, expected);
	free(text);
}

static void test_path(void **state)
{
	struct top_path p;
	char *row;

	(void)state;
	assert_int_equal(top_path_init(&p, &procs, "fd.num>2"), 0);
	assert_filter(&p, "fd.num>2");
	assert_int_equal(top_path_push(&p, &threads, &pid, "12", 2), 0);
	assert_filter(&p, "((fd.num>2) and (evt.type!=switch)) and (proc.pid=\"12\")");
	assert_string_equal(top_path_top(&p)->row, "proc.pid=12");
	assert_string_equal(top_path_top(&p)->key_field, "proc.pid");
	row = top_level_row_filter(top_path_top(&p), &pid, "a\"\\\n\xff", 5);
	assert_non_null(strstr(row, "(proc.pid=\"a\\\"\\\\\\x0a\\xff\")"));
	free(row);
	top_path_pop(&p);
	top_path_pop(&p); /* the root stays */
	assert_int_equal(p.n, 1);
	assert_filter(&p, "fd.num>2");
	top_path_fini(&p);
}

/* A condition of the child alone, a view that keeps its filter for itself, and depths. */
static void test_path_below(void **state)
{
	struct top_path p;
	int err = 0;

	(void)state;
	assert_int_equal(top_path_init(&p, &threads, NULL), 0);
	assert_int_equal(top_path_push(&p, &spans, &child_only, "EIO", 3), 0);
	assert_filter(&p, "evt.type=\"EIO\"");
	assert_int_equal(top_path_push(&p, &spans, &tag, "a", 1), 0);
	assert_filter(&p, "span.tag[0]=\"a\"");
	assert_int_equal(top_path_push(&p, &spans, &tag, "b", 1), 0);
	assert_filter(&p, "(span.tag[0]=\"a\") and (span.tag[1]=\"b\")");
	assert_int_equal(top_path_top(&p)->depth, 2);
	while (!err)
		err = top_path_push(&p, &threads, &pid, "1", 1);
	assert_int_equal(err, -E2BIG);
	assert_int_equal(p.n, TOP_PATH_MAX);
	top_path_fini(&p);
}

static void test_target(void **state)
{
	struct view_list_row rows[] = {{NULL, &procs}, {NULL, &threads}, {NULL, &spans}};
	const struct view_list list = {rows, 3};

	(void)state;
	assert_ptr_equal(top_path_target(&list, &procs, &pid), &threads);
	assert_ptr_equal(top_path_target(&list, &threads, &pid), &threads); /* applies to the key */
	assert_ptr_equal(top_path_target(&list, &spans, &tag), &spans);
	assert_null(top_path_target(&list, &threads, &child_only));
	assert_null(top_path_target(&list, &threads, NULL));
}

/* ---- the keys ---- */

/* No code stands for two actions, and each key of the bar has a letter. */
static void test_keys(void **state)
{
	(void)state;
	for (const struct top_key *k = top_keys; k->action; k++) {
		int has_letter = 0, has_function = 0;

		for (int i = 0; i < TOP_KEY_CODES && k->codes[i]; i++) {
			assert_int_equal(top_key_action(k->codes[i]), k->action);
			has_letter |= k->codes[i] > ' ' && k->codes[i] < 127;
			has_function |= k->codes[i] >= KEY_F(1) && k->codes[i] <= KEY_F(12);
		}
		assert_true(has_letter || !has_function);
		assert_true(*k->name && *k->help);
	}
	assert_int_equal(top_key_action('9'), TOP_KEY_COLUMN);
	assert_int_equal(top_key_action('0'), TOP_KEY_NONE);
	assert_int_equal(top_key_action(KEY_SUSPEND), TOP_KEY_NONE);
}

/* ---- the prompt ---- */

static void type(struct top_prompt *p, const char *text)
{
	for (; *text; text++)
		assert_int_equal(top_prompt_key(p, (unsigned char)*text), TOP_PROMPT_GOES_ON);
}

static void test_prompt(void **state)
{
	struct top_prompt p;

	(void)state;
	top_prompt_set(&p, "ac");
	top_prompt_key(&p, KEY_LEFT);
	type(&p, "\xc3\xa9"); /* a character of two bytes */
	assert_string_equal(p.text, "a\xc3\xa9"
				    "c");
	top_prompt_key(&p, KEY_BACKSPACE);
	assert_string_equal(p.text, "ac");
	top_prompt_key(&p, KEY_DC);
	top_prompt_key(&p, KEY_DC); /* nothing is left there */
	assert_string_equal(p.text, "a");
	top_prompt_key(&p, KEY_HOME);
	top_prompt_key(&p, KEY_BACKSPACE);
	type(&p, "x");
	top_prompt_key(&p, KEY_END);
	type(&p, "y");
	assert_string_equal(p.text, "xay");
	assert_int_equal(top_prompt_key(&p, 0x15), TOP_PROMPT_GOES_ON); /* Ctrl-U */
	assert_string_equal(p.text, "");
	for (int i = 0; i < 2 * TOP_PROMPT_SZ; i++)
		top_prompt_key(&p, 'z');
	assert_int_equal(p.len, TOP_PROMPT_SZ - 1);
	assert_int_equal(top_prompt_key(&p, '\r'), TOP_PROMPT_DONE);
	assert_int_equal(top_prompt_key(&p, 27), TOP_PROMPT_CANCELLED);
}

/* ---- texts ---- */

static void test_safe(void **state)
{
	static const struct {
		const char *in, *out, *ascii;
	} cases[] = {
		{"plain", "plain", "plain"},
		{"a\x1b[2Jb\x7f", "a.[2Jb.", "a.[2Jb."},
		{"\xc3\xa9", "\xc3\xa9", "."},
		{"\xff\xc3", "..", ".."},
		{"\xc2\x9b", "..", ".."}, /* CSI */
		{"e\xcc\x81", "e\xcc\x81", "e."}, /* an accent */
		{"\xcc\x81x", ".x", ".x"},
		{" \xcc\x81x", " .x", " .x"},
		{"a\xe2\x80\xae"
		 "b",
		 "a...b", "a...b"}, /* from right to left */
		{"\xef\xbb\xbf", ".", "."},
		{"\xe4\xb8\x96", "\xe4\xb8\x96", "."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sinsp_text text = {0};

		assert_int_equal(top_text_safe(&text, cases[i].in, strlen(cases[i].in), 1), 0);
		assert_int_equal(top_put(&text, "|"), 0);
		assert_int_equal(top_text_safe(&text, cases[i].in, strlen(cases[i].in), 0), 0);
		assert_int_equal(top_put(&text, "%c", 0), 0);
		assert_memory_equal(text.p, cases[i].out, strlen(cases[i].out));
		assert_string_equal(strchr(text.p, '|') + 1, cases[i].ascii);
		free(text.p);
	}
}

/* Text of any width takes the columns that it is given. */
static void test_pad(void **state)
{
	static const char *const texts[] = {
		"", "a", "abcdef", "\xe4\xb8\x96\xe4\xb8\x96\xe4\xb8\x96", "e\xcc\x81-e\xcc\x81"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (unsigned int width = 1; width < 8; width++) {
			struct sinsp_text text = {0};
			uint32_t columns;

			assert_int_equal(
				top_text_pad(&text, texts[i], strlen(texts[i]), width, width & 1),
				0);
			text_fit(text.p, text.len, UINT32_MAX, &columns);
			assert_int_equal(columns, width);
			free(text.p);
		}
	}
}

static void test_wrap(void **state)
{
	static const char words[] = "one two three four-hundred-thousand";
	struct sinsp_text text = {0};

	(void)state;
	assert_int_equal(top_put_wrapped(&text, words, sizeof(words) - 1, 14, 2), 0);
	assert_int_equal(top_put(&text, "%c", 0), 0);
	assert_string_equal(text.p, "one two three\n  four-hundred\n  -thousand\n");
	free(text.p);
}

/* ---- times ---- */

static void test_times(void **state)
{
	struct top_times t = {0};
	struct sinsp_text text = {0};
	uint64_t sum = 0;

	(void)state;
	setenv("TZ", "UTC", 1);
	top_times_add(&t, 0);
	top_times_add(&t, 5000123456);
	top_times_add(&t, 5000999999);
	top_times_add(&t, 4000000000); /* too early */
	top_times_add(&t, 5002000000);
	assert_int_equal(top_times_length_ns(&t), 1000000);
	assert_int_equal(top_times_text(&text, &t, 6), 0);
	assert_int_equal(top_put(&text, "%c", 0), 0);
	assert_string_equal(text.p, "00:00:05.000          3 ######\n"
				    "00:00:05.001          0 \n"
				    "00:00:05.002          1 ##\n");
	text.len = 0;
	for (uint64_t s = 5; s < 86400; s += 1000)
		top_times_add(&t, s * 1000000000);
	assert_int_equal(top_times_length_ns(&t), 600000000000);
	assert_int_equal(t.begin_ns, 0);
	assert_int_equal(t.n, 144);
	for (size_t i = 0; i < t.n; i++)
		sum += t.counts[i];
	assert_int_equal(sum, 4 + 87);
	assert_int_equal(top_times_label(&text, &t, 143), 0);
	assert_memory_equal(text.p, "23:50:00", 8);
	top_times_add(&t, UINT64_MAX / 2); /* the last span has what is beyond */
	assert_int_equal(t.n, TOP_TIMES_MAX);
	free(text.p);
}

/* ---- commands ---- */

static int value_of(void *ctx, const char *field, size_t len, struct sinsp_text *out)
{
	(void)ctx;
	if (len == 7 && memcmp(field, "fd.name", 7) == 0)
		return top_put(out, "a \"b' %%x $(c)") ?: 1;
	if (len == 6 && memcmp(field, "fd.num", 6) == 0)
		return top_put(out, "-1") ?: 1;
	return 0;
}

static void test_command(void **state)
{
	static const struct {
		const char *command, *words[5];
		int err;
	} cases[] = {
		{"kill  -9 x ", {"kill", "-9", "x"}},
		{"less -- %fd.name", {"less", "--", "a \"b' %x $(c)"}},
		{"a 'b c'd \"%fd.name.\" \\\"", {"a", "b cd", "a \"b' %x $(c).", "\""}},
		{"date +%H 100%", {"date", "+%H", "100%"}},
		{"x %proc.pid", {NULL}, -ENOENT},
		{"kill -9 %fd.num", {NULL}, -EPERM}, /* all processes */
		{"kill -9 \"%fd.num\"", {NULL}, -EPERM},
		{"less -- %fd.num n=%fd.num", {"less", "--", "-1", "n=-1"}},
		{"  ", {NULL}, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_command c;

		assert_int_equal(top_command_init(&c, cases[i].command, value_of, NULL),
				 cases[i].err);
		for (size_t k = 0; cases[i].words[k]; k++)
			assert_string_equal(c.words[k], cases[i].words[k]);
		if (!cases[i].err)
			assert_null(c.words[c.n]);
		top_command_fini(&c);
	}
	assert_true(top_command_is_plain("kill -9 %proc.pid"));
	assert_false(top_command_is_plain("renice $(x)"));
}

/* ---- lines ---- */

static void test_lines(void **state)
{
	struct top_lines l = {0};

	(void)state;
	assert_int_equal(top_lines_add(&l, "a\n\nb", 4), 0);
	assert_int_equal(l.to, 3);
	assert_string_equal(top_lines_at(&l, 0)->text, "a");
	assert_string_equal(top_lines_at(&l, 1)->text, "");
	assert_string_equal(top_lines_at(&l, 2)->text, "b");
	assert_null(top_lines_at(&l, 3));
	for (int i = 3; i < TOP_LINES_MAX + 2; i++)
		assert_int_equal(top_lines_add(&l, "x", 1), 0);
	assert_null(top_lines_at(&l, 1));
	assert_string_equal(top_lines_at(&l, 2)->text, "b");
	assert_int_equal(l.bytes, TOP_LINES_MAX);
	top_lines_clear(&l);
	assert_int_equal(l.bytes, 0);
	assert_int_equal(l.to, 0);
	top_lines_fini(&l);
}

/* ---- the tree ---- */

static void assert_tree(const int64_t *pids, const int64_t *ppids, size_t n, const char *expected)
{
	struct top_tree tree = {.is_on = 1, .n = n, .rows = calloc(n, sizeof(*tree.rows))};
	uint32_t *order = calloc(n, sizeof(*order));
	struct sinsp_text text = {0};

	assert_int_equal(top_tree_order(tree.rows, order, pids, ppids, n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(top_tree_put(&text, &tree, i, 0), 0);
		assert_int_equal(top_put(&text, "%d\n", (int)pids[order[i]]), 0);
	}
	assert_int_equal(top_put(&text, "%c", 0), 0);
	assert_string_equal(text.p, expected);
	free(text.p);
	free(order);
	top_tree_fini(&tree);
}

/* Siblings keep the order of the table; every row has one place, also of a cycle. */
static void test_tree(void **state)
{
	static const int64_t pids[] = {30, 3, 1, 20, 2, 21, 9};
	static const int64_t ppids[] = {3, 1, 0, 2, 1, 2, 8};
	static const int64_t cycle[] = {5, 6, 7}, parents[] = {6, 5, 6};
	int64_t chain[100], above[100];
	struct top_tree_row rows[100];
	uint32_t order[100];

	(void)state;
	assert_tree(pids, ppids, 7, "1\n|- 3\n|  `- 30\n`- 2\n   |- 20\n   `- 21\n9\n");
	assert_tree(cycle, parents, 3, "5\n`- 6\n   `- 7\n");
	for (int i = 0; i < 100; i++) {
		chain[i] = 100 - i;
		above[i] = 99 - i;
	}
	assert_int_equal(top_tree_order(rows, order, chain, above, 100), 0);
	assert_int_equal(rows[99].depth, 99);
	assert_int_equal(order[99], 0);
}

/* ---- words ---- */

static void assert_word(const char *text, enum top_word kind, const char *word)
{
	struct top_place_of_word at;

	top_word_at(&at, text, strlen(text));
	assert_int_equal(at.kind, kind);
	assert_string_equal(text + at.begin, word);
}

static void test_words(void **state)
{
	struct top_words w = {0};

	(void)state;
	assert_word("", TOP_WORD_FIELD, "");
	assert_word("not pro", TOP_WORD_FIELD, "pro");
	assert_word("proc.name ", TOP_WORD_OPERATOR, "");
	assert_word("proc.name=", TOP_WORD_VALUE, "");
	assert_word("proc.name = \"a b", TOP_WORD_VALUE, "\"a b");
	assert_word("proc.name contains ba", TOP_WORD_VALUE, "ba");
	assert_word("proc.name in (a, b", TOP_WORD_VALUE, "b");
	assert_word("proc.name in (a, b) a", TOP_WORD_CONNECTIVE, "a");
	assert_word("(proc.name=a or pr", TOP_WORD_FIELD, "pr");
	assert_word("fd.name exists an", TOP_WORD_CONNECTIVE, "an");
	assert_int_equal(top_words_add(&w, "open", 4, "op", 2), 0);
	assert_int_equal(top_words_add(&w, "close", 5, "op", 2), 0);
	assert_int_equal(top_words_add(&w, "openat", 6, "op", 2), 0);
	assert_int_equal(top_words_add(&w, "open", 4, "op", 2), 0);
	top_words_sort(&w);
	assert_int_equal(w.n, 2);
	assert_int_equal(top_words_common(&w), 4);
	top_words_fini(&w);
	assert_int_equal(top_words_add(&w, "a\xc3\xa8", 3, "", 0), 0);
	assert_int_equal(top_words_add(&w, "a\xc3\xa9", 3, "", 0), 0);
	assert_int_equal(top_words_common(&w), 1); /* no part of a character */
	top_words_fini(&w);
}

static void assert_found(const char *text, const char *in, int is_found)
{
	struct top_find f;

	assert_int_equal(top_find_init(&f, text), 0);
	assert_int_equal(top_find_in_bytes(&f, in, strlen(in)), is_found);
	top_find_fini(&f);
}

static void test_find(void **state)
{
	(void)state;
	assert_found("Bash", "/bin/bAsh", 1);
	assert_found("bash", "/bin/bas", 0);
	assert_found("aab", "aaab", 1);
	assert_found("b", "", 0);
	assert_found("\xc3\xa9", "caf\xc3\xa9", 1);
}

static void test_spark(void **state)
{
	static const struct sinsp_view_column info = {.name = "CPU"};
	const struct view_column col = {.info = &info, .type = {.kind = VIEW_DOUBLE}};
	double points[] = {0, 7, -1, 3.5};
	struct sinsp_text text = {0};

	(void)state;
	assert_int_equal(top_spark_put(&text, &col, points, 4, 8, 0), 0);
	assert_int_equal(top_put(&text, "%c", 0), 0);
	assert_string_equal(text.p, "\nCPU          _# =  0.00 to 7.00, 8 s\n");
	text.len = 0;
	assert_int_equal(top_spark_put(&text, &col, points, 2, 8, 1), 0);
	assert_int_equal(top_put(&text, "%c", 0), 0);
	assert_string_equal(text.p, "\nCPU          \u2581\u2588  0.00 to 7.00, 8 s\n");
	free(text.p);
	assert_int_equal(top_spark_fit(points, 4, 2), 2);
	assert_true(points[0] == 3.5 && points[1] == 3.5);
}

/* ---- tables of before ---- */

/* The oldest go, but never the one that is shown, which then holds those behind it. */
static void test_history(void **state)
{
	struct sinsp_view_column columns[] = {
		{.name = "NA",
		 .field = "evt.type",
		 .filterfield = "",
		 .tags = NO_TEXTS,
		 .is_key = 1},
		{.name = "N", .field = "evt.count", .filterfield = "", .tags = NO_TEXTS},
	};
	const struct sinsp_view view = {.id = "v",
					.name = "V",
					.type = "table",
					.filter = "",
					.drilldown_target = "",
					.columns = columns,
					.n_columns = 2};
	const struct view_table_opts opts = {.sz = sizeof(opts), .view = &view};
	struct top_history *h = calloc(1, sizeof(*h));
	struct top_snapshot snap = {0};
	struct view_error why;

	(void)state;
	assert_int_equal(view_table_new(&snap.table, &opts, &why), 0);
	assert_int_equal(view_table_end(snap.table, NULL, 1), 0);
	for (snap.end_ns = 1; snap.end_ns <= TOP_HISTORY_MAX + 50; snap.end_ns++)
		assert_int_equal(top_history_add(h, &snap), 0);
	assert_int_equal(h->from, 50);
	assert_int_equal(h->to, TOP_HISTORY_MAX + 50);
	assert_null(top_history_at(h, 49));
	assert_int_equal(top_history_at(h, 50)->end_ns, 51);
	assert_int_equal(top_history_find(h, 100), 99);
	assert_int_equal(top_history_find(h, 1), 50);
	assert_ptr_equal(top_history_pin(h, 50), top_history_at(h, 50));
	assert_int_equal(top_history_add(h, &snap), 0);
	assert_int_equal(h->from, 50);
	assert_int_equal(h->to, TOP_HISTORY_MAX + 50);
	/* The screen still shows the one before if it gets no other one. */
	assert_null(top_history_pin(h, 49));
	assert_int_equal(top_history_add(h, &snap), 0);
	assert_int_equal(h->from, 50);
	assert_null(top_history_pin(h, UINT64_MAX));
	assert_int_equal(top_history_add(h, &snap), 0);
	assert_int_equal(h->from, 51);
	top_history_clear(h);
	assert_int_equal(h->bytes, 0);
	free(h);
	view_table_free(snap.table);
}

/* ---- what views need ---- */

static void needs_of(struct top_needs *n, const char *field, const char *own, const char *filter)
{
	struct sinsp_view_column columns[] = {
		{.field = "thread.tid"}, {.field = "proc.pid"},       {.field = "user.name"},
		{.field = "thread.cpu"}, {.field = "thread.vmrss.b"}, {.field = "container.name"},
		{.field = field},
	};
	const struct sinsp_view view = {
		.type = "table", .filter = own, .columns = columns, .n_columns = 7};

	assert_int_equal(top_needs_init(n, &view, filter), 0);
}

static int needs_few(const char *field, const char *own, const char *filter)
{
	struct top_needs n;

	needs_of(&n, field, own, filter);
	return n.few;
}

static int has_type(const struct top_needs *n, unsigned int type)
{
	return (n->types[evt_index(type) / 64] >> evt_index(type) % 64) & 1;
}

static void test_needs(void **state)
{
	struct top_needs none, io, all = {0};

	(void)state;
	needs_of(&none, "proc.exeline", "evt.type!=switch", NULL);
	needs_of(&io, "evt.io.file_bytes", "", "");
	assert_true(none.few && io.few);
	assert_false(has_type(&none, EVT_READ_X));
	assert_true(has_type(&io, EVT_READ_X));
	assert_false(has_type(&io, EVT_OPENAT2_X));
	assert_true(has_type(&io, EVT_COPY_FILE_RANGE_X));
	assert_false(has_type(&io, EVT_FCNTL_X));
	assert_true(top_needs_cover(&all, &io));
	assert_true(top_needs_cover(&io, &none));
	assert_false(top_needs_cover(&none, &io));
	assert_false(top_needs_cover(&io, &all));

	assert_false(needs_few("evt.count", "", NULL));
	assert_false(needs_few("thread.exectime", "", NULL));
	assert_false(needs_few("proc.vpid", "evt.type=open", NULL));
	assert_true(needs_few("proc.vpid", "", "proc.pid=7 and user.name=root"));
	assert_true(needs_few("proc.vpid", "", "(evt.type!=switch) and (proc.pid=\"7\")"));
	assert_false(needs_few("proc.vpid", "", "evt.latency>1"));
	assert_false(needs_few("proc.vpid", "", "proc.pid=7 and fd.name=x"));
}

/* ---- heat maps ---- */

#define MS 1000000ull
#define SECOND 1000000000ull

static void test_spectrum_lines(void **state)
{
	struct top_spectrum sp;
	struct sinsp_text text = {0};
	unsigned int slot;

	(void)state;
	assert_int_equal(top_spectrum_init(&sp, SECOND), 0);
	assert_int_equal(top_spectrum_add(&sp, 100 * SECOND + 7, 1000, &slot), 0);
	assert_int_equal(top_spectrum_add(&sp, 102 * SECOND, 1000, &slot), 2);
	assert_int_equal(top_spectrum_add(&sp, 100 * SECOND, 1000, &slot), 0); /* a late one */
	assert_int_equal(top_spectrum_count(&sp, 0, 8, 8), 2);
	assert_int_equal(top_spectrum_count(&sp, 1, 8, 8), 0);
	assert_int_equal(top_spectrum_count(&sp, 2, 8, 8), 1);
	assert_int_equal(top_spectrum_line(&text, &sp, 0, 1), 0);
	assert_memory_equal(text.p, " .       ", text.len);
	top_spectrum_tick(&sp, (100 + TOP_SPECTRUM_LINES) * SECOND); /* the oldest goes */
	assert_int_equal(sp.from, 1);
	assert_int_equal(top_spectrum_count(&sp, 0, 8, 8), 0);
	assert_int_equal(top_spectrum_count(&sp, 2, 8, 8), 1);
	top_spectrum_tick(&sp, 1000000 * SECOND); /* a clock that was set */
	assert_int_equal(sp.to - sp.from, TOP_SPECTRUM_LINES);
	assert_int_equal(top_spectrum_count(&sp, sp.to - 1, 8, 8), 0);
	free(text.p);
	top_spectrum_fini(&sp);
}

/* Of a file, lines become longer: none is lost, whatever the length. */
static void test_spectrum_grows(void **state)
{
	struct top_spectrum sp;
	unsigned int slot;
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(top_spectrum_init(&sp, 0), 0);
	for (uint64_t i = 0; i < 5000; i++)
		top_spectrum_add(&sp, 5 * SECOND + i * i * 7919, 2500, &slot);
	assert_int_equal(sp.length_ns, SECOND);
	assert_true(sp.to <= TOP_SPECTRUM_FILE_LINES);
	assert_int_equal(sp.from, 0);
	for (uint64_t line = 0; line < sp.to; line++)
		for (unsigned int i = 0; i < top_spectrum_n_cells(8); i++)
			sum += top_spectrum_count(&sp, line, 8, i);
	assert_int_equal(sum, 5000);
	assert_int_equal(top_spectrum_ns(&sp, 0), 5 * SECOND);
	top_spectrum_fini(&sp);
}

/* What a cell counts is what its bounds, as a filter, match. */
static void test_spectrum_bounds(void **state)
{
	static const unsigned int pers[] = {1, 3, 8, 12, 48};
	struct top_spectrum sp;
	unsigned int slot;

	(void)state;
	assert_int_equal(top_spectrum_init(&sp, SECOND), 0);
	for (size_t p = 0; p < sizeof(pers) / sizeof(pers[0]); p++) {
		for (unsigned int cell = 0; cell < top_spectrum_n_cells(pers[p]); cell++) {
			uint64_t from, to;

			top_spectrum_bounds(pers[p], cell, cell, &from, &to);
			top_spectrum_add(&sp, SECOND, from, &slot);
			assert_true(top_spectrum_has(pers[p], cell, cell, slot));
			top_spectrum_add(&sp, SECOND, to - 1, &slot);
			assert_true(top_spectrum_has(pers[p], cell, cell, slot));
		}
	}
	assert_int_equal(top_spectrum_cells(&sp, 77), 8); /* 9 of the time, 3 of the scale */
	assert_int_equal(top_spectrum_cells(&sp, 76), 6);
	assert_int_equal(top_spectrum_cells(&sp, 21), 1);
	assert_int_equal(top_spectrum_cells(&sp, 20), 0);
	top_spectrum_fini(&sp);
}

/* ---- flame graphs ---- */

static void add_stack(struct top_flame *f, const char *text, int n)
{
	while (n--)
		assert_int_equal(top_flame_add(f, text, strlen(text)), 0);
}

static void test_flame(void **state)
{
	struct top_flame *f = top_flame_new();
	struct top_bar bars[8];

	(void)state;
	assert_non_null(f);
	assert_int_equal(top_flame_layout(f, 0, 10, bars, 8), 0);
	add_stack(f, "main;a\n", 3);
	add_stack(f, "main;b;c", 6);
	add_stack(f, "main", 1);
	assert_int_equal(top_flame_layout(f, 0, 10, bars, 8), 5);
	assert_int_equal(bars[0].width, 10);
	assert_string_equal(top_flame_frame(f, bars[1].frame)->name, "main");
	assert_int_equal(top_flame_frame(f, bars[1].frame)->self, 1);
	assert_string_equal(top_flame_frame(f, bars[2].frame)->name, "b"); /* the widest first */
	assert_int_equal(bars[2].x, 0);
	assert_int_equal(bars[2].width, 6);
	assert_string_equal(top_flame_frame(f, bars[3].frame)->name, "a");
	assert_int_equal(bars[3].x, 6);
	assert_int_equal(bars[3].width, 3);
	assert_string_equal(top_flame_frame(f, bars[4].frame)->name, "c");
	assert_int_equal(bars[4].row, 3);
	assert_int_equal(top_flame_layout(f, bars[3].frame, 10, bars, 8), 1); /* zoomed */
	assert_int_equal(bars[0].width, 10);
	assert_int_equal(top_flame_layout(f, 0, 10, bars, 2), 2);
	top_flame_clear(f);
	assert_int_equal(top_flame_generation(f), 1);
	assert_null(top_flame_frame(f, 1));
	top_flame_free(f);
}

/* Frames are bounded in number and depth, samples are not lost. */
static void test_flame_bounds(void **state)
{
	struct top_flame *f = top_flame_new();
	char deep[4 * TOP_FLAME_DEPTH], name[32];

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = i % 2 ? ';' : 'x';
	assert_int_equal(top_flame_add(f, deep, sizeof(deep)), 0);
	assert_non_null(top_flame_frame(f, TOP_FLAME_DEPTH));
	assert_null(top_flame_frame(f, TOP_FLAME_DEPTH + 1));
	assert_int_equal(top_flame_frame(f, TOP_FLAME_DEPTH)->self, 1);
	for (int i = 0; i < TOP_FLAME_FRAMES; i++) {
		snprintf(name, sizeof(name), "f%d;g%d", i % 223, i);
		add_stack(f, name, 1);
	}
	assert_int_equal(top_flame_frame(f, 0)->n, TOP_FLAME_FRAMES + 1);
	assert_null(top_flame_frame(f, TOP_FLAME_FRAMES));
	top_flame_free(f);
}

/* A stack costs no more if its caller has thousands of callees: 400,000 take less than the limit of
 * a test only if none is compared with all others. */
static void test_flame_of_many_callees(void **state)
{
	struct top_flame *f = top_flame_new();
	char name[32];

	(void)state;
	assert_non_null(f);
	for (int i = 0; i < 8 * TOP_FLAME_FRAMES; i++) {
		snprintf(name, sizeof(name), "main;0x%x", i);
		add_stack(f, name, 1);
	}
	add_stack(f, "main;0x5", 1);
	assert_int_equal(top_flame_frame(f, 1)->n, 8 * TOP_FLAME_FRAMES + 1);
	assert_string_equal(top_flame_frame(f, 7)->name, "0x5");
	assert_int_equal(top_flame_frame(f, 7)->n, 2);
	assert_int_equal(top_flame_frame(f, 2)->n, 1);
	top_flame_clear(f);
	add_stack(f, "main;0x5", 1);
	assert_string_equal(top_flame_frame(f, 2)->name, "0x5");
	top_flame_free(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_path_below),
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_prompt),
		cmocka_unit_test(test_safe),
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_spectrum_lines),
		cmocka_unit_test(test_spectrum_grows),
		cmocka_unit_test(test_spectrum_bounds),
		cmocka_unit_test(test_flame),
		cmocka_unit_test(test_flame_bounds),
		cmocka_unit_test(test_flame_of_many_callees),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_spark),
		cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
