/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind of a wait follows from the call; of calls on a descriptor from its type. Calls are
 * compared by name once per number: 32-bit calls have the same names.
 */
#include "wait_kind.h"

#include <string.h>

#include "event/event_table.h"
#include "shared/stack.h"
#include "state.h"
#include "state/fd.h"

enum { NR_MAX = 1024, HAS_FD = 1, HAS_LOCK = 2, KNOWN = 4, WATCHES = 8, CONNECTS = 16 };

static const struct {
	const char *name;
	uint8_t kind, has;
} calls[] = {
	{"futex", SLICE_LOCK, HAS_LOCK},
	{"futex_wait", SLICE_LOCK, HAS_LOCK},
	{"futex_waitv", SLICE_LOCK, 0},
	{"futex_time64", SLICE_LOCK, HAS_LOCK},
	{"semop", SLICE_LOCK, 0},
	{"semtimedop", SLICE_LOCK, 0},
	{"semtimedop_time64", SLICE_LOCK, 0},
	{"flock", SLICE_LOCK, HAS_FD},
	{"fcntl", SLICE_LOCK, HAS_FD},
	{"fcntl64", SLICE_LOCK, HAS_FD},
	{"nanosleep", SLICE_SLEEP, 0},
	{"clock_nanosleep", SLICE_SLEEP, 0},
	{"clock_nanosleep_time64", SLICE_SLEEP, 0},
	{"io_uring_enter", SLICE_POLL, HAS_FD},
	{"io_getevents", SLICE_POLL, 0},
	{"io_pgetevents", SLICE_POLL, 0},
	{"epoll_wait", SLICE_POLL, HAS_FD | WATCHES},
	{"epoll_pwait", SLICE_POLL, HAS_FD | WATCHES},
	{"epoll_pwait2", SLICE_POLL, HAS_FD | WATCHES},
	{"poll", SLICE_POLL, WATCHES},
	{"ppoll", SLICE_POLL, WATCHES},
	{"ppoll_time64", SLICE_POLL, WATCHES},
	{"select", SLICE_POLL, WATCHES},
	{"_newselect", SLICE_POLL, WATCHES},
	{"pselect6", SLICE_POLL, WATCHES},
	{"pselect6_time64", SLICE_POLL, WATCHES},
	{"wait4", SLICE_CHILD, 0},
	{"waitpid", SLICE_CHILD, 0},
	{"waitid", SLICE_CHILD, 0},
	{"vfork", SLICE_CHILD, 0},
	{"clone", SLICE_CHILD, 0},
	{"clone3", SLICE_CHILD, 0},
	{"accept", SLICE_NETWORK, HAS_FD},
	{"accept4", SLICE_NETWORK, HAS_FD},
	{"connect", SLICE_NETWORK, HAS_FD | CONNECTS},
	{"sendto", SLICE_NETWORK, HAS_FD},
	{"sendmsg", SLICE_NETWORK, HAS_FD},
	{"sendmmsg", SLICE_NETWORK, HAS_FD},
	{"recvfrom", SLICE_NETWORK, HAS_FD},
	{"recvmsg", SLICE_NETWORK, HAS_FD},
	{"recvmmsg", SLICE_NETWORK, HAS_FD},
	{"shutdown", SLICE_NETWORK, HAS_FD},
	{"fsync", SLICE_FILE, HAS_FD},
	{"fdatasync", SLICE_FILE, HAS_FD},
	{"sync_file_range", SLICE_FILE, HAS_FD},
	{"syncfs", SLICE_FILE, HAS_FD},
	{"sync", SLICE_FILE, 0},
	{"getdents", SLICE_FILE, HAS_FD},
	{"getdents64", SLICE_FILE, HAS_FD},
	{"execve", SLICE_FILE, 0},
	{"execveat", SLICE_FILE, 0},
};

struct call_kind {
	uint8_t kind, has;
};

static struct call_kind by_nr[2][NR_MAX]; /* x86_64, i386 */

/* Classifies a call that is not in the list by its event: its category, and whether its first
 * parameter is a descriptor. */
