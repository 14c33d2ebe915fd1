/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog DIR: each system call that has a layout of its own, at least once, in the new directory
 * DIR. For each it prints what its line must say: "NAME key=value ...", in the order in which
 * the calls are made; what depends on the machine is left out. A call made several times or by
 * libc between two others is told apart by its values.
 *
 * The lines are kept in memory and written at the end, so that the calls stand alone.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char said[64 << 10];
static size_t said_len;

static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	said_len += (size_t)vsnprintf(said + said_len, sizeof(said) - said_len, fmt, ap);
	va_end(ap);
	said[said_len++] = '\n';
}

/* The call @nr, as the kernel has it: negative errno on failure. */
static long call(long nr, const long *a)
{
	long res = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	return res < 0 ? -errno : res;
}

#define CALL(name, ...) call(SYS_##name, (const long[6]){__VA_ARGS__})
#define P(x) ((long)(x))

static unsigned int dev_of(const struct stat *st)
{
	return (unsigned int)((minor(st->st_dev) & 0xff) | major(st->st_dev) << 8 |
			      (minor(st->st_dev) & ~0xffu) << 12);
}

static void say_open(const char *what, int fd, const char *rest)
{
	struct stat st;

	if (stat("a", &st))
		abort();
	say("%s fd=%d %s dev=%X ino=%lu", what, fd, rest, dev_of(&st), st.st_ino);
}

