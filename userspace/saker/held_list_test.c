// SPDX-License-Identifier: Apache-2.0
/* Tests which state events a list keeps: those that lead to the same state, and no more. */
#include "held_list.h"

#include <stdio.h>
#include <string.h>

#include "testing/test_main.h"

enum { ME = 100, OTHER = 101, CHILD = 200 };

struct fixture {
	struct held_list l;
	int64_t gone; /* a thread that is_gone */
};

/* Each event has its place in the list as its time. */
static void add_of(struct fixture *f, int64_t tid, struct held_what what)
{
	struct ppm_evt_hdr hdr = {.tid = (uint64_t)tid, .len = sizeof(hdr)};
	const struct scap_evt evt = {.hdr = &hdr, .ts_ns = f->l.n + 1};

	assert_int_equal(held_list_add(&f->l, &evt, &what), 0);
}

static void add(struct fixture *f, struct held_what what)
{
	add_of(f, ME, what);
}

static int is_gone(void *ctx, int64_t tid)
{
	return tid == ((struct fixture *)ctx)->gone;
}

static int print_time(void *ctx, const struct scap_evt *evt, const struct held_what *what)
{
	char *text = ctx;

	(void)what;
	sprintf(text + strlen(text), " %d", (int)evt->ts_ns);
	return 0;
}

static struct held_reducer *reducer; /* one for all lists, as in a capture */

/* @kept: the numbers of those that are left, from 1, each with a space before it. */
static void check(struct fixture *f, const char *kept)
{
	char text[256] = "";

	held_list_reduce(reducer, &f->l, is_gone, f);
	assert_int_equal(held_list_each(&f->l, print_time, text), 0);
	assert_string_equal(text, kept);
	held_list_clear(&f->l);
}

static struct held_what made(int64_t num)
{
	return (struct held_what){HELD_MAKES_FILE, num};
}

static struct held_what closed(int64_t num)
{
	return (struct held_what){HELD_ENDS_FILE, num};
}

static struct held_what thread(int64_t tid, int copies_files)
{
	return (struct held_what){HELD_MAKES_THREAD, tid, .copies_files = copies_files};
}

static void files_that_are_closed_leave_one_close(void **state)
{
	struct fixture f = {0};

	(void)state;
	add(&f, made(3));
	add(&f, closed(3));
	add(&f, made(3));
	add(&f, (struct held_what){HELD_CHANGES_FILE, 3});
	add(&f, closed(3));
	add(&f, made(3)); /* 6: stays open */
	add(&f, closed(4)); /* 7: was open before */
	check(&f, " 2 6 7");
}

static void an_enter_goes_with_its_exit(void **state)
{
	struct held_what in = made(3), end_in = closed(3);
	struct fixture f = {0};

	(void)state;
	in.with_next = end_in.with_next = 1;
	add(&f, in);
	add(&f, made(3));
	add(&f, end_in);
	add(&f, closed(3));
	add(&f, in);
	add(&f, made(3));
	check(&f, " 3 4 5 6");
}

static void a_copy_of_the_table_needs_what_is_closed_later(void **state)
{
	struct fixture f = {0};

	(void)state;
	add(&f, made(3));
	add(&f, thread(CHILD, 1));
	add(&f, closed(3));
	check(&f, " 1 2 3");

	f.gone = CHILD;
	add(&f, made(3));
	add(&f, thread(CHILD, 1));
	add(&f, closed(3));
	check(&f, " 3");
}

static void a_duplicate_needs_its_original(void **state)
{
	struct fixture f = {0};

	(void)state;
	add(&f, made(3));
	add(&f, (struct held_what){HELD_COPIES_FILE, 3, 1});
	add(&f, closed(3));
	check(&f, " 1 2 3");

	add(&f, made(3));
	add(&f, (struct held_what){HELD_COPIES_FILE, 3, 4, .is_new = 1});
	add(&f, closed(4));
	check(&f, " 1 3");

	/* dup2 to a number that was open: its close is of both. */
	add(&f, made(1));
	add(&f, made(3));
	add(&f, (struct held_what){HELD_COPIES_FILE, 3, 1});
	add(&f, closed(1));
	check(&f, " 2 4");
}

static void of_transfers_the_first_and_the_last_count(void **state)
{
	struct fixture f = {0};

	(void)state;
	for (int i = 0; i < 5; i++)
		add(&f, (struct held_what){HELD_IO, 3});
	add(&f, (struct held_what){HELD_IO, 4});
	check(&f, " 1 5 6");
}

static void of_facts_that_are_set_the_last_counts(void **state)
{
	struct fixture f = {0};

	(void)state;
	add(&f, (struct held_what){HELD_SETS, 0});
	add(&f, (struct held_what){HELD_OTHER});
	add(&f, (struct held_what){HELD_SETS, 0});
	check(&f, " 2 3");
}

static void threads_that_ended_leave_what_they_did(void **state)
{
	struct fixture f = {0};

	(void)state;
	add(&f, thread(OTHER, 0));
	add_of(&f, OTHER, (struct held_what){HELD_ENDS_THREAD, OTHER});
	check(&f, "");

	add(&f, thread(OTHER, 0));
	add_of(&f, OTHER, made(5));
	add_of(&f, OTHER, (struct held_what){HELD_ENDS_THREAD, OTHER});
	check(&f, " 1 2 3");

	/* Another event undoes its effect. */
	add(&f, made(3));
	add(&f, thread(OTHER, 0));
	add_of(&f, OTHER, (struct held_what){HELD_CHANGES_FILE, 3});
	add_of(&f, OTHER, (struct held_what){HELD_ENDS_THREAD, OTHER});
	add(&f, closed(3));
	check(&f, " 5");
}

static void a_thread_with_its_own_table_keeps_what_another_closes(void **state)
{
	struct fixture f = {0};

	(void)state;
	add(&f, made(3));
	add_of(&f, OTHER, (struct held_what){HELD_COPIES_FILES});
	add(&f, closed(3));
	check(&f, " 1 2 3");
}

static void an_end_can_be_taken_back(void **state)
{
	struct fixture f = {0};

	(void)state;
	add(&f, made(3));
	add(&f, (struct held_what){HELD_ENDS_THREAD, ME});
	add_of(&f, OTHER, (struct held_what){HELD_ENDS_THREAD, OTHER});
	held_list_drop_end(&f.l, ME);
	check(&f, " 1 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_are_closed_leave_one_close),
		cmocka_unit_test(an_enter_goes_with_its_exit),
		cmocka_unit_test(a_copy_of_the_table_needs_what_is_closed_later),
		cmocka_unit_test(a_duplicate_needs_its_original),
		cmocka_unit_test(of_transfers_the_first_and_the_last_count),
		cmocka_unit_test(of_facts_that_are_set_the_last_counts),
		cmocka_unit_test(threads_that_ended_leave_what_they_did),
		cmocka_unit_test(a_thread_with_its_own_table_keeps_what_another_closes),
		cmocka_unit_test(an_end_can_be_taken_back),
	};

	int failed;

	reducer = held_reducer_new();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	held_reducer_free(reducer);
	return failed;
}
