/* SPDX-License-Identifier: Apache-2.0 */
/* Complete files: whatever format of unwind information a file has, its rows are found. */
#include "testing/test_main.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "unwind/unwind_rows.h"

static char dir[] = "/tmp/unwind_rows_test.XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char cmd[128];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

/* Writes @text to @name in the directory. */
static void write_text(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int run(const char *cmd)
{
	char all[1024];

	snprintf(all, sizeof(all), "cd %s && { %s; } >log 2>&1", dir, cmd);
	return system(all);
}

static struct elf_file *open_file(const char *path)
{
	char all[512];
	struct elf_file *f;
	int fd;

	snprintf(all, sizeof(all), "%s%s%s", *path == '/' ? "" : dir, *path == '/' ? "" : "/",
		 path);
	fd = open(all, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	close(fd);
	return f;
}

static struct unwind_rows rows_of(const struct elf_file *f, const struct elf_file *debug)
{
	struct unwind_rows rows;

	assert_int_equal(unwind_rows_of_file(&rows, f, debug, NULL), 0);
	for (size_t i = 1; i < rows.n; i++)
		assert_true(rows.v[i - 1].pc < rows.v[i].pc);
	return rows;
}

static struct unwind_row row_at(const struct unwind_rows *rows, uint64_t offset)
{
	struct unwind_row found = {.kind = UNWIND_NONE};

	for (size_t i = 0; i < rows->n && rows->v[i].pc <= offset; i++)
		found = rows->v[i];
	return found;
}

static unsigned int kind_at(const struct unwind_rows *rows, uint64_t offset)
{
	return row_at(rows, offset).kind & UNWIND_KIND_MASK;
}

static size_t n_of_kind(const struct unwind_rows *rows, unsigned int kind)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		n += (rows->v[i].kind & UNWIND_KIND_MASK) == kind;
	return n;
}

/* Returns the address of function @name in the file. */
static uint64_t offset_of(const struct elf_file *f, const char *name)
{
	const struct elf_section *sym = elf_file_section(f, ".symtab");
	const struct elf_section *str = elf_file_section(f, ".strtab");
	struct elf_data syms, strs;
	uint64_t offset = UINT64_MAX;

	assert_non_null(sym);
	assert_int_equal(elf_file_section_copy(f, &syms, sym), 0);
	assert_int_equal(elf_file_section_copy(f, &strs, str), 0);
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= syms.sz; at += sizeof(Elf64_Sym)) {
		Elf64_Sym s;

		memcpy(&s, syms.data + at, sizeof(s));
		if (s.st_name < strs.sz && !strcmp((char *)strs.data + s.st_name, name))
			assert_int_equal(elf_file_offset_of(f, &offset, s.st_value), 0);
	}
	assert_int_not_equal(offset, UINT64_MAX);
	free(syms.data);
	free(strs.data);
	return offset;
}

static void expect_same(const struct unwind_rows *a, const struct unwind_rows *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->v, b->v, a->n * sizeof(*a->v));
}

static const char calls_c[] =
	"#include <stdio.h>\n"
	"int g(char *);\n"
	"int f(int n) { char b[3000]; b[n] = b[1] = 0; puts(b); return g(b) + b[n]; }\n"
	"int g(char *p) { return p[1]; }\n"
	"int main(int c, char **v) { (void)v; return f(c); }\n";

/* The linkage table, the entry without a caller, holes. */
static void test_program(void **state)
{
	struct unwind_rows rows;
	struct elf_file *f;
	uint64_t entry;

	(void)state;
	write_text("calls.c", calls_c);
	assert_int_equal(run("cc -O1 -fno-stack-protector -fcf-protection=none calls.c -o calls"),
			 0);
	f = open_file("calls");
	rows = rows_of(f, NULL);
	assert_true(n_of_kind(&rows, UNWIND_PLT) >= 1);
	assert_int_equal(elf_file_offset_of(f, &entry, elf_file_entry(f)), 0);
	assert_int_equal(kind_at(&rows, entry + 4), UNWIND_END);
	assert_int_equal(kind_at(&rows, offset_of(f, "f")), UNWIND_RSP);
	assert_int_equal(row_at(&rows, offset_of(f, "f")).cfa, 1);
	assert_int_equal(kind_at(&rows, 0), UNWIND_NONE);
	unwind_rows_fini(&rows);
	elf_file_close(f);
}

