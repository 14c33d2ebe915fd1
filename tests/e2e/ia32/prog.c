/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog DIR: 32-bit calls, each way in which their arguments differ from those of x86_64, in the
 * new directory DIR. For each it prints what its line must say: "NAME key=value ...".
 *
 * A 32-bit program without a library, so that no 32-bit one is needed: gcc -m32 -nostdlib. The
 * values that calls take are written here as the ABI has them.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

static char said[16 << 10];
static u32 said_len;

static int call(u32 nr, u32 a, u32 b, u32 c, u32 d, u32 e, u32 f)
{
	int res;

	/* The sixth goes in ebp, which holds the frame: by way of the stack. */
	__asm__ volatile("pushl %[f]\n\tpushl %%ebp\n\tmovl 4(%%esp), %%ebp\n\tint $0x80\n\t"
			 "popl %%ebp\n\taddl $4, %%esp"
			 : "=a"(res)
			 : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), [f] "g"(f)
			 : "memory", "cc");
	return res;
}

#define CALL6(nr, a, b, c, d, e, f, ...)                                                           \
	call(nr, (u32)(a), (u32)(b), (u32)(c), (u32)(d), (u32)(e), (u32)(f))
#define CALL(...) CALL6(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static void put(char c)
{
	if (said_len < sizeof(said))
		said[said_len++] = c;
}

static void put_num(u64 v, u32 base)
{
	char digits[24];
	int n = 0;

	/* No 64-bit division: that is in a library. */
	if (base == 16) {
		do
			digits[n++] = "0123456789ABCDEF"[v & 15];
		while (v >>= 4);
	} else {
		u32 w = (u32)v;

		do
			digits[n++] = '0' + w % 10;
		while (w /= 10);
	}
	while (n)
		put(digits[--n]);
}

/* %d and %x of 32 bits, %s. */
static void say(const char *fmt, ...)
{
	__builtin_va_list ap;

	__builtin_va_start(ap, fmt);
	for (; *fmt; fmt++) {
		int v;

		if (*fmt != '%') {
			put(*fmt);
			continue;
		}
		fmt++;
		if (*fmt == 's') {
			for (const char *s = __builtin_va_arg(ap, const char *); *s; s++)
				put(*s);
			continue;
		}
		v = __builtin_va_arg(ap, int);
		if (*fmt == 'd' && v < 0) {
			put('-');
			v = -v;
		}
		put_num((u32)v, *fmt == 'x' ? 16 : 10);
	}
	__builtin_va_end(ap);
	put('\n');
}

enum {
	NR_EXIT = 1,
	NR_FORK = 2,
	NR_READ = 3,
	NR_WRITE = 4,
	NR_OPEN = 5,
	NR_CLOSE = 6,
	NR_WAITPID = 7,
	NR_EXECVE = 11,
	NR_CHDIR = 12,
	NR_LSEEK = 19,
	NR_GETPID = 20,
	NR_SETRLIMIT = 75,
	NR_MMAP = 90,
	NR_MUNMAP = 91,
	NR_SOCKETCALL = 102,
	NR_IPC = 117,
	NR_CLONE = 120,
	NR_LLSEEK = 140,
	NR_READV = 145,
	NR_WRITEV = 146,
	NR_NANOSLEEP = 162,
	NR_POLL = 168,
	NR_SETRESUID16 = 164,
	NR_PREAD64 = 180,
	NR_PWRITE64 = 181,
	NR_SENDFILE = 187,
	NR_UGETRLIMIT = 191,
	NR_MMAP2 = 192,
	NR_STAT64 = 195,
	NR_FSTAT64 = 197,
	NR_SETRESUID32 = 208,
	NR_GETDENTS64 = 220,
	NR_FCNTL64 = 221,
	NR_SENDFILE64 = 239,
	NR_OPENAT = 295,
	NR_FSTATAT64 = 300,
	NR_PPOLL = 309,
	NR_PREADV = 333,
	NR_PWRITEV = 334,
	NR_PRLIMIT64 = 340,
	NR_SENDMMSG = 345,
	NR_SOCKET = 359,
	NR_SENDMSG = 370,
	NR_SHUTDOWN = 373,
	NR_CLOCK_NANOSLEEP = 267,
	NR_CLOCK_NANOSLEEP_TIME64 = 407,
	NR_PPOLL_TIME64 = 414,
};

