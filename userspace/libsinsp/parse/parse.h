/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events do to threads and files. One function per family of exit events, in the
 * table of parse.c. Parameters are found by name, so that one function reads every
 * version of its event.
 */
#ifndef SINSP_PARSE_PARSE_H
#define SINSP_PARSE_PARSE_H

#include "state/inspector.h"

/* Parameters that state depends on. */
#define SINSP_PARAM_NAMES(X)                                                                       \
	X(res)                                                                                     \
	X(fd)                                                                                      \
	X(oldfd)                                                                                   \
	X(dirfd)                                                                                   \
	X(name)                                                                                    \
	X(pathname)                                                                                \
	X(path)                                                                                    \
	X(filename)                                                                                \
	X(flags)                                                                                   \
	X(mode)                                                                                    \
	X(dev)                                                                                     \
	X(ino)                                                                                     \
	X(fd1)                                                                                     \
	X(fd2)                                                                                     \
	X(fdout)                                                                                   \
	X(fdin)                                                                                    \
	X(in_fd)                                                                                   \
	X(fd_out)                                                                                  \
	X(fd_in)                                                                                   \
	X(out_fd)                                                                                  \
	X(source)                                                                                  \
	X(peer)                                                                                    \
	X(domain)                                                                                  \
	X(type)                                                                                    \
	X(proto)                                                                                   \
	X(addr)                                                                                    \
	X(local)                                                                                   \
	X(tuple)                                                                                   \
	X(cmd)                                                                                     \
	X(resource)                                                                                \
	X(cur)                                                                                     \
	X(newcur)                                                                                  \
	X(first)                                                                                   \
	X(last)                                                                                    \
	X(ran)                                                                                     \
	X(pid_fd)                                                                                  \
	X(target_fd)                                                                               \
	X(arg)                                                                                     \
	X(op)                                                                                      \
	X(slot)                                                                                    \
	X(option)                                                                                  \
	X(arg2_str)                                                                                \
	X(exe)                                                                                     \
	X(args)                                                                                    \
	X(env)                                                                                     \
	X(tid)                                                                                     \
	X(pid)                                                                                     \
	X(ptid)                                                                                    \
	X(cwd)                                                                                     \
	X(fdlimit)                                                                                 \
	X(pgft_maj)                                                                                \
	X(pgft_min)                                                                                \
	X(vm_size)                                                                                 \
	X(vm_rss)                                                                                  \
	X(vm_swap)                                                                                 \
	X(comm)                                                                                    \
	X(cgroups)                                                                                 \
	X(tty)                                                                                     \
	X(pgid)                                                                                    \
	X(loginuid)                                                                                \
	X(trusted_exepath)                                                                         \
	X(cap_inheritable)                                                                         \
	X(cap_permitted)                                                                           \
	X(cap_effective)                                                                           \
	X(uid)                                                                                     \
	X(gid)                                                                                     \
	X(euid)                                                                                    \
	X(egid)                                                                                    \
	X(vtid)                                                                                    \
	X(vpid)                                                                                    \
	X(nstype)                                                                                  \
	X(to)                                                                                      \
	X(clone)                                                                                   \
	X(exec)                                                                                    \
	X(exit)                                                                                    \
	X(open)                                                                                    \
	X(close)                                                                                   \
	X(state)                                                                                   \
	X(exe_ino)                                                                                 \
	X(exe_ino_ctime)                                                                           \
	X(exe_ino_mtime)                                                                           \
	X(pidns_init_start_ts)                                                                     \
	X(cpu_usr)                                                                                 \
	X(cpu_sys)                                                                                 \
	X(next)                                                                                    \
	X(reaper_tid)                                                                              \
	X(length)                                                                                  \
	X(offset)                                                                                  \
	X(ino_gen)                                                                                 \
	X(build_id)                                                                                \
	X(parent)                                                                                  \
	X(home)                                                                                    \
	X(shell)                                                                                   \
	X(container_id)                                                                            \
	X(level)                                                                                   \
	X(optname)                                                                                 \
	X(val)

