/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL: startup, simple and extended queries, errors, COPY. */
#include "requests_test.h"

/* A message: its type, its text with all but the last of the bytes behind it. */
struct msg {
	char type; /* 0: none, as in a startup */
	const char *p;
	size_t n;
};

#define MSG(type, text)                                                                            \
	{                                                                                          \
		type, text, sizeof(text) - 1                                                       \
	}
#define MAX_SAID 24

struct talked {
	char bytes[MAX_SAID][512];
	struct say said[MAX_SAID + 1];
	unsigned int n;
};

/* Adds one call of this end with the messages. */
static void add(struct talked *t, char from, const struct msg *m, unsigned int count)
{
	char *at = t->bytes[t->n];

	assert_true(t->n < MAX_SAID);
	for (; count; count--, m++) {
		const size_t len = m->n + 4;

		if (m->type)
			*at++ = m->type;
		*at++ = 0;
		*at++ = 0;
		*at++ = (char)(len >> 8);
		*at++ = (char)len;
		memcpy(at, m->p, m->n);
		at += m->n;
	}
	t->said[t->n] = (struct say){from, t->bytes[t->n], (size_t)(at - t->bytes[t->n])};
	t->n++;
}

#define SAY(t, from, ...)                                                                          \
	do {                                                                                       \
		static const struct msg m_[] = {__VA_ARGS__};                                      \
		add(t, from, m_, sizeof(m_) / sizeof(m_[0]));                                      \
	} while (0)

#define READY MSG('Z', "I")

static void say_startup(struct talked *t)
{
	SAY(t, 'c', MSG(0, "\0\3\0\0user\0ann\0database\0shop\0\0"));
	SAY(t, 's', MSG('R', "\0\0\0\3"));
	SAY(t, 'c', MSG('p', "secret\0"));
	SAY(t, 's', MSG('R', "\0\0\0\0"), MSG('S', "a\0b\0"), MSG('K', "12345678"), READY);
}

static void simple_queries_end(void **state)
{
	static struct talked t;

	(void)state;
	say_startup(&t);
	SAY(&t, 'c', MSG('Q', "select * from \"public\".\"item\" where id = 1\0"));
	SAY(&t, 's', MSG('T', "\0\0"), MSG('D', "\0\0"), MSG('C', "SELECT 1\0"), READY);
	SAY(&t, 'c', MSG('Q', "insert into nothing values (1)\0"));
	SAY(&t, 's', MSG('E', "SERROR\0C42P01\0Mno such table\0\0"), READY);
	SAY(&t, 'c', MSG('Q', "copy t from stdin\0"));
	SAY(&t, 's', MSG('G', "\0\0\0"));
	SAY(&t, 'c', MSG('d', "1\t2\n"), MSG('d', "3\t4\n"), MSG('c', ""));
	SAY(&t, 's', MSG('C', "COPY 2\0"), READY);
	SAY(&t, 's', MSG('A', "\0\0\0\1ch\0hi\0"));
	SAY(&t, 'c', MSG('X', ""));
	talk_check(t.said, 5432,
		   "pgsql STARTUP shop - 44/46\npgsql SELECT public.item - 48/34\n"
		   "pgsql INSERT nothing - 36/41 42P01\npgsql COPY t - 46/26\n"
		   "pgsql oneway TERMINATE - - 5/0\n");
}

