/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about names, and about files by name. */
#include "case.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>

static int this_dir(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		broken(".");
	return fd;
}

static void do_mkdir(void)
{
	say("mkdir res=%ld path=d mode=1ED", CALL(mkdir, P("d"), 0755));
	say("mkdir res=%ld path=d mode=1C0", CALL(mkdir, P("d"), 0700));
}

static void do_mkdirat(void)
{
	const int dir = this_dir();

	say("mkdirat res=%ld dirfd=%d path=e mode=1C0", CALL(mkdirat, dir, P("e"), 0700), dir);
	say("mkdirat res=%ld dirfd=-1 path=e mode=1C0", CALL(mkdirat, -1, P("e"), 0700));
}

static void do_rmdir(void)
{
	mkdir("d", 0755);
	say("rmdir res=%ld path=d", CALL(rmdir, P("d")));
	say("rmdir res=%ld path=d", CALL(rmdir, P("d")));
}

static void do_stat(void)
{
	struct stat st;

	make_file("a", "");
	say("stat res=%ld path=a", CALL(stat, P("a"), P(&st)));
	say("stat res=%ld path=<NA>", CALL(stat, 1L, P(&st)));
}

static void do_lstat(void)
{
	struct stat st;

	make_file("a", "");
	say("lstat res=%ld path=a", CALL(lstat, P("a"), P(&st)));
	say("lstat res=%ld path=none", CALL(lstat, P("none"), P(&st)));
}

static void do_fstat(void)
{
	const int fd = make_file("a", "");
	struct stat st;

	say("fstat res=%ld fd=%d", CALL(fstat, fd, P(&st)), fd);
	say("fstat res=%ld fd=-1", CALL(fstat, -1, P(&st)));
}

static void do_newfstatat(void)
{
	const int dir = this_dir();
	struct stat st;

	make_file("a", "");
	say("newfstatat res=%ld dirfd=%d path=a flags=256",
	    CALL(newfstatat, dir, P("a"), P(&st), AT_SYMLINK_NOFOLLOW), dir);
	say("newfstatat res=%ld dirfd=%d path=none flags=0",
	    CALL(newfstatat, dir, P("none"), P(&st), 0), dir);
}

static void do_access(void)
{
	make_file("a", "");
	say("access res=%ld name=a mode=4", CALL(access, P("a"), R_OK));
	say("access res=%ld name=none mode=0", CALL(access, P("none"), F_OK));
}

static void do_rename(void)
{
	make_file("a", "");
	say("rename res=%ld oldpath=a newpath=f", CALL(rename, P("a"), P("f")));
	say("rename res=%ld oldpath=a newpath=f", CALL(rename, P("a"), P("f")));
}

static void do_renameat(void)
{
	const int dir = this_dir();

	make_file("f", "");
	say("renameat res=%ld olddirfd=%d oldpath=f newdirfd=%d newpath=g",
	    CALL(renameat, dir, P("f"), dir, P("g")), dir, dir);
	say("renameat res=%ld olddirfd=-100 oldpath=f newdirfd=-1 newpath=g",
	    CALL(renameat, AT_FDCWD, P("f"), -1, P("g")));
}

static void do_renameat2(void)
{
	const int dir = this_dir();

	make_file("g", "");
	make_file("e", "");
	say("renameat2 res=%ld olddirfd=%d oldpath=g newdirfd=%d newpath=e flags=2",
	    CALL(renameat2, dir, P("g"), dir, P("e"), 2), dir, dir);
	say("renameat2 res=%ld olddirfd=-100 oldpath=g newdirfd=-100 newpath=e flags=1",
	    CALL(renameat2, AT_FDCWD, P("g"), AT_FDCWD, P("e"), 1));
}

static void do_link(void)
{
	make_file("a", "");
	say("link res=%ld oldpath=a newpath=h", CALL(link, P("a"), P("h")));
	say("link res=%ld oldpath=none newpath=h", CALL(link, P("none"), P("h")));
}

