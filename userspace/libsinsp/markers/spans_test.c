/* SPDX-License-Identifier: Apache-2.0 */
/* Events and spans of markers, from writes made by hand; as text by fields. */
#include "spans.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/format.h"
#include "state/inspector.h"
#include "state/thread.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

#define T0 1000000ull
#define I(x) ((int64_t)(x))

enum { THREAD = SINSP_CL_FILES | SINSP_CL_FS | SINSP_CL_THREAD };
enum { NULL_FD = 3, OTHER_FD = 4 };

static const char of_span[] =
	"*%evt.dir %span.id %span.tags %span.args %span.enterargs %span.duration";

struct world {
	struct scap_fake *f;
	uint64_t now;
};

static void begin(struct world *w)
{
	static const int64_t tids[][3] = {{10, 10, 1}, {11, 10, 1}, {12, 12, 1}, {13, 13, 2}};

	*w = (struct world){scap_fake_new(), T0};
	assert_non_null(w->f);
	for (size_t i = 0; i < sizeof(tids) / sizeof(tids[0]); i++) {
		const struct scap_thread_info t = {.tid = tids[i][0],
						   .pid = tids[i][1],
						   .ptid = tids[i][2],
						   .comm = "c",
						   .flags = tids[i][0] == tids[i][1] ? 0 : THREAD};
		const struct scap_fd_info null = {
			.fd = NULL_FD, .type = SCAP_FD_FILE_V2, .name = "/dev/null"};
		const struct scap_fd_info other = {
			.fd = OTHER_FD, .type = SCAP_FD_FILE_V2, .name = "/dev/zero"};

		assert_int_equal(scap_state_build_thread(scap_fake_state(w->f), &t), 0);
		assert_int_equal(scap_state_build_fd(scap_fake_state(w->f), t.pid, &null), 0);
		assert_int_equal(scap_state_build_fd(scap_fake_state(w->f), t.pid, &other), 0);
	}
}

/* @tid writes @n bytes, of which @captured are in the event; each call takes 1000 ns. */
static void writes_to(struct world *w, int64_t tid, int64_t fd, const char *text, size_t captured,
		      int64_t n)
{
	w->now += 1000;
	assert_int_equal(scap_fake_add_call(w->f, w->now - 1000, w->now, 0, tid, EVT_WRITE_X, 4, n,
					    (const void *)text, captured, fd, n),
			 0);
}

static void writes(struct world *w, int64_t tid, const char *text)
{
	writes_to(w, tid, NULL_FD, text, strlen(text), (int64_t)strlen(text));
}

static void count_warning(void *ctx, enum scap_log_level level, const char *text)
{
	(void)level;
	assert_non_null(strstr(text, "--snaplen"));
	++*(int *)ctx;
}

/* Checks the lines of events tracer; with @all those of every event. Returns the number of
 * warnings. */
static int check(struct world *w, const char *format, int all, const char *want)
{
	struct sinsp_format *fmt = NULL;
	struct sinsp_format_error err;
	struct sinsp_text out = {0};
	int n_warnings = 0, r;
	const struct sinsp_opts opts = {.sz = sizeof(opts),
					.derive = SINSP_DERIVE_TRACERS,
					.log = count_warning,
					.log_ctx = &n_warnings};
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;

	assert_int_equal(scap_fake_open(&src, w->f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	assert_int_equal(sinsp_format_new(&fmt, format, NULL, &err), 0);
	while ((r = sinsp_next(s, &evt, -1)) == 1)
		if ((all && !evt_is_enter(evt.raw.type)) || evt.raw.type == EVT_MARKER_E ||
		    evt.raw.type == EVT_MARKER_X)
			assert_true(sinsp_format_line(fmt, &out, &evt) >= 0);
	assert_int_equal(r, -ENODATA);
	assert_int_equal(out.len, strlen(want));
	assert_memory_equal(out.p ? out.p : "", want, out.len);
	free(out.p);
	sinsp_format_free(fmt);
	sinsp_close(s);
	return n_warnings;
}

static void spans_have_fields(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 11, ">:t:web.api:k=v,l=w:");
	writes(&w, 11, ">:p:in::");
	writes(&w, 11, "<:p:in::");
	writes(&w, 11, "<:t:web.api:r=0:");
	check(&w, of_span, 0,
	      "> 11 web.api k=v,l=w k=v,l=w <NA>\n"
	      "> 10 in   <NA>\n"
	      "< 10 in   1000\n"
	      "< 11 web.api r=0 k=v,l=w 3000\n");
}

static void parts_of_spans(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 10, ">:1:a.b:k=v,l=w:");
	writes(&w, 10, "<:1:a.b:r=0:");
	check(&w,
	      "*%span.ntags %span.nargs %span.tag[0] %span.tag[-1] %span.tag[2] %span.arg.l "
	      "%span.arg[0] %span.arg[-1] %span.arg.x %span.enterarg.k %span.duration.human",
	      0,
	      "2 2 a b <NA> w v w <NA> v <NA>\n"
	      "2 2 a b <NA> <NA> 0 0 <NA> v 1.00us\n");
	begin(&w);
	writes(&w, 10, ">:1:a.b::");
	writes(&w, 10, "<:1:a.b::");
	check(&w,
	      "%span.rawtime %span.count.fortag[0] %span.count.fortag[1] "
	      "%span.childcount.fortag[0] %span.childcount.fortag[1] %span.duration.fortag[1]",
	      0, "1001000 0 1 1 0 1000\n");
}

