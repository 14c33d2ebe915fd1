/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal while the screen is open: its modes, signals, and what is printed meanwhile. However
 * saker ends, except by SIGKILL, the terminal gets its modes back.
 */
#ifndef SAKER_TOP_TERM_H
#define SAKER_TOP_TERM_H

#include "sinsp.h"

/* Opens the screen. Returns 0, or a negative errno after reporting it. */
int top_term_open(int no_colour);
/* Restores the terminal, then prints what went to standard error meanwhile. */
void top_term_close(void);

int top_term_is_utf8(void);

/* Draws what changed. */
void top_term_refresh(void);
/* Returns the next key that was pressed, a code of ncurses; ERR: none. */
int top_term_key(void);

/* Returns a descriptor that is readable when a signal came. */
int top_term_signal_fd(void);
/* Handles the signals that came: stops, goes on, resizes. Returns the one that ends saker; 0: none.
 */
int top_term_signals(void);

/* Appends the last line that was printed to standard error since the last call. Returns 1; 0: none;
 * -ENOMEM. */
int top_term_message(struct sinsp_text *out);

/* Runs a program (words, ends with NULL) on the restored terminal until it ends; @waits: then until
 * Enter. Returns 0 or a negative errno: it did not start. */
int top_term_run(char *const *words, int waits);

/* Whether the terminal reports moves of the mouse while a button is held. */
void top_term_drag(int on);

#endif /* SAKER_TOP_TERM_H */
