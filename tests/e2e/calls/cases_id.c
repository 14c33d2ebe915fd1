/* SPDX-License-Identifier: Apache-2.0 */
/* Users, groups, capabilities and limits. */
#include "case.h"

#include <linux/capability.h>
#include <stddef.h>
#include <sys/resource.h>

static void do_getuid(void)
{
	say("getuid uid=%ld", CALL(getuid));
}

static void do_geteuid(void)
{
	say("geteuid euid=%ld", CALL(geteuid));
}

static void do_getgid(void)
{
	say("getgid gid=%ld", CALL(getgid));
}

static void do_getegid(void)
{
	say("getegid egid=%ld", CALL(getegid));
}

static void do_getresuid(void)
{
	unsigned int a, b, c;
	const long res = CALL(getresuid, P(&a), P(&b), P(&c));

	say("getresuid res=%ld ruid=%u euid=%u suid=%u", res, a, b, c);
	say("getresuid res=%ld", CALL(getresuid, 1L, 1L, 1L));
}

static void do_getresgid(void)
{
	unsigned int a, b, c;
	const long res = CALL(getresgid, P(&a), P(&b), P(&c));

	say("getresgid res=%ld rgid=%u egid=%u sgid=%u", res, a, b, c);
	say("getresgid res=%ld", CALL(getresgid, 1L, 1L, 1L));
}

static void do_setuid(void)
{
	say("setuid res=%ld uid=7", CALL(setuid, 7));
	say("setuid res=%ld uid=8", CALL(setuid, 8));
}

static void do_setgid(void)
{
	say("setgid res=%ld gid=7", CALL(setgid, 7));
	say("setgid res=%ld gid=-1", CALL(setgid, -1));
}

static void do_setreuid(void)
{
	say("setreuid res=%ld ruid=-1 euid=0", CALL(setreuid, -1, 0));
	say("setreuid res=%ld ruid=7 euid=7", CALL(setreuid, 7, 7));
	say("setreuid res=%ld ruid=0 euid=0", CALL(setreuid, 0, 0));
}

static void do_setregid(void)
{
	say("setregid res=%ld rgid=0 egid=-1", CALL(setregid, 0, -1));
	CALL(setuid, 7);
	say("setregid res=%ld rgid=3 egid=3", CALL(setregid, 3, 3));
}

static void do_setresuid(void)
{
	say("setresuid res=%ld ruid=7 euid=7 suid=7", CALL(setresuid, 7, 7, 7));
	say("setresuid res=%ld ruid=0 euid=0 suid=-1", CALL(setresuid, 0, 0, -1));
}

static void do_setresgid(void)
{
	say("setresgid res=%ld rgid=0 egid=-1 sgid=0", CALL(setresgid, 0, -1, 0));
	CALL(setuid, 7);
	say("setresgid res=%ld rgid=3 egid=3 sgid=3", CALL(setresgid, 3, 3, 3));
}

static void do_capset(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];
	long res;

	CALL(capget, P(&head), P(caps));
	caps[0].inheritable = 1 << CAP_CHOWN;
	res = CALL(capset, P(&head), P(caps));
	say("capset res=%ld cap_inheritable=1 cap_permitted=%lX cap_effective=%lX", res,
	    (long)caps[1].permitted << 32 | caps[0].permitted,
	    (long)caps[1].effective << 32 | caps[0].effective);
	head.version = 0;
	say("capset res=%ld cap_inheritable=1", CALL(capset, P(&head), P(caps)));
}

static void do_setrlimit(void)
{
	const struct rlimit r = {64, 128};

	say("setrlimit res=%ld cur=64 max=128 resource=4", CALL(setrlimit, RLIMIT_CORE, P(&r)));
	say("setrlimit res=%ld cur=64 max=128 resource=255", CALL(setrlimit, 99, P(&r)));
}

static void do_getrlimit(void)
{
	struct rlimit r = {64, 128};

	setrlimit(RLIMIT_CORE, &r);
	say("getrlimit res=%ld cur=64 max=128 resource=4", CALL(getrlimit, RLIMIT_CORE, P(&r)));
	say("getrlimit res=%ld cur=<NA> max=<NA> resource=255", CALL(getrlimit, 99, P(&r)));
}

