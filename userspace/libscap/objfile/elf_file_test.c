/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of ELF files: against readelf and sha256sum, and over files that are not what they
 * say. */
#include "testing/test_main.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "objfile/elf_file.h"

static struct elf_file *open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *f;

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	close(fd);
	return f;
}

static void run(char *out, size_t sz, const char *cmd)
{
	FILE *p = popen(cmd, "r");

	assert_non_null(p);
	assert_non_null(fgets(out, (int)sz, p));
	out[strcspn(out, "\n")] = '\0';
	assert_int_equal(pclose(p), 0);
}

static void hex(char *to, const uint8_t *id, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sprintf(to + 2 * i, "%02x", id[i]);
}

static void test_build_id(void **state)
{
	struct elf_file *f = open_path("/proc/self/exe");
	uint8_t id[ELF_BUILD_ID_MAX];
	char got[2 * ELF_BUILD_ID_MAX + 1] = "", want[256], cmd[64];
	int n = elf_file_build_id(f, id);

	(void)state;
	if (n > 0) { /* a linker may make none */
		hex(got, id, (size_t)n);
		snprintf(cmd, sizeof(cmd), "readelf -n /proc/%d/exe | sed -n 's/.*Build ID: //p'",
			 getpid());
		run(want, sizeof(want), cmd);
		assert_string_equal(got, want);
	}
	elf_file_close(f);
}

static void check_file_id(const char *path)
{
	struct elf_file *f = open_path(path);
	uint8_t id[ELF_FILE_ID_SZ];
	char got[2 * ELF_FILE_ID_SZ + 1], want[256], cmd[512];

	assert_int_equal(elf_file_id(f, id), 0);
	hex(got, id, sizeof(id));
	snprintf(cmd, sizeof(cmd),
		 "{ head -c 4096 %s; tail -c 4096 %s; printf %%016x $(stat -Lc %%s %s) | xxd -r "
		 "-p; } "
		 "| sha256sum | head -c 32",
		 path, path, path);
	run(want, sizeof(want), cmd);
	assert_string_equal(got, want);
	elf_file_close(f);
}

static void test_file_id(void **state)
{
	char path[] = "/tmp/elf_file_test.XXXXXX";
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT}};
	int fd = mkstemp(path);

	(void)state;
	if (system("command -v xxd >/dev/null"))
		skip();
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &h, sizeof(h)), sizeof(h));
	check_file_id(path); /* shorter than the parts that are taken */
	close(fd);
	unlink(path);
	check_file_id("/bin/sh");
}

static void test_sections_and_places(void **state)
{
	struct elf_file *f = open_path("/proc/self/exe");
	const struct elf_section *text = elf_file_section(f, ".text");
	const struct elf_segment *segments;
	struct elf_data d;
	uint64_t offset, vaddr;

	(void)state;
	assert_non_null(text);
	assert_null(elf_file_section(f, ".no_such"));
	assert_int_equal(elf_file_machine(f), EM_X86_64);
	assert_true(elf_file_segments(f, &segments) > 0);
	assert_int_equal(elf_file_offset_of(f, &offset, text->addr + 1), 0);
	assert_int_equal(offset, text->offset + 1);
	assert_int_equal(elf_file_vaddr_of(f, &vaddr, offset), 0);
	assert_int_equal(vaddr, text->addr + 1);
	assert_int_equal(elf_file_offset_of(f, &offset, UINT64_MAX), -ENOENT);
	assert_int_equal(elf_file_section_copy(f, &d, text), 0);
	assert_int_equal(d.sz, text->sz);
	free(d.data);
	assert_int_equal(elf_file_section_copy(f, &d, elf_file_section(f, ".bss")), -ENODATA);
	elf_file_close(f);
}

static struct elf_data whole(const char *path)
{
	struct elf_file *f = open_path(path);
	struct elf_data d;

	assert_int_equal(elf_file_copy(f, &d, 0, elf_file_sz(f)), 0);
	elf_file_close(f);
	return d;
}

/* Every query on a damaged image must end without a fault. */
static void ask_all(const uint8_t *image, size_t sz)
{
	const struct elf_section *v;
	uint8_t id[ELF_BUILD_ID_MAX];
	struct elf_file *f;
	struct elf_data d;
	uint64_t at;
	size_t n;

	if (elf_file_open_image(&f, image, sz))
		return;
	elf_file_build_id(f, id);
	elf_file_id(f, id);
	elf_file_offset_of(f, &at, 0x1000);
	elf_file_vaddr_of(f, &at, 0x1000);
	n = elf_file_sections(f, &v);
	for (size_t i = 0; i < n && i < 64; i++)
		if (!elf_file_section_copy(f, &d, &v[i]))
			free(d.data);
	elf_file_close(f);
}

static void test_cut_images(void **state)
{
	struct elf_data d = whole("/bin/true");
	struct elf_file *f;

	(void)state;
	for (size_t sz = 0; sz < d.sz; sz += sz < 1024 ? 1 : 509)
		ask_all(d.data, sz);
	assert_int_equal(elf_file_open_image(&f, d.data, 63), -ENOEXEC);
	assert_int_equal(elf_file_open_image(&f, "#!/bin/sh\n", 10), -ENOEXEC);
	free(d.data);
}

static void test_damaged_images(void **state)
{
	struct elf_data d = whole("/bin/true");
	const size_t sections_at = d.sz - 4096;
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint8_t *at;
		uint8_t was;

		seed = seed * 1664525 + 1013904223;
		at = d.data + (i % 2 ? (seed >> 8) % 1024 : sections_at + (seed >> 8) % 4096);
		was = *at;
		*at = (uint8_t)(seed >> 3);
		ask_all(d.data, d.sz);
		if (i % 7) /* others stay, and add up */
			*at = was;
	}
	free(d.data);
}

static void test_cut_under_our_feet(void **state)
{
	struct elf_data d = whole("/bin/true");
	int fd = memfd_create("elf_file_test", MFD_CLOEXEC);
	struct elf_file *f;
	uint8_t id[ELF_FILE_ID_SZ];
	struct elf_data text;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, d.data, d.sz), d.sz);
	assert_int_equal(elf_file_open(&f, fd), 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(elf_file_section_copy(f, &text, elf_file_section(f, ".text")), -ENODATA);
	assert_int_equal(elf_file_id(f, id), -ENODATA);
	elf_file_close(f);
	close(fd);
	free(d.data);
}

static void test_compressed_section(void **state)
{
	char path[] = "/tmp/elf_file_test.XXXXXX", cmd[256];
	const struct elf_section *s;
	struct elf_file *f;
	struct elf_data d;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(cmd, sizeof(cmd),
		 "echo 'int main(void){return 0;}' | ${CC:-cc} -g -gz=zlib -x c - -o %s", path);
	assert_int_equal(system(cmd), 0);
	f = open_path(path);
	s = elf_file_section(f, ".debug_info");
	assert_non_null(s);
	if (s->flags & SHF_COMPRESSED) {
		assert_int_equal(elf_file_section_copy(f, &d, s), 0);
		assert_true(d.sz > s->sz / 2 && d.sz >= 4);
		/* A unit begins with its length; this program has few of them. */
		assert_true(*(uint32_t *)d.data <= d.sz - 4);
		free(d.data);
	}
	elf_file_close(f);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_file_id),
		cmocka_unit_test(test_sections_and_places),
		cmocka_unit_test(test_cut_images),
		cmocka_unit_test(test_damaged_images),
		cmocka_unit_test(test_cut_under_our_feet),
		cmocka_unit_test(test_compressed_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
