/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as a whole, what guards it, and calls that are only there to be refused. Text and
 * structures are on the stack: where the kernel does not look, they must be in memory anyway. */
#include "case.h"

#include <asm/ldt.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

static void do_sync(void)
{
	say("sync res=%ld", CALL(sync));
}

static void do_delete_module(void)
{
	char name[] = "saker-none"; /* a kernel without modules does not look at it */

	say("delete_module res=%ld name=saker-none flags=1", CALL(delete_module, P(name), 0x200));
}

static void do_add_key(void)
{
	char type[] = "user", name[] = "saker-test", payload[] = "secret";
	long key;

	CALL(keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0L);
	key = CALL(add_key, P(type), P(name), P(payload), 6L, KEY_SPEC_SESSION_KEYRING);
	if (key < 0)
		skip("add_key: %s", strerror((int)-key));
	say("add_key res=%ld type=user description=saker-test payload=secret plen=6 "
	    "keyring=-3(KEY_SPEC_SESSION_KEYRING)",
	    key);
	say("add_key res=%ld type=<NA> description=saker-test payload= plen=0 keyring=-2",
	    CALL(add_key, 1L, P(name), 0L, 0L, KEY_SPEC_PROCESS_KEYRING));
}

static void do_request_key(void)
{
	char type[] = "user", name[] = "saker-test";
	long key;

	CALL(keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0L);
	key = CALL(add_key, P(type), P(name), P(name), 6L, KEY_SPEC_SESSION_KEYRING);
	if (key < 0)
		skip("add_key: %s", strerror((int)-key));
	say("request_key res=%ld type=user description=saker-test callout_info=<NA> "
	    "dest_keyring=0",
	    CALL(request_key, P(type), P(name), 0L, 0));
	say("request_key res=%ld type=user description=<NA> callout_info=user "
	    "dest_keyring=-4(KEY_SPEC_USER_KEYRING)",
	    CALL(request_key, P(type), 1L, P(type), KEY_SPEC_USER_KEYRING));
}

static void do_keyctl(void)
{
	char type[] = "user", name[] = "saker-test", text[128];
	const long ring = CALL(keyctl, KEYCTL_JOIN_SESSION_KEYRING, P(name));
	long key;

	if (ring < 0)
		skip("keyctl: %s", strerror((int)-ring));
	say("keyctl res=%ld operation=1(KEYCTL_JOIN_SESSION_KEYRING) arg2=saker-test", ring);
	key = CALL(add_key, P(type), P(name), P(name), 6L, ring);
	say("keyctl res=%ld operation=10(KEYCTL_SEARCH) arg2=%ld arg3=user arg4=saker-test arg5=0",
	    CALL(keyctl, KEYCTL_SEARCH, ring, P(type), P(name), 0L), ring);
	say("keyctl res=%ld operation=6(KEYCTL_DESCRIBE) arg2=%ld "
	    "arg3=user;%u;%u;3f010000;saker-test arg4=128",
	    CALL(keyctl, KEYCTL_DESCRIBE, key, P(text), 128L), key, getuid(), getgid());
	say("keyctl res=%ld operation=15(KEYCTL_SET_TIMEOUT) arg2=%ld arg3=77",
	    CALL(keyctl, KEYCTL_SET_TIMEOUT, key, 77L), key);
	say("keyctl res=%ld operation=99 arg2=1 arg3=2 arg4=3 arg5=4",
	    CALL(keyctl, 99, 1L, 2L, 3L, 4L));
}

/* linux/landlock.h of a newer kernel than the machine's headers may be of. */
struct ruleset {
	uint64_t fs, net, scoped;
};

static long make_ruleset(void)
{
	const struct ruleset r = {.fs = 0xc};
	const long fd = CALL(landlock_create_ruleset, P(&r), 8L, 0);

	if (fd < 0)
		skip("landlock_create_ruleset: %s", strerror((int)-fd));
	return fd;
}

