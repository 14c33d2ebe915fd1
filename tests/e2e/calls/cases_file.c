/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files and moving their data. */
#include "case.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

/* Converts a device number to that of the format. */
static unsigned int dev_of(const struct stat *st)
{
	return (unsigned int)((minor(st->st_dev) & 0xff) | major(st->st_dev) << 8 |
			      (minor(st->st_dev) & ~0xffu) << 12);
}

/* A call that opened "a". */
static void say_open(const char *what, long fd, const char *rest)
{
	struct stat st;

	if (stat("a", &st))
		broken("a");
	say("%s fd=%ld %s dev=%X ino=%lu", what, fd, rest, dev_of(&st), st.st_ino);
}

static void do_openat(void)
{
	const long fd = CALL(openat, AT_FDCWD, P("a"), O_CREAT | O_RDWR | O_EXCL, 0640);

	say_open("openat", fd, "dirfd=-100 name=a flags=16423 mode=0640");
	say("openat fd=%ld dirfd=-100 name=a flags=39 mode=0640",
	    CALL(openat, AT_FDCWD, P("a"), O_CREAT | O_RDWR | O_EXCL, 0640));
	say("openat fd=-14(EFAULT) dirfd=-100(AT_FDCWD) name=<NA>");
	CALL(openat, AT_FDCWD, 1L, O_RDONLY);
	say("openat fd=%ld name=none flags=4097 "
	    "raw_flags=3014656(O_NOFOLLOW|O_NOATIME|O_CLOEXEC|O_PATH)",
	    CALL(openat, AT_FDCWD, P("none"), O_PATH | O_NOFOLLOW | O_NOATIME | O_CLOEXEC));
}

static void do_open(void)
{
	make_file("a", "");
	say_open("open", CALL(open, P("a"), O_WRONLY | O_APPEND | O_TRUNC),
		 "name=a flags=266 mode=0");
	say("open fd=%ld name=none flags=1 mode=0 dev=0 ino=0", CALL(open, P("none"), O_RDONLY));
	say("open fd=%ld name=none flags=1 mode=0 raw_flags=8448(O_NOCTTY|O_ASYNC)",
	    CALL(open, P("none"), O_NOCTTY | O_ASYNC));
	say("open fd=%ld name=none flags=0 mode=0 raw_flags=3(O_ACCMODE)",
	    CALL(open, P("none"), O_ACCMODE));
}

static void do_creat(void)
{
	say_open("creat", CALL(creat, P("a"), 0600), "name=a mode=0600");
	say("creat fd=%ld name=none/a mode=0600 dev=0 ino=0", CALL(creat, P("none/a"), 0600));
}

static void do_openat2(void)
{
	struct open_how how = {.flags = O_RDWR | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};

	make_file("a", "");
	say_open("openat2", CALL(openat2, AT_FDCWD, P("a"), P(&how), sizeof(how)),
		 "dirfd=-100 name=a flags=4099 mode=0 resolve=8");
	say("openat2 fd=%ld dirfd=-100 name=none flags=4099 resolve=8",
	    CALL(openat2, AT_FDCWD, P("none"), P(&how), sizeof(how)));
	how.flags = O_PATH;
	say("openat2 fd=%ld name=none flags=1 raw_flags=2097152(O_PATH)",
	    CALL(openat2, AT_FDCWD, P("none"), P(&how), sizeof(how)));
}

static void do_close(void)
{
	const int fd = make_file("a", "");

	say("close res=%ld fd=%d", CALL(close, fd), fd);
	say("close res=%ld fd=%d", CALL(close, fd), fd);
}

static void do_read(void)
{
	int fd = make_file("a", "hello");
	char b[64];

	lseek(fd, 0, SEEK_SET);
	say("read res=%ld data=hello fd=%d size=64", CALL(read, fd, P(b), 64L), fd);
	say("read res=%ld data= fd=-1 size=7", CALL(read, -1, P(b), 7L));
}