static int opens(void)
{
	struct open_how how = {.flags = O_RDWR | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	int fd;

	fd = (int)CALL(openat, AT_FDCWD, P("a"), O_CREAT | O_RDWR | O_EXCL, 0640);
	say_open("openat", fd, "dirfd=-100 name=a flags=16423 mode=0640");
	fd = (int)CALL(open, P("a"), O_WRONLY | O_APPEND | O_TRUNC);
	say_open("open", fd, "name=a flags=266 mode=0");
	fd = (int)CALL(open, P("none"), O_RDONLY);
	say("open fd=%d name=none flags=1 mode=0 dev=0 ino=0", fd);
	fd = (int)CALL(creat, P("a"), 0600);
	say_open("creat", fd, "name=a mode=0600");
	fd = (int)CALL(openat2, AT_FDCWD, P("a"), P(&how), sizeof(how));
	say_open("openat2", fd, "dirfd=-100 name=a flags=4099 mode=0 resolve=8");
	return fd;
}

static void moves(int fd)
{
	char b[64] = {0};
	struct iovec v[3] = {{"vec", 3}, {"", 0}, {"tor", 3}}, w[2] = {{b, 2}, {b + 2, 60}};
	off_t at = 1;
	int out;

	say("write res=%ld data=hello fd=%d size=5", CALL(write, fd, P("hello"), 5L), fd);
	say("pwrite res=%ld data=HE fd=%d size=2 pos=1", CALL(pwrite64, fd, P("HE"), 2L, 1L), fd);
	say("lseek res=%ld fd=%d offset=0 whence=0", CALL(lseek, fd, 0L, SEEK_SET), fd);
	say("lseek res=%ld fd=%d offset=9 whence=9", CALL(lseek, fd, 9L, 9), fd);
	say("read res=%ld data=hHElo fd=%d size=64", CALL(read, fd, P(b), 64L), fd);
	say("pread res=%ld data=El fd=%d size=2 pos=2", CALL(pread64, fd, P(b), 2L, 2L), fd);
	say("writev res=%ld data=vector fd=%d size=6", CALL(writev, fd, P(v), 3L), fd);
	say("pwritev res=%ld data=vector fd=%d size=6 pos=20", CALL(pwritev, fd, P(v), 3L, 20L),
	    fd);
	CALL(lseek, fd, 5L, SEEK_SET);
	say("readv res=%ld size=21 data=vector.........vector", CALL(readv, fd, P(w), 2L));
	say("preadv res=%ld size=6 data=vector fd=%d pos=20", CALL(preadv, fd, P(w), 2L, 20L), fd);
	say("read res=%ld data= fd=-1 size=7", CALL(read, -1, P(b), 7L));
	out = (int)CALL(openat, AT_FDCWD, P("b"), O_CREAT | O_RDWR, 0600);
	say("sendfile res=%ld offset=4 out_fd=%d in_fd=%d size=3",
	    CALL(sendfile, out, fd, P(&at), 3L), out, fd);
	say("flock res=%ld fd=%d operation=6", CALL(flock, out, LOCK_EX | LOCK_NB), out);
	CALL(close, out);
}

static void descriptors(int fd)
{
	int p[2], res;

	res = (int)CALL(dup, fd);
	say("dup res=%d oldfd=%d", res, fd);
	say("dup2 res=%ld oldfd=%d newfd=30", CALL(dup2, fd, 30), fd);
	say("dup3 res=%ld oldfd=%d newfd=31 flags=4096", CALL(dup3, fd, 31, O_CLOEXEC), fd);
	say("dup3 res=%ld oldfd=%d newfd=%d flags=0", CALL(dup3, fd, fd, 0), fd, fd);
	say("fcntl res=%ld fd=%d cmd=4 arg=0", CALL(fcntl, fd, F_GETFL, 0), fd);
	say("fcntl res=%ld fd=%d cmd=26 arg=28", CALL(fcntl, fd, F_DUPFD_CLOEXEC, 40), fd);
	say("fstat res=%ld fd=%d", CALL(fstat, fd, P(said + sizeof(said) - 512)), fd);
	say("ioctl res=%ld fd=%d request=5401 argument=0", CALL(ioctl, fd, 0x5401, 0), fd);
	say("close res=%ld fd=31", CALL(close, 31));
	say("close res=%ld fd=31", CALL(close, 31));
	say("close_range res=%ld first=30 last=40 flags=0", CALL(close_range, 30, 40, 0));
	res = (int)CALL(pipe, P(p));
	say("pipe res=%d fd1=%d fd2=%d", res, p[0], p[1]);
	say("splice res=%ld fd_in=%d fd_out=%d size=4 flags=2",
	    CALL(splice, p[0], 0L, p[1], 0L, 4L, SPLICE_F_NONBLOCK), p[0], p[1]);
	CALL(close, p[0]);
	CALL(close, p[1]);
	res = (int)CALL(pipe2, P(p), O_CLOEXEC | O_NONBLOCK);
	say("pipe2 res=%d fd1=%d fd2=%d flags=4160", res, p[0], p[1]);
	CALL(close, p[0]);
	CALL(close, p[1]);
}

static void special_fds(void)
{
	unsigned long mask = 1ul << (SIGUSR1 - 1);
	char events[12 * 4];
	long fd;

#define MADE(fmt, ...) (say(fmt, __VA_ARGS__), CALL(close, fd))
	MADE("eventfd res=%ld initval=5", fd = CALL(eventfd, 5));
	MADE("eventfd2 res=%ld flags=4160 initval=6",
	     fd = CALL(eventfd2, 6, O_CLOEXEC | O_NONBLOCK));
	MADE("timerfd_create res=%ld clockid=1", fd = CALL(timerfd_create, CLOCK_MONOTONIC, 0));
	MADE("signalfd res=%ld fd=-1 mask=200", fd = CALL(signalfd, -1, P(&mask), 8L));
	MADE("signalfd4 res=%ld flags=4096 fd=-1 mask=200",
	     fd = CALL(signalfd4, -1, P(&mask), 8L, O_CLOEXEC));
	MADE("inotify_init res=%ld", fd = CALL(inotify_init));
	MADE("inotify_init1 res=%ld flags=64", fd = CALL(inotify_init1, O_NONBLOCK));
	MADE("epoll_create res=%ld size=3", fd = CALL(epoll_create, 3));
	fd = CALL(epoll_create1, O_CLOEXEC);
	say("epoll_create1 res=%ld flags=1", fd);
	say("epoll_wait res=%ld maxevents=4", CALL(epoll_wait, fd, P(events), 4, 0));
	CALL(close, fd);
	MADE("memfd_create fd=%ld name=mem flags=1", fd = CALL(memfd_create, P("mem"), 1));
	MADE("pidfd_open fd=%ld pid=-5", fd = CALL(pidfd_open, -5, 0));
#undef MADE
}

static void names(int dir)
{
	char cwd[PATH_MAX];
	struct stat st;

	say("mkdir res=%ld path=d mode=1ED", CALL(mkdir, P("d"), 0755));
	say("mkdirat res=%ld dirfd=%d path=e mode=1C0", CALL(mkdirat, dir, P("e"), 0700), dir);
	say("stat res=%ld path=a", CALL(stat, P("a"), P(&st)));
	say("lstat res=%ld path=none", CALL(lstat, P("none"), P(&st)));
	say("stat res=%ld path=", CALL(stat, 1L, P(&st)));
	say("newfstatat res=%ld dirfd=%d path=a flags=256",
	    CALL(newfstatat, dir, P("a"), P(&st), AT_SYMLINK_NOFOLLOW), dir);
	say("access res=%ld name=a mode=4", CALL(access, P("a"), R_OK));
	say("rename res=%ld oldpath=d newpath=f", CALL(rename, P("d"), P("f")));
	say("renameat res=%ld olddirfd=%d oldpath=f newdirfd=%d newpath=g",
	    CALL(renameat, dir, P("f"), dir, P("g")), dir, dir);
	say("renameat2 res=%ld olddirfd=%d oldpath=g newdirfd=%d newpath=e flags=2",
	    CALL(renameat2, dir, P("g"), dir, P("e"), 2), dir, dir);
	say("link res=%ld oldpath=a newpath=h", CALL(link, P("a"), P("h")));
	say("linkat res=%ld olddir=%d oldpath=a newdir=%d newpath=i flags=1024",
	    CALL(linkat, dir, P("a"), dir, P("i"), AT_SYMLINK_FOLLOW), dir, dir);
	say("symlink res=%ld target=a linkpath=j", CALL(symlink, P("a"), P("j")));
	say("symlinkat res=%ld target=a linkdirfd=%d linkpath=k",
	    CALL(symlinkat, P("a"), dir, P("k")), dir);
	say("chmod res=%ld filename=a mode=0640", CALL(chmod, P("a"), 0640));
	say("fchmod res=%ld fd=%d mode=0755", CALL(fchmod, dir, 0755), dir);
	say("fchmodat res=%ld dirfd=%d filename=a mode=04600", CALL(fchmodat, dir, P("a"), 04600),
	    dir);
	say("chown res=%ld path=a uid=7 gid=-1", CALL(chown, P("a"), 7, -1));
	say("lchown res=%ld path=j uid=0 gid=8", CALL(lchown, P("j"), 0, 8));
	say("fchown res=%ld fd=%d uid=0 gid=0", CALL(fchown, dir, 0, 0), dir);
	say("fchownat res=%ld dirfd=%d pathname=a uid=1 gid=2 flags=1024",
	    CALL(fchownat, dir, P("a"), 1, 2, AT_SYMLINK_NOFOLLOW), dir);
	say("mknod res=%ld path=p mode=010600 dev=0", CALL(mknod, P("p"), S_IFIFO | 0600, 0));
	say("unlink res=%ld path=h", CALL(unlink, P("h")));
	say("unlinkat res=%ld dirfd=%d name=e flags=512", CALL(unlinkat, dir, P("e"), AT_REMOVEDIR),
	    dir);
	say("rmdir res=%ld path=g", CALL(rmdir, P("g")));
	say("chdir res=%ld path=/", CALL(chdir, P("/")));
	say("fchdir res=%ld fd=%d", CALL(fchdir, dir), dir);
	say("getcwd res=%ld path=%s", CALL(getcwd, P(cwd), sizeof(cwd)), cwd);
	say("getcwd res=%ld path=", CALL(getcwd, P(cwd), 1L));
	say("getdents64 res=%ld fd=-1", CALL(getdents64, -1, P(cwd), 64L));
	say("mount res=%ld dev=nodev dir=none type=nofs flags=9",
	    CALL(mount, P("nodev"), P("none"), P("nofs"), MS_RDONLY | MS_NOEXEC));
	say("umount2 res=%ld name=none flags=2", CALL(umount2, P("none"), MNT_DETACH));
	say("chroot res=%ld path=none", CALL(chroot, P("none")));
}

static void memory(void)
{
	const long len = 3 * 4096;
	void *m = (void *)CALL(mmap, 0L, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0L);

	say("mmap res=%lX addr=0 length=%ld prot=3 flags=10 fd=-1 offset=0", P(m), len);
	say("mprotect res=%ld addr=%lX length=4096 prot=1", CALL(mprotect, P(m), 4096L, PROT_READ),
	    P(m));
	say("mlock res=%ld addr=%lX len=4096", CALL(mlock, P(m), 4096L), P(m));
	say("munlock res=%ld addr=%lX len=4096", CALL(munlock, P(m), 4096L), P(m));
	say("munmap res=%ld addr=%lX length=%ld", CALL(munmap, P(m), len), P(m), len);
	say("brk res=%lX addr=0", CALL(brk, 0L));
}

static void capabilities(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];
	long res;

	CALL(capget, P(&head), P(caps));
	caps[0].inheritable = 1 << CAP_CHOWN;
	res = CALL(capset, P(&head), P(caps));
	say("capset res=%ld cap_inheritable=1 cap_permitted=%lX cap_effective=%lX", res,
	    (long)caps[1].permitted << 32 | caps[0].permitted,
	    (long)caps[1].effective << 32 | caps[0].effective);
	head.version = 0;
	say("capset res=%ld cap_inheritable=1", CALL(capset, P(&head), P(caps)));
}

