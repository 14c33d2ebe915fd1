/* SPDX-License-Identifier: Apache-2.0 */
#include "option_values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "shared/config.h"
#include "shared/stack.h"
#include "shared/unwind_table.h"

#define MAX_COMM 15 /* TASK_COMM_LEN without the NUL */

int set_value(void *member, const struct option_row *row, const char *arg)
{
	(void)arg;
	*(int *)member = row->value;
	return 0;
}

int parse_lines_kind(void *member, const struct option_row *row, const char *arg)
{
	(void)arg;
	if (*(int *)member && *(int *)member != row->value) {
		say("-j and --tsv exclude each other");
		return -EINVAL;
	}
	*(int *)member = row->value;
	return 0;
}

int parse_compress(void *member, const struct option_row *row, const char *arg)
{
	const int *chosen = member;

	if (*chosen && *chosen != row->value) {
		say("-z and --zstd exclude each other");
		return -EINVAL;
	}
	return set_value(member, row, arg);
}

/* For options that are always on. */
int ignore_value(void *member, const struct option_row *row, const char *arg)
{
	(void)member, (void)row, (void)arg;
	return 0;
}

int is_gz_name(const char *path)
{
	const size_t len = strlen(path);

	return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

int set_text(void *member, const struct option_row *row, const char *arg)
{
	if (!*arg) {
		say("--%s needs the name of a file, not an empty one", row->name);
		return -EINVAL;
	}
	*(const char **)member = arg;
	return 0;
}

int set_only_capture(void *member, const struct option_row *row, const char *arg)
{
	if (*(const char **)member) {
		say("only one capture file can be read; join several with: saker -r FILE -r FILE "
		    "-w JOINED");
		return -EINVAL;
	}
	return set_text(member, row, arg);
}

int parse_text(void *member, const struct option_row *row, const char *arg)
{
	if (!*arg) {
		say("--%s needs a text, not an empty one", row->name);
		return -EINVAL;
	}
	*(const char **)member = arg;
	return 0;
}

int parse_list(void *member, const struct option_row *row, const char *arg)
{
	struct text_list *list = member;
	const char **v;
	int err;

	err = set_text(&arg, row, arg);
	if (err)
		return err;
	v = realloc(list->v, (list->n + 2) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	v[list->n++] = arg;
	v[list->n] = NULL;
	list->v = v;
	return 0;
}

int check_comm(const struct option_row *row, const char *name)
{
	if (!*name) {
		say("--%s needs the name of a process, not an empty one", row->name);
		return -EINVAL;
	}
	if (strlen(name) > MAX_COMM) {
		say("--%s: cannot match '%s': the kernel keeps %d bytes of a name; use '%.*s'",
		    row->name, name, MAX_COMM, MAX_COMM, name);
		return -EINVAL;
	}
	return 0;
}

int parse_comm(void *member, const struct option_row *row, const char *arg)
{
	return check_comm(row, arg) ?: parse_list(member, row, arg);
}

int parse_choice(void *member, const struct option_row *row, const char *arg)
{
	const struct option_choice *c;
	char names[128] = "";

	for (c = row->choices; c->name; c++) {
		if (strcmp(c->name, arg) == 0) {
			*(int *)member = c->value;
			return 0;
		}
		if (*names)
			strncat(names, c[1].name ? ", " : " or ",
				sizeof(names) - strlen(names) - 1);
		strncat(names, c->name, sizeof(names) - strlen(names) - 1);
	}
	say("--%s is %s, not '%s'", row->name, names, arg);
	return -EINVAL;
}

/* One of the choices, or a format. */
int parse_format(void *member, const struct option_row *row, const char *arg)
{
	struct line_format *line = member;

	line->format = NULL;
	line->print_default = strcmp(arg, "p") == 0;
	if (line->print_default)
		return 0;
	for (const struct option_choice *c = row->choices; c->name; c++) {
		if (strcmp(c->name, arg) == 0) {
			line->preset = c->value;
			return 0;
		}
	}
	if (strcmp(arg, "m") == 0 || strcmp(arg, "mesos") == 0) {
		say("-p%s is not supported: saker does not query Mesos", arg);
		return -EINVAL;
	}
	line->format = arg;
	return 0;
}

/* Digits only: no sign, no space, no fraction. *end is what follows. */
static int parse_number(const char *text, uint64_t *out, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &stop, 10);
	*end = stop;
	return errno ? -EINVAL : 0;
}

int parse_count(void *member, const struct option_row *row, const char *arg)
{
	const char *end;
	uint64_t n;

	if (parse_number(arg, &n, &end) || *end || n == 0) {
		say("--%s needs a whole number above 0, not '%s'", row->name, arg);
		return -EINVAL;
	}
	*(uint64_t *)member = n;
	return 0;
}

/* Millions of bytes, as in sysdig and tcpdump. */
int parse_megabytes(void *member, const struct option_row *row, const char *arg)
{
	const char *end;
	uint64_t n;

	if (parse_number(arg, &n, &end) || *end || n == 0 || n > UINT64_MAX / 1000000) {
		say("--%s needs a whole number of million bytes above 0, not '%s'", row->name, arg);
		return -EINVAL;
	}
	*(uint64_t *)member = n * 1000000;
	return 0;
}

int parse_seconds(void *member, const struct option_row *row, const char *arg)
{
	char *end;
	double s = strtod(arg, &end);

	if (!isdigit((unsigned char)*arg) || *end || !isfinite(s) || s <= 0 || s > 1e9) {
		say("--%s needs a number of seconds above 0, not '%s'", row->name, arg);
		return -EINVAL;
	}
	*(uint64_t *)member = s * 1e9 < 1 ? 1 : (uint64_t)(s * 1e9);
	return 0;
}

int parse_time(void *member, const struct option_row *row, const char *arg)
{
	const struct time_arg *t = member;

	if (time_arg_parse(member, arg)) {
		say("--%s needs a time such as 14:03:05.25, '2026-01-31 14:03:05' (also with Z or "
		    "+01:00 behind it), 1769864585.25 (seconds since 1970) or +90 (seconds after "
		    "the first event), not '%s'",
		    row->name, arg);
		return -EINVAL;
	}
	if (t->kind == TIME_ARG_EPOCH && t->ns < TIME_ARG_OLD_NS) {
		say("--%s %s is a time before 2000: for seconds after the first event, write "
		    "+%s",
		    row->name, arg, arg);
		return -EINVAL;
	}
	return 0;
}

int parse_checkpoints(void *member, const struct option_row *row, const char *arg)
{
	char *end;
	const double mb = strtod(arg, &end);

	if (!isdigit((unsigned char)*arg) || *end || !isfinite(mb) || mb < 0 || mb > 1e9) {
		say("--%s needs a number of million bytes, or 0 for none, not '%s'", row->name,
		    arg);
		return -EINVAL;
	}
	*(uint64_t *)member = mb * 1e6 < 1 ? UINT64_MAX : (uint64_t)(mb * 1e6);
	return 0;
}

/* A whole number of @what from 1 to @max. */
static int parse_up_to(uint64_t *n, const struct option_row *row, const char *arg, uint64_t max,
		       const char *what)
{
	const char *end;

	if (!parse_number(arg, n, &end) && !*end && *n && *n <= max)
		return 0;
	say("--%s is from 1 to %llu%s, not '%s'", row->name, (unsigned long long)max, what, arg);
	return -EINVAL;
}

int parse_hz(void *member, const struct option_row *row, const char *arg)
{
	uint64_t hz;
	int err = parse_up_to(&hz, row, arg, SAMPLE_HZ_MAX, " samples a second");

	if (!err)
		*(uint64_t *)member = 1000000000 / hz;
	return err;
}

int parse_depth(void *member, const struct option_row *row, const char *arg)
{
	uint64_t n;
	int err = parse_up_to(&n, row, arg, STACK_USER_MAX, " frames");

	if (!err)
		*(uint32_t *)member = (uint32_t)n;
	return err;
}

int parse_percent(void *member, const struct option_row *row, const char *arg)
{
	uint64_t n;
	int err = parse_up_to(&n, row, arg, 100, "");

	if (!err)
		*(uint32_t *)member = (uint32_t)n;
	return err;
}

int parse_snaplen(void *member, const struct option_row *row, const char *arg)
{
	const char *end;
	uint64_t n;

	if (parse_number(arg, &n, &end) || *end || n == 0 || n > DRV_SNAPLEN_MAX) {
		say("--%s is from 1 to %u bytes, not '%s'", row->name, DRV_SNAPLEN_MAX, arg);
		return -EINVAL;
	}
	*(uint64_t *)member = n;
	return 0;
}

static uint64_t unit_of(char c)
{
	switch (toupper((unsigned char)c)) {
	case 'K':
		return 1 << 10;
	case 'M':
		return 1 << 20;
	case 'G':
		return 1 << 30;
	default:
		return 0;
	}
}

int parse_cpus_per_ring(void *member, const struct option_row *row, const char *arg)
{
	const char *end;
	uint64_t n;

	if (parse_number(arg, &n, &end) || *end || n > DRV_MAX_CPUS) {
		say("--%s is a number of CPUs up to %d, or 0 for all, not '%s'", row->name,
		    DRV_MAX_CPUS, arg);
		return -EINVAL;
	}
	*(uint32_t *)member = n ? (uint32_t)n : UINT32_MAX;
	return 0;
}

/* Parses bytes, with or without a unit; not 0: invalid, or not from @min to @max. */
static int parse_size(const char *arg, uint64_t *out, uint64_t min, uint64_t max)
{
	const char *end;
	uint64_t n, unit = 1;

	if (parse_number(arg, &n, &end))
		return -EINVAL;
	if (*end) {
		unit = unit_of(*end++);
		if (!unit || *end)
			return -EINVAL;
	}
	if (n > max / unit || n * unit < min)
		return -EINVAL;
	*out = n * unit;
	return 0;
}

int parse_ring_size(void *member, const struct option_row *row, const char *arg)
{
	uint64_t n;

	if (parse_size(arg, &n, RING_SZ_MIN, RING_SZ_MAX) || n & (n - 1)) {
		say("--%s is a power of two from 256K to 256M, not '%s'", row->name, arg);
		return -EINVAL;
	}
	*(uint64_t *)member = n;
	return 0;
}

int parse_file_size(void *member, const struct option_row *row, const char *arg)
{
	if (!parse_size(arg, member, 64 << 10, UINT64_MAX >> 1))
		return 0;
	say("--%s needs a number of bytes from 64K on, as in 500M, not '%s'", row->name, arg);
	return -EINVAL;
}

int parse_min_free(void *member, const struct option_row *row, const char *arg)
{
	struct size_option *so = member;

	so->given = 1;
	if (!parse_size(arg, &so->n, 0, UINT64_MAX >> 1))
		return 0;
	say("--%s needs a number of bytes, as in 500M, or 0 for no limit, not '%s'", row->name,
	    arg);
	return -EINVAL;
}

int parse_tables_size(void *member, const struct option_row *row, const char *arg)
{
	if (!parse_size(arg, member, UNWIND_CHUNK_SZ,
			(uint64_t)UNWIND_CHUNK_SZ * UNWIND_CHUNKS_MAX))
		return 0;
	say("--%s is from 1M to 1G, not '%s'", row->name, arg);
	return -EINVAL;
}
