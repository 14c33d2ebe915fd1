/* SPDX-License-Identifier: Apache-2.0 */
/* The table of event parsers, and a row for each event type: its parser, its fd, and the index of
 * each parameter that state depends on. */
#include "event_rows.h"

#include <pthread.h>
#include <string.h>

#include "parsers.h"

enum {
	NEEDS_ENTER = 1 << 0, /* the enter has parameters that the exit event of 2022 lacks */
	ANY_AGE = 1 << 1, /* no snapshot of a thread contains its effect */
};

static const struct {
	sinsp_parse_fn fn;
	int flags;
} parsers[EVT_INDEX_MAX] = {
	[EVT_OPEN_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_CREAT_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPENAT_102_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPENAT_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPENAT2_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPEN_BY_HANDLE_AT_X] = {sinsp_parse_open_by_handle},
	[EVT_CLOSE_E] = {sinsp_parse_close_enter},
	[EVT_CLOSE_X] = {sinsp_parse_close},
	[EVT_CLOSE_RANGE_X] = {sinsp_parse_close_range},
	[EVT_DUP_X] = {sinsp_parse_dup},
	[EVT_DUP_366_X] = {sinsp_parse_dup},
	[EVT_DUP2_X] = {sinsp_parse_dup},
	[EVT_DUP3_X] = {sinsp_parse_dup},
	[EVT_FCNTL_X] = {sinsp_parse_fcntl, NEEDS_ENTER},
	[EVT_PIPE_X] = {sinsp_parse_pipe},
	[EVT_PIPE2_X] = {sinsp_parse_pipe},
	[EVT_EVENTFD_X] = {sinsp_parse_anon},
	[EVT_EVENTFD2_X] = {sinsp_parse_anon},
	[EVT_SIGNALFD_X] = {sinsp_parse_anon},
	[EVT_SIGNALFD4_X] = {sinsp_parse_anon},
	[EVT_TIMERFD_CREATE_X] = {sinsp_parse_anon},
	[EVT_INOTIFY_INIT_X] = {sinsp_parse_anon},
	[EVT_INOTIFY_INIT1_X] = {sinsp_parse_anon},
	[EVT_EPOLL_CREATE_X] = {sinsp_parse_anon},
	[EVT_EPOLL_CREATE1_X] = {sinsp_parse_anon},
	[EVT_USERFAULTFD_X] = {sinsp_parse_anon},
	[EVT_IO_URING_SETUP_X] = {sinsp_parse_anon},
	[EVT_MEMFD_CREATE_X] = {sinsp_parse_memfd},
	[EVT_INDEX(EVT_MEMFD_SECRET_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_MQ_OPEN_X)] = {sinsp_parse_mq_open},
	[EVT_INDEX(EVT_PERF_EVENT_OPEN_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_LANDLOCK_CREATE_RULESET_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FSOPEN_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FSPICK_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FSMOUNT_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FANOTIFY_INIT_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_OPEN_TREE_X)] = {sinsp_parse_open_tree},
	[EVT_INDEX(EVT_OPEN_TREE_ATTR_X)] = {sinsp_parse_open_tree},
	[EVT_BPF_368_X] = {sinsp_parse_bpf},
	[EVT_PIDFD_OPEN_X] = {sinsp_parse_pidfd_open},
	[EVT_PIDFD_GETFD_X] = {sinsp_parse_pidfd_getfd},
	[EVT_CHDIR_X] = {sinsp_parse_chdir},
	[EVT_FCHDIR_X] = {sinsp_parse_fchdir},
	[EVT_GETCWD_X] = {sinsp_parse_getcwd},
	[EVT_SENDFILE_X] = {sinsp_parse_two_fds, NEEDS_ENTER},
	[EVT_SPLICE_X] = {sinsp_parse_two_fds, NEEDS_ENTER},
	[EVT_COPY_FILE_RANGE_X] = {sinsp_parse_two_fds, NEEDS_ENTER},
	[EVT_INDEX(EVT_TEE_X)] = {sinsp_parse_two_fds},
	[EVT_IOCTL_X] = {sinsp_parse_two_fds},
	[EVT_CHROOT_X] = {sinsp_parse_chroot},
	[EVT_SETNS_X] = {sinsp_parse_setns},
	[EVT_UNSHARE_X] = {sinsp_parse_unshare},

	[EVT_SOCKET_X] = {sinsp_parse_socket, NEEDS_ENTER},
	[EVT_SOCKETPAIR_X] = {sinsp_parse_socketpair},
	[EVT_BIND_X] = {sinsp_parse_bind},
	[EVT_LISTEN_X] = {sinsp_parse_listen},
	[EVT_CONNECT_E] = {sinsp_parse_connect_enter},
	[EVT_CONNECT_X] = {sinsp_parse_connect},
	[EVT_ACCEPT_26_X] = {sinsp_parse_accept},
	[EVT_ACCEPT_56_X] = {sinsp_parse_accept},
	[EVT_ACCEPT_X] = {sinsp_parse_accept},
	[EVT_ACCEPT4_248_X] = {sinsp_parse_accept},
	[EVT_ACCEPT4_X] = {sinsp_parse_accept},
	[EVT_SENDTO_E] = {sinsp_parse_sendto_enter},
	[EVT_SENDTO_X] = {sinsp_parse_send, NEEDS_ENTER},
	[EVT_SENDMSG_X] = {sinsp_parse_send, NEEDS_ENTER},
	[EVT_SENDMMSG_X] = {sinsp_parse_send},
	[EVT_RECVFROM_X] = {sinsp_parse_recv},
	[EVT_RECVMSG_X] = {sinsp_parse_recv},
	[EVT_RECVMMSG_X] = {sinsp_parse_recv},
	[EVT_GETPEERNAME_X] = {sinsp_parse_getpeername},

	[EVT_CLONE_14_X] = {sinsp_parse_clone},
	[EVT_CLONE_156_X] = {sinsp_parse_clone},
	[EVT_CLONE_216_X] = {sinsp_parse_clone},
	[EVT_CLONE_X] = {sinsp_parse_clone},
	[EVT_FORK_182_X] = {sinsp_parse_clone},
	[EVT_FORK_218_X] = {sinsp_parse_clone},
	[EVT_FORK_X] = {sinsp_parse_clone},
	[EVT_VFORK_184_X] = {sinsp_parse_clone},
	[EVT_VFORK_220_X] = {sinsp_parse_clone},
	[EVT_VFORK_X] = {sinsp_parse_clone},
	[EVT_CLONE3_X] = {sinsp_parse_clone},
	[EVT_EXECVE_12_X] = {sinsp_parse_execve},
	[EVT_EXECVE_154_X] = {sinsp_parse_execve},
	[EVT_EXECVE_172_X] = {sinsp_parse_execve},
	[EVT_EXECVE_214_X] = {sinsp_parse_execve},
	[EVT_EXECVE_230_X] = {sinsp_parse_execve},
	[EVT_EXECVE_282_X] = {sinsp_parse_execve},
	[EVT_EXECVE_288_X] = {sinsp_parse_execve, NEEDS_ENTER},
	[EVT_EXECVE_X] = {sinsp_parse_execve, NEEDS_ENTER},
	[EVT_EXECVEAT_X] = {sinsp_parse_execve, NEEDS_ENTER},
	[EVT_PROCEXIT_16_E] = {sinsp_parse_procexit},
	[EVT_PROCEXIT_E] = {sinsp_parse_procexit},
	[EVT_SETUID_X] = {sinsp_parse_setuid, NEEDS_ENTER},
	[EVT_SETREUID_X] = {sinsp_parse_setuid},
	[EVT_SETRESUID_X] = {sinsp_parse_setuid, NEEDS_ENTER},
	[EVT_SETGID_X] = {sinsp_parse_setgid, NEEDS_ENTER},
	[EVT_SETREGID_X] = {sinsp_parse_setgid},
	[EVT_SETRESGID_X] = {sinsp_parse_setgid, NEEDS_ENTER},
	[EVT_SETSID_X] = {sinsp_parse_setsid},
	[EVT_SETPGID_X] = {sinsp_parse_setpgid, NEEDS_ENTER},
	[EVT_PRCTL_X] = {sinsp_parse_prctl},
	[EVT_GETRLIMIT_X] = {sinsp_parse_rlimit, NEEDS_ENTER},
	[EVT_SETRLIMIT_X] = {sinsp_parse_rlimit, NEEDS_ENTER},
	[EVT_PRLIMIT_X] = {sinsp_parse_prlimit, NEEDS_ENTER},
	[EVT_BRK_X] = {sinsp_parse_vm},
	[EVT_MMAP_X] = {sinsp_parse_vm},
	[EVT_MMAP2_X] = {sinsp_parse_vm},
	[EVT_MUNMAP_X] = {sinsp_parse_vm},
	[EVT_SWITCH_146_E] = {sinsp_parse_switch, ANY_AGE},
	[EVT_SWITCH_E] = {sinsp_parse_switch, ANY_AGE},
	[EVT_CAPSET_X] = {sinsp_parse_capset},
	[EVT_PROCINFO_E] = {sinsp_parse_procinfo},
	[EVT_INDEX(EVT_IO_URING_SUBMIT_E)] = {sinsp_parse_io_submit},
	[EVT_INDEX(EVT_IO_URING_COMPLETE_X)] = {sinsp_parse_io_complete},
	[EVT_USERADDED_E] = {sinsp_parse_user},
	[EVT_USERDELETED_E] = {sinsp_parse_user},
	[EVT_GROUPADDED_E] = {sinsp_parse_group},
	[EVT_GROUPDELETED_E] = {sinsp_parse_group},
	[EVT_CONTAINER_272_E] = {sinsp_parse_container},
	[EVT_CONTAINER_E] = {sinsp_parse_container},
	[EVT_INDEX(EVT_LOST_E)] = {sinsp_parse_lost},
	[EVT_INDEX(EVT_REQUEST_E)] = {sinsp_parse_request, ANY_AGE},
	[EVT_INDEX(EVT_SLICE_E)] = {sinsp_parse_slice, ANY_AGE},
	[EVT_INDEX(EVT_MARKER_E)] = {sinsp_parse_tracer, ANY_AGE},
	[EVT_INDEX(EVT_MARKER_X)] = {sinsp_parse_tracer, ANY_AGE},
	[EVT_INDEX(EVT_TLS_READ_X)] = {sinsp_parse_tls, ANY_AGE},
	[EVT_INDEX(EVT_TLS_WRITE_X)] = {sinsp_parse_tls, ANY_AGE},
	[EVT_INDEX(EVT_FILE_E)] = {sinsp_parse_passed_file},
	[EVT_INDEX(EVT_COMM_E)] = {sinsp_parse_comm},
	[EVT_INDEX(EVT_MAP_E)] = {sinsp_parse_map, ANY_AGE},
	[EVT_INDEX(EVT_MAP_EXEC_E)] = {sinsp_parse_map_none, ANY_AGE},
	[EVT_INDEX(EVT_MAP_FORK_E)] = {sinsp_parse_map_fork, ANY_AGE},
	[EVT_INDEX(EVT_MAP_EXIT_E)] = {sinsp_parse_map_none, ANY_AGE},
};

