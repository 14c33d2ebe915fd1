// SPDX-License-Identifier: Apache-2.0
/* The initial state from made-up /proc trees: odd values, broken files, no memory. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "procfs/cpu_time.h"
#include "procfs/proc_scan_test.h"

static char tree[] = "/tmp/proc_scan_tree.XXXXXX";

static void put(const char *path, const char *text, size_t len)
{
	char full[256], *p;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", tree, path);
	for (p = full + strlen(tree) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fwrite(text, 1, len, f);
	fclose(f);
}

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static void put_link(const char *path, const char *to)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", tree, path);
	assert_int_equal(symlink(to, full), 0);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static int make_tree(void **state)
{
	(void)state;
	strcpy(tree, "/tmp/proc_scan_tree.XXXXXX");
	return mkdtemp(tree) ? 0 : -1;
}

static int remove_tree(void **state)
{
	(void)state;
	return nftw(tree, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

#define STAT(pid, comm)                                                                            \
#pid " (" comm ") S 1 10 10 34816 10 4194304 111 0 22 0 1 2 0 0 20 0 1 0 250 9 9\n"
#define STATUS(pid)                                                                                \
	"Name:\tx\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t" #pid "\nNgid:\t0\nPid:\t" #pid     \
	"\nPPid:\t1\nTracerPid:\t0\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nFDSize:\t64\n"             \
	"Groups:\t20 30 \n"

static void test_values(void **state)
{
	static const char cmdline[] = "/bin/x\0-a\0\0two words\0";
	const struct scap_thread_info *t;
	struct scanned s;

	(void)state;
	put_text("10/stat", STAT(10, "a) R 1 (b"));
	put_text("10/status", STATUS(10) "NStgid:\t10\t5\t2\nNSpid:\t10\t5\t3\nNSpgid:\t10\t4\n"
					 "VmSize:\t  100 kB\nVmRSS:\t   50 kB\nVmSwap:\t 7 kB\n"
					 "CapInh:\t0000000000000001\nCapPrm:\t00000000a80425fb\n"
					 "CapEff:\tffffffffffffffff\n");
	put("10/cmdline", cmdline, sizeof(cmdline) - 1);
	put_text("10/environ", "A=1");
	put_text("10/cgroup", "12:cpu,cpuacct:/a:b\n1:name=systemd:/s\nbroken\n0::/u\n");
	put_text("10/limits",
		 "Limit  Soft Limit\nMax processes 5 6\nMax open files            1024   "
		 "           4096                 files\n");
	put_text("10/loginuid", "4294967295");
	put_link("10/cwd", "/work dir");
	put_link("10/root", "/");
	put_link("10/exe", "/bin/x (deleted)");
	s = scan_at(tree, 0);
	t = thread_in(&s, 10);
	assert_non_null(t);
	assert_string_equal(t->comm, "a) R 1 (b");
	assert_int_equal(t->ptid, 1);
	assert_int_equal(t->sid, 10);
	assert_int_equal(t->tty, 34816);
	assert_int_equal(t->pfminor, 111);
	assert_int_equal(t->pfmajor, 22);
	assert_int_equal(t->start_ns - s.st->machine.boot_ns,
			 250 * NS_PER_S / sysconf(_SC_CLK_TCK));
	assert_int_equal(t->uid, 2);
	assert_int_equal(t->gid, 6);
	assert_int_equal(t->vpid, 2);
	assert_int_equal(t->vtid, 3);
	assert_int_equal(t->vpgid, 4);
	assert_int_equal(t->vmsize_kb, 100);
	assert_int_equal(t->vmrss_kb, 50);
	assert_int_equal(t->vmswap_kb, 7);
	assert_int_equal(t->cap_inheritable, 1);
	assert_int_equal(t->cap_permitted, 0xa80425fb);
	assert_int_equal(t->cap_effective, UINT64_MAX);
	assert_string_equal(t->exe, "/bin/x");
	assert_int_equal(t->args.len, sizeof(cmdline) - 1 - sizeof("/bin/x"));
	assert_memory_equal(t->args.p, "-a\0\0two words\0", t->args.len);
	assert_int_equal(t->env.len, 4);
	assert_string_equal(t->env.p, "A=1");
	assert_int_equal(t->fdlimit, 1024);
	assert_int_equal(t->loginuid, -1);
	assert_string_equal(t->cwd, "/work dir");
	assert_string_equal(t->exepath, "/bin/x (deleted)");
	assert_memory_equal(t->cgroups.p, "cpu=/a:b\0cpuacct=/a:b\0name=systemd=/s\0", 38);
	scap_state_build_free(s.b);
}

static void test_broken(void **state)
{
	struct scanned s;
	char big[10000];

	(void)state;
	memset(big, 'x', sizeof(big));
	put_text("11/stat", "");
	put_text("11/status", STATUS(11));
	put_text("12/stat", "12 (no end S 1");
	put_text("12/status", STATUS(12));
	put_text("13/stat", "13 ) backwards ( S 1");
	put_text("13/status", "");
	put_text("14/stat", STAT(14, "ok"));
	put_text("14/status", "Uid:\nGroups:\nNSpid:\t\n");
	put("14/cmdline", big, sizeof(big));
	put("14/environ", big, sizeof(big));
	put("14/cgroup", big, sizeof(big));
	put_text("15x/stat", STAT(15, "x"));
	put_text("99999999999999999999/stat", STAT(16, "x"));
	put_text("17", "a file");
	s = scan_at(tree, 0);
	assert_int_equal(s.st->n_threads, 1);
	assert_string_equal(s.st->threads[0].comm, "ok");
	assert_int_equal(s.st->threads[0].tid, 14);
	assert_int_equal(s.st->threads[0].pid, 14);
	assert_int_equal(strlen(s.st->threads[0].exe), 4095);
	assert_int_equal(s.st->threads[0].args.len, 0);
	assert_int_equal(s.st->threads[0].env.len, 4096);
	scap_state_build_free(s.b);
}

static void test_sockets(void **state)
{
	static const char *const links[] = {"socket:[100]", "socket:[101]",        "socket:[102]",
					    "socket:[103]", "socket:[104]",        "socket:[999]",
					    "socket:[",     "anon_inode:[eventfd]"};
	const struct scap_fd_info *f;
	struct scanned s;
	char path[64];

	(void)state;
	put_text("20/stat", STAT(20, "socks"));
	put_text("20/status", STATUS(20));
	put_text("20/fd/x", "");
	put_text(
		"20/net/tcp",
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid "
		" timeout inode\n"
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 "
		"       0 100 1 0000000000000000 100 0 0 10 0\n"
		"   1: 0100007F:1F90 0200007F:9C40 01 00000000:00000000 00:00000000 00000000     0 "
		"       0 101 1\n"
		"   2: 0100\n\n   3: ZZ:ZZ : :\n");
	put_text("20/net/tcp6", "head\n   0: 00000000000000000000000001000000:0016 "
				"0000000000000000FFFF00000100007F:0017 01 0:0 0:0 0 0 0 102 1\n");
	put_text("20/net/udp", "no newline");
	put_text("20/net/unix",
		 "Num       RefCount Protocol Flags    Type St Inode Path\n"
		 "0000000000000000: 00000002 00000000 00010000 0001 01 103 /run/a b\n"
		 "0000000000000000: 00000003 00000000 00000000 0001 03   104\n");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		snprintf(path, sizeof(path), "20/fd/%zu", i);
		put_link(path, links[i]);
	}
	s = scan_at(tree, 0);
	f = file(&s, 20, 0);
	assert_int_equal(f->type, SCAP_FD_IPV4_SERVSOCK);
	assert_int_equal(f->sport, 8080);
	f = file(&s, 20, 1);
	assert_int_equal(f->type, SCAP_FD_IPV4_SOCK);
	assert_memory_equal(f->dip, "\x7f\0\0\x02", 4);
	assert_int_equal(f->dport, 40000);
	f = file(&s, 20, 2);
	assert_int_equal(f->type, SCAP_FD_IPV6_SOCK);
	assert_memory_equal(f->sip, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	assert_memory_equal(f->dip, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	assert_int_equal(f->sport, 22);
	f = file(&s, 20, 3);
	assert_int_equal(f->type, SCAP_FD_UNIX_SOCK);
	assert_string_equal(f->name, "/run/a b");
	assert_string_equal(file(&s, 20, 4)->name, "");
	assert_int_equal(file(&s, 20, 5)->type, SCAP_FD_UNSUPPORTED);
	assert_int_equal(file(&s, 20, 5)->ino, 999);
	assert_int_equal(file(&s, 20, 6)->type, SCAP_FD_UNSUPPORTED);
	assert_int_equal(thread_in(&s, 20)->n_fds, 7); /* 7 leads nowhere: it is closed */
	scap_state_build_free(s.b);
}

