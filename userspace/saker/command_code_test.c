// SPDX-License-Identifier: Apache-2.0
/* Tests which files are mapped before a command is executed. Each test is a process of its own. */
#include "command_code.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program_path.h"
#include "testing/test_main.h"

static char folder[] = "/tmp/command_code.XXXXXX";

/* Returns whether a file whose path ends with @end is mapped with its code. */
static int has_code_of(const char *end)
{
	char line[PATH_MAX + 128];
	FILE *f = fopen("/proc/self/maps", "r");
	int found = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const size_t len = strcspn(line, "\n"), n = strlen(end);

		line[len] = 0;
		found |= strstr(line, " r-xp ") && len >= n && strcmp(line + len - n, end) == 0;
	}
	fclose(f);
	return found;
}

static const char *path_in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *script(const char *name, const char *text)
{
	const char *path = path_in_folder(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

/* Maps the code of @path in a child. Returns a bit for each of @ends that it has mapped. */
static unsigned int mapped(const char *path, const char *const *ends)
{
	const pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		unsigned int bits = 0;

		command_code_map(path);
		for (int i = 0; ends[i]; i++)
			bits |= (unsigned int)has_code_of(ends[i]) << i;
		_exit((int)bits);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (unsigned int)WEXITSTATUS(status);
}

static void a_program_with_its_libraries(void **state)
{
	(void)state;
	/* The library is one that the test does not have itself. */
	assert_int_equal(mapped("/bin/ls", (const char *[]){"/ls", "/libselinux.so.1", NULL}), 3);
}

static void a_script_has_the_code_of_its_program(void **state)
{
	(void)state;
	const char *const sleep[] = {"/sleep", "/dash", NULL};

	assert_int_equal(mapped(script("plain", "#!/bin/sleep\n"), sleep), 1);
	assert_int_equal(mapped(script("env", "#!/usr/bin/env sleep\n"), sleep), 1);
	assert_int_equal(mapped(script("env-S", "#! /usr/bin/env -S A=b sleep 1\n"), sleep), 1);
	assert_int_equal(mapped(script("text", "sleep 1\n"), sleep), 2);
}

static void nothing_is_mapped_of_what_cannot_be_run(void **state)
{
	char text[PATH_MAX + 8];
	const char *const sleep[] = {"/sleep", NULL};

	(void)state;
	assert_int_equal(mapped("/nonexistent", sleep), 0);
	assert_int_equal(mapped(folder, sleep), 0);
	assert_int_equal(mapped(script("none", "#!"), sleep), 0);
	assert_int_equal(mapped(script("env-none", "#!/usr/bin/env\n"), sleep), 0);
	assert_int_equal(mapped(script("env-unknown", "#!/usr/bin/env no-such-program\n"), sleep),
			 0);
	snprintf(text, sizeof(text), "#!%s\n", path_in_folder("itself"));
	assert_int_equal(mapped(script("itself", text), sleep), 0);
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "#!/", 3);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(mapped(script("long", text), sleep), 0);
	memcpy(text,
	       "\x7f"
	       "ELF\2\1\1",
	       7);
	assert_int_equal(mapped(script("damaged", text), sleep), 0);
}

static void java_has_its_machine(void **state)
{
	char *java;

	(void)state;
	if (program_path_find("java", &java)) {
		puts("java is not installed");
		skip();
	}
	assert_int_equal(mapped(java, (const char *[]){"/server/libjvm.so", NULL}), 1);
	free(java);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"plain",    "env",         "env-S",  "text", "none",
					    "env-none", "env-unknown", "itself", "long", "damaged"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(path_in_folder(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_with_its_libraries),
		cmocka_unit_test(a_script_has_the_code_of_its_program),
		cmocka_unit_test(nothing_is_mapped_of_what_cannot_be_run),
		cmocka_unit_test(java_has_its_machine),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
