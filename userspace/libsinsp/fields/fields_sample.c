/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of samples: trigger, weight, addresses of stacks. */
#include <errno.h>

#include "field_params.h"
#include "field_rows.h"
#include "shared/stack.h"
#include "state/fd.h"
#include "state/thread.h"

/* Returns a parameter of a sample; NULL: missing, or not a sample. */
static const struct scap_param *param_of(const struct sinsp_evt *evt, unsigned int at)
{
	return field_param(evt, EVT_SAMPLE_E, at);
}

/* The same of the sample that was taken for the event, too. */
static const struct scap_param *stack_param(const struct sinsp_evt *evt, unsigned int at)
{
	const struct scap_params *params = sinsp_evt_sample(evt);

	if (!params || at >= params->n || !params->v[at].len)
		return NULL;
	return &params->v[at];
}

static int get_number(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)more;
	return field_param_number(v, param_of(e->evt, f->row->variant));
}

/* Gets the name in the table of the parameter. */
static int get_name(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_name(v,
				f->row->variant == SAMPLE_P_END ? stack_param(e->evt, SAMPLE_P_END)
								: param_of(e->evt, f->row->variant),
				EVT_SAMPLE_E, f->row->variant);
}

static int get_text(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_text(v, param_of(e->evt, f->row->variant));
}

static int get_call(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_call(v, param_of(e->evt, f->row->variant));
}

/* ---- the call of the sample ---- */

/* Returns whether the first argument of the call is a descriptor that its enter event lacks. */
static int has_unrecorded_fd(const char *call)
{
	static const char *const names[] = {"accept",       "accept4", "epoll_wait", "epoll_pwait",
					    "epoll_pwait2", "fsync",   "fdatasync",  "getdents64"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], call))
			return 1;
	return 0;
}

static int has_fd_arg(uint32_t nr)
{
	const int ia32 = !!(nr & SAMPLE_CALL_IA32);
	const char *name = scap_syscall_name(nr & ~SAMPLE_CALL_IA32, ia32);
	const struct scap_event_info *enter;

	if (has_unrecorded_fd(name))
		return 1;
	enter = ia32 ? NULL : scap_event_info(scap_syscall_exit_type(nr) & ~1u);
	return enter && enter->n_params && !strcmp(enter->params[0].name, "fd");
}

/* Returns 1 with the first argument of the thread's open call. */
static int arg_of(const struct sinsp_evt *evt, uint64_t *arg, uint32_t *nr)
{
	const struct scap_param *p = param_of(evt, SAMPLE_P_ARG),
				*call = param_of(evt, SAMPLE_P_CALL);

	if (!p || p->len != sizeof(*arg) || !call || call->len != sizeof(*nr))
		return 0;
	*arg = get_u64(p->p);
	*nr = get_u32(call->p);
	return 1;
}

static int get_call_fd(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	uint64_t arg;
	uint32_t nr;

	(void)f, (void)more;
	if (!arg_of(e->evt, &arg, &nr) || !has_fd_arg(nr) || (int32_t)arg < 0)
		return 0;
	return field_u(v, (uint32_t)arg);
}

static int is_older(const struct sinsp_evt *evt)
{
	const struct scap_param *p = param_of(evt, SAMPLE_P_OLDER);

	return p && p->len == 1 && p->p[0];
}

/* A profile has no events of descriptors opened during the capture. */
static int get_call_file(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = NULL;
	uint64_t arg;
	uint32_t nr;

	(void)f, (void)more;
	if (e->evt->thread && is_older(e->evt) && arg_of(e->evt, &arg, &nr) && has_fd_arg(nr))
		fd = sinsp_thread_fd(e->evt->thread, (int32_t)arg);
	return fd && fd->name && *fd->name ? field_str(v, fd->name) : 0;
}

static int get_older(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	(void)f, (void)more;
	return param_of(e->evt, SAMPLE_P_OLDER) ? field_u(v, (uint64_t)is_older(e->evt)) : 0;
}

