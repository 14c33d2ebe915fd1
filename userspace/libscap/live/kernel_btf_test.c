/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the driver in the kernel's BTF: the extract equals the complete one. */
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "live/kernel_btf.h"
#include "testing/test_main.h"

struct fixture {
	struct btf *all; /* the kernel's types as libbpf reads them */
	struct kernel_btf *kernel;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->all = btf__load_vmlinux_btf();
	if (!f->all || kernel_btf_new(&f->kernel))
		return -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	btf__free(f->all);
	kernel_btf_free(f->kernel);
	free(f);
	return 0;
}

static void numbers_are_the_kernels(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(kernel_btf_id(f->kernel, BTF_KIND_STRUCT, "task_struct"),
			 btf__find_by_name_kind(f->all, "task_struct", BTF_KIND_STRUCT));
	assert_int_equal(kernel_btf_id(f->kernel, BTF_KIND_TYPEDEF, "btf_trace_sys_exit"),
			 btf__find_by_name_kind(f->all, "btf_trace_sys_exit", BTF_KIND_TYPEDEF));
	assert_int_equal(kernel_btf_id(f->kernel, BTF_KIND_STRUCT, "no such struct"), -ENOENT);
}

/* Of two with one name the first counts, as in the kernel, whether the name is indexed or not. */
static void first_of_a_name(void **state)
{
	static const char *const names[] = {"bpf_twice", "twice"};
	struct btf *b = btf__new_empty();
	const int fd = memfd_create("types", MFD_CLOEXEC);
	const void *raw;
	struct kernel_btf *k;
	char path[32];
	__u32 sz;
	int proto;

	(void)state;
	proto = btf__add_func_proto(b, 0);
	for (int i = 0; i < 4; i++)
		assert_true(btf__add_func(b, names[i / 2], BTF_FUNC_STATIC, proto) > 0);
	raw = btf__raw_data(b, &sz);
	assert_int_equal(write(fd, raw, sz), sz);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(kernel_btf_read(&k, path), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(kernel_btf_id(k, BTF_KIND_FUNC, names[i]), proto + 1 + 2 * i);
	kernel_btf_free(k);
	btf__free(b);
	close(fd);
}

static void note_value(void *ctx, const char *name, __u32 value)
{
	unsigned int *n = ctx;

	n[0]++;
	n[1] += strcmp(name, "PIDTYPE_TGID") == 0 && value == 1;
}

static void enums_have_their_values(void **state)
{
	const struct fixture *f = *state;
	unsigned int n[2] = {0};

	kernel_btf_each_enum(f->kernel, "no such enum", note_value, n);
	assert_int_equal(n[0], 0);
	kernel_btf_each_enum(f->kernel, "pid_type", note_value, n);
	assert_true(n[0] > 1);
	assert_int_equal(n[1], 1);
}

static const struct btf_type *find(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	assert_true(id > 0);
	return btf__type_by_id(btf, (uint32_t)id);
}

static void check_struct(const struct btf *all, const struct btf *part, const char *name)
{
	const struct btf_type *a = find(all, name), *b = find(part, name);

	assert_int_equal(a->size, b->size);
	assert_int_equal(btf_vlen(a), btf_vlen(b));
	for (uint32_t i = 0; i < btf_vlen(a); i++) {
		const struct btf_member *m = &btf_members(a)[i], *n = &btf_members(b)[i];

		assert_string_equal(btf__name_by_offset(all, m->name_off),
				    btf__name_by_offset(part, n->name_off));
		assert_int_equal(m->offset, n->offset);
		if (!btf_is_ptr(btf__type_by_id(all, m->type)))
			assert_int_equal(btf__resolve_size(all, m->type),
					 btf__resolve_size(part, n->type));
	}
}

/* One type that is requested by a flavour, one that is inside another, and one that is not needed.
 */
static void extract_has_what_is_wanted(void **state)
{
	const struct fixture *f = *state;
	struct btf *wanted = btf__new_empty(), *part;
	int fd = memfd_create("types", MFD_CLOEXEC);
	char path[32];

	assert_true(btf__add_struct(wanted, "task_struct___v1", 4) > 0);
	assert_true(btf__add_struct(wanted, "inode", 4) > 0);
	assert_int_equal(kernel_btf_extract(f->kernel, wanted, fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	part = btf__parse(path, NULL);
	assert_non_null(part);
	check_struct(f->all, part, "task_struct");
	check_struct(f->all, part, "inode");
	check_struct(f->all, part, "thread_info");
	assert_int_equal(btf__find_by_name_kind(part, "super_block", BTF_KIND_STRUCT), -ENOENT);
	assert_true(btf__type_cnt(part) < btf__type_cnt(f->all) / 10);
	btf__free(part);
	btf__free(wanted);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_kernels),
		cmocka_unit_test(first_of_a_name),
		cmocka_unit_test(enums_have_their_values),
		cmocka_unit_test(extract_has_what_is_wanted),
	};

	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("skipped: this kernel has no /sys/kernel/btf/vmlinux\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
