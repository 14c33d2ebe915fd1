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
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "file/open_output.h"
#include "objfile/call_filter.h"
#include "privileges.h"
#include "say.h"
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

/* struct landlock_ruleset_attr of newer kernels; older ones accept it with zeros at its end. */
struct controlled {
	uint64_t files;
	uint64_t net; /* bind and connect of TCP */
	uint64_t scoped; /* connections to abstract sockets, signals */
};

/* Sets what this kernel can control. Returns 0 or a negative errno. */
static int find_controlled(struct controlled *all)
{
	static const struct {
		int version;
		struct controlled adds;
	} rows[] = {
		{1, {.files = LANDLOCK_ACCESS_FS_REFER - 1}},
		{2, {.files = LANDLOCK_ACCESS_FS_REFER}},
		{3, {.files = LANDLOCK_ACCESS_FS_TRUNCATE}},
		{4, {.net = 3}},
		{6, {.scoped = 3}},
	};
	const long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (version < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].version > version)
			break;
		all->files |= rows[i].adds.files;
		all->net |= rows[i].adds.net;
		all->scoped |= rows[i].adds.scoped;
	}
	return 0;
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

/* What cannot be found is not allowed: its error comes when it is opened. A folder can be opened,
 * so that the error of reading it is the same as otherwise. */
static int allow_read(const struct ruleset *r, const char *path)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0)
		return 0;
	err = fstat(fd, &st) ? -errno
			     : allow_fd(r, fd,
					S_ISDIR(st.st_mode) ? LANDLOCK_ACCESS_FS_READ_DIR
							    : LANDLOCK_ACCESS_FS_READ_FILE);
	close(fd);
	return err;
}

/* @flags: of open, as O_NOFOLLOW. */
static int allow_path(const struct ruleset *r, const char *path, int flags, uint64_t accesses)
{
	const int fd = open(path, O_PATH | O_CLOEXEC | flags);
	int err;

	if (fd < 0)
		return 0;
	err = allow_fd(r, fd, accesses);
	close(fd);
	return err;
}

/* A link, pipe or device is written where it is; all others are replaced in their folder. A link of
 * another user is not followed later, either. */
static int allow_write(const struct ruleset *r, const char *path)
{
	char resolved[PATH_MAX] = "";
	struct stat st;
	const int exists = lstat(path, &st) == 0, is_link = exists && S_ISLNK(st.st_mode);

	if (is_link && scap_is_of_other(&st))
		return 0;
	if (exists && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && access(path, F_OK) == 0)
		return allow_path(r, path, is_link ? 0 : O_NOFOLLOW, WRITE);
	/* The path up to what does not exist, also for a link to it. */
	if (!realpath(path, resolved) && (errno != ENOENT || !*resolved))
		return 0;
	return allow_path(r, dirname(resolved), 0, CREATE);
}

