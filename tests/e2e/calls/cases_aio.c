/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous I/O, of both kinds. */
#include "case.h"

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

struct aio {
	aio_context_t ctx;
	struct iocb cb, *cbs[1];
	struct io_event events[2];
	char data[8];
};

/* A read of the first bytes of a file, submitted. */
static void submit(struct aio *a, int fd)
{
	long res = CALL(io_setup, 4, P(&a->ctx));

	if (res)
		skip("io_setup: %s", strerror((int)-res));
	a->cb = (struct iocb){
		.aio_data = 0xda7a,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uintptr_t)a->data,
		.aio_nbytes = 5,
		.aio_offset = 2,
	};
	a->cbs[0] = &a->cb;
	res = CALL(io_submit, (long)a->ctx, 1L, P(a->cbs));
	say("io_submit res=%ld iocbs=DA7A:0(PREAD):%d", res, fd);
}

static void do_io_setup(void)
{
	aio_context_t ctx = 0;
	const long res = CALL(io_setup, 4, P(&ctx));

	if (res)
		skip("io_setup: %s", strerror((int)-res));
	say("io_setup res=%ld ctx=%lX nr_events=4", res, (long)ctx);
	say("io_setup res=%ld ctx=<NA> nr_events=0", CALL(io_setup, 0, P(&ctx)));
}

static void do_io_destroy(void)
{
	aio_context_t ctx = 0;

	if (CALL(io_setup, 4, P(&ctx)))
		skip("no asynchronous I/O");
	say("io_destroy res=%ld ctx=%lX", CALL(io_destroy, (long)ctx), (long)ctx);
	say("io_destroy res=%ld ctx=5", CALL(io_destroy, 5L));
}

static void do_io_submit(void)
{
	const int fd = make_file("f", "0123456789");
	struct aio a = {0};

	submit(&a, fd);
	say("io_submit res=%ld iocbs= ctx=5 nr=1", CALL(io_submit, 5L, 1L, 0L));
}

static void do_io_getevents(void)
{
	const int fd = make_file("f", "0123456789");
	struct timespec ts = {0, 5};
	struct aio a = {0};

	submit(&a, fd);
	say("io_getevents res=%ld events=DA7A:5 ctx=%lX min_nr=1 nr=2 timeout=<NA>",
	    CALL(io_getevents, (long)a.ctx, 1L, 2L, P(a.events), 0L), (long)a.ctx);
	say("io_getevents res=%ld events= ctx=5 min_nr=3 nr=2 timeout=5(5e-09s)",
	    CALL(io_getevents, 5L, 3L, 2L, P(a.events), P(&ts)));
}

static void do_io_pgetevents(void)
{
	const int fd = make_file("f", "0123456789");
	uint64_t mask = 1ull << (SIGUSR2 - 1);
	struct {
		uint64_t *mask;
		size_t sz;
	} sig = {&mask, 8};
	struct aio a = {0};

	submit(&a, fd);
	say("io_pgetevents res=%ld events=DA7A:5 ctx=%lX min_nr=1 nr=2 timeout=<NA> "
	    "sigmask=[SIGUSR2]",
	    CALL(io_pgetevents, (long)a.ctx, 1L, 2L, P(a.events), 0L, P(&sig)), (long)a.ctx);
	say("io_pgetevents res=%ld events= ctx=5 min_nr=3 nr=2 timeout=<NA> sigmask=<NA>",
	    CALL(io_pgetevents, 5L, 3L, 2L, P(a.events), 0L, 0L));
}

static void do_io_cancel(void)
{
	const int fd = make_file("f", "0123456789");
	struct aio a = {0};

	submit(&a, fd);
	say("io_cancel res=%ld event= ctx=%lX iocb=DA7A:0(PREAD):%d",
	    CALL(io_cancel, (long)a.ctx, P(&a.cb), P(a.events)), (long)a.ctx, fd);
	say("io_cancel res=%ld event= ctx=5 iocb=", CALL(io_cancel, 5L, 0L, 0L));
}

struct uring {
	struct io_uring_params params;
	long fd;
};

static struct uring make_uring(void)
{
	struct uring u = {.params = {.flags = 1 << 3, .cq_entries = 16}};

	u.fd = CALL(io_uring_setup, 4, P(&u.params));
	if (u.fd < 0)
		skip("io_uring_setup: %s", strerror((int)-u.fd));
	return u;
}

static void do_io_uring_setup(void)
{
	const struct uring u = make_uring();
	struct io_uring_params bad = {.flags = 1 << 2, .sq_thread_cpu = 9};

	say("io_uring_setup res=%ld entries=4 sq_entries=4 cq_entries=16 "
	    "flags=16(IORING_SETUP_CQSIZE) sq_thread_cpu=0 sq_thread_idle=0 features=%u",
	    u.fd, u.params.features);
	say("io_uring_setup res=%ld entries=1 sq_entries=0 cq_entries=0 "
	    "flags=8(IORING_SETUP_SQ_AFF) sq_thread_cpu=9",
	    CALL(io_uring_setup, 1, P(&bad)));
	say("close res=%ld fd=%ld(<r>)", CALL(close, u.fd), u.fd);
}

static void do_io_uring_enter(void)
{
	const struct uring u = make_uring();
	uint64_t mask = 1ull << (SIGUSR2 - 1);

	say("io_uring_enter res=%ld fd=%ld to_submit=0 min_complete=0 "
	    "flags=1(IORING_ENTER_GETEVENTS) sig=SIGUSR2",
	    CALL(io_uring_enter, u.fd, 0, 0, 1, P(&mask), 8L), u.fd);
	say("io_uring_enter res=%ld fd=-1 to_submit=3 min_complete=2 flags=0 sig=",
	    CALL(io_uring_enter, -1, 3, 2, 0, 0L, 0L));
}

static void do_io_uring_register(void)
{
	const struct uring u = make_uring();

	say("io_uring_register res=%ld fd=%ld opcode=12(IORING_REGISTER_ENABLE_RINGS) arg=0 "
	    "nr_args=0",
	    CALL(io_uring_register, u.fd, 12, 0L, 0), u.fd);
	say("io_uring_register res=%ld fd=-1 opcode=9(IORING_REGISTER_PERSONALITY) arg=5 nr_args=7",
	    CALL(io_uring_register, -1, 9, 5L, 7));
}

/* clang-format off */
const struct call_case cases_aio[] = {
	{"io_setup", do_io_setup},
	{"io_destroy", do_io_destroy},
	{"io_submit", do_io_submit},
	{"io_getevents", do_io_getevents},
	{"io_pgetevents", do_io_pgetevents},
	{"io_cancel", do_io_cancel},
	{"io_uring_setup", do_io_uring_setup},
	{"io_uring_enter", do_io_uring_enter},
	{"io_uring_register", do_io_uring_register},
	{NULL, NULL},
};
