/* SPDX-License-Identifier: GPL-2.0 */
/* Converts the arguments of a 32-bit call for the row that decodes it. */
#ifndef DRIVER_IA32_BPF_H
#define DRIVER_IA32_BPF_H

#include "maps.bpf.h"

#include "shared/ia32.h"

#define IA32_BLOCK_MAX 8 /* a power of two; arguments after the sixth are always 0 */
#define IA32_IPC64 0x100u /* in commands of IPC: the newer structure */

struct ia32_shape_row {
	u8 n_block;
	u8 lo[6], hi[6];
	u8 is_signed, uid16, ipc64; /* bit i: argument i */
};

static const struct ia32_shape_row ia32_shapes[32] = {
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
_Static_assert(IA32_SHAPE_MAX <= 32, "a row for each shape");

/* Returns the entry of the table for call @nr with first argument @first. */
static __always_inline u32 ia32_index(u32 nr, u64 first)
{
	if (nr == NR_IA32_SOCKETCALL)
		return IA32_SOCKETCALLS + (first < IA32_SUB_MAX ? (u32)first : 0);
	if (nr == NR_IA32_IPC)
		return IA32_IPCS + (first < IA32_SUB_MAX ? (u32)first : 0);
	return nr & (DRV_MAX_NR - 1);
}

static __always_inline u64 ia32_arg(const struct ia32_shape_row *s, const u64 *in, u32 i)
{
	u64 v = in[s->lo[i] & (IA32_BLOCK_MAX - 1)];

	v |= in[s->hi[i] & (IA32_BLOCK_MAX - 1)] << 32;
	if (s->is_signed >> i & 1)
		v = (s64)(s32)v;
	if (s->uid16 >> i & 1)
		v = (u16)v == (u16)-1 ? (u32)-1 : (u16)v;
	if (s->ipc64 >> i & 1)
		v &= ~(u64)IA32_IPC64;
	return v;
}

/* Converts the 32-bit call in this CPU's slot to the arguments of its row. Verified on its own, to
 * keep sys_enter short. */
__noinline int ia32_arrange(void)
{
	struct drv_slot *slot = this_slot();
	u32 nr = slot->call.raw_nr, block[IA32_BLOCK_MAX] = {};
	u64 in[IA32_BLOCK_MAX] = {};
	const struct ia32_shape_row *s;
	const volatile struct ia32_call *c;
	u32 i = ia32_index(nr, slot->call.args[0]);

	slot->call.nr = REC_NR_NONE;
	if (nr >= DRV_MAX_NR || i >= IA32_TABLE_MAX)
		return 0;
	c = &ia32_calls[i];
	if (c->row == REC_NR_NONE)
		return 0;
	slot->call.nr = c->row;
	s = &ia32_shapes[c->shape & 31];
	for (int a = 0; a < 6; a++)
		in[a] = slot->call.args[a];
	if (s->n_block) {
		bpf_probe_read_user(block, (s->n_block & (IA32_BLOCK_MAX - 1)) * sizeof(block[0]),
				    (void *)in[nr == NR_IA32_SOCKETCALL]);
		for (int a = 0; a < 6; a++)
			in[a] = block[a];
	}
	for (int a = 0; a < 6; a++)
		slot->call.args[a] = ia32_arg(s, in, a);
	if (c->flags & IA32_F_COMPAT)
		slot->call.flags |= CALL_F_COMPAT;
	if (c->flags & IA32_F_TIME64)
		slot->call.flags |= CALL_F_TIME64;
	return 0;
}

/* Returns whether the structures of the call on this CPU are 32-bit. */
static __always_inline bool is_compat(void)
{
	return this_slot()->call.flags & CALL_F_COMPAT;
}

static __always_inline bool is_compat_time(void)
{
	return (this_slot()->call.flags & (CALL_F_COMPAT | CALL_F_TIME64)) == CALL_F_COMPAT;
}

#endif /* DRIVER_IA32_BPF_H */
