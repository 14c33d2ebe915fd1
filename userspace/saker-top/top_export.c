/* SPDX-License-Identifier: Apache-2.0 */
#include "top_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "top_cell.h"

static int ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), k = strlen(end);

	return n > k && strcasecmp(text + n - k, end) == 0;
}

/* ---- CSV ---- */

/* A field in the quotes of RFC 4180, where it needs them. */
static int put_field(struct sinsp_text *out, const char *s, size_t n)
{
	int err = 0;

	if (!memchr(s, ',', n) && !memchr(s, '"', n) && !memchr(s, '\n', n) &&
	    !memchr(s, '\r', n) && (!n || (*s != ' ' && s[n - 1] != ' ')))
		return top_put(out, "%.*s", (int)n, s);
	err = top_put(out, "\"");
	while (n && !err) {
		const char *quote = memchr(s, '"', n);
		const size_t len = quote ? (size_t)(quote - s) + 1 : n;

		err = top_put(out, quote ? "%.*s\"" : "%.*s", (int)len, s);
		s += len;
		n -= len;
	}
	return err ?: top_put(out, "\"");
}

/* Numbers in full: durations in nanoseconds, rates per second, nothing if not known. */
static int put_value(struct sinsp_text *out, struct sinsp_text *scratch, const struct view_cell *c,
		     const struct view_column *col, double seconds)
{
	int err;

	if (top_cell_is_unknown(c, col))
		return 0;
	if (col->is_rate && seconds > 0)
		return top_put(out, "%.2f",
			       (col->type.kind == VIEW_DOUBLE ? c->d : (double)c->u) / seconds);
	scratch->len = 0;
	if (col->type.kind == VIEW_TEXT)
		err = top_cell_text(scratch, c, col, seconds);
	else
		err = top_key_text(scratch, c, &col->type);
	return err ?: put_field(out, scratch->p ?: "", scratch->len);
}

static int put_csv(struct sinsp_text *out, const struct top_slice *slice)
{
	const double seconds = (double)slice->length_ns / 1e9;
	struct sinsp_text scratch = {0};
	size_t n, n_rows = view_table_n_rows(slice->table);
	const struct view_column *cols = view_table_columns(slice->table, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = i ? top_put(out, ",") : 0;
		err = err ?: put_field(out, cols[i].info->name, strlen(cols[i].info->name));
	}
	err = err ?: top_put(out, "\r\n");
	for (size_t r = 0; r < n_rows && !err; r++) {
		const struct view_cell *cells = view_table_cells(slice->table, r);

		for (size_t i = 0; i < n && !err; i++) {
			err = i ? top_put(out, ",") : 0;
			err = err ?: put_value(out, &scratch, &cells[i], &cols[i], seconds);
		}
		err = err ?: top_put(out, "\r\n");
	}
	free(scratch.p);
	return err;
}

static int put_json(struct sinsp_text *out, const struct top_slice *slice)
{
	int err = top_put(out, "{\"slices\": [\n");

	err = err ?: top_print_json(out, slice);
	return err ?: top_put(out, "]}\n");
}

int top_export_text(struct sinsp_text *out, const char *path, const struct top_slice *slice)
{
	if (ends_with(path, ".csv"))
		return put_csv(out, slice);
	if (ends_with(path, ".json"))
		return put_json(out, slice);
	return top_print_text(out, slice);
}

/* ---- the file ---- */

const char *top_export_check(const char *path, const char *source, int *exists)
{
	struct stat st, read;

	*exists = 0;
	if (!*path || strcmp(path, "-") == 0)
		return "is not the name of a file";
	if (lstat(path, &st))
		return errno == ENOENT ? NULL : strerror(errno);
	*exists = 1;
	if (!S_ISREG(st.st_mode)) /* a pipe would keep the screen waiting */
		return S_ISDIR(st.st_mode) ? "is a folder" : "is not a regular file";
	if (source && !stat(source, &read) && read.st_dev == st.st_dev && read.st_ino == st.st_ino)
		return "is the file that is shown";
	return NULL;
}
