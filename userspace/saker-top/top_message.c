/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the message of the last line, and opens prompts. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_screen_state.h"

static void set_message(struct top_screen *s, const char *fmt, va_list ap)
{
	char *text = NULL;

	s->message.len = 0;
	if (vasprintf(&text, fmt, ap) >= 0)
		top_put(&s->message, "%s", text);
	free(text);
}

int top_complain(struct top_screen *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_message(s, fmt, ap);
	va_end(ap);
	s->is_plain = 0;
	return -EINVAL;
}

int top_complain_path(struct top_screen *s, int err)
{
	top_complain(s, "%s",
		     err == -E2BIG ? "the path is too deep: Backspace returns" : strerror(-err));
	return err;
}

void top_say(struct top_screen *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_message(s, fmt, ap);
	va_end(ap);
	s->is_plain = 1;
}

void top_ask(struct top_screen *s, enum top_asks what, const char *text)
{
	s->asks = what;
	top_prompt_set(&s->prompt, text);
}

int top_is_confined(struct top_screen *s, const char *act)
{
	if (!s->o->read || s->o->unconfined)
		return 0;
	top_complain(s, "cannot %s: a file is shown confined; for one you trust use --unconfined",
		     act);
	return 1;
}
