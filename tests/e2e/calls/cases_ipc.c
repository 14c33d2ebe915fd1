/* SPDX-License-Identifier: Apache-2.0 */
/* Futexes, System V and POSIX objects: private ones, removed before the end. */
#include "case.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <time.h>

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

static void do_semop(void)
{
	struct sembuf ops[2] = {{1, 3, SEM_UNDO}, {0, 0, IPC_NOWAIT}};
	const long id = CALL(semget, IPC_PRIVATE, 2, 0600);

	say("semop res=%ld nsops=2 sem_num_0=1 sem_op_0=3 sem_flg_0=2(SEM_UNDO) sem_num_1=0 "
	    "sem_op_1=0 sem_flg_1=1(IPC_NOWAIT) semid=%ld",
	    CALL(semop, id, P(ops), 2L), id);
	ops[0] = (struct sembuf){0, -1, IPC_NOWAIT};
	say("semop res=%ld nsops=1 sem_num_0=0 sem_op_0=-1 sem_flg_0=1 sem_num_1=0 sem_op_1=0 "
	    "sem_flg_1=0 semid=%ld",
	    CALL(semop, id, P(ops), 1L), id);
	semctl((int)id, 0, IPC_RMID);
}

static void do_semctl(void)
{
	const long id = CALL(semget, IPC_PRIVATE, 2, 0600);

	say("semctl res=%ld semid=%ld semnum=1 cmd=4096(SETVAL) val=7",
	    CALL(semctl, id, 1, SETVAL, 7L), id);
	say("semctl res=%ld semid=%ld semnum=1 cmd=512(GETVAL) val=0",
	    CALL(semctl, id, 1, GETVAL, 0L), id);
	say("semctl res=%ld semid=%ld semnum=0 cmd=4(IPC_RMID) val=0",
	    CALL(semctl, id, 0, IPC_RMID, 0L), id);
	say("semctl res=%ld semid=-1 semnum=0 cmd=4(IPC_RMID) val=0",
	    CALL(semctl, -1, 0, IPC_RMID, 0L));
}

static void do_semtimedop(void)
{
	struct sembuf ops[2] = {{1, 3, SEM_UNDO}, {0, 0, IPC_NOWAIT}};
	const long id = CALL(semget, IPC_PRIVATE, 2, 0600);
	struct timespec ts = {0, 3000000};

	say("semtimedop res=%ld semid=%ld sops=1:3:4096(SEM_UNDO) 0:0:2048(IPC_NOWAIT) nsops=2 "
	    "timeout=<NA>",
	    CALL(semtimedop, id, P(ops), 2L, 0L), id);
	ops[0] = (struct sembuf){0, -1, 0};
	say("semtimedop res=%ld semid=%ld sops=0:-1:0 nsops=1 timeout=3000000(0.003s)",
	    CALL(semtimedop, id, P(ops), 1L, P(&ts)), id);
	semctl((int)id, 0, IPC_RMID);
}

static void do_shmget(void)
{
	const long id = CALL(shmget, IPC_PRIVATE, 5000L, IPC_CREAT | 0600);

	say("shmget res=%ld key=0 size=5000 shmflg=01600(IPC_CREAT)", id);
	shmctl((int)id, IPC_RMID, NULL);
	say("shmget res=%ld key=5AFE size=1 shmflg=0", CALL(shmget, 0x5afe, 1L, 0));
}

static void do_shmat(void)
{
	const long id = CALL(shmget, IPC_PRIVATE, 5000L, 0600);

	say("shmat res=%lX shmid=%ld shmaddr=0 shmflg=4096(SHM_RDONLY)",
	    CALL(shmat, id, 0L, SHM_RDONLY), id);
	shmctl((int)id, IPC_RMID, NULL);
	say("shmat res=%ld shmid=-1 shmaddr=1000 shmflg=8192(SHM_RND)",
	    CALL(shmat, -1, 0x1000L, SHM_RND));
}

static void do_shmdt(void)
{
	const long id = CALL(shmget, IPC_PRIVATE, 5000L, 0600), at = CALL(shmat, id, 0L, 0);

	say("shmdt res=%ld shmaddr=%lX", CALL(shmdt, at), at);
	shmctl((int)id, IPC_RMID, NULL);
	say("shmdt res=%ld shmaddr=1000", CALL(shmdt, 0x1000L));
}

