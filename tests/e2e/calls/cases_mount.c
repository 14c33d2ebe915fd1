/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts, swap and accounting: with arguments that must fail, or in a mount namespace of the
 * case's own, from which nothing gets out.
 */
#include "case.h"

#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>

static void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip("no mount namespace of its own");
}

static void do_mount(void)
{
	own_mounts();
	mkdir("m", 0755);
	say("mount res=%ld dev=saker dir=m type=tmpfs flags=10",
	    CALL(mount, P("saker"), P("m"), P("tmpfs"), MS_NOSUID | MS_NOEXEC, P("size=64k")));
	say("mount res=%ld dev=nodev dir=none type=nofs flags=9",
	    CALL(mount, P("nodev"), P("none"), P("nofs"), MS_RDONLY | MS_NOEXEC, 0L));
}

static void do_umount2(void)
{
	own_mounts();
	mkdir("m", 0755);
	if (mount("saker", "m", "tmpfs", 0, "size=64k"))
		broken("tmpfs");
	say("umount2 res=%ld name=m flags=8", CALL(umount2, P("m"), UMOUNT_NOFOLLOW));
	say("umount2 res=%ld name=none flags=2", CALL(umount2, P("none"), MNT_DETACH));
}

static void do_pivot_root(void)
{
	own_mounts();
	say("pivot_root res=%ld new_root=none put_old=nothing",
	    CALL(pivot_root, P("none"), P("nothing")));
}

static void do_swapon(void)
{
	say("swapon res=%ld path=none flags=98309", CALL(swapon, P("none"), 0x18005));
}

static void do_swapoff(void)
{
	say("swapoff res=%ld path=none", CALL(swapoff, P("none")));
}

static void do_acct(void)
{
	say("acct res=%ld path=none/none", CALL(acct, P("none/none")));
}

static void do_open_tree(void)
{
	const int dir = open(".", O_RDONLY | O_DIRECTORY);

	say("open_tree fd=%ld dirfd=%d path= flags=528384",
	    CALL(open_tree, dir, P(""), AT_EMPTY_PATH | 0x80000), dir);
	say("open_tree fd=%ld dirfd=-100 path=none flags=0",
	    CALL(open_tree, AT_FDCWD, P("none"), 0));
}

static void do_open_tree_attr(void)
{
	const unsigned long attr[4] = {1, 0x20, MS_SLAVE, 77};
	const int dir = open(".", O_RDONLY | O_DIRECTORY);

	say("open_tree_attr fd=%ld dirfd=%d path=none flags=1 attr_set=1 attr_clr=32 "
	    "propagation=524288 userns_fd=77",
	    CALL(open_tree_attr, dir, P("none"), 1, P(attr), sizeof(attr)), dir);
	say("open_tree_attr fd=%ld dirfd=-1 path=. flags=0 attr_set=<NA> attr_clr=<NA> "
	    "propagation=<NA> userns_fd=<NA>",
	    CALL(open_tree_attr, -1, P("."), 0, 0L, 0L));
}

/* A tmpfs that is mounted nowhere; -1: this kernel has none such. */
static int new_mount(void)
{
	const int fs = (int)CALL(fsopen, P("tmpfs"), 0);
	int fd;

	if (fs < 0 || CALL(fsconfig, fs, 6 /* FSCONFIG_CMD_CREATE */, 0L, 0L, 0) < 0)
		return -1;
	fd = (int)CALL(fsmount, fs, 0, 0);
	close(fs);
	return fd;
}

static void do_fsopen(void)
{
	say("fsopen fd=%ld fs_name=tmpfs flags=1", CALL(fsopen, P("tmpfs"), 1));
	say("fsopen fd=%ld fs_name=nofs flags=0", CALL(fsopen, P("nofs"), 0));
}

static void do_fsmount(void)
{
	const int fs = (int)CALL(fsopen, P("tmpfs"), 1);

	CALL(fsconfig, fs, 6, 0L, 0L, 0);
	say("fsmount fd=%ld fs_fd=%d flags=1 attr_flags=10", CALL(fsmount, fs, 1, 2 | 8), fs);
	say("fsmount fd=%ld fs_fd=-1 flags=0 attr_flags=0", CALL(fsmount, -1, 0, 0));
}

static void do_move_mount(void)
{
	const int fd = new_mount(), dir = open(".", O_RDONLY | O_DIRECTORY);

	own_mounts();
	mkdir("m", 0755);
	say("move_mount res=%ld from_dirfd=%d from_path= to_dirfd=-100 to_path=m flags=4",
	    CALL(move_mount, fd, P(""), AT_FDCWD, P("m"), 4), fd);
	say("move_mount res=%ld from_dirfd=-1 from_path=none to_dirfd=%d to_path=m flags=17",
	    CALL(move_mount, -1, P("none"), dir, P("m"), 17), dir);
}

static void do_fsconfig(void)
{
	const int fs = (int)CALL(fsopen, P("tmpfs"), 1);

	say("fsconfig res=%ld fd=%d cmd=1 key=size value_bytebuf= value_charbuf=64k aux=0",
	    CALL(fsconfig, fs, 1, P("size"), P("64k"), 0), fs);
	say("fsconfig res=%ld fd=%d cmd=2 key=blob value_bytebuf=abc value_charbuf=<NA> aux=3",
	    CALL(fsconfig, fs, 2, P("blob"), P("abc"), 3), fs);
	say("fsconfig res=%ld fd=-1 cmd=6 value_bytebuf= value_charbuf=<NA> aux=0",
	    CALL(fsconfig, -1, 6, 0L, 0L, 0));
}