/* The allocation that fails next: 1 is the next one, 0: none. Linked with --wrap. */
static long fail_in;

void *__real_malloc(size_t sz);
void *__real_calloc(size_t n, size_t sz);
void *__real_realloc(void *p, size_t sz);

static int fails(void)
{
	return fail_in > 0 && --fail_in == 0;
}

void *__wrap_malloc(size_t sz)
{
	return fails() ? NULL : __real_malloc(sz);
}

void *__wrap_calloc(size_t n, size_t sz)
{
	return fails() ? NULL : __real_calloc(n, sz);
}

void *__wrap_realloc(void *p, size_t sz)
{
	return fails() ? NULL : __real_realloc(p, sz);
}

/* Each allocation fails once: the scan reports it, or leaves its result empty. */
static void test_no_memory(void **state)
{
	struct scap_scan_opts o = {.sz = sizeof(o), .proc = tree};
	int n_refused = 0, done = 0;

	(void)state;
	put_text("30/stat", STAT(30, "small"));
	put_text("30/status", STATUS(30));
	put_text("30/cmdline", "small");
	put_text("30/cgroup", "1:cpu:/a\n");
	put_text("30/net/tcp", "head\n 0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 100 1\n");
	put_text("30/net/unix", "head\n0: 2 0 10000 1 1 103 /run/x\n");
	put_text("30/fd/x", "");
	put_link("30/fd/3", "socket:[100]");
	for (long n = 1; !done; n++) {
		struct scap_state_build *b = scap_state_build_new();
		int err;

		fail_in = n;
		err = scap_scan_machine(b, NULL, &o);
		done = fail_in != 0;
		fail_in = 0;
		assert_true(err == 0 || (!done && err == -ENOMEM));
		assert_true(scap_state_build_done(b)->n_threads == 1 || err == -ENOMEM);
		n_refused += err == -ENOMEM;
		scap_state_build_free(b);
	}
	assert_true(n_refused > 5);
}

static void test_cpu_time(void **state)
{
	const int proc_fd = open(tree, O_RDONLY | O_DIRECTORY);
	struct scap_cpu_time t;

	(void)state;
	put_text("40/task/41/stat", STAT(41, "a) R 1 (b"));
	assert_int_equal(scap_cpu_time_read(&t, proc_fd, 40, 41), 0);
	assert_int_equal(t.user_ns, 10000000);
	assert_int_equal(t.system_ns, 20000000);
	assert_int_equal(t.start_ns, 2500000000);
	put_text("40/task/42/stat",
		 "42 (short) S 1 10 10 34816 10 4194304 111 0 22 0 1 2 0 0 20 0\n");
	put_text("40/task/43/stat", "43 (no end S 1");
	put_text("40/task/44/stat", "44 (x) ");
	for (int64_t tid = 42; tid <= 44; tid++)
		assert_int_equal(scap_cpu_time_read(&t, proc_fd, 40, tid), -EINVAL);
	assert_int_equal(scap_cpu_time_read(&t, proc_fd, 40, 45), -ENOENT);
	close(proc_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_broken, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_sockets, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_no_memory, make_tree, remove_tree),
		cmocka_unit_test_setup_teardown(test_cpu_time, make_tree, remove_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