static void do_write(void)
{
	int fd = make_file("a", "");

	say("write res=%ld data=hello fd=%d size=5", CALL(write, fd, P("hello"), 5L), fd);
	say("write res=%ld fd=-1 size=2", CALL(write, -1, P("no"), 2L));
}

static void do_pread64(void)
{
	int fd = make_file("a", "hEllo");
	char b[64];

	say("pread res=%ld data=El fd=%d size=2 pos=1", CALL(pread64, fd, P(b), 2L, 1L), fd);
	say("pread res=%ld fd=%d size=2 pos=-1", CALL(pread64, fd, P(b), 2L, -1L), fd);
}

static void do_pwrite64(void)
{
	int fd = make_file("a", "");

	say("pwrite res=%ld data=HE fd=%d size=2 pos=1", CALL(pwrite64, fd, P("HE"), 2L, 1L), fd);
	say("pwrite res=%ld fd=-1 size=2 pos=1", CALL(pwrite64, -1, P("HE"), 2L, 1L));
}

static void do_lseek(void)
{
	int fd = make_file("a", "hello");

	say("lseek res=%ld fd=%d offset=3 whence=0", CALL(lseek, fd, 3L, SEEK_SET), fd);
	say("lseek res=%ld fd=%d offset=9 whence=9", CALL(lseek, fd, 9L, 9), fd);
}

static void do_readv(void)
{
	int fd = make_file("a", "vec1tor2");
	char b[64];
	struct iovec w[2] = {{b, 2}, {b + 2, 60}};

	lseek(fd, 0, SEEK_SET);
	say("readv res=%ld size=8 data=vec1tor2 fd=%d", CALL(readv, fd, P(w), 2L), fd);
	say("readv res=%ld size=0 data= fd=-1", CALL(readv, -1, P(w), 2L));
}

static void do_preadv(void)
{
	int fd = make_file("a", "0123vec1tor2");
	char b[64];
	struct iovec w[2] = {{b, 2}, {b + 2, 60}};

	say("preadv res=%ld size=8 data=vec1tor2 fd=%d pos=4", CALL(preadv, fd, P(w), 2L, 4L), fd);
	say("preadv res=%ld size=0 data= fd=-1 pos=20", CALL(preadv, -1, P(w), 2L, 20L));
}

static void do_writev(void)
{
	int fd = make_file("a", "");
	struct iovec v[3] = {{"vec", 3}, {"", 0}, {"tor", 3}};

	say("writev res=%ld data=vector fd=%d size=6", CALL(writev, fd, P(v), 3L), fd);
	say("writev res=%ld fd=-1 size=6", CALL(writev, -1, P(v), 3L));
}

static void do_pwritev(void)
{
	int fd = make_file("a", "");
	struct iovec v[3] = {{"vec", 3}, {"", 0}, {"tor", 3}};

	say("pwritev res=%ld data=vector fd=%d size=6 pos=20", CALL(pwritev, fd, P(v), 3L, 20L),
	    fd);
	say("pwritev res=%ld fd=-1 size=6 pos=20", CALL(pwritev, -1, P(v), 3L, 20L));
}

static void do_preadv2(void)
{
	int fd = make_file("a", "0123vec1tor2");
	char b[64];
	struct iovec w[2] = {{b, 2}, {b + 2, 60}};

	say("preadv2 res=%ld size=8 data=vec1tor2 fd=%d pos=4 flags=1",
	    CALL(preadv2, fd, P(w), 2L, 4L, 0L, 1), fd);
	say("preadv2 res=%ld size=0 data= fd=-1 pos=-1 flags=0",
	    CALL(preadv2, -1, P(w), 2L, -1L, -1L, 0));
}

static void do_pwritev2(void)
{
	int fd = make_file("a", "");
	struct iovec v[3] = {{"vec", 3}, {"", 0}, {"tor", 3}};

	say("pwritev2 res=%ld data=vector fd=%d size=6 pos=20 flags=2",
	    CALL(pwritev2, fd, P(v), 3L, 20L, 0L, 2), fd);
	say("pwritev2 res=%ld fd=-1 size=6 pos=0 flags=16",
	    CALL(pwritev2, -1, P(v), 3L, 0L, 0L, 16));
}