static void do_shmctl(void)
{
	const long id = CALL(shmget, IPC_PRIVATE, 5000L, 0640), at = CALL(shmat, id, 0L, 0);
	struct shmid_ds ds;

	say("shmctl res=%ld uid=%d gid=%d mode=0640 size=5000 nattch=1 cpid=%d lpid=%d shmid=%ld "
	    "cmd=2(IPC_STAT)",
	    CALL(shmctl, id, IPC_STAT, P(&ds)), getuid(), getgid(), getpid(), getpid(), id);
	ds.shm_perm.mode = 0604;
	say("shmctl res=%ld uid=%d gid=%d mode=0604 size=<NA> nattch=<NA> cpid=<NA> lpid=<NA> "
	    "shmid=%ld cmd=1(IPC_SET)",
	    CALL(shmctl, id, IPC_SET, P(&ds)), getuid(), getgid(), id);
	CALL(shmdt, at);
	say("shmctl res=%ld uid=<NA> gid=<NA> mode=<NA> size=<NA> nattch=<NA> cpid=<NA> lpid=<NA> "
	    "shmid=%ld cmd=0(IPC_RMID)",
	    CALL(shmctl, id, IPC_RMID, P(&ds)), id);
	say("shmctl res=%ld uid=<NA> size=<NA> shmid=%ld cmd=2(IPC_STAT)",
	    CALL(shmctl, id, IPC_STAT, P(&ds)), id);
}

static void do_msgget(void)
{
	const long id = CALL(msgget, IPC_PRIVATE, IPC_CREAT | IPC_EXCL | 0600);

	say("msgget res=%ld key=0 msgflg=03600(IPC_CREAT|IPC_EXCL)", id);
	msgctl((int)id, IPC_RMID, NULL);
	say("msgget res=%ld key=5AFE msgflg=0", CALL(msgget, 0x5afe, 0));
}

struct message {
	long type;
	char text[8];
};

static void do_msgsnd(void)
{
	const long id = CALL(msgget, IPC_PRIVATE, 0600);
	struct message m = {5, "hello"};

	say("msgsnd res=%ld msqid=%ld mtype=5 data=hello msgsz=5 msgflg=2048(IPC_NOWAIT)",
	    CALL(msgsnd, id, P(&m), 5L, IPC_NOWAIT), id);
	msgctl((int)id, IPC_RMID, NULL);
	say("msgsnd res=%ld msqid=-1 mtype=<NA> data= msgsz=4 msgflg=0",
	    CALL(msgsnd, -1, 1L, 4L, 0));
}

static void do_msgrcv(void)
{
	const long id = CALL(msgget, IPC_PRIVATE, 0600);
	struct message m = {5, "hello"};

	CALL(msgsnd, id, P(&m), 5L, 0);
	say("msgrcv res=%ld mtype=5 data=hello msqid=%ld msgsz=8 msgtyp=-6 msgflg=0",
	    CALL(msgrcv, id, P(&m), 8L, -6L, 0), id);
	say("msgrcv res=%ld mtype=<NA> data= msqid=%ld msgsz=8 msgtyp=0 msgflg=2048(IPC_NOWAIT)",
	    CALL(msgrcv, id, P(&m), 8L, 0L, IPC_NOWAIT), id);
	msgctl((int)id, IPC_RMID, NULL);
}

static void do_msgctl(void)
{
	const long id = CALL(msgget, IPC_PRIVATE, 0640);
	struct message m = {5, "hello"};
	struct msqid_ds ds;

	CALL(msgsnd, id, P(&m), 5L, 0);
	CALL(msgctl, id, IPC_STAT, P(&ds));
	say("msgctl res=0 uid=%d gid=%d mode=0640 qnum=1 qbytes=%ld lspid=%d lrpid=0 msqid=%ld "
	    "cmd=2(IPC_STAT)",
	    getuid(), getgid(), (long)ds.msg_qbytes, getpid(), id);
	ds.msg_qbytes = 4096;
	say("msgctl res=%ld uid=%d mode=0640 qnum=<NA> qbytes=4096 lspid=<NA> msqid=%ld "
	    "cmd=1(IPC_SET)",
	    CALL(msgctl, id, IPC_SET, P(&ds)), getuid(), id);
	say("msgctl res=%ld uid=<NA> msqid=%ld cmd=0(IPC_RMID)", CALL(msgctl, id, IPC_RMID, 0L),
	    id);
	say("msgctl res=%ld uid=<NA> msqid=-1 cmd=2(IPC_STAT)", CALL(msgctl, -1, IPC_STAT, P(&ds)));
}

