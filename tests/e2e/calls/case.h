/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cases of the conformance suite share. A case makes a system call, at least once
 * so that it succeeds and once so that it fails where that is possible, and says for each what
 * its line must contain. It runs in a child of its own, in an empty directory of its own, alone
 * in its thread: what it leaves behind is gone with it. Calls that could harm the machine are
 * made with arguments that must fail, or in own namespaces.
 */
#ifndef CALLS_CASE_H
#define CALLS_CASE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <unistd.h>

/* Every call by its number, as the machine's headers may be older than the call. */
enum {
#define SYS(nr, name, ...) NR_##name = nr,
#include "syscalls.def"
#undef SYS
};

struct call_case {
	const char *name; /* of the call, as in syscalls.def; ends with NULL */
	void (*fn)(void);
};

/* The families, each a file cases_NAME.c. */
#define CALL_FAMILIES(X)                                                                           \
	X(file)                                                                                    \
	X(path)                                                                                    \
	X(xattr)                                                                                   \
	X(mount)                                                                                   \
	X(fd)                                                                                      \
	X(wait)                                                                                    \
	X(net)                                                                                     \
	X(mem)                                                                                     \
	X(proc)                                                                                    \
	X(sched)                                                                                   \
	X(id)                                                                                      \
	X(signal)                                                                                  \
	X(time)                                                                                    \
	X(ipc)                                                                                     \
	X(aio)                                                                                     \
	X(system)
#define X(family) extern const struct call_case cases_##family[];
CALL_FAMILIES(X)
#undef X

/*
 * "NAME key=value ...": the exit of the next call NAME of this case must say so. Values may be
 * followed by their meaning in parentheses, which need not be said; what is left out may be
 * anything. "> NAME ..." is an enter: of a call that does not return.
 */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same of another thread or process, which this case made. */
void say_of(long tid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Ends the case: why it cannot be made here. It does not count as covered. */
void skip(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Ends the case as failed: what the case itself needs, and is always there. */
void broken(const char *what) __attribute__((noreturn));

/* The call @nr, as the kernel has it: negative errno on failure. */
static inline long call(long nr, const long *a)
{
	long res = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	return res < 0 ? -errno : res;
}

#define CALL(name, ...) call(NR_##name, (const long[6]){__VA_ARGS__})
#define P(x) ((long)(x))

/* A time as saker prints it in UTC. The text stays until the fourth call from now. */
const char *when(long sec, long nsec);

/* This program: run with the argument "exit" it does no more than exit(7). */
extern char self_path[];

/* An open file (O_RDWR) @name of this directory that consists of @text. */
int make_file(const char *name, const char *text);

#endif /* CALLS_CASE_H */
