/* SPDX-License-Identifier: Apache-2.0 */
#include "top_draw.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_keys.h"
#include "top_spectrum.h"
#include "top_term.h"

/* Colours that differ in brightness, too, and never red from green alone. */
static const struct {
	short text, ground; /* -1: the terminal's */
	attr_t with, without; /* attributes with colours, and without them */
} styles[] = {
	[TOP_PLAIN] = {-1, -1, A_NORMAL, A_NORMAL},
	[TOP_TITLE] = {-1, -1, A_BOLD, A_BOLD},
	[TOP_HEADER] = {COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_REVERSE},
	[TOP_SORTED] = {COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE | A_BOLD},
	[TOP_SELECTED] = {COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE},
	[TOP_BAR] = {COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE},
	[TOP_ERROR] = {COLOR_WHITE, COLOR_RED, A_BOLD, A_REVERSE},
};
enum { N_STYLES = sizeof(styles) / sizeof(styles[0]) };

/* Each is brighter than the one before, also for those who see no colours. */
static const short heat[TOP_SPECTRUM_LEVELS] = {18, 24, 30, 36, 71, 107, 148, 190, 227};
static const short heat_of_8[TOP_SPECTRUM_LEVELS] = {COLOR_BLUE,   COLOR_BLUE,   COLOR_BLUE,
						     COLOR_CYAN,   COLOR_CYAN,   COLOR_CYAN,
						     COLOR_YELLOW, COLOR_YELLOW, COLOR_WHITE};

/* Of frames: even and odd bars differ. */
enum frame_kind { FRAME_USER, FRAME_KERNEL, FRAME_JIT, N_FRAME_KINDS };
static const short frames[N_FRAME_KINDS][2] = {{215, 209}, {110, 74}, {150, 114}};
static const short frames_of_8[N_FRAME_KINDS] = {COLOR_YELLOW, COLOR_CYAN, COLOR_GREEN};

enum { BAR_LINES = 1 };
enum { FIRST_HEAT = 16, FIRST_FRAME = FIRST_HEAT + TOP_SPECTRUM_LEVELS, COLOURS_MANY = 256 };

static int has_colour, has_many; /* many: 256 colours */
static struct sinsp_text safe, padded; /* scratch */

void top_draw_init(void)
{
	has_colour = has_colors() && COLOR_PAIRS >= FIRST_FRAME + 2 * N_FRAME_KINDS;
	has_many = has_colour && COLORS >= COLOURS_MANY;
	for (short i = 1; has_colour && i < N_STYLES; i++)
		init_pair(i, styles[i].text, styles[i].ground);
	for (short i = 0; has_colour && i < TOP_SPECTRUM_LEVELS; i++)
		init_pair((short)(FIRST_HEAT + i), COLOR_BLACK, has_many ? heat[i] : heat_of_8[i]);
	for (short i = 0; has_colour && i < 2 * N_FRAME_KINDS; i++)
		init_pair((short)(FIRST_FRAME + i), COLOR_BLACK,
			  has_many ? frames[i / 2][i % 2] : frames_of_8[i / 2]);
}

void top_draw_fini(void)
{
	free(safe.p);
	free(padded.p);
	safe = padded = (struct sinsp_text){0};
}

static void set_style(enum top_style style)
{
	attr_set(has_colour ? styles[style].with : styles[style].without,
		 has_colour ? (short)style : 0, NULL);
}

void top_draw_text(int y, int x, int width, const char *s, size_t n, enum top_style style)
{
	if (width <= 0 || y < 0 || y >= LINES || x >= COLS)
		return;
	safe.len = padded.len = 0;
	if (top_text_safe(&safe, s, n, top_term_is_utf8()) ||
	    top_text_pad(&padded, safe.p ?: "", safe.len, (size_t)width, 1))
		return;
	set_style(style);
	mvaddnstr(y, x, padded.p, (int)padded.len);
	attrset(A_NORMAL);
}

void top_draw_heat(int y, int x, unsigned int level, int selected)
{
	const char sign = has_many && !selected ? ' ' : top_spectrum_sign(level);

	if (y < 0 || y >= LINES || x >= COLS)
		return;
	if (selected)
		set_style(TOP_SELECTED);
	else
		attr_set(A_NORMAL, has_colour && level ? (short)(FIRST_HEAT + level - 1) : 0, NULL);
	mvaddch(y, x, (chtype)sign);
	attrset(A_NORMAL);
}

static enum frame_kind kind_of(const char *name)
{
	const size_t len = strlen(name);

	if (len < 4 || strncmp(name + len - 4, "_[", 2) != 0)
		return FRAME_USER;
	return name[len - 2] == 'k' ? FRAME_KERNEL : name[len - 2] == 'j' ? FRAME_JIT : FRAME_USER;
}

/* Where two shades do not tell bars apart, each begins with a line. */
void top_draw_bar_of_frame(int y, int x, int width, const char *name, int is_odd)
{
	const short pair = (short)(FIRST_FRAME + 2 * (int)kind_of(name) + (is_odd != 0));

	if (width <= 0 || y < 0 || y >= LINES || x >= COLS)
		return;
	safe.len = padded.len = 0;
	if (top_put(&safe, has_many ? "" : "|") ||
	    top_text_safe(&safe, name, strlen(name), top_term_is_utf8()) ||
	    top_text_pad(&padded, safe.p ?: "", safe.len, (size_t)width, 1))
		return;
	attr_set(A_NORMAL, has_colour ? pair : 0, NULL);
	mvaddnstr(y, x, padded.p, (int)padded.len);
	attrset(A_NORMAL);
}

void top_draw_line(int y, const struct sinsp_text *text, enum top_style style)
{
	top_draw_text(y, 0, COLS, text->p ?: "", text->len, style);
}

/* Returns the columns of the key in the bar; 0: it has no function key, or no room behind @x. */
static int bar_width(const struct top_key *k, int x, char name[TOP_KEY_NAME_SZ])
{
	int width;

	if (k->codes[0] < KEY_F(1) || k->codes[0] > KEY_F(12))
		return 0;
	top_key_name(name, k->codes[0]);
	width = (int)(strlen(name) + strlen(k->name));
	return x + width <= COLS ? width : 0;
}

void top_draw_bar(void)
{
	char name[TOP_KEY_NAME_SZ];
	int x = 0;

	top_draw_text(LINES - 1, 0, COLS, "", 0, TOP_PLAIN);
	for (const struct top_key *k = top_keys; k->action; k++) {
		const int width = bar_width(k, x, name), n = width ? (int)strlen(name) : 0;

		if (!width)
			continue;
		top_draw_text(LINES - 1, x, n, name, (size_t)n, TOP_PLAIN);
		top_draw_text(LINES - 1, x + n, width - n, k->name, strlen(k->name), TOP_BAR);
		x += width + 1;
	}
}

int top_draw_bar_code(int column)
{
	char name[TOP_KEY_NAME_SZ];
	int x = 0;

	for (const struct top_key *k = top_keys; k->action; k++) {
		const int width = bar_width(k, x, name);

		if (column >= x && column < x + width)
			return k->codes[0];
		x += width ? width + 1 : 0;
	}
	return 0;
}

int top_page_height(void)
{
	const int n = LINES - TOP_FIRST_LINE - BAR_LINES;

	return n > 0 ? n : 0;
}

struct top_area top_page_area(void)
{
	return (struct top_area){TOP_FIRST_LINE, top_page_height(), COLS};
}
