/* SPDX-License-Identifier: Apache-2.0 */
#include "top_prompt.h"

#include <ncurses.h>
#include <string.h>

#define CONTROL(letter) ((letter)&0x1f)

enum { ESCAPE = 27, DELETE = 127 };

static int is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void top_prompt_set(struct top_prompt *p, const char *text)
{
	p->len = strnlen(text, TOP_PROMPT_SZ - 1);
	memcpy(p->text, text, p->len);
	p->text[p->len] = 0;
	p->cursor = p->len;
}

static size_t before(const struct top_prompt *p)
{
	size_t at = p->cursor;

	while (at && is_inside(p->text[--at]))
		;
	return at;
}

static size_t after(const struct top_prompt *p)
{
	size_t at = p->cursor;

	if (at < p->len)
		at++;
	while (at < p->len && is_inside(p->text[at]))
		at++;
	return at;
}

static void cut(struct top_prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->cursor = from;
}

static void insert(struct top_prompt *p, int code)
{
	if (p->len + 1 == TOP_PROMPT_SZ)
		return;
	memmove(p->text + p->cursor + 1, p->text + p->cursor, p->len - p->cursor + 1);
	p->text[p->cursor++] = (char)code;
	p->len++;
}

enum top_prompt_result top_prompt_key(struct top_prompt *p, int code)
{
	switch (code) {
	case '\n':
	case '\r':
	case KEY_ENTER:
		return TOP_PROMPT_DONE;
	case ESCAPE:
		return TOP_PROMPT_CANCELLED;
	case KEY_LEFT:
		p->cursor = before(p);
		break;
	case KEY_RIGHT:
		p->cursor = after(p);
		break;
	case KEY_HOME:
	case CONTROL('a'):
		p->cursor = 0;
		break;
	case KEY_END:
	case CONTROL('e'):
		p->cursor = p->len;
		break;
	case KEY_BACKSPACE:
	case DELETE:
	case CONTROL('h'):
		cut(p, before(p), p->cursor);
		break;
	case KEY_DC:
		cut(p, p->cursor, after(p));
		break;
	case CONTROL('u'):
		cut(p, 0, p->cursor);
		break;
	default:
		if (code >= ' ' && code < 256)
			insert(p, code);
	}
	return TOP_PROMPT_GOES_ON;
}
