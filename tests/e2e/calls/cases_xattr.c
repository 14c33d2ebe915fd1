/* SPDX-License-Identifier: Apache-2.0 */
/* Extended attributes: where the file system has none, the calls fail alike. */
#include "case.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/xattr.h>

/* struct xattr_args */
struct args {
	unsigned long value;
	unsigned int size, flags;
};

/* A file "a" with attributes, a symbolic link "l", and this directory. */
static int files(void)
{
	setxattr(".", "user.none", "", 0, XATTR_REPLACE);
	fsetxattr(make_file("a", ""), "user.one", "first", 5, 0);
	setxattr("a", "user.two", "second", 6, 0);
	if (symlink("a", "l"))
		broken("l");
	return open(".", O_RDONLY | O_DIRECTORY);
}

/* A value as a line has it: nothing if the call failed. */
static const char *value_if(long res, const char *value)
{
	return res > 0 ? value : "";
}

static void do_setxattr(void)
{
	files();
	say("setxattr res=%ld path=a name=user.k value=val size=3 flags=1",
	    CALL(setxattr, P("a"), P("user.k"), P("val"), 3L, XATTR_CREATE));
	say("setxattr res=%ld path=none name=user.k value= size=0 flags=0",
	    CALL(setxattr, P("none"), P("user.k"), P(""), 0L, 0));
}

static void do_lsetxattr(void)
{
	files();
	say("lsetxattr res=%ld path=l name=trusted.k value=val size=3 flags=0",
	    CALL(lsetxattr, P("l"), P("trusted.k"), P("val"), 3L, 0));
	say("lsetxattr res=%ld path=l name=user.k value=val size=3 flags=2",
	    CALL(lsetxattr, P("l"), P("user.k"), P("val"), 3L, XATTR_REPLACE));
}

static void do_fsetxattr(void)
{
	const int dir = files();

	say("fsetxattr res=%ld fd=%d name=user.k value=val size=3 flags=0",
	    CALL(fsetxattr, dir, P("user.k"), P("val"), 3L, 0), dir);
	say("fsetxattr res=%ld fd=-1 name=user.k value=val size=3 flags=0",
	    CALL(fsetxattr, -1, P("user.k"), P("val"), 3L, 0));
}

static void do_getxattr(void)
{
	char b[64];
	long res;

	files();
	res = CALL(getxattr, P("a"), P("user.one"), P(b), sizeof(b));
	say("getxattr res=%ld value=%s path=a name=user.one size=64", res, value_if(res, "first"));
	/* Asked for the size alone: what the buffer holds is not the value. */
	say("getxattr res=%ld value= path=a name=user.two size=0",
	    CALL(getxattr, P("a"), P("user.two"), P(b), 0L));
	say("getxattr res=%ld value= path=a name=user.none size=64",
	    CALL(getxattr, P("a"), P("user.none"), P(b), sizeof(b)));
}

static void do_lgetxattr(void)
{
	char b[64];
	long res;

	files();
	res = CALL(lgetxattr, P("a"), P("user.two"), P(b), sizeof(b));
	say("lgetxattr res=%ld value=%s path=a name=user.two size=64", res,
	    value_if(res, "second"));
	say("lgetxattr res=%ld value= path=l name=user.two size=64",
	    CALL(lgetxattr, P("l"), P("user.two"), P(b), sizeof(b)));
}

static void do_fgetxattr(void)
{
	char b[64];
	long res;
	int fd;

	files();
	fd = open("a", O_RDONLY);
	res = CALL(fgetxattr, fd, P("user.two"), P(b), sizeof(b));
	say("fgetxattr res=%ld value=%s fd=%d name=user.two size=64", res, value_if(res, "second"),
	    fd);
	say("fgetxattr res=%ld value= fd=-1 name=user.two size=64",
	    CALL(fgetxattr, -1, P("user.two"), P(b), sizeof(b)));
}

/* The names in a list as a line has them; other software may have added some. */
static const char *names(long res, char *list)
{
	for (long i = 0; i < res - 1; i++)
		if (!list[i])
			list[i] = ',';
	return res > 0 ? list : "";
}

static void do_listxattr(void)
{
	char list[128];
	long res;

	files();
	res = CALL(listxattr, P("a"), P(list), sizeof(list));
	say("listxattr res=%ld list=%s path=a size=128", res, names(res, list));
	say("listxattr res=%ld list= path=none size=128",
	    CALL(listxattr, P("none"), P(list), sizeof(list)));
}

static void do_llistxattr(void)
{
	char list[128];
	long res;

	files();
	res = CALL(llistxattr, P("l"), P(list), sizeof(list));
	say("llistxattr res=%ld list=%s path=l size=128", res, names(res, list));
	say("llistxattr res=%ld list= path=none size=128",
	    CALL(llistxattr, P("none"), P(list), sizeof(list)));
}