static void do_landlock_create_ruleset(void)
{
	const long fd = make_ruleset();
	const struct ruleset r = {1, 2, 3};

	say("landlock_create_ruleset res=%ld handled_access_fs=C(READ_FILE|READ_DIR) "
	    "handled_access_net=<NA> scoped=<NA> size=8 flags=0",
	    fd);
	say("landlock_create_ruleset res=%ld handled_access_fs=<NA> size=0 "
	    "flags=1(LANDLOCK_CREATE_RULESET_VERSION)",
	    CALL(landlock_create_ruleset, 0L, 0L, 1));
	say("landlock_create_ruleset res=%ld handled_access_fs=1(EXECUTE) "
	    "handled_access_net=2(CONNECT_TCP) scoped=3(ABSTRACT_UNIX_SOCKET|SIGNAL) size=24 "
	    "flags=64",
	    CALL(landlock_create_ruleset, P(&r), 24L, 64));
	say("close res=%ld fd=%ld(<X>anon_inode:[landlock-ruleset])", CALL(close, fd), fd);
}

static void do_landlock_add_rule(void)
{
	const struct __attribute__((packed)) {
		uint64_t access;
		int32_t fd;
	} path = {4, open(".", O_PATH)};
	const uint64_t port[2] = {1, 8080};
	const long fd = make_ruleset();

	say("landlock_add_rule res=%ld ruleset_fd=%ld rule_type=1(LANDLOCK_RULE_PATH_BENEATH) "
	    "access_fs=4(READ_FILE) parent_fd=%d access_net=<NA> port=<NA> flags=0",
	    CALL(landlock_add_rule, fd, 1, P(&path), 0), fd, path.fd);
	say("landlock_add_rule res=%ld ruleset_fd=%ld rule_type=2(LANDLOCK_RULE_NET_PORT) "
	    "access_fs=<NA> parent_fd=<NA> access_net=1(BIND_TCP) port=8080 flags=0",
	    CALL(landlock_add_rule, fd, 2, P(port), 0), fd);
}

static void do_landlock_restrict_self(void)
{
	const long fd = make_ruleset();

	CALL(prctl, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
	say("landlock_restrict_self res=%ld ruleset_fd=%ld flags=0",
	    CALL(landlock_restrict_self, fd, 0), fd);
	say("landlock_restrict_self res=%ld ruleset_fd=-1 flags=64",
	    CALL(landlock_restrict_self, -1, 64));
}

struct lsm_ctx_head {
	uint64_t id, flags, len, ctx_len;
	char ctx[96];
};

static void do_lsm_get_self_attr(void)
{
	struct lsm_ctx_head ctx = {0};
	uint32_t size = sizeof(ctx);
	const long n = CALL(lsm_get_self_attr, 100, P(&ctx), P(&size), 0);

	if (n > 0)
		say("lsm_get_self_attr res=%ld id=%ld ctx=%s size=%u attr=100(LSM_ATTR_CURRENT) "
		    "flags=0",
		    n, (long)ctx.id, ctx.ctx, size);
	else
		say("lsm_get_self_attr res=%ld id=<NA> ctx=<NA> attr=100(LSM_ATTR_CURRENT) flags=0",
		    n);
	say("lsm_get_self_attr res=%ld id=<NA> ctx=<NA> size=<NA> attr=9 flags=64",
	    CALL(lsm_get_self_attr, 9, 0L, 0L, 64));
}

static void do_lsm_set_self_attr(void)
{
	struct lsm_ctx_head ctx = {.id = 105, .len = 36, .ctx_len = 4, .ctx = "abc"};

	say("lsm_set_self_attr res=%ld attr=9 id=105(LSM_ID_YAMA) ctx=abc size=36 "
	    "flags=64",
	    CALL(lsm_set_self_attr, 9, P(&ctx), 36L, 64));
	say("lsm_set_self_attr res=%ld attr=100(LSM_ATTR_CURRENT) id=<NA> ctx=<NA> size=8",
	    CALL(lsm_set_self_attr, 100, 0L, 8L, 0));
}

static void do_lsm_list_modules(void)
{
	uint32_t size = 64 * sizeof(uint64_t);
	uint64_t ids[64] = {0};
	const long n = CALL(lsm_list_modules, P(ids), P(&size), 0);

	if (n == -ENOSYS)
		skip("lsm_list_modules: %s", strerror(ENOSYS));
	if (n > 0 && ids[0] == 100)
		say("lsm_list_modules res=%ld size=%u flags=0", n, size);
	else
		say("lsm_list_modules res=%ld flags=0", n);
	say("lsm_list_modules res=%ld ids= size=<NA> flags=5", CALL(lsm_list_modules, 0L, 0L, 5));
}

static void do_perf_event_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 100000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.disabled = 1,
		.exclude_kernel = 1,
		.remove_on_exec = 1,
	};
	const long fd = CALL(perf_event_open, P(&attr), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		skip("perf_event_open: %s", strerror((int)-fd));
	say("perf_event_open fd=%ld type=1(PERF_TYPE_SOFTWARE) config=1 sample_period=100000 "
	    "sample_type=3(IP|TID) read_format=0 "
	    "attr_flags=1000000021(disabled|exclude_kernel|remove_on_exec) pid=0 cpu=-1 "
	    "group_fd=-1 flags=8(PERF_FLAG_FD_CLOEXEC)",
	    fd);
	say("perf_event_open fd=%ld type=<NA> config=<NA> pid=-1 cpu=0 group_fd=%ld",
	    CALL(perf_event_open, 1L, -1, 0, fd, 0), fd);
	say("close res=%ld fd=%ld(<X>anon_inode:[perf_event])", CALL(close, fd), fd);
}