static void limits_and_ids(void)
{
	struct rlimit r = {64, 128}, was;
	unsigned int a, b, c;

	say("getuid uid=%ld", CALL(getuid));
	say("geteuid euid=%ld", CALL(geteuid));
	say("getgid gid=%ld", CALL(getgid));
	say("getegid egid=%ld", CALL(getegid));
	CALL(getresuid, P(&a), P(&b), P(&c));
	say("getresuid res=0 ruid=%u euid=%u suid=%u", a, b, c);
	CALL(getresgid, P(&a), P(&b), P(&c));
	say("getresgid res=0 rgid=%u egid=%u sgid=%u", a, b, c);
	say("setuid res=%ld uid=0", CALL(setuid, 0));
	say("setgid res=%ld gid=0", CALL(setgid, 0));
	say("setreuid res=%ld ruid=-1 euid=0", CALL(setreuid, -1, 0));
	say("setregid res=%ld rgid=0 egid=-1", CALL(setregid, 0, -1));
	say("setresuid res=%ld ruid=0 euid=0 suid=-1", CALL(setresuid, 0, 0, -1));
	say("setresgid res=%ld rgid=0 egid=-1 sgid=0", CALL(setresgid, 0, -1, 0));
	say("setpgid res=%ld pid=-7 pgid=3", CALL(setpgid, -7, 3));
	say("setsid res=%ld", CALL(setsid));
	say("setrlimit res=%ld cur=64 max=128 resource=4", CALL(setrlimit, RLIMIT_CORE, P(&r)));
	say("getrlimit res=%ld cur=64 max=128 resource=4", CALL(getrlimit, RLIMIT_CORE, P(&r)));
	say("getrlimit res=%ld cur=-1 max=-1 resource=255", CALL(getrlimit, 99, P(&r)));
	r.rlim_cur = 32;
	say("prlimit res=%ld newcur=32 newmax=128 oldcur=64 oldmax=128 pid=0 resource=4",
	    CALL(prlimit64, 0, RLIMIT_CORE, P(&r), P(&was)));
	say("prlimit res=%ld newcur=-1 newmax=-1 oldcur=32 oldmax=128 pid=0 resource=4",
	    CALL(prlimit64, 0, RLIMIT_CORE, 0L, P(&r)));
	say("prctl res=%ld option=15 arg2_str=renamed arg2_int=0",
	    CALL(prctl, PR_SET_NAME, P("renamed")));
	say("prctl res=%ld option=4 arg2_str= arg2_int=1", CALL(prctl, PR_SET_DUMPABLE, 1));
	say("ptrace res=%ld addr=1234 data=9 request=11 pid=-1",
	    CALL(ptrace, PTRACE_ATTACH, -1, 0x1234L, 9L));
	say("unshare res=%ld flags=1", CALL(unshare, CLONE_FILES));
	say("setns res=%ld fd=-1 nstype=16", CALL(setns, -1, CLONE_NEWNET));
}

