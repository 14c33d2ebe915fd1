/* SPDX-License-Identifier: Apache-2.0 */
/* Futexes, System V and POSIX objects: private ones, removed before the end. */
#include "case.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/sem.h>

static void do_futex(void)
{
	int word = 5;

	say("futex res=%ld addr=%lX op=128 val=6", CALL(futex, P(&word), FUTEX_WAIT_PRIVATE, 6, 0L),
	    P(&word));
	say("futex res=%ld addr=%lX op=129 val=1", CALL(futex, P(&word), FUTEX_WAKE_PRIVATE, 1, 0L),
	    P(&word));
}

static void do_semget(void)
{
	const long id = CALL(semget, IPC_PRIVATE, 2, 0600);

	say("semget res=%ld key=0 nsems=2 semflg=384", id);
	semctl((int)id, 0, IPC_RMID);
	say("semget res=%ld key=0 nsems=-1 semflg=0", CALL(semget, IPC_PRIVATE, -1, 0));
}

/* clang-format off */
const struct call_case cases_ipc[] = {
	{"semget", do_semget},
	{"futex", do_futex},
	{NULL, NULL},
};