static void do_sendfile(void)
{
	const int in = make_file("a", "0123456789"), out = make_file("b", "");
	off_t at = 1;

	say("sendfile res=%ld offset=4 out_fd=%d in_fd=%d size=3",
	    CALL(sendfile, out, in, P(&at), 3L), out, in);
	say("sendfile res=%ld out_fd=-1 in_fd=%d size=3", CALL(sendfile, -1, in, 0L, 3L), in);
}

static void do_copy_file_range(void)
{
	const int in = make_file("a", "0123456789"), out = make_file("b", "");
	loff_t from = 2, to = 5;

	say("copy_file_range res=%ld fdout=%d offout=5 fdin=%d offin=2 len=4",
	    CALL(copy_file_range, in, P(&from), out, P(&to), 4L, 0), out, in);
	say("copy_file_range res=%ld fdout=-1 offout=<NA> fdin=%d offin=6 len=4",
	    CALL(copy_file_range, in, P(&from), -1, 0L, 4L, 0), in);
}

static void do_splice(void)
{
	int p[2];

	if (pipe(p))
		broken("pipe");
	say("splice res=%ld fd_in=%d fd_out=%d size=4 flags=2",
	    CALL(splice, p[0], 0L, p[1], 0L, 4L, SPLICE_F_NONBLOCK), p[0], p[1]);
}

static void do_flock(void)
{
	const int fd = make_file("a", "");

	say("flock res=%ld fd=%d operation=6", CALL(flock, fd, 2 | 4), fd);
	say("flock res=%ld fd=-1 operation=8", CALL(flock, -1, 8));
}

static void do_getdents64(void)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	char b[512];

	say("getdents64 res=%ld fd=%d", CALL(getdents64, dir, P(b), sizeof(b)), dir);
	say("getdents64 res=%ld fd=-1", CALL(getdents64, -1, P(b), 64L));
}

static void do_getdents(void)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	char b[512];

	say("getdents res=%ld fd=%d", CALL(getdents, dir, P(b), sizeof(b)), dir);
	say("getdents res=%ld fd=-1", CALL(getdents, -1, P(b), 64L));
}

static void do_fsync(void)
{
	const int fd = make_file("a", "");

	say("fsync res=%ld fd=%d", CALL(fsync, fd), fd);
	say("fsync res=%ld fd=-1", CALL(fsync, -1));
}

static void do_fdatasync(void)
{
	const int fd = make_file("a", "");

	say("fdatasync res=%ld fd=%d", CALL(fdatasync, fd), fd);
	say("fdatasync res=%ld fd=-1", CALL(fdatasync, -1));
}

static void do_syncfs(void)
{
	say("syncfs res=%ld fd=-1", CALL(syncfs, -1));
}

static void do_truncate(void)
{
	make_file("a", "");
	say("truncate res=%ld path=a length=5", CALL(truncate, P("a"), 5L));
	say("truncate res=%ld path=none length=-5", CALL(truncate, P("none"), -5L));
}

static void do_ftruncate(void)
{
	const int fd = make_file("a", "");

	say("ftruncate res=%ld fd=%d length=77", CALL(ftruncate, fd, 77L), fd);
	say("ftruncate res=%ld fd=%d length=-1", CALL(ftruncate, fd, -1L), fd);
}

static void do_readahead(void)
{
	const int fd = make_file("a", "hello");

	say("readahead res=%ld fd=%d offset=1 count=4", CALL(readahead, fd, 1L, 4L), fd);
	say("readahead res=%ld fd=-1 offset=1 count=4", CALL(readahead, -1, 1L, 4L));
}

static void do_fadvise64(void)
{
	const int fd = make_file("a", "hello");

	say("fadvise64 res=%ld fd=%d offset=1 len=4 advice=3", CALL(fadvise64, fd, 1L, 4L, 3), fd);
	say("fadvise64 res=%ld fd=%d offset=0 len=0 advice=77", CALL(fadvise64, fd, 0L, 0L, 77),
	    fd);
}

