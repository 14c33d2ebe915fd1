/* SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include <string.h>

void put_wrapped(FILE *f, const char *text, int column)
{
	int at = column;

	while (*text) {
		int len = strcspn(text, " ");

		if (at > column && at + 1 + len > WRAP_WIDTH) {
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
