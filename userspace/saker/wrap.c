/* SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include <string.h>
#include <sys/ioctl.h>

void put_wrapped_to(FILE *f, const char *text, int column, int width)
{
	int at = column;

	while (*text) {
		int len = strcspn(text, " ");

		if (at > column && at + 1 + len > width) {
			fprintf(f, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', f);
			at++;
		}
		fprintf(f, "%.*s", len, text);
		at += len;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

void put_wrapped(FILE *f, const char *text, int column)
{
	put_wrapped_to(f, text, column, WRAP_WIDTH);
}

int terminal_width(FILE *f)
{
	struct winsize size;

	if (ioctl(fileno(f), TIOCGWINSZ, &size) || size.ws_col < WRAP_WIDTH / 2)
		return WRAP_WIDTH;
	return size.ws_col;
}