/* Equal spans nest; an exit without an enter has no duration; the thread of the exit may be
 * another.
 */
static void exits_find_enters(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 10, ">:1:a:n=1:");
	writes(&w, 10, ">:1:a:n=2:");
	writes(&w, 10, "<:2:a::");
	writes(&w, 10, "<:1:a.b::");
	writes(&w, 12, "<:1:a::");
	writes(&w, 10, "<:1:a::");
	writes(&w, 10, "<:1:a::");
	check(&w, of_span, 0,
	      "> 1 a n=1 n=1 <NA>\n"
	      "> 1 a n=2 n=2 <NA>\n"
	      "< 2 a  <NA> <NA>\n"
	      "< 1 a.b  <NA> <NA>\n"
	      "< 1 a  n=2 3000\n"
	      "< 1 a  n=1 5000\n"
	      "< 1 a  <NA> <NA>\n");
}

static void other_writes_are_none(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes_to(&w, 10, OTHER_FD, ">:1:a::", 7, 7);
	writes_to(&w, 10, NULL_FD, ">:1:a::", 7, I(-4));
	writes_to(&w, 10, NULL_FD, "", 0, I(0));
	writes_to(&w, 10, 99, ">:1:a::", 7, 7);
	writes(&w, 10, ">:1:a");
	writes(&w, 10, "text");
	check(&w, of_span, 0, "");
}

static void cut_markers_warn(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes_to(&w, 10, NULL_FD, ">:1:a:k=v,l=", 12, 100);
	writes_to(&w, 10, NULL_FD, ">:1:long", 8, 100);
	assert_int_equal(check(&w, of_span, 0, "> 1 a k=v k=v <NA>\n"), 1);
}

/* The oldest of too many spans has no exit. */
static void spans_are_bounded(void **state)
{
	char text[64];
	struct world w;

	(void)state;
	begin(&w);
	for (int i = 0; i <= SINSP_SPANS_MAX; i++) {
		snprintf(text, sizeof(text), ">:%d:a::", i);
		writes(&w, 10, text);
	}
	writes(&w, 10, "<:0:a::");
	writes(&w, 10, "<:1:a::");
	check(&w, "%span.id %span.duration", 0, "1 4097000\n");
}

/* Each exit ends the span of its ID, in whatever order they come, and however often. */
static void spans_end_in_any_order(void **state)
{
	const int n = 3 * SINSP_SPANS_MAX; /* spans, of which 1000 are open at the same time */
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_TRACERS};
	struct sinsp_marker_stats st;
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	char text[64];
	struct world w;
	int n_ended = 0;

	(void)state;
	begin(&w);
	for (int i = 0; i < n + 1000; i++) {
		const int last = (i - 1000) ^ 7; /* eight in another order each time */

		snprintf(text, sizeof(text), ">:%d:a:k=%d:", i, i);
		if (i < n)
			writes(&w, 10, text);
		snprintf(text, sizeof(text), "<:%d:a::", last);
		if (i >= 1000)
			writes(&w, 12, text);
	}
	assert_int_equal(scap_fake_open(&src, w.f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while (sinsp_next(s, &evt, -1) == 1) {
		const struct sinsp_span *span = sinsp_spans_current(s->spans);

		if (evt.raw.type != EVT_MARKER_X)
			continue;
		assert_non_null(span);
		assert_int_equal(span->id, n_ended++ ^ 7);
		assert_int_equal(atoi(span->text + span->tags_sz + 2), span->id);
	}
	sinsp_marker_get_stats(s, &st);
	assert_int_equal(n_ended, n);
	assert_int_equal(st.n_evicted + st.n_unmatched + st.n_malformed, 0);
	assert_int_equal(sinsp_spans_count(s->spans), 0);
	sinsp_close(s);
}

/* A walk over few open spans does not pass those that have ended, whatever the order. */
static void walks_are_short(void **state)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_TRACERS};
	const struct sinsp_evt *ended = NULL;
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	char text[64];
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 12, ">:1:outer::");
	for (int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), ">:%d:a::", i);
		writes(&w, 10, text);
		snprintf(text, sizeof(text), "<:%d:a::", i - i % 2); /* every other one stays */
		if (i < 1000 || i % 2)
			writes(&w, 10, text);
	}
	for (int i = 1; i < 1000; i += 2) {
		snprintf(text, sizeof(text), "<:%d:a::", i);
		writes(&w, 10, text);
	}
	assert_int_equal(scap_fake_open(&src, w.f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	while (sinsp_next(s, &evt, -1) == 1) {
		uint32_t at = 0;

		if (evt.raw.type != EVT_MARKER_X)
			continue;
		ended = &evt;
		while (sinsp_spans_next(s->spans, &at, SPANS_ALL, 0))
			;
		assert_in_range(at, 1, 2 * sinsp_spans_count(s->spans) + 64);
	}
	assert_non_null(ended);
	sinsp_close(s);
}

/* A process with too many spans evicts its own, and another one evicts those of that process. */
static void processes_evict_their_own(void **state)
{
	char text[64];
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 12, ">:1:other::");
	for (int i = 0; i < 3 * SINSP_SPANS_MAX; i++) {
		snprintf(text, sizeof(text), ">:%d:a::", i);
		writes(&w, 10, text);
	}
	writes(&w, 12, "<:1:other::");
	writes(&w, 10, "<:12287:a::");
	check(&w, "%span.tags %span.duration", 0, "other 12289000\na 2000\n");
}