enum sinsp_param {
#define X(name) SINSP_P_##name,
	SINSP_PARAM_NAMES(X)
#undef X
		SINSP_P_MAX
};

struct sinsp_parse;
typedef void (*sinsp_parse_fn)(struct sinsp_parse *p);

/* What is known of an event type: made once from the event table. */
struct sinsp_parse_row {
	const struct scap_event_info *info;
	sinsp_parse_fn fn; /* NULL: changes nothing */
	int8_t fd; /* where the fd is that the event is about; -1: there is none */
	uint8_t uses_fd;
	uint8_t is_call; /* an enter with an exit, or an exit */
	uint8_t is_clone;
	uint8_t is_private;
	uint8_t of_any_age; /* also what is older than the snapshot of its thread */
	uint8_t of_thread; /* it can be an enter or exit of the thread it names */
	uint8_t save; /* an enter with parameters that the exit of 2022 lacks */
	int8_t at[SINSP_P_MAX]; /* where a parameter is; -1: the event has none of that name */
};

/* An event being parsed. */
struct sinsp_parse {
	struct sinsp *s;
	struct sinsp_evt *e;
	const struct sinsp_parse_row *row;
	const struct sinsp_parse_row *enter_row; /* NULL: the exit's enter is not at hand */
	struct scap_params enter;
};

void sinsp_parse_init(void); /* before any other */

/* Finds thread and file of @e, binds enter and exit, changes the state. @e has raw, params
 * (of a damaged event what it still has), and insp. */
void sinsp_parse_event(struct sinsp *s, struct sinsp_evt *e);

/* Removes what the previous event ended. */
void sinsp_parse_end(struct sinsp *s);
static inline void sinsp_parse_finish(struct sinsp *s)
{
	if (s->ended_tid != -1 || s->closed_fd != -1)
		sinsp_parse_end(s);
}

/* A parameter of the event itself; NULL: it has none, or an empty one. */
const struct scap_param *sinsp_own(const struct sinsp_parse *p, enum sinsp_param name);
/* What the call was given: from the enter where it is known, else appended to the exit. */
const struct scap_param *sinsp_arg(const struct sinsp_parse *p, enum sinsp_param name);

/* The first parameter of an exit, negative if the call failed. */
int64_t sinsp_result(const struct sinsp_parse *p);

/* @path of the event's thread, from @dir, which ends with a slash: the name of what is there. As
 * sinsp_path_join. */
size_t sinsp_parse_path(const struct sinsp_parse *p, char *out, const char *dir, size_t dir_len,
			const char *path, size_t len);

/* Numbers of 1, 2, 4 or 8 bytes; @none if @v is NULL or of another size. */
int64_t sinsp_s64(const struct scap_param *v, int64_t none);
uint64_t sinsp_u64(const struct scap_param *v, uint64_t none);

/* Bytes of text before its NUL. */
size_t sinsp_text_len(const struct scap_param *v);

/* Says once that there are more files than are kept. */
void sinsp_warn_fd_limit(struct sinsp *s);

/* The event's file is now @num, which is new. NULL: no thread, or no memory. */
struct sinsp_fd *sinsp_parse_new_fd(struct sinsp_parse *p, int64_t num, unsigned int type);
/* The event's file, to be changed. NULL: there is none, no memory, or no room. */
struct sinsp_fd *sinsp_parse_edit_fd(struct sinsp_parse *p);
/* The same with ends: what comes of it is a socket. */
struct sinsp_fd *sinsp_parse_edit_socket(struct sinsp_parse *p);

