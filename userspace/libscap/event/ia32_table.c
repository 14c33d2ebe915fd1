/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the row of syscalls.def that decodes a 32-bit call: the row of its name in
 * syscalls_ia32.def, if every program that reads the caller's memory for it handles 32-bit
 * structures. A program not listed here is assumed not to: its call stays generic, and is never
 * misread.
 */
#include "event/ia32_table.h"

#include <errno.h>
#include <string.h>

#include "shared/convert.h"
#include "shared/events.h"

/* Programs that check is_compat() where it matters, or read nothing that depends on it. */
static const char *const good_fillers[] = {
	"generic",     "auto",
	"inline",      "open",
	"pipe",        "sendfile",
	"readv",       "writev",
	"poll",        "ppoll",
	"bind",        "listen",
	"connect",     "accept",
	"sendto",      "recvfrom",
	"sendmsg",     "recvmsg",
	"sockname",    "sockopt",
	"exec",        "capset",
	"socketpair",  "clone",
	"prctl",       "ptrace",
	"mmap",        "ioctl",
	"pidfd_getfd", "capget",
	"process_vm",  "sendmmsg",
	"recvmmsg",    "open_by_handle_at",
	NULL,
};

#define A(name, index, how, ...) {.arg = index, .kind = ARG_##how, ##__VA_ARGS__},
#define AX A
#define AF(name, index, how, offset, ...) A(name, index, how, .off = offset, ##__VA_ARGS__)
#define AXF AF
#define AE A
#define SYS(nr, name, event, filler, ...)                                                          \
	static const struct call_row uses_##name[] = {__VA_ARGS__{.kind = ARG_KIND_MAX}};
#include "syscalls.def"
#include "undef_rows.h"

static const struct row {
	const char *name, *filler;
	const struct call_row *uses;
} rows[DRV_MAX_NR] = {
#define SYS(nr, name, event, filler, ...) [nr] = {#name, #filler, uses_##name},
#include "syscalls.def"
#undef SYS
};

/* The same, including the layouts of calls with structures of 64 bits. */
enum { SHAPE_WIDE = 0x80, SHAPE_TIME64 = 0x40 };
enum {
#define S(name, ...) SHAPE_##name = IA32_##name,
	IA32_SHAPES(S)
#undef S
};