struct sinsp_parse_row sinsp_event_rows[EVT_INDEX_MAX]; /* zero for an unknown event type */

static int find_param(const struct scap_event_info *info, const char *name)
{
	for (unsigned int i = 0; i < info->n_params; i++)
		if (info->params[i].name[0] == name[0] && !strcmp(info->params[i].name, name))
			return i;
	return -1;
}

/* Returns the index of the descriptor: the first parameter of an enter event; in an exit event it
 * has one of these names. */
static int find_fd(const struct scap_event_info *info)
{
	static const char *const names[] = {"fd",     "oldfd",      "fdout",    "fd_in",
					    "out_fd", "dirfd",      "pidfd",    "epfd",
					    "mqdes",  "ruleset_fd", "kernel_fd"};

	if (evt_is_enter(info->id))
		return info->n_params ? 0 : -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int at = find_param(info, names[i]);

		/* The first parameter of an exit event is the result. */
		if (at > 0)
			return at;
	}
	return -1;
}

static int is_call(const struct scap_event_info *info)
{
	const struct scap_event_info *exit;

	if (!evt_is_enter(info->id))
		return 1;
	exit = scap_event_info(info->id + 1);
	return exit && !(exit->flags & EF_UNUSED);
}

/* Returns whether the event can be an enter or exit of its thread. Others may come between the
 * two. */
