/* SPDX-License-Identifier: Apache-2.0 */
/* Files that binutils make and read: what they say of a file is what is found in it. */
#include "testing/test_main.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dwarf_lines.h"
#include "elf_symbols.h"
#include "line_server.h"
#include "objfile/debug_file.h"
#include "objfile/elf_file.h"
#include "objfile/elf_functions.h"
#include "objfile/helper_process.h"
#include "seal_process.h"
#include "symbol_file.h"

static char dir[] = "/tmp/saker-symbols-XXXXXX";

static const char source[] =
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) void put_in(int i) { sink += i; }\n"
	"static __attribute__((noinline)) void hidden(int i)\n"
	"{\n"
	"	put_in(i);\n"
	"	sink *= 3;\n"
	"}\n"
	"__attribute__((noinline)) void shown(int i) { hidden(i); sink++; }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	shown(argc);\n"
	"	return atoi(argv[0]) + (int)strlen(argv[0]);\n"
	"}\n";

static int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int sh(const char *fmt, ...)
{
	char cmd[2048];
	const int at = snprintf(cmd, sizeof(cmd), "cd %s && ", dir);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd + at, sizeof(cmd) - (size_t)at, fmt, ap);
	va_end(ap);
	return system(cmd);
}

static const char *in_dir(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static struct elf_file *open_elf(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *f;

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	close(fd);
	return f;
}

static struct symtab *load(const char *path, const char *debug)
{
	struct elf_file *f = open_elf(path), *d = debug ? open_elf(debug) : NULL;
	struct symtab *t;

	assert_int_equal(sinsp_elf_symbols_load(&t, f, d), 0);
	elf_file_close(f);
	elf_file_close(d);
	return t;
}

/* Each function that nm lists is found at its address, by a name that nm has there. */
static size_t compare_with_nm(const struct symtab *t, const char *args, const char *path)
{
	struct nm_row {
		unsigned long long addr;
		char type, name[512];
	} *v = NULL;
	size_t n = 0, n_checked = 0;
	char cmd[PATH_MAX + 64];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "nm --defined-only -n %s %s 2>/dev/null", args, path);
	f = popen(cmd, "r");
	assert_non_null(f);
	for (;;) {
		if (!(n & (n + 1))) /* at 0, 1, 3, 7: twice as many */
			v = realloc(v, 2 * (n + 1) * sizeof(*v));
		if (fscanf(f, "%llx %c %511s", &v[n].addr, &v[n].type, v[n].name) != 3)
			break;
		n++;
	}
	pclose(f);
	for (size_t i = 0; i < n; i++) {
		struct symtab_sym sym;
		size_t first;
		int same = 0;

		if (!strchr("tTwWi", v[i].type) || v[i].name[0] == '$')
			continue;
		/* A symbol without size and without a successor cannot be found. */
		if (!symtab_find(t, v[i].addr, &sym))
			continue;
		for (first = i; first && v[first - 1].addr == v[i].addr;)
			first--; /* nm sorts by address */
		for (size_t k = first; k < n && v[k].addr == v[i].addr && !same; k++)
			same = strncmp(v[k].name, sym.name, strcspn(v[k].name, "@")) == 0;
		/* A label inside of a function is named by the function. */
		assert_true(same || sym.addr < v[i].addr);
		n_checked += same;
	}
	free(v);
	return n_checked;
}

static int setup(void **state)
{
	FILE *f;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	f = fopen(in_dir("x.c"), "w");
	fputs(source, f);
	fclose(f);
	return sh("gcc -O1 -g -Wl,--build-id -Wl,-z,now -o x x.c && gcc -O1 -g -Wl,--build-id "
		  "-Wl,-z,lazy -o lazy x.c && objcopy --only-keep-debug x x.debug && "
		  "strip -o stripped x");
}

static int teardown(void **state)
{
	(void)state;
	return sh("rm -rf %s", dir);
}

static const char *name_at(const struct symtab *t, uint64_t addr)
{
	struct symtab_sym s;

	return symtab_find(t, addr, &s) ? s.name : "-";
}

/* Returns the address that nm has for a function. */
static uint64_t addr_of(const char *file, const char *name)
{
	unsigned long long addr = 0;
	char cmd[PATH_MAX];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "nm %s/%s | awk '$3 == \"%s\" { print $1 }'", dir, file, name);
	f = popen(cmd, "r");
	assert_int_equal(fscanf(f, "%llx", &addr), 1);
	pclose(f);
	return addr;
}

