/* SPDX-License-Identifier: Apache-2.0 */
/* The user table: lookup, changes by events, limits. */
#include "user_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/intern.h"
#include "testing/test_main.h"

struct table {
	struct sinsp_users users;
	struct sinsp_strings st;
};

static void begin(struct table *t)
{
	memset(t, 0, sizeof(*t));
	assert_int_equal(sinsp_strings_init(&t->st), 0);
}

static void end(struct table *t)
{
	sinsp_users_fini(&t->users, &t->st);
	sinsp_strings_fini(&t->st);
}

static int report(struct table *t, const char *container, uint32_t uid, const char *name)
{
	const struct sinsp_name user = {.id = uid, .name = name, .home = "/", .shell = ""};

	return sinsp_users_report(&t->users, &t->st, container, SINSP_NAME_USER, &user);
}

static const char *name_of(const struct table *t, const char *container, uint32_t uid)
{
	const struct sinsp_name *user =
		sinsp_users_find(&t->users, container, SINSP_NAME_USER, uid);

	return user ? user->name : "-";
}

static void test_containers_have_their_own(void **state)
{
	struct table t;

	(void)state;
	begin(&t);
	assert_int_equal(report(&t, "", 7, "host7"), 0);
	assert_int_equal(report(&t, "0123456789ab", 7, "inside7"), 0);
	assert_string_equal(name_of(&t, "", 7), "host7");
	assert_string_equal(name_of(&t, "0123456789ab", 7), "inside7");
	assert_string_equal(name_of(&t, "ba9876543210", 7), "host7");
	assert_null(sinsp_users_find(&t.users, "", SINSP_NAME_GROUP, 7));
	assert_int_equal(report(&t, "0123456789ab", 7, NULL), 0);
	assert_string_equal(name_of(&t, "0123456789ab", 7), "-");
	assert_string_equal(name_of(&t, "", 7), "host7");
	end(&t);
}

/* The number of reported users and the length of texts are limited. */
static void test_is_bounded(void **state)
{
	char *text = malloc(60001);
	struct table t;
	int n = 0;

	(void)state;
	begin(&t);
	assert_non_null(text);
	memset(text, 'x', 60000);
	text[60000] = 0;
	assert_int_equal(report(&t, "", 0, text), 0);
	assert_int_equal(strlen(name_of(&t, "", 0)), SINSP_NAME_MAX);
	while (n <= SINSP_NAMES_REPORTED_MAX && !report(&t, "", 1000000 - n, "somebody"))
		n++;
	assert_int_equal(n, SINSP_NAMES_REPORTED_MAX - 1);
	assert_int_equal(report(&t, "", 1, "late"), -ENOSPC);
	assert_int_equal(report(&t, "", 1000000, "renamed"), 0);
	assert_string_equal(name_of(&t, "", 1000000), "renamed");
	assert_string_equal(name_of(&t, "", 1), "-");
	free(text);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers_have_their_own),
		cmocka_unit_test(test_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
