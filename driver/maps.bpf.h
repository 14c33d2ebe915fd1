/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver's memory: settings, rings, and open calls.
 *
 * Per-CPU data is accessed with preemption off: by the kernel, which switches it off for tp_btf
 * programs before Linux 7.0, and by the programs themselves since (pin.bpf.h). So it is shared only
 * with interrupts that nest on it.
 */
#ifndef DRIVER_MAPS_BPF_H
#define DRIVER_MAPS_BPF_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>

#include "shared/config.h"
#include "shared/convert.h"
#include "shared/events.h"
#include "shared/ia32.h"
#include "shared/sampler.h"

#define ALL_64_TIMES_8 ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull
#define ALL_CALLS                                                                                  \
	{                                                                                          \
		.bits = { {ALL_64_TIMES_8}, {ALL_64_TIMES_8} }                                     \
	}

/* Defaults with which each program verifies; libscap writes the settings before load. */
const volatile struct drv_config cfg = {
	.ring_kind = RING_ARRAY,
	.ring_sz = 1 << 20,
	.snaplen = 80,
	.snaplen_max = 80,
	.cpus_per_ring = 1,
	.wake_sz = 1 << 18,
	.want_unknown = 1,
	.calls = 1,
	.task_storage = 1,
	.want = ALL_CALLS,
	.show = ALL_CALLS,
};

/*
 * Tables that each call looks up follow the settings, in the same page of memory (live_load.c
 * checks that): in a virtual machine each page that a call touches costs it 10 to 30 ns.
 */
#define COPIES_INOUT 0x80 /* the call may overwrite numbers: inout.bpf.h */
#define COPIES_SAME 0x40 /* if the caller passed the same memory for reading and writing */
#define COPIES_TEXTS 0x1f /* a bit per argument that is a path */
#define COPIES (COPIES_INOUT | COPIES_SAME | COPIES_TEXTS)
#define IS_GENERIC 0x20 /* the call has no filler */
#define IF_INOUT(kind)                                                                             \
	((ARG_IS_INOUT(ARG_##kind) ? COPIES_INOUT : 0) |                                           \
	 (ARG_IS_SAME(ARG_##kind) ? COPIES_SAME : 0))

#define A(param, arg, kind, ...)                                                                   \
	_Static_assert(ARG_##kind != ARG_PATH || 1 << (arg) & COPIES_TEXTS, "a path has no bit");
#define AF(...)
#define AX A
#define AXF AF
#define AE AF
#define SYS(nr, name, event, filler, ...) __VA_ARGS__
#include "syscalls.def"
#include "undef_rows.h"

/* Parameters that are copied at the enter of a call, and whether it is generic. */
const u8 call_traits[DRV_MAX_NR] = {
#define A(param, arg, kind, ...) | (ARG_##kind == ARG_PATH ? 1 << (arg) : 0) | IF_INOUT(kind)
#define AF(param, arg, kind, ...) | IF_INOUT(kind)
#define AX A
#define AXF AF
#define AE AF
#define SYS(nr, name, event, filler, ...)                                                          \
	[nr] = (EVT_##event == EVT_SYSCALL_X ? IS_GENERIC : 0) __VA_ARGS__,
#include "syscalls.def"
#include "undef_rows.h"
};

/* PPM_SC codes by call number; libscap joins them by name. */
const volatile u16 ppm_sc[DRV_MAX_NR] = {};

/* Call numbers by name: NR_openat. */
enum call_nr {
#define SYS(nr, name, ...) NR_##name = (nr),
#include "syscalls.def"
#undef SYS
};

/* Exit events by call number; a number without a row, of a later kernel, has the generic event. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winitializer-overrides"
const u16 nr_event[DRV_MAX_NR] = {
	[0 ... DRV_MAX_NR - 1] = EVT_SYSCALL_X,
#define SYS(nr, name, event, ...) [nr] = EVT_##event,
#include "syscalls.def"
#undef SYS
};
#pragma clang diagnostic pop

const volatile struct drv_sampler_config sampler_cfg = {
	.on = 1,
	.depth = 128,
	.user = 1,
	.kernel = 1,
};

/* The same for 32-bit calls. */
const volatile u16 ppm_sc_ia32[DRV_MAX_NR];

/* How 32-bit calls are decoded; libscap joins syscalls_ia32.def and syscalls.def by name. */
const volatile struct ia32_call ia32_calls[IA32_TABLE_MAX];

struct drv_slot slots[DRV_MAX_CPUS];
struct drv_sampler samplers[DRV_MAX_CPUS];
u32 samples_pause; /* sampling is paused, though its programs may be attached */
u64 n_renamed; /* number of renamed tasks: a cached selection by name may be outdated */
u32 sampling_off; /* in the part of the second that is not recorded */

/* The ring's value, as the verifier sees it; libscap sets the real size, by kind. */
struct ring {
	struct ring_hdr hdr;
	u8 data[(1 << 20) + RING_SLACK];
};

struct ring_template {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct ring));
};

/* Rings of all possible CPUs: libscap adds a ring when its CPU comes online. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__array(values, struct ring_template);
} rings SEC(".maps");

/* Kind perf: perf buffers of the kernel, by CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} perf_rings SEC(".maps");

/* Kind ringbuf: BPF ring buffers, each of one CPU or shared by neighbours. */
struct ringbuf_template {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__array(values, struct ringbuf_template);
} ringbuf_rings SEC(".maps");

/* The doorbell of all kinds: readers poll it; its content is ignored. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} bell SEC(".maps");

/* Saved calls: those of tasks that were switched out. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct drv_call);
} saved_storage SEC(".maps");

/* The same for kernels before 6.4, whose task storage may allocate under the run-queue lock. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct drv_call);
} saved_hash SEC(".maps");

/* The fillers, by index: programs that write the exit record of a call. Calls without one use the
 * generic filler. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, DRV_MAX_NR);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} fillers SEC(".maps");

/* The programs in which fillers continue, by enum drv_follower. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, DRV_FOLLOWER_MAX);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} followers SEC(".maps");

static __always_inline u32 ring_of_cpu(u32 cpu)
{
	return cfg.cpus_per_ring == 1 ? cpu : cpu / cfg.cpus_per_ring;
}

static __always_inline struct drv_sampler *this_sampler(void)
{
	return &samplers[bpf_get_smp_processor_id() & (DRV_MAX_CPUS - 1)];
}

static __always_inline struct drv_slot *this_slot(void)
{
	return &slots[bpf_get_smp_processor_id() & (DRV_MAX_CPUS - 1)];
}

static __always_inline struct ring_ends *this_ends(void)
{
	return &this_slot()->ring;
}

#endif /* DRIVER_MAPS_BPF_H */
