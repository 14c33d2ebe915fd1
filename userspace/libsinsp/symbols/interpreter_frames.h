/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hides the native frames of an interpreter in mixed stacks. A developer of the language sees the
 * functions of the language, and between them what a library function does, as sorted(): the loop
 * and the calls that lead to it are hidden.
 */
#ifndef SINSP_SYMBOLS_INTERPRETER_FRAMES_H
#define SINSP_SYMBOLS_INTERPRETER_FRAMES_H

#include "symbol_cache.h"

/*
 * Copies @n frames, innermost first, without internal ones. Of the interpreter's
 * frames between two of the language one stays: the outermost that is not only a call. Returns
 * their number.
 */
size_t hide_interpreter_frames(struct sinsp_frame *to, const struct sinsp_frame *from, size_t n);

#endif /* SINSP_SYMBOLS_INTERPRETER_FRAMES_H */