static void symtab_section(void **state)
{
	struct symtab *t = load(in_dir("x"), NULL);

	(void)state;
	assert_true(compare_with_nm(t, "", in_dir("x")) >= 6);
	assert_string_equal(name_at(t, addr_of("x", "hidden") + 1), "hidden");
	symtab_free(t);
}

static void plt(void **state)
{
	static const char *const files[] = {"x", "lazy"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct symtab *t = load(in_dir(files[i]), NULL);
		unsigned long long addr;
		char name[128];
		FILE *f;
		int n = 0;

		/* objdump names the entries in the code of main. */
		assert_int_equal(sh("objdump -d %s | sed -n 's/.*call *\\([0-9a-f]*\\) "
				    "<\\(.*@plt\\)>.*/\\1 \\2/p' | sort -u >calls",
				    files[i]),
				 0);
		f = fopen(in_dir("calls"), "r");
		while (fscanf(f, "%llx %127s", &addr, name) == 2) {
			assert_string_equal(name_at(t, addr), name);
			n++;
		}
		fclose(f);
		assert_true(n >= 2);
		symtab_free(t);
	}
}

static void separate_file(void **state)
{
	struct symtab *t = load(in_dir("stripped"), NULL);
	const uint64_t hidden = addr_of("x", "hidden");
	struct elf_file *f, *debug;
	char path[PATH_MAX];
	int fd;

	(void)state;
	assert_string_not_equal(name_at(t, hidden), "hidden");
	symtab_free(t);
	t = load(in_dir("stripped"), strcpy(path, in_dir("x.debug")));
	assert_string_equal(name_at(t, hidden), "hidden");
	symtab_free(t);
	/* By the debug link of the file, beside it and below it; a file that does not match is not
	 * used. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sh("objcopy --add-gnu-debuglink=x.debug stripped linked"), 0);
		strcpy(path, in_dir("linked"));
		f = open_elf(path);
		fd = debug_file_open(&debug, f, NULL, path);
		assert_true(fd >= 0);
		assert_true(sinsp_elf_has_symtab(debug));
		elf_file_close(debug);
		close(fd);
		assert_int_equal(sh("mkdir -p .debug && mv x.debug .debug/y && cp lazy x.debug"),
				 0);
		assert_int_equal(debug_file_open(&debug, f, NULL, path), -ENOENT);
		assert_int_equal(sh("mv .debug/y .debug/x.debug"), 0);
		fd = debug_file_open(&debug, f, NULL, path);
		assert_true(fd >= 0);
		elf_file_close(debug);
		close(fd);
		elf_file_close(f);
		assert_int_equal(sh("mv .debug/x.debug x.debug"), 0);
	}
}

static void mini_debug_info(void **state)
{
	struct symtab *t;

	(void)state;
	if (sh("command -v xz >/dev/null"))
		skip();
	assert_int_equal(
		sh("objcopy -S -K hidden x mini && "
		   "objcopy --only-keep-debug --strip-debug -K hidden x mini && xz -f -k mini && "
		   "objcopy --add-section .gnu_debugdata=mini.xz stripped packed"),
		0);
	t = load(in_dir("packed"), NULL);
	assert_string_equal(name_at(t, addr_of("x", "hidden")), "hidden");
	symtab_free(t);
}

/* Names that stay in the file: the same are found, in less memory than they take. */
static void many_names(void **state)
{
	struct symtab *t;
	struct elf_file *f;
	uint64_t addr;

	(void)state;
	assert_int_equal(
		sh("i=0; while [ $i -lt 3000 ]; do "
		   "n=a_name_that_is_long_enough_to_take_some_room_$i; "
		   "echo \".globl _$n; .type _$n,@function; .type __$n,@function; _$n: __$n: nop; "
		   "\\$local$i: nop; .size _$n,2; .size __$n,2\"; i=$((i+1)); done >many.s && "
		   "gcc -shared -nostdlib -o many many.s && cp many cut"),
		0);
	t = load(in_dir("many"), NULL);
	assert_true(compare_with_nm(t, "", in_dir("many")) >= 3000);
	addr = addr_of("many", "_a_name_that_is_long_enough_to_take_some_room_77");
	assert_string_equal(name_at(t, addr), "_a_name_that_is_long_enough_to_take_some_room_77");
	assert_string_equal(name_at(t, addr + 1),
			    "_a_name_that_is_long_enough_to_take_some_room_77");
	assert_true(symtab_bytes(t) < 3000 * 40);
	symtab_free(t);
	/* A file that is truncated while in use has no names. */
	f = open_elf(in_dir("cut"));
	assert_int_equal(sinsp_elf_symbols_load(&t, f, NULL), 0);
	elf_file_close(f);
	assert_int_equal(truncate(in_dir("cut"), 4096), 0);
	assert_string_equal(name_at(t, addr), "-");
	symtab_free(t);
}

static void of_the_machine(void **state)
{
	static const char *const files[] = {"/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6",
					    "/lib/x86_64-linux-gnu/libm.so.6"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct symtab *t;

		if (access(files[i], R_OK))
			continue;
		t = load(files[i], NULL);
		assert_true(compare_with_nm(t, "-D", files[i]) > 300);
		symtab_free(t);
	}
}

/* ---- lines ---- */

static int open_it(void *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Each byte of function hidden gives the line of addr2line, also through the helper process. */
static void lines(void **state)
{
	const uint64_t begin = addr_of("x", "hidden");
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	struct line_server *s = line_server_new(NULL);
	char path[PATH_MAX];
	int n_inlined = 0;

	(void)state;
	strcpy(path, in_dir("x"));
	for (uint64_t addr = begin; addr < begin + 16; addr++) {
		const size_t n = line_server_query(s, 7, open_it, path, addr, v, 1);
		char cmd[PATH_MAX + 64], function[256], where[256];
		FILE *f;

		assert_true(n > 0);
		snprintf(cmd, sizeof(cmd), "addr2line -fi -e %s %llx", path,
			 (unsigned long long)addr);
		f = popen(cmd, "r");
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(fscanf(f, "%255s %255[^\n]", function, where), 2);
			assert_string_equal(v[i].function, function);
			assert_int_equal(v[i].line, atoi(strrchr(where, ':') + 1));
			assert_non_null(strstr(v[i].file, "x.c"));
		}
		assert_int_equal(fscanf(f, "%255s", function), EOF);
		pclose(f);
		n_inlined += n > 1;
	}
	assert_true(n_inlined > 0);
	line_server_free(s);
}

static void without_lines(void **state)
{
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	struct line_server *s = line_server_new(NULL);
	char path[PATH_MAX];

	(void)state;
	strcpy(path, in_dir("stripped"));
	assert_int_equal(line_server_query(s, 1, open_it, path, 0x1139, v, 1), 0);
	assert_int_equal(line_server_query(s, 2, open_it, "/no/such/file", 0x1139, v, 1), 0);
	assert_int_equal(line_server_query(s, UINT32_MAX, open_it, path, 0x1139, v, 1), 0);
	strcpy(path, in_dir("x"));
	assert_true(line_server_query(s, 3, open_it, path, addr_of("x", "main"), v, 1) > 0);
	line_server_free(s);
	line_server_free(NULL);
}

/* ---- hostile files ---- */

static size_t read_all(const char *path, uint8_t **out)
{
	FILE *f = fopen(path, "r");
	size_t n;

	*out = malloc(1 << 20);
	n = fread(*out, 1, 1 << 20, f);
	fclose(f);
	return n;
}

static void look_into(const void *image, size_t sz)
{
	struct elf_file *f;
	struct symtab *t;
	struct symtab_sym sym;

	if (elf_file_open_image(&f, image, sz))
		return;
	if (!sinsp_elf_symbols_load(&t, f, NULL)) {
		for (uint64_t a = 0; a < 0x5000; a += 0x80)
			symtab_find(t, a, &sym);
		symtab_free(t);
	}
	elf_file_close(f);
}

/* Headers and tables with bytes changed, and the file cut anywhere. */
static void damaged(void **state)
{
	static const char *const files[] = {"x", "packed", "lazy"};

	(void)state;
	srand(11);
	for (size_t i = 0; i < 3; i++) {
		uint8_t *good, *bad;
		size_t sz;

		if (access(in_dir(files[i]), R_OK))
			continue;
		sz = read_all(in_dir(files[i]), &good);
		bad = malloc(sz);
		for (int round = 0; round < 1500; round++) {
			memcpy(bad, good, sz);
			for (int k = rand() % 8; k >= 0; k--) {
				const int where = rand() % 3;
				const size_t at = where == 0   ? (size_t)rand() % 1024
						  : where == 1 ? sz - 1 - (size_t)rand() % 4096
							       : (size_t)rand() % sz;

				bad[at] = rand() % 2 ? (uint8_t)rand() : 0xff;
			}
			look_into(bad, round % 5 ? sz : (size_t)rand() % sz);
		}
		free(good);
		free(bad);
	}
}

/* The process that reads lines may die of a file: that is all that happens. */
static void damaged_lines(void **state)
{
	struct line_server *s = line_server_new(NULL);
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX], bad_path[PATH_MAX];
	const uint64_t addr = addr_of("x", "hidden");
	uint8_t *good;
	size_t sz;

	(void)state;
	strcpy(path, in_dir("x"));
	strcpy(bad_path, in_dir("bad"));
	sz = read_all(path, &good);
	srand(5);
	for (uint32_t round = 0; round < 60; round++) {
		uint8_t *bad = malloc(sz);
		FILE *f = fopen(bad_path, "w");

		memcpy(bad, good, sz);
		for (int k = 0; k < 40; k++)
			bad[0x3000 + (size_t)rand() % (sz - 0x3000)] = (uint8_t)rand();
		fwrite(bad, 1, sz, f);
		fclose(f);
		free(bad);
		line_server_query(s, round + 1, open_it, bad_path, addr, v, 1);
	}
	free(good);
	line_server_free(s);
}

