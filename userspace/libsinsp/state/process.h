/* SPDX-License-Identifier: Apache-2.0 */
/* A process: the state that its threads share. It is freed with its last thread, in the table or
 * among the dead. */
#ifndef SINSP_STATE_PROCESS_H
#define SINSP_STATE_PROCESS_H

#include "fd.h"
#include "memory/intern.h"
#include "memory/slab.h"

struct sinsp_thread;
struct sinsp_container; /* container/containers.h */

struct sinsp_process {
	int64_t pid;
	struct sinsp_thread *threads; /* linked by sinsp_thread.sibling */
	struct sinsp_process *parent; /* NULL: unknown */
	struct sinsp_process *children, *prev_child, *next_child;
	const char *name; /* interned: comm of the main thread; "": unknown */
	/* Interned. Lists are separated by NULs. */
	const char *exe, *exepath, *args, *env, *cgroups;
	struct sinsp_container *container; /* NULL: the host, or unknown without cgroups */
	int64_t fdlimit, sid, vpgid;
	int64_t pgid; /* process group ID in the initial PID namespace; -1: unknown */
	uint64_t cap_inheritable, cap_permitted, cap_effective;
	uint64_t exe_ino, exe_ctime_ns, exe_mtime_ns; /* 0: unknown */
	uint64_t pidns_start_ns; /* 0: unknown */
	uint32_t vmsize_kb, vmrss_kb, vmswap_kb;
	uint32_t tty, loginuid;
	uint32_t n_threads; /* in the table, also an ended main thread */
	uint32_t n_dead; /* ended threads that still refer to it */
	uint8_t exe_writable;
	uint8_t exe_kind, exe_kind_known; /* enum scap_exe_kind */
	uint8_t tty_known, caps_known;
	uint8_t known; /* 0: no event or snapshot described it */
};

/* Root and working directory, shared by threads and after CLONE_FS. */
struct sinsp_fs {
	uint32_t refs;
	const char *cwd; /* interned, ends with a slash; "": unknown */
	const char *root; /* "" or "/": not changed by chroot */
	uint64_t as_of_ns; /* as in struct sinsp_fd */
};

struct sinsp_fs *sinsp_fs_new(struct sinsp_slab *slab, struct sinsp_strings *st);
struct sinsp_fs *sinsp_fs_ref(struct sinsp_fs *fs);
/* Returns NULL without memory. */
struct sinsp_fs *sinsp_fs_copy(struct sinsp_slab *slab, const struct sinsp_fs *fs);
void sinsp_fs_put(struct sinsp_slab *slab, struct sinsp_strings *st, struct sinsp_fs *fs);

struct sinsp_process *sinsp_process_new(struct sinsp_slab *slab, struct sinsp_strings *st,
					int64_t pid);
/* Copies what a child inherits: all except PID, threads and family. */
void sinsp_process_inherit(struct sinsp_strings *st, struct sinsp_process *p,
			   const struct sinsp_process *from);
/* @parent NULL: unknown. */
void sinsp_process_adopt(struct sinsp_process *p, struct sinsp_process *parent);
/* Frees a process without threads and children. */
void sinsp_process_free(struct sinsp_slab *slab, struct sinsp_strings *st, struct sinsp_process *p);

#endif /* SINSP_STATE_PROCESS_H */
