/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the screen share. Each calls only files that come later here: the loop
 * (top_screen.c), the page (top_page.c), the mouse (top_act_mouse.c), keys (top_act.c), groups of
 * keys (top_act_x.c, top_complete.c), graphs (top_page_graph.c), texts of panes (top_pane_text.c,
 * top_detail.c), what is shown (top_show.c), messages (top_question.c, top_message.c). */
#ifndef SAKER_TOP_SCREEN_STATE_H
#define SAKER_TOP_SCREEN_STATE_H

#include "filter/filter.h"
#include "top_command.h"
#include "top_grid.h"
#include "top_heat.h"
#include "top_pane.h"
#include "top_prompt.h"
#include "top_screen.h"
#include "top_stacks.h"

enum top_asks {
	TOP_ASKS_NOTHING,
	TOP_ASKS_FILTER,
	TOP_ASKS_SEARCH,
	TOP_ASKS_ROW,
	TOP_ASKS_TIME,
	TOP_ASKS_EXPORT,
	TOP_ASKS_RECORD,
	TOP_ASKS_YES
};

struct top_screen;
/* Does what the user agreed to. */
typedef void (*top_agreed_fn)(struct top_screen *s);

struct top_screen {
	const struct top_options *o;
	const struct view_list *list;
	uint8_t *usable; /* of each view of the list, as far as known; owned */
	struct top_feed *feed;
	struct top_path path;
	const struct top_snapshot
		*snap; /* borrowed from the feed; NULL: none yet, or lines are shown */
	struct top_feed_status status;
	struct top_pane pane;
	struct top_heat heat; /* of a view that is one */
	struct top_stacks stacks; /* of their pane */
	char *stacks_name; /* whose; owned */
	uint64_t n_in_rect; /* events of the cells that were selected */
	uint8_t drags; /* the mouse, in the heat map */
	enum top_asks asks;
	top_agreed_fn agreed; /* of TOP_ASKS_YES, whose question is the message */
	struct top_prompt prompt;
	struct top_command command; /* to run if the user agrees: that of the row when it asked */
	uint8_t command_waits;
	struct top_process {
		int pid; /* 0: none */
		uint64_t start; /* as /proc/PID/stat has it; 0: there is no such process */
		char name[64];
	} command_process; /* that it names */
	struct top_nice {
		struct top_process process;
		int value;
	} nice; /* to set if the user agrees */
	char *searched; /* owned; NULL: nothing yet */
	struct sinsp_text message; /* instead of the bar, until the next key */
	size_t error_at; /* bytes: of the prompt's text, if there is a message */
	uint8_t is_plain; /* the message is no error */
	uint8_t paused, ends;
	struct top_play play; /* of a file */
	unsigned int steps; /* tables that are awaited in spite of the pause */
	uint64_t past; /* number + 1 of the table that is shown; 0: the newest one */
	char *file; /* to write, while the user is asked; owned */
	char *record; /* the capture file that is written; owned; NULL: none */
	int clicked_y; /* line of the last click */
	int64_t clicked_ns;
};

/* ---- top_message.c ---- */

/* Shows a message until the next key. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int top_complain(struct top_screen *s, const char *fmt, ...);
/* Returns whether saker cannot @act, as "run a command", since it is confined: with a message. */
int top_is_confined(struct top_screen *s, const char *act);
/* Shows the error of a function that goes down the path. Returns @err. */
int top_complain_path(struct top_screen *s, int err);
/* Shows a message that is no error. */
__attribute__((format(printf, 2, 3))) void top_say(struct top_screen *s, const char *fmt, ...);
/* Asks for a line that begins with @text. */
void top_ask(struct top_screen *s, enum top_asks what, const char *text);

/* ---- top_question.c ---- */

/* Asks whether to do something: y does it, any other key does not. */
__attribute__((format(printf, 3, 4))) void top_ask_yes(struct top_screen *s, top_agreed_fn agreed,
						       const char *fmt, ...);
/* Handles the key that answers. */
void top_answer(struct top_screen *s, int code);
/* Draws the message, in as many lines as it needs, above the line @y_end. */
void top_message_draw(const struct top_screen *s, int y_end);

/* ---- top_show.c ---- */

/* Returns whether the fields and the filter of the view are known; else 0 with *why set. */
int top_can_show(const struct top_screen *s, const struct sinsp_view *view, struct view_error *why);
/* Returns whether the screen can show view @i of the list. */
int top_view_is_usable(const struct top_screen *s, size_t i);
/* Returns whether there is a table with rows. */
int top_has_rows(const struct top_screen *s);
/* Sets *key to the column that is the key of the table, and appends its value in the selected row.
 * Returns 1; 0: no row is selected; -ENOMEM. */
int top_selected_key(const struct top_screen *s, const struct sinsp_view_column **key,
		     struct sinsp_text *value);
/* Shows the newest table of the feed, if there is one. */
void top_take_newest(struct top_screen *s);
/* Returns the begin of the table that is shown in a file that is played; 0: it is not. */
uint64_t top_shown_begin(const struct top_screen *s);
/* Shows what the query finds. Returns 0, or a negative errno with a message. */
int top_show(struct top_screen *s, const struct top_query *query);
/* Shows the lines of the selected row: the table goes on when the pane is closed. Returns as above.
 */
int top_show_lines(struct top_screen *s, enum top_feed_kind kind);
/* Goes down into the selected row, by another view; without one, to all of the level. Returns as
 * above. */
