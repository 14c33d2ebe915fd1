/* SPDX-License-Identifier: Apache-2.0 */
/* Memory. */
#include "case.h"

#include <stddef.h>
#include <sys/mman.h>

static long three_pages(void)
{
	return P(mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void do_mmap(void)
{
	const long at = CALL(mmap, 0L, 3 * 4096L, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

	say("mmap res=%lX addr=0 length=12288 prot=3 flags=10 fd=-1 offset=0", at);
	say("mmap res=%lX addr=0 length=0 prot=1 flags=10 fd=-1 offset=0",
	    CALL(mmap, 0L, 0L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L));
}

static void do_mprotect(void)
{
	const long at = three_pages();

	say("mprotect res=%ld addr=%lX length=4096 prot=1", CALL(mprotect, at, 4096L, PROT_READ),
	    at);
	say("mprotect res=%ld addr=1 length=4096 prot=0", CALL(mprotect, 1L, 4096L, PROT_NONE));
}

static void do_munmap(void)
{
	const long at = three_pages();

	say("munmap res=%ld addr=%lX length=12288", CALL(munmap, at, 3 * 4096L), at);
	say("munmap res=%ld addr=1 length=4096", CALL(munmap, 1L, 4096L));
}

static void do_brk(void)
{
	say("brk res=%lX addr=0", CALL(brk, 0L));
}

static void do_mlock(void)
{
	const long at = three_pages();

	say("mlock res=%ld addr=%lX len=4096", CALL(mlock, at, 4096L), at);
	say("mlock res=%ld addr=0 len=4096", CALL(mlock, 0L, 4096L));
}

static void do_munlock(void)
{
	const long at = three_pages();

	say("munlock res=%ld addr=%lX len=4096", CALL(munlock, at, 4096L), at);
	say("munlock res=%ld addr=0 len=4096", CALL(munlock, 0L, 4096L));
}

static void do_mlockall(void)
{
	say("mlockall res=%ld flags=4", CALL(mlockall, MCL_ONFAULT));
	say("mlockall res=%ld flags=2", CALL(mlockall, MCL_FUTURE));
}

static void do_munlockall(void)
{
	say("munlockall res=%ld", CALL(munlockall));
}

static void do_mlock2(void)
{
	const long at = three_pages();

	say("mlock2 res=%ld addr=%lX len=4096 flags=1", CALL(mlock2, at, 4096L, MLOCK_ONFAULT), at);
	say("mlock2 res=%ld addr=0 len=4096 flags=0", CALL(mlock2, 0L, 4096L, 0));
}

/* clang-format off */
const struct call_case cases_mem[] = {
	{"mmap", do_mmap},
	{"mprotect", do_mprotect},
	{"munmap", do_munmap},
	{"brk", do_brk},
	{"mlock", do_mlock},
	{"munlock", do_munlock},
	{"mlockall", do_mlockall},
	{"munlockall", do_munlockall},
	{"mlock2", do_mlock2},
	{NULL, NULL},
};
