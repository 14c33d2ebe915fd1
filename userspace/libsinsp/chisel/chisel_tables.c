/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and containers as Lua tables. Keys are numbers, and pairs() visits them in ascending
 * order. */
#include <arpa/inet.h>
#include <string.h>

#include "chisel_host.h"
#include "event/event_table.h"
#include "fields/port_name.h"
#include "fields/text.h"
#include "state/inspector.h"

/* A call of get_thread_table, with an event that the filter checks for each descriptor. */
struct table_query {
	struct sinsp *insp;
	struct sinsp_filter *filter; /* NULL: all */
	int fds, barebone;
	lua_State *L;
	struct sinsp_evt evt;
	struct ppm_evt_hdr hdr;
	int n_matched;
};

static void set_text(lua_State *L, const char *key, const char *value)
{
	chisel_terminal_note(&chisel_of(L)->terminal, value, strlen(value));
	lua_pushstring(L, value);
	lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, int64_t value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, key);
}

/* Makes pairs() visit keys in ascending order, by compat.lua. */
static void set_sorted(lua_State *L)
{
	luaL_setmetatable(L, "saker.sorted");
}

static void set_texts(lua_State *L, const char *key, const char *list, size_t len)
{
	int n = 0;

	lua_newtable(L);
	for (size_t at = 0; at < len; at += strnlen(list + at, len - at) + 1) {
		const size_t text_len = strnlen(list + at, len - at);

		chisel_terminal_note(&chisel_of(L)->terminal, list + at, text_len);
		lua_pushlstring(L, list + at, text_len);
		lua_rawseti(L, -2, ++n);
	}
	lua_setfield(L, -2, key);
}

static void set_ip(lua_State *L, const char *key, const uint8_t *ip, int v6)
{
	char text[INET6_ADDRSTRLEN];

	set_text(L, key, inet_ntop(v6 ? AF_INET6 : AF_INET, ip, text, sizeof(text)) ?: "");
}

static const char *l4_name(unsigned int l4)
{
	static const char *const names[] = {[SCAP_L4_TCP] = "tcp",
					    [SCAP_L4_UDP] = "udp",
					    [SCAP_L4_ICMP] = "icmp",
					    [SCAP_L4_RAW] = "raw"};

	return l4 < sizeof(names) / sizeof(names[0]) && names[l4] ? names[l4] : "<NA>";
}

static void set_socket(lua_State *L, const struct sinsp_fd *fd)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);
	const int listens = fd->type == SCAP_FD_IPV4_SERVSOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;
	const int v6 = fd->type == SCAP_FD_IPV6_SOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;

	set_ip(L, "sip", listens ? t->sip : t->dip, v6);
	set_number(L, "sport", listens ? t->sport : t->dport);
	if (!listens) {
		set_ip(L, "cip", t->sip, v6);
		set_number(L, "cport", t->sport);
	}
	lua_pushboolean(L, listens || (fd->flags & SINSP_FD_F_SERVER));
	lua_setfield(L, -2, "is_server");
	set_text(L, "l4proto", l4_name(fd->l4proto));
}

/* Returns whether the filter matches the event with this descriptor. */
static int fd_matches(struct table_query *a, const struct sinsp_fd *fd)
{
	int r;

	if (!a->filter)
		return 1;
	a->evt.fd = fd;
	a->evt.fdnum = fd->num;
	r = sinsp_filter_run(a->filter, &a->evt);
	if (r < 0)
		luaL_error(a->L, "get_thread_table: %s", strerror(-r));
	return r;
}

static void count_fd(const struct sinsp_fd *fd, void *ctx)
{
	struct table_query *a = ctx;

	if (!a->n_matched)
		a->n_matched = fd_matches(a, fd);
}

/* Sets the name without control characters. */
static void set_name(lua_State *L, const struct sinsp_fd *fd)
{
	const int ports = chisel_of(L)->run->port_names && port_name_has_ports(fd);
	const size_t len = strlen(fd->name);
	luaL_Buffer b;
	char *p = luaL_buffinitsize(L, &b, len + (ports ? 2 * PORT_NAME_MAX : 0)), *end;

	end = ports ? port_name_put_fd(p, fd) : put_dropping(p, fd->name, len);
	luaL_pushresultsize(&b, (size_t)(end - p));
	lua_setfield(L, -2, "name");
}

static void put_fd(const struct sinsp_fd *fd, void *ctx)
{
	struct table_query *a = ctx;
	lua_State *L = a->L;

	if (!fd_matches(a, fd))
		return;
	luaL_checkstack(L, 4, NULL);
	lua_newtable(L);
	set_name(L, fd);
	set_text(L, "type", sinsp_fd_typename(fd) ?: "<NA>");
	if (fd->type >= SCAP_FD_IPV4_SOCK && fd->type <= SCAP_FD_IPV6_SERVSOCK)
		set_socket(L, fd);
	lua_rawseti(L, -2, fd->num);
}

