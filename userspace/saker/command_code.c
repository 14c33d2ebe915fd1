/* SPDX-License-Identifier: Apache-2.0 */
#include "command_code.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "objfile/elf_file.h"
#include "program_path.h"
#include "signals.h"

enum {
	SCRIPTS_MAX = 4, /* a script's program may be a script, as for the kernel */
	HASHBANG_MAX = 256, /* BINPRM_BUF_SIZE */
	LIBRARIES_MAX = 512,
	LIST_S = 1,
};

/* Libraries that a program opens by itself as it starts, by one that it is linked with. */
static const struct opened_library {
	const char *linked; /* the end of its path */
	const char *opened; /* from its folder */
} opened_libraries[] = {
	{"/libjli.so", "server/libjvm.so"}, /* the launcher of Java */
};

/* The pages are not read: a mapping of any length names the file. */
static void map_file(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size)
		(void)mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

static void map_path(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	map_file(fd);
	close(fd);
}

/* Returns the descriptor of @path with its first bytes, or -1. */
static int open_head(const char *path, char head[HASHBANG_MAX])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd < 0 ? 0 : pread(fd, head, HASHBANG_MAX - 1, 0);

	head[n < 0 ? 0 : n] = 0;
	return fd;
}

/* Returns the program that runs the script whose first line is @line, which is modified: env(1)
 * runs the one that it finds. The caller frees it. NULL: none. */
static char *program_of_script(char *line)
{
	char *at, *word = strtok_r(line, " \t\n", &at), *name, *path;

	if (!word)
		return NULL;
	name = strrchr(word, '/');
	if (!name || strcmp(name, "/env") != 0)
		return strdup(word);
	while ((word = strtok_r(NULL, " \t\n", &at)) && (*word == '-' || strchr(word, '=')))
		;
	return word && !program_path_find(word, &path) ? path : NULL;
}

/* Opens the program that runs @path, itself or for its scripts. Returns -1 if there is none. */
static int open_program(char path[PATH_MAX])
{
	char head[HASHBANG_MAX], *next;

	for (int i = 0; i <= SCRIPTS_MAX; i++) {
		const int fd = open_head(path, head);

		if (fd < 0 || memcmp(head, ELFMAG, SELFMAG) == 0)
			return fd;
		close(fd);
		next = memcmp(head, "#!", 2) == 0 ? program_of_script(head + 2)
						  : strdup(_PATH_BSHELL);
		if (!next)
			return -1;
		snprintf(path, PATH_MAX, "%s", next);
		free(next);
	}
	return -1;
}

/* Sets @loader to the path of the program's loader; "": none. */
static void find_loader(int fd, char loader[PATH_MAX])
{
	const struct elf_segment *v;
	struct elf_file *f;
	size_t n;

	*loader = 0;
	if (elf_file_open(&f, fd))
		return;
	n = elf_file_segments(f, &v);
	for (size_t i = 0; i < n; i++)
		if (v[i].type == PT_INTERP && v[i].file_sz < PATH_MAX &&
		    !elf_file_read(f, loader, v[i].offset, v[i].file_sz))
			loader[v[i].file_sz] = 0;
	elf_file_close(f);
}

static void map_library(const char *path)
{
	const size_t len = strlen(path), folder = (size_t)(strrchr(path, '/') - path) + 1;
	char opened[PATH_MAX];

	map_path(path);
	for (size_t i = 0; i < sizeof(opened_libraries) / sizeof(*opened_libraries); i++) {
		const struct opened_library *l = &opened_libraries[i];
		const size_t end = strlen(l->linked);

		if (len < end || strcmp(path + len - end, l->linked) != 0)
			continue;
		snprintf(opened, sizeof(opened), "%.*s%s", (int)folder, path, l->opened);
		map_path(opened);
	}
}

/* Lines of the loader's list are "name => path (address)", or "path (address)". */
static void map_libraries(FILE *list)
{
	char line[PATH_MAX + 64], *path, *end;

	for (int i = 0; i < LIBRARIES_MAX && fgets(line, sizeof(line), list); i++) {
		path = strchr(line, '/');
		end = path ? strstr(path, " (0x") : NULL;
		if (!end)
			continue;
		*end = 0;
		end = strstr(path, " => /");
		map_library(end ? end + strlen(" => ") : path);
	}
}

__attribute__((noreturn)) static void list_libraries(const char *loader, const char *program,
						     int to)
{
	const int null = open(_PATH_DEVNULL, O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, 0) < 0 || dup2(to, 1) < 0 || dup2(null, 2) < 0)
		_exit(1);
	signals_as_inherited();
	alarm(LIST_S); /* a file system may not answer */
	unsetenv("LD_AUDIT");
	unsetenv("LD_DEBUG");
	unsetenv("LD_DEBUG_OUTPUT");
	execl(loader, loader, "--list", program, NULL);
	_exit(1);
}

/* Asks the loader itself: what it would map depends on its settings. It runs no code of the
 * program. To it, $ORIGIN is the folder of the file, not of a link to it. */
static void map_by_loader(const char *loader, const char *path)
{
	char program[PATH_MAX];
	int ends[2];
	FILE *list;
	pid_t pid;

	if (!realpath(path, program) || pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		list_libraries(loader, program, ends[1]);
	close(ends[1]);
	list = pid > 0 ? fdopen(ends[0], "r") : NULL;
	if (list) {
		map_libraries(list);
		fclose(list);
	} else {
		close(ends[0]);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void command_code_map(const char *path)
{
	char program[PATH_MAX], loader[PATH_MAX];
	int fd;

	snprintf(program, sizeof(program), "%s", path);
	fd = open_program(program);
	if (fd < 0)
		return;
	map_file(fd);
	find_loader(fd, loader);
	close(fd);
	if (!*loader)
		return;
	map_path(loader);
	map_by_loader(loader, program);
}
