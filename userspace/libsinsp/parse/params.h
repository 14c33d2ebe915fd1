/* SPDX-License-Identifier: Apache-2.0 */
/* The event that is being parsed: its parameters by name, so that one parser reads every version of
 * an event, and its descriptor. */
#ifndef SINSP_PARSE_PARAMS_H
#define SINSP_PARSE_PARAMS_H

#include "state/inspector.h"
#include "state/quirks.h"

/* The parameters that the state depends on. */
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
	X(kind)                                                                                    \
	X(ns)                                                                                      \
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
	X(val)                                                                                     \
	X(latency)

enum sinsp_param {
#define X(name) SINSP_P_##name,
	SINSP_PARAM_NAMES(X)
#undef X
		SINSP_P_MAX
};

struct sinsp_parse;
typedef void (*sinsp_parse_fn)(struct sinsp_parse *p);

/* One event type: made once from the event table. */
struct sinsp_parse_row {
	const struct scap_event_info *info;
	sinsp_parse_fn fn; /* NULL: the event changes no state */
	int8_t fd; /* index of the parameter with the descriptor; -1: there is none */
	uint8_t uses_fd;
	uint8_t is_call; /* an enter event with an exit event, or an exit event */
	uint8_t is_clone;
	uint8_t is_private;
	uint8_t any_age; /* applied even if it is older than the snapshot of its thread */
	uint8_t of_thread; /* it can be an enter or exit event of the thread whose TID it has */
	uint8_t save; /* the enter has parameters that the exit event of 2022 lacks */
	int8_t at[SINSP_P_MAX]; /* index of each parameter; -1: the event has none of that name */
};

/* The parsed event, with the rows that map names of parameters to indexes. */
struct sinsp_parse {
	struct sinsp *s;
	struct sinsp_evt *e;
	const struct sinsp_parse_row *row;
	const struct sinsp_parse_row *enter_row; /* NULL: the enter event is not saved */
	struct scap_params enter;
};

static inline const struct scap_param *sinsp_param_at(const struct scap_params *ps, int at)
{
	if (at < 0 || (unsigned int)at >= ps->n || !ps->v[at].len)
		return NULL;
	return &ps->v[at];
}

/* Returns a parameter of the event itself, or NULL if it has none or an empty one. */
const struct scap_param *sinsp_evt_param(const struct sinsp_parse *p, enum sinsp_param name);
/* Returns a parameter of the call: from the saved enter event, else from the exit event. */
const struct scap_param *sinsp_call_param(const struct sinsp_parse *p, enum sinsp_param name);

/* Returns the first parameter of an exit event, negative if the call failed. */
int64_t sinsp_result(const struct sinsp_parse *p);

/* Joins @path to @dir, which ends with a slash, within the root directory of the thread; see
 * sinsp_path_join. */
size_t sinsp_parse_path(const struct sinsp_parse *p, char *out, const char *dir, size_t dir_len,
			const char *path, size_t len);

/* Return a number of 1, 2, 4 or 8 bytes, or @none if @v is NULL or of another size. */
int64_t sinsp_s64(const struct scap_param *v, int64_t none);
uint64_t sinsp_u64(const struct scap_param *v, uint64_t none);

/* Returns the number of bytes before the NUL. */
size_t sinsp_text_len(const struct scap_param *v);

/* Adds the new descriptor @num, which becomes that of the event. Returns NULL without a thread or
 * memory. */
struct sinsp_fd *sinsp_parse_new_fd(struct sinsp_parse *p, int64_t num, unsigned int type);
/* Returns the descriptor of the event for writing. NULL: there is none, no memory, or no room. */
struct sinsp_fd *sinsp_parse_edit_fd(struct sinsp_parse *p);
/* Like sinsp_parse_edit_fd, with room for the two ends of a socket. */
struct sinsp_fd *sinsp_parse_edit_socket(struct sinsp_parse *p);
/* Gives @t an fd table of its own. Returns 0 without memory. */
int sinsp_parse_unshare_files(struct sinsp_parse *p, struct sinsp_thread *t);

#endif /* SINSP_PARSE_PARAMS_H */