static int status_has(int pid, const char *line)
{
	char path[64], text[4096] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	return strstr(text, line) != NULL;
}

/* Whoever takes the process over by a file's bytes has nothing. */
static void line_server_has_no_rights(void **state)
{
	struct line_server *s = line_server_new(NULL);
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX];

	(void)state;
	strcpy(path, in_dir("x"));
	assert_true(line_server_query(s, 1, open_it, path, addr_of("x", "main"), v, 1) > 0);
	assert_true(status_has(line_server_pid(s), "\nCapEff:\t0000000000000000\n") || geteuid());
	assert_true(status_has(line_server_pid(s), "\nNoNewPrivs:\t1\n"));
#if SEAL_PROCESS_WHOLE
	assert_true(status_has(line_server_pid(s), "\nSeccomp:\t2\n"));
	if (!geteuid()) {
		assert_true(status_has(line_server_pid(s), "\nUid:\t65534\t65534\t65534\t65534\n"));
		assert_true(status_has(line_server_pid(s), "\nGid:\t65534\t65534\t65534\t65534\n"));
		assert_true(status_has(line_server_pid(s), "\nGroups:\t \n"));
	}
#endif
	line_server_free(s);
}

/* A slow file delays nothing: its lines are missing at first, and come later. */
static void late_lines(void **state)
{
	struct line_server *s = line_server_new(NULL);
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX];
	uint64_t addr;
	int n = -EAGAIN;

	(void)state;
	strcpy(path, in_dir("x"));
	addr = addr_of("x", "main");
	assert_true(line_server_query(s, 1, open_it, path, addr, v, 1) > 0);
	assert_int_equal(kill(line_server_pid(s), SIGSTOP), 0);
	for (uint32_t i = 0; i < 1000; i++) /* each would wait for seconds */
		assert_int_equal(line_server_query(s, 2 + i, open_it, path, addr, v, 0), -EAGAIN);
	assert_int_equal(kill(line_server_pid(s), SIGCONT), 0);
	for (int i = 0; i < 10000 && n == -EAGAIN; i++) {
		n = line_server_query(s, 1, open_it, path, addr, v, 0);
		usleep(1000);
	}
	assert_true(n > 0);
	assert_string_equal(v[n - 1].function, "main");
	line_server_free(s);
}

