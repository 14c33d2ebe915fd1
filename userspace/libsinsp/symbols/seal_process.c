/* SPDX-License-Identifier: Apache-2.0 */
#include "seal_process.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objfile/helper_process.h"

#define NOBODY 65534
#define DESCRIPTORS_MAX 64

/* As another user it can neither open our files nor connect to root's sockets. If it may not change
 * its user, the filter alone prevents both. */
static int leave_user(void)
{
	if (geteuid())
		return 0; /* its only one */
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return errno == EPERM ? 0 : -errno;
	prctl(PR_SET_DUMPABLE, 0); /* other processes of that user must not access it */
	return 0;
}

static void limit_resources(void)
{
	const struct rlimit none = {0, 0}, few = {DESCRIPTORS_MAX, DESCRIPTORS_MAX};

	setrlimit(RLIMIT_FSIZE, &none);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_NPROC, &none);
	setrlimit(RLIMIT_MEMLOCK, &none);
	setrlimit(RLIMIT_NOFILE, &few);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1), RETURN(SECCOMP_RET_ALLOW)
/* Memory may be mapped, but not executable. */
#define ALLOW_WITHOUT_EXEC(nr)                                                                     \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 4), LOAD(args[2]),                        \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0), RETURN(SECCOMP_RET_ALLOW),  \
		RETURN(SECCOMP_RET_ERRNO | EPERM)

/* Refused calls fail instead of killing, since libraries try calls such as open. */
static int filter_calls(void)
{
	/* clang-format off */
	struct sock_filter rows[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(recvmsg),
		ALLOW(sendmsg),
		ALLOW(fstat),
		ALLOW(lseek),
		ALLOW(close),
		ALLOW(brk),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(getrandom),
		ALLOW(getpid),
		ALLOW(gettid),
		ALLOW(sysinfo),
		ALLOW(clock_gettime),
		ALLOW(rt_sigprocmask),
		ALLOW(rt_sigreturn),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW_WITHOUT_EXEC(mmap),
		ALLOW_WITHOUT_EXEC(mprotect),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	/* clang-format on */
	const struct sock_fprog program = {sizeof(rows) / sizeof(rows[0]), rows};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ? -errno : 0;
}

int seal_process(void)
{
	int err = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;

	if (!err && SEAL_PROCESS_WHOLE)
		err = leave_user();
	if (err)
		return err;
	helper_keep_rights(0);
	if (!SEAL_PROCESS_WHOLE)
		return 0;
	limit_resources();
	return filter_calls();
}