int top_go_down(struct top_screen *s, const struct sinsp_view *view);
/* Shows the table of the path's last level. Returns 0, or a negative errno with a message. */
int top_show_table(struct top_screen *s);
/* Sets *query to that of the path's last level, and returns its filter, which the caller frees;
 * NULL: no memory. */
char *top_level_query(const struct top_screen *s, struct top_query *query);
/* Returns the filter of the selected row, of the level if there is none; owned by the caller. NULL:
 * no memory. */
char *top_selected_filter(struct top_screen *s);

/* ---- top_act.c ---- */

#define TOP_TWICE_NS 400000000ll /* between two clicks that are one */

/* Handles a key that is not for the prompt, and one for it. */
void top_act(struct top_screen *s, int code);
void top_act_prompt(struct top_screen *s, int code);

/* Updates the pane, unless the row has gone. */
void top_refresh_details(struct top_screen *s);
/* Sorts by a column, from 1. */
void top_sort_by(struct top_screen *s, uint32_t col);
/* Goes down into the selected row, or chooses the selected line of a menu. */
void top_drill(struct top_screen *s);
void top_choose(struct top_screen *s);

/* ---- top_act_time.c ---- */

/* Handles a key of the time axis. Returns whether it was one. */
int top_act_time(struct top_screen *s, enum top_action action, int code);
/* Stops or goes on. */
void top_pause(struct top_screen *s, int paused);
/* Shows the whole file again. Returns whether it was played. */
int top_end_play(struct top_screen *s);
/* Goes to a time of day. Returns 0 or a negative errno with a message. */
int top_jump(struct top_screen *s, const char *text);

/* ---- top_act_file.c ---- */

/* Ask for a file. */
void top_ask_export(struct top_screen *s);
void top_ask_record(struct top_screen *s);
/* Write to it. Return 0 or a negative errno with a message. */
int top_export(struct top_screen *s, const char *path);
int top_record(struct top_screen *s, const char *path);
/* Reports a capture file that was completed. */
void top_check_record(struct top_screen *s);

/* ---- top_complete.c ---- */

/* Completes the field or value before the cursor of the filter, or shows how it may go on. */
void top_complete(struct top_screen *s);

/* ---- top_detail.c ---- */

int top_details_text(struct sinsp_text *out, const struct top_screen *s, size_t width);
/* Watches the selected row. */
void top_watch_row(struct top_screen *s);
void top_end_watch(struct top_screen *s);

/* ---- top_act_mouse.c ---- */

void top_act_mouse(struct top_screen *s);

/* ---- top_act_graph.c ---- */

void top_open_heat(struct top_screen *s, int of_files);
void top_open_stacks(struct top_screen *s);
/* Return whether they handled the key. */
int top_act_heat(struct top_screen *s, enum top_action action);
int top_act_stacks(struct top_screen *s, enum top_action action);
int top_search_stacks(struct top_screen *s, int from_next);
/* What the mouse does there: the button was pressed or released, or the mouse moved. */
void top_mouse_heat(struct top_screen *s, int y, int x, int pressed, int released);
void top_mouse_stacks(struct top_screen *s, int y, int x, int twice);

/* ---- top_act_run.c ---- */

/* Runs the action for the selected row, or asks before that. */
void top_run_action(struct top_screen *s, const struct sinsp_view_action *action);

/* ---- top_row.c ---- */

/* Returns whether the selected row has a value for the field, appended to @out; negative: -ENOMEM.
 */
int top_row_value(void *screen, const char *field, size_t len, struct sinsp_text *out);
/* Returns the process with the PID of the selected row: pid 0: it is not of one process. */
struct top_process top_row_process(struct top_screen *s);
/* Returns whether the process has ended, with a message: another one may have its PID. */
int top_has_ended(struct top_screen *s, const struct top_process *p);

/* ---- top_act_nice.c ---- */

/* Asks whether to add @by to the nice value of the selected process. */
void top_renice(struct top_screen *s, int by);

/* ---- top_page.c ---- */

void top_page_draw(struct top_screen *s);

/* ---- top_page_graph.c ---- */

/* Returns whether a heat map is on the screen. */
int top_shows_heat(const struct top_screen *s);
/* Appends what the title has of a heat map. Returns 0 or -ENOMEM. */
int top_heat_title(struct sinsp_text *out, struct top_screen *s);
void top_draw_heat_page(struct top_screen *s);
void top_draw_stacks_page(struct top_screen *s);

/* ---- top_pane_text.c ---- */

/* Each appends the text of a pane in @width columns. Returns 0 or -ENOMEM. */
int top_help_text(struct sinsp_text *out, size_t width);
int top_legend_text(struct sinsp_text *out, const struct top_screen *s, size_t width);
/* Menus: a line each. */
int top_views_text(struct sinsp_text *out, const struct top_screen *s);
int top_columns_text(struct sinsp_text *out, const struct top_screen *s);
int top_times_menu_text(struct sinsp_text *out, const struct top_screen *s, size_t width);
int top_actions_text(struct sinsp_text *out, const struct top_screen *s);
/* Returns the action of line @i of the menu, or of a hotkey; NULL: there is none. */
const struct sinsp_view_action *top_menu_action(const struct top_screen *s, uint64_t i);
const struct sinsp_view_action *top_hotkey_action(const struct top_screen *s, int code);
/* Returns the view of line @i of the menu; NULL: there is none. */
const struct sinsp_view *top_menu_view(const struct top_screen *s, uint64_t i);
/* Returns the line of the current view there; 0 if it is not offered. */
uint64_t top_menu_place(const struct top_screen *s);

#endif /* SAKER_TOP_SCREEN_STATE_H */