static void extended_queries_end(void **state)
{
	static struct talked t;

	(void)state;
	say_startup(&t);
	/* A statement is prepared, and executed twice. */
	SAY(&t, 'c', MSG('P', "s1\0update item set n = $1\0\0\0"), MSG('S', ""));
	SAY(&t, 's', MSG('1', ""), READY);
	SAY(&t, 'c', MSG('B', "\0s1\0\0\0\0\0\0\0"), MSG('D', "P\0"), MSG('E', "\0\0\0\0\0"),
	    MSG('S', ""));
	SAY(&t, 's', MSG('2', ""), MSG('n', ""), MSG('C', "UPDATE 1\0"), READY);
	/* Two in one batch; the second fails, and the third is skipped. */
	SAY(&t, 'c', MSG('B', "\0s1\0\0\0\0\0\0\0"), MSG('E', "\0\0\0\0\0"),
	    MSG('P', "\0delete from a\0\0\0"), MSG('B', "\0\0\0\0\0\0\0\0"), MSG('E', "\0\0\0\0\0"),
	    MSG('B', "\0s1\0\0\0\0\0\0\0"), MSG('E', "\0\0\0\0\0"), MSG('S', ""));
	SAY(&t, 's', MSG('2', ""), MSG('C', "UPDATE 1\0"), MSG('1', ""),
	    MSG('E', "C23503\0Mno\0\0"), READY);
	/* A statement that was prepared before. */
	SAY(&t, 'c', MSG('B', "\0old\0\0\0\0\0\0\0"), MSG('E', "\0\0\0\0\0"), MSG('S', ""));
	SAY(&t, 's', MSG('2', ""), MSG('C', "SELECT 1\0"), READY);
	talk_check(
		t.said, 5432,
		"pgsql STARTUP shop - 44/46\npgsql PARSE item - 38/11\npgsql UPDATE item - 37/30\n"
		"pgsql UPDATE item - 25/19\npgsql DELETE a - 45/22 23503\n"
		"pgsql UPDATE item - 30/6 skipped\npgsql EXECUTE - - 31/25\n");
}

static void encryption_is_refused_or_follows(void **state)
{
	static struct talked t, u;

	(void)state;
	SAY(&t, 'c', MSG(0, "\4\xd2\x16\x2f"));
	t.said[t.n++] = (struct say){'s', "N", 1};
	say_startup(&t);
	talk_check(t.said, 5432, "pgsql SSLREQUEST - - 8/1\npgsql STARTUP shop - 44/46\n");
	SAY(&u, 'c', MSG(0, "\4\xd2\x16\x2f"));
	u.said[u.n++] = (struct say){'s', "S", 1};
	u.said[u.n++] = (struct say){'c', "\x16\3\1\0\2\1\0", 7};
	u.said[u.n++] = (struct say){'s', "\x16\3\3\0\2\2\0", 7};
	talk_check(u.said, 5432, "pgsql SSLREQUEST - - 8/1\ntls - - - 7/7\n");
}

static void check_secret(const struct sinsp_evt *evt)
{
	assert_null(strstr(talk_text(evt, REQUEST_P_STATEMENT), "cret"));
	assert_non_null(strstr(talk_text(evt, REQUEST_P_STATEMENT), "password '***'"));
}

static void passwords_are_not_shown(void **state)
{
	static struct talked t;
	const struct talk_opts o = {.port = 5432};
	char got[500];

	(void)state;
	SAY(&t, 'c', MSG('Q', "create role r password 'se''cret' login\0"),
	    MSG('Q', "alter user r password $$cret s$$\0"));
	SAY(&t, 's', MSG('C', "CREATE ROLE\0"), READY, MSG('C', "ALTER ROLE\0"), READY);
	/* A statement that replaces a longer one, which Parse had. */
	SAY(&t, 'c', MSG('P', "a\0alter role r password 'cret'\0\0\0"), MSG('S', ""));
	SAY(&t, 's', MSG('1', ""), READY);
	SAY(&t, 'c', MSG('P', "\0select 'some text that is longer than the one behind it'\0\0\0"),
	    MSG('B', "\0a\0\0\0\0\0\0\0"), MSG('E', "\0\0\0\0\0"), MSG('S', ""));
	SAY(&t, 's', MSG('C', "ALTER ROLE\0"), READY);
	talk_requests(got, sizeof(got), t.said, &o, check_secret);
	assert_string_equal(got, "pgsql CREATE - - 45/23\npgsql ALTER - - 38/22\n"
				 "pgsql PARSE - - 43/11\npgsql ALTER - - 94/22\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_queries_end),
		cmocka_unit_test(extended_queries_end),
		cmocka_unit_test(encryption_is_refused_or_follows),
		cmocka_unit_test(passwords_are_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