static void do_linkat(void)
{
	const int dir = this_dir();

	make_file("a", "");
	say("linkat res=%ld olddir=%d oldpath=a newdir=%d newpath=i flags=1024",
	    CALL(linkat, dir, P("a"), dir, P("i"), AT_SYMLINK_FOLLOW), dir, dir);
	say("linkat res=%ld olddir=%d oldpath=a newdir=-1 newpath=i flags=0",
	    CALL(linkat, dir, P("a"), -1, P("i"), 0), dir);
}

static void do_unlink(void)
{
	make_file("h", "");
	say("unlink res=%ld path=h", CALL(unlink, P("h")));
	say("unlink res=%ld path=h", CALL(unlink, P("h")));
}

static void do_unlinkat(void)
{
	const int dir = this_dir();

	mkdir("e", 0700);
	say("unlinkat res=%ld dirfd=%d name=e flags=512", CALL(unlinkat, dir, P("e"), AT_REMOVEDIR),
	    dir);
	say("unlinkat res=%ld dirfd=%d name=e flags=0", CALL(unlinkat, dir, P("e"), 0), dir);
}

static void do_symlink(void)
{
	say("symlink res=%ld target=a linkpath=j", CALL(symlink, P("a"), P("j")));
	say("symlink res=%ld target=b linkpath=j", CALL(symlink, P("b"), P("j")));
}

static void do_symlinkat(void)
{
	const int dir = this_dir();

	say("symlinkat res=%ld target=a linkdirfd=%d linkpath=k",
	    CALL(symlinkat, P("a"), dir, P("k")), dir);
	say("symlinkat res=%ld target=a linkdirfd=-1 linkpath=k",
	    CALL(symlinkat, P("a"), -1, P("k")));
}

static void do_readlink(void)
{
	char to[64];

	if (symlink("here/and/there", "l"))
		broken("l");
	say("readlink res=%ld target=here/and/there path=l size=64",
	    CALL(readlink, P("l"), P(to), sizeof(to)));
	say("readlink res=%ld target=here path=l size=4", CALL(readlink, P("l"), P(to), 4L));
	say("readlink res=%ld target=<NA> path=none size=64",
	    CALL(readlink, P("none"), P(to), sizeof(to)));
}

static void do_chmod(void)
{
	make_file("a", "");
	say("chmod res=%ld filename=a mode=0640", CALL(chmod, P("a"), 0640));
	say("chmod res=%ld filename=none mode=0640", CALL(chmod, P("none"), 0640));
}

static void do_fchmod(void)
{
	const int dir = this_dir();

	say("fchmod res=%ld fd=%d mode=0755", CALL(fchmod, dir, 0755), dir);
	say("fchmod res=%ld fd=-1 mode=0755", CALL(fchmod, -1, 0755));
}

static void do_fchmodat(void)
{
	const int dir = this_dir();

	make_file("a", "");
	say("fchmodat res=%ld dirfd=%d filename=a mode=04600", CALL(fchmodat, dir, P("a"), 04600),
	    dir);
	say("fchmodat res=%ld dirfd=%d filename=b mode=04600", CALL(fchmodat, dir, P("b"), 04600),
	    dir);
}

static void do_chown(void)
{
	make_file("a", "");
	say("chown res=%ld path=a uid=7 gid=-1", CALL(chown, P("a"), 7, -1));
	say("chown res=%ld path=none uid=7 gid=-1", CALL(chown, P("none"), 7, -1));
}

static void do_lchown(void)
{
	if (symlink("a", "j"))
		broken("j");
	say("lchown res=%ld path=j uid=0 gid=8", CALL(lchown, P("j"), 0, 8));
	say("lchown res=%ld path=none uid=0 gid=8", CALL(lchown, P("none"), 0, 8));
}

static void do_fchown(void)
{
	const int dir = this_dir();

	say("fchown res=%ld fd=%d uid=0 gid=0", CALL(fchown, dir, 0, 0), dir);
	say("fchown res=%ld fd=-1 uid=0 gid=0", CALL(fchown, -1, 0, 0));
}

