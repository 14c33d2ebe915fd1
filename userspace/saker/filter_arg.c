/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_arg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pushdown.h"
#include "say.h"
#include "spawn.h"

/* Words that begin with no field, and are not near one: perhaps a command without its --. */
static int may_be_command(const struct sinsp_filter_error *err, const struct options *o)
{
	const size_t len = strlen(err->message);

	return !err->name && !err->pos && !o->read.n && !o->command && o->mode == MODE_CAPTURE &&
	       err->message[len - 1] != '?' && isalnum((unsigned char)err->text[0]);
}

/* Concerns the first word of the filter. */
static const char *nearest_command(const char *text)
{
	char word[32] = "";
	const size_t len = strcspn(text, " ");

	if (len < sizeof(word) && strcspn(text, "=<>!(.") >= len)
		memcpy(word, text, len);
	return options_nearest_command(word);
}

static void say_error(const struct sinsp_filter_error *err, const char *what,
		      const struct options *o)
{
	const char *near = err->name || err->pos ? NULL : nearest_command(err->text);

	if (near)
		say("%s: %s; did you mean saker %s?", what, err->message, near);
	else if (may_be_command(err, o))
		say("%s: %s; to run a command: saker -- %.40s", what, err->message, err->text);
	else if (err->name)
		say("%s, in %s: %s", what, err->name, err->message);
	else
		say("%s: %s", what, err->message);
	say_filter_place(err);
}

int filter_arg_compile(struct sinsp_filter **out, const char *text, const char *what,
		       const struct options *o)
{
	const struct sinsp_filter_opts opts = {
		.sz = sizeof(opts),
		.macros = o->macros.v,
		.n_macros = o->macros.n,
		.lists = o->lists.v,
		.n_lists = o->lists.n,
		.log = say_log,
	};
	struct sinsp_filter_error err = {0};
	int r;

	*out = NULL;
	if (!text)
		return 0;
	r = sinsp_filter_new(out, text, &opts, &err);
	if (r && err.text)
		say_error(&err, what, o);
	else if (r)
		say_cause(say_n_errors(), what, r);
	return r;
}

int filter_arg_explain(const struct options *o)
{
	struct sinsp_text text = {0};
	struct pushdown push = {0};
	struct sinsp_filter *f;
	int status = STATUS_FAILED;

	if (filter_arg_compile(&f, o->filter, "filter", o))
		return status;
	if (!sinsp_filter_explain(f, &text) &&
	    !pushdown_init(&push, f, o, pushdown_derives(f, NULL, o))) {
		fwrite(text.p, 1, text.len, stdout);
		pushdown_explain(&push, stdout);
		status = STATUS_OK;
	}
	free(text.p);
	sinsp_filter_free(f);
	return status;
}
