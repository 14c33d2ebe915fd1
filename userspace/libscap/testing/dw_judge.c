/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/dw_judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#define N_BUCKETS 256 /* buckets of processes; a power of two */
#define PROCESSES_MAX 256 /* processes with open files; beyond, all are dropped */
#define STACK_MAX (64ull << 20) /* memory up to this distance above rsp is stack */

struct process {
	struct process *next;
	uint32_t pid;
	Dwfl *dwfl;
	int attached;
};

struct dw_judge {
	struct process *processes[N_BUCKETS];
	size_t n;
	struct process *last;
	/* State while libdw unwinds. */
	const struct dual_sample *s;
	struct dw_frames *out;
	int failed; /* set by a read outside of the copy: libdw then takes the frame for the last
		       one */
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct dw_judge *j = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = j;
	return (pid_t)j->s->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *to, void *arg)
{
	struct dw_judge *j = arg;
	const struct dual_sample *s = j->s;
	const uint64_t at = addr - s->regs[DUAL_RSP];

	(void)dwfl;
	if (at >= s->stack_sz || s->stack_sz - at < sizeof(*to)) {
		j->failed = 1;
		j->out->beyond |= addr > s->regs[DUAL_RSP] && at < STACK_MAX;
		return false;
	}
	memcpy(to, s->stack + at, sizeof(*to));
	return true;
}

static bool initial_registers(Dwfl_Thread *thread, void *arg)
{
	struct dw_judge *j = arg;

	return dwfl_thread_state_registers(thread, 0, DUAL_REGS, j->s->regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = initial_registers,
};

static char debug_path[] = "/nowhere"; /* programs are unwound by information in themselves */
static char *debug_paths = debug_path;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_paths,
};

int dw_judge_new(struct dw_judge **out)
{
	struct dw_judge *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	*out = j;
	return 0;
}

static void forget_all(struct dw_judge *j)
{
	for (size_t i = 0; i < N_BUCKETS; i++) {
		while (j->processes[i]) {
			struct process *p = j->processes[i];

			j->processes[i] = p->next;
			if (p->dwfl)
				dwfl_end(p->dwfl);
			free(p);
		}
	}
	j->n = 0;
	j->last = NULL;
}

void dw_judge_free(struct dw_judge *j)
{
	if (!j)
		return;
	forget_all(j);
	free(j);
}

static struct process *find_process(struct dw_judge *j, uint32_t pid)
{
	struct process **at = &j->processes[pid & (N_BUCKETS - 1)], *p;

	for (p = *at; p; p = p->next)
		if (p->pid == pid)
			return p;
	if (j->n == PROCESSES_MAX)
		forget_all(j);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->next = *at;
	*at = p;
	j->n++;
	return p;
}

/*
 * Reads /proc now. Drops what was reported to libdw before: the state it unwinds by depends on it.
 */
