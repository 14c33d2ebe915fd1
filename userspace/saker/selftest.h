/* SPDX-License-Identifier: Apache-2.0 */
/* saker selftest --unwind: compares stacks with those of another unwinder for the same samples. */
#ifndef SAKER_SELFTEST_H
#define SAKER_SELFTEST_H

struct options;

/* Returns the exit status. */
int selftest_run(const struct options *o);

#endif /* SAKER_SELFTEST_H */