static void continue_later(int pid, int ms)
{
	if (fork())
		return;
	usleep((useconds_t)ms * 1000);
	kill(pid, SIGCONT);
	_exit(0);
}

static void count_file(void *ctx, uint32_t file, const char *reason)
{
	assert_true(*reason);
	((unsigned int *)ctx)[file]++;
}

/* A process that gets no CPU answers when it gets some: its own time counts. */
static void lines_of_a_process_without_cpu(void **state)
{
	const struct line_server_opts opts = {.answer_ms = 500, .wait_share = 1000};
	struct line_server *s = line_server_new(&opts);
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX];
	int status;

	(void)state;
	strcpy(path, in_dir("x"));
	assert_true(line_server_query(s, 1, open_it, path, addr_of("x", "main"), v, 1) > 0);
	assert_int_equal(kill(line_server_pid(s), SIGSTOP), 0);
	continue_later(line_server_pid(s), 1500);
	assert_true(line_server_query(s, 1, open_it, path, addr_of("x", "hidden"), v, 1) > 0);
	wait(&status);
	line_server_free(s);
}

static void burn(void)
{
	for (volatile int i = 0;; i++)
		;
}

static void block(void)
{
	for (;;)
		pause();
}

/* A process that never answers is given up, whether it works or not; its file is reported once. */
static void process_that_never_answers(void **state)
{
	const unsigned int hour_ms = 3600000;
	unsigned int n[3] = {0};
	const struct line_server_opts opts[] = {
		{count_file, n, 50, hour_ms, hour_ms, hour_ms, 10000, burn},
		{count_file, n, 50, hour_ms, hour_ms, hour_ms, 2, block},
	};
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX];

	(void)state;
	strcpy(path, in_dir("x"));
	for (size_t i = 0; i < 2; i++) {
		struct line_server *s = line_server_new(&opts[i]);

		for (uint64_t addr = 0; addr < 3; addr++)
			assert_int_equal(line_server_query(s, 1, open_it, path, addr, v, 1), 0);
		line_server_free(s);
	}
	assert_int_equal(n[1], 2);
}

