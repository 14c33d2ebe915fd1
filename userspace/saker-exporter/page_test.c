/* SPDX-License-Identifier: Apache-2.0 */
/* Pages: as each format is printed, and for two servers at once, as after a reload. */
#include "page.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "testing/test_main.h"

enum { THREADS = 3, GETS = 20000 };

static struct pages *new_pages(void)
{
	const struct registry_opts opts = {.sz = sizeof(opts), .idle_ns = UINT64_MAX};
	struct registry *r;
	struct pages *ps;

	assert_int_equal(registry_new(&r, metric_rows, METRIC_MAX, &opts), 0);
	assert_int_equal(pages_new(&ps, r, NULL, NULL), 0);
	return ps;
}

static void test_a_page_is_kept_for_a_while(void **state)
{
	struct pages *ps = new_pages();
	const struct page *a, *b, *c;

	(void)state;
	a = pages_get(ps, EXPOSITION_TEXT, 1);
	b = pages_get(ps, EXPOSITION_TEXT, PAGE_MIN_AGE_NS);
	c = pages_get(ps, EXPOSITION_TEXT, PAGE_MIN_AGE_NS + 1);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_non_null(memmem(a->p, a->len, "saker_exporter_scrapes_total", 28));
	pages_put(b);
	pages_put(a);
	pages_put(c);
	pages_free(ps);
}

struct shared {
	struct pages *pages;
	uint64_t now_ns;
	int n_changed;
};

static uint64_t sum(const struct page *page)
{
	uint64_t h = page->len;

	for (size_t i = 0; i < page->len; i++)
		h = h * 31 + (unsigned char)page->p[i];
	return h;
}

static void *serve(void *ctx)
{
	struct shared *sh = ctx;

	for (int i = 0; i < GETS; i++) {
		const uint64_t now_ns = __atomic_add_fetch(&sh->now_ns, PAGE_MIN_AGE_NS / 2, 0);
		const struct page *page = pages_get(sh->pages, i % EXPOSITION_MAX, now_ns);
		const uint64_t before = page ? sum(page) : 0;

		if (!page || sum(page) != before)
			__atomic_add_fetch(&sh->n_changed, 1, 0);
		if (page)
			pages_put(page);
	}
	return NULL;
}

static void test_servers_share_pages(void **state)
{
	struct shared sh = {.pages = new_pages()};
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, serve, &sh), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(sh.n_changed, 0);
	pages_free(sh.pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_page_is_kept_for_a_while),
		cmocka_unit_test(test_servers_share_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
