/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of statements with passwords. */
#include "sql_secrets.h"

#include <string.h>

#include "request.h"
#include "testing/test_main.h"

static char shown[1024];

/* In place of those of request.c, which need a connection. */
void req_add_text(struct request *r, enum req_text which, const void *p, size_t n)
{
	(void)r;
	assert_int_equal(which, REQ_STATEMENT);
	strncat(shown, p, n);
}

void req_set_text(struct request *r, enum req_text which, const void *p, size_t n)
{
	*shown = 0;
	req_add_text(r, which, p, n);
}

void req_set_string(struct request *r, enum req_text which, const char *text)
{
	req_set_text(r, which, text, strlen(text));
}

/* want NULL: all. */
static const struct row {
	enum sql_dialect dialect;
	const char *sql, *want;
} rows[] = {
	{SQL_PGSQL, "create role a password 'x' login", "create role a password '***' login"},
	{SQL_PGSQL, "alter role a password E'x\\'y' login", "alter role a password E'***'"},
	{SQL_PGSQL, "alter role a password U&'x' login", "alter role a password U&'***' login"},
	{SQL_PGSQL, "alter role a password'x'", "alter role a password'***'"},
	{SQL_PGSQL, "begin; alter role a password 'x'; select 'y'",
	 "begin; alter role a password '***'; select '***'"},
	{SQL_PGSQL, "do $a$ begin alter role a password 'x'; end $a$", "do '***'"},
	{SQL_PGSQL, "do $$it's$$; alter role a password 'x'",
	 "do $$it's$$; alter role a password '***'"},
	{SQL_PGSQL, "alter role a password $$x y$$ login", "alter role a password '***' login"},
	{SQL_PGSQL, "create subscription s connection 'host=h password=x' publication p",
	 "create subscription s connection '***' publication p"},
	{SQL_PGSQL, "update t set a = 'C:\\', b = 1, password = 'x'", "update t set a = '***'"},
	{SQL_PGSQL, "alter role a /* /* */ ' */ password 'x'",
	 "alter role a /* /* */ ' */ password '***'"},
	{SQL_PGSQL, "update \"users\" set \"password\" = 'x' where \"id\" = 1",
	 "update \"users\" set \"password\" = '***' where \"id\" = 1"},
	{SQL_PGSQL, "select * from users u where u.\"password\" = 'x'",
	 "select * from users u where u.\"password\" = '***'"},
	{SQL_PGSQL, "select \"password\", \"name\" from \"a\" where id = $1", NULL},
	{SQL_PGSQL, "select 'E' || 'y' from a where b = E'\\'z' and c = U&'w'", NULL},
	{SQL_PGSQL, "insert into a (name, password) values ('b', 'x')",
	 "insert into a (name, password) values ('***', '***')"},
	{SQL_PGSQL, "select dblink('host=h passwd=x')", "select dblink('***')"},
	{SQL_MYSQL, "alter user 'a'@'b' identified by 'x' replace \"y\"",
	 "alter user 'a'@'b' identified by '***' replace '***'"},
	{SQL_MYSQL, "alter user a identified by\"x\"", "alter user a identified by'***'"},
	{SQL_MYSQL, "update user set password = _utf8\"x\"",
	 "update user set password = _utf8'***'"},
	{SQL_MYSQL, "create user a identified with mysql_native_password as 0x1F",
	 "create user a identified with mysql_native_password as '***'"},
	{SQL_MYSQL, "change master to master_host='h', master_password = \"x\"",
	 "change master to master_host='h', master_password = '***'"},
	{SQL_MYSQL, "alter user a /*!80000 identified by 'x' */",
	 "alter user a /*!80000 identified by '***' */"},
	{SQL_MYSQL, "alter user a /*M!100100 identified by 'x' */",
	 "alter user a /*M!100100 identified by '***' */"},
	{SQL_MYSQL, "update t set n = 5--1, password = 'x'",
	 "update t set n = 5--1, password = '***'"},
	{SQL_MYSQL, "# it's\nalter user a identified by 'x'",
	 "# it's\nalter user a identified by '***'"},
	{SQL_MYSQL, "-- it's\nalter user a identified by 'x'",
	 "-- it's\nalter user a identified by '***'"},
	{SQL_MYSQL, "insert into `users` (`name`, `password`) values (\"bob\", \"x\")",
	 "insert into `users` (`name`, `password`) values ('***', '***')"},
	{SQL_MYSQL, "update users set password = concat('salt', \"x\")",
	 "update users set password = concat('***', '***')"},
	{SQL_MYSQL, "alter user a identified by \"x\\\" or so\"",
	 "alter user a identified by '***'"},
	{SQL_MYSQL, "alter user a identified by \"x", "alter user a identified by '***'"},
};

static void test_passwords(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		sql_set_statement(NULL, row->sql, strlen(row->sql), row->dialect);
		assert_string_equal(shown, row->want ?: row->sql);
	}
}

/* However a statement is cut, nothing of the password is in what is shown of it. */
static void test_cut_statements(void **state)
{
	static const char sql[] = "alter user a identified by 'qqqq' replace \"qqqq\" -- 'x";

	(void)state;
	for (size_t n = 0; n < sizeof(sql); n++) {
		sql_set_statement(NULL, sql, n, SQL_MYSQL);
		assert_null(strchr(shown, 'q'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passwords),
		cmocka_unit_test(test_cut_statements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