static void end(void)
{
}

/* Each of the first files that make the process end is reported, and the last one for all others.
 */
static void process_that_ends(void **state)
{
	unsigned int n[41] = {0}, n_reported = 0;
	const struct line_server_opts opts = {.gave_up = count_file, .ctx = n, .serve = end};
	struct line_server *s = line_server_new(&opts);
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX];

	(void)state;
	strcpy(path, in_dir("x"));
	for (uint32_t i = 1; i <= 40; i++) {
		assert_int_equal(line_server_query(s, i, open_it, path, 1, v, 1), 0);
		n_reported += n[i];
	}
	assert_int_equal(n[1], 1);
	assert_int_equal(n[40], 0);
	assert_int_equal(n_reported, 10);
	line_server_free(s);
}

/* Answers with nothing, a millisecond of its CPU time later: the first number of @request is the
 * address. */
static void answer_slowly(void)
{
	uint64_t request[2];
	const uint32_t answer[2] = {0};
	int fd;

	while (helper_receive(HELPER_FD, request, sizeof(request), &fd) > 0) {
		const clock_t until = clock() + CLOCKS_PER_SEC / 1000;

		while (clock() < until)
			;
		if (helper_send(HELPER_FD, answer, sizeof(answer), -1))
			return;
	}
}

/* The answers about one file have a common limit; another file has its own. */
static void file_with_slow_answers(void **state)
{
	unsigned int n[3] = {0};
	const struct line_server_opts opts = {
		.gave_up = count_file, .ctx = n, .file_ms = 30, .serve = answer_slowly};
	struct line_server *s = line_server_new(&opts);
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX];
	uint64_t addr = 0;

	(void)state;
	strcpy(path, in_dir("x"));
	for (; !n[1] && addr < 1000; addr++)
		assert_int_equal(line_server_query(s, 1, open_it, path, addr, v, 1), 0);
	assert_in_range(addr, 2, 100);
	for (; addr < 200; addr++)
		assert_int_equal(line_server_query(s, 1, open_it, path, addr, v, 1), 0);
	assert_int_equal(line_server_pid(s), 0);
	assert_int_equal(line_server_query(s, 2, open_it, path, 1, v, 1), 0);
	assert_true(line_server_pid(s) > 0);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[2], 0);
	line_server_free(s);
}

/* Reads of many slow files share one time limit, which is reported once. */
static void files_with_slow_answers(void **state)
{
	enum { N = 5000, AFTER = 20 };
	static unsigned int n[N + AFTER];
	unsigned int n_reported = 0;
	const struct line_server_opts opts = {
		.gave_up = count_file, .ctx = n, .all_ms = 20, .serve = answer_slowly};
	struct line_server *s = line_server_new(&opts);
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	char path[PATH_MAX];

	(void)state;
	strcpy(path, in_dir("x"));
	for (uint32_t i = 0, end = N; i < end; i++) {
		assert_int_equal(line_server_query(s, i, open_it, path, 1, v, 1), 0);
		n_reported += n[i];
		if (n[i])
			end = i + AFTER;
	}
	assert_int_equal(n_reported, 1);
	line_server_free(s);
}

