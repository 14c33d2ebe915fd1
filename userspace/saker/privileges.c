/* SPDX-License-Identifier: Apache-2.0 */
#include "privileges.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "capabilities.h"
#include "say.h"

/* bpf(2) on open maps, also at the end, requires these again. */
#define KEPT_FOR_BPF (1ull << CAP_BPF | 1ull << CAP_PERFMON)
#define KEPT_FOR_PROC (1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH)
/* The process with libdw changes its user to nobody. */
#define KEPT_FOR_LINES (1ull << CAP_SETUID | 1ull << CAP_SETGID)
/* For names of stacks: kernel addresses, files that only a process can still reach. */
#define KEPT_FOR_NAMES_OF_FILE (1ull << CAP_SYSLOG | KEPT_FOR_LINES)
#define KEPT_FOR_NAMES (1ull << CAP_CHECKPOINT_RESTORE | KEPT_FOR_NAMES_OF_FILE)
#define KEPT_FOR_FILES (1ull << CAP_DAC_OVERRIDE)
/* Files of other users are read and replaced. */
#define KEPT_TO_OPEN (1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_FOWNER | KEPT_FOR_FILES)
#define KEPT (KEPT_FOR_BPF | KEPT_FOR_PROC | 1ull << CAP_KILL)

static void keep(uint64_t capabilities)
{
	capabilities_keep(capabilities);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int privileges_allow(const char *what, const char *command)
{
	if (capabilities_allow_bpf())
		return 1;
	if (geteuid())
		say("%s needs root: use sudo %s, or read a file with -r", what, command);
	else
		say("%s needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, which root lacks here, "
		    "maybe in a container: grant them, or read a file with -r",
		    what);
	return 0;
}

void privileges_drop(int names_stacks, int creates_files)
{
	keep(KEPT | (names_stacks ? KEPT_FOR_NAMES : 0) | (creates_files ? KEPT_FOR_FILES : 0));
}

void privileges_drop_to_control(void)
{
	keep(KEPT | 1ull << CAP_SYS_NICE);
}

void privileges_drop_to_replay(int opens_files, int names_stacks)
{
	keep((opens_files ? KEPT_TO_OPEN : 0) |
	     (names_stacks ? 1ull << CAP_DAC_READ_SEARCH | KEPT_FOR_NAMES_OF_FILE : 0));
}

void privileges_drop_to_files(void)
{
	keep(KEPT_FOR_FILES);
}

void privileges_drop_all(void)
{
	keep(0);
}