/* The same rows when no section's header is left, by the segment .eh_frame_hdr. */
static void test_without_sections(void **state)
{
	static const char *const paths[] = {"/proc/self/exe", "/bin/sh"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct elf_file *f = open_file(paths[i]), *stripped;
		struct unwind_rows rows = rows_of(f, NULL), again;
		struct elf_data d;
		Elf64_Ehdr h;

		assert_int_equal(elf_file_copy(f, &d, 0, elf_file_sz(f)), 0);
		memcpy(&h, d.data, sizeof(h));
		h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
		memcpy(d.data, &h, sizeof(h));
		assert_int_equal(elf_file_open_image(&stripped, d.data, d.sz), 0);
		again = rows_of(stripped, NULL);
		expect_same(&rows, &again);
		unwind_rows_fini(&rows);
		unwind_rows_fini(&again);
		elf_file_close(stripped);
		elf_file_close(f);
		free(d.data);
	}
}

/* A program at a fixed address, without .eh_frame_hdr: the section suffices. */
static void test_static(void **state)
{
	const struct elf_section *plt;
	struct unwind_rows rows;
	struct elf_file *f;

	(void)state;
	write_text("calls.c", calls_c);
	if (run("cc -O1 -static -no-pie -Wl,--no-eh-frame-hdr calls.c -o static"))
		skip(); /* no static libc */
	f = open_file("static");
	assert_null(elf_file_section(f, ".eh_frame_hdr"));
	rows = rows_of(f, NULL);
	assert_true(rows.n > 1000);
	assert_int_equal(kind_at(&rows, offset_of(f, "f")), UNWIND_RSP);
	assert_true(n_of_kind(&rows, UNWIND_SIGNAL) >= 1);
	/* Its linkage table, of jumps alone, by which it calls what the CPU has the best of. */
	plt = elf_file_section(f, ".plt");
	assert_non_null(plt);
	assert_int_equal(kind_at(&rows, plt->offset), UNWIND_RSP);
	assert_int_equal(kind_at(&rows, plt->offset + plt->sz - 1), UNWIND_RSP);
	assert_int_equal(kind_at(&rows, plt->offset - 1), UNWIND_NONE);
	unwind_rows_fini(&rows);
	elf_file_close(f);
}

/* Without .eh_frame, from .debug_frame in the file or in its separate debug file. */
static void test_debug_frame(void **state)
{
	struct unwind_rows rows, apart, none;
	struct elf_file *f, *bare, *debug;

	(void)state;
	write_text("only.c",
		   "int g(int n) { return n * 3; }\n"
		   "int f(int n) { volatile char b[200]; b[n] = 1; return g(n) + b[0]; }\n");
	assert_int_equal(run("cc -g -O1 -shared -nostdlib -fno-stack-protector -fPIC "
			     "-fno-asynchronous-unwind-tables -fno-exceptions only.c -o only.so && "
			     "objcopy --only-keep-debug only.so only.debug && "
			     "objcopy --strip-debug only.so bare.so"),
			 0);
	f = open_file("only.so");
	bare = open_file("bare.so");
	debug = open_file("only.debug");
	assert_non_null(elf_file_section(f, ".debug_frame"));
	rows = rows_of(f, NULL);
	none = rows_of(bare, NULL);
	apart = rows_of(bare, debug);
	assert_int_equal(kind_at(&rows, offset_of(f, "f")), UNWIND_RSP);
	assert_int_equal(kind_at(&none, offset_of(f, "f")), UNWIND_NONE);
	expect_same(&rows, &apart);
	unwind_rows_fini(&rows);
	unwind_rows_fini(&none);
	unwind_rows_fini(&apart);
	elf_file_close(f);
	elf_file_close(bare);
	elf_file_close(debug);
}