static uint64_t word_at(const struct scap_param *p, size_t i)
{
	return get_u64(p->p + i * sizeof(uint64_t));
}

/* Returns the number of words of a stack; 0: none. */
static size_t n_words(const struct scap_param *p)
{
	return p ? p->len / sizeof(uint64_t) : 0;
}

/* Whether the word is a frame: behind that of an interpreter are words which belong to it. */
static int is_frame(unsigned int at, uint64_t word)
{
	return at != SAMPLE_P_USER || !STACK_IS_MORE(word);
}

static size_t n_frames(const struct sinsp_evt *evt, unsigned int at)
{
	const struct scap_param *p = stack_param(evt, at);
	size_t n = 0;

	for (size_t i = 0; i < n_words(p); i++)
		n += is_frame(at, word_at(p, i));
	return n;
}

/* Masks the highest byte of user frames, which is how they were found. */
static uint64_t frame_addr(unsigned int at, uint64_t frame)
{
	return at == SAMPLE_P_USER ? STACK_ADDR(frame) : frame;
}

/* Gets one frame by its number, or all. */
static int get_frames(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const unsigned int at = f->row->variant;
	const struct scap_param *p = stack_param(e->evt, at);
	const size_t n_all = n_words(p);
	struct sinsp_value *list = NULL;
	size_t n = 0;

	if (!f->has_index && n_all) {
		list = sinsp_eval_alloc(e, n_all * sizeof(*list));
		if (!list)
			return -ENOMEM;
	}
	for (size_t i = 0; i < n_all; i++) {
		const uint64_t word = word_at(p, i);

		if (!is_frame(at, word))
			continue;
		if (f->has_index && (size_t)f->index == n)
			return field_u(v, frame_addr(at, word));
		if (list) {
			list[n] = *v;
			list[n].u = frame_addr(at, word);
		}
		n++;
	}
	if (!list || !n)
		return 0;
	*v = list[0];
	*more = list;
	return (int)n;
}

enum { DEPTH_ALL, DEPTH_USER, DEPTH_KERNEL };

static int get_depth(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const size_t user = n_frames(e->evt, SAMPLE_P_USER),
		     kernel = n_frames(e->evt, SAMPLE_P_KERNEL);

	(void)more;
	if (!sinsp_evt_sample(e->evt))
		return 0;
	switch (f->row->variant) {
	case DEPTH_USER:
		return field_u(v, user);
	case DEPTH_KERNEL:
		return field_u(v, kernel);
	default:
		return field_u(v, user + kernel);
	}
}

/* A kernel thread has no user stack, so none is missing. */
static int get_complete(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const struct scap_param *p = stack_param(e->evt, SAMPLE_P_END);

	(void)f, (void)more;
	if (!p || p->len != 1)
		return 0;
	return field_u(v, p->p[0] == STACK_END_ROOT || p->p[0] == STACK_END_NONE);
}

/* clang-format off */
#define ROW(name, type, fmt, variant, get, help, ...)                                              \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_SEARCH, 0, variant, get, help, __VA_ARGS__}
#define FRAMES (FIELD_F_LIST | FIELD_F_ANY | FIELD_F_ARG_OK | FIELD_F_ARG_INDEX)