static void do_bpf(void)
{
	struct {
		uint32_t type, key, value, max, flags, inner, node;
		char name[16];
	} map = {2, 4, 8, 3, 0, 0, 0, "saker_test"};
	struct {
		uint32_t type, n;
		uint64_t insns, license;
		uint32_t level, size;
		uint64_t buf;
		uint32_t version, flags;
		char name[16];
	} prog = {.type = 1, .name = "no_insns"};
	const long fd = CALL(bpf, 0, P(&map), sizeof(map));

	if (fd < 0)
		skip("bpf: %s", strerror((int)-fd));
	say("bpf fd=%ld cmd=0(BPF_MAP_CREATE) map_type=2(BPF_MAP_TYPE_ARRAY) map_name=saker_test",
	    fd);
	say("bpf fd=%ld cmd=5(BPF_PROG_LOAD) prog_type=1(BPF_PROG_TYPE_SOCKET_FILTER) "
	    "prog_name=no_insns",
	    CALL(bpf, 5, P(&prog), sizeof(prog)));
	say("bpf fd=%ld cmd=99", CALL(bpf, 99, 0L, 0));
	say("close res=%ld fd=%ld(<b>anon_inode:bpf-map)", CALL(close, fd), fd);
}

static void do_seccomp(void)
{
	struct {
		uint16_t len;
		void *filter;
	} prog = {0, NULL};

	say("seccomp res=%ld op=1 flags=1", CALL(seccomp, SECCOMP_SET_MODE_FILTER, 1L, P(&prog)));
	say("seccomp res=%ld op=2(SECCOMP_GET_ACTION_AVAIL) flags=0",
	    CALL(seccomp, SECCOMP_GET_ACTION_AVAIL, 0L, P(&(uint32_t){SECCOMP_RET_TRAP})));
}

static void do_kexec_load(void)
{
	const unsigned long segment[4] = {0x11, 0x22, 0x33, 0x44};

	/* Refused before anything happens: the flags are none. */
	say("kexec_load res=%ld entry=5 nr_segments=1 segments=11:34:33:68 "
	    "flags=65281(KEXEC_ON_CRASH)",
	    CALL(kexec_load, 5L, 1L, P(segment), 0xff01L));
}

