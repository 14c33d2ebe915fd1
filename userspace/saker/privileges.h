/* SPDX-License-Identifier: Apache-2.0 */
/* Privileges: root only where it is needed. */
#ifndef SAKER_PRIVILEGES_H
#define SAKER_PRIVILEGES_H

/* Returns whether programs can be loaded; else reports that @what, such as "sampling stacks", needs
 * more privileges. @command: that which the user would repeat as root. */
int privileges_allow(const char *what, const char *command);

/*
 * Drops capabilities once everything is open: keeps those for reading the rings and /proc and for
 * signalling the command, if stacks are named those for reading names, and if files are created
 * later that for folders of other users. A capability that cannot be dropped is kept silently.
 */
void privileges_drop(int names_stacks, int creates_files);

/* As privileges_drop(0, 0), and keeps the capability to change nice values. */
void privileges_drop_to_control(void);

/* Replay needs none, except to open files of other users, and those that names of stacks are read
 * from. */
void privileges_drop_to_replay(int opens_files, int names_stacks);

/* In the thread that queries container engines, and in the process that renames a file: keeps only
 * what sockets and folders of other users need. */
void privileges_drop_to_files(void);

/* In a thread that serves clients: keeps none. */
void privileges_drop_all(void);

#endif /* SAKER_PRIVILEGES_H */