static unsigned int n_descriptors(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Files opened for reading lines are closed: any number of files can have lines. */
static void debug_is_closed(void **state)
{
	const struct symbol_where where = {.live = 1};
	const unsigned int before = n_descriptors();
	struct sinsp_code_file code = {.pid = -1};
	struct symbol_file *f;
	struct symtab_sym sym;
	size_t bytes = 0;
	uint64_t addr;
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(stat(in_dir("x"), &st), 0);
	code.id.ino = st.st_ino;
	code.path = in_dir("x");
	f = symbol_file_new(&code);
	fd = symbol_file_open_debug(f, &where);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(n_descriptors(), before);
	assert_true(symbol_file_find(f, &where, 0, &addr, &sym, &bytes) >= 0);
	assert_true(bytes > 0);
	fd = symbol_file_open_debug(f, &where);
	assert_true(fd >= 0);
	close(fd);
	assert_true(symbol_file_find(f, &where, 0, &addr, &sym, &bytes) >= 0);
	symbol_file_free(f);
	assert_int_equal(n_descriptors(), before);
}

/* Names that were stripped from a Go program are in its own table. */
static void go_table(void **state)
{
	struct symtab *t;
	uint64_t addr;

	(void)state;
	if (sh("command -v go && export GOCACHE=$PWD/cache GOFLAGS=-mod=mod GO111MODULE=off "
	       "HOME=$PWD && printf 'package main\n//go:noinline\nfunc deep(i int) { println(i) "
	       "}\nfunc main() { deep(1) }\n' >m.go && go build -ldflags=-w -o gofull m.go && "
	       "go build -ldflags='-s -w' -o gonone m.go && strip -s -o gobare gofull"))
		skip();
	t = load(in_dir("gonone"), NULL);
	assert_true(symtab_count(t) > 1000);
	symtab_free(t);
	t = load(in_dir("gobare"), NULL);
	addr = addr_of("gofull", "main.deep");
	assert_string_equal(name_at(t, addr), "main.deep");
	assert_string_equal(name_at(t, addr + 4), "main.deep");
	assert_string_equal(name_at(t, addr_of("gofull", "main.main")), "main.main");
	assert_string_equal(name_at(t, addr_of("gofull", "runtime.schedule")), "runtime.schedule");
	symtab_free(t);
}

/* Calls @fn for each of our functions, as listed by nm. */
static void each_function(const char *path, void (*fn)(void *ctx, uint64_t addr, uint64_t size),
			  void *ctx)
{
	unsigned long long addr, size;
	char cmd[PATH_MAX + 64], name[512], type;
	unsigned int n = 0;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "nm -S --defined-only %s", path);
	f = popen(cmd, "r");
	assert_non_null(f);
	while (fgets(cmd, sizeof(cmd), f)) {
		if (sscanf(cmd, "%llx %llx %c %511s", &addr, &size, &type, name) != 4 ||
		    (strcmp(name, "hidden") && strcmp(name, "shown") && strcmp(name, "main")))
			continue;
		fn(ctx, addr, size);
		n++;
	}
	pclose(f);
	assert_int_equal(n, 3);
}

static void check_function(void *ctx, uint64_t addr, uint64_t size)
{
	const uint64_t at[] = {addr, addr + size / 2, addr + size - 1};
	uint64_t start, found;

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(elf_functions_find(ctx, at[i], &start, &found), 1);
		assert_int_equal(start, addr);
		assert_int_equal(found, size);
	}
}

/* The start and end of functions in a stripped file. */
static void test_functions_of_stripped(void **state)
{
	struct elf_functions *t;
	struct elf_file *f;
	uint64_t start, size;

	(void)state;
	assert_int_equal(sh("gcc -O1 -o whole.out x.c && strip -o bare.out whole.out"), 0);
	f = open_elf(in_dir("bare.out"));
	assert_int_equal(elf_functions_open(&t, f), 0);
	each_function(in_dir("whole.out"), check_function, t);
	assert_int_equal(elf_functions_find(t, 0, &start, &size), 0);
	assert_int_equal(elf_functions_find(t, UINT64_MAX, &start, &size), 0);
	elf_functions_close(t);
	elf_file_close(f);
}

static size_t read_image(uint8_t *to, size_t room, const char *path)
{
	FILE *f = fopen(path, "r");
	const size_t n = f ? fread(to, 1, room, f) : 0;

	if (f)
		fclose(f);
	return n;
}

