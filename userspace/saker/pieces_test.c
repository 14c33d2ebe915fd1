/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which container and user events each piece of a capture repeats. */
#include "testing/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"
#include "shared/events.h"

#define MANY 20000

static struct options opts = {.write = "f.scap", .piece_bytes = 1};

/* An event of this type with @text of @len bytes behind its header. */
static void tell(struct pieces *p, unsigned int type, const char *text, size_t len)
{
	struct ppm_evt_hdr *hdr = calloc(1, sizeof(*hdr) + len);
	const struct scap_evt evt = {.hdr = hdr, .type = (uint16_t)type};

	assert_non_null(hdr);
	hdr->len = (uint32_t)(sizeof(*hdr) + len);
	hdr->type = (uint16_t)type;
	memcpy(hdr + 1, text, len);
	assert_int_equal(pieces_note(p, &evt), 0);
	free(hdr);
}

static void tell_number(struct pieces *p, unsigned int type, int number)
{
	char text[16];

	tell(p, type, text, (size_t)snprintf(text, sizeof(text), "%d", number) + 1);
}

static const char *text_at(const struct pieces *p, size_t i)
{
	return (const char *)(p->repeated[i] + 1);
}

static void test_the_last_report_counts(void **state)
{
	struct pieces p;

	(void)state;
	pieces_init(&p, &opts);
	tell_number(&p, EVT_CONTAINER_E, 1);
	tell_number(&p, EVT_CONTAINER_E, 2);
	tell_number(&p, EVT_CONTAINER_E, 1);
	tell_number(&p, EVT_OPEN_X, 3);
	assert_int_equal(p.n_repeated, 2);
	assert_string_equal(text_at(&p, 0), "2");
	assert_string_equal(text_at(&p, 1), "1");
	pieces_fini(&p);
}

/* Containers that come and go; the user was there before them. */
static void test_many(void **state)
{
	char last[16];
	struct pieces p;

	(void)state;
	pieces_init(&p, &opts);
	tell_number(&p, EVT_USERADDED_E, 7);
	for (int i = 0; i < MANY; i++)
		tell_number(&p, EVT_CONTAINER_E, i);
	assert_true(p.n_repeated > 1000 && p.n_repeated <= PIECES_REPEATED_MAX);
	snprintf(last, sizeof(last), "%d", MANY - 1);
	assert_string_equal(text_at(&p, p.n_repeated - 1), last);
	assert_string_equal(text_at(&p, 0), "7");
	pieces_fini(&p);
}

static void test_large(void **state)
{
	const size_t len = 1u << 20;
	char *text = calloc(1, len);
	size_t bytes = 0;
	struct pieces p;

	(void)state;
	assert_non_null(text);
	pieces_init(&p, &opts);
	for (char i = 0; i < 40; i++) {
		text[0] = i;
		tell(&p, EVT_CONTAINER_E, text, len);
	}
	for (size_t i = 0; i < p.n_repeated; i++)
		bytes += p.repeated[i]->len;
	assert_int_equal(bytes, p.repeated_bytes);
	assert_true(p.n_repeated > 10 && bytes <= PIECES_REPEATED_BYTES);
	assert_int_equal(*text_at(&p, p.n_repeated - 1), 39);
	pieces_fini(&p);
	free(text);
}

/* A piece is over a second after its begin, or that much before it: the clock was set back. */
static void test_time_that_goes_back(void **state)
{
	const uint64_t s = 1000000000;
	struct options of_time = {.write = "f.scap", .piece_ns = s};
	struct pieces p;

	(void)state;
	pieces_init(&p, &of_time);
	p.n_events = 1;
	p.slice_ns = 100 * s;
	assert_false(pieces_due(&p, 101 * s - 1, 0));
	assert_true(pieces_due(&p, 101 * s, 0));
	assert_false(pieces_due(&p, 99 * s, 0));
	assert_true(pieces_due(&p, 99 * s - 1, 0));
	pieces_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_report_counts),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_time_that_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
