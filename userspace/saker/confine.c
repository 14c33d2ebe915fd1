/* SPDX-License-Identifier: Apache-2.0 */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objfile/call_filter.h"
#include "symbols/seal_process.h"

/* ---- files ---- */

/* Newer than the headers of Debian 12. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif

#define CREATE                                                                                     \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |                             \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)

/* Returns the accesses that this kernel can control, or a negative errno. */
static int64_t controlled(void)
{
	static const struct {
		int version;
		uint64_t accesses;
	} rows[] = {
		{1, LANDLOCK_ACCESS_FS_REFER - 1},
		{2, LANDLOCK_ACCESS_FS_REFER},
		{3, LANDLOCK_ACCESS_FS_TRUNCATE},
	};
	const long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int64_t all = 0;

	if (version < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].version <= version)
			all |= (int64_t)rows[i].accesses;
	return all;
}

struct ruleset {
	int fd;
	uint64_t controlled;
};

static int allow_fd(const struct ruleset *r, int fd, uint64_t accesses)
{
	const struct landlock_path_beneath_attr rule = {
		.allowed_access = accesses & r->controlled,
		.parent_fd = fd,
	};

	/* EBADFD: a pipe or socket, which can always be opened again. */
	if (syscall(SYS_landlock_add_rule, r->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) &&
	    errno != EBADFD)
		return -errno;
	return 0;
}

/* A folder can be opened, so that the error of reading it is the same as otherwise. */
static int allow_read(const struct ruleset *r, const char *path)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -errno;
	err = fstat(fd, &st) ? -errno
			     : allow_fd(r, fd,
					S_ISDIR(st.st_mode) ? LANDLOCK_ACCESS_FS_READ_DIR
							    : LANDLOCK_ACCESS_FS_READ_FILE);
	close(fd);
	return err;
}

static int allow_path(const struct ruleset *r, const char *path, uint64_t accesses)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = allow_fd(r, fd, accesses);
	close(fd);
	return err;
}

/* A link, pipe or device is written where it is; all others are replaced in their folder. */
static int allow_write(const struct ruleset *r, const char *path)
{
	char copy[PATH_MAX];
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return allow_path(r, path, WRITE);
	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return -ENAMETOOLONG;
	return allow_path(r, dirname(copy), CREATE);
}

static int allow(const struct ruleset *r, const struct confine_files *f)
{
	int err = 0;

	for (size_t i = 0; i < f->n_reads && !err; i++)
		if (strcmp(f->reads[i], "-") != 0)
			err = allow_read(r, f->reads[i]);
	if (!err && f->write && strcmp(f->write, "-") != 0)
		err = allow_write(r, f->write);
	return err;
}

