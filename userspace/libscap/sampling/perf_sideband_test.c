/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the records of a CPU's perf buffer while a child there maps files, forks and executes a
 * program. */
#include "sampling/perf_sideband.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "objfile/elf_file.h"
#include "testing/test_main.h"

#define PAGE 4096
#define MANY 6000 /* more than a buffer has room for: 256 KiB, a record takes some 90 bytes */

/* The CPU that the test runs on from here. */
static unsigned int stay(void)
{
	const int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	return (unsigned int)cpu;
}

static struct code_ring *open_here(int flags)
{
	struct code_ring *r;
	const int err = code_ring_open(&r, stay(), flags);

	if (err == -EACCES || err == -EPERM) {
		print_message("skipped: the kernel tells of other processes' code only to root\n");
		skip();
	}
	assert_int_equal(err, 0);
	return r;
}

static void *map_code(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static pid_t start_child(void (*body)(void))
{
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		body();
		_exit(1);
	}
	return pid;
}

static void wait_child(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void become_true(void)
{
	map_code();
	execl("/bin/true", "true", (char *)NULL);
}

/* The next record of @pid, which must come. */
static const struct code_record *next_of(struct code_ring *r, pid_t pid)
{
	struct pollfd p = {.fd = code_ring_fd(r), .events = POLLIN};
	const struct code_record *rec;

	for (;;) {
		while ((rec = code_ring_peek(r)) && rec->pid != (uint32_t)pid)
			code_ring_pop(r);
		if (rec)
			return rec;
		code_ring_release(r);
		code_ring_refresh(r);
		if (!code_ring_peek(r))
			assert_int_equal(poll(&p, 1, 60000), 1);
	}
}

static void test_life_of_a_process(void **state)
{
	struct code_ring *r = open_here(CODE_RING_WAKES);
	const pid_t pid = start_child(become_true);
	const struct code_record *rec;
	int saw_true = 0, saw_vdso = 0;
	uint64_t last;

	(void)state;
	assert_null(code_ring_peek(r)); /* not yet seen */
	rec = next_of(r, pid);
	assert_int_equal(rec->type, CODE_FORK);
	assert_int_equal(rec->parent, getpid());
	assert_ptr_equal(code_ring_peek(r), rec); /* until it is popped */
	last = rec->boot_ns;
	code_ring_pop(r);

	rec = next_of(r, pid);
	assert_int_equal(rec->type, CODE_MAP);
	assert_int_equal(rec->map.length, PAGE);
	assert_int_equal(rec->map.prot, PROT_READ | PROT_EXEC);
	assert_string_equal(rec->map.path, ""); /* as /proc has it */
	assert_int_equal(rec->map.path_len, 0);
	code_ring_pop(r);

	rec = next_of(r, pid);
	assert_int_equal(rec->type, CODE_EXEC);
	assert_string_equal(rec->comm, "true");
	code_ring_pop(r);

	while ((rec = next_of(r, pid))->type == CODE_MAP) {
		assert_true(rec->boot_ns >= last);
		last = rec->boot_ns;
		assert_true(rec->map.prot & PROT_EXEC);
		assert_int_equal(rec->map.path_len, strlen(rec->map.path));
		saw_true |= strstr(rec->map.path, "/true") && rec->map.ino;
		saw_vdso |= strcmp(rec->map.path, "[vdso]") == 0;
		code_ring_pop(r);
	}
	assert_true(saw_true && saw_vdso);
	assert_int_equal(rec->type, CODE_EXIT);
	wait_child(pid);
	code_ring_close(r);
}

static void map_many(void)
{
	for (int i = 0; i < MANY; i++)
		munmap(map_code(), PAGE);
	_exit(0);
}

/* Returns the reported mappings of @pid, and the reported losses. */
static void count(struct code_ring *r, pid_t pid, uint64_t *n_maps, uint64_t *n_lost)
{
	const struct code_record *rec;

	code_ring_refresh(r);
	while ((rec = code_ring_peek(r))) {
		*n_maps += rec->type == CODE_MAP && rec->pid == (uint32_t)pid;
		*n_lost += rec->n_lost;
		code_ring_pop(r);
	}
	code_ring_release(r);
}

/* The kernel reports a loss with the next record that has room. */
static void test_loss_is_told(void **state)
{
	struct code_ring *r = open_here(0);
	uint64_t n_maps = 0, n_lost = 0;
	const pid_t pid = start_child(map_many);

	(void)state;
	wait_child(pid);
	count(r, pid, &n_maps, &n_lost);
	assert_true(n_maps > 0 && n_maps < MANY);
	wait_child(start_child(become_true));
	count(r, pid, &n_maps, &n_lost);
	assert_true(n_lost > 0);
	assert_true(n_maps + n_lost >= MANY); /* others run on this CPU as well */
	code_ring_close(r);
}

/* Several times round the buffer: records that go over its end are whole. */
static void test_round_and_round(void **state)
{
	struct code_ring *r = open_here(0);
	uint64_t n_maps = 0, n_lost = 0;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		munmap(map_code(), PAGE);
		if (i % 64 == 0)
			count(r, getpid(), &n_maps, &n_lost);
	}
	count(r, getpid(), &n_maps, &n_lost);
	assert_true(n_maps <= MANY);
	assert_true(n_maps + n_lost >= MANY); /* a busy neighbour may fill the buffer */
	code_ring_close(r);
}

/* /bin/true has both: device and inode, and the build id that is in the file. */
static void test_build_id(void **state)
{
	struct code_ring *r = open_here(CODE_RING_WAKES | CODE_RING_BUILD_IDS);
	const pid_t pid = start_child(become_true);
	const int fd = open("/bin/true", O_RDONLY);
	uint8_t id[ELF_BUILD_ID_MAX];
	const struct code_record *rec;
	unsigned int n_fork = 0, n_anon = 0, n_true = 0;
	struct elf_file *elf;
	struct stat st;
	int len;

	(void)state;
	assert_true(fd >= 0 && !fstat(fd, &st));
	assert_int_equal(elf_file_open(&elf, fd), 0);
	len = elf_file_build_id(elf, id);
	assert_true(len > 0);
	for (; (rec = next_of(r, pid))->type != CODE_EXIT; code_ring_pop(r)) {
		n_fork += rec->type == CODE_FORK;
		if (rec->type != CODE_MAP)
			continue;
		n_anon += !rec->map.path_len;
		if (rec->map.ino != st.st_ino) {
			assert_true(rec->map.ino || !rec->map.build_id_len);
			continue;
		}
		n_true++;
		assert_int_equal(rec->map.build_id_len, len);
		assert_memory_equal(rec->map.build_id, id, (size_t)len);
	}
	assert_int_equal(n_true, 1);
	assert_int_equal(n_fork, 1); /* once, whichever event reports it */
	assert_int_equal(n_anon, 1);
	wait_child(pid);
	elf_file_close(elf);
	close(fd);
	code_ring_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_process),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_loss_is_told),
		cmocka_unit_test(test_round_and_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