/* The code that a signal handler returns to, without unwind information, is recognized by its
 * bytes. Its row begins one byte before, where the return address is looked up. */
static void test_sigreturn_bytes(void **state)
{
	struct unwind_rows rows;
	struct elf_file *f;
	uint64_t at;

	(void)state;
	write_text("sig.s", ".globl f, restore, g\n.text\n"
			    "f: .cfi_startproc\n nop\n .cfi_endproc\n"
			    "restore: mov $15, %rax\n syscall\n"
			    ".fill 40, 1, 0x90\n"
			    "g: .cfi_startproc\n nop\n .cfi_endproc\n"
			    ".section .note.GNU-stack,\"\",@progbits\n");
	assert_int_equal(run("cc -shared -nostdlib sig.s -o sig.so"), 0);
	f = open_file("sig.so");
	rows = rows_of(f, NULL);
	at = offset_of(f, "restore");
	assert_int_equal(kind_at(&rows, at - 1), UNWIND_SIGNAL);
	assert_int_equal(kind_at(&rows, at + 8), UNWIND_SIGNAL);
	assert_int_equal(kind_at(&rows, at + 9), UNWIND_NONE);
	assert_int_equal(kind_at(&rows, offset_of(f, "g")), UNWIND_RSP);
	unwind_rows_fini(&rows);
	elf_file_close(f);
}

/* The same wherever it lies in code that is looked through in parts. */
static void test_sigreturn_far(void **state)
{
	struct unwind_rows rows;
	struct elf_file *f;

	(void)state;
	write_text("far.s", ".text\n.altmacro\n.macro gap n\n"
			    "f\\n: .cfi_startproc\n nop\n .cfi_endproc\n"
			    ".fill 262144 - 13 + \\n, 1, 0x90\n"
			    "restore\\n: mov $15, %rax\n syscall\n .fill 20, 1, 0x90\n.endm\n"
			    ".set i, 0\n.rept 16\ngap %i\n.set i, i + 1\n.endr\n"
			    "g: .cfi_startproc\n nop\n .cfi_endproc\n"
			    ".section .note.GNU-stack,\"\",@progbits\n");
	assert_int_equal(run("cc -shared -nostdlib far.s -o far.so"), 0);
	f = open_file("far.so");
	rows = rows_of(f, NULL);
	for (int i = 0; i < 16; i++) {
		char name[16];
		uint64_t at;

		snprintf(name, sizeof(name), "restore%d", i);
		at = offset_of(f, name);
		assert_int_equal(kind_at(&rows, at - 2), UNWIND_NONE);
		assert_int_equal(kind_at(&rows, at - 1), UNWIND_SIGNAL);
		assert_int_equal(kind_at(&rows, at + 8), UNWIND_SIGNAL);
		assert_int_equal(kind_at(&rows, at + 9), UNWIND_NONE);
	}
	unwind_rows_fini(&rows);
	elf_file_close(f);
}

/* Real code that aligns its stack needs the CFA that lies in memory. */
static void test_aligned_stack(void **state)
{
	struct unwind_rows rows;
	struct elf_file *f;

	(void)state;
	write_text("align.c", "#include <alloca.h>\nint g(void *, void *);\n"
			      "int f(int n) { char a[100] __attribute__((aligned(64)));\n"
			      " return g(a, alloca(n)) + a[n]; }\n");
	assert_int_equal(run("cc -O2 -shared -nostdlib -fPIC align.c -o align.so"), 0);
	f = open_file("align.so");
	rows = rows_of(f, NULL);
	/* gcc; clang has a frame pointer instead. */
	assert_true(n_of_kind(&rows, UNWIND_DEREF_RBP) || n_of_kind(&rows, UNWIND_RBP));
	unwind_rows_fini(&rows);
	elf_file_close(f);
}

