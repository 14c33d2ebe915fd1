/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts: with arguments that must fail, or in a mount namespace of the case's own. */
#include "case.h"

#include <stddef.h>
#include <sys/mount.h>

static void do_mount(void)
{
	say("mount res=%ld dev=nodev dir=none type=nofs flags=9",
	    CALL(mount, P("nodev"), P("none"), P("nofs"), MS_RDONLY | MS_NOEXEC));
}

static void do_umount2(void)
{
	say("umount2 res=%ld name=none flags=2", CALL(umount2, P("none"), MNT_DETACH));
}

/* clang-format off */
const struct call_case cases_mount[] = {
	{"mount", do_mount},
	{"umount2", do_umount2},
	{NULL, NULL},
};
