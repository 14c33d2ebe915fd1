/* SPDX-License-Identifier: Apache-2.0 */
/* The file or socket of an event, for getters of its fields. */
#ifndef SINSP_FIELDS_FIELDS_FD_H
#define SINSP_FIELDS_FIELDS_FD_H

#include "fd.h"
#include "field_rows.h"
#include "thread.h"

static inline int evt_is_about_fd(const struct sinsp_evt *evt)
{
	return evt->thread && evt->info->flags & (EF_CREATES_FD | EF_USES_FD | EF_DESTROYS_FD);
}

/* Returns the file of the event; NULL: it has none, or an unknown one. */
static inline const struct sinsp_fd *field_fd(const struct sinsp_eval *e)
{
	return evt_is_about_fd(e->evt) ? e->evt->fd : NULL;
}

static inline int fd_is_file(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_FILE || fd->type == SCAP_FD_FILE_V2;
}

static inline int fd_is_connection(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV4_SOCK || fd->type == SCAP_FD_IPV6_SOCK;
}

static inline int fd_is_listening(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV4_SERVSOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;
}

static inline int fd_is_v6(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV6_SOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;
}

#endif /* SINSP_FIELDS_FIELDS_FD_H */