static void do_kexec_file_load(void)
{
	char cmdline[] = "quiet";

	say("kexec_file_load res=%ld kernel_fd=-1 initrd_fd=-2 cmdline=quiet flags=4096",
	    CALL(kexec_file_load, -1, -2, 6L, P(cmdline), 0x1000L));
}

static void do_init_module(void)
{
	char image[] = "no module", args[] = "a=1";

	say("init_module res=%ld img=no module length=9 uargs=a=1",
	    CALL(init_module, P(image), 9L, P(args)));
}

static void do_finit_module(void)
{
	char args[] = "a=1";

	say("finit_module res=%ld fd=-1 uargs=a=1 flags=2(MODULE_INIT_IGNORE_VERMAGIC)",
	    CALL(finit_module, -1, P(args), 2));
}

static void do_getrandom(void)
{
	char b[16];

	say("getrandom res=%ld count=16 flags=1(GRND_NONBLOCK)",
	    CALL(getrandom, P(b), 16L, GRND_NONBLOCK));
	say("getrandom res=%ld count=1 flags=99", CALL(getrandom, P(b), 1L, 99));
}

static void do_uname(void)
{
	struct utsname u;
	const long res = CALL(uname, P(&u));

	say("uname res=%ld sysname=%s nodename=%s release=%s version=%s machine=%s domainname=%s",
	    res, u.sysname, u.nodename, u.release, u.version, u.machine, u.domainname);
	say("uname res=%ld sysname=<NA> nodename=<NA> release=<NA> version=<NA> machine=<NA> "
	    "domainname=<NA>",
	    CALL(uname, 1L));
}

static void do_sysinfo(void)
{
	struct sysinfo s;
	const long res = CALL(sysinfo, P(&s));

	say("sysinfo res=%ld uptime=%ld totalram=%lu freeram=%lu sharedram=%lu bufferram=%lu "
	    "totalswap=%lu freeswap=%lu procs=%u",
	    res, s.uptime, s.totalram, s.freeram, s.sharedram, s.bufferram, s.totalswap, s.freeswap,
	    s.procs);
	say("sysinfo res=%ld uptime=<NA> procs=<NA>", CALL(sysinfo, 1L));
}

static void do_syslog(void)
{
	say("syslog res=%ld data=<NA> type=10(SYSLOG_ACTION_SIZE_BUFFER) len=0",
	    CALL(syslog, 10, 0L, 0));
	say("syslog res=%ld data= type=3(SYSLOG_ACTION_READ_ALL) len=-1", CALL(syslog, 3, 0L, -1));
	say("syslog res=%ld data= type=77 len=9", CALL(syslog, 77, 0L, 9));
}

/* With numbers that the kernel does not accept as an intended request. */
static void do_reboot(void)
{
	/* The kernel does not read it: an untouched page of the program is not in memory. */
	char why[] = "why not";

	say("reboot res=%ld magic1=4276215469(LINUX_REBOOT_MAGIC1) magic2=5 "
	    "cmd=2712847316(LINUX_REBOOT_CMD_RESTART2) arg=why not",
	    CALL(reboot, 0xfee1dead, 5, 0xa1b2c3d4, P(why)));
	say("reboot res=%ld magic1=1 magic2=672274793(LINUX_REBOOT_MAGIC2) "
	    "cmd=0(LINUX_REBOOT_CMD_CAD_OFF) arg=<NA>",
	    CALL(reboot, 1, 672274793, 0, 0L));
}

/* Names of the whole machine: in a namespace of our own. */
static void own_names(void)
{
	if (unshare(CLONE_NEWUTS))
		broken("unshare");
}

static void do_sethostname(void)
{
	own_names();
	say("sethostname res=%ld name=saker-case len=10", CALL(sethostname, P("saker-case-x"), 10));
	say("sethostname res=%ld name=<NA> len=-5", CALL(sethostname, P("saker"), -5));
}

