// SPDX-License-Identifier: Apache-2.0
/*
 * Reads state blocks of a .scap file into a scap_state_build: machine, threads, files, users,
 * interfaces, in every version ever written. Old versions have no length per entry, so one wrong
 * byte ends the block; newer ones have, and fields are only appended.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "file/scap_format.h"

/* Room for the text of one entry: at most 16 strings of a u16 length, each with a NUL. */
#define TEXT_SZ (16u * 65536u)

/* Remaining bytes. A read past the end returns zeros and sets bad. */
struct cur {
	const uint8_t *p, *end;
	bool bad;
};

static size_t left(const struct cur *c)
{
	return c->end - c->p;
}

static const uint8_t *take_n(struct cur *c, size_t n)
{
	const uint8_t *p = c->p;

	if (left(c) < n) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

static uint8_t u8_of(struct cur *c)
{
	const uint8_t *p = take_n(c, 1);

	return p ? *p : 0;
}

static uint16_t u16_of(struct cur *c)
{
	const uint8_t *p = take_n(c, 2);

	return p ? get_u16(p) : 0;
}

static uint32_t u32_of(struct cur *c)
{
	const uint8_t *p = take_n(c, 4);

	return p ? get_u32(p) : 0;
}

static uint64_t u64_of(struct cur *c)
{
	const uint8_t *p = take_n(c, 8);

	return p ? get_u64(p) : 0;
}

static void addr_of(struct cur *c, uint8_t *addr, size_t n)
{
	const uint8_t *p = take_n(c, n);

	if (p)
		memcpy(addr, p, n);
}

/* Reads @n bytes of text, and adds a NUL in the scratch of @r. */
static const char *text_n(struct state_reader *r, struct cur *c, size_t n)
{
	const uint8_t *p = take_n(c, n);
	char *out = r->text + r->text_at;

	if (!p || r->text_sz - r->text_at < n + 1)
		return "";
	memcpy(out, p, n);
	out[n] = 0;
	r->text_at += n + 1;
	return out;
}

static const char *text_of(struct state_reader *r, struct cur *c)
{
	return text_n(r, c, u16_of(c));
}

static struct scap_text list_of(struct cur *c)
{
	struct scap_text t = {"", 0};
	size_t n = u16_of(c);
	const uint8_t *p = take_n(c, n);

	if (p) {
		t.p = (const char *)p;
		t.len = n;
	}
	return t;
}

static int malformed(struct state_reader *r, const char *what)
{
	r->what = what;
	return -EBADMSG;
}

/* Returns the next entry of BLK_SAKER_STATE if it is of @kind and about @tid; else NULL. */
static const uint8_t *take_extra(struct state_reader *r, uint16_t kind, uint64_t tid, size_t sz)
{
	const uint8_t *e;

	if (r->extra_sz - r->extra_at < sz)
		return NULL;
	e = r->extra + r->extra_at;
	if (get_u16(e + 2) != kind || get_u16(e) < sz || get_u16(e) > r->extra_sz - r->extra_at ||
	    get_u64(e + 4) != tid)
		return NULL;
	return e;
}

static void add_thread_more(const uint8_t *e, struct scap_thread_info *t)
{
	t->pgid = (int64_t)get_u64(e);
	t->exe_ino = get_u64(e + 8);
	t->exe_ctime_ns = get_u64(e + 16);
	t->exe_mtime_ns = get_u64(e + 24);
	t->pidns_start_ns = get_u64(e + 32);
	t->tty_known = !!(e[40] & EXTRA_KNOWS_TTY);
	t->caps_known = !!(e[40] & EXTRA_KNOWS_CAPS);
	t->exe_kind = e[41];
	t->exe_kind_known = e[42];
}

/* @e: what follows in an entry with @n bytes from there on. */
static void add_thread_so_far(const uint8_t *e, size_t n, struct scap_thread_so_far *f)
{
	struct cur c = {e, e + n, false};
	uint16_t bits;

	f->known = 1;
	f->enter_ns = u64_of(&c);
	f->latency_ns = u64_of(&c);
	f->enter_fd = (int64_t)u64_of(&c);
	f->exec_ns = u64_of(&c);
	f->cpu_usr = u32_of(&c);
	f->cpu_sys = u32_of(&c);
	f->cpu_usr_delta = u32_of(&c);
	f->cpu_sys_delta = u32_of(&c);
	f->enter_type = u16_of(&c);
	f->call_flags = u8_of(&c);
	bits = u16_of(&c);
	f->missing_switch = !!(bits & EXTRA_MISSING_SWITCH);
	f->has_children = !!(bits & EXTRA_HAS_CHILDREN);
	f->born = !!(bits & EXTRA_BORN);
	f->vtid_unknown = !!(bits & EXTRA_VTID_UNKNOWN);
	f->cwd_unknown = !!(bits & EXTRA_CWD_UNKNOWN);
	f->exited = !!(bits & EXTRA_EXITED);
	f->dead = !!(bits & EXTRA_DEAD);
	f->own_fs = !!(bits & EXTRA_OWN_FS);
	f->uncertain = !!(bits & EXTRA_UNCERTAIN);
	f->cwd_uncertain = !!(bits & EXTRA_CWD_UNCERTAIN);
	if (left(&c) >= sizeof(struct ppm_evt_hdr) &&
	    !event_block_check((const struct ppm_evt_hdr *)c.p, left(&c)))
		f->enter = (struct scap_text){(const char *)c.p,
					      ((const struct ppm_evt_hdr *)c.p)->len};
}

static void add_thread_extra(struct state_reader *r, struct scap_thread_info *t)
{
	const uint8_t *e = take_extra(r, EXTRA_THREAD, t->tid, EXTRA_THREAD_SZ);
	uint16_t len;

	if (!e)
		return;
	len = get_u16(e);
	t->start_ns = get_u64(e + 12);
	t->snapshot_ns = get_u64(e + 20);
	t->tty = get_u32(e + 28);
	t->tty_known = 1;
	if (len >= EXTRA_THREAD_MORE_SZ)
		add_thread_more(e + EXTRA_THREAD_SZ, t);
	if (len >= EXTRA_THREAD_RAN_SZ) {
		t->ran_ns = get_u64(e + EXTRA_THREAD_MORE_SZ);
		t->ran_at_ns = get_u64(e + EXTRA_THREAD_MORE_SZ + 8);
	}
	if (len >= EXTRA_THREAD_SO_FAR_SZ)
		add_thread_so_far(e + EXTRA_THREAD_RAN_SZ, len - EXTRA_THREAD_RAN_SZ, &t->so_far);
	r->extra_at += len;
}

static void add_fd_so_far(struct state_reader *r, const uint8_t *e, size_t n,
			  struct scap_fd_so_far *f)
{
	struct cur c = {e, e + n, false};
	uint16_t bits;

	f->flags = u16_of(&c);
	f->error = u16_of(&c);
	bits = u16_of(&c);
	f->uncertain = !!(bits & EXTRA_UNCERTAIN);
	f->swapped = !!(bits & EXTRA_SWAPPED);
	f->outcome_known = !!(bits & EXTRA_OUTCOME_KNOWN);
	f->has_latency = !!(bits & EXTRA_HAS_LATENCY);
	f->connect_ns = u64_of(&c);
	f->latency_ns = u64_of(&c);
	f->shown = text_of(r, &c);
	f->given = text_of(r, &c);
	f->known = !c.bad;
}

static void add_fd_extra(struct state_reader *r, uint64_t tid, struct scap_fd_info *fd)
{
	const uint8_t *e = take_extra(r, EXTRA_FD, tid, EXTRA_FD_SZ);
	uint16_t len;

	if (!e || (int64_t)get_u64(e + 12) != fd->fd)
		return;
	len = get_u16(e);
	if (e[20] < SCAP_FD_MAX)
		fd->type = e[20];
	if (len >= EXTRA_FD_MORE_SZ) {
		fd->open_flags = get_u32(e + EXTRA_FD_SZ);
		fd->dev = get_u32(e + EXTRA_FD_SZ + 4);
	}
	if (len >= EXTRA_FD_SO_FAR_SZ)
		add_fd_so_far(r, e + EXTRA_FD_MORE_SZ, len - EXTRA_FD_MORE_SZ, &fd->so_far);
	r->extra_at += len;
}

/* Turns lie in a block of their own. */
static int read_turns(struct state_reader *r, struct cur c)
{
	int err = 0;

	while (!err && left(&c) >= EXTRA_TURN_SZ && get_u16(c.p) >= EXTRA_TURN_SZ &&
	       get_u16(c.p + 2) == EXTRA_TURN) {
		const uint8_t *e = take_n(&c, get_u16(c.p));
		struct scap_turn turn;

		if (!e)
			break;
		turn = (struct scap_turn){.tid = (int64_t)get_u64(e + 4),
					  .since_ns = get_u64(e + 12),
					  .cpu = get_u32(e + 20),
					  .has_gaps = e[24]};
		err = scap_state_build_turn(r->build, &turn);
	}
	return err;
}

static int read_extra(struct state_reader *r, struct cur c)
{
	uint8_t *copy = malloc(left(&c) ?: 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, c.p, left(&c));
	free(r->extra);
	r->extra = copy;
	r->extra_sz = left(&c);
	r->extra_at = 0;
	return read_turns(r, c);
}

static int read_machine(struct state_reader *r, struct cur c)
{
	struct scap_machine *m = &r->machine;

	memset(m, 0, sizeof(*m));
	m->n_cpus = u32_of(&c);
	m->memory_bytes = u64_of(&c);
	m->max_pid = u64_of(&c);
	addr_of(&c, (uint8_t *)m->hostname, sizeof(m->hostname));
	m->hostname[sizeof(m->hostname) - 1] = 0;
	if (c.bad)
		return malformed(r, "the machine's description is too short");
	if (left(&c) >= 8)
		m->boot_ns = u64_of(&c);
	return scap_state_build_machine(r->build, m);
}

/* 1..9 */
static int pl_version(uint32_t type)
{
	switch (type) {
	case BLK_PL_V1:
	case BLK_PL_V1_INT:
		return 1;
	case BLK_PL_V2:
	case BLK_PL_V2_INT:
		return 2;
	case BLK_PL_V3:
	case BLK_PL_V3_INT:
		return 3;
	default:
		return type - BLK_PL_V4 + 4;
	}
}

static void read_exe(struct cur *c, struct scap_thread_info *t)
{
	if (u8_of(c))
		t->exe_kind |= SCAP_EXE_UPPER_LAYER;
	t->exe_ino = u64_of(c);
	t->exe_ctime_ns = u64_of(c);
	t->exe_mtime_ns = u64_of(c);
	t->exe_kind_known = SCAP_EXE_UPPER_LAYER;
}

/* Fields that newer versions appended. In 2023 Falco's libs inserted 12 bytes (start of the PID
 * namespace's init, tty) before loginuid; up to 29 bytes are the layout without them. */
static void read_thread_tail(struct cur *c, struct scap_thread_info *t)
{
	if (left(c) > 29) {
		t->pidns_start_ns = u64_of(c);
		t->tty = u32_of(c);
		t->tty_known = 1;
	}
	if (left(c) >= 4)
		t->loginuid = u32_of(c);
	if (left(c) >= 1)
		t->exe_writable = u8_of(c);
	if (left(c) >= 24) {
		t->cap_inheritable = u64_of(c);
		t->cap_permitted = u64_of(c);
		t->cap_effective = u64_of(c);
		t->caps_known = 1;
	}
	if (left(c) >= 25)
		read_exe(c, t);
	if (left(c) >= 1) {
		t->exe_kind |= u8_of(c) ? SCAP_EXE_MEMFD : 0;
		t->exe_kind_known |= SCAP_EXE_MEMFD;
	}
	if (left(c) >= 1) {
		t->exe_kind |= u8_of(c) ? SCAP_EXE_LOWER_LAYER : 0;
		t->exe_kind_known |= SCAP_EXE_LOWER_LAYER;
	}
	if (left(c) >= 8)
		t->pgid = (int64_t)u64_of(c);
}

static void read_thread_fields(struct state_reader *r, struct cur *c, int version,
			       struct scap_thread_info *t)
{
	t->tid = u64_of(c);
	t->pid = u64_of(c);
	t->ptid = u64_of(c);
	t->sid = version >= 6 ? u64_of(c) : UINT64_MAX;
	t->vpgid = version >= 8 ? u64_of(c) : UINT64_MAX;
	t->comm = text_of(r, c);
	t->exe = text_of(r, c);
	t->exepath = version >= 7 ? text_of(r, c) : "";
	t->args = list_of(c);
	t->cwd = text_of(r, c);
	t->fdlimit = u64_of(c);
	t->flags = u32_of(c);
	t->uid = u32_of(c);
	t->gid = u32_of(c);
	if (version >= 2) {
		t->vmsize_kb = u32_of(c);
		t->vmrss_kb = u32_of(c);
		t->vmswap_kb = u32_of(c);
		t->pfmajor = u64_of(c);
		t->pfminor = u64_of(c);
	}
	if (version >= 3)
		t->env = list_of(c);
	t->vtid = version >= 4 ? (int64_t)u64_of(c) : -1;
	t->vpid = version >= 4 ? (int64_t)u64_of(c) : -1;
	if (version >= 4)
		t->cgroups = list_of(c);
	t->root = version >= 5 ? text_of(r, c) : "";
}

/* Splits off an entry that begins with its length, which includes itself. */
static bool entry(struct cur *c, struct cur *e)
{
	uint32_t len = u32_of(c);

	if (c->bad || len < 4 || len - 4 > left(c))
		return false;
	*e = (struct cur){c->p, c->p + len - 4, false};
	c->p += len - 4;
	return true;
}

static int read_threads(struct state_reader *r, struct cur c, int version)
{
	while (left(&c) >= 4) {
		struct scap_thread_info t = {
			.args = {"", 0}, .env = {"", 0}, .cgroups = {"", 0}, .loginuid = -1};
		struct cur e, *at = &c;
		int err;

		if (version >= 9) {
			if (!entry(&c, &e))
				return malformed(r, "an entry of the list of threads is longer "
						    "than the list");
			at = &e;
		}
		r->text_at = 0;
		read_thread_fields(r, at, version, &t);
		if (at->bad)
			return malformed(r, "an entry of the list of threads is too short");
		if (version >= 9)
			read_thread_tail(at, &t);
		add_thread_extra(r, &t);
		err = scap_state_build_thread(r->build, &t);
		if (err)
			return err;
	}
	return 0;
}

static void read_inet(struct cur *c, struct scap_fd_info *fd, size_t addr_sz, bool server)
{
	addr_of(c, fd->sip, addr_sz);
	if (!server)
		addr_of(c, fd->dip, addr_sz);
	fd->sport = u16_of(c);
	if (!server)
		fd->dport = u16_of(c);
	fd->l4proto = u8_of(c);
}

static void read_fd_fields(struct state_reader *r, struct cur *c, struct scap_fd_info *fd)
{
	fd->fd = u64_of(c);
	fd->ino = u64_of(c);
	fd->type = u8_of(c);
	fd->name = "";
	switch (fd->type) {
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
		read_inet(c, fd, 4, fd->type == SCAP_FD_IPV4_SERVSOCK);
		break;
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV6_SERVSOCK:
		read_inet(c, fd, 16, fd->type == SCAP_FD_IPV6_SERVSOCK);
		break;
	case SCAP_FD_UNIX_SOCK:
		fd->unix_src = u64_of(c);
		fd->unix_dst = u64_of(c);
		fd->name = text_of(r, c);
		break;
	case SCAP_FD_FILE_V2:
		fd->open_flags = u32_of(c);
		fd->name = text_of(r, c);
		break;
	default:
		fd->name = text_of(r, c);
	}
}

static int read_fds(struct state_reader *r, struct cur c, bool v2)
{
	uint64_t tid = u64_of(&c);

	if (c.bad)
		return malformed(r, "a list of files has no thread");
	while (left(&c) >= 4) {
		struct scap_fd_info fd = {.so_far = {.shown = "", .given = ""}};
		struct cur e, *at = &c;
		int err;

		if (v2) {
			if (!entry(&c, &e))
				return malformed(r, "an entry of a list of files is longer than "
						    "the list");
			at = &e;
		}
		r->text_at = 0;
		read_fd_fields(r, at, &fd);
		if (v2 && fd.type == SCAP_FD_FILE_V2 && left(at) >= 4)
			fd.dev = u32_of(at);
		if (at->bad && (!v2 || fd.type < SCAP_FD_MAX))
			return malformed(r, "an entry of a list of files is too short");
		if (fd.type == 0 || fd.type >= SCAP_FD_MAX)
			fd.type = SCAP_FD_UNSUPPORTED;
		add_fd_extra(r, tid, &fd);
		err = scap_state_build_fd(r->build, tid, &fd);
		if (err)
			return err;
	}
	return 0;
}

static int read_ifaces(struct state_reader *r, struct cur c, bool v2)
{
	while (left(&c) >= 4) {
		struct scap_iface i = {0};
		struct cur e = c, *at = &c;
		unsigned int type, name_len, addr_sz;
		int err;

		if (v2) {
			uint32_t len = u32_of(&c);

			if (len > left(&c))
				return malformed(r, "an entry of the list of interfaces is longer "
						    "than the list");
			e = (struct cur){c.p, c.p + len, false};
			c.p += len;
			at = &e;
		}
		r->text_at = 0;
		type = u16_of(at);
		name_len = u16_of(at);
		if (type < 1 || type > 4)
			return malformed(r, "an interface has an unknown type");
		i.ipv6 = type % 2 == 0;
		addr_sz = i.ipv6 ? 16 : 4;
		addr_of(at, i.addr, addr_sz);
		addr_of(at, i.netmask, addr_sz);
		addr_of(at, i.bcast, addr_sz);
		i.linkspeed = type <= 2 ? u64_of(at) : 0;
		i.name = text_n(r, at, name_len);
		if (at->bad)
			return malformed(r, "an entry of the list of interfaces is too short");
		err = scap_state_build_iface(r->build, &i);
		if (err)
			return err;
	}
	return 0;
}

static int read_user(struct state_reader *r, struct cur *c)
{
	struct scap_user u = {0};
	struct scap_group g = {0};
	uint8_t type = u8_of(c);

	r->text_at = 0;
	if (type == 0) {
		u.uid = u32_of(c);
		u.gid = u32_of(c);
		u.name = text_of(r, c);
		u.home = text_of(r, c);
		u.shell = text_of(r, c);
	} else if (type == 1) {
		g.gid = u32_of(c);
		g.name = text_of(r, c);
	} else {
		return malformed(r, "an entry of the list of users is neither user nor group");
	}
	if (c->bad)
		return malformed(r, "an entry of the list of users is too short");
	return type == 0 ? scap_state_build_user(r->build, &u)
			 : scap_state_build_group(r->build, &g);
}

static int read_users(struct state_reader *r, struct cur c, bool v2)
{
	while (left(&c) >= 4) {
		struct cur e, *at = &c;
		int err;

		if (v2) {
			if (!entry(&c, &e))
				return malformed(r, "an entry of the list of users is longer than "
						    "the list");
			at = &e;
		}
		err = read_user(r, at);
		if (err)
			return err;
	}
	return 0;
}

int state_read(struct state_reader *r, const struct file_block *blk)
{
	struct cur c = {blk->body, blk->body + blk->body_len, false};

	if (!r->text) {
		r->text = malloc(TEXT_SZ);
		if (!r->text)
			return -ENOMEM;
		r->text_sz = TEXT_SZ;
	}
	switch (blk->type) {
	case BLK_MI:
	case BLK_MI_INT:
		return read_machine(r, c);
	case BLK_PL_V1:
	case BLK_PL_V1_INT:
	case BLK_PL_V2:
	case BLK_PL_V2_INT:
	case BLK_PL_V3:
	case BLK_PL_V3_INT:
	case BLK_PL_V4:
	case BLK_PL_V5:
	case BLK_PL_V6:
	case BLK_PL_V7:
	case BLK_PL_V8:
	case BLK_PL_V9:
		return read_threads(r, c, pl_version(blk->type));
	case BLK_FDL:
	case BLK_FDL_INT:
	case BLK_FDL_V2:
		return read_fds(r, c, blk->type == BLK_FDL_V2);
	case BLK_IL:
	case BLK_IL_INT:
	case BLK_IL_V2:
		return read_ifaces(r, c, blk->type == BLK_IL_V2);
	case BLK_UL:
	case BLK_UL_INT:
	case BLK_UL_V2:
		return read_users(r, c, blk->type == BLK_UL_V2);
	case BLK_SAKER_STATE:
		return read_extra(r, c);
	default:
		return -ENOENT;
	}
}

void state_reader_fini(struct state_reader *r)
{
	scap_state_build_free(r->build);
	free(r->extra);
	free(r->text);
	memset(r, 0, sizeof(*r));
}
