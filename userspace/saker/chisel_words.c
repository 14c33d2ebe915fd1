/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words after -c NAME: which are arguments of the chisel, and which belong to the filter. The
 * chisel is opened first, as its list of arguments decides.
 */
#include "chisel_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields/field.h"
#include "say.h"

/* Joins the words from @from on, with spaces. Owned; NULL: no memory. */
char *chisels_join_words(const struct text_list *words, size_t from, const char *skip)
{
	struct sinsp_text text = {0};
	FILE *f = open_memstream(&text.p, &text.len);
	const char *sep = "";

	if (!f)
		return NULL;
	for (size_t i = from; i < words->n; i++) {
		if (skip && skip[i])
			continue;
		fprintf(f, "%s%s", sep, words->v[i]);
		sep = " ";
	}
	fclose(f);
	return text.p;
}

/* The words between -c NAME and the next -c, and which of all words are assigned. */
struct chisel_words {
	const struct text_list *words;
	size_t from, end;
	char *assigned;
};

/* Returns whether the remaining words are a filter, without those that name arguments of
 * @but_named (NULL: with all). */
static int is_filter(const struct chisel_words *b, const struct sinsp_chisel *but_named)
{
	char *skip = calloc(1, b->words->n + 1), *text = NULL;
	struct sinsp_filter *f = NULL;
	int yes;

	for (size_t i = b->from; skip && i < b->words->n; i++)
		skip[i] = b->assigned[i] || i >= b->end ||
			  (but_named && sinsp_chisel_names_arg(but_named, b->words->v[i]));
	if (skip)
		text = chisels_join_words(b->words, b->from, skip);
	yes = text && sinsp_filter_new(&f, text, NULL, NULL) == 0;
	sinsp_filter_free(f);
	free(text);
	free(skip);
	return yes;
}

static int add_arg(struct text_list *args, const char *text)
{
	const char **v = realloc(args->v, (args->n + 2) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	args->v = v;
	v[args->n++] = text;
	v[args->n] = NULL;
	return 0;
}

static int assign_word(struct chisel_words *b, size_t i, struct text_list *args)
{
	b->assigned[i] = 1;
	return add_arg(args, b->words->v[i]);
}

/* Assigns words that name an argument: all, or those at the beginning. */
static int assign_named(const struct sinsp_chisel *c, struct chisel_words *b,
			struct text_list *args, int all)
{
	int err = 0;

	for (size_t i = b->from; i < b->end && !err; i++) {
		if (b->assigned[i])
			continue;
		if (sinsp_chisel_names_arg(c, b->words->v[i]))
			err = assign_word(b, i, args);
		else if (!all)
			break;
	}
	return err;
}

/* Returns whether @name begins with a class of fields, such as "evt.". */
static int has_field_class(const char *name, size_t len)
{
	const size_t dot = strcspn(name, ".") + 1;

	if (dot > len)
		return 0;
	for (const struct sinsp_field_class *const *c = sinsp_field_classes; *c; c++)
		for (size_t i = 0; i < (*c)->n_rows; i++)
			if (strncmp((*c)->rows[i].name, name, dot) == 0)
				return 1;
	return 0;
}

/* Reports a word that is neither an argument nor part of a filter. */
enum word_kind { WORD_VALUE, WORD_FILTER, WORD_ARG };

/* "evt.typ=read" is a filter with an error, "tpo=5" an argument. @name_len: length before the
 * operator. */
static enum word_kind classify_word(const char *word, const char *next, size_t *name_len)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const char *name = word + strspn(word, "( "), *op;
	size_t len;

	if (strncmp(name, "not ", 4) == 0)
		name += 4 + strspn(name + 4, "( ");
	len = strcspn(name, " =!<>[");
	op = name + len + strspn(name + len, " ");
	if (!*op && next)
		op = next;
	if (*op && strchr("=!<>[", *op) && has_field_class(name, len))
		return WORD_FILTER;
	*name_len = len;
	return len && strspn(word, letters) == len && word[len] == '=' ? WORD_ARG : WORD_VALUE;
}

/* Returns whether the word at @at is a value of an argument: 1, 0, or -EINVAL after reporting an
 * error. */
static int is_value(const struct sinsp_chisel *c, const struct chisel_words *b, size_t at)
{
	const char *word = b->words->v[at], *name = sinsp_chisel_info(c)->name;
	size_t len;

	switch (classify_word(word, at + 1 < b->end ? b->words->v[at + 1] : NULL, &len)) {
	case WORD_FILTER:
		return 0;
	case WORD_ARG:
		say("chisel %s has no argument %.*s; see saker -i %s", name, (int)len, word, name);
		return -EINVAL;
	case WORD_VALUE:
		break;
	}
	return 1;
}

/* Returns the argument of a chisel whose only argument is a filter; NULL: it has others. */
static const char *filter_arg_of(const struct sinsp_chisel *c)
{
	const struct sinsp_chisel_info *info = sinsp_chisel_info(c);

	return info->n_args == 1 && strcmp(info->args[0].type, "filter") == 0 ? info->args[0].name
									      : NULL;
}

/* Removes quotes around the text: a shell removes one pair, and users of sysdig write two. */
static void unquote(char *text)
{
	const size_t len = strlen(text);

	if (len < 2 || !strchr("'`\"", *text) || strchr(text + 1, *text) != text + len - 1)
		return;
	memmove(text, text + 1, len - 2);
	text[len - 2] = '\0';
}