static void signals_and_sleep(void)
{
	struct timespec ts = {0, 1500000};
	int word = 5;

	signal(SIGUSR1, SIG_IGN);
	say("kill res=%ld pid=%d sig=10", CALL(kill, getpid(), SIGUSR1), getpid());
	say("tkill res=%ld tid=%d sig=10", CALL(tkill, gettid(), SIGUSR1), gettid());
	say("tgkill res=%ld pid=%d tid=%d sig=0", CALL(tgkill, getpid(), gettid(), 0), getpid(),
	    gettid());
	say("nanosleep res=%ld interval=1500000", CALL(nanosleep, P(&ts), 0L));
	say("futex res=%ld addr=%lX op=128 val=6", CALL(futex, P(&word), FUTEX_WAIT_PRIVATE, 6, 0L),
	    P(&word));
}

static void waits(void)
{
	struct timespec ts = {0, 2000000};
	struct pollfd p[3] = {{.fd = -1}, {.events = POLLIN | POLLRDHUP}, {.events = POLLOUT}};
	struct timeval none = {0, 0};
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		abort();
	p[1].fd = s[0];
	p[2].fd = s[1];
	say("poll res=%ld fds=%d:u4 timeout=-1", CALL(poll, P(p), 3L, -1), s[1]);
	p[2].events = 0;
	say("poll res=%ld fds= timeout=0", CALL(poll, P(p), 3L, 0));
	p[2].events = POLLOUT;
	say("ppoll res=%ld fds=%d:u4", CALL(ppoll, P(p), 3L, P(&ts), 0L, 8L), s[1]);
	say("select res=%ld", CALL(select, 0, 0L, 0L, 0L, P(&none)));
	close(s[0]);
	close(s[1]);
}