/* A queue with a unique name, removed before the end. */
static long make_queue(void)
{
	struct mq_attr attr = {.mq_maxmsg = 3, .mq_msgsize = 20};
	char name[32];
	long fd;

	snprintf(name, sizeof(name), "saker-%d", getpid());
	fd = CALL(mq_open, P(name), O_CREAT | O_EXCL | O_RDWR | O_NONBLOCK, 0600, P(&attr));
	if (fd < 0)
		skip("mq_open: %s", strerror(errno));
	CALL(mq_unlink, P(name));
	return fd;
}

static void do_mq_open(void)
{
	const long fd = make_queue();

	say("mq_open fd=%ld name=saker-%d oflag=103(O_NONBLOCK|O_EXCL|O_CREAT|O_RDWR) mode=0600 "
	    "maxmsg=3 msgsize=20",
	    fd, getpid());
	say("mq_open fd=%ld name=saker-none oflag=1(O_RDONLY) mode=0 maxmsg=<NA> msgsize=<NA>",
	    CALL(mq_open, P("saker-none"), O_RDONLY, 0600, 1L));
	say("mq_open fd=%ld name=<NA> oflag=1(O_RDONLY) mode=0", CALL(mq_open, 1L, 0, 0, 0L));
	say("close res=%ld fd=%ld(<f>/saker-%d)", CALL(close, fd), fd, getpid());
}

static void do_mq_unlink(void)
{
	make_queue();
	say("mq_unlink res=0 name=saker-%d", getpid());
	say("mq_unlink res=%ld name=saker-none", CALL(mq_unlink, P("saker-none")));
}

static void do_mq_timedsend(void)
{
	const long fd = make_queue();
	struct timespec ts = {1, 5};

	say("mq_timedsend res=%ld mqdes=%ld(<f>/saker-%d) data=hello msg_len=5 msg_prio=3 "
	    "abs_timeout=<NA>",
	    CALL(mq_timedsend, fd, P("hello"), 5L, 3, 0L), fd, getpid());
	say("mq_timedsend res=%ld mqdes=-1 data=hel msg_len=3 msg_prio=0",
	    CALL(mq_timedsend, -1, P("hel"), 3L, 0, P(&ts)));
}

static void do_mq_timedreceive(void)
{
	const long fd = make_queue();
	unsigned int prio;
	char b[32];

	CALL(mq_timedsend, fd, P("hello"), 5L, 3, 0L);
	say("mq_timedreceive res=%ld data=hello msg_prio=3 mqdes=%ld msg_len=32 abs_timeout=<NA>",
	    CALL(mq_timedreceive, fd, P(b), 32L, P(&prio), 0L), fd);
	say("mq_timedreceive res=%ld data= msg_prio=<NA> mqdes=%ld msg_len=32 abs_timeout=<NA>",
	    CALL(mq_timedreceive, fd, P(b), 32L, P(&prio), 0L), fd);
}

static void do_mq_notify(void)
{
	const long fd = make_queue();
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};

	e.sigev_value.sival_ptr = (void *)0xabcdefl;
	say("mq_notify res=%ld mqdes=%ld notify=0(SIGEV_SIGNAL) signo=12(SIGUSR2) value=ABCDEF",
	    CALL(mq_notify, fd, P(&e)), fd);
	say("mq_notify res=%ld mqdes=%ld notify=<NA> signo=<NA> value=<NA>",
	    CALL(mq_notify, fd, 0L), fd);
	say("mq_notify res=%ld mqdes=-1 notify=<NA>", CALL(mq_notify, -1, 0L));
}

static void do_mq_getsetattr(void)
{
	const long fd = make_queue();
	struct mq_attr new = {.mq_flags = 0}, old;

	say("mq_getsetattr res=%ld flags=2048(O_NONBLOCK) maxmsg=3 msgsize=20 curmsgs=0 "
	    "mqdes=%ld newflags=0",
	    CALL(mq_getsetattr, fd, P(&new), P(&old)), fd);
	say("mq_getsetattr res=%ld flags=<NA> maxmsg=<NA> mqdes=-1 newflags=<NA>",
	    CALL(mq_getsetattr, -1, 0L, P(&old)));
}