/* The commands are refused for what is no device. */
static void do_quotactl(void)
{
	say("quotactl res=%ld special=none quotafilepath= cmd=32 type=1 id=77 quota_fmt=1",
	    CALL(quotactl, 0x800007 << 8 | 0, P("none"), 77, 0L));
	say("quotactl res=%ld special=none quotafilepath=file cmd=1 type=2 id=0 quota_fmt=4",
	    CALL(quotactl, 0x800002 << 8 | 1, P("none"), 2, P("file")));
}

static void do_quotactl_fd(void)
{
	say("quotactl_fd res=%ld fd=-1 cmd=64 type=2 id=5 addr=1234",
	    CALL(quotactl_fd, -1, 0x800008 << 8 | 1, 5, 0x1234L));
	say("quotactl_fd res=%ld fd=-1 cmd=128 type=1 id=0 addr=0",
	    CALL(quotactl_fd, -1, 0x800001 << 8, 0, 0L));
}

static void do_fspick(void)
{
	own_mounts();
	say("fspick fd=%ld dirfd=-100 path=/ flags=1", CALL(fspick, AT_FDCWD, P("/"), 1));
	say("fspick fd=%ld dirfd=-1 path=none flags=2", CALL(fspick, -1, P("none"), 2));
}

static void do_mount_setattr(void)
{
	const unsigned long set[4] = {1 | 8, 0, MS_PRIVATE, 0}, bad[4] = {0, 0x70, 0, 5};
	const int fd = new_mount();

	say("mount_setattr res=%ld dirfd=%d path= flags=4096 attr_set=9 attr_clr=0 "
	    "propagation=262144 userns_fd=0",
	    CALL(mount_setattr, fd, P(""), AT_EMPTY_PATH, P(set), sizeof(set)), fd);
	say("mount_setattr res=%ld dirfd=-1 path=none flags=32768 attr_set=0 attr_clr=112 "
	    "propagation=0 userns_fd=5",
	    CALL(mount_setattr, -1, P("none"), 0x8000, P(bad), sizeof(bad)));
}

/* struct mnt_id_req */
struct request {
	unsigned int size, spare;
	unsigned long mnt_id, param;
};

#define ROOT_MOUNT (~0ul) /* LSMT_ROOT */

static void do_listmount(void)
{
	const struct request all = {sizeof(all), 0, ROOT_MOUNT, 0}, bad = {sizeof(bad), 0, 5, 7};
	unsigned long ids[2];
	long res;

	res = CALL(listmount, P(&all), P(ids), 2L, 0);
	if (res == 2)
		say("listmount res=2 mnt_ids=%lu,%lu mnt_id=-1 last_mnt_id=0 nr_mnt_ids=2 flags=0",
		    ids[0], ids[1]);
	else
		say("listmount res=%ld mnt_id=-1 last_mnt_id=0 nr_mnt_ids=2 flags=0", res);
	say("listmount res=%ld mnt_ids= mnt_id=5 last_mnt_id=7 nr_mnt_ids=1 flags=1",
	    CALL(listmount, P(&bad), P(ids), 1L, 1));
}

static void do_statmount(void)
{
	const struct request all = {sizeof(all), 0, ROOT_MOUNT, 0}, bad = {sizeof(bad), 0, 5, 3};
	struct request one = {sizeof(one), 0, 0, 3};
	unsigned long st[128];
	long res;

	if (CALL(listmount, P(&all), P(&one.mnt_id), 1L, 0) == 1) {
		res = CALL(statmount, P(&one), P(st), sizeof(st), 0);
		say("statmount res=%ld got=%ld sb_magic=%u mnt_parent_id=%lu mnt_id=%lu mask=3 "
		    "bufsize=1024 flags=0",
		    res, st[1], (unsigned int)st[3], st[6], one.mnt_id);
	}
	say("statmount res=%ld got=<NA> sb_magic=<NA> mnt_id=5 mask=3 bufsize=1024 flags=0",
	    CALL(statmount, P(&bad), P(st), sizeof(st), 0));
}

/* clang-format off */
const struct call_case cases_mount[] = {
	{"pivot_root", do_pivot_root},
	{"acct", do_acct},
	{"mount", do_mount},
	{"umount2", do_umount2},
	{"swapon", do_swapon},
	{"swapoff", do_swapoff},
	{"open_tree", do_open_tree},
	{"move_mount", do_move_mount},
	{"fsopen", do_fsopen},
	{"fsmount", do_fsmount},
	{"fsconfig", do_fsconfig},
	{"quotactl", do_quotactl},
	{"quotactl_fd", do_quotactl_fd},
	{"fspick", do_fspick},
	{"mount_setattr", do_mount_setattr},
	{"statmount", do_statmount},
	{"listmount", do_listmount},
	{"open_tree_attr", do_open_tree_attr},
	{NULL, NULL},
};