static void do_fchownat(void)
{
	const int dir = this_dir();

	make_file("a", "");
	say("fchownat res=%ld dirfd=%d pathname=a uid=1 gid=2 flags=1024",
	    CALL(fchownat, dir, P("a"), 1, 2, AT_SYMLINK_NOFOLLOW), dir);
	say("fchownat res=%ld dirfd=%d pathname=b uid=1 gid=2 flags=0",
	    CALL(fchownat, dir, P("b"), 1, 2, 0), dir);
}

static void do_mknod(void)
{
	say("mknod res=%ld path=p mode=010600 dev=0", CALL(mknod, P("p"), S_IFIFO | 0600, 0));
	say("mknod res=%ld path=p mode=010600 dev=0", CALL(mknod, P("p"), S_IFIFO | 0600, 0));
}

static void do_mknodat(void)
{
	const int dir = this_dir();

	say("mknodat res=%ld dirfd=%d path=q mode=010600 dev=0",
	    CALL(mknodat, dir, P("q"), S_IFIFO | 0600, 0), dir);
	say("mknodat res=%ld dirfd=-1 path=q mode=010600 dev=0",
	    CALL(mknodat, -1, P("q"), S_IFIFO | 0600, 0));
}

static void do_chdir(void)
{
	say("chdir res=%ld path=none", CALL(chdir, P("none")));
	say("chdir res=%ld path=/", CALL(chdir, P("/")));
}

static void do_fchdir(void)
{
	const int dir = this_dir();

	say("fchdir res=%ld fd=%d", CALL(fchdir, dir), dir);
	say("fchdir res=%ld fd=-1", CALL(fchdir, -1));
}

static void do_getcwd(void)
{
	char cwd[PATH_MAX];
	const long res = CALL(getcwd, P(cwd), sizeof(cwd));

	say("getcwd res=%ld path=%s", res, cwd);
	say("getcwd res=%ld path=<NA>", CALL(getcwd, P(cwd), 1L));
}

static void do_chroot(void)
{
	say("chroot res=%ld path=none", CALL(chroot, P("none")));
	say("chroot res=%ld path=/", CALL(chroot, P("/")));
}

static void do_umask(void)
{
	CALL(umask, 022);
	say("umask res=022 mask=027");
	CALL(umask, 027);
	say("umask res=027 mask=0");
	CALL(umask, 0);
}

/* Fields of statfs that do not change by themselves. */
static void say_statfs(const char *name, long res, const struct statfs *s, const char *rest)
{
	say("%s res=%ld type=%u bsize=%ld blocks=%lu files=%lu namelen=%ld flags=%ld %s", name, res,
	    (unsigned int)s->f_type, s->f_bsize, s->f_blocks, s->f_files, s->f_namelen, s->f_flags,
	    rest);
}

static void do_statfs(void)
{
	struct statfs s;

	say_statfs("statfs", CALL(statfs, P("/proc"), P(&s)), &s, "path=/proc");
	say("statfs res=%ld type=<NA> bsize=<NA> path=none", CALL(statfs, P("none"), P(&s)));
}

static void do_fstatfs(void)
{
	const int fd = this_dir();
	struct statfs s;
	char rest[16];

	snprintf(rest, sizeof(rest), "fd=%d", fd);
	say_statfs("fstatfs", CALL(fstatfs, fd, P(&s)), &s, rest);
	say("fstatfs res=%ld type=<NA> bsize=<NA> fd=-1", CALL(fstatfs, -1, P(&s)));
}

static void do_ustat(void)
{
	char buf[32];

	say("ustat res=%ld tfree=<NA> tinode=<NA> dev=FFFE", CALL(ustat, 0xfffe, P(buf)));
}

static void do_sysfs(void)
{
	say("sysfs res=%ld option=1 arg1=%lX arg2=0", CALL(sysfs, 1, P("proc"), 0L), P("proc"));
	say("sysfs res=%ld option=9 arg1=0 arg2=1234", CALL(sysfs, 9, 0L, 0x1234L));
}

static void do_utime(void)
{
	const long times[2] = {1000000001, 1000000002};

	make_file("a", "");
	say("utime res=%ld path=a atime=%s mtime=%s", CALL(utime, P("a"), P(times)),
	    when(1000000001, 0), when(1000000002, 0));
	say("utime res=%ld path=none atime=<NA> mtime=<NA>", CALL(utime, P("none"), 0L));
}

