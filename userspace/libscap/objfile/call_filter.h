/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of system calls (seccomp), made from tables of rules. */
#ifndef SCAP_OBJFILE_CALL_FILTER_H
#define SCAP_OBJFILE_CALL_FILTER_H

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

enum call_test { CALL_ANY, CALL_IF_EQUAL, CALL_IF_OTHER, CALL_IF_SET, CALL_IF_CLEAR };

/* The first row whose condition holds decides the call. */
struct call_rule {
	uint16_t nr;
	uint8_t test; /* enum call_test: compares the low 32 bits of an argument with @value */
	uint8_t arg; /* number of the argument */
	uint32_t value;
	uint32_t then; /* CALL_ALLOW, CALL_REFUSE, ... */
};

/* Refused calls fail instead of killing, since libraries try calls such as open. */
#define CALL_ALLOW SECCOMP_RET_ALLOW
#define CALL_REFUSE (SECCOMP_RET_ERRNO | 1 /* EPERM */)
#define CALL_UNKNOWN (SECCOMP_RET_ERRNO | 38 /* ENOSYS: libraries use an older call */)

enum {
	CALL_RULES_MAX = 256,
	CALL_NEWEST = 450, /* newer calls are unknown to the tables: CALL_UNKNOWN */
};

/*
 * The calling thread, and those and the processes that it starts, can make only calls that the
 * rules allow; @otherwise applies to calls without a row. It must have no_new_privs set. Returns 0
 * or a negative errno.
 */
int call_filter_install(const struct call_rule *rules, size_t n, uint32_t otherwise);

#endif /* SCAP_OBJFILE_CALL_FILTER_H */
