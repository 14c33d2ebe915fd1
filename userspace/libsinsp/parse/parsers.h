/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers: functions that change the state by an event, one per family of exit events. */
#ifndef SINSP_PARSE_PARSERS_H
#define SINSP_PARSE_PARSERS_H

#include "params.h"

/* parse_file.c */
void sinsp_parse_open(struct sinsp_parse *p);
void sinsp_parse_open_by_handle(struct sinsp_parse *p);
void sinsp_parse_close_enter(struct sinsp_parse *p);
void sinsp_parse_close(struct sinsp_parse *p);
void sinsp_parse_close_range(struct sinsp_parse *p);
void sinsp_parse_dup(struct sinsp_parse *p);
void sinsp_parse_fcntl(struct sinsp_parse *p);
void sinsp_parse_pipe(struct sinsp_parse *p);
void sinsp_parse_two_fds(struct sinsp_parse *p);
void sinsp_parse_anon(struct sinsp_parse *p);
void sinsp_parse_memfd(struct sinsp_parse *p);
void sinsp_parse_open_tree(struct sinsp_parse *p);
void sinsp_parse_named(struct sinsp_parse *p);
void sinsp_parse_mq_open(struct sinsp_parse *p);
void sinsp_parse_bpf(struct sinsp_parse *p);
void sinsp_parse_pidfd_open(struct sinsp_parse *p);
void sinsp_parse_pidfd_getfd(struct sinsp_parse *p);

/* parse_dir.c */
void sinsp_parse_chdir(struct sinsp_parse *p);
void sinsp_parse_fchdir(struct sinsp_parse *p);
void sinsp_parse_getcwd(struct sinsp_parse *p);
void sinsp_parse_chroot(struct sinsp_parse *p);
void sinsp_parse_setns(struct sinsp_parse *p);
void sinsp_parse_unshare(struct sinsp_parse *p);

/* parse_io_uring.c */
void sinsp_parse_io_submit(struct sinsp_parse *p);
void sinsp_parse_io_complete(struct sinsp_parse *p);
void sinsp_parse_tls(struct sinsp_parse *p);

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

/* parse_passed_fd.c */
void sinsp_parse_passed_file(struct sinsp_parse *p);
void sinsp_parse_request(struct sinsp_parse *p);
void sinsp_parse_tracer(struct sinsp_parse *p);

/* parse_connect.c */
/* Updates a descriptor whose connect is pending by an event that is no exit of connect. */
void sinsp_connect_outcome(struct sinsp *s, struct sinsp_evt *e, const struct sinsp_parse_row *row);
/* Updates a descriptor by the exit event of its connect. */
void sinsp_connect_exit(struct sinsp_parse *p, struct sinsp_fd *fd);
void sinsp_parse_getpeername(struct sinsp_parse *p);

/* parse_clone.c */
void sinsp_parse_clone(struct sinsp_parse *p);

/* parse_exec.c */
void sinsp_parse_execve(struct sinsp_parse *p);

/* parse_switch.c */
void sinsp_parse_switch(struct sinsp_parse *p);
void sinsp_parse_slice(struct sinsp_parse *p);
void sinsp_parse_procinfo(struct sinsp_parse *p);
void sinsp_parse_vm(struct sinsp_parse *p);

/* parse_proc.c */
void sinsp_parse_procexit(struct sinsp_parse *p);
void sinsp_parse_setuid(struct sinsp_parse *p);
void sinsp_parse_setgid(struct sinsp_parse *p);
void sinsp_parse_setsid(struct sinsp_parse *p);
void sinsp_parse_setpgid(struct sinsp_parse *p);
void sinsp_parse_prctl(struct sinsp_parse *p);
void sinsp_parse_comm(struct sinsp_parse *p);
void sinsp_parse_rlimit(struct sinsp_parse *p);
void sinsp_parse_prlimit(struct sinsp_parse *p);
void sinsp_parse_capset(struct sinsp_parse *p);
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

#endif /* SINSP_PARSE_PARSERS_H */
