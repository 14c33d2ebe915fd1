/* SPDX-License-Identifier: Apache-2.0 */
#include "top_keys.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/text.h"

#define CONTROL(letter) ((letter)&0x1f)

enum { ESCAPE = 27, DELETE = 127 };

/* As in csysdig; those of htop where csysdig has none. Keys of the bar have a letter, too:
 * terminals keep some function keys for themselves. */
/* clang-format off */
const struct top_key top_keys[] = {
	{TOP_KEY_UP, {KEY_UP}, "Up", "Select the row above; in a pane, scroll up."},
	{TOP_KEY_DOWN, {KEY_DOWN}, "Down", "Select the row below; in a pane, scroll down."},
	{TOP_KEY_PAGE_UP, {KEY_PPAGE}, "Page up", "Move up by a screen."},
	{TOP_KEY_PAGE_DOWN, {KEY_NPAGE}, "Page down", "Move down by a screen."},
	{TOP_KEY_FIRST, {KEY_HOME}, "First", "Move to the first row."},
	{TOP_KEY_LAST, {KEY_END}, "Last", "Move to the last row."},
	{TOP_KEY_LEFT, {KEY_LEFT}, "Left", "Scroll the columns back."},
	{TOP_KEY_RIGHT, {KEY_RIGHT}, "Right", "Scroll the columns; at the last one, its text."},
	{TOP_KEY_DRILL, {'\n', '\r', KEY_ENTER}, "Drill down",
	 "Show what belongs to the selected row in the next view; in a menu, choose."},
	{TOP_KEY_BACK, {KEY_BACKSPACE, DELETE, CONTROL('h')}, "Back",
	 "Return from a drill-down, or close a pane."},
	{TOP_KEY_CLOSE, {ESCAPE}, "Close", "Close a pane, a menu or a prompt."},
	{TOP_KEY_HELP, {KEY_F(1), '?', 'h'}, "Help", "Show the keys."},
	{TOP_KEY_VIEWS, {KEY_F(2), 'v'}, "Views", "Choose a view of the same selection."},
	{TOP_KEY_NEXT, {KEY_F(3), 'n'}, "Next", "Find the next row with the text of the search."},
	{TOP_KEY_FILTER, {KEY_F(4), '\\'}, "Filter", "Edit the filter of the events."},
	{TOP_KEY_ECHO, {KEY_F(5), 'e'}, "Echo", "Print what the selected row reads and writes."},
	{TOP_KEY_DIG, {KEY_F(6), 'd'}, "Dig", "Print the events of the selected row."},
	{TOP_KEY_LEGEND, {KEY_F(7), 'l'}, "Legend", "Describe the view and its columns."},
	{TOP_KEY_ACTIONS, {KEY_F(8), 'a'}, "Actions",
	 "Run a command for the selected row; the menu shows a letter for each."},
	{TOP_KEY_SORT, {KEY_F(9), '>', '<'}, "Sort", "Choose the column that sorts the rows."},
	{TOP_KEY_QUIT, {KEY_F(10), 'q'}, "Quit", "End saker."},
	{TOP_KEY_COLUMN, {'1'}, "Column",
	 "1 to 9: sort by this column of the view; again: in the other order."},
	{TOP_KEY_REVERSE, {'r'}, "Reverse", "Sort in the other order."},
	{TOP_KEY_SEARCH, {'/', CONTROL('f')}, "Search", "Find a text in the rows."},
	{TOP_KEY_GOTO, {CONTROL('g')}, "Go to", "Go to a row by its number."},
	{TOP_KEY_TREE, {'t'}, "Tree", "Show processes below their parents, or as a list again."},
	{TOP_KEY_NICE, {']', '['}, "Nice",
	 "] lowers the nice value of the process by 1, which gives it more CPU time; [ raises it."},
	{TOP_KEY_TIMES, {'T'}, "Times", "In a file, choose a span of time from a histogram of its events; Space marks several."},
	{TOP_KEY_PLAY, {' '}, "Play",
	 "Play a file, with a table for each interval of its time; again, or live: pause."},
	{TOP_KEY_SPEED, {'+', '=', '-'}, "Speed", "Play a file twice as fast (+) or half as fast (-)."},
	{TOP_KEY_PAUSE, {'p'}, "Pause", "Pause or resume the refreshes of the screen."},
	{TOP_KEY_EARLIER, {','}, "Earlier", "Pause, and show the previous table."},
	{TOP_KEY_LATER, {'.'}, "Later", "Pause, and show the next table."},
	{TOP_KEY_JUMP, {'j'}, "Jump", "Show the table of a time, 14:32 or 14:32:05; in a file, Space plays on from there."},
	{TOP_KEY_DETAILS, {'i', '\t'}, "Details",
	 "Show all cells of the selected row, its values over time, open files and last events."},
	{TOP_KEY_EXPORT, {'x'}, "Export", "Write the table to a file: NAME.csv, NAME.json, or another name for text."},
	{TOP_KEY_RECORD, {'w'}, "Write",
	 "Write the events of the path to a capture file: live from now on, in a file from the time that is shown."},
	{TOP_KEY_CLEAR, {'c', KEY_DC}, "Clear", "Remove the rows of a list, or the lines of a pane."},
	{TOP_KEY_HEAT, {KEY_F(12), 'm'}, "Spectrogram",
	 "Draw the latencies of the selected row over time, as a heat map; in it, mark a corner of the "
	 "cells whose events Enter shows."},
	{TOP_KEY_FILE_HEAT, {KEY_F(24), 'M'}, "File spectro",
	 "Draw the latencies of the row's calls on files alone; F24 is Shift-F12."},
	{TOP_KEY_STACKS, {'S'}, "Stacks",
	 "Draw the sampled stacks of the selected process or thread as a flame graph; in it, the arrow "
	 "keys select a frame, Enter zooms into it, Backspace out."},
	{TOP_KEY_MOUSE, {KEY_MOUSE}, "Mouse",
	 "Click: select a row, sort by a column, press a key of the bar. Double-click: drill down. Drag: "
	 "select cells of a heat map."},
	{TOP_KEY_REDRAW, {CONTROL('l')}, "Redraw", "Draw the whole screen again."},
	{0},
};