static void do_prlimit64(void)
{
	struct rlimit r = {64, 128}, was;

	setrlimit(RLIMIT_CORE, &r);
	r.rlim_cur = 32;
	say("prlimit res=%ld newcur=32 newmax=128 oldcur=64 oldmax=128 pid=0 resource=4",
	    CALL(prlimit64, 0, RLIMIT_CORE, P(&r), P(&was)));
	say("prlimit res=%ld newcur=<NA> newmax=<NA> oldcur=32 oldmax=128 pid=0 resource=4",
	    CALL(prlimit64, 0, RLIMIT_CORE, 0L, P(&r)));
	say("prlimit res=%ld newcur=<NA> oldcur=<NA> oldmax=<NA> pid=0 resource=255",
	    CALL(prlimit64, 0, 99, 0L, P(&r)));
	r = (struct rlimit){32, RLIM_INFINITY};
	say("prlimit res=%ld newcur=32 newmax=-1 oldcur=<NA> oldmax=<NA> pid=0 resource=14",
	    CALL(prlimit64, 0, RLIMIT_RTPRIO, P(&r), 0L));
	r = (struct rlimit){16, 128}; /* the old one goes where the new one was */
	say("prlimit res=%ld newcur=16 newmax=128 oldcur=32 oldmax=128 pid=0 resource=4",
	    CALL(prlimit64, 0, RLIMIT_CORE, P(&r), P(&r)));
}

static const unsigned int gids[2] = {4000000, 4000001};

static void do_setgroups(void)
{
	say("setgroups res=%ld list=4000000(<NA>),4000001(<NA>) size=2",
	    CALL(setgroups, 2, P(gids)));
	say("setgroups res=%ld list=<NA> size=2", CALL(setgroups, 2, 0L));
	say("setgroups res=%ld list=<NA> size=-1", CALL(setgroups, -1, P(gids)));
}

static void do_getgroups(void)
{
	unsigned int got[8];

	CALL(setgroups, 2, P(gids));
	say("getgroups res=%ld list=4000000(<NA>),4000001(<NA>) size=8",
	    CALL(getgroups, 8, P(got)));
	say("getgroups res=%ld list=<NA> size=0", CALL(getgroups, 0, P(got)));
	say("getgroups res=%ld list=<NA> size=1", CALL(getgroups, 1, P(got)));
}

static void do_setfsuid(void)
{
	say("setfsuid res=%ld fsuid=7", CALL(setfsuid, 7));
	say("setfsuid res=%ld fsuid=-1", CALL(setfsuid, -1));
}

static void do_setfsgid(void)
{
	say("setfsgid res=%ld fsgid=7", CALL(setfsgid, 7));
	say("setfsgid res=%ld fsgid=-1", CALL(setfsgid, -1));
}

static void do_capget(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];
	long res = CALL(capget, P(&head), P(caps));

	caps[0].inheritable = 1 << CAP_KILL;
	caps[1].inheritable = caps[1].permitted & 1 << (CAP_SYSLOG - 32);
	CALL(capset, P(&head), P(caps));
	res = CALL(capget, P(&head), P(caps));
	say("capget res=%ld effective=%lX permitted=%lX inheritable=%lX(CAP_KILL%s) "
	    "version=537396514(_LINUX_CAPABILITY_VERSION_3) pid=0",
	    res, (long)caps[1].effective << 32 | caps[0].effective,
	    (long)caps[1].permitted << 32 | caps[0].permitted,
	    (long)caps[1].inheritable << 32 | caps[0].inheritable,
	    caps[1].inheritable ? "|CAP_SYSLOG" : "");
	head.version = _LINUX_CAPABILITY_VERSION_1;
	caps[1].inheritable = 3;
	say("capget res=%ld inheritable=%X(CAP_KILL) "
	    "version=429392688(_LINUX_CAPABILITY_VERSION_1)",
	    CALL(capget, P(&head), P(caps)), 1 << CAP_KILL);
	head = (struct __user_cap_header_struct){_LINUX_CAPABILITY_VERSION_3, -5};
	say("capget res=%ld effective=<NA> permitted=<NA> inheritable=<NA> pid=-5",
	    CALL(capget, P(&head), P(caps)));
	say("capget res=%ld effective=<NA> version=<NA> pid=<NA>", CALL(capget, 1L, P(caps)));
}

/* clang-format off */
const struct call_case cases_id[] = {
	{"getrlimit", do_getrlimit},
	{"getuid", do_getuid},
	{"getgid", do_getgid},
	{"setuid", do_setuid},
	{"setgid", do_setgid},
	{"geteuid", do_geteuid},
	{"getegid", do_getegid},
	{"setreuid", do_setreuid},
	{"setregid", do_setregid},
	{"setresuid", do_setresuid},
	{"getresuid", do_getresuid},
	{"setresgid", do_setresgid},
	{"getresgid", do_getresgid},
	{"capset", do_capset},
	{"setrlimit", do_setrlimit},
	{"prlimit64", do_prlimit64},
	{"getgroups", do_getgroups},
	{"setgroups", do_setgroups},
	{"setfsuid", do_setfsuid},
	{"setfsgid", do_setfsgid},
	{"capget", do_capget},
	{NULL, NULL},
};