/* parse_file.c */
void sinsp_parse_open(struct sinsp_parse *p);
void sinsp_parse_open_by_handle(struct sinsp_parse *p);
void sinsp_parse_close_enter(struct sinsp_parse *p);
void sinsp_parse_close(struct sinsp_parse *p);
void sinsp_parse_close_range(struct sinsp_parse *p);
void sinsp_parse_dup(struct sinsp_parse *p);
void sinsp_parse_fcntl(struct sinsp_parse *p);
void sinsp_parse_pipe(struct sinsp_parse *p);
void sinsp_parse_two_files(struct sinsp_parse *p);
void sinsp_parse_anon(struct sinsp_parse *p);
void sinsp_parse_memfd(struct sinsp_parse *p);
void sinsp_parse_open_tree(struct sinsp_parse *p);
void sinsp_parse_named(struct sinsp_parse *p);
void sinsp_parse_mq_open(struct sinsp_parse *p);
void sinsp_parse_bpf(struct sinsp_parse *p);
void sinsp_parse_pidfd_open(struct sinsp_parse *p);
void sinsp_parse_pidfd_getfd(struct sinsp_parse *p);
void sinsp_parse_chdir(struct sinsp_parse *p);
void sinsp_parse_fchdir(struct sinsp_parse *p);
void sinsp_parse_getcwd(struct sinsp_parse *p);
void sinsp_parse_chroot(struct sinsp_parse *p);
void sinsp_parse_setns(struct sinsp_parse *p);
void sinsp_parse_unshare(struct sinsp_parse *p);

/* parse_io_uring.c */
void sinsp_parse_io_submit(struct sinsp_parse *p);
void sinsp_parse_io_complete(struct sinsp_parse *p);

/* parse_net.c */
void sinsp_parse_socket(struct sinsp_parse *p);
void sinsp_parse_socketpair(struct sinsp_parse *p);
void sinsp_parse_bind(struct sinsp_parse *p);
void sinsp_parse_listen(struct sinsp_parse *p);
void sinsp_parse_connect_enter(struct sinsp_parse *p);
void sinsp_parse_connect(struct sinsp_parse *p);
void sinsp_parse_accept(struct sinsp_parse *p);
void sinsp_parse_sendto_enter(struct sinsp_parse *p);
void sinsp_parse_send(struct sinsp_parse *p);
void sinsp_parse_recv(struct sinsp_parse *p);
void sinsp_parse_passed_file(struct sinsp_parse *p);

/* parse_connect.c */
/* The event's file is one whose connect may not have ended: what the event says about that. Not for
 * exits of connect. */
void sinsp_connect_outcome(struct sinsp *s, struct sinsp_evt *e, const struct sinsp_parse_row *row);
/* The exit of a connect of @fd. */
void sinsp_connect_exit(struct sinsp_parse *p, struct sinsp_fd *fd);
void sinsp_parse_getpeername(struct sinsp_parse *p);

/* parse_proc.c */
void sinsp_parse_clone(struct sinsp_parse *p);
void sinsp_parse_execve(struct sinsp_parse *p);
void sinsp_parse_procexit(struct sinsp_parse *p);
void sinsp_parse_setuid(struct sinsp_parse *p);
void sinsp_parse_setgid(struct sinsp_parse *p);
void sinsp_parse_setsid(struct sinsp_parse *p);
void sinsp_parse_setpgid(struct sinsp_parse *p);
void sinsp_parse_prctl(struct sinsp_parse *p);
void sinsp_parse_comm(struct sinsp_parse *p);
void sinsp_parse_rlimit(struct sinsp_parse *p);
void sinsp_parse_prlimit(struct sinsp_parse *p);
void sinsp_parse_vm(struct sinsp_parse *p);
void sinsp_parse_switch(struct sinsp_parse *p);
void sinsp_parse_capset(struct sinsp_parse *p);
void sinsp_parse_procinfo(struct sinsp_parse *p);

void sinsp_parse_lost(struct sinsp_parse *p);

/* parse_map.c */
void sinsp_parse_map(struct sinsp_parse *p);
void sinsp_parse_map_fork(struct sinsp_parse *p);
void sinsp_parse_map_none(struct sinsp_parse *p);

/* parse_users.c */
void sinsp_parse_user(struct sinsp_parse *p);
void sinsp_parse_group(struct sinsp_parse *p);

/* parse_container.c */
void sinsp_parse_container(struct sinsp_parse *p);

#endif /* SINSP_PARSE_PARSE_H */