static int files(void)
{
	static char b[64];
	struct {
		u32 base, len;
	} v[2] = {{(u32) "vec", 3}, {(u32) "tor", 3}};
	u32 at32 = 1;
	u64 at64 = 2;
	int fd, out;

	fd = CALL(NR_OPENAT, -100, "a", 0102, 0640);
	say("openat fd=%d dirfd=-100 name=a flags=16391 mode=0640", fd);
	out = CALL(NR_OPEN, "b", 0100102, 0600);
	say("open fd=%d name=b flags=18439 mode=0600", out);
	say("write res=%d data=hello fd=%d size=5", CALL(NR_WRITE, fd, "hello", 5), fd);
	say("pwrite res=%d data=XY fd=%d size=2 pos=4294967299",
	    CALL(NR_PWRITE64, out, "XY", 2, 3, 1), out);
	say("pread res=%d data=Y fd=%d size=7 pos=4294967300", CALL(NR_PREAD64, out, b, 7, 4, 1),
	    out);
	say("lseek res=%d fd=%d offset=-2 whence=2", CALL(NR_LSEEK, fd, -2, 2), fd);
	say("llseek res=%d fd=%d offset=4294967297 whence=0", CALL(NR_LLSEEK, out, 1, 1, b, 0),
	    out);
	say("writev res=%d data=vector fd=%d size=6", CALL(NR_WRITEV, fd, v, 2), fd);
	say("pwritev res=%d data=vector fd=%d size=6 pos=4294967296",
	    CALL(NR_PWRITEV, out, v, 2, 0, 1), out);
	v[0].base = (u32)b;
	v[1].base = (u32)b + 3;
	say("preadv res=%d size=6 data=vector fd=%d pos=3", CALL(NR_PREADV, fd, v, 2, 3, 0), fd);
	say("sendfile res=%d offset=4 out_fd=%d in_fd=%d size=3",
	    CALL(NR_SENDFILE, out, fd, &at32, 3), out, fd);
	say("sendfile res=%d offset=5 out_fd=%d in_fd=%d size=3",
	    CALL(NR_SENDFILE64, out, fd, &at64, 3), out, fd);
	say("fcntl res=%d fd=%d cmd=4 arg=0", CALL(NR_FCNTL64, fd, 3), fd);
	say("stat64 res=%d path=a", CALL(NR_STAT64, "a", said + 8192));
	say("fstat64 res=%d fd=%d", CALL(NR_FSTAT64, -1, said + 8192), -1);
	say("newfstatat res=%d dirfd=-100 path=none flags=0",
	    CALL(NR_FSTATAT64, -100, "none", said + 8192));
	say("close res=%d fd=%d", CALL(NR_CLOSE, out), out);
	say("close res=%d fd=-3", CALL(NR_CLOSE, -3));
	return fd;
}

static void memory(int fd)
{
	u32 old[6] = {0, 8192, 3, 0x22, -1, 0};
	int p;

	p = CALL(NR_MMAP2, 0, 4096, 1, 2, fd, 1);
	say("mmap2 res=%x addr=0 length=4096 prot=1 flags=2 fd=%d pgoffset=1", p, fd);
	say("munmap res=%d addr=%x length=4096", CALL(NR_MUNMAP, p, 4096), p);
	p = CALL(NR_MMAP, old);
	say("mmap res=%x addr=0 length=8192 prot=3 flags=10 fd=-1 offset=0", p);
}

static void times(void)
{
	static u32 t32[2] = {0, 1234567};
	static u64 t64[2] = {0, 2345678};
	u32 fds[2] = {-1, 1};

	say("nanosleep res=%d interval=1234567", CALL(NR_NANOSLEEP, t32, 0));
	say("clock_nanosleep res=%d clockid=1 flags=0 request=1234567",
	    CALL(NR_CLOCK_NANOSLEEP, 1, 0, t32, 0));
	say("clock_nanosleep res=%d clockid=1 flags=0 request=2345678",
	    CALL(NR_CLOCK_NANOSLEEP_TIME64, 1, 0, t64, 0));
	say("poll res=%d fds= timeout=2", CALL(NR_POLL, fds, 1, 2));
	/* The kernel leaves the time that is left there. */
	say("ppoll res=%d timeout=1234567", CALL(NR_PPOLL, fds, 1, t32, 0, 8));
	say("ppoll res=%d timeout=2345678", CALL(NR_PPOLL_TIME64, fds, 1, t64, 0, 8));
}