static void do_sync_file_range(void)
{
	const int fd = make_file("a", "hello");

	say("sync_file_range res=%ld fd=%d offset=1 nbytes=4 flags=3",
	    CALL(sync_file_range, fd, 1L, 4L, 3), fd);
	say("sync_file_range res=%ld fd=%d offset=-1 nbytes=4 flags=2",
	    CALL(sync_file_range, fd, -1L, 4L, 2), fd);
}

static void do_fallocate(void)
{
	const int fd = make_file("a", "hello");

	say("fallocate res=%ld fd=%d mode=1 offset=2 len=1000", CALL(fallocate, fd, 1, 2L, 1000L),
	    fd);
	say("fallocate res=%ld fd=%d mode=0 offset=-2 len=1000", CALL(fallocate, fd, 0, -2L, 1000L),
	    fd);
}

static void do_cachestat(void)
{
	const int fd = make_file("a", "hello");
	const unsigned long range[2] = {0, 4096};
	unsigned long st[5];
	const long res = CALL(cachestat, fd, P(range), P(st), 0);

	if (res == 0)
		say("cachestat res=0 cached=%lu dirty=%lu writeback=%lu evicted=%lu "
		    "recently_evicted=%lu fd=%d off=0 len=4096 flags=0",
		    st[0], st[1], st[2], st[3], st[4], fd);
	else
		say("cachestat res=%ld cached=<NA> fd=%d off=0 len=4096 flags=0", res, fd);
	say("cachestat res=%ld cached=<NA> dirty=<NA> fd=-1 off=<NA> len=<NA> flags=5",
	    CALL(cachestat, -1, 1L, P(st), 5));
}

static void do_tee(void)
{
	int p[2], q[2];

	if (pipe(p) || pipe(q) || write(p[1], "hello", 5) != 5)
		broken("pipe");
	say("tee res=%ld fd_in=%d fd_out=%d len=3 flags=2",
	    CALL(tee, p[0], q[1], 3L, SPLICE_F_NONBLOCK), p[0], q[1]);
	say("tee res=%ld fd_in=-1 fd_out=%d len=3 flags=0", CALL(tee, -1, q[1], 3L, 0), q[1]);
}

static void do_vmsplice(void)
{
	const struct iovec v[2] = {{"vec", 3}, {"tor", 3}};
	int p[2];

	if (pipe(p))
		broken("pipe");
	say("vmsplice res=%ld fd=%d size=6 flags=2",
	    CALL(vmsplice, p[1], P(v), 2L, SPLICE_F_NONBLOCK), p[1]);
	say("vmsplice res=%ld fd=-1 size=6 flags=0", CALL(vmsplice, -1, P(v), 2L, 0));
}

/* clang-format off */
const struct call_case cases_file[] = {
	{"read", do_read},
	{"write", do_write},
	{"open", do_open},
	{"close", do_close},
	{"lseek", do_lseek},
	{"pread64", do_pread64},
	{"pwrite64", do_pwrite64},
	{"readv", do_readv},
	{"writev", do_writev},
	{"sendfile", do_sendfile},
	{"flock", do_flock},
	{"fsync", do_fsync},
	{"fdatasync", do_fdatasync},
	{"truncate", do_truncate},
	{"ftruncate", do_ftruncate},
	{"getdents", do_getdents},
	{"creat", do_creat},
	{"readahead", do_readahead},
	{"getdents64", do_getdents64},
	{"fadvise64", do_fadvise64},
	{"openat", do_openat},
	{"splice", do_splice},
	{"tee", do_tee},
	{"sync_file_range", do_sync_file_range},
	{"vmsplice", do_vmsplice},
	{"fallocate", do_fallocate},
	{"preadv", do_preadv},
	{"pwritev", do_pwritev},
	{"syncfs", do_syncfs},
	{"copy_file_range", do_copy_file_range},
	{"preadv2", do_preadv2},
	{"pwritev2", do_pwritev2},
	{"openat2", do_openat2},
	{"cachestat", do_cachestat},
	{NULL, NULL},
};