/* The texts of open spans, and the values of fields of an event in all of them, are bounded. */
static void memory_is_bounded(void **state)
{
	static const char big[SINSP_SPAN_TEXT_MAX - 2];
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_TRACERS};
	struct sinsp_format *fmt = NULL;
	struct sinsp_format_error err;
	struct sinsp_text out = {0};
	struct sinsp_evt evt;
	struct scap *src;
	struct sinsp *s;
	struct world w;
	size_t before;

	(void)state;
	begin(&w);
	for (int i = 0; i <= SINSP_SPANS_MAX; i++) {
		assert_int_equal(scap_fake_add(w.f, T0 + 2000 * i, 0, 10, EVT_MARKER_E, 3, I(i),
					       (const void *)"a", (size_t)2, (const void *)big,
					       i % 8 ? (size_t)2 : sizeof(big)),
				 0);
		w.now = T0 + 2000 * i;
		writes_to(&w, 10, OTHER_FD, "x", 1, 1);
	}
	assert_int_equal(scap_fake_open(&src, w.f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	assert_int_equal(sinsp_format_new(&fmt, "%evtin.span.id", NULL, &err), 0);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	while (sinsp_next(s, &evt, -1) == 1) {
		out.len = 0;
		assert_true(sinsp_format_line(fmt, &out, &evt) >= 0);
	}
	assert_in_range(mallinfo2().uordblks + mallinfo2().hblkhd - before, 0, 24 << 20);
	free(out.p);
	sinsp_format_free(fmt);
	sinsp_close(s);
}

/* A file that has the events gets none, and theirs may be malformed. */
static void files_have_events(void **state)
{
	static const char big[SINSP_SPAN_TEXT_MAX + 1];
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(scap_fake_add(w.f, T0, 0, 10, EVT_MARKER_E, 3, I(1), (const void *)"a",
				       (size_t)2, (const void *)"k\0v", (size_t)3),
			 0);
	writes(&w, 10, ">:2:b::");
	assert_int_equal(scap_fake_add(w.f, w.now, 0, 10, EVT_MARKER_E, 3, I(3), (const void *)"",
				       (size_t)0, (const void *)big, sizeof(big)),
			 0);
	assert_int_equal(scap_fake_add(w.f, w.now, 0, 10, EVT_MARKER_X, 1, I(3)), 0);
	assert_int_equal(scap_fake_add(w.f, w.now + 5, 0, 10, EVT_MARKER_X, 3, I(1),
				       (const void *)"a", (size_t)2, (const void *)"", (size_t)0),
			 0);
	check(&w, "%evt.dir %span.id %span.tags %span.duration", 0, "< 1 a 1005\n");
}

/* Transactions are open between their markers; the others are whole, with the time they give. */
static void spans_of_kindling(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 11, "kd-txid@ab!1!http!/a!");
	writes_to(&w, 11, OTHER_FD, "x", 1, 1);
	writes(&w, 11, "kd-span@1500!q!ab!");
	writes(&w, 11, "kd-span@1!1001000!q!ab!");
	writes(&w, 12, "kd-jf@1000500!1002500!12!f0!Park!t!2000!10!s!");
	writes(&w, 11, "kd-tm@11!long name of a thread!");
	writes(&w, 11, "kd-txid@cd!0!");
	writes(&w, 11, "kd-txid@ab!0!");
	check(&w, "*%evt.dir %span.id %span.tags %span.enterargs %span.rawtime %span.duration", 0,
	      "> 11 kd.tx.ab protocol=http,url=/a 1001000 <NA>\n"
	      "> 11 kd.span.q duration=1500,trace_id=ab 1001500 <NA>\n"
	      "< 11 kd.span.q duration=1500,trace_id=ab 1001500 1500\n"
	      "> 11 kd.span.q begin=1001000,trace_id=ab 1001000 <NA>\n"
	      "< 11 kd.span.q begin=1001000,trace_id=ab 1001000 3000\n"
	      "> 12 kd.jf.Park begin=1000500,end=1002500,lock=f0,thread=t,holder=10,stack=s "
	      "1000500 <NA>\n"
	      "< 12 kd.jf.Park begin=1000500,end=1002500,lock=f0,thread=t,holder=10,stack=s "
	      "1000500 2000\n"
	      "> 11 kd.tm name=long name of a thread 1006000 <NA>\n"
	      "< 11 kd.tm name=long name of a thread 1006000 0\n"
	      "< 11 kd.tx.cd <NA> <NA> <NA>\n"
	      "< 11 kd.tx.ab protocol=http,url=/a 1001000 7000\n");
	begin(&w);
	writes(&w, 11, "kd-txid@ab!1!");
	writes_to(&w, 11, OTHER_FD, "x", 1, 1);
	writes(&w, 11, "kd-txid@ab!0!");
	check(&w, "%evt.type %evtin.span.tag[2]", 1, "write ab\nwrite ab\n");
}

