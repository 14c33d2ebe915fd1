/* SPDX-License-Identifier: Apache-2.0 */
/* Events of descriptors that a process receives: by a message (SCM_RIGHTS) or through a pidfd. */
#include <string.h>

#include "parsers.h"
#include "socket_params.h"
#include "state/import.h"
#include "state/pathname.h"
#include "state/sockname.h"

enum {
	KERNEL_S_IFMT = 0170000,
	KERNEL_S_IFSOCK = 0140000,
	KERNEL_S_IFDIR = 0040000,
	KERNEL_S_IFIFO = 0010000
};

/* Marks a socket with a local port and no peer as listening: it receives from anyone. */
static void set_listening(struct scap_fd_info *info)
{
	if (!info->sport || info->dport)
		return;
	info->type =
		info->type == SCAP_FD_IPV4_SOCK ? SCAP_FD_IPV4_SERVSOCK : SCAP_FD_IPV6_SERVSOCK;
}

static void describe_socket(const struct sinsp_parse *p, struct scap_fd_info *info)
{
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_tuple);
	struct sinsp_tuple t;
	unsigned int type;

	info->type = socket_fd_type(sinsp_u64(sinsp_evt_param(p, SINSP_P_domain), 0));
	info->name = "";
	if (info->type == SCAP_FD_IPV4_SOCK || info->type == SCAP_FD_IPV6_SOCK)
		info->l4proto = socket_l4proto(sinsp_u64(sinsp_evt_param(p, SINSP_P_type), 0),
					       sinsp_u64(sinsp_evt_param(p, SINSP_P_proto), 0));
	if (v && socket_read_tuple(v, &t, &type)) {
		info->type = type;
		memcpy(info->sip, t.sip, sizeof(info->sip));
		memcpy(info->dip, t.dip, sizeof(info->dip));
		info->sport = t.sport;
		info->dport = t.dport;
		set_listening(info);
	} else if (v && v->p[0] == SINSP_AF_UNIX && v->len > SINSP_TUPLE_UNIX_SZ) {
		memcpy(&info->unix_src, v->p + 1, 8);
		memcpy(&info->unix_dst, v->p + 9, 8);
		if (memchr(v->p + SINSP_TUPLE_UNIX_SZ, 0, v->len - SINSP_TUPLE_UNIX_SZ))
			info->name = (const char *)v->p + SINSP_TUPLE_UNIX_SZ;
	}
}

/* Sets type and name of a file; @text has room for a path. A file without a path has the name of
 * its type. */
static void describe_file(const struct sinsp_parse *p, struct scap_fd_info *info, char *text)
{
	const struct scap_param *name = sinsp_evt_param(p, SINSP_P_name);
	uint32_t mode = sinsp_u64(sinsp_evt_param(p, SINSP_P_mode), 0) & KERNEL_S_IFMT;
	size_t n = name && name->len < SINSP_PATH_SZ ? sinsp_text_len(name) : 0;

	if (n)
		memcpy(text, name->p, n);
	text[n] = 0;
	info->name = text;
	if (mode == KERNEL_S_IFIFO)
		info->type = SCAP_FD_FIFO;
	else if (mode == KERNEL_S_IFDIR)
		info->type = SCAP_FD_DIRECTORY;
	else
		info->type = SCAP_FD_FILE_V2;
	if (*text == '/') {
		sinsp_parse_path(p, text, "/", 1, (const char *)name->p, name->len);
	} else if (!strncmp(text, "memfd:", 6)) {
		info->type = SCAP_FD_MEMFD;
		info->name += 6;
	} else if (info->type != SCAP_FD_FIFO) {
		info->type = scap_anon_type(text);
		if (!info->type)
			info->type = SCAP_FD_UNSUPPORTED;
		info->name = "";
	}
}

void sinsp_parse_passed_file(struct sinsp_parse *p)
{
	uint32_t mode = sinsp_u64(sinsp_evt_param(p, SINSP_P_mode), 0) & KERNEL_S_IFMT;
	struct scap_fd_info info = {
		.fd = sinsp_s64(sinsp_evt_param(p, SINSP_P_fd), -1),
		.ino = sinsp_u64(sinsp_evt_param(p, SINSP_P_ino), 0),
		.dev = sinsp_u64(sinsp_evt_param(p, SINSP_P_dev), 0),
		.open_flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0),
	};
	char text[SINSP_PATH_SZ];
	struct sinsp_fd *fd;

	if (!p->e->thread || info.fd < 0)
		return;
	if (mode == KERNEL_S_IFSOCK)
		describe_socket(p, &info);
	else
		describe_file(p, &info, text);
	fd = sinsp_import_fd(&p->s->threads, p->e->thread->files, &info);
	if (!fd)
		return;
	fd->as_of_ns = p->e->raw.true_ns;
	fd->flags &= ~(SINSP_FD_F_RESYNCED | SINSP_FD_F_CLOEXEC);
	if (info.open_flags & SINSP_O_CLOEXEC)
		fd->flags |= SINSP_FD_F_CLOEXEC;
}