/* An address lies inside the function that is found for it, whatever the table contains. */
static void test_damaged_functions(void **state)
{
	static uint8_t image[1 << 16];
	const size_t sz = read_image(image, sizeof(image), in_dir("bare.out"));
	uint64_t start, size;
	uint32_t random = 1;

	(void)state;
	assert_true(sz > 0 && sz < sizeof(image));
	for (int round = 0; round < 3000; round++) {
		struct elf_functions *t;
		struct elf_file *f;

		random = random * 1664525 + 1013904223;
		image[(random >> 8) % sz] = (uint8_t)round;
		if (round % 100 == 0)
			read_image(image, sizeof(image), in_dir("bare.out"));
		if (elf_file_open_image(&f, image, sz))
			continue;
		if (!elf_functions_open(&t, f)) {
			for (uint64_t addr = 0x1000; addr < 0x1400; addr += 7)
				if (elf_functions_find(t, addr, &start, &size))
					assert_true(addr - start < size);
			elf_functions_close(t);
		}
		elf_file_close(f);
	}
}

/* @n headers of sections, all for the same bytes, behind a file's header. */
static void make_aliased(const char *path, uint64_t n, uint32_t type, uint64_t sz)
{
	Elf64_Ehdr h = {.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(h),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shoff = sizeof(h),
			.e_shnum = n < SHN_LORESERVE ? (uint16_t)n : 0};
	const Elf64_Shdr first = {.sh_size = n};
	const Elf64_Shdr s = {.sh_type = type,
			      .sh_offset = sizeof(h),
			      .sh_size = sz,
			      .sh_flags = SHF_EXECINSTR,
			      .sh_link = 1,
			      .sh_entsize = sizeof(Elf64_Sym)};
	FILE *f = fopen(path, "w");

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	assert_non_null(f);
	fwrite(&h, sizeof(h), 1, f);
	fwrite(&first, sizeof(first), 1, f);
	for (uint64_t i = 1; i < n && n <= 60000; i++)
		fwrite(&s, sizeof(s), 1, f);
	fflush(f);
	assert_int_equal(ftruncate(fileno(f), (off_t)(sizeof(h) + n * sizeof(s) + sz)), 0);
	fclose(f);
}

/* The sum over all sections counts, not what each of them takes. */
static void aliased_sections(void **state)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM, SHT_NOTE};
	char path[PATH_MAX];
	struct symtab *none;

	(void)state;
	strcpy(path, in_dir("aliased"));
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint8_t id[ELF_BUILD_ID_MAX];
		struct elf_file *f;
		struct symtab *t;

		make_aliased(path, 60000, types[i], 3 << 20);
		t = load(path, NULL);
		assert_true(symtab_paid(t) <= SYMTAB_MAX_WORK);
		assert_int_equal(symtab_paid(t) == SYMTAB_MAX_WORK, types[i] != SHT_NOTE);
		assert_int_equal(symtab_is_cut(t), types[i] != SHT_NOTE);
		symtab_free(t);
		f = open_elf(path);
		assert_int_equal(elf_file_build_id(f, id), -ENOENT);
		elf_file_close(f);
	}
	/* A million headers, all of them a hole in the file. */
	make_aliased(path, 1 << 20, SHT_SYMTAB, 1ull << 40);
	none = load(path, NULL);
	assert_int_equal(symtab_count(none), 0);
	symtab_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symtab_section),
		cmocka_unit_test(plt),
		cmocka_unit_test(separate_file),
		cmocka_unit_test(mini_debug_info),
		cmocka_unit_test(many_names),
		cmocka_unit_test(of_the_machine),
		cmocka_unit_test(lines),
		cmocka_unit_test(without_lines),
		cmocka_unit_test(damaged),
		cmocka_unit_test(damaged_lines),
		cmocka_unit_test(go_table),
		cmocka_unit_test(test_functions_of_stripped),
		cmocka_unit_test(test_damaged_functions),
		cmocka_unit_test(files_with_slow_answers),
		cmocka_unit_test(debug_is_closed),
		cmocka_unit_test(aliased_sections),
		cmocka_unit_test(line_server_has_no_rights),
		cmocka_unit_test(lines_of_a_process_without_cpu),
		cmocka_unit_test(process_that_never_answers),
		cmocka_unit_test(process_that_ends),
		cmocka_unit_test(file_with_slow_answers),
		cmocka_unit_test(late_lines),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
