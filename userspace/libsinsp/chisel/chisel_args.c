/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a chisel from the words of the command line. NAME=value sets the argument NAME;
 * other words set the remaining arguments in order, as in sysdig. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chisel_host.h"

enum { WORDS_MAX = 100 };

/* The parsed words. */
struct given {
	char *text; /* owned; the others point into it */
	char *words[WORDS_MAX]; /* words without a name */
	size_t n_words, n_named;
	const char *values[SINSP_CHISEL_ARGS_MAX]; /* by argument; NULL: not set */
};

/* Returns the length of the argument's name if @word sets it, else 0. */
static size_t named_len(const struct sinsp_chisel_arg *a, const char *word)
{
	const size_t len = strlen(a->name);

	return strncmp(word, a->name, len) == 0 && word[len] == '=' ? len : 0;
}

/* Returns the index of the argument that @word sets; n_args: none. */
static size_t find_named(const struct sinsp_chisel_info *info, const char *word)
{
	size_t i = 0;

	while (i < info->n_args && !named_len(&info->args[i], word))
		i++;
	return i;
}

int sinsp_chisel_names_arg(const struct sinsp_chisel *c, const char *word)
{
	return find_named(&c->info, word) < c->info.n_args;
}

static int is_quote(char c)
{
	return c == '\'' || c == '`' || c == '"';
}

/* Returns the next word at *text, unquoted in place, or NULL. *open: a quote is not closed. */
static char *next_word(char **text, int *open)
{
	char *p = *text, *word, *out, quote = 0;

	p += strspn(p, " ");
	if (!*p)
		return NULL;
	for (word = out = p; *p && (quote || *p != ' '); p++) {
		if (quote && *p == quote)
			quote = 0;
		else if (!quote && is_quote(*p))
			quote = *p;
		else
			*out++ = *p;
	}
	*text = *p ? p + 1 : p;
	*out = '\0';
	*open = quote != 0;
	return word;
}

static int set_named(const struct sinsp_chisel *c, struct given *g, size_t i, const char *word)
{
	const struct sinsp_chisel_arg *a = &c->info.args[i];

	if (g->values[i]) {
		sinsp_chisel_say(c, "chisel %s: the argument %s is given twice", c->info.name,
				 a->name);
		return -EINVAL;
	}
	g->values[i] = word + named_len(a, word) + 1;
	g->n_named++;
	return 0;
}

/* Returns whether @text sets one argument to a value with spaces: a shell passes NAME='A B' as
 * NAME=A B. */
static int is_one_value(const struct sinsp_chisel_info *info, char *text)
{
	int open, n_others = 0;
	char *word;

	if (find_named(info, text) == info->n_args)
		return 0;
	while ((word = next_word(&text, &open)))
		n_others += find_named(info, word) == info->n_args;
	return n_others > 0;
}

/* Splits @arg into words. Copies it to @text twice, since words are unquoted in place. */
static int read_words(const struct sinsp_chisel *c, struct given *g, char *text, const char *arg)
{
	const struct sinsp_chisel_info *info = &c->info;
	int err = 0, open;
	char *word;

	if (is_one_value(info, strcpy(text, arg)))
		return set_named(c, g, find_named(info, arg), strcpy(text, arg));
	strcpy(text, arg);
	while (!err && g->n_words < WORDS_MAX) {
		const int quoted = is_quote(text[strspn(text, " ")]);
		size_t i;

		word = next_word(&text, &open);
		if (!word)
			break;
		i = quoted ? info->n_args : find_named(info, word);
		if (open) {
			sinsp_chisel_say(c, "chisel %s: a quote is not closed in '%s'", info->name,
					 arg);
			return -EINVAL;
		}
		if (i < info->n_args)
			err = set_named(c, g, i, word);
		else
			g->words[g->n_words++] = word;
	}
	return err;
}

/* Sets the remaining arguments from words without a name. */
static int place_words(const struct sinsp_chisel *c, struct given *g)
{
	const struct sinsp_chisel_info *info = &c->info;
	size_t n = 0;

	for (size_t i = 0; i < info->n_args && n < g->n_words; i++)
		if (!g->values[i])
			g->values[i] = g->words[n++];
	if (n == g->n_words)
		return 0;
	sinsp_chisel_say(c, "chisel %s takes %zu arguments, not %zu; see saker -i %s", info->name,
			 info->n_args, g->n_named + g->n_words, info->name);
	return -EINVAL;
}

/* Returns the index of a required argument that is missing; n_args: none. Without names the number
 * of words decides, as in sysdig. */
static size_t find_missing(const struct sinsp_chisel_info *info, const struct given *g)
{
	const size_t n = g->n_named + g->n_words;
	size_t i = 0;

	if (!g->n_named)
		return n < info->n_required ? n : info->n_args;
	while (i < info->n_args && (g->values[i] || info->args[i].optional))
		i++;
	return i;
}

static int read_given(const struct sinsp_chisel *c, struct given *g, const char *const *args,
		      size_t n)
{
	size_t sz = 1;
	char *text;
	int err = 0;

	for (size_t i = 0; i < n; i++)
		sz += strlen(args[i]) + 1;
	text = g->text = malloc(sz);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		err = read_words(c, g, text, args[i]);
		text += strlen(args[i]) + 1;
	}
	return err ?: place_words(c, g);
}

int sinsp_chisel_needs_arg(const struct sinsp_chisel *c, const char *const *args, size_t n)
{
	struct given g = {0};
	const int err = read_given(c, &g, args, n);
	const size_t missing = find_missing(&c->info, &g);

	free(g.text);
	return err ?: missing < c->info.n_args;
}

static int set_arg(struct sinsp_chisel *c, size_t i, const char *value)
{
	struct sinsp_chisel_callback cb = {
		.name = "on_set_arg", .texts = {c->info.args[i].name, value}, .n_texts = 2};
	int err = sinsp_chisel_call_back(c, &cb);

	if (err)
		return err;
	if (!cb.found) {
		sinsp_chisel_say(c, "chisel %s has arguments, but no on_set_arg", c->info.name);
		return -EINVAL;
	}
	if (!cb.result) {
		sinsp_chisel_say(c, "chisel %s does not accept '%s' for %s", c->info.name, value,
				 c->info.args[i].name);
		return -EINVAL;
	}
	return 0;
}

static int set_all(struct sinsp_chisel *c, const struct given *g)
{
	const struct sinsp_chisel_info *info = &c->info;
	const size_t missing = find_missing(info, g);
	int err = 0;

	if (missing < info->n_args) {
		sinsp_chisel_say(c, "chisel %s needs the argument %s; see saker -i %s", info->name,
				 info->args[missing].name, info->name);
		return -EINVAL;
	}
	for (size_t i = 0; i < info->n_args && !err; i++)
		if (g->values[i])
			err = set_arg(c, i, g->values[i]);
	return err;
}

int sinsp_chisel_set_args(struct sinsp_chisel *c, const char *const *args, size_t n)
{
	struct given g = {0};
	int err = read_given(c, &g, args, n);

	if (!err)
		err = set_all(c, &g);
	free(g.text);
	return err;
}

int sinsp_chisel_set_values(struct sinsp_chisel *c, char *const *values, size_t n)
{
	struct given g = {0};
	int err;

	while (g.n_words < n && g.n_words < WORDS_MAX) {
		g.words[g.n_words] = values[g.n_words];
		g.n_words++;
	}
	err = place_words(c, &g);
	return err ?: set_all(c, &g);
}
