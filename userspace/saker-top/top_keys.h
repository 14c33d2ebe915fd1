/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the screen: one table, from which the bar, the help, --list-keys and the man page
 * come. */
#ifndef SAKER_TOP_KEYS_H
#define SAKER_TOP_KEYS_H

#include "sinsp.h"

enum top_action {
	TOP_KEY_NONE,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_FIRST,
	TOP_KEY_LAST,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_DRILL,
	TOP_KEY_BACK,
	TOP_KEY_CLOSE,
	TOP_KEY_HELP,
	TOP_KEY_VIEWS,
	TOP_KEY_NEXT,
	TOP_KEY_FILTER,
	TOP_KEY_ECHO,
	TOP_KEY_DIG,
	TOP_KEY_LEGEND,
	TOP_KEY_ACTIONS,
	TOP_KEY_SORT,
	TOP_KEY_REVERSE,
	TOP_KEY_COLUMN, /* 1 to 9 */
	TOP_KEY_SEARCH,
	TOP_KEY_GOTO,
	TOP_KEY_TREE,
	TOP_KEY_NICE,
	TOP_KEY_TIMES,
	TOP_KEY_EARLIER,
	TOP_KEY_LATER,
	TOP_KEY_JUMP,
	TOP_KEY_PLAY,
	TOP_KEY_SPEED,
	TOP_KEY_DETAILS,
	TOP_KEY_PAUSE,
	TOP_KEY_CLEAR,
	TOP_KEY_EXPORT,
	TOP_KEY_RECORD,
	TOP_KEY_HEAT,
	TOP_KEY_FILE_HEAT,
	TOP_KEY_STACKS,
	TOP_KEY_MOUSE,
	TOP_KEY_REDRAW,
	TOP_KEY_QUIT,
};

enum { TOP_KEY_CODES = 4, TOP_KEY_NAME_SZ = 16 };

struct top_key {
	enum top_action action;
	int codes[TOP_KEY_CODES]; /* of ncurses; 0: none */
	const char *name, *help;
};

extern const struct top_key top_keys[]; /* ends with TOP_KEY_NONE */

/* Returns the action of a code of ncurses; TOP_KEY_NONE: no key of the table. */
enum top_action top_key_action(int code);

/* Writes the name of a code: F5, Enter, a. */
void top_key_name(char name[TOP_KEY_NAME_SZ], int code);

/* Appends the names of the row's keys, separated by blanks. Returns 0 or -ENOMEM. */
int top_key_names(struct sinsp_text *out, const struct top_key *key);

/* Appends a line for each row: its keys, its name and its help, separated by @separator;
 * @keys_width and @name_width fill the first two. Returns 0 or -ENOMEM. */
int top_keys_list(struct sinsp_text *out, const char *separator, int keys_width, int name_width);

#endif /* SAKER_TOP_KEYS_H */