static void set_details(struct table_query *a, const struct sinsp_thread *t)
{
	const struct sinsp_process *p = t->proc;
	const struct scap_text args = sinsp_thread_args(t);
	lua_State *L = a->L;

	set_number(L, "ptid", t->ptid);
	set_text(L, "comm", t->comm);
	set_text(L, "exe", p->exe);
	set_number(L, "flags", t->flags);
	set_number(L, "fdlimit", p->fdlimit);
	set_number(L, "uid", t->uid);
	set_number(L, "gid", t->gid);
	set_number(L, "nchilds", p->n_threads - 1); /* as proc.nchilds */
	set_number(L, "vmsize_kb", p->vmsize_kb);
	set_number(L, "vmrss_kb", p->vmrss_kb);
	set_number(L, "vmswap_kb", p->vmswap_kb);
	set_number(L, "pfmajor", (int64_t)t->pfmajor);
	set_number(L, "pfminor", (int64_t)t->pfminor);
	set_number(L, "clone_ts", (int64_t)t->start_ns);
	set_text(L, "container", sinsp_thread_container_name(t));
	set_text(L, "username", sinsp_user_name(a->insp, t, t->uid) ?: "<NA>");
	set_texts(L, "args", args.p, args.len);
	set_texts(L, "env", p->env, sinsp_str_len(p->env));
}

static void put_thread(struct table_query *a, struct sinsp_thread *t)
{
	lua_State *L = a->L;

	a->hdr.tid = (uint64_t)t->tid;
	a->evt.thread = t;
	a->n_matched = !a->filter;
	if (a->filter && t->files)
		sinsp_files_each(t->files, count_fd, a);
	if (!a->n_matched)
		return;
	lua_newtable(L);
	set_number(L, "tid", t->tid);
	set_number(L, "pid", t->pid);
	if (!a->barebone)
		set_details(a, t);
	lua_newtable(L);
	if (a->fds && t->files)
		sinsp_files_each(t->files, put_fd, a);
	set_sorted(L);
	lua_setfield(L, -2, "fdtable");
	lua_rawseti(L, -2, t->tid);
}

static int gc_filter(lua_State *L)
{
	struct sinsp_filter **f = lua_touserdata(L, 1);

	sinsp_filter_free(*f);
	*f = NULL;
	return 0;
}

struct sinsp_filter *sinsp_chisel_filter_on_stack(lua_State *L, const char *text, int of_threads)
{
	struct sinsp_filter **f = lua_newuserdatauv(L, sizeof(*f), 0);

	*f = NULL;
	if (luaL_newmetatable(L, "saker.filter")) {
		lua_pushcfunction(L, gc_filter);
		lua_setfield(L, -2, "__gc");
	}
	lua_setmetatable(L, -2);
	*f = sinsp_chisel_make_filter(L, text, of_threads);
	return *f;
}

static int thread_table(lua_State *L, int fds, int barebone)
{
	struct sinsp_chisel *c = chisel_of(L);
	const char *text = luaL_optstring(L, 1, "");
	struct table_query a = {.insp = c->run->insp, .fds = fds, .barebone = barebone, .L = L};

	sinsp_chisel_warn_no_calls(c, "get_thread_table");
	lua_settop(L, 1);
	if (*text)
		a.filter = sinsp_chisel_filter_on_stack(L, text, 1);
	lua_newtable(L);
	set_sorted(L);
	if (!a.insp)
		return 1;
	a.hdr = (struct ppm_evt_hdr){
		.ts = c->run->last_ns, .len = sizeof(a.hdr), .type = EVT_READ_X, .nparams = 0};
	a.evt = (struct sinsp_evt){
		.raw = {.hdr = &a.hdr,
			.type = EVT_READ_X,
			.ts_ns = c->run->last_ns,
			.true_ns = c->run->last_ns,
			.num = 1,
			.nr = REC_NR_NONE},
		.insp = a.insp,
		.info = scap_event_info(EVT_READ_X),
		.fdnum = -1,
	};
	for (uint32_t i = 0; i < a.insp->threads.n_slots; i++)
		if (a.insp->threads.slots[i].t && a.insp->threads.slots[i].t->known)
			put_thread(&a, a.insp->threads.slots[i].t);
	return 1;
}

int sinsp_chisel_thread_table(lua_State *L)
{
	return thread_table(L, 1, 0);
}

int sinsp_chisel_thread_table_nofds(lua_State *L)
{
	return thread_table(L, 0, 0);
}

int sinsp_chisel_thread_table_barebone(lua_State *L)
{
	return thread_table(L, 1, 1);
}

int sinsp_chisel_thread_table_barebone_nofds(lua_State *L)
{
	return thread_table(L, 0, 1);
}

int sinsp_chisel_container_table(lua_State *L)
{
	const struct sinsp *s = chisel_of(L)->run->insp;
	int n = 0;

	lua_newtable(L);
	for (uint32_t i = 0; s && i < s->threads.containers.n_buckets; i++) {
		for (const struct sinsp_container *c = s->threads.containers.buckets[i]; c;
		     c = c->next) {
			lua_newtable(L);
			set_text(L, "id", c->id);
			set_text(L, "name", c->name);
			set_text(L, "image", c->image);
			set_text(L, "type", sinsp_container_type_name(c->type));
			lua_rawseti(L, -2, ++n);
		}
	}
	return 1;
}
