/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the cgroups of a process, and the field of one cgroup. */
#include "facts.h"
#include "process.h"
#include "text.h"

/* One cgroup of "memory=/user.slice": the subsystem by its name in /proc, and the path. */
struct cgroup {
	const char *name, *path;
	size_t name_len, path_len;
};

static const char *next_cgroup(struct cgroup *c, const char *p, const char *end)
{
	static const char *const names[][2] = {
		{"io", "blkio"}, {"mem", "memory"}, {"perf", "perf_event"}};
	const size_t n = strnlen(p, (size_t)(end - p));
	const char *eq = memchr(p, '=', n);

	c->name = p;
	c->name_len = eq ? (size_t)(eq - p) : n;
	c->path = eq ? eq + 1 : p + n;
	c->path_len = (size_t)(p + n - c->path);
	if (c->name_len > 7 && !memcmp(p + c->name_len - 7, "_cgroup", 7))
		c->name_len -= 7;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i][0]) != c->name_len || memcmp(names[i][0], p, c->name_len))
			continue;
		c->name = names[i][1];
		c->name_len = strlen(c->name);
		break;
	}
	return p + n + 1;
}

int fact_cgroups(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const char *list = t->proc->cgroups, *end = list + sinsp_str_len(list);
	char *p = text_begin(&e->text, (size_t)(end - list));
	struct cgroup c;

	if (!*list)
		return 0;
	while (p && list < end) {
		list = next_cgroup(&c, list, end);
		p = text_room(&e->text, p, c.name_len + c.path_len + 2);
		if (!p)
			break;
		if (p != e->text.p)
			*p++ = ' ';
		p = put_mem(p, c.name, c.name_len);
		*p++ = '=';
		p = put_mem(p, c.path, c.path_len);
	}
	return text_end(&e->text, p) ? -ENOMEM : sinsp_eval_keep(e, v);
}

/* Returns whether the part of a path is the name of a unit; a slice has units, it is none of its
 * own. */
static int is_unit(const char *p, size_t n)
{
	static const char *const ends[] = {".service", ".scope", ".socket", ".mount", ".swap"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const size_t len = strlen(ends[i]);

		if (n > len && !memcmp(p + n - len, ends[i], len))
			return 1;
	}
	return 0;
}

/* Finds the last part of the path that is a unit. */
static int find_unit(struct sinsp_value *v, const struct cgroup *c)
{
	size_t end = c->path_len, begin;

	for (; end; end = begin ? begin - 1 : 0) {
		for (begin = end; begin && c->path[begin - 1] != '/'; begin--)
			;
		if (is_unit(c->path + begin, end - begin))
			return field_mem(v, c->path + begin, end - begin);
	}
	return 0;
}

/* systemd makes a cgroup for each unit, in all hierarchies that it uses. */
int fact_unit(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_thread *t)
{
	const char *p = t->proc->cgroups, *end = p + sinsp_str_len(p);
	struct cgroup c;
	int found = 0;

	(void)e;
	while (!found && p < end) {
		p = next_cgroup(&c, p, end);
		found = find_unit(v, &c);
	}
	return found;
}

int field_get_cgroup(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;
	const char *p = t ? t->proc->cgroups : NULL, *end = p ? p + sinsp_str_len(p) : NULL;
	struct cgroup c;

	(void)more;
	while (p < end) {
		p = next_cgroup(&c, p, end);
		if (strlen(f->arg) == c.name_len && !memcmp(f->arg, c.name, c.name_len))
			return field_mem(v, c.path, c.path_len);
	}
	return 0;
}