/* Times that cannot be are none: the span has that of its markers. Those of others do not count. */
static void times_are_checked(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 10, "kd-span@1!9000000!q!ab!");
	writes(&w, 10, "kd-span@9000000!q!ab!");
	writes(&w, 10, "kd-jf@0!5!10!f0!Park!");
	writes(&w, 10, ">:1:a:begin=5,end=7:");
	writes(&w, 10, "<:1:a::");
	writes(&w, 10, ">:1:kd:begin=5x,end=7:");
	writes(&w, 10, "<:1:kd::");
	check(&w, "%evt.dir %span.tags %span.duration", 0,
	      "< kd.span.q 0\n< kd.span.q 0\n< kd.jf.Park 0\n< a 1000\n< kd 1000\n");
}

static void events_are_in_spans(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	writes(&w, 11, ">:1:a.b:k=v:");
	writes(&w, 11, ">:2:c::");
	for (int64_t tid = 10; tid <= 13; tid++)
		writes_to(&w, tid, OTHER_FD, "x", 1, 1);
	writes(&w, 11, "<:1:a.b::");
	writes_to(&w, 11, OTHER_FD, "x", 1, 1);
	check(&w, "%thread.tid %evtin.span.m.tags, %evtin.span.m.arg.k", 1,
	      "11 a.b, v\n" /* the marker of the second span */
	      "10 a.b,c, v\n11 a.b,c, v\n12 a.b,c, v\n13 a.b,c, v\n"
	      "11 a.b,c, v\n"); /* the marker of the exit */
}

static void scopes_of_spans(void **state)
{
	static const char *const of[][2] = {
		{"%thread.tid %evtin.span.id", "11 1\n11 1\n"},
		{"%thread.tid %evtin.span.p.id", "10 1\n11 1\n11 1\n"},
		{"%thread.tid %evtin.span.s.id", "10 1\n11 1\n12 1\n11 1\n"},
		{"%thread.tid %evtin.span.m.id", "10 1\n11 1\n12 1\n13 1\n11 1\n"},
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		begin(&w);
		writes(&w, 11, ">:1:a::");
		for (int64_t tid = 10; tid <= 13; tid++)
			writes_to(&w, tid, OTHER_FD, "x", 1, 1);
		writes(&w, 11, "<:1:a::");
		writes_to(&w, 11, OTHER_FD, "x", 1, 1);
		check(&w, of[i][0], 1, of[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_have_fields),
		cmocka_unit_test(parts_of_spans),
		cmocka_unit_test(exits_find_enters),
		cmocka_unit_test(other_writes_are_none),
		cmocka_unit_test(cut_markers_warn),
		cmocka_unit_test(spans_are_bounded),
		cmocka_unit_test(files_have_events),
		cmocka_unit_test(events_are_in_spans),
		cmocka_unit_test(scopes_of_spans),
		cmocka_unit_test(spans_of_kindling),
		cmocka_unit_test(times_are_checked),
		cmocka_unit_test(spans_end_in_any_order),
		cmocka_unit_test(processes_evict_their_own),
		cmocka_unit_test(walks_are_short),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