static const struct {
	int code;
	const char *name;
} named[] = {
	{KEY_UP, "Up"}, {KEY_DOWN, "Down"}, {KEY_LEFT, "Left"}, {KEY_RIGHT, "Right"},
	{KEY_PPAGE, "PgUp"}, {KEY_NPAGE, "PgDn"}, {KEY_HOME, "Home"}, {KEY_END, "End"},
	{'\n', "Enter"}, {KEY_BACKSPACE, "Backspace"}, {KEY_DC, "Del"}, {ESCAPE, "Esc"}, {'\t', "Tab"}, {' ', "Space"}, {KEY_MOUSE, "Mouse"},
	/* the same keys on other terminals */
	{'\r', ""}, {KEY_ENTER, ""}, {DELETE, ""}, {CONTROL('h'), ""},
};
/* clang-format on */

enum top_action top_key_action(int code)
{
	if (code >= '1' && code <= '9')
		return TOP_KEY_COLUMN;
	for (const struct top_key *k = top_keys; k->action; k++)
		for (int i = 0; i < TOP_KEY_CODES && k->codes[i]; i++)
			if (k->codes[i] == code)
				return k->action;
	return TOP_KEY_NONE;
}

void top_key_name(char name[TOP_KEY_NAME_SZ], int code)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (named[i].code == code) {
			snprintf(name, TOP_KEY_NAME_SZ, "%s", named[i].name);
			return;
		}
	}
	if (code >= KEY_F(1) && code <= KEY_F(63))
		snprintf(name, TOP_KEY_NAME_SZ, "F%d", code - KEY_F0);
	else if (code < ' ')
		snprintf(name, TOP_KEY_NAME_SZ, "Ctrl-%c", code + '@');
	else
		snprintf(name, TOP_KEY_NAME_SZ, "%c", code);
}

int top_key_names(struct sinsp_text *out, const struct top_key *key)
{
	char name[TOP_KEY_NAME_SZ];
	char *p = text_begin(out, TOP_KEY_CODES * (TOP_KEY_NAME_SZ + 1));
	int n = 0;

	if (!p)
		return -ENOMEM;
	for (int i = 0; i < TOP_KEY_CODES && key->codes[i]; i++) {
		top_key_name(name, key->codes[i]);
		if (!*name)
			continue;
		if (n++)
			*p++ = ' ';
		p = put_mem(p, name, strlen(name));
	}
	return text_end(out, p);
}

int top_keys_list(struct sinsp_text *out, const char *separator, int keys_width, int name_width)
{
	struct sinsp_text names = {0};
	int err = 0;

	for (const struct top_key *k = top_keys; k->action && !err; k++) {
		char *p;

		names.len = 0;
		err = top_key_names(&names, k);
		p = err ? NULL : text_begin(out, names.len + strlen(k->help) + 128);
		if (!p) {
			err = -ENOMEM;
			continue;
		}
		p += sprintf(p, "%-*.*s%s%-*s%s%s\n", keys_width, (int)names.len, names.p,
			     separator, name_width, k->name, separator, k->help);
		err = text_end(out, p);
	}
	free(names.p);
	return err;
}