static int report(struct dw_judge *j, struct process *p)
{
	if (p->dwfl)
		dwfl_end(p->dwfl);
	p->attached = 0;
	p->dwfl = dwfl_begin(&callbacks);
	if (!p->dwfl || dwfl_linux_proc_report(p->dwfl, (pid_t)p->pid) ||
	    dwfl_report_end(p->dwfl, NULL, NULL))
		return -ESRCH;
	if (!dwfl_attach_state(p->dwfl, NULL, (pid_t)p->pid, &thread_callbacks, j))
		return -ESRCH;
	p->attached = 1;
	return 0;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct dw_frames *out = ((struct dw_judge *)arg)->out;
	Dwarf_Addr pc;

	if (out->n == SELFTEST_FRAMES || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	out->v[out->n++] = pc;
	return DWARF_CB_OK;
}

int dw_judge_unwind(struct dw_judge *j, struct dw_frames *out, const struct dual_sample *s,
		    int again)
{
	struct process *p = find_process(j, s->pid);

	j->last = p;
	out->n = 0;
	out->rooted = out->beyond = 0;
	if (!p)
		return -ENOMEM;
	/* Files mapped later, and those of another program, are read, too. */
	if ((again || !p->attached || !dwfl_addrmodule(p->dwfl, s->regs[DUAL_IP])) && report(j, p))
		return -ESRCH;
	j->s = s;
	j->out = out;
	j->failed = 0;
	out->rooted = !dwfl_getthread_frames(p->dwfl, (pid_t)s->tid, take_frame, j) && !j->failed;
	return 0;
}

static int is_go(Dwfl_Module *m)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(m, &bias);
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return 0;
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		GElf_Shdr h;
		const char *name = gelf_getshdr(s, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;

		if (name &&
		    (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab")))
			return 1;
	}
	return 0;
}

/* A register, one of the first sixteen, plus an offset. */
static int is_reg(const Dwarf_Op *ops, size_t n, uint64_t *reg, uint64_t *off)
{
	if (n == 2 && ops->atom == DW_OP_call_frame_cfa) /* libdw begins expressions so */
		ops++;
	else if (n != 1)
		return 0;
	*reg = ops->atom == DW_OP_bregx ? ops->number : (uint64_t)ops->atom - DW_OP_breg0;
	*off = ops->atom == DW_OP_bregx ? ops->number2 : ops->number;
	return *reg < DUAL_IP;
}

static int is_late(Dwarf_Frame *frame, const struct dual_sample *s)
{
	Dwarf_Op mem[3], *ops;
	uint64_t reg, off, cfa;
	size_t n;

	/* Returns whether it is saved at rbp. */
	if (dwarf_frame_register(frame, DUAL_RBP, mem, &ops, &n) || !is_reg(ops, n, &reg, &off) ||
	    reg != DUAL_RBP || off)
		return 0;
	if (dwarf_frame_cfa(frame, &ops, &n) || !is_reg(ops, n, &reg, &off))
		return 0;
	cfa = s->regs[reg] + off;
	return s->regs[DUAL_RBP] - s->regs[DUAL_RSP] >= cfa - s->regs[DUAL_RSP];
}

static Dwfl_Module *module_at(struct dw_judge *j, uint64_t pc)
{
	return j->last && j->last->attached ? dwfl_addrmodule(j->last->dwfl, pc) : NULL;
}

int dw_judge_is_late(struct dw_judge *j, const struct dual_sample *s)
{
	Dwfl_Module *m = module_at(j, s->regs[DUAL_IP]);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = m ? dwfl_module_eh_cfi(m, &bias) : NULL;
	Dwarf_Frame *frame;
	int late;

	if (!cfi || dwarf_cfi_addrframe(cfi, s->regs[DUAL_IP] - bias, &frame))
		return 0;
	late = is_late(frame, s);
	free(frame);
	return late;
}

/* *lost: the CFA depends on a register that functions need not describe; libdw 0.188 keeps rsp and
 * rbp. */
static int has_rule(Dwarf_CFI *cfi, uint64_t addr, int *lost)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	uint64_t reg, off;
	size_t n;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr, &frame))
		return 0;
	*lost = !dwarf_frame_cfa(frame, &ops, &n) && is_reg(ops, n, &reg, &off) &&
		reg != DUAL_RBP && reg != DUAL_RSP;
	free(frame);
	return 1;
}

enum dw_ground dw_judge_ground(struct dw_judge *j, uint64_t pc)
{
	Dwfl_Module *m = module_at(j, pc);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi;
	int lost;

	if (!m)
		return DW_NO_FILE;
	cfi = dwfl_module_eh_cfi(m, &bias);
	if (has_rule(cfi, pc - bias, &lost))
		return lost ? DW_REG : DW_RULE;
	if (is_go(m))
		return DW_GO;
	cfi = dwfl_module_dwarf_cfi(m, &bias);
	if (!has_rule(cfi, pc - bias, &lost))
		return DW_NO_RULE;
	return lost ? DW_REG : DW_RULE;
}

const char *dw_judge_file(struct dw_judge *j, uint64_t *offset, uint64_t pc)
{
	Dwfl_Module *m = module_at(j, pc);
	GElf_Addr start = 0;
	const char *name = NULL;

	if (m)
		name = dwfl_module_info(m, NULL, &start, NULL, NULL, NULL, NULL, NULL);
	*offset = pc - start;
	return name ? name : "";
}
