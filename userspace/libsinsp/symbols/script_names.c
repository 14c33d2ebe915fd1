/* SPDX-License-Identifier: Apache-2.0 */
#include "script_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "java_names.h"
#include "lua_names.h"
#include "python_lines.h"
#include "ruby_lines.h"
#include "shared/interp.h"
#include "shared/stack.h"

#define BUCKETS 65536 /* powers of two */
#define PID_BUCKETS 4096
#define UTF8_MAX 4 /* bytes per character */
#define NAME_MAX_SZ (UTF8_MAX * INTERP_NAME_MAX + INTERP_LINES_MAX) /* with a package */
#define ARITY_MAX 12 /* bytes of a colon, a slash and a number, with a NUL */

/* ---- text ---- */

static uint32_t char_at(const uint8_t *p, uint32_t i, unsigned int size)
{
	uint16_t two;
	uint32_t four;

	if (size == 1)
		return p[i];
	if (size == 2) {
		memcpy(&two, p + 2 * (size_t)i, sizeof(two));
		return two;
	}
	memcpy(&four, p + 4 * (size_t)i, sizeof(four));
	return four;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Copies a text as UTF-8, with a NUL. Returns the end. */
static char *put_text(char *to, const uint8_t *p, uint32_t len, unsigned int kind)
{
	const unsigned int size = kind == INTERP_UCS4 ? 4 : kind == INTERP_UCS2 ? 2 : 1;

	if (kind == INTERP_ASCII || kind == INTERP_BYTES) {
		if (len)
			memcpy(to, p, len);
		to += len;
	} else {
		for (uint32_t i = 0; i < len / size; i++)
			to += put_utf8(to, char_at(p, i, size));
	}
	*to++ = '\0';
	return to;
}

/* ---- the table ---- */

static size_t bucket_of(const struct script_names *s, int64_t pid, uint64_t code, uint32_t check)
{
	const uint64_t seed = scap_hash_number(scap_hash_number(s->seed, (uint64_t)pid), check);

	return scap_hash_number(seed, code) & (BUCKETS - 1);
}

static size_t pid_bucket(const struct script_names *s, int64_t pid)
{
	return scap_hash_number(s->seed, (uint64_t)pid) & (PID_BUCKETS - 1);
}

static struct script_code *find(const struct script_names *s, int64_t pid, uint64_t code,
				uint32_t check)
{
	struct script_code *c = s->buckets ? s->buckets[bucket_of(s, pid, code, check)] : NULL;

	while (c && (c->pid != pid || c->code != code || c->check != check))
		c = c->next;
	return c;
}

const struct script_code *script_names_find(struct script_names *s, int64_t pid, uint64_t code,
					    uint32_t check)
{
	struct script_code *c = find(s, pid, code, check);

	if (c)
		c->is_used = 1;
	return c;
}

static int init(struct script_names *s)
{
	if (s->buckets)
		return 0;
	s->buckets = calloc(BUCKETS, sizeof(struct script_code *));
	s->by_pid = calloc(PID_BUCKETS, sizeof(struct script_code *));
	s->seed = scap_hash_seed(s);
	if (s->buckets && s->by_pid)
		return 0;
	script_names_fini(s);
	return -ENOMEM;
}

/* Returns whether the texts are as the driver reads them, not from a file of ours. */
static int is_raw(const struct script_row *row)
{
	return row->kinds >> 4 == INTERP_BYTES;
}

/* Puts the source of a chunk of Lua; one from a file has its name already. */
static char *put_file(char *to, const struct script_row *row)
{
	if (row->language == STACK_WALKER_LUA && is_raw(row))
		return lua_put_chunk_name(to, row->file, row->file_len);
	return put_text(to, row->file, row->file_len, row->kinds >> 4);
}

/* Returns the name of code outside of functions, in languages whose functions have a package or a
 * class, which is in the lines; NULL: another language. */
static const char *outer_name(const struct script_row *row)
{
	if (row->language == STACK_WALKER_PERL)
		return "main program";
	return row->language == STACK_WALKER_PHP ? "{main}" : NULL;
}

/* Returns the name of a function without a name, in languages that show no place instead. */
static const char *nameless(const struct script_row *row)
{
	return row->language == STACK_WALKER_NODE && !row->name_len ? "<anonymous>" : NULL;
}

/* Puts the name of a function behind that of its package or class. The latter ends at a NUL, which
 * PHP has in those of classes without a name. */
static char *put_qualified_name(char *to, const struct script_row *row)
{
	const char *package = (const char *)row->lines;

	if (!row->name_len)
		return stpcpy(to, outer_name(row)) + 1;
	if (row->n_lines)
		to = mempcpy(mempcpy(to, package, strnlen(package, row->n_lines)), "::", 2);
	return put_text(to, row->name, row->name_len, INTERP_BYTES);
}

static char *put_bytes(char *to, const uint8_t *p, uint32_t len)
{
	return len ? mempcpy(to, p, len) : to;
}

/* Puts the name of a function of Erlang: its module, which is in the lines, and its arity, which is
 * in place of a line. */
static char *put_erlang_name(char *to, const struct script_row *row)
{
	to = put_bytes(to, row->lines, row->n_lines);
	*to++ = ':';
	to = put_bytes(to, row->name, row->name_len);
	return to + snprintf(to, ARITY_MAX, "/%u", row->first_line) + 1;
}

/* Puts the texts of @row behind @c. Returns their end. */
static char *put_texts(struct script_code *c, const struct script_row *row)
{
	char *file = (char *)(c + 1), *name = put_file(file, row), *end;

	if (row->language == STACK_WALKER_BEAM && is_raw(row))
		end = put_erlang_name(name, row);
	else if (row->language == STACK_WALKER_JAVA && is_raw(row))
		end = java_put_method(name, &(struct java_method){.class_name = row->bases,
								  .class_len = row->n_bases,
								  .name = row->name,
								  .name_len = row->name_len});
	else if (outer_name(row) && is_raw(row))
		end = put_qualified_name(name, row);
	else if (row->language == STACK_WALKER_LUA && !row->name_len)
		end = lua_put_function(name, file, row->first_line);
	else if (nameless(row))
		end = stpcpy(name, nameless(row)) + 1;
	else if (row->language == STACK_WALKER_NODE && !row->name_len)
		end = stpcpy(name, "<anonymous>") + 1;
	else
		end = put_text(name, row->name, row->name_len, row->kinds & 0xf);
	c->file = *file ? file : NULL;
	c->function = *name ? name : NULL;
	return end;
}

/* Gives back what the texts did not need. */
static struct script_code *trim(struct script_code *c)
{
	char *at = (char *)c;
	const size_t file = c->file ? (size_t)(c->file - at) : 0,
		     function = c->function ? (size_t)(c->function - at) : 0,
		     lines = (size_t)((const char *)c->lines - at),
		     bases = (size_t)((const char *)c->bases - at);

	at = realloc(c, c->sz);
	if (!at)
		return c;
	c = (struct script_code *)at;
	c->file = file ? at + file : NULL;
	c->function = function ? at + function : NULL;
	c->lines = (uint8_t *)at + lines;
	c->bases = (uint8_t *)at + bases;
	return c;
}

static struct script_code *make(const struct script_row *row)
{
	const size_t text = UTF8_MAX * ((size_t)row->name_len + 2 * (size_t)row->file_len) +
			    2 * LUA_NAME_EXTRA + 2 + row->n_lines + row->n_bases + 1 + ARITY_MAX;
	struct script_code *c =
		malloc(sizeof(*c) + text + (size_t)row->n_lines + (size_t)row->n_bases);
	char *end;

	if (!c)
		return NULL;
	*c = (struct script_code){
		.pid = row->pid,
		.code = row->code,
		.check = row->check,
		.first_line = row->first_line,
		.n_lines = (uint16_t)row->n_lines,
		.n_bases = (uint16_t)row->n_bases,
		.language = row->language,
		.version = row->version,
	};
	end = put_texts(c, row);
	c->lines = (uint8_t *)end;
	end = put_bytes(end, row->lines, row->n_lines);
	c->bases = (uint8_t *)end;
	end = put_bytes(end, row->bases, row->n_bases);
	c->sz = (uint32_t)(end - (char *)c);
	return trim(c);
}

static void append_newest(struct script_names *s, struct script_code *c)
{
	c->older = s->newest;
	c->newer = NULL;
	*(s->newest ? &s->newest->newer : &s->oldest) = c;
	s->newest = c;
}

static void unlink_age(struct script_names *s, const struct script_code *c)
{
	*(c->older ? &c->older->newer : &s->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &s->newest) = c->older;
}

static void unlink_code(struct script_names *s, const struct script_code *c)
{
	struct script_code **at = &s->buckets[bucket_of(s, c->pid, c->code, c->check)];

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	unlink_age(s, c);
	*c->link_of_pid = c->next_of_pid;
	if (c->next_of_pid)
		c->next_of_pid->link_of_pid = c->link_of_pid;
	s->bytes -= c->sz;
}

static void drop(struct script_names *s, struct script_code *c)
{
	unlink_code(s, c);
	free(c);
}

/* Drops the oldest code objects until another @sz bytes are within the bound. One that was used is
 * spared once. */
static void make_room(struct script_names *s, size_t sz)
{
	struct script_code *c;

	while (s->oldest && s->bytes + sz > SCRIPT_NAMES_SZ_MAX) {
		c = s->oldest;
		if (c->is_used) {
			c->is_used = 0;
			unlink_age(s, c);
			append_newest(s, c);
			continue;
		}
		drop(s, c);
		s->n_dropped++;
	}
}

static void insert(struct script_names *s, struct script_code *c)
{
	struct script_code **at = &s->buckets[bucket_of(s, c->pid, c->code, c->check)];

	c->next = *at;
	*at = c;
	at = &s->by_pid[pid_bucket(s, c->pid)];
	c->next_of_pid = *at;
	c->link_of_pid = at;
	if (c->next_of_pid)
		c->next_of_pid->link_of_pid = &c->next_of_pid;
	*at = c;
	append_newest(s, c);
	s->bytes += c->sz;
}

int script_names_add(struct script_names *s, const struct script_row *row)
{
	struct script_code *c, *earlier;

	if (init(s))
		return -ENOMEM;
	if (row->name_len > NAME_MAX_SZ || row->file_len > UTF8_MAX * INTERP_FILE_MAX ||
	    row->n_lines > INTERP_LINES_MAX || row->n_bases > INTERP_LINE_BASES_MAX)
		return 0;
	c = make(row);
	if (!c)
		return -ENOMEM;
	earlier = find(s, row->pid, row->code, row->check);
	if (earlier)
		drop(s, earlier);
	make_room(s, c->sz);
	insert(s, c);
	return 0;
}

int script_names_full(struct script_names *s)
{
	if (!s->n_dropped || s->is_told)
		return 0;
	s->is_told = 1;
	return 1;
}

void script_names_drop(struct script_names *s, int64_t pid)
{
	struct script_code *c = s->by_pid ? s->by_pid[pid_bucket(s, pid)] : NULL, *next;

	for (; c; c = next) {
		next = c->next_of_pid;
		if (c->pid != pid)
			continue;
		drop(s, c);
	}
}

void script_names_fini(struct script_names *s)
{
	for (size_t i = 0; s->by_pid && i < PID_BUCKETS; i++)
		while (s->by_pid[i])
			script_names_drop(s, s->by_pid[i]->pid);
	free(s->buckets);
	free(s->by_pid);
	*s = (struct script_names){0};
}

int script_names_each(const struct script_names *s,
		      int (*fn)(void *ctx, const struct script_code *c), void *ctx)
{
	int r = 0;

	for (size_t i = 0; s->buckets && i < BUCKETS && !r; i++)
		for (const struct script_code *c = s->buckets[i]; c && !r; c = c->next)
			r = fn(ctx, c);
	return r;
}

uint32_t script_code_line(const struct script_code *c, uint32_t position)
{
	const struct python_line_table t = {c->lines, c->n_lines, c->first_line};
	const struct lua_line_table lua = {
		.lines = c->lines,
		.n_lines = c->n_lines,
		.bases = c->bases,
		.n_bases = c->n_bases,
		.first_line = c->first_line,
		.minor = c->version,
	};
	const struct ruby_line_table ruby = {c->lines, c->bases, c->n_lines, c->n_bases};
	const struct java_line_table java = {c->lines, c->n_lines, c->version};

	if (c->language == STACK_WALKER_PERL || c->language == STACK_WALKER_PHP ||
	    c->language == STACK_WALKER_BEAM || c->language == STACK_WALKER_NODE)
		return position;
	if (c->language == STACK_WALKER_LUA)
		return lua_line(&lua, position);
	if (c->language == STACK_WALKER_RUBY)
		return ruby_line(&ruby, position);
	if (c->language == STACK_WALKER_JAVA)
		return java_line(&java, position);
	if (c->version >= 11)
		return python_line_of_locations(&t, position);
	if (c->version == 10)
		return python_line_of_ranges(&t, position);
	return python_line_of_lnotab(&t, position);
}