static void unix_sockets(void)
{
	struct sockaddr_un un = {AF_UNIX, "u.sock"}, abstract = {AF_UNIX, "\0saker-calls"};
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + 7;
	int s[2], a, c, res;

	res = (int)CALL(socketpair, AF_UNIX, SOCK_DGRAM, 0, P(s));
	say("socketpair res=%d fd1=%d fd2=%d domain=1 type=2 proto=0", res, s[0], s[1]);
	close(s[0]);
	close(s[1]);
	a = (int)CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	say("socket fd=%d domain=1 type=524289 proto=0 flags=4096", a);
	say("bind res=%ld addr=u.sock fd=%d", CALL(bind, a, P(&un), len), a);
	say("listen res=%ld fd=%d backlog=3", CALL(listen, a, 3), a);
	c = (int)CALL(socket, AF_UNIX, SOCK_STREAM, 0);
	say("connect res=%ld tuple=u.sock fd=%d addr=u.sock", CALL(connect, c, P(&un), len), c);
	s[0] = (int)CALL(accept4, a, 0L, 0L, SOCK_CLOEXEC);
	say("accept4 fd=%d tuple=u.sock queuepct=0 queuelen=0 queuemax=3 flags=80000", s[0]);
	close(s[0]);
	close(c);
	close(a);
	a = socket(AF_UNIX, SOCK_STREAM, 0);
	say("connect res=%ld tuple=@saker-calls", CALL(connect, a, P(&abstract), 2 + 12));
	close(a);
}

static void inet_sockets(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET}, from;
	struct iovec v[2] = {{"abc", 3}, {"def", 3}};
	char b[32] = {0}, control[64];
	struct iovec w = {b, sizeof(b)};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	socklen_t len = sizeof(in);
	int a, c, s, one = 1, port, back;
	struct timeval tv = {2, 500000};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a = (int)CALL(socket, AF_INET, SOCK_STREAM, IPPROTO_TCP);
	say("socket fd=%d domain=2 type=1 proto=6 flags=0", a);
	say("setsockopt res=%ld fd=%d level=1 optname=2 val=1 optlen=4",
	    CALL(setsockopt, a, SOL_SOCKET, SO_REUSEADDR, P(&one), 4L), a);
	say("setsockopt res=%ld fd=%d level=1 optname=20 val=2500000000 optlen=16",
	    CALL(setsockopt, a, SOL_SOCKET, SO_RCVTIMEO, P(&tv), sizeof(tv)), a);
	say("setsockopt res=%ld fd=%d level=2 optname=0",
	    CALL(setsockopt, a, IPPROTO_TCP, TCP_NODELAY, P(&one), 4L), a);
	len = 4;
	say("getsockopt res=%ld fd=%d level=1 optname=3 val=1 optlen=4",
	    CALL(getsockopt, a, SOL_SOCKET, SO_TYPE, P(&back), P(&len)), a);
	len = sizeof(in);
	say("bind res=%ld addr=127.0.0.1:0 fd=%d", CALL(bind, a, P(&in), len), a);
	CALL(listen, a, 5);
	CALL(getsockname, a, P(&in), P(&len));
	port = ntohs(in.sin_port);
	say("getsockname res=0 fd=%d addr=127.0.0.1:%d", a, port);
	c = socket(AF_INET, SOCK_STREAM, 0);
	from = in;
	s = (int)CALL(connect, c, P(&in), len);
	CALL(getsockname, c, P(&from), P(&len));
	back = ntohs(from.sin_port);
	say("connect res=%d tuple=127.0.0.1:%d->127.0.0.1:%d fd=%d addr=127.0.0.1:%d", s, back,
	    port, c, port);
	CALL(getpeername, c, P(&from), P(&len));
	say("getpeername res=0 fd=%d addr=127.0.0.1:%d", c, port);
	s = (int)CALL(accept, a, 0L, 0L);
	say("accept fd=%d tuple=127.0.0.1:%d->127.0.0.1:%d queuepct=0 queuelen=0 queuemax=5", s,
	    back, port);
	say("sendto res=%ld data=ping fd=%d size=4 tuple=NULL",
	    CALL(sendto, c, P("ping"), 4L, 0, 0L, 0L), c);
	say("recvfrom res=%ld data=ping tuple=NULL fd=%d size=32",
	    CALL(recvfrom, s, P(b), 32L, 0, 0L, 0L), s);
	say("sendmsg res=%ld data=abcdef fd=%d size=6 tuple=NULL", CALL(sendmsg, c, P(&m), 0), c);
	m = (struct msghdr){.msg_iov = &w,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control)};
	say("recvmsg res=%ld size=6 data=abcdef tuple=NULL", CALL(recvmsg, s, P(&m), 0));
	say("shutdown res=%ld fd=%d how=2", CALL(shutdown, c, SHUT_RDWR), c);
	close(s);
	close(c);
	close(a);
	in.sin_port = htons(1);
	a = socket(AF_INET, SOCK_STREAM, 0);
	say("connect res=%ld tuple=127.0.0.1", CALL(connect, a, P(&in), sizeof(in)));
	close(a);
}

