/* SPDX-License-Identifier: Apache-2.0 */
/* The category of an event, and the kind of the file that it reads or writes. */
#include "evt_category.h"

#include "fd.h"
#include "thread.h"

int evt_is_generic(const struct sinsp_evt *evt)
{
	return evt->info->id == EVT_SYSCALL_E || evt->info->id == EVT_SYSCALL_X;
}

unsigned int evt_category(const struct sinsp_evt *evt)
{
	unsigned int code = 0;
	const char *name;

	if (!evt_is_generic(evt))
		return evt->info->category;
	if (evt->params.n && evt->params.v[0].len >= sizeof(uint16_t))
		code = get_u16(evt->params.v[0].p);
	/* A code unknown to sysdig is 0 in its files. */
	if (!code && evt->raw.nr != REC_NR_NONE) {
		name = scap_syscall_name(evt->raw.nr, !!(evt->raw.flags & SCAP_EVT_F_IA32));
		code = name ? scap_syscall_ppm_sc(name) : 0;
	}
	return scap_ppm_sc_category(code);
}

enum fd_kind evt_kind_of_fd(const struct sinsp_fd *fd)
{
	switch (fd ? fd->type : 0) {
	case SCAP_FD_FILE:
	case SCAP_FD_FILE_V2:
	case SCAP_FD_DIRECTORY:
	case SCAP_FD_MEMFD:
		return FD_FILE;
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
	case SCAP_FD_IPV6_SERVSOCK:
		return FD_NET;
	case SCAP_FD_FIFO:
	case SCAP_FD_UNIX_SOCK:
	case SCAP_FD_EVENT:
	case SCAP_FD_SIGNALFD:
	case SCAP_FD_INOTIFY:
		return FD_IPC;
	default:
		return fd ? FD_OTHER : FD_NONE;
	}
}

enum fd_kind evt_fd_kind(const struct sinsp_evt *evt)
{
	return evt_kind_of_fd(evt->fd);
}

int evt_is_io(const struct sinsp_evt *evt)
{
	return evt->info->category == EC_IO_READ || evt->info->category == EC_IO_WRITE ||
	       evt->info->category == EC_IO_OTHER;
}

const char *evt_category_name(const struct sinsp_evt *evt)
{
	/* clang-format off */
	static const char *const names[] = {
		[EC_OTHER] = "other", [EC_FILE] = "file", [EC_NET] = "net", [EC_IPC] = "IPC",
		[EC_MEMORY] = "memory", [EC_PROCESS] = "process", [EC_SLEEP] = "sleep",
		[EC_SYSTEM] = "system", [EC_SIGNAL] = "signal", [EC_USER] = "user",
		[EC_TIME] = "time", [EC_PROCESSING] = "processing",
	};
	static const char *const io_names[] = {
		[FD_NONE] = "unknown", [FD_FILE] = "file", [FD_NET] = "net", [FD_IPC] = "ipc",
		[FD_OTHER] = "unknown",
	};
	/* clang-format on */
	const unsigned int c = evt_category(evt);

	if (evt_is_io(evt))
		return io_names[evt_fd_kind(evt)];
	if (c == EC_WAIT)
		return "wait";
	if (c & EC_SCHEDULER)
		return "scheduler";
	if (c & EC_INTERNAL)
		return "internal";
	return c < sizeof(names) / sizeof(names[0]) && names[c] ? names[c] : "unknown";
}