static const struct sinsp_field_row rows[] = {
	ROW("sample.reason", STR, DEC, SAMPLE_P_REASON, get_name,
	    "why the sample was taken: cpu, off_cpu, page_fault, tracepoint or syscall"),
	ROW("sample.weight", DURATION, DEC, SAMPLE_P_WEIGHT, get_number,
	    "nanoseconds that the sample stands for; off_cpu: time off the CPU"),
	ROW("sample.pid", INT, DEC, SAMPLE_P_PID, get_number, "PID of the sampled process"),
	ROW("sample.comm", STR, DEC, SAMPLE_P_COMM, get_text,
	    "name of the sampled thread, also of one that is otherwise unknown"),
	ROW("sample.tracepoint", STR, DEC, SAMPLE_P_TRACEPOINT, get_text,
	    "tracepoint at which the sample was taken"),
	ROW("sample.addr", UINT, HEX, SAMPLE_P_ADDR, get_number, "address of the page fault"),
	ROW("sample.ip", UINT, HEX, SAMPLE_P_IP, get_number,
	    "user-mode instruction pointer of the thread"),
	ROW("sample.sp", UINT, HEX, SAMPLE_P_SP, get_number,
	    "user-mode stack pointer of the thread"),
	ROW("sample.bp", UINT, HEX, SAMPLE_P_BP, get_number,
	    "user-mode frame pointer (rbp) of the thread"),
	ROW("sample.vpid", INT, DEC, SAMPLE_P_VPID, get_number,
	    "PID in the PID namespace of the process, unless that is the initial one"),
	ROW("sample.vtid", INT, DEC, SAMPLE_P_VTID, get_number,
	    "TID in the PID namespace of the process, unless that is the initial one"),
	ROW("sample.call", STR, DEC, SAMPLE_P_CALL, get_call,
	    "off_cpu: system call in which the thread waited"),
	ROW("sample.call.arg", UINT, HEX, SAMPLE_P_ARG, get_number,
	    "off_cpu: first argument of sample.call; for futex, the address of the lock"),
	ROW("sample.call.fd", INT, DEC, 0, get_call_fd, "off_cpu: descriptor of sample.call",
	    .needs = FIELD_NEEDS_FILES),
	ROW("sample.call.file", STR, DEC, 0, get_call_file,
	    "off_cpu: fd.name of sample.call.fd; only if the wait began before the capture"),
	ROW("sample.older", BOOL, DEC, 0, get_older,
	    "off_cpu: true if the wait began before the capture, so that it was longer than "
	    "recorded"),
	ROW("sample.state", STR, DEC, SAMPLE_P_STATE, get_name,
	    "off_cpu: how the thread waited: sleep, disk_sleep, stopped, traced, idle, or running "
	    "if it stayed runnable"),
	ROW("sample.waker", INT, DEC, SAMPLE_P_WAKER, get_number,
	    "off_cpu: thread that woke it; 0 for an interrupt"),
	ROW("sample.waker.comm", STR, DEC, SAMPLE_P_WAKER_COMM, get_text,
	    "off_cpu: name of the thread that woke it"),
	ROW("sample.wait", DURATION, DEC, SAMPLE_P_WAIT, get_number,
	    "off_cpu: nanoseconds from the wakeup until the thread ran"),
	ROW("stack.end", STR, DEC, SAMPLE_P_END, get_name,
	    "end reason of the user stack: root if it is complete, else why the walk stopped, "
	    "such as depth"),
	ROW("stack.complete", BOOL, DEC, 0, get_complete,
	    "true if the outermost frame of the user stack is known"),
	ROW("stack.depth", UINT, DEC, DEPTH_ALL, get_depth,
	    "number of frames of both stacks, with those of interpreters that are not shown"),
	ROW("stack.user.depth", UINT, DEC, DEPTH_USER, get_depth,
	    "number of frames of the user stack, with those of interpreters that are not shown"),
	ROW("stack.kernel.depth", UINT, DEC, DEPTH_KERNEL, get_depth,
	    "number of frames of the kernel stack"),
	{"stack.user", FIELD_UINT, FIELD_FMT_HEX, FIELD_COST_SEARCH, FRAMES, SAMPLE_P_USER, get_frames,
	 "addresses of the user stack, innermost first; stack.user[0] is one of them", NULL},
	{"stack.kernel", FIELD_UINT, FIELD_FMT_HEX, FIELD_COST_SEARCH, FRAMES, SAMPLE_P_KERNEL, get_frames,
	 "addresses of the kernel stack, innermost first; stack.kernel[0] is one of them", NULL},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_sample = {
	.name = "sample",
	.title = "sample",
	.help = "Samples of stacks: --sample and --sample-on",
	FIELD_ROWS(rows),
};
