// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the initial state as blocks of 2022, which sysdig 0.29.3 and Falco's libs both read.
 * Blocks may repeat, so none grows with the machine. Before each of them, a block of saker's own
 * has the fields for which it has no place, in the same order.
 */
#include "file/sink.h"

/* sysdig's limits on what it reads, without the NUL. */
#define PATH_LEN 1023
#define LIST_LEN 4095
#define USER_LEN 255
#define SHORT_LEN 16383
#define BLOCK_SZ (256u << 10) /* maximum size of a state block */

/* Only saker reads a state that is packed in memory: it is cut only to what a length can say. */
static size_t limit(const struct sink *s, size_t max)
{
	return sink_is_memory(s) ? UINT16_MAX : max;
}

/* Errors are kept in the sink and returned by sink_end, so single puts need no check. */
static void put_u8(struct sink *s, uint8_t v)
{
	sink_put(s, &v, sizeof(v));
}

static void put_u16(struct sink *s, uint16_t v)
{
	sink_put(s, &v, sizeof(v));
}

static void put_u32(struct sink *s, uint32_t v)
{
	sink_put(s, &v, sizeof(v));
}

static void put_u64(struct sink *s, uint64_t v)
{
	sink_put(s, &v, sizeof(v));
}

static void put_text(struct sink *s, const char *text, size_t max)
{
	size_t len = strnlen(text, limit(s, max));

	put_u16(s, len);
	sink_put(s, text, len);
}

/* Two of them fit in an entry. */
static void put_short_text(struct sink *s, const char *text)
{
	size_t len = strnlen(text, SHORT_LEN);

	put_u16(s, len);
	sink_put(s, text, len);
}

static void put_list(struct sink *s, const struct scap_text *t)
{
	const size_t max = limit(s, LIST_LEN), len = t->len < max ? t->len : max;

	put_u16(s, len);
	sink_put(s, t->p, len);
}

/* The length of an entry is put as 0 and set when it is complete. */
static size_t begin_entry(struct sink *s)
{
	size_t at = sink_block_sz(s);

	put_u32(s, 0);
	return at;
}

static void end_entry(struct sink *s, size_t at, size_t uncounted)
{
	sink_set_u32(s, at, sink_block_sz(s) - at - uncounted);
}

static int put_machine(struct sink *s, const struct scap_machine *m)
{
	sink_begin(s, BLK_MI);
	put_u32(s, m->n_cpus);
	put_u64(s, m->memory_bytes);
	put_u64(s, m->max_pid);
	sink_put(s, m->hostname, sizeof(m->hostname));
	put_u64(s, m->boot_ns);
	put_u64(s, 0);
	put_u64(s, 0);
	put_u64(s, 0);
	return sink_end(s);
}

static int put_ifaces(struct sink *s, const struct scap_state *st)
{
	sink_begin(s, BLK_IL_V2);
	for (size_t i = 0; i < st->n_ifaces; i++) {
		const struct scap_iface *f = &st->ifaces[i];
		size_t addr_sz = f->ipv6 ? 16 : 4;
		size_t at = begin_entry(s);

		put_u16(s, f->ipv6 ? 2 : 1);
		put_u16(s, strnlen(f->name, PATH_LEN));
		sink_put(s, f->addr, addr_sz);
		sink_put(s, f->netmask, addr_sz);
		sink_put(s, f->bcast, addr_sz);
		put_u64(s, f->linkspeed);
		sink_put(s, f->name, strnlen(f->name, PATH_LEN));
		end_entry(s, at, 4);
	}
	return sink_end(s);
}

