/* SPDX-License-Identifier: Apache-2.0 */
/* Lines over the table: help, a menu, or what a feed prints. A flame graph is a pane without lines.
 */
#ifndef SAKER_TOP_PANE_H
#define SAKER_TOP_PANE_H

#include "top_feed.h"
#include "top_keys.h"
#include "top_lines.h"

enum top_pane_kind {
	TOP_PANE_NONE,
	TOP_PANE_HELP,
	TOP_PANE_LEGEND,
	TOP_PANE_DETAILS,
	TOP_PANE_VIEWS, /* menus */
	TOP_PANE_COLUMNS,
	TOP_PANE_TIMES,
	TOP_PANE_ACTIONS,
	TOP_PANE_LINES, /* of the feed; from here on, in the place of the table */
	TOP_PANE_KEPT, /* lines: events that a heat map has kept */
	TOP_PANE_STACKS, /* a flame graph: top_stacks.h */
};

struct top_pane {
	enum top_pane_kind kind;
	struct top_feed *feed; /* of lines; NULL: the own text */
	struct top_lines text;
	uint64_t first, selected; /* numbers of lines; selected: of a menu */
	uint64_t mark; /* number + 1 of the line at which a selection of several begins; 0: none */
	size_t skipped; /* columns on the left */
	uint8_t follows; /* the last line stays in sight */
	uint8_t is_echo;
	uint8_t is_level; /* it shows the last level of the path, and ends with it */
};

/* Opens a pane with the text; of lines: NULL. Closes the one before. */
void top_pane_open(struct top_pane *p, enum top_pane_kind kind, const struct sinsp_text *text);
void top_pane_close(struct top_pane *p);

/* Returns whether the pane has the events of the path instead of the table: no table arrives then.
 */
static inline int top_pane_replaces_table(const struct top_pane *p)
{
	return p->kind >= TOP_PANE_LINES;
}

static inline int top_pane_is_menu(const struct top_pane *p)
{
	return p->kind >= TOP_PANE_VIEWS && p->kind <= TOP_PANE_ACTIONS;
}

/* Scrolls, or moves the selection of a menu. */
void top_pane_move(struct top_pane *p, int height, enum top_action action);
/* Scrolls to the next line that has the text, or selects it. Returns whether there is one. */
int top_pane_search(struct top_pane *p, const char *text, int from_next);
void top_pane_go(struct top_pane *p, uint64_t line); /* from 0 */
void top_pane_draw(struct top_pane *p, int y, int height);

#endif /* SAKER_TOP_PANE_H */