static struct call_kind by_event(uint32_t nr, int ia32)
{
	const struct scap_event_info *enter =
		ia32 ? NULL : scap_event_info(scap_syscall_exit_type(nr) & ~1u);
	struct call_kind k = {SLICE_OTHER, KNOWN};

	if (!enter || enter->id == EVT_SYSCALL_E)
		return k;
	if (enter->n_params && enter->params[0].type == PT_FD)
		k.has |= HAS_FD;
	if (enter->category == EC_FILE)
		k.kind = SLICE_FILE;
	else if (enter->category == EC_NET)
		k.kind = SLICE_NETWORK;
	return k;
}

static struct call_kind find(uint32_t nr, int ia32)
{
	const char *name = scap_syscall_name(nr, ia32);

	for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return (struct call_kind){calls[i].kind, (uint8_t)(calls[i].has | KNOWN)};
	return by_event(nr, ia32);
}

static struct call_kind kind_of_call(uint32_t call)
{
	const uint32_t nr = call & ~SAMPLE_CALL_IA32;
	const int ia32 = !!(call & SAMPLE_CALL_IA32);

	if (nr >= NR_MAX)
		return (struct call_kind){SLICE_OTHER, KNOWN};
	if (!by_nr[ia32][nr].has)
		by_nr[ia32][nr] = find(nr, ia32);
	return by_nr[ia32][nr];
}

int slice_call_has_fd(uint32_t call)
{
	return call != SLICE_NO_CALL && kind_of_call(call).has & HAS_FD;
}

int slice_call_has_lock(uint32_t call)
{
	return call != SLICE_NO_CALL && kind_of_call(call).has & HAS_LOCK;
}

int slice_call_watches(uint32_t call)
{
	return call != SLICE_NO_CALL && kind_of_call(call).has & WATCHES;
}

int slice_call_connects(uint32_t call)
{
	return call != SLICE_NO_CALL && kind_of_call(call).has & CONNECTS;
}

enum slice_kind slice_kind_of_fd(const struct sinsp_fd *fd)
{
	switch (fd->type) {
	case SCAP_FD_FILE:
	case SCAP_FD_FILE_V2:
	case SCAP_FD_DIRECTORY:
	case SCAP_FD_MEMFD:
		return SLICE_FILE;
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
	case SCAP_FD_IPV6_SERVSOCK:
	case SCAP_FD_UNIX_SOCK:
	case SCAP_FD_NETLINK:
		return SLICE_NETWORK;
	case SCAP_FD_FIFO:
		return SLICE_PIPE;
	case SCAP_FD_EVENT:
	case SCAP_FD_SIGNALFD:
	case SCAP_FD_INOTIFY:
	case SCAP_FD_EVENTPOLL:
	case SCAP_FD_USERFAULTFD:
		return SLICE_POLL;
	case SCAP_FD_TIMERFD:
		return SLICE_SLEEP;
	case SCAP_FD_PIDFD:
		return SLICE_CHILD;
	}
	return SLICE_OTHER;
}

enum {
	STATE_DISK_SLEEP = 2,
	STATE_STOPPED = 4,
	STATE_TRACED = 8,
	STATE_THROTTLED = 64,
	STATE_FROZEN = 128
};

enum slice_kind slice_kind_of(uint32_t call, const struct sinsp_fd *fd, unsigned int state)
{
	struct call_kind k;

	if (state & (STATE_STOPPED | STATE_TRACED))
		return SLICE_STOPPED;
	if (state & STATE_THROTTLED)
		return SLICE_THROTTLED;
	if (state & STATE_FROZEN)
		return SLICE_FROZEN;
	/* Outside of calls a thread sleeps uninterruptibly only in a page fault. */
	if (call == SLICE_NO_CALL)
		return state == STATE_DISK_SLEEP ? SLICE_PAGE_FAULT : SLICE_OTHER;
	k = kind_of_call(call);
	if (fd && k.kind == SLICE_OTHER)
		return slice_kind_of_fd(fd);
	/* These calls themselves sleep interruptibly. */
	if (state == STATE_DISK_SLEEP &&
	    (k.kind == SLICE_LOCK || k.kind == SLICE_SLEEP || k.kind == SLICE_POLL))
		return SLICE_OTHER;
	return k.kind;
}