static void do_flistxattr(void)
{
	char list[128];
	long res;
	int fd;

	files();
	fd = open("a", O_RDONLY);
	res = CALL(flistxattr, fd, P(list), sizeof(list));
	say("flistxattr res=%ld list=%s fd=%d size=128", res, names(res, list), fd);
	say("flistxattr res=%ld list= fd=-1 size=128", CALL(flistxattr, -1, P(list), sizeof(list)));
}

static void do_removexattr(void)
{
	files();
	say("removexattr res=%ld path=a name=user.one", CALL(removexattr, P("a"), P("user.one")));
	say("removexattr res=%ld path=a name=user.one", CALL(removexattr, P("a"), P("user.one")));
}

static void do_lremovexattr(void)
{
	files();
	say("lremovexattr res=%ld path=a name=user.one", CALL(lremovexattr, P("a"), P("user.one")));
	say("lremovexattr res=%ld path=l name=user.two", CALL(lremovexattr, P("l"), P("user.two")));
}

static void do_fremovexattr(void)
{
	int fd;

	files();
	fd = open("a", O_RDONLY);
	say("fremovexattr res=%ld fd=%d name=user.one", CALL(fremovexattr, fd, P("user.one")), fd);
	say("fremovexattr res=%ld fd=-1 name=user.one", CALL(fremovexattr, -1, P("user.one")));
}

static void do_setxattrat(void)
{
	const struct args args = {(unsigned long)"value", 5, XATTR_CREATE};
	const int dir = files();

	say("setxattrat res=%ld value=value dirfd=%d path=a at_flags=256 name=user.k size=5 "
	    "flags=1",
	    CALL(setxattrat, dir, P("a"), AT_SYMLINK_NOFOLLOW, P("user.k"), P(&args), sizeof(args)),
	    dir);
	say("setxattrat res=%ld value= dirfd=%d path=none at_flags=0 name=user.k size=<NA> "
	    "flags=<NA>",
	    CALL(setxattrat, dir, P("none"), 0, P("user.k"), 0L, sizeof(args)), dir);
}

static void do_getxattrat(void)
{
	char b[64];
	const struct args args = {(unsigned long)b, sizeof(b), 0};
	const int dir = files();
	const long res = CALL(getxattrat, dir, P("a"), 0, P("user.two"), P(&args), sizeof(args));

	say("getxattrat res=%ld value=%s dirfd=%d path=a at_flags=0 name=user.two size=64", res,
	    value_if(res, "second"), dir);
	say("getxattrat res=%ld value= dirfd=%d path=l at_flags=256 name=user.two size=64",
	    CALL(getxattrat, dir, P("l"), AT_SYMLINK_NOFOLLOW, P("user.two"), P(&args),
		 sizeof(args)),
	    dir);
}

static void do_listxattrat(void)
{
	char list[128];
	const int dir = files();
	const long res = CALL(listxattrat, dir, P("a"), 0, P(list), sizeof(list));

	say("listxattrat res=%ld list=%s dirfd=%d path=a at_flags=0 size=128", res,
	    names(res, list), dir);
	say("listxattrat res=%ld list= dirfd=-1 path=a at_flags=256 size=128",
	    CALL(listxattrat, -1, P("a"), AT_SYMLINK_NOFOLLOW, P(list), sizeof(list)));
}

static void do_removexattrat(void)
{
	const int dir = files();

	say("removexattrat res=%ld dirfd=%d path=a at_flags=0 name=user.one",
	    CALL(removexattrat, dir, P("a"), 0, P("user.one")), dir);
	say("removexattrat res=%ld dirfd=%d path=l at_flags=256 name=user.two",
	    CALL(removexattrat, dir, P("l"), AT_SYMLINK_NOFOLLOW, P("user.two")), dir);
}

/* clang-format off */
const struct call_case cases_xattr[] = {
	{"setxattr", do_setxattr},
	{"lsetxattr", do_lsetxattr},
	{"fsetxattr", do_fsetxattr},
	{"getxattr", do_getxattr},
	{"lgetxattr", do_lgetxattr},
	{"fgetxattr", do_fgetxattr},
	{"listxattr", do_listxattr},
	{"llistxattr", do_llistxattr},
	{"flistxattr", do_flistxattr},
	{"removexattr", do_removexattr},
	{"lremovexattr", do_lremovexattr},
	{"fremovexattr", do_fremovexattr},
	{"setxattrat", do_setxattrat},
	{"getxattrat", do_getxattrat},
	{"listxattrat", do_listxattrat},
	{"removexattrat", do_removexattrat},
	{NULL, NULL},
};
