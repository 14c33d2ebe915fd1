/* SPDX-License-Identifier: Apache-2.0 */
/* sysdig.run_app: the command line that a chisel requests, and whether it is allowed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chisels.h"
#include "say.h"
#include "spawn.h"

int chisels_split_run_app(const struct chisels *cs, char *self, char ***argv, int *argc)
{
	char *rest = strdup(cs->run.run_app), *word, **v;
	int n = 1;

	*argc = 0;
	*argv = v = calloc(strlen(cs->run.run_app) / 2 + 3, sizeof(*v));
	if (!rest || !v) {
		free(rest);
		return -ENOMEM;
	}
	v[0] = self;
	for (char *p = rest; (word = strsep(&p, " "));)
		if (*word && (v[n] = strdup(word)))
			n++;
	*argc = n;
	free(rest);
	return 0;
}

/* Returns whether @word is one of the words of @text, or the value of one. */
static int has_word(const char *text, const char *word, size_t len)
{
	for (const char *p = text; *p; p += strcspn(p, " ="), p += strspn(p, " ="))
		if (strcspn(p, " ") == len && memcmp(p, word, len) == 0)
			return 1;
	return 0;
}

/* Returns whether the user named @file as an argument of a chisel. */
static int is_argument(const struct chisels *cs, const char *file)
{
	const size_t len = strlen(file);

	for (size_t i = 0; i < cs->n; i++)
		for (size_t j = 0; j < cs->v[i].args.n; j++)
			if (has_word(cs->v[i].args.v[j], file, len))
				return 1;
	return 0;
}

int chisels_check_run_app(const struct chisels *cs, const struct options *o)
{
	if (cs->run.unsafe)
		return 0;
	if (o->command || o->output || o->chisels.n || o->mode != MODE_CAPTURE) {
		say("sysdig.run_app('%s') is not allowed: without --chisel-unsafe it can only "
		    "print or filter a capture",
		    cs->run.run_app);
		return -EPERM;
	}
	if (o->write && !is_argument(cs, o->write)) {
		say("sysdig.run_app may not write %s: without --chisel-unsafe only files named by "
		    "the chisel's arguments",
		    o->write);
		return -EPERM;
	}
	return 0;
}
