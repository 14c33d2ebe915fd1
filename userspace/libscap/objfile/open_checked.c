/* SPDX-License-Identifier: Apache-2.0 */
/* Looks the path up without opening the file (O_PATH); a regular file on an ordinary file system is
 * then opened through /proc/self/fd, so that nothing can replace it in between. */
#include "objfile/open_checked.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Does not wait for another process's lease, and does not get a controlling terminal. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define COPY_PART (4u << 20)

static int look_up_in(const char *root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	const int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (dir < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

static int look_up(const char *root, const char *path)
{
	int fd;

	if (*root)
		return look_up_in(root, path);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* ---- file systems ---- */

enum fs_class {
	FS_NO_FILES, /* kernel file systems, where a read may have side effects, and unknown ones */
	FS_LOCAL,
	FS_STACKED, /* on other file systems */
	FS_SERVED, /* served by another machine, or by a process */
};

/* clang-format off */
static const struct fs_row {
	uint32_t magic;
	enum fs_class class;
} fs_rows[] = {
	{EXT4_SUPER_MAGIC,      FS_LOCAL}, /* also ext2 and ext3 */
	{XFS_SUPER_MAGIC,       FS_LOCAL},
	{BTRFS_SUPER_MAGIC,     FS_LOCAL},
	{F2FS_SUPER_MAGIC,      FS_LOCAL},
	{TMPFS_MAGIC,           FS_LOCAL},
	{RAMFS_MAGIC,           FS_LOCAL},
	{HUGETLBFS_MAGIC,       FS_LOCAL},
	{SQUASHFS_MAGIC,        FS_LOCAL},
	{EROFS_SUPER_MAGIC_V1,  FS_LOCAL},
	{CRAMFS_MAGIC,          FS_LOCAL},
	{ISOFS_SUPER_MAGIC,     FS_LOCAL},
	{MSDOS_SUPER_MAGIC,     FS_LOCAL},
	{EXFAT_SUPER_MAGIC,     FS_LOCAL},
	{REISERFS_SUPER_MAGIC,  FS_LOCAL},
	{NILFS_SUPER_MAGIC,     FS_LOCAL},
	{0x2fc12fc1,            FS_LOCAL}, /* zfs */
	{0xca451a4e,            FS_LOCAL}, /* bcachefs */
	{0x3153464a,            FS_LOCAL}, /* jfs */
	{0x7366746e,            FS_LOCAL}, /* ntfs3 */
	{OVERLAYFS_SUPER_MAGIC, FS_STACKED},
	{ECRYPTFS_SUPER_MAGIC,  FS_STACKED},
	{FUSE_SUPER_MAGIC,      FS_SERVED}, /* also virtiofs */
	{NFS_SUPER_MAGIC,       FS_SERVED},
	{SMB_SUPER_MAGIC,       FS_SERVED},
	{CIFS_SUPER_MAGIC,      FS_SERVED},
	{SMB2_SUPER_MAGIC,      FS_SERVED},
	{V9FS_MAGIC,            FS_SERVED},
	{CEPH_SUPER_MAGIC,      FS_SERVED},
	{AFS_SUPER_MAGIC,       FS_SERVED},
	{AFS_FS_MAGIC,          FS_SERVED},
	{CODA_SUPER_MAGIC,      FS_SERVED},
	{OCFS2_SUPER_MAGIC,     FS_SERVED},
	{0x01161970,            FS_SERVED}, /* gfs2 */
	{0x0bd00bd0,            FS_SERVED}, /* lustre */
	{0x47504653,            FS_SERVED}, /* gpfs */
	{0x786f4256,            FS_SERVED}, /* vboxsf */
};
/* clang-format on */

static enum fs_class class_of(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return FS_NO_FILES;
	for (size_t i = 0; i < sizeof(fs_rows) / sizeof(fs_rows[0]); i++)
		if (fs_rows[i].magic == (uint32_t)fs.f_type)
			return fs_rows[i].class;
	return FS_NO_FILES;
}

static int lists_mount(const char *mountinfo, uint64_t id)
{
	FILE *f = fopen(mountinfo, "re");
	char *line = NULL;
	size_t cap = 0;
	int found = 0;

	while (f && !found && getline(&line, &cap, f) > 0)
		found = strtoull(line, NULL, 10) == id;
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Returns whether only the machine's root can mount anything where @pid is. */
static int is_mounted_by_root(unsigned int pid)
{
	struct stat ours, theirs;
	char path[64];
	int ns, user, same;

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return 0;
	user = ioctl(ns, NS_GET_USERNS);
	close(ns);
	if (user < 0)
		return 0;
	same = !fstat(user, &theirs) && !stat("/proc/self/ns/user", &ours) &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
	close(user);
	return same;
}

/* In a user namespace any user may mount a file system that he serves. */
static int is_of_root(int fd, const char *root, const char *path)
{
	struct statx x;
	unsigned int pid;
	char name[64];

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &x) ||
	    !(x.stx_mask & STATX_MNT_ID))
		return 0;
	if (lists_mount("/proc/self/mountinfo", x.stx_mnt_id))
		return 1;
	if (sscanf(*root ? root : path, "/proc/%u/", &pid) != 1 || !is_mounted_by_root(pid))
		return 0;
	snprintf(name, sizeof(name), "/proc/%u/mountinfo", pid);
	return lists_mount(name, x.stx_mnt_id);
}

/* ---- opening ---- */

/* Copies what it has now; a file that shrinks meanwhile is refused. */
static int copy(int from, off_t sz)
{
	const int to = memfd_create("saker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	off_t at = 0;
	int err = 0;

	if (to < 0)
		return -errno;
	while (at < sz && !err) {
		const off_t left = sz - at;
		const ssize_t n = sendfile(to, from, &at, left < COPY_PART ? left : COPY_PART);

		if (n <= 0)
			err = n ? -errno : -ESTALE;
	}
	if (!err && fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		err = -errno;
	if (err)
		close(to);
	return err ?: to;
}

static int open_looked_up(int found)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, FLAGS);
	return fd < 0 ? -errno : fd;
}

/* Opens @found, the result of the look-up. */
static int open_found(int found, const char *root, const char *path, struct stat *st,
		      void (*begin_copy)(void))
{
	enum fs_class class;
	int fd, copied;

	if (fstat(found, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	class = class_of(found);
	if (class == FS_STACKED && is_of_root(found, root, path))
		class = FS_LOCAL;
	if (class == FS_NO_FILES)
		return -EINVAL;
	if (class != FS_LOCAL && st->st_size > OPEN_COPY_MAX)
		return -EFBIG;
	fd = open_looked_up(found);
	if (fd < 0 || class == FS_LOCAL)
		return fd;
	begin_copy();
	copied = copy(fd, st->st_size);
	close(fd);
	return copied;
}

int open_checked(const char *root, const char *path, struct stat *st, void (*begin_copy)(void))
{
	const int found = look_up(root, path);
	int fd;

	if (found < 0)
		return found;
	fd = open_found(found, root, path, st, begin_copy);
	close(found);
	return fd;
}
