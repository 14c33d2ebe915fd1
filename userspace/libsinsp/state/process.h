/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads of a process share. A process lives as long as one of its threads is
 * in the table, or among the dead.
 */
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
	struct sinsp_process *parent; /* NULL: not known */
	struct sinsp_process *children, *prev_child, *next_child;
	const char *name; /* interned: comm of the main thread; "": not known */
	/* Interned. Lists are NUL-separated. */
	const char *exe, *exepath, *args, *env, *cgroups;
	struct sinsp_container *container; /* of cgroups; NULL: the host, or without cgroups none is
					      known */
	int64_t fdlimit, sid, vpgid;
	int64_t pgid; /* vpgid as the first pid namespace numbers it, if it says it; else -1 */
	uint64_t cap_inheritable, cap_permitted, cap_effective;
	uint64_t exe_ino, exe_ctime_ns, exe_mtime_ns; /* 0: not known */
	uint64_t pidns_start_ns; /* 0: not known */
	uint32_t vmsize_kb, vmrss_kb, vmswap_kb;
	uint32_t tty, loginuid;
	uint32_t n_threads; /* in the table, one that ended before others included */
	uint32_t n_dead; /* threads that point here and are in the table no more */
	uint8_t exe_writable;
	uint8_t exe_kind, exe_kind_known; /* enum scap_exe_kind */
	uint8_t tty_known, caps_known;
	uint8_t known; /* 0: no thread has reported facts of it */
};

/* Where paths begin. Threads share it, and processes after CLONE_FS. */
struct sinsp_fs {
	uint32_t refs;
	const char *cwd; /* interned, with a slash at its end; "": not known */
	const char *root; /* "" or "/": nothing is hidden from it */
	uint64_t as_of_ns; /* as of an fd */
};

struct sinsp_fs *sinsp_fs_new(struct sinsp_slab *slab, struct sinsp_strings *st);
struct sinsp_fs *sinsp_fs_ref(struct sinsp_fs *fs);
/* NULL: no memory. */
struct sinsp_fs *sinsp_fs_copy(struct sinsp_slab *slab, const struct sinsp_fs *fs);
void sinsp_fs_put(struct sinsp_slab *slab, struct sinsp_strings *st, struct sinsp_fs *fs);

struct sinsp_process *sinsp_process_new(struct sinsp_slab *slab, struct sinsp_strings *st,
					int64_t pid);
/* Copies what a child inherits: all but pid, threads and family. */
void sinsp_process_inherit(struct sinsp_strings *st, struct sinsp_process *p,
			   const struct sinsp_process *from);
/* NULL @parent: it is not known. */
void sinsp_process_adopt(struct sinsp_process *p, struct sinsp_process *parent);
/* Its children must have been given away, its threads be gone. */
void sinsp_process_free(struct sinsp_slab *slab, struct sinsp_strings *st, struct sinsp_process *p);

#endif /* SINSP_STATE_PROCESS_H */