static int is_of_thread(const struct scap_event_info *info)
{
	return !(info->flags & EF_SKIPPARSERESET) && !evt_is_of_users(info->id) &&
	       info->id != EVT_SWITCH_E && info->id != EVT_CONTAINER_272_E &&
	       info->id != EVT_CONTAINER_E;
}

/* The names of parameters that have a place in rows, those with the same first byte in a list. */
struct param_names {
	const char *const *names; /* by enum sinsp_param */
	int first[256], next[SINSP_P_MAX]; /* -1: none */
};

static struct param_names list_names(void)
{
	static const char *const names[SINSP_P_MAX] = {
#define X(name) [SINSP_P_##name] = #name,
		SINSP_PARAM_NAMES(X)
#undef X
	};
	struct param_names list = {.names = names};

	memset(list.first, -1, sizeof(list.first));
	for (int i = 0; i < SINSP_P_MAX; i++) {
		int *first = &list.first[(uint8_t)names[i][0]];

		list.next[i] = *first;
		*first = i;
	}
	return list;
}

/* Of parameters with the same name the first one counts. */
static void find_params(struct sinsp_parse_row *row, const struct scap_event_info *info,
			const struct param_names *list)
{
	for (int i = 0; i < SINSP_P_MAX; i++)
		row->at[i] = -1;
	for (int at = (int)info->n_params - 1; at >= 0; at--) {
		const char *name = info->params[at].name;

		for (int i = list->first[(uint8_t)name[0]]; i >= 0; i = list->next[i])
			if (!strcmp(name, list->names[i]))
				row->at[i] = at;
	}
}

static void make_row(void *list, const struct scap_event_info *info)
{
	struct sinsp_parse_row *row = &sinsp_event_rows[evt_index(info->id)];

	row->is_private = evt_is_private(info->id);
	if (row->is_private && !parsers[evt_index(info->id)].fn)
		return;
	row->info = info;
	find_params(row, info, list);
	row->fn = parsers[evt_index(info->id)].fn;
	row->uses_fd = !!(info->flags & EF_USES_FD);
	/* accept's enter event has the listening socket, its exit event a new one. */
	row->fd = row->uses_fd ? find_fd(info) : find_param(info, "listen_fd");
	row->is_call = is_call(info);
	row->any_age = row->fn == sinsp_parse_clone || parsers[evt_index(info->id)].flags & ANY_AGE;
	row->is_clone = row->fn == sinsp_parse_clone;
	row->of_thread = is_of_thread(info);
	row->save = evt_is_enter(info->id) && parsers[evt_index(info->id + 1)].flags & NEEDS_ENTER;
}

static void make_rows(void)
{
	struct param_names list = list_names();

	scap_event_each(make_row, &list);
}

void sinsp_event_rows_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_rows);
}
