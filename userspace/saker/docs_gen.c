/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what documents the command line, from the option rows:
 *   docs_gen man TEMPLATE VERSION   the template with its lines @OPTIONS@, @PROFILE@ and @SELFTEST@
 *                                   replaced
 *   docs_gen bash                   the completion of bash
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static void put_man_text(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

static void put_man_row(const struct option_row *row)
{
	printf(".TP\n");
	if (row->letter)
		printf("\\fB\\-%c\\fR, ", row->letter);
	printf("\\fB\\-\\-");
	put_man_text(row->name);
	printf("\\fR");
	if (row->arg)
		printf(" \\fI%s\\fR", row->arg);
	putchar('\n');
	put_man_text(row->help);
	putchar('\n');
}

static void put_man_options(const struct option_row *rows)
{
	const struct option_row *row;

	for (row = rows; row->name; row++) {
		if (rows == option_rows && (row == rows || row->group != row[-1].group))
			printf(".SS %s\n", option_group_title(row->group));
		put_man_row(row);
	}
}

static void put_man_line(const char *line, const char *version)
{
	const char *at = strstr(line, "@VERSION@");

	if (strcmp(line, "@OPTIONS@\n") == 0)
		put_man_options(option_rows);
	else if (strcmp(line, "@PROFILE@\n") == 0)
		put_man_options(profile_rows);
	else if (strcmp(line, "@SELFTEST@\n") == 0)
		put_man_options(selftest_rows);
	else if (at)
		printf("%.*s%s%s", (int)(at - line), line, version, at + strlen("@VERSION@"));
	else
		fputs(line, stdout);
}

static int put_man(const char *template, const char *version)
{
	char line[1024];
	FILE *f = fopen(template, "r");

	if (!f) {
		perror(template);
		return 1;
	}
	while (fgets(line, sizeof(line), f))
		put_man_line(line, version);
	fclose(f);
	return 0;
}

static void put_bash_choices(const struct option_row *row)
{
	const struct option_choice *c;

	printf("\t");
	if (row->letter)
		printf("-%c | ", row->letter);
	printf("--%s)\n\t\tmapfile -t COMPREPLY < <(compgen -W '", row->name);
	for (c = row->choices; c->name; c++)
		printf("%s%s", c == row->choices ? "" : " ", c->name);
	printf("' -- \"$cur\")\n\t\treturn\n\t\t;;\n");
}

/* Kinds of words that an option accepts. */
static const struct {
	const char *arg, *offers;
} bash_args[] = {
	{"FILE", "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")"},
	/* Chisels in the list, and files with a folder before them. */
	{"CHISEL",
	 "mapfile -t COMPREPLY < <(compgen -W \"$(\"${COMP_WORDS[0]}\" -cl 2>/dev/null |\n"
	 "\t\t\tsed -n 's/^  \\([^ ][^ ]*\\).*/\\1/p')\" -- \"$cur\"\n"
	 "\t\t\t[[ $cur != */* ]] || compgen -f -- \"$cur\")"},
	{NULL, "COMPREPLY=()"},
};

static int is_bash_arg(const char *arg, size_t i)
{
	size_t at = 0;

	while (bash_args[at].arg && strcmp(bash_args[at].arg, arg) != 0)
		at++;
	return at == i;
}

/* Options whose argument has no words to complete, or one of these. */
static void put_bash_others(size_t i)
{
	const struct option_row *row;
	const char *sep = "\t";

	for (row = option_rows; row->name; row++) {
		if (!row->arg || row->choices || !is_bash_arg(row->arg, i))
			continue;
		if (row->letter)
			printf("%s-%c", sep, row->letter);
		if (row->letter)
			sep = " | ";
		printf("%s--%s", sep, row->name);
		sep = " | ";
	}
	printf(")\n\t\t%s\n\t\treturn\n\t\t;;\n", bash_args[i].offers);
}

static void put_bash_words(const struct option_row *rows)
{
	const struct option_row *row;

	printf("\tmapfile -t COMPREPLY < <(compgen -W '\n");
	for (row = rows; row->name; row++) {
		printf("\t\t--%s", row->name);
		if (row->letter)
			printf(" -%c", row->letter);
		putchar('\n');
	}
	for (const struct option_command *c = option_commands; rows == option_rows && c->name; c++)
		printf("\t\t%s\n", c->name);
	printf("\t' -- \"$cur\")\n");
}

static void put_bash_command(const struct option_command *command)
{
	printf("\tif [[ ${COMP_WORDS[1]} == %s ]] && ((COMP_CWORD > 1)); then\n", command->name);
	put_bash_words(command->rows);
	printf("\t\treturn\n\tfi\n");
}

/* Programs of their own: their help lists the options. The second word alone names one. */
static void put_bash_programs(void)
{
	const char *sep = "\tcase $((COMP_CWORD > 1))${COMP_WORDS[1]} in\n\t";

	for (const struct option_command *c = option_commands; c->name; c++) {
		if (!c->program)
			continue;
		printf("%s1%s", sep, c->name);
		sep = " | ";
	}
	printf(")\n\t\tmapfile -t COMPREPLY < <(\n"
	       "\t\t\t[[ $cur == -* ]] || compgen -f -- \"$cur\"\n"
	       "\t\t\tcompgen -W \"$(\"${COMP_WORDS[0]}\" \"${COMP_WORDS[1]}\" --help 2>/dev/null "
	       "|\n"
	       "\t\t\t\tsed -n 's/^  \\(-., \\|    \\)\\(--[a-z-]*\\).*/\\2/p')\" -- \"$cur\")\n"
	       "\t\treturn\n\t\t;;\n\tesac\n");
}

static int put_bash(void)
{
	const struct option_row *row;

	printf("# SPDX-License-Identifier: Apache-2.0\n"
	       "# Bash completion of saker's options, generated from the option table.\n"
	       "_saker() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i\n"
	       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	       "\t\t\t_command_offset $((i + 1))\n"
	       "\t\t\treturn\n"
	       "\t\tfi\n"
	       "\tdone\n");
	put_bash_programs();
	printf("\tcase $prev in\n");
	for (row = option_rows; row->name; row++) {
		if (row->choices)
			put_bash_choices(row);
	}
	for (size_t i = 0; i < sizeof(bash_args) / sizeof(bash_args[0]); i++)
		put_bash_others(i);
	printf("\tesac\n");
	for (const struct option_command *c = option_commands; c->name; c++)
		if (c->rows && c->rows != option_rows)
			put_bash_command(c);
	put_bash_words(option_rows);
	printf("}\ncomplete -o filenames -F _saker saker\n");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "man") == 0)
		return put_man(argv[2], argv[3]);
	if (argc == 2 && strcmp(argv[1], "bash") == 0)
		return put_bash();
	fprintf(stderr, "docs_gen: usage: docs_gen man TEMPLATE VERSION | docs_gen bash\n");
	return 1;
}