static void datagrams(void)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT},
			    from;
	int a = socket(AF_INET6, SOCK_DGRAM, 0), b = socket(AF_INET6, SOCK_DGRAM, 0);
	socklen_t len = sizeof(to);
	char buf[16];
	long res;

	if (bind(b, (struct sockaddr *)&to, len))
		abort();
	getsockname(b, (struct sockaddr *)&to, &len);
	say("sendto res=%ld data=six fd=%d size=3 tuple=->::1:%d",
	    CALL(sendto, a, P("six"), 3L, 0, P(&to), sizeof(to)), a, ntohs(to.sin6_port));
	res = CALL(recvfrom, b, P(buf), 16L, 0, P(&from), P(&len));
	say("recvfrom res=%ld data=six tuple=::1:%d->::1:%d fd=%d size=16", res,
	    ntohs(from.sin6_port), ntohs(to.sin6_port), b);
	close(a);
	close(b);
}

static void processes(const char *self)
{
	char *const argv[] = {"calls-child", "exit", "two words", NULL};
	char *const envp[] = {"A=1", "B=two", NULL};
	int status, pid;

	pid = (int)CALL(fork);
	if (!pid)
		_exit((int)CALL(execve, P(self), P(argv), P(envp)));
	say("fork res=%d comm=renamed flags=0", pid);
	waitpid(pid, &status, 0);
	pid = vfork(); /* as a function of ours its frame would be shared with the child */
	if (!pid)
		_exit(3);
	say("vfork res=%d comm=renamed", pid);
	waitpid(pid, &status, 0);
	say("execve res=%ld exe=calls-child args=exit.two words. comm=renamed env=A=1.B=two. "
	    "filename=none",
	    CALL(execve, P("none"), P(argv), P(envp)));
	say("execveat res=%ld exe=calls-child dirfd=-100 pathname=none",
	    CALL(execveat, AT_FDCWD, P("none"), P(argv), P(envp), AT_SYMLINK_NOFOLLOW));
}

int main(int argc, char **argv)
{
	char self[PATH_MAX];
	int fd, dir;

	if (argc > 1 && !strcmp(argv[1], "exit"))
		return 7;
	if (argc != 2 || !realpath(argv[0], self) || chdir(argv[1]))
		return 1;
	fd = opens();
	moves(fd);
	descriptors(fd);
	special_fds();
	dir = open(".", O_RDONLY | O_DIRECTORY);
	names(dir);
	memory();
	capabilities();
	limits_and_ids();
	signals_and_sleep();
	waits();
	unix_sockets();
	inet_sockets();
	datagrams();
	processes(self);
	return fwrite(said, 1, said_len, stdout) != said_len;
}
