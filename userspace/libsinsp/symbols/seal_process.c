/* SPDX-License-Identifier: Apache-2.0 */
#include "seal_process.h"

#include <errno.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capabilities.h"
#include "objfile/call_filter.h"

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

#define ALLOW(name)                                                                                \
	{                                                                                          \
		.nr = SYS_##name, .then = CALL_ALLOW                                               \
	}
/* Memory may be mapped, but not executable. */
#define ALLOW_WITHOUT_EXEC(name)                                                                   \
	{                                                                                          \
		.nr = SYS_##name, .test = CALL_IF_CLEAR, .arg = 2, .value = PROT_EXEC,             \
		.then = CALL_ALLOW                                                                 \
	}

static int filter_calls(void)
{
	/* clang-format off */
	static const struct call_rule rules[] = {
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
	};
	/* clang-format on */

	return call_filter_install(rules, sizeof(rules) / sizeof(rules[0]), CALL_REFUSE);
}

int seal_process(void)
{
	int err = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;

	if (!err && SEAL_PROCESS_WHOLE)
		err = leave_user();
	if (err)
		return err;
	capabilities_keep(0);
	if (!SEAL_PROCESS_WHOLE)
		return 0;
	limit_resources();
	return filter_calls();
}