static void limits(void)
{
	u32 lim[2] = {0, 0};
	int res = CALL(NR_UGETRLIMIT, 7, lim);

	say("getrlimit res=%d cur=%d max=%d resource=7", res, lim[0], lim[1]);
	say("setrlimit res=%d cur=%d max=%d resource=7", CALL(NR_SETRLIMIT, 7, lim), lim[0],
	    lim[1]);
	say("setresuid res=%d ruid=-1 euid=-1 suid=-1", CALL(NR_SETRESUID16, 65535, 65535, 65535));
	say("setresuid res=%d ruid=-1 euid=-1 suid=-1", CALL(NR_SETRESUID32, -1, -1, -1));
}

static void sockets(void)
{
	u32 a[6] = {2, 2, 0}, fds[2] = {0, 0};
	struct {
		u32 base, len;
	} v = {(u32) "message", 7};
	u32 msg[7] = {0, 0, (u32)&v, 1, 0, 0, 0};
	u32 two[2][8] = {{0, 0, (u32)&v, 1, 0, 0, 0, 0}, {0, 0, (u32)&v, 1, 0, 0, 0, 0}};
	int fd, res;

	fd = CALL(NR_SOCKETCALL, 1, a);
	say("socket fd=%d domain=2 type=2 proto=0", fd);
	a[0] = fd, a[1] = 1;
	say("listen res=%d fd=%d backlog=1", CALL(NR_SOCKETCALL, 4, a), fd);
	a[0] = 1, a[1] = 1, a[2] = 0, a[3] = (u32)fds;
	res = CALL(NR_SOCKETCALL, 8, a);
	say("socketpair res=%d fd1=%d fd2=%d domain=1 type=1 proto=0", res, fds[0], fds[1]);
	a[0] = fds[0], a[1] = (u32) "sent", a[2] = 4, a[3] = 0x4000;
	say("sendto res=%d data=sent fd=%d size=4", CALL(NR_SOCKETCALL, 9, a), fds[0]);
	a[0] = fds[1], a[1] = (u32)said + 8192, a[2] = 9, a[3] = 0;
	say("recvfrom res=%d data=sent fd=%d size=9", CALL(NR_SOCKETCALL, 10, a), fds[1]);
	say("sendmsg res=%d data=message fd=%d size=7", CALL(NR_SENDMSG, fds[0], msg, 0), fds[0]);
	a[0] = fds[0], a[1] = (u32)msg, a[2] = 0;
	say("sendmsg res=%d data=message fd=%d size=7", CALL(NR_SOCKETCALL, 16, a), fds[0]);
	say("sendmmsg res=%d fd=%d size=14 data=message tuple=NULL messages=7 7:message",
	    CALL(NR_SENDMMSG, fds[0], two, 2, 0), fds[0]);
	say("shutdown res=%d fd=%d how=2", CALL(NR_SHUTDOWN, fds[0], 2), fds[0]);
	say("socket fd=%d domain=99 type=1 proto=0", CALL(NR_SOCKET, 99, 1, 0));
	/* semget, of no key and no semaphores */
	say("semget res=%d key=4D nsems=0 semflg=0", CALL(NR_IPC, 2, 77, 0, 0));
}

static void processes(void)
{
	const char *argv[] = {"zero", "one", "", 0}, *envp[] = {"E=1", 0};
	int status, pid;

	say("execve res=%d exe=zero args=one.. filename=none", CALL(NR_EXECVE, "none", argv, envp));
	pid = CALL(NR_FORK);
	if (!pid)
		CALL(NR_EXIT, 9);
	say("fork res=%d", pid);
	CALL(NR_WAITPID, pid, &status, 0);
	pid = CALL(NR_CLONE, 17, 0, 0, 0, 0);
	if (!pid)
		CALL(NR_EXIT, 9);
	say("clone res=%d", pid);
	CALL(NR_WAITPID, pid, &status, 0);
}

/* The stack that the kernel left: argc, argv. */
__attribute__((used)) static void run(u32 *stack)
{
	if (stack[0] != 2 || CALL(NR_CHDIR, stack[2]))
		CALL(NR_EXIT, 1);
	memory(files());
	times();
	limits();
	sockets();
	processes();
	CALL(NR_WRITE, 1, said, said_len);
	CALL(NR_EXIT, 3);
}

__asm__(".globl _start\n_start:\n\txorl %ebp, %ebp\n\tmovl %esp, %eax\n\tandl $-16, %esp\n\t"
	"subl $12, %esp\n\tpushl %eax\n\tcall run\n");
