/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the list of descriptors of a poll: texts separated by commas. */
#include <arpa/inet.h>

#include "fd.h"
#include "field_rows.h"
#include "text.h"
#include "thread.h"

enum { LIST_NUMS, LIST_NAMES, LIST_CIPS, LIST_SIPS, LIST_CPORTS, LIST_SPORTS };

#define ITEM_SZ 10 /* number, events */
#define ITEM_MAX (INET6_ADDRSTRLEN + TEXT_NUM_MAX)

/* Returns the parameter with the list; NULL: the event has none. */
static const struct scap_param *list_of(const struct sinsp_evt *evt)
{
	for (unsigned int i = 0; i < evt->info->n_params && i < evt->params.n; i++)
		if (evt->info->params[i].type == PT_FDLIST)
			return evt->params.v[i].len > 2 ? &evt->params.v[i] : NULL;
	return NULL;
}

static int is_listening(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV4_SERVSOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;
}

static char *put_ip(char *p, const struct sinsp_fd *fd, int server)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);
	const int v6 = fd->type == SCAP_FD_IPV6_SOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;

	if (is_listening(fd) && !server)
		return p;
	inet_ntop(v6 ? AF_INET6 : AF_INET, server && !is_listening(fd) ? t->dip : t->sip, p,
		  INET6_ADDRSTRLEN);
	return p + strlen(p);
}

static char *put_port(char *p, const struct sinsp_fd *fd, int server)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);

	if (is_listening(fd))
		return server ? put_u64(p, t->sport) : p;
	return put_u64(p, server ? t->dport : t->sport);
}

/* Writes one item, empty if the file lacks the fact. */
static char *put_item(char *p, unsigned int variant, int64_t num, const struct sinsp_fd *fd)
{
	if (variant == LIST_NUMS)
		return put_i64(p, num);
	if (!fd || fd->type < SCAP_FD_IPV4_SOCK || fd->type > SCAP_FD_IPV6_SERVSOCK)
		return p;
	switch (variant) {
	case LIST_CIPS:
	case LIST_SIPS:
		return put_ip(p, fd, variant == LIST_SIPS);
	default:
		return put_port(p, fd, variant == LIST_SPORTS);
	}
}

static char *put_name(struct sinsp_text *out, char *p, const struct sinsp_fd *fd)
{
	const char *name = fd && *fd->name ? fd->name : "<NA>";
	const size_t n = strlen(name);

	p = text_room(out, p, n + 1);
	return p ? put_mem(p, name, n) : NULL;
}

static int get_list(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct scap_param *list = e->evt->thread ? list_of(e->evt) : NULL;
	char *p = text_begin(&e->text, ITEM_MAX), *before;
	uint32_t n, room;

	(void)more;
	if (!list)
		return 0;
	n = get_u16(list->p);
	room = (list->len - 2) / ITEM_SZ;
	for (uint32_t i = 0; p && i < n && i < room; i++) {
		const int64_t num = (int64_t)get_u64(list->p + 2 + (size_t)i * ITEM_SZ);
		const struct sinsp_fd *fd = sinsp_thread_fd(e->evt->thread, num);

		p = text_room(&e->text, p, ITEM_MAX);
		if (!p)
			break;
		before = p;
		if (p != e->text.p)
			*p++ = ',';
		if (f->row->variant == LIST_NAMES)
			p = put_name(&e->text, p, fd);
		else
			p = put_item(p, f->row->variant, num, fd);
		if (p == before + 1 && *before == ',')
			p = before;
	}
	if (text_end(&e->text, p))
		return -ENOMEM;
	v->is_name = 1;
	return e->text.len ? sinsp_eval_keep(e, v) : 0;
}

/* clang-format off */
#define ROW(name, variant, help)                                                                   \
	{name, FIELD_STR, FIELD_FMT_DEC, FIELD_COST_TEXT, 0, variant, get_list, help, NULL,        \
	 .needs = FIELD_NEEDS_FILES}

static const struct sinsp_field_row rows[] = {
	ROW("fdlist.nums", LIST_NUMS, "numbers of the descriptors"),
	ROW("fdlist.names", LIST_NAMES, "names of the descriptors; <NA> for unknown ones"),
	ROW("fdlist.cips", LIST_CIPS, "client addresses of the connections in the list"),
	ROW("fdlist.sips", LIST_SIPS, "server addresses of the sockets in the list"),
	ROW("fdlist.cports", LIST_CPORTS, "client ports of the connections in the list"),
	ROW("fdlist.sports", LIST_SPORTS, "server ports of the sockets in the list"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_fdlist = {
	.name = "fdlist",
	.title = "fdlist",
	.help = "The descriptors that poll waits for, separated by commas",
	FIELD_ROWS(rows),
};
