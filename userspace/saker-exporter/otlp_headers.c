/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_headers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "otlp_url.h"
#include "say.h"

static int add_header(struct otlp_headers *h, const char *text, const char *option)
{
	const char *why = otlp_header_problem(text);
	const char **v;

	if (why) {
		say("%s: a header %s", option, why);
		return -EINVAL;
	}
	v = realloc(h->list.v, (h->list.n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	v[h->list.n++] = text;
	h->list.v = v;
	return 0;
}

static int read_file(struct otlp_headers *h, const char *path, const char *option)
{
	char *save = NULL, *line;
	int err;

	if (h->text) {
		say("%s: only one file of headers can be given", option);
		return -EINVAL;
	}
	err = read_whole_file(&h->text, path, option, FILE_SECRET);
	line = err ? NULL : strtok_r(h->text, "\r\n", &save);
	for (; line && !err; line = strtok_r(NULL, "\r\n", &save))
		err = add_header(h, line, option);
	return err;
}

int otlp_headers_read(struct otlp_headers *h, const struct text_list *given, const char *option)
{
	int err = 0;

	for (size_t i = 0; i < given->n && !err; i++)
		err = *given->v[i] == '@' ? read_file(h, given->v[i] + 1, option)
					  : add_header(h, given->v[i], option);
	return err;
}

void otlp_headers_fini(struct otlp_headers *h)
{
	free(h->list.v);
	free(h->text);
	*h = (struct otlp_headers){0};
}
