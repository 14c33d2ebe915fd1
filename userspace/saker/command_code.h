/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps the code of a command before it is executed: its program, or the one that runs its script,
 * the loader, and the libraries that this would map. Who reads the mappings of this process then
 * knows these files before the first instruction of the command.
 */
#ifndef SAKER_COMMAND_CODE_H
#define SAKER_COMMAND_CODE_H

/* Maps the code of the program that execve of @path would run, until the exec. In the child. A file
 * that cannot be read is left out. */
void command_code_map(const char *path);

#endif /* SAKER_COMMAND_CODE_H */
