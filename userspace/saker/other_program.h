/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are executables of their own, in the folder of saker: what they link is not linked
 * here. */
#ifndef SAKER_OTHER_PROGRAM_H
#define SAKER_OTHER_PROGRAM_H

/* Returns whether the command line begins with such a command, or with help and its name. */
int other_program_is_named(int argc, char **argv);

/* Replaces this process by it. Returns an exit status after reporting why that failed. */
int other_program_run(int argc, char **argv);

/* Runs it as a child. Returns its exit status. */
int other_program_wait(int argc, char **argv);

#endif /* SAKER_OTHER_PROGRAM_H */