static const struct source {
	const char *row;
	uint16_t event;
	uint8_t shape;
} sources[IA32_TABLE_MAX] = {
#define SYS32(nr, name) [nr] = {#name, 0, SHAPE_PLAIN},
#define SYS32_AS(nr, name, row, shape, event)                                                      \
	[nr] = {#row, EVT_##event == EVT_SYSCALL_X ? 0 : EVT_##event, SHAPE_##shape},
#define SYS32_NO(nr, name)
#define SOCKETCALL(nr, row, n) [IA32_SOCKETCALLS + (nr)] = {#row, 0, SHAPE_BLOCK_##n},
#define IPC(nr, row, shape) [IA32_IPCS + (nr)] = {#row, 0, SHAPE_##shape},
#include "syscalls_ia32.def"
#undef SYS32
#undef SYS32_AS
#undef SYS32_NO
#undef SOCKETCALL
#undef IPC
};

/* Returns whether a 32-bit structure has the same layout, or the driver handles its own. */
static int use_is_good(const struct call_row *u)
{
	if (!arg_is_pointer(u->kind))
		return 1;
	switch (u->kind) {
	case ARG_INOUT64:
	case ARG_IN_LONG:
	case ARG_INOUT_TIMESPEC:
	case ARG_SIGSET:
	case ARG_IOVEC:
	case ARG_MSGHDR:
	case ARG_HOW_FLAGS:
	case ARG_HOW_MODE:
	case ARG_HOW_RESOLVE:
	case ARG_LIMIT_AT:
	case ARG_SAME_LIMIT_AT:
	case ARG_OUT_LIMIT_AT:
	case ARG_OUT32:
	case ARG_TIMESPEC_AT:
	case ARG_TIMEVAL_AT:
	case ARG_SECONDS_AT:
	case ARG_UTIME_AT:
	case ARG_OUT_TIMESPEC_AT:
	case ARG_OUT_TIMEVAL_AT:
	case ARG_OUT_SECONDS_AT:
	case ARG_INOUT_TIMESPEC_AT:
	case ARG_INOUT_TIMEVAL_AT:
	case ARG_SAME_TIMESPEC_AT:
	case ARG_SAME_TIMEVAL_AT:
	case ARG_SOCKADDR:
	case ARG_OUT_TEXT:
	case ARG_TEXT:
	case ARG_ARRAY:
	case ARG_OUT_ARRAY:
	case ARG_SELECT_FDS:
	case ARG_OUT_SELECT_FDS:
	case ARG_POLLFDS:
		return 1;
	case ARG_PATH:
	case ARG_PATH_OUT:
	case ARG_BYTES:
	case ARG_OUT_BYTES:
	case ARG_U16_AT:
	case ARG_U32_AT:
	case ARG_S32_AT:
	case ARG_OUT_U16_AT:
	case ARG_OUT_U32_AT:
	case ARG_OUT_S32_AT:
	case ARG_SAME_U32_AT:
		return u->off == 0;
	}
	return 0;
}

static int filler_is_good(const char *filler)
{
	for (const char *const *f = good_fillers; *f; f++)
		if (!strcmp(*f, filler))
			return 1;
	return 0;
}

static int row_is_good(const struct row *r, int wide)
{
	if (!filler_is_good(r->filler))
		return 0;
	for (const struct call_row *u = r->uses; u->kind != ARG_KIND_MAX && !wide; u++)
		if (!use_is_good(u))
			return 0;
	return 1;
}

static unsigned int find_row(const char *name)
{
	for (unsigned int nr = 0; name && nr < DRV_MAX_NR; nr++)
		if (rows[nr].name && !strcmp(rows[nr].name, name))
			return nr;
	return REC_NR_NONE;
}

static struct ia32_call make(const struct source *src)
{
	const int wide = src->shape == SHAPE_WIDE, time64 = src->shape == SHAPE_TIME64;
	struct ia32_call c = {.row = (uint16_t)find_row(src->row)};

	if (c.row == REC_NR_NONE || !row_is_good(&rows[c.row], wide))
		return (struct ia32_call){.row = REC_NR_NONE};
	c.event = src->event;
	c.shape = wide || time64 ? IA32_PLAIN : src->shape;
	c.flags = (uint8_t)((wide ? 0 : IA32_F_COMPAT) | (time64 ? IA32_F_TIME64 : 0));
	return c;
}

const struct ia32_call *scap_ia32_calls(void)
{
	static struct ia32_call calls[IA32_TABLE_MAX];
	static int made;

	for (unsigned int i = 0; i < IA32_TABLE_MAX && !made; i++)
		calls[i] = make(&sources[i]);
	made = 1;
	return calls;
}

#define N_ARGS 6

static const struct shape {
	uint8_t n_block, lo[N_ARGS], hi[N_ARGS], is_signed, uid16, ipc64;
} shapes[IA32_SHAPE_MAX] = {
#define LIST(...)                                                                                  \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define S(name, n_block, lo, hi, is_signed, uid16, ipc64)                                          \
	[IA32_##name] = {n_block, LIST lo, LIST hi, is_signed, uid16, ipc64},
	IA32_SHAPES(S)
#undef S
#undef LIST
};

#define IPC64 0x100u /* in commands of IPC: the newer structure */

/* Works as ia32_arg of the driver. */
static uint64_t arrange_arg(const struct shape *s, const uint64_t in[N_ARGS + 2], unsigned int i)
{
	uint64_t v = in[s->lo[i]] | in[s->hi[i]] << 32;

	if (s->is_signed >> i & 1)
		v = (uint64_t)(int64_t)(int32_t)v;
	if (s->uid16 >> i & 1)
		v = (uint16_t)v == UINT16_MAX ? UINT32_MAX : (uint16_t)v;
	if (s->ipc64 >> i & 1)
		v &= ~(uint64_t)IPC64;
	return v;
}

int scap_ia32_arrange(const struct ia32_call *c, uint64_t args[N_ARGS])
{
	uint64_t in[N_ARGS + 2] = {0}; /* arguments after the sixth are always 0 */

	if (shapes[c->shape].n_block)
		return -ENODATA;
	memcpy(in, args, N_ARGS * sizeof(*in));
	for (unsigned int i = 0; i < N_ARGS; i++)
		args[i] = arrange_arg(&shapes[c->shape], in, i);
	return 0;
}
