/* SPDX-License-Identifier: Apache-2.0 */
/* Memory. */
#include "case.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

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
	say("mmap res=FFFFFFFFFFFFFFEA(EINVAL) length=0 fd=-1 offset=0");
	CALL(mmap, 0L, 0L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
	say("mmap res=%lX flags=10 raw_flags=131106(MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK)",
	    CALL(mmap, 0L, 0L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0L));
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

static void do_mremap(void)
{
	const long at = three_pages(), to = CALL(mremap, at, 4096L, 8192L, MREMAP_MAYMOVE, 1L);

	say("mremap res=%lX addr=%lX old_size=4096 new_size=8192 flags=1 new_addr=<NA>", to, at);
	say("mremap res=%ld addr=1 old_size=4096 new_size=4096 flags=3 new_addr=3",
	    CALL(mremap, 1L, 4096L, 4096L, MREMAP_MAYMOVE | MREMAP_FIXED, 3L));
}

static void do_msync(void)
{
	const long at = three_pages();

	say("msync res=%ld addr=%lX length=4096 flags=4", CALL(msync, at, 4096L, MS_SYNC), at);
	say("msync res=%ld addr=1 length=4096 flags=1", CALL(msync, 1L, 4096L, MS_ASYNC));
}

static void do_mincore(void)
{
	const long at = three_pages();
	unsigned char vec[3];

	*(volatile char *)(at + 4096) = 1;
	say("mincore res=%ld vec=0 1 0 addr=%lX length=12288", CALL(mincore, at, 3 * 4096L, P(vec)),
	    at);
	say("mincore res=%ld vec= addr=1 length=4096", CALL(mincore, 1L, 4096L, P(vec)));
}

static void do_madvise(void)
{
	const long at = three_pages();

	say("madvise res=%ld addr=%lX length=4096 advice=4(MADV_DONTNEED)",
	    CALL(madvise, at, 4096L, MADV_DONTNEED), at);
	say("madvise res=%ld addr=1 length=4096 advice=77", CALL(madvise, 1L, 4096L, 77));
}

static void do_remap_file_pages(void)
{
	const long at =
		P(mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	say("remap_file_pages res=%ld addr=%lX size=4096 prot=0 pgoff=1 flags=0",
	    CALL(remap_file_pages, at, 4096L, 0, 1L, 0), at);
	say("remap_file_pages res=%ld addr=0 size=4096 prot=1 pgoff=0 flags=0",
	    CALL(remap_file_pages, 0L, 4096L, PROT_READ, 0L, 0));
}

static void do_mbind(void)
{
	const long at = three_pages();
	unsigned long nodes = 1;

	say("mbind res=%ld addr=%lX length=4096 mode=2(MPOL_BIND) nodemask=1 maxnode=8 flags=0",
	    CALL(mbind, at, 4096L, MPOL_BIND, P(&nodes), 8L, 0), at);
	say("mbind res=%ld addr=%lX length=4096 mode=32769(MPOL_F_STATIC_NODES|MPOL_PREFERRED) "
	    "nodemask=<NA> maxnode=0 flags=64",
	    CALL(mbind, at, 4096L, MPOL_PREFERRED | MPOL_F_STATIC_NODES, 0L, 0L, 64), at);
}

static void do_set_mempolicy(void)
{
	unsigned long nodes = 1;

	say("set_mempolicy res=%ld mode=3(MPOL_INTERLEAVE) nodemask=1 maxnode=8",
	    CALL(set_mempolicy, MPOL_INTERLEAVE, P(&nodes), 8L));
	say("set_mempolicy res=%ld mode=99 nodemask=<NA> maxnode=0",
	    CALL(set_mempolicy, 99, 0L, 0L));
}

static void do_get_mempolicy(void)
{
	const long at = three_pages();
	unsigned long nodes[16] = {0};
	int mode;

	say("get_mempolicy res=%ld mode=0(MPOL_DEFAULT) node=<NA> nodemask=0 maxnode=1024 addr=0 "
	    "flags=0",
	    CALL(get_mempolicy, P(&mode), P(nodes), 1024L, 0L, 0));
	*(volatile char *)at = 1;
	say("get_mempolicy res=%ld mode=<NA> node=0 nodemask=<NA> maxnode=0 addr=%lX flags=3",
	    CALL(get_mempolicy, P(&mode), 0L, 0L, at, MPOL_F_NODE | MPOL_F_ADDR), at);
	say("get_mempolicy res=%ld mode=<NA> node=<NA> nodemask=<NA> maxnode=0 addr=5 flags=8",
	    CALL(get_mempolicy, P(&mode), 0L, 0L, 5L, 8));
}

static void do_set_mempolicy_home_node(void)
{
	const long at = three_pages();

	say("set_mempolicy_home_node res=%ld addr=%lX length=4096 home_node=0 flags=0",
	    CALL(set_mempolicy_home_node, at, 4096L, 0L, 0L), at);
	say("set_mempolicy_home_node res=%ld addr=1 length=4096 home_node=9999 flags=5",
	    CALL(set_mempolicy_home_node, 1L, 4096L, 9999L, 5L));
}

static void do_migrate_pages(void)
{
	unsigned long from = 1, to = 1;

	say("migrate_pages res=%ld pid=0 maxnode=8 old_nodes=1 new_nodes=1",
	    CALL(migrate_pages, 0, 8L, P(&from), P(&to)));
	say("migrate_pages res=%ld pid=-9 maxnode=8 old_nodes=1 new_nodes=<NA>",
	    CALL(migrate_pages, -9, 8L, P(&from), 0L));
}

static void do_move_pages(void)
{
	const long at = three_pages();
	long pages[2] = {at, at + 4096};
	int nodes[2] = {0, 0}, status[2] = {9, 9};
	long res;

	*(volatile char *)at = 1;
	res = CALL(move_pages, 0, 2L, P(pages), 0L, P(status), 2);
	say("move_pages res=%ld status=%d %d pid=0 count=2 pages=%lX %lX nodes= flags=2", res,
	    status[0], status[1], pages[0], pages[1]);
	res = CALL(move_pages, 0, 2L, P(pages), P(nodes), P(status), 64);
	say("move_pages res=%ld status= pid=0 count=2 pages=%lX %lX nodes=0 0 flags=64", res,
	    pages[0], pages[1]);
}

static void do_pkey_mprotect(void)
{
	const long at = three_pages();

	say("pkey_mprotect res=%ld addr=%lX length=4096 prot=1 pkey=-1",
	    CALL(pkey_mprotect, at, 4096L, PROT_READ, -1), at);
	say("pkey_mprotect res=%ld addr=1 length=4096 prot=3 pkey=77",
	    CALL(pkey_mprotect, 1L, 4096L, PROT_READ | PROT_WRITE, 77));
}

static void do_pkey_alloc(void)
{
	say("pkey_alloc res=%ld flags=0 access_rights=2(PKEY_DISABLE_WRITE)",
	    CALL(pkey_alloc, 0L, 2L));
	say("pkey_alloc res=%ld flags=1F access_rights=128", CALL(pkey_alloc, 0x1fL, 128L));
}

static void do_pkey_free(void)
{
	const long key = CALL(pkey_alloc, 0L, 0L);

	say("pkey_free res=%ld pkey=%ld", CALL(pkey_free, key), key);
	say("pkey_free res=%ld pkey=99", CALL(pkey_free, 99));
}

static void do_memfd_secret(void)
{
	const long fd = CALL(memfd_secret, O_CLOEXEC);
	struct stat st;

	say("memfd_secret fd=%ld flags=4096", fd);
	say("memfd_secret fd=%ld", CALL(memfd_secret, 0x7f));
	if (fd >= 0)
		say("fstat res=%ld fd=%ld(<f>/secretmem)", CALL(fstat, fd, P(&st)), fd);
}

static void do_map_shadow_stack(void)
{
	say("map_shadow_stack res=%ld addr=0 size=4096 flags=1(SHADOW_STACK_SET_TOKEN)",
	    CALL(map_shadow_stack, 0L, 4096L, 1));
	say("map_shadow_stack res=%ld addr=1 size=5 flags=64", CALL(map_shadow_stack, 1L, 5L, 64));
}

static void do_mseal(void)
{
	const long at = three_pages();

	say("mseal res=%ld addr=%lX length=4096 flags=0", CALL(mseal, at, 4096L, 0L), at);
	say("mseal res=%ld addr=1 length=4096 flags=5", CALL(mseal, 1L, 4096L, 5L));
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
	{"mremap", do_mremap},
	{"msync", do_msync},
	{"mincore", do_mincore},
	{"madvise", do_madvise},
	{"remap_file_pages", do_remap_file_pages},
	{"mbind", do_mbind},
	{"set_mempolicy", do_set_mempolicy},
	{"get_mempolicy", do_get_mempolicy},
	{"set_mempolicy_home_node", do_set_mempolicy_home_node},
	{"migrate_pages", do_migrate_pages},
	{"move_pages", do_move_pages},
	{"pkey_mprotect", do_pkey_mprotect},
	{"pkey_alloc", do_pkey_alloc},
	{"pkey_free", do_pkey_free},
	{"memfd_secret", do_memfd_secret},
	{"map_shadow_stack", do_map_shadow_stack},
	{"mseal", do_mseal},
	{NULL, NULL},
};
