/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for BPF programs where the kernel refuses membarrier, as seccomp does here. */
#include "live/bpf_wait.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/test_main.h"

/* Refuses the calls @a with EINVAL and @b with EPERM, from now on. */
static int refuse(unsigned int a, unsigned int b)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, a, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, b, 2, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog prog = {sizeof(code) / sizeof(*code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* Returns the negated result of bpf_wait in a process that may not make these calls. */
static int wait_without(unsigned int a, unsigned int b)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (refuse(a, b))
			_exit(255);
		_exit(-bpf_wait());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_waits(void **state)
{
	(void)state;
	assert_int_equal(bpf_wait(), 0);
}

static void test_waits_without_membarrier(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(wait_without(SYS_membarrier, SYS_membarrier), 0);
}

static void test_reports_that_it_cannot_wait(void **state)
{
	(void)state;
	assert_int_equal(wait_without(SYS_membarrier, SYS_bpf), EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_waits_without_membarrier),
		cmocka_unit_test(test_reports_that_it_cannot_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