static int put_users(struct sink *s, const struct scap_state *st)
{
	sink_begin(s, BLK_UL_V2);
	for (size_t i = 0; i < st->n_users; i++) {
		const struct scap_user *u = &st->users[i];
		size_t at = begin_entry(s);

		put_u8(s, 0);
		put_u32(s, u->uid);
		put_u32(s, u->gid);
		put_text(s, u->name, USER_LEN);
		put_text(s, u->home, USER_LEN);
		put_text(s, u->shell, USER_LEN);
		end_entry(s, at, 0);
	}
	for (size_t i = 0; i < st->n_groups; i++) {
		size_t at = begin_entry(s);

		put_u8(s, 1);
		put_u32(s, st->groups[i].gid);
		put_text(s, st->groups[i].name, USER_LEN);
		end_entry(s, at, 0);
	}
	return sink_end(s);
}

/* Up to the root: exactly 29 bytes follow. Falco's libs then read the layout without the 12 bytes
 * that sysdig 0.29.3 does not have, and still find the capabilities. */
static void put_thread(struct sink *s, const struct scap_thread_info *t)
{
	size_t at = begin_entry(s);

	put_u64(s, t->tid);
	put_u64(s, t->pid);
	put_u64(s, t->ptid);
	put_u64(s, t->sid);
	put_u64(s, t->vpgid);
	put_text(s, t->comm, PATH_LEN);
	put_text(s, t->exe, PATH_LEN);
	put_text(s, t->exepath, PATH_LEN);
	put_list(s, &t->args);
	put_text(s, t->cwd, PATH_LEN);
	put_u64(s, t->fdlimit);
	put_u32(s, t->flags);
	put_u32(s, t->uid);
	put_u32(s, t->gid);
	put_u32(s, t->vmsize_kb);
	put_u32(s, t->vmrss_kb);
	put_u32(s, t->vmswap_kb);
	put_u64(s, t->pfmajor);
	put_u64(s, t->pfminor);
	put_list(s, &t->env);
	put_u64(s, t->vtid);
	put_u64(s, t->vpid);
	put_list(s, &t->cgroups);
	put_text(s, t->root, PATH_LEN);

	put_u32(s, t->loginuid);
	put_u8(s, t->exe_writable);
	put_u64(s, t->cap_inheritable);
	put_u64(s, t->cap_permitted);
	put_u64(s, t->cap_effective);
	end_entry(s, at, 0);
}

/* The lengths of entries are u16; an event that does not fit is left out, as if it was not seen. */
static size_t enter_len(const struct scap_thread_info *t)
{
	const size_t len = t->so_far.enter.len;

	return len <= UINT16_MAX - EXTRA_THREAD_SO_FAR_SZ ? len : 0;
}

static void put_thread_so_far(struct sink *s, const struct scap_thread_info *t)
{
	const struct scap_thread_so_far *f = &t->so_far;

	put_u64(s, f->enter_ns);
	put_u64(s, f->latency_ns);
	put_u64(s, (uint64_t)f->enter_fd);
	put_u64(s, f->exec_ns);
	put_u32(s, f->cpu_usr);
	put_u32(s, f->cpu_sys);
	put_u32(s, f->cpu_usr_delta);
	put_u32(s, f->cpu_sys_delta);
	put_u16(s, f->enter_type);
	put_u8(s, f->call_flags);
	put_u16(s, (f->missing_switch ? EXTRA_MISSING_SWITCH : 0) |
			   (f->has_children ? EXTRA_HAS_CHILDREN : 0) | (f->born ? EXTRA_BORN : 0) |
			   (f->vtid_unknown ? EXTRA_VTID_UNKNOWN : 0) |
			   (f->cwd_unknown ? EXTRA_CWD_UNKNOWN : 0) |
			   (f->uncertain ? EXTRA_UNCERTAIN : 0) | (f->exited ? EXTRA_EXITED : 0) |
			   (f->dead ? EXTRA_DEAD : 0) | (f->own_fs ? EXTRA_OWN_FS : 0) |
			   (f->cwd_uncertain ? EXTRA_CWD_UNCERTAIN : 0));
	sink_put(s, f->enter.p, enter_len(t));
}