static void do_setdomainname(void)
{
	own_names();
	say("setdomainname res=%ld name=case.test len=9", CALL(setdomainname, P("case.test.x"), 9));
	say("setdomainname res=%ld name=<NA> len=9", CALL(setdomainname, 1L, 9));
}

static void do_iopl(void)
{
	say("iopl res=%ld level=0", CALL(iopl, 0));
	say("iopl res=%ld level=77", CALL(iopl, 77));
}

static void do_ioperm(void)
{
	say("ioperm res=%ld from=128 num=1 turn_on=0", CALL(ioperm, 128L, 1L, 0));
	say("ioperm res=%ld from=99999 num=7 turn_on=1", CALL(ioperm, 99999L, 7L, 1));
}

static void do_modify_ldt(void)
{
	struct user_desc d = {.entry_number = 3, .base_addr = 0x1234, .limit = 0x56, .useable = 1};
	char ldt[64];

	say("modify_ldt res=%ld func=17(WRITE) bytecount=16 entry_number=3 base_addr=1234 limit=56",
	    CALL(modify_ldt, 17, P(&d), (long)sizeof(d)));
	say("modify_ldt res=%ld func=0(READ) bytecount=64 entry_number=<NA> base_addr=<NA> "
	    "limit=<NA>",
	    CALL(modify_ldt, 0, P(ldt), (long)sizeof(ldt)));
	say("modify_ldt res=%ld func=1(WRITE_OLD) bytecount=5 entry_number=3",
	    CALL(modify_ldt, 1, P(&d), 5L));
}

static void do_vhangup(void)
{
	if (setsid() < 0)
		broken("setsid");
	say("vhangup res=%ld", CALL(vhangup));
}

static void do_set_thread_area(void)
{
	say("set_thread_area res=%ld", CALL(set_thread_area, 0L));
}

static void do_get_thread_area(void)
{
	say("get_thread_area res=%ld", CALL(get_thread_area, 0L));
}

static void nothing(int sig)
{
	(void)sig;
}

/* For the kernel's own trampolines: from other code it raises SIGILL. */
static void do_uretprobe(void)
{
	signal(SIGILL, nothing);
	say("uretprobe res=%ld", CALL(uretprobe));
}

static void do_uprobe(void)
{
	signal(SIGILL, nothing);
	say("uprobe res=%ld", CALL(uprobe));
}

/* clang-format off */
const struct call_case cases_system[] = {
	{"sync", do_sync},
	{"delete_module", do_delete_module},
	{"add_key", do_add_key},
	{"request_key", do_request_key},
	{"keyctl", do_keyctl},
	{"landlock_create_ruleset", do_landlock_create_ruleset},
	{"landlock_add_rule", do_landlock_add_rule},
	{"landlock_restrict_self", do_landlock_restrict_self},
	{"lsm_get_self_attr", do_lsm_get_self_attr},
	{"lsm_set_self_attr", do_lsm_set_self_attr},
	{"lsm_list_modules", do_lsm_list_modules},
	{"perf_event_open", do_perf_event_open},
	{"bpf", do_bpf},
	{"seccomp", do_seccomp},
	{"kexec_load", do_kexec_load},
	{"kexec_file_load", do_kexec_file_load},
	{"init_module", do_init_module},
	{"finit_module", do_finit_module},
	{"getrandom", do_getrandom},
	{"uname", do_uname},
	{"sysinfo", do_sysinfo},
	{"syslog", do_syslog},
	{"vhangup", do_vhangup},
	{"modify_ldt", do_modify_ldt},
	{"reboot", do_reboot},
	{"sethostname", do_sethostname},
	{"setdomainname", do_setdomainname},
	{"iopl", do_iopl},
	{"ioperm", do_ioperm},
	{"set_thread_area", do_set_thread_area},
	{"get_thread_area", do_get_thread_area},
	{"uretprobe", do_uretprobe},
	{"uprobe", do_uprobe},
	{NULL, NULL},
};
