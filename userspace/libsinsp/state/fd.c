/* SPDX-License-Identifier: Apache-2.0 */
/* A descriptor: the letter and the name of its type, the path given to open, its two ends. */
#include "fd.h"

#include <string.h>

#include "memory/intern.h"

/* Returns the protocol that is printed: sysdig prints it once the local end of the socket is
 * known. */
static unsigned int shown_l4proto(const struct sinsp_fd *fd)
{
	int peer = fd->type == SCAP_FD_IPV4_SOCK || fd->type == SCAP_FD_IPV6_SOCK;

	if (fd->l4proto > SCAP_L4_RAW)
		return SCAP_L4_UNKNOWN;
	if (peer && fd->l4proto != SCAP_L4_RAW &&
	    !(fd->flags & (SINSP_FD_F_CLIENT | SINSP_FD_F_SERVER)))
		return SCAP_L4_NA;
	return fd->l4proto;
}

const char *sinsp_fd_typechar(const struct sinsp_fd *fd)
{
	/* With the letter of the protocol. */
	static const char *const v4[] = {"4", "4", "4t", "4u", "4i", "4r"};
	static const char *const v6[] = {"6", "6", "6t", "6u", "6i", "6r"};
	static const char *const chars[SCAP_FD_MAX] = {
		[0] = "o",
		[SCAP_FD_FILE] = "f",
		[SCAP_FD_DIRECTORY] = "d",
		[SCAP_FD_FIFO] = "p",
		[SCAP_FD_UNIX_SOCK] = "u",
		[SCAP_FD_EVENT] = "e",
		[SCAP_FD_UNSUPPORTED] = "X",
		[SCAP_FD_SIGNALFD] = "s",
		[SCAP_FD_EVENTPOLL] = "l",
		[SCAP_FD_INOTIFY] = "i",
		[SCAP_FD_TIMERFD] = "t",
		[SCAP_FD_NETLINK] = "n",
		[SCAP_FD_FILE_V2] = "f",
		[SCAP_FD_BPF] = "b",
		[SCAP_FD_USERFAULTFD] = "u",
		[SCAP_FD_IOURING] = "r",
		[SCAP_FD_MEMFD] = "m",
		[SCAP_FD_PIDFD] = "P",
	};

	switch (fd->type) {
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
		return v4[shown_l4proto(fd)];
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV6_SERVSOCK:
		return v6[shown_l4proto(fd)];
	}
	return fd->type < SCAP_FD_MAX && chars[fd->type] ? chars[fd->type] : "?";
}

const char *sinsp_fd_typename(const struct sinsp_fd *fd)
{
	static const char *const names[SCAP_FD_MAX] = {
		[SCAP_FD_FILE] = "file",
		[SCAP_FD_DIRECTORY] = "directory",
		[SCAP_FD_IPV4_SOCK] = "ipv4",
		[SCAP_FD_IPV6_SOCK] = "ipv6",
		[SCAP_FD_IPV4_SERVSOCK] = "ipv4",
		[SCAP_FD_IPV6_SERVSOCK] = "ipv6",
		[SCAP_FD_FIFO] = "pipe",
		[SCAP_FD_UNIX_SOCK] = "unix",
		[SCAP_FD_EVENT] = "event",
		[SCAP_FD_SIGNALFD] = "signalfd",
		[SCAP_FD_EVENTPOLL] = "eventpoll",
		[SCAP_FD_INOTIFY] = "inotify",
		[SCAP_FD_TIMERFD] = "timerfd",
		[SCAP_FD_NETLINK] = "netlink",
		[SCAP_FD_FILE_V2] = "file",
		[SCAP_FD_BPF] = "bpf",
		[SCAP_FD_USERFAULTFD] = "userfaultfd",
		[SCAP_FD_IOURING] = "io_uring",
		[SCAP_FD_MEMFD] = "memfd",
		[SCAP_FD_PIDFD] = "pidfd",
	};

	return fd->type < SCAP_FD_MAX ? names[fd->type] : NULL;
}

const char *sinsp_fd_given_name(const struct sinsp_fd *fd, size_t *len)
{
	const size_t n = strlen(fd->name);

	if (!(fd->flags & SINSP_FD_F_GIVEN)) {
		*len = n;
		return fd->name;
	}
	*len = sinsp_str_len(fd->name) - n - 1;
	return fd->name + n + 1;
}

void sinsp_fd_swap_ends(struct sinsp_fd *fd)
{
	struct sinsp_tuple *to = &sinsp_fd_edit_ends(fd)->tuple;
	const struct sinsp_tuple t = *to;

	memcpy(to->sip, t.dip, sizeof(to->sip));
	memcpy(to->dip, t.sip, sizeof(to->dip));
	to->sport = t.dport;
	to->dport = t.sport;
}
