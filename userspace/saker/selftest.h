/* SPDX-License-Identifier: Apache-2.0 */
/* saker selftest --unwind: are stacks what another unwinder makes of the same samples? */
#ifndef SAKER_SELFTEST_H
#define SAKER_SELFTEST_H

int selftest_run(int argc, char **argv);

#endif /* SAKER_SELFTEST_H */