/* struct futex_waitv; part of the ABI. */
struct waiter {
	unsigned long val, uaddr;
	unsigned int flags, pad;
};

#define FUTEX2_U32_PRIVATE 0x82

static unsigned int word = 5, other = 6;

static void do_futex_waitv(void)
{
	const struct waiter w[2] = {{7, (unsigned long)&word, FUTEX2_U32_PRIVATE, 0},
				    {6, (unsigned long)&other, FUTEX2_U32_PRIVATE, 0}};
	const struct timespec ts = {3, 4};

	say("futex_waitv res=%ld uaddr=%lX val=7 waiter_flags=130(FUTEX2_PRIVATE|FUTEX2_SIZE_U32) "
	    "nr_futexes=2 flags=0 timeout=3000000004 clockid=1",
	    CALL(futex_waitv, P(w), 2, 0, P(&ts), CLOCK_MONOTONIC), P(&word));
	say("futex_waitv res=%ld uaddr=<NA> val=<NA> waiter_flags=<NA> nr_futexes=999 flags=1 "
	    "timeout=<NA> clockid=0",
	    CALL(futex_waitv, 1L, 999, 1, 0L, CLOCK_REALTIME));
}

static void do_futex_wake(void)
{
	say("futex_wake res=%ld uaddr=%lX mask=FFFF nr=3 flags=130(FUTEX2_PRIVATE|FUTEX2_SIZE_U32)",
	    CALL(futex_wake, P(&word), 0xffffL, 3, FUTEX2_U32_PRIVATE), P(&word));
	say("futex_wake res=%ld uaddr=1 mask=0 nr=-1 flags=2(FUTEX2_SIZE_U32)",
	    CALL(futex_wake, 1L, 0L, -1, 2));
}

static void do_futex_wait(void)
{
	const struct timespec past = {0, 7};

	say("futex_wait res=%ld uaddr=%lX val=5 mask=1 flags=130 timeout=7 clockid=1",
	    CALL(futex_wait, P(&word), 5L, 1L, FUTEX2_U32_PRIVATE, P(&past), CLOCK_MONOTONIC),
	    P(&word));
	say("futex_wait res=%ld uaddr=%lX val=9 mask=FF flags=130 timeout=<NA> clockid=0",
	    CALL(futex_wait, P(&word), 9L, 0xffL, FUTEX2_U32_PRIVATE, 0L, 0), P(&word));
}

static void do_futex_requeue(void)
{
	struct waiter w[2] = {{5, (unsigned long)&word, FUTEX2_U32_PRIVATE, 0},
			      {0, (unsigned long)&other, FUTEX2_U32_PRIVATE, 0}};

	say("futex_requeue res=%ld uaddr1=%lX val=5 flags1=130 uaddr2=%lX flags2=130 flags=0 "
	    "nr_wake=1 nr_requeue=2",
	    CALL(futex_requeue, P(w), 0, 1, 2), P(&word), P(&other));
	w[0].val = 77;
	say("futex_requeue res=%ld uaddr1=%lX val=77 flags=0 nr_wake=3 nr_requeue=-4",
	    CALL(futex_requeue, P(w), 0, 3, -4), P(&word));
}

/* clang-format off */
const struct call_case cases_ipc[] = {
	{"semget", do_semget},
	{"futex", do_futex},
	{"semop", do_semop},
	{"semctl", do_semctl},
	{"semtimedop", do_semtimedop},
	{"shmget", do_shmget},
	{"shmat", do_shmat},
	{"shmdt", do_shmdt},
	{"shmctl", do_shmctl},
	{"msgget", do_msgget},
	{"msgsnd", do_msgsnd},
	{"msgrcv", do_msgrcv},
	{"msgctl", do_msgctl},
	{"mq_open", do_mq_open},
	{"mq_unlink", do_mq_unlink},
	{"mq_timedsend", do_mq_timedsend},
	{"mq_timedreceive", do_mq_timedreceive},
	{"mq_notify", do_mq_notify},
	{"mq_getsetattr", do_mq_getsetattr},
	{"futex_waitv", do_futex_waitv},
	{"futex_wake", do_futex_wake},
	{"futex_wait", do_futex_wait},
	{"futex_requeue", do_futex_requeue},
	{NULL, NULL},
};