static void put_thread_extra(struct sink *s, const struct scap_thread_info *t)
{
	put_u16(s, t->so_far.known ? EXTRA_THREAD_SO_FAR_SZ + enter_len(t) : EXTRA_THREAD_RAN_SZ);
	put_u16(s, EXTRA_THREAD);
	put_u64(s, t->tid);
	put_u64(s, t->start_ns);
	put_u64(s, t->snapshot_ns);
	put_u32(s, t->tty);
	put_u64(s, (uint64_t)t->pgid);
	put_u64(s, t->exe_ino);
	put_u64(s, t->exe_ctime_ns);
	put_u64(s, t->exe_mtime_ns);
	put_u64(s, t->pidns_start_ns);
	put_u8(s, (t->tty_known ? EXTRA_KNOWS_TTY : 0) | (t->caps_known ? EXTRA_KNOWS_CAPS : 0));
	put_u8(s, t->exe_kind);
	put_u8(s, t->exe_kind_known);
	put_u64(s, t->ran_ns);
	put_u64(s, t->ran_at_ns);
	if (t->so_far.known)
		put_thread_so_far(s, t);
}

/* To other tools a thread that ended is none. */
static bool is_listed(const struct sink *s, const struct scap_thread_info *t)
{
	return !t->so_far.dead || sink_is_memory(s);
}

static int put_thread_extras(struct sink *s, const struct scap_thread_info *t, size_t n)
{
	sink_begin(s, BLK_SAKER_STATE);
	for (size_t i = 0; i < n; i++)
		if (is_listed(s, &t[i]))
			put_thread_extra(s, &t[i]);
	return sink_end(s);
}

/* Maximum number of threads per block: ~17 KiB each with texts of full length. */
#define THREADS_PER_BLOCK 256

static int put_threads(struct sink *s, const struct scap_state *st)
{
	size_t n;
	int err = 0;

	for (size_t i = 0; i < st->n_threads && !err; i += n) {
		n = st->n_threads - i;
		if (n > THREADS_PER_BLOCK)
			n = THREADS_PER_BLOCK;
		err = put_thread_extras(s, &st->threads[i], n);
		if (err)
			break;
		sink_begin(s, BLK_PL_V9);
		for (size_t j = 0; j < n; j++)
			if (is_listed(s, &st->threads[i + j]))
				put_thread(s, &st->threads[i + j]);
		err = sink_end(s);
	}
	return err;
}

/* sysdig refuses a file with an unknown type of descriptor. */
static uint8_t compat_fd_type(uint8_t type)
{
	if (type == SCAP_FD_MEMFD)
		return SCAP_FD_FILE;
	return type == 0 || type > SCAP_FD_FILE_V2 ? SCAP_FD_UNSUPPORTED : type;
}

static void put_inet(struct sink *s, const struct scap_fd_info *fd, size_t addr_sz, int server)
{
	sink_put(s, fd->sip, addr_sz);
	if (!server)
		sink_put(s, fd->dip, addr_sz);
	put_u16(s, fd->sport);
	if (!server)
		put_u16(s, fd->dport);
	put_u8(s, fd->l4proto);
}

static void put_fd(struct sink *s, const struct scap_fd_info *fd)
{
	size_t at = begin_entry(s);
	uint8_t type = compat_fd_type(fd->type);

	put_u64(s, fd->fd);
	put_u64(s, fd->ino);
	put_u8(s, type);
	switch (type) {
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
		put_inet(s, fd, 4, type == SCAP_FD_IPV4_SERVSOCK);
		break;
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV6_SERVSOCK:
		put_inet(s, fd, 16, type == SCAP_FD_IPV6_SERVSOCK);
		break;
	case SCAP_FD_UNIX_SOCK:
		put_u64(s, fd->unix_src);
		put_u64(s, fd->unix_dst);
		put_text(s, fd->name, PATH_LEN);
		break;
	case SCAP_FD_FILE_V2:
		put_u32(s, fd->open_flags);
		put_text(s, fd->name, PATH_LEN);
		put_u32(s, fd->dev);
		break;
	default:
		put_text(s, fd->name, PATH_LEN);
	}
	end_entry(s, at, 0);
}

