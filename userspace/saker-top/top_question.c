/* SPDX-License-Identifier: Apache-2.0 */
/* Asks questions that y or another key answers, and draws messages and questions in as many lines
 * as they need. */
#include <ncurses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_draw.h"
#include "top_screen_state.h"
#include "top_term.h"

void top_ask_yes(struct top_screen *s, top_agreed_fn agreed, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0) {
		top_ask(s, TOP_ASKS_YES, "");
		top_complain(s, "%s", text);
		s->agreed = agreed;
	}
	va_end(ap);
	free(text);
}

void top_answer(struct top_screen *s, int code)
{
	s->asks = TOP_ASKS_NOTHING;
	if (code == 'y')
		s->agreed(s);
}

static size_t count_lines(const struct sinsp_text *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->p[i] == '\n';
	return n;
}

void top_message_draw(const struct top_screen *s, int y_end)
{
	struct sinsp_text safe = {0}, lines = {0};
	const char *line;
	int y;

	if (top_text_safe(&safe, s->message.p ?: "", s->message.len, top_term_is_utf8()) ||
	    top_put_wrapped(&lines, safe.p ?: "", safe.len, COLS > 1 ? (size_t)COLS : 1, 0))
		goto out;
	y = y_end - (int)count_lines(&lines);
	y = y < 0 ? 0 : y; /* without room, the begin of the text is seen */
	for (line = lines.p; line && line < lines.p + lines.len && y < y_end; y++) {
		const size_t n = strcspn(line, "\n");

		top_draw_text(y, 0, COLS, line, n, s->is_plain ? TOP_HEADER : TOP_ERROR);
		line += n + 1;
	}
out:
	free(lines.p);
	free(safe.p);
}