/* The image that the kernel maps into every process. */
static void test_vdso(void **state)
{
	const uint8_t *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_rows rows;
	struct elf_file *f;
	Elf64_Ehdr h;

	(void)state;
	if (!image)
		skip();
	memcpy(&h, image, sizeof(h));
	assert_int_equal(elf_file_open_image(&f, image, h.e_shoff + h.e_shnum * sizeof(Elf64_Shdr)),
			 0);
	rows = rows_of(f, NULL);
	assert_true(rows.n > 3);
	assert_true(n_of_kind(&rows, UNWIND_RSP) >= 1);
	unwind_rows_fini(&rows);
	elf_file_close(f);
}

static void test_libc(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], path[256] = "";
	struct unwind_rows rows;
	struct elf_file *f;

	(void)state;
	assert_non_null(maps);
	while (!*path && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so"))
			sscanf(strchr(line, '/'), "%255s", path);
	fclose(maps);
	if (!*path)
		skip(); /* another libc, or none of its own */
	f = open_file(path);
	rows = rows_of(f, NULL);
	assert_true(rows.n > 10000);
	assert_true(n_of_kind(&rows, UNWIND_SIGNAL) >= 1);
	assert_true(n_of_kind(&rows, UNWIND_END) >= 1); /* clone */
	unwind_rows_fini(&rows);
	elf_file_close(f);
}

static void test_other_machine(void **state)
{
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_machine = EM_AARCH64};
	struct unwind_rows rows;
	struct elf_file *f;

	(void)state;
	assert_int_equal(elf_file_open_image(&f, &h, sizeof(h)), 0);
	assert_int_equal(unwind_rows_of_file(&rows, f, NULL, NULL), -ENOTSUP);
	elf_file_close(f);
}

/* A program by Go's compiler, stripped as they are. */
/* Before and after it the return address is at rsp. */
static void expect_switch(const struct unwind_rows *rows)
{
	size_t i = 0;

	while ((rows->v[i].kind & UNWIND_KIND_MASK) != UNWIND_GO_SWITCH)
		i++;
	for (size_t at = i - 1; at <= i + 1; at += 2) {
		assert_int_equal(rows->v[at].kind, UNWIND_RSP);
		assert_int_equal(rows->v[at].cfa, 1);
	}
	assert_true(UNWIND_GO_G_M(rows->v[i].cfa) && UNWIND_GO_CURG(rows->v[i].cfa) &&
		    UNWIND_GO_G_SP(rows->v[i].cfa));
	assert_int_equal(UNWIND_SAVED_RBP(rows->v[i].saved), 1);
}

static void test_go(void **state)
{
	struct unwind_rows rows;
	struct elf_file *f;

	(void)state;
	if (run("command -v go && export GOCACHE=$PWD/cache GOFLAGS=-mod=mod GO111MODULE=off "
		"HOME=$PWD && echo 'package main\nfunc main() { println(1) }' >m.go && "
		"go build -ldflags=-s -o go0 m.go && go build -o go1 m.go && "
		"go build -buildmode=pie -o go2 m.go"))
		skip();
	/* Without .debug_frame, and with one that has less. */
	for (int i = 0; i < 3; i++) {
		const char name[] = {'g', 'o', (char)('0' + i), '\0'};

		f = open_file(name);
		rows = rows_of(f, NULL);
		assert_true(rows.n > 1000);
		assert_true(n_of_kind(&rows, UNWIND_SIGNAL) >= 1);
		assert_true(n_of_kind(&rows, UNWIND_END) >= 4); /* goexit, mcall, ... */
		assert_int_equal(n_of_kind(&rows, UNWIND_GO_SWITCH), 1);
		expect_switch(&rows);
		unwind_rows_fini(&rows);
		elf_file_close(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_without_sections),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_sigreturn_bytes),
		cmocka_unit_test(test_sigreturn_far),
		cmocka_unit_test(test_aligned_stack),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_other_machine),
		cmocka_unit_test(test_go),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