/* Assigns all remaining words to the argument @name, which is a filter. */
static int assign_filter(struct chisel_use *use, struct chisel_words *b, const char *name)
{
	char *skip = calloc(1, b->words->n + 1), *text;

	for (size_t i = b->from; skip && i < b->words->n; i++)
		skip[i] = b->assigned[i] || i >= b->end;
	text = skip ? chisels_join_words(b->words, b->from, skip) : NULL;
	free(skip);
	if (!text)
		return -ENOMEM;
	unquote(text);
	if (asprintf(&use->filter, "%s=%s", name, text) < 0)
		use->filter = NULL;
	free(text);
	for (size_t i = b->from; i < b->end; i++)
		b->assigned[i] = 1;
	return use->filter ? add_arg(&use->args, use->filter) : -ENOMEM;
}

/*
 * Returns whether the word @at is an argument of the chisel, as in sysdig: yes if a required one is
 * missing; for optional ones, if no filter begins with the word. Returns 1, 0, or a negative errno.
 */
static int needs_word(const struct sinsp_chisel *c, const struct chisel_words *b, size_t at,
		      const struct text_list *args)
{
	int needs;

	if (!sinsp_chisel_info(c)->n_args)
		return 0;
	needs = sinsp_chisel_needs_arg(c, args->v, args->n);
	if (needs)
		return needs < 0 ? needs : 1;
	if (is_filter(b, NULL) || is_filter(b, c))
		return 0;
	return is_value(c, b, at);
}

/* Assigns the words of the chisel. Words that form a filter count as one word, as in sysdig. */
static int assign_words(struct chisel_use *use, struct chisel_words *b)
{
	const struct sinsp_chisel *c = use->c;
	struct text_list *args = &use->args;
	int err = assign_named(c, b, args, 0), wants;
	size_t at = b->from;

	while (at < b->end && b->assigned[at])
		at++;
	if (err || at == b->end)
		return err;
	if (!args->n && filter_arg_of(c))
		return assign_filter(use, b, filter_arg_of(c));
	wants = needs_word(c, b, at, args);
	if (wants > 0)
		err = assign_word(b, at, args);
	if (wants < 0 || err)
		return wants < 0 ? wants : err;
	return is_filter(b, NULL) ? 0 : assign_named(c, b, args, 1);
}

/* Splits -c "NAME ARGUMENTS" if there is no file of that name. Owned. */
static char *split_name(const char *text, struct text_list *args)
{
	const int is_path = strchr(text, '/') && access(text, F_OK) == 0;
	const size_t len = is_path ? strlen(text) : strcspn(text, " ");

	if (text[len]) {
		args->v = calloc(2, sizeof(*args->v));
		if (!args->v)
			return NULL;
		args->v[args->n++] = text + len + 1;
	}
	return strndup(text, len);
}

/* Refuses files that cannot run. */
static int check_runnable(const struct sinsp_chisel_info *info)
{
	if (info->view) {
		say("%s is a view (a table of the terminal interface), not a chisel", info->name);
		return -EINVAL;
	}
	if (info->is_module) {
		say("%s is a library module, not a chisel; see saker -cl", info->name);
		return -EINVAL;
	}
	return 0;
}

/* Checks an argument that is a filter before the chisel does. */
static int check_filter(const struct chisel_use *use)
{
	const char *text = use->filter ? strchr(use->filter, '=') + 1 : "";
	struct sinsp_filter_error bad = {0};
	struct sinsp_filter *f = NULL;
	int err = *text ? sinsp_filter_new(&f, text, NULL, &bad) : 0;

	sinsp_filter_free(f);
	if (err)
		say("chisel %s: its argument '%s' is not a filter: %s",
		    sinsp_chisel_info(use->c)->name, text, bad.text ? bad.message : strerror(-err));
	return err;
}

/* Returns whether a list separated by commas has the name of a field, or one that is similar. */
static int names_field(const char *word)
{
	for (size_t len; *word; word += len + (word[len] != '\0')) {
		len = strcspn(word, ",=");
		if (memchr(word, '.', len) && sinsp_field_nearest(word, len))
			return 1;
	}
	return 0;
}

/* Warns about words that a chisel took as values, but that look like something else. */
static void warn_order(const struct options *o, const struct chisel_use *use,
		       const struct chisel_words *b)
{
	const char *name = sinsp_chisel_info(use->c)->name;
	size_t i = b->from;

	while (i < b->end && (!b->assigned[i] || sinsp_chisel_names_arg(use->c, b->words->v[i])))
		i++;
	if (i == b->end || names_field(b->words->v[i]))
		return;
	if (o->read.n || o->command)
		say("after -c %s come its arguments (see saker -i %s), then a filter", name, name);
	else
		say("after -c %s come its arguments (see saker -i %s), then a filter, then "
		    "-- and a command to run: saker -c %s -- %s%s",
		    name, name, name, b->words->v[i], i + 1 < b->end ? " ..." : "");
}

int chisels_open_one(struct chisels *cs, const struct options *o, size_t i, char *assigned)
{
	const struct chisel_name *name_at = &o->chisels.v[i];
	struct chisel_words b = {
		.words = &o->words,
		.from = name_at->n_words,
		.end = i + 1 < o->chisels.n ? name_at[1].n_words : o->words.n,
		.assigned = assigned,
	};
	struct chisel_use *use = &cs->v[i];
	char *name = split_name(name_at->name, &use->args);
	int err = name ? sinsp_chisel_open(&use->c, &cs->run, name) : -ENOMEM;

	free(name);
	if (err)
		return err;
	err = check_runnable(sinsp_chisel_info(use->c));
	if (err)
		return err;
	err = assign_words(use, &b) ?: check_filter(use);
	if (err)
		return err;
	err = sinsp_chisel_set_args(use->c, use->args.v, use->args.n);
	if (err)
		warn_order(o, use, &b);
	return err;
}
