/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Kernel functions (kfuncs) of newer kernels that the driver calls and libscap finds by name. A
 * call is compiled as a call of a helper with an unused number: naming the function would make
 * libbpf read all types of the kernel, which takes longer than the rest of the start.
 */
#ifndef DRIVER_SHARED_KFUNCS_H
#define DRIVER_SHARED_KFUNCS_H

/* Symbol and names, the latest name first. */
#define KFUNCS(X)                                                                                  \
	X(TASK_WORK_RESUME, "bpf_task_work_schedule_resume", "bpf_task_work_schedule_resume_impl") \
	X(PREEMPT_DISABLE, "bpf_preempt_disable", "bpf_preempt_disable")                           \
	X(PREEMPT_ENABLE, "bpf_preempt_enable", "bpf_preempt_enable")                              \
	X(RDONLY_CAST, "bpf_rdonly_cast", "bpf_rdonly_cast")

#define KFUNC_FIRST 0x6b660000

enum kfunc {
	KFUNC_BEFORE = KFUNC_FIRST - 1,
#define X(sym, ...) KFUNC_##sym,
	KFUNCS(X)
#undef X
		KFUNC_END
};

/*
 * Pseudo functions, numbered after the others: pin and unpin are bpf_preempt_disable and
 * bpf_preempt_enable if the kernel runs the programs preemptibly (Linux 7.0), else nothing;
 * is_preemptible is a constant that says which. So older kernels pay nothing. Iterators are
 * preemptible on every kernel: pin_iter and unpin_iter are the same functions wherever the kernel
 * has them (Linux 6.10). untrusted is bpf_rdonly_cast (Linux 6.2), else its argument; can_cast is a
 * constant that says which. task_type is the number of struct task_struct, word_type that of struct
 * timespec64, which begins with a plain number of 8 bytes.
 */
enum {
	KFUNC_PIN = KFUNC_END,
	KFUNC_UNPIN,
	KFUNC_PIN_ITER,
	KFUNC_UNPIN_ITER,
	KFUNC_IS_PREEMPTIBLE,
	KFUNC_UNTRUSTED,
	KFUNC_CAN_CAST,
	KFUNC_TASK_TYPE,
	KFUNC_WORD_TYPE,
};

#endif /* DRIVER_SHARED_KFUNCS_H */
