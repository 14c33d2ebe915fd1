/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to names, and to files by their names. */
#include "case.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

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
	say("stat res=%ld path=", CALL(stat, 1L, P(&st)));
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
	say("readlink res=%ld target= path=none size=64",
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
	say("getcwd res=%ld path=", CALL(getcwd, P(cwd), 1L));
}

static void do_chroot(void)
{
	say("chroot res=%ld path=none", CALL(chroot, P("none")));
	say("chroot res=%ld path=/", CALL(chroot, P("/")));
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
	{"mknod", do_mknod},
	{"chroot", do_chroot},
	{"mkdirat", do_mkdirat},
	{"mknodat", do_mknodat},
	{"fchownat", do_fchownat},
	{"newfstatat", do_newfstatat},
	{"unlinkat", do_unlinkat},
	{"renameat", do_renameat},
	{"linkat", do_linkat},
	{"symlinkat", do_symlinkat},
	{"fchmodat", do_fchmodat},
	{"renameat2", do_renameat2},
	{NULL, NULL},
};