static int gain_nothing(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

int confine_files(const struct confine_files *f)
{
	const int64_t accesses = SEAL_PROCESS_WHOLE ? controlled() : -EOPNOTSUPP;
	const struct landlock_ruleset_attr attr = {.handled_access_fs = (uint64_t)accesses};
	struct ruleset r = {.controlled = (uint64_t)accesses};
	int err;

	if (accesses < 0)
		return (int)accesses;
	r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (r.fd < 0)
		return -errno;
	err = allow(&r, f) ?: gain_nothing();
	if (!err && syscall(SYS_landlock_restrict_self, r.fd, 0))
		err = -errno;
	close(r.fd);
	return err;
}

/* ---- calls ---- */

/* Calls that replay never makes, by what they could reach. Whatever is not here is allowed: the C
 * library may make other harmless calls on another machine. */
struct refused {
	uint16_t nr;
	uint8_t unless; /* enum confine_needs */
};

#define NO(name)                                                                                   \
	{                                                                                          \
		SYS_##name, 0                                                                      \
	}
#define NO_BUT(name, needs)                                                                        \
	{                                                                                          \
		SYS_##name, CONFINE_##needs                                                        \
	}
/* clang-format off */
static const struct refused refused[] = {
	/* programs and processes */
	NO(execve), NO(execveat),
	NO_BUT(fork, HELPERS), NO_BUT(vfork, HELPERS),
	/* other processes */
	NO(ptrace), NO(process_vm_writev), NO_BUT(process_vm_readv, HELPERS), NO(process_madvise),
	NO(process_mrelease), NO(pidfd_open), NO(pidfd_getfd), NO(pidfd_send_signal), NO(kcmp),
	NO(tkill), NO(rt_sigqueueinfo), NO(rt_tgsigqueueinfo), NO(migrate_pages), NO(move_pages),
	NO(setpriority), NO(ioprio_set), NO(sched_setscheduler), NO(sched_setparam),
	NO(sched_setattr), NO(sched_setaffinity),
	NO(shmget), NO(shmat), NO(shmctl), NO(semget), NO(semop), NO(semtimedop), NO(semctl),
	NO(msgget), NO(msgsnd), NO(msgrcv), NO(msgctl),
	NO(mq_open), NO(mq_unlink), NO(mq_timedsend), NO(mq_timedreceive), NO(mq_notify),
	NO(mq_getsetattr),
	/* networks, and calls that another thread makes for us */
	NO(socket), NO(connect), NO(bind), NO(listen), NO(accept), NO(accept4),
	NO_BUT(socketpair, HELPERS), NO(sendto), NO(sendmmsg),
	NO(io_uring_setup), NO(io_uring_enter), NO(io_uring_register), NO(io_setup), NO(io_submit),
	/* the kernel */
	NO(bpf), NO(perf_event_open), NO(userfaultfd), NO(init_module), NO(finit_module),
	NO(delete_module), NO(kexec_load), NO(kexec_file_load), NO(reboot), NO(syslog), NO(acct),
	NO(iopl), NO(ioperm), NO(modify_ldt), NO(personality), NO(settimeofday),
	NO(clock_settime), NO(adjtimex), NO(clock_adjtime), NO(swapon), NO(swapoff), NO(quotactl),
	NO(quotactl_fd), NO(sethostname), NO(setdomainname), NO(vhangup),
	NO(add_key), NO(request_key), NO(keyctl),
	/* namespaces and mounts */
	NO(unshare), NO(setns), NO(mount), NO(umount2), NO(pivot_root), NO(chroot), NO(move_mount),
	NO(open_tree), NO(fsopen), NO(fsconfig), NO(fsmount), NO(fspick), NO(mount_setattr),
	/* users */
	NO_BUT(setuid, HELPERS), NO_BUT(setgid, HELPERS), NO_BUT(setreuid, HELPERS),
	NO_BUT(setregid, HELPERS), NO_BUT(setresuid, HELPERS), NO_BUT(setresgid, HELPERS),
	NO_BUT(setgroups, HELPERS), NO_BUT(setfsuid, HELPERS), NO_BUT(setfsgid, HELPERS),
	/* files that are not open: what Landlock does not control, or not on each kernel */
	NO(chmod), NO(fchmodat), NO(chown), NO(lchown), NO(fchownat), NO(fchown), NO(setxattr),
	NO(lsetxattr), NO(fsetxattr), NO(removexattr), NO(lremovexattr), NO(fremovexattr),
	NO(utime), NO(utimes), NO(futimesat), NO(utimensat), NO(open_by_handle_at),
	NO(fanotify_init), NO(mknod), NO(mknodat), NO(symlink), NO(symlinkat), NO(truncate),
	NO_BUT(rename, PATHS), NO_BUT(renameat, PATHS), NO_BUT(renameat2, PATHS),
	NO_BUT(link, PATHS), NO_BUT(linkat, PATHS), NO_BUT(mkdir, PATHS), NO_BUT(mkdirat, PATHS),
	NO_BUT(rmdir, PATHS),
};

/* The same of calls whose first arguments decide it. */
#define IF(name, how, at, number, what)                                                            \
	{.nr = SYS_##name, .test = CALL_IF_##how, .arg = at, .value = number, .then = CALL_##what}
static const struct call_rule refused_arguments[] = {
	IF(ioctl, EQUAL, 1, TIOCSTI, REFUSE), /* types into the terminal */
	IF(ioctl, EQUAL, 1, TIOCLINUX, REFUSE),
	IF(fcntl, EQUAL, 1, F_SETOWN, REFUSE), /* signals to others */
	IF(fcntl, EQUAL, 1, F_SETOWN_EX, REFUSE),
	IF(prlimit64, OTHER, 0, 0, REFUSE),
};
/* clang-format on */

enum { OWN_RULES_MAX = 8 };

struct rules {
	size_t n;
	struct call_rule v[sizeof(refused) / sizeof(refused[0]) +
			   sizeof(refused_arguments) / sizeof(refused_arguments[0]) +
			   OWN_RULES_MAX];
};
_Static_assert(sizeof(((struct rules *)0)->v) / sizeof(struct call_rule) <= CALL_RULES_MAX,
	       "more rules than a filter has");

static void add(struct rules *r, struct call_rule rule)
{
	r->v[r->n++] = rule;
}

/* Threads can be started, and the process can end itself by a signal. */
static void add_own(struct rules *r)
{
	const uint32_t self = (uint32_t)getpid();

	/* Its flags are in memory: libraries use clone then. */
	add(r, (struct call_rule){.nr = SYS_clone3, .then = CALL_UNKNOWN});
	add(r, (struct call_rule)IF(clone, CLEAR, 0, CLONE_THREAD, REFUSE));
	add(r, (struct call_rule)IF(kill, OTHER, 0, self, REFUSE));
	add(r, (struct call_rule)IF(tgkill, OTHER, 0, self, REFUSE));
	add(r, (struct call_rule){.nr = SYS_sendmsg, .then = CALL_REFUSE});
}

int confine_calls(unsigned int needs)
{
	struct rules r = {0};
	int err;

	if (!SEAL_PROCESS_WHOLE)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (!(refused[i].unless & needs))
			add(&r, (struct call_rule){.nr = refused[i].nr, .then = CALL_REFUSE});
	for (size_t i = 0; i < sizeof(refused_arguments) / sizeof(refused_arguments[0]); i++)
		add(&r, refused_arguments[i]);
	if (!(needs & CONFINE_HELPERS))
		add_own(&r);
	err = gain_nothing();
	return err ?: call_filter_install(r.v, r.n, CALL_ALLOW);
}