static void do_utimes(void)
{
	const struct timeval times[2] = {{1000000001, 500000}, {1000000002, 7}};

	make_file("a", "");
	say("utimes res=%ld path=a atime=%s mtime=%s", CALL(utimes, P("a"), P(times)),
	    when(1000000001, 500000000), when(1000000002, 7000));
	say("utimes res=%ld path=none atime=<NA> mtime=<NA>", CALL(utimes, P("none"), 0L));
}

static void do_futimesat(void)
{
	const struct timeval times[2] = {{1000000001, 500000}, {1000000002, 7}};
	const int dir = this_dir();

	make_file("a", "");
	say("futimesat res=%ld dirfd=%d path=a atime=%s mtime=%s",
	    CALL(futimesat, dir, P("a"), P(times)), dir, when(1000000001, 500000000),
	    when(1000000002, 7000));
	say("futimesat res=%ld dirfd=-1 path=a atime=<NA> mtime=<NA>",
	    CALL(futimesat, -1, P("a"), 0L));
}

static void do_utimensat(void)
{
	const struct timespec times[2] = {{1000000001, 5}, {1000000002, 700}},
			      special[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
	const int dir = this_dir();

	make_file("a", "");
	say("utimensat res=%ld dirfd=%d path=a atime=%s mtime=%s flags=256",
	    CALL(utimensat, dir, P("a"), P(times), AT_SYMLINK_NOFOLLOW), dir, when(1000000001, 5),
	    when(1000000002, 700));
	say("utimensat res=%ld dirfd=%d path=a atime=now mtime=omit flags=0",
	    CALL(utimensat, dir, P("a"), P(special), 0), dir);
	say("utimensat res=%ld dirfd=-1 path=a atime=<NA> mtime=<NA> flags=0",
	    CALL(utimensat, -1, P("a"), 0L, 0));
}

static void do_readlinkat(void)
{
	const int dir = this_dir();
	char to[64];

	if (symlink("here/and/there", "l"))
		broken("l");
	say("readlinkat res=%ld target=here dirfd=%d path=l size=4",
	    CALL(readlinkat, dir, P("l"), P(to), 4L), dir);
	say("readlinkat res=%ld target=<NA> dirfd=%d path=none size=64",
	    CALL(readlinkat, dir, P("none"), P(to), sizeof(to)), dir);
}

static void do_faccessat(void)
{
	const int dir = this_dir();

	make_file("a", "");
	say("faccessat res=%ld dirfd=%d path=a mode=6", CALL(faccessat, dir, P("a"), 6), dir);
	say("faccessat res=%ld dirfd=%d path=none mode=0", CALL(faccessat, dir, P("none"), 0), dir);
}

static void do_faccessat2(void)
{
	const int dir = this_dir();

	make_file("a", "");
	say("faccessat2 res=%ld dirfd=%d path=a mode=6 flags=512",
	    CALL(faccessat2, dir, P("a"), 6, AT_EACCESS), dir);
	say("faccessat2 res=%ld dirfd=%d path=a mode=0 flags=1",
	    CALL(faccessat2, dir, P("a"), 0, 1), dir);
}

static void do_statx(void)
{
	const int dir = this_dir();
	struct statx st;
	struct stat as;
	long res;

	make_file("a", "hello");
	res = CALL(statx, dir, P("a"), AT_SYMLINK_NOFOLLOW, 0x7ff, P(&st));
	stat("a", &as);
	say("statx res=%ld mode=0%o uid=0 gid=0 ino=%lu size=5 mtime=%s dirfd=%d path=a flags=256 "
	    "mask=2047",
	    res, as.st_mode, as.st_ino, when(as.st_mtim.tv_sec, as.st_mtim.tv_nsec), dir);
	say("statx res=%ld mode=<NA> mtime=<NA> dirfd=%d path=none flags=0 mask=512",
	    CALL(statx, dir, P("none"), 0, 0x200, P(&st)), dir);
}

static void do_fchmodat2(void)
{
	const int dir = this_dir();

	make_file("a", "");
	say("fchmodat2 res=%ld dirfd=%d path=a mode=0601 flags=0",
	    CALL(fchmodat2, dir, P("a"), 0601, 0), dir);
	say("fchmodat2 res=%ld dirfd=%d path=none mode=0601 flags=256",
	    CALL(fchmodat2, dir, P("none"), 0601, AT_SYMLINK_NOFOLLOW), dir);
}

/* struct file_handle, with room. */
struct handle {
	unsigned int bytes;
	int type;
	unsigned char room[128];
};

static void do_name_to_handle_at(void)
{
	const int dir = this_dir();
	struct handle h = {.bytes = sizeof(h.room)};
	int mount_id = 0;
	long res;

	make_file("a", "");
	res = CALL(name_to_handle_at, dir, P("a"), P(&h), P(&mount_id), 0);
	if (res == 0)
		say("name_to_handle_at res=0 handle_bytes=%u handle_type=%d mount_id=%d dirfd=%d "
		    "path=a flags=0",
		    h.bytes, h.type, mount_id, dir);
	else
		say("name_to_handle_at res=%ld handle_bytes=<NA> dirfd=%d path=a flags=0", res,
		    dir);
	say("name_to_handle_at res=%ld handle_bytes=<NA> mount_id=<NA> dirfd=-1 path=a flags=1024",
	    CALL(name_to_handle_at, -1, P("a"), P(&h), P(&mount_id), AT_SYMLINK_FOLLOW));
}

static void do_open_by_handle_at(void)
{
	const int dir = this_dir();
	struct handle h = {.bytes = sizeof(h.room)};
	int mount_id;
	char path[PATH_MAX];
	struct stat st;
	long fd;

	make_file("a", "");
	if (CALL(name_to_handle_at, dir, P("a"), P(&h), P(&mount_id), 0) == 0) {
		fd = CALL(open_by_handle_at, dir, P(&h), O_RDWR);
		if (fd >= 0 && !fstat((int)fd, &st) && realpath("a", path))
			say("open_by_handle_at fd=%ld mountfd=%d flags=3 path=%s ino=%lu", fd, dir,
			    path, st.st_ino);
	}
	h.bytes = 0;
	say("open_by_handle_at fd=%ld mountfd=%d flags=1 path= dev=0 ino=0",
	    CALL(open_by_handle_at, dir, P(&h), O_RDONLY), dir);
}

/* struct file_attr */
struct attr {
	unsigned long xflags;
	unsigned int extsize, nextents, projid, cowextsize;
};

static void do_file_getattr(void)
{
	const int dir = this_dir();
	struct attr attr;
	long res;

	make_file("a", "");
	res = CALL(file_getattr, dir, P("a"), P(&attr), sizeof(attr), 0);
	if (res == 0)
		say("file_getattr res=0 xflags=%u extsize=%u nextents=%u projid=%u cowextsize=%u "
		    "dirfd=%d path=a size=24 flags=0",
		    (unsigned int)attr.xflags, attr.extsize, attr.nextents, attr.projid,
		    attr.cowextsize, dir);
	else
		say("file_getattr res=%ld xflags=<NA> dirfd=%d path=a size=24 flags=0", res, dir);
	say("file_getattr res=%ld xflags=<NA> dirfd=%d path=none size=24 flags=256",
	    CALL(file_getattr, dir, P("none"), P(&attr), sizeof(attr), AT_SYMLINK_NOFOLLOW), dir);
}

static void do_file_setattr(void)
{
	const int dir = this_dir();
	const struct attr attr = {0x80, 0, 0, 0, 0}, bad = {0x10, 1, 2, 3, 4};

	make_file("a", "");
	say("file_setattr res=%ld dirfd=%d path=a xflags=128 extsize=0 projid=0 cowextsize=0 "
	    "size=24 flags=0",
	    CALL(file_setattr, dir, P("a"), P(&attr), sizeof(attr), 0), dir);
	say("file_setattr res=%ld dirfd=-1 path=a xflags=16 extsize=1 projid=3 cowextsize=4 "
	    "size=24 flags=4096",
	    CALL(file_setattr, -1, P("a"), P(&bad), sizeof(bad), AT_EMPTY_PATH));
}

static void do_inotify_add_watch(void)
{
	const int fd = inotify_init();

	say("inotify_add_watch res=%ld fd=%d path=. mask=16777473",
	    CALL(inotify_add_watch, fd, P("."), 0x1000101), fd);
	say("inotify_add_watch res=%ld fd=%d path=none mask=4095",
	    CALL(inotify_add_watch, fd, P("none"), 0xfff), fd);
}

static void do_inotify_rm_watch(void)
{
	const int fd = inotify_init(), wd = inotify_add_watch(fd, ".", 1);

	say("inotify_rm_watch res=%ld fd=%d wd=%d", CALL(inotify_rm_watch, fd, wd), fd, wd);
	say("inotify_rm_watch res=%ld fd=%d wd=-9", CALL(inotify_rm_watch, fd, -9), fd);
}

static void do_fanotify_init(void)
{
	say("fanotify_init fd=%ld flags=515 event_flags=4097",
	    CALL(fanotify_init, 0x203, O_RDONLY | O_CLOEXEC));
	say("fanotify_init fd=%ld flags=12", CALL(fanotify_init, 12, 0));
}

static void do_fanotify_mark(void)
{
	const int fd = (int)CALL(fanotify_init, 0x201, O_RDONLY), dir = this_dir();

	say("fanotify_mark res=%ld fd=%d flags=9 mask=1073742080 dirfd=%d path=.",
	    CALL(fanotify_mark, fd, 9, 0x40000100L, dir, P(".")), fd, dir);
	say("fanotify_mark res=%ld fd=%d flags=2 mask=256 dirfd=-100 path=none",
	    CALL(fanotify_mark, fd, 2, 0x100L, AT_FDCWD, P("none")), fd);
}

/* clang-format off */
const struct call_case cases_path[] = {
	{"stat", do_stat},
	{"fstat", do_fstat},
	{"lstat", do_lstat},
	{"access", do_access},
	{"getcwd", do_getcwd},
	{"chdir", do_chdir},
	{"fchdir", do_fchdir},
	{"rename", do_rename},
	{"mkdir", do_mkdir},
	{"rmdir", do_rmdir},
	{"link", do_link},
	{"unlink", do_unlink},
	{"symlink", do_symlink},
	{"readlink", do_readlink},
	{"chmod", do_chmod},
	{"fchmod", do_fchmod},
	{"chown", do_chown},
	{"fchown", do_fchown},
	{"lchown", do_lchown},
	{"umask", do_umask},
	{"utime", do_utime},
	{"mknod", do_mknod},
	{"ustat", do_ustat},
	{"statfs", do_statfs},
	{"fstatfs", do_fstatfs},
	{"sysfs", do_sysfs},
	{"chroot", do_chroot},
	{"utimes", do_utimes},
	{"inotify_add_watch", do_inotify_add_watch},
	{"inotify_rm_watch", do_inotify_rm_watch},
	{"mkdirat", do_mkdirat},
	{"mknodat", do_mknodat},
	{"fchownat", do_fchownat},
	{"futimesat", do_futimesat},
	{"newfstatat", do_newfstatat},
	{"unlinkat", do_unlinkat},
	{"renameat", do_renameat},
	{"linkat", do_linkat},
	{"symlinkat", do_symlinkat},
	{"readlinkat", do_readlinkat},
	{"fchmodat", do_fchmodat},
	{"faccessat", do_faccessat},
	{"utimensat", do_utimensat},
	{"fanotify_init", do_fanotify_init},
	{"fanotify_mark", do_fanotify_mark},
	{"name_to_handle_at", do_name_to_handle_at},
	{"open_by_handle_at", do_open_by_handle_at},
	{"renameat2", do_renameat2},
	{"statx", do_statx},
	{"faccessat2", do_faccessat2},
	{"fchmodat2", do_fchmodat2},
	{"file_getattr", do_file_getattr},
	{"file_setattr", do_file_setattr},
	{NULL, NULL},
};
