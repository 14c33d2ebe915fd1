/* SPDX-License-Identifier: Apache-2.0 */
/* saker selftest --unwind: are stacks what another unwinder makes of the same samples? */
#ifndef SAKER_SELFTEST_H
#define SAKER_SELFTEST_H

struct options;

/* The exit status. */
int selftest_run(const struct options *o);

#endif /* SAKER_SELFTEST_H */
