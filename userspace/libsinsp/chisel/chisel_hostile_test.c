/* SPDX-License-Identifier: Apache-2.0 */
/* Hostile chisels: each ends with a message or does nothing, and frees all memory (checked by
 * sanitizers). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chisel.h"
#include "fields/text_test.h"

static char dir[] = "/tmp/saker-hostile-XXXXXX";
static char said[4096];

static void note(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx, (void)level;
	if (!*said)
		snprintf(said, sizeof(said), "%s", text);
}

static void end_hung(const char *name)
{
	(void)name;
	_exit(3);
}

static void write_chisel(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.lua", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int live(struct sinsp_chisel *c, const struct sinsp_evt *evt, const char *args)
{
	int err = sinsp_chisel_set_args(c, &args, !!args);

	err = err ?: sinsp_chisel_init(c);
	err = err ?: sinsp_chisel_begin(c);
	for (int i = 0; i < 3 && !err; i++) {
		err = sinsp_chisel_tick(c, evt);
		err = err ?: sinsp_chisel_event(c, evt);
	}
	return err ?: sinsp_chisel_end(c);
}

/* Returns the message about the chisel, or "". */
static const char *run_chisel(struct fixture *f, const char *text, const char *args)
{
	const struct scap_param params[] = {I64(3), TEXT("/etc/passwd"), U32(1), U32(0), U32(0)};
	const char *const dirs[] = {dir, NULL};
	struct sinsp_chisel_run run;
	struct sinsp_chisel *c = NULL;
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_OPEN_X, params, 5);
	int err;

	*said = '\0';
	write_chisel("h", text);
	sinsp_chisel_run_init(&run);
	run.dirs = dirs;
	run.out = fopen("/dev/null", "w");
	run.log = note;
	run.hung = end_hung;
	run.max_bytes = 100 << 20;
	run.max_instructions = 5000000;
	run.insp = f->s;
	err = sinsp_chisel_open(&c, &run, "h");
	err = err ?: live(c, &evt, args);
	sinsp_chisel_close(c);
	fclose(run.out);
	sinsp_chisel_run_fini(&run);
	if (err && !*said)
		fail_msg("nothing was said of: %s", text);
	return said;
}

static void test_each_ends_with_a_sentence(void **state)
{
	static const struct {
		const char *text, *said; /* ""; nothing */
	} rows[] = {
#include "hostile_chisels.def"
	};

	int n_wrong = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = run_chisel(*state, rows[i].text, NULL);

		if (*rows[i].said ? !!strstr(got, rows[i].said) : !*got)
			continue;
		print_error("%s: said '%s', not '%s'\n", rows[i].text, got, rows[i].said);
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

static void test_arguments(void **state)
{
	static const char text[] = "args = {{name = 'a', description = 'd'}} ";
	char more[200];

	snprintf(more, sizeof(more), "%s", text);
	assert_non_null(strstr(run_chisel(*state, more, "x"), "no on_set_arg"));
	snprintf(more, sizeof(more), "%sfunction on_set_arg() error({}) end", text);
	assert_non_null(strstr(run_chisel(*state, more, "x"), "the error value is a"));
	snprintf(more, sizeof(more), "%son_set_arg = setmetatable({}, {__call = error})", text);
	assert_non_null(strstr(run_chisel(*state, more, "x"), "no on_set_arg"));
}

/* A chisel that changes a module changes its own copy only. */
static void test_modules_are_their_own(void **state)
{
	assert_string_equal(
		run_chisel(*state,
			   "string.format = nil table.insert = nil _G.pairs = nil print = nil "
			   "require('common') format_bytes = nil package.loaded.common = nil",
			   NULL),
		"");
	assert_string_equal(run_chisel(*state,
				       "require('common') table.insert({}, format_bytes(2048)) "
				       "for k in pairs({1}) do print(string.format('%d', k)) end",
				       NULL),
			    "");
}

/* A library function without end: the chisel ends, but neither the program nor later chisels. */
static void test_what_does_not_come_back(void **state)
{
	static const char *const texts[] = {
		"string.rep('', 1e15)",
		"string.find(('a'):rep(30000), ('a-'):rep(8) .. 'b')",
		"table.move({}, 1, 1e15, 2)",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_non_null(
			strstr(run_chisel(*state, texts[i], NULL), "exceeded the time limit"));
		assert_string_equal(run_chisel(*state, "function on_event() end", NULL), "");
	}
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? fixture_open(state) : -1;
}

static int remove_dir(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/h.lua", dir);
	unlink(path);
	rmdir(dir);
	return fixture_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_does_not_come_back),
		cmocka_unit_test(test_each_ends_with_a_sentence),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_modules_are_their_own),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