static int allow(const struct ruleset *r, const struct confine_files *f)
{
	int err = 0;

	if (f->reads_all)
		err = allow_path(r, "/", 0,
				 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
			      ?: allow_path(r, "/dev/null", 0, WRITE); /* of helpers */
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
	struct controlled all = {0};
	int err = SEAL_PROCESS_WHOLE ? find_controlled(&all) : -EOPNOTSUPP;
	struct ruleset r = {.controlled = all.files};

	if (err)
		return err;
	r.fd = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
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
#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
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
	NO(setsockopt),
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
	NO(setuid), NO(setgid), NO(setreuid), NO(setregid), NO(setfsuid), NO(setfsgid),
	NO_BUT(setresuid, HELPERS), NO_BUT(setresgid, HELPERS), NO_BUT(setgroups, HELPERS),
	/* files that are not open: what Landlock does not control, or not on each kernel */
	NO(chmod), NO(fchmodat), NO(chown), NO(lchown), NO(fchownat), NO(fchown), NO(setxattr),
	NO(lsetxattr), NO(fsetxattr), NO(removexattr), NO(lremovexattr), NO(fremovexattr),
	NO(utime), NO(utimes), NO(futimesat), NO(utimensat), NO(open_by_handle_at),
	NO(fanotify_init), NO(mknod), NO(mknodat), NO(symlink), NO(symlinkat), NO(truncate),
	NO(creat),
	NO_BUT(rename, PATHS), NO_BUT(renameat, PATHS), NO_BUT(renameat2, PATHS),
	NO_BUT(link, PATHS), NO_BUT(linkat, PATHS), NO_BUT(mkdir, PATHS), NO_BUT(mkdirat, PATHS),
	NO_BUT(rmdir, PATHS),
};

/* The same of calls whose arguments decide it. */
#define IF(name, how, at, number, what)                                                            \
	{.nr = SYS_##name, .test = CALL_IF_##how, .arg = at, .value = number, .then = CALL_##what}
#define ALWAYS(name, what)                                                                         \
	{                                                                                          \
		.nr = SYS_##name, .then = CALL_##what                                              \
	}
static const struct call_rule of_terminal[] = {
	IF(ioctl, EQUAL, 1, TCSETS, ALLOW), IF(ioctl, EQUAL, 1, TCSETSW, ALLOW),
	IF(ioctl, EQUAL, 1, TCSETSF, ALLOW), IF(ioctl, EQUAL, 1, TCFLSH, ALLOW),
};
static const struct call_rule refused_arguments[] = {
	/* All others: TIOCSTI types into the terminal, FIOSETOWN has a socket signal others. */
	IF(ioctl, EQUAL, 1, TCGETS, ALLOW), /* isatty */
	IF(ioctl, EQUAL, 1, TIOCGWINSZ, ALLOW),
	ALWAYS(ioctl, REFUSE),
	IF(fcntl, EQUAL, 1, F_SETOWN, REFUSE), /* signals to others */
	IF(fcntl, EQUAL, 1, F_SETOWN_EX, REFUSE),
	IF(prlimit64, OTHER, 0, 0, REFUSE),
	/* The flags of these are in memory: libraries use clone and openat then. */
	ALWAYS(clone3, UNKNOWN), ALWAYS(openat2, UNKNOWN),
	IF(clone, SET, 0, NAMESPACES, REFUSE),
	/* Programs that run as the owner of the file. */
	IF(open, SET, 2, S_ISUID | S_ISGID, REFUSE), IF(openat, SET, 3, S_ISUID | S_ISGID, REFUSE),
	IF(fchmod, SET, 1, S_ISUID | S_ISGID, REFUSE),
	/* Truncates also with O_RDONLY; saker uses ftruncate. */
	IF(open, SET, 1, O_TRUNC, REFUSE), IF(openat, SET, 2, O_TRUNC, REFUSE),
	/* The process with libdw changes its user and group to those of the account nobody. */
	IF(setgroups, OTHER, 0, 0, REFUSE),
	IF(setresuid, OTHER, 0, NOBODY, REFUSE), IF(setresuid, OTHER, 1, NOBODY, REFUSE),
	IF(setresuid, OTHER, 2, NOBODY, REFUSE),
	IF(setresgid, OTHER, 0, NOBODY, REFUSE), IF(setresgid, OTHER, 1, NOBODY, REFUSE),
	IF(setresgid, OTHER, 2, NOBODY, REFUSE),
};
/* clang-format on */

enum { OWN_RULES_MAX = 8 };

struct rules {
	size_t n;
	struct call_rule v[sizeof(refused) / sizeof(refused[0]) +
			   sizeof(of_terminal) / sizeof(of_terminal[0]) +
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

	add(r, (struct call_rule)IF(clone, CLEAR, 0, CLONE_THREAD, REFUSE));
	add(r, (struct call_rule)IF(kill, OTHER, 0, self, REFUSE));
	add(r, (struct call_rule)IF(tgkill, OTHER, 0, self, REFUSE));
	add(r, (struct call_rule)ALWAYS(sendmsg, REFUSE));
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
	for (size_t i = 0; i < sizeof(of_terminal) / sizeof(of_terminal[0]); i++)
		if (needs & CONFINE_TERMINAL)
			add(&r, of_terminal[i]);
	for (size_t i = 0; i < sizeof(refused_arguments) / sizeof(refused_arguments[0]); i++)
		add(&r, refused_arguments[i]);
	if (!(needs & CONFINE_HELPERS))
		add_own(&r);
	err = gain_nothing();
	return err ?: call_filter_install(r.v, r.n, CALL_ALLOW);
}

/* ---- both ---- */

void confine_report(const char *what, int err)
{
	char text[160];

	if (!err)
		return;
	snprintf(text, sizeof(text), "replay is not confined by %s: %s", what,
		 err == -ENOSYS || err == -EOPNOTSUPP || err == -EINVAL ? "not in this kernel"
									: strerror(-err));
	say_log(NULL, SCAP_LOG_INFO, text);
}

void confine_reader(const char *const *paths, unsigned int needs)
{
	const int helpers = !!(needs & CONFINE_HELPERS);
	struct confine_files files = {.reads = paths, .reads_all = helpers};

	while (paths[files.n_reads])
		files.n_reads++;
	tzset(); /* which reads a file */
	privileges_drop_to_replay(files.n_reads && !helpers, helpers);
	confine_report("Landlock", confine_files(&files));
	confine_report("seccomp", confine_calls(needs));
}