/* Whether its entry in the list of files has no place for something. */
static bool has_extra(const struct scap_fd_info *fd)
{
	const bool has_flags = fd->type == SCAP_FD_FILE_V2;

	return compat_fd_type(fd->type) != fd->type || fd->so_far.known ||
	       (!has_flags && (fd->open_flags || fd->dev));
}

/* A descriptor of which events showed only the number is of no use to other tools. */
static bool has_place(const struct sink *s, const struct scap_fd_info *fd)
{
	return fd->type || !fd->so_far.known || sink_is_memory(s);
}

static void put_fd_so_far(struct sink *s, const struct scap_fd_so_far *f)
{
	put_u16(s, f->flags);
	put_u16(s, f->error);
	put_u16(s, (f->uncertain ? EXTRA_UNCERTAIN : 0) | (f->swapped ? EXTRA_SWAPPED : 0) |
			   (f->outcome_known ? EXTRA_OUTCOME_KNOWN : 0) |
			   (f->has_latency ? EXTRA_HAS_LATENCY : 0));
	put_u64(s, f->connect_ns);
	put_u64(s, f->latency_ns);
	put_short_text(s, f->shown);
	put_short_text(s, f->given);
}

/* Its length is known when it is complete. */
static void put_fd_extra(struct sink *s, uint64_t tid, const struct scap_fd_info *fd)
{
	const size_t at = sink_block_sz(s);

	put_u16(s, EXTRA_FD_MORE_SZ);
	put_u16(s, EXTRA_FD);
	put_u64(s, tid);
	put_u64(s, fd->fd);
	put_u8(s, fd->type);
	put_u32(s, fd->open_flags);
	put_u32(s, fd->dev);
	if (!fd->so_far.known)
		return;
	put_fd_so_far(s, &fd->so_far);
	sink_set_u16(s, at, sink_block_sz(s) - at);
}

static int put_fd_extras(struct sink *s, const struct scap_thread_info *t)
{
	int any = 0;

	for (size_t i = 0; i < t->n_fds; i++) {
		const struct scap_fd_info *fd = &t->fds[i];

		if (!has_place(s, fd) || !has_extra(fd))
			continue;
		if (!any)
			sink_begin(s, BLK_SAKER_STATE);
		any = 1;
		put_fd_extra(s, t->tid, fd);
	}
	return any ? sink_end(s) : 0;
}

/* One block per thread, also for threads without files of their own. */
static int put_fds(struct sink *s, const struct scap_thread_info *t)
{
	int err = put_fd_extras(s, t);
	size_t i = 0;

	if (err)
		return err;
	do {
		sink_begin(s, BLK_FDL_V2);
		put_u64(s, t->tid);
		for (; i < t->n_fds && sink_block_sz(s) < BLOCK_SZ; i++)
			if (has_place(s, &t->fds[i]))
				put_fd(s, &t->fds[i]);
		err = sink_end(s);
	} while (!err && i < t->n_fds);
	return err;
}

static int put_turns(struct sink *s, const struct scap_state *st)
{
	if (!st->n_turns)
		return 0;
	sink_begin(s, BLK_SAKER_STATE);
	for (size_t i = 0; i < st->n_turns; i++) {
		put_u16(s, EXTRA_TURN_SZ);
		put_u16(s, EXTRA_TURN);
		put_u64(s, (uint64_t)st->turns[i].tid);
		put_u64(s, st->turns[i].since_ns);
		put_u32(s, st->turns[i].cpu);
		put_u8(s, st->turns[i].has_gaps);
	}
	return sink_end(s);
}

int state_write(struct sink *s, const struct scap_state *st)
{
	int err = put_machine(s, &st->machine);

	if (!err)
		err = put_ifaces(s, st);
	if (!err)
		err = put_users(s, st);
	if (!err)
		err = put_turns(s, st);
	if (!err)
		err = put_threads(s, st);
	for (size_t i = 0; i < st->n_threads && !err; i++)
		if (!st->threads[i].so_far.dead)
			err = put_fds(s, &st->threads[i]);
	return err;
}
