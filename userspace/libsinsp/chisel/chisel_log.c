/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chisel.log: keeps the last events that match a filter, as values of fields, by key, without Lua.
 * Records have numbers from 1 on, in the order of the events; the oldest is evicted first. A list
 * has the numbers of the records of one key. A record is in a list for each key that it has.
 */
#include <errno.h>
#include <string.h>

#include "chisel_host.h"
#include "hash.h"

enum { KEYS_MAX = 4, FIELDS_MAX = 64, LOGS_MAX = 32, FILTER_MAX = 4096 };
enum { NO_FIELD = -1 };
/* A watched process can make up values: above so many bytes, records are evicted, too. */
enum { RECORDS_MAX = 1000000, BYTES_MAX = 64 << 20, SLOTS_MIN = 64, LIST_MIN = 4 };
enum { BLOCK = 64, BLOCKS_FROM = 256 }; /* lists of so many items have blocks */

static const char class_name[] = "saker.log";

/* The span of 64 items of a list, also of those that were evicted since. */
struct block_span {
	uint64_t begin, end;
};

/* The numbers of a key's records, in a ring. */
struct list {
	struct list *next; /* of the slot */
	uint64_t hash;
	uint64_t n_evicted;
	uint64_t *numbers;
	struct block_span *blocks; /* by item / 64, in a ring of size / 32; NULL: short list */
	uint32_t n, size, head; /* size is a power of two */
	struct sinsp_value key; /* p of a text: behind the list */
};

/* Followed by its values. */
struct record {
	uint32_t sz; /* with its values */
	struct list *lists[KEYS_MAX]; /* NULL behind the last one */
	uint64_t ts_ns; /* of the event */
	uint64_t begin, end; /* its span, if the log has the fields of one */
};

/* A value of a record: u of a number, or the bytes, follow. */
struct kept {
	uint8_t field, type, prefix, zero;
	uint32_t len; /* of the bytes */
};

/* The userdata of the script. */
struct sinsp_chisel_log {
	struct sinsp_chisel_listener in; /* the chisel's logs */
	struct sinsp_chisel *c;
	struct sinsp_filter *filter;
	uint32_t n_keys, n_fields, max;
	int keys[KEYS_MAX], fields[FIELDS_MAX];
	int begin, length; /* fields of the span; NO_FIELD: none */
	uint8_t first_only, last_only; /* one record of each key: of its first event, of its last */
	uint64_t seed, serial; /* serial: of the last event that was kept */
	struct record **records; /* by number, in a ring */
	uint32_t size; /* of the ring: a power of two */
	uint64_t first, end; /* numbers: [first, end) are kept */
	size_t n_bytes; /* of records and keys */
	struct list **slots; /* hash table */
	uint32_t n_slots, n_lists;
	struct sinsp_chisel_buffer scratch; /* the values of the event */
};

static struct record **record_at(const struct sinsp_chisel_log *g, uint64_t number)
{
	return &g->records[number & (g->size - 1)];
}

/* Pointers to no bytes may be NULL. */
static int is_equal(const void *a, const void *b, size_t n)
{
	return !n || !memcmp(a, b, n);
}

static void *copy(void *to, const void *from, size_t n)
{
	return n ? memcpy(to, from, n) : to;
}

/* ---- lists ---- */

static int is_key(const struct list *l, const struct sinsp_value *key)
{
	if (l->key.type != key->type || l->key.len != key->len || l->key.prefix != key->prefix)
		return 0;
	return sinsp_chisel_has_bytes(key) ? is_equal(l->key.p, key->p, key->len)
					   : l->key.u == key->u;
}

static struct list *find_list(const struct sinsp_chisel_log *g, const struct sinsp_value *key)
{
	const uint64_t hash = sinsp_chisel_hash_value(g->seed, key);
	struct list *l = g->n_slots ? g->slots[hash & (g->n_slots - 1)] : NULL;

	while (l && (l->hash != hash || !is_key(l, key)))
		l = l->next;
	return l;
}

static void put_in_slot(struct sinsp_chisel_log *g, struct list *l)
{
	struct list **slot = &g->slots[l->hash & (g->n_slots - 1)];

	l->next = *slot;
	*slot = l;
}

static int grow_slots(struct sinsp_chisel_log *g)
{
	const uint32_t old_n = g->n_slots, n = old_n ? old_n * 2 : SLOTS_MIN;
	struct list **old = g->slots, *next;

	if (g->n_lists < old_n)
		return 0;
	g->slots = sinsp_chisel_realloc(g->c, NULL, 0, n * sizeof(*g->slots));
	if (!g->slots) {
		g->slots = old;
		return -ENOMEM;
	}
	memset(g->slots, 0, n * sizeof(*g->slots));
	g->n_slots = n;
	for (uint32_t i = 0; i < old_n; i++) {
		for (struct list *l = old[i]; l; l = next) {
			next = l->next;
			put_in_slot(g, l);
		}
	}
	sinsp_chisel_realloc(g->c, old, old_n * sizeof(*old), 0);
	return 0;
}

static size_t list_sz(const struct sinsp_value *key)
{
	return sizeof(struct list) + (sinsp_chisel_has_bytes(key) ? key->len : 0);
}

/* Returns NULL without memory. */
static struct list *new_list(struct sinsp_chisel_log *g, const struct sinsp_value *key)
{
	struct list *l = grow_slots(g) ? NULL : sinsp_chisel_realloc(g->c, NULL, 0, list_sz(key));

	if (!l)
		return NULL;
	*l = (struct list){.hash = sinsp_chisel_hash_value(g->seed, key), .key = *key};
	if (sinsp_chisel_has_bytes(key))
		l->key.p = copy(l + 1, key->p, key->len);
	put_in_slot(g, l);
	g->n_lists++;
	g->n_bytes += list_sz(key);
	return l;
}

static size_t blocks_sz(const struct list *l)
{
	return l->size / (BLOCK / 2) * sizeof(*l->blocks);
}

static void free_blocks(struct sinsp_chisel_log *g, struct list *l)
{
	sinsp_chisel_realloc(g->c, l->blocks, l->blocks ? blocks_sz(l) : 0, 0);
	l->blocks = NULL;
}

static void free_list(struct sinsp_chisel_log *g, struct list *l)
{
	struct list **at = &g->slots[l->hash & (g->n_slots - 1)];

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	g->n_lists--;
	g->n_bytes -= list_sz(&l->key);
	free_blocks(g, l);
	sinsp_chisel_realloc(g->c, l->numbers, l->size * sizeof(*l->numbers), 0);
	sinsp_chisel_realloc(g->c, l, list_sz(&l->key), 0);
}

static uint64_t number_at(const struct list *l, uint32_t i)
{
	return l->numbers[(l->head + i) & (l->size - 1)];
}

/* Returns the record that is item @i of the list, from 0 on behind what was evicted. */
static const struct record *item(const struct sinsp_chisel_log *g, const struct list *l, uint32_t i)
{
	return *record_at(g, number_at(l, i));
}

/* Returns the block of the item @i. */
static struct block_span *block_of(const struct list *l, uint32_t i)
{
	return &l->blocks[(l->n_evicted + i) / BLOCK & (l->size / (BLOCK / 2) - 1)];
}

/* Adds the span of the item @i, behind the others, to its block. */
static void add_to_block(const struct sinsp_chisel_log *g, const struct list *l, uint32_t i)
{
	const struct record *r = item(g, l, i);
	struct block_span *b = block_of(l, i);

	if (!i || !((l->n_evicted + i) % BLOCK))
		*b = (struct block_span){r->begin, r->end};
	if (r->begin < b->begin)
		b->begin = r->begin;
	if (r->end > b->end)
		b->end = r->end;
}

static int make_blocks(struct sinsp_chisel_log *g, struct list *l)
{
	l->blocks = sinsp_chisel_realloc(g->c, NULL, 0, blocks_sz(l));
	if (!l->blocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++)
		add_to_block(g, l, i);
	return 0;
}

/* Returns 0 or -ENOMEM, which changes nothing, or leaves the list without blocks. */
static int resize(struct sinsp_chisel_log *g, struct list *l, uint32_t size)
{
	uint64_t *numbers = sinsp_chisel_realloc(g->c, NULL, 0, size * sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++)
		numbers[i] = number_at(l, i);
	free_blocks(g, l);
	sinsp_chisel_realloc(g->c, l->numbers, l->size * sizeof(*numbers), 0);
	l->numbers = numbers;
	l->size = size;
	l->head = 0;
	return g->begin != NO_FIELD && size >= BLOCKS_FROM ? make_blocks(g, l) : 0;
}

static int reserve_number(struct sinsp_chisel_log *g, struct list *l)
{
	if (l->n < l->size)
		return 0;
	return resize(g, l, l->size ? l->size * 2 : LIST_MIN);
}

/* A key that had many records and has few now keeps no room for many. */
static void shrink(struct sinsp_chisel_log *g, struct list *l)
{
	if (l->size > BLOCKS_FROM && l->n <= l->size / 8)
		resize(g, l, l->size / 4);
}

/* ---- records ---- */

static void free_record(struct sinsp_chisel_log *g, struct record *r)
{
	g->n_bytes -= r->sz;
	sinsp_chisel_realloc(g->c, r, r->sz, 0);
}

static void evict(struct sinsp_chisel_log *g)
{
	struct record *r = *record_at(g, g->first++);

	for (uint32_t i = 0; i < g->n_keys && r->lists[i]; i++) {
		struct list *l = r->lists[i];

		l->head = (l->head + 1) & (l->size - 1);
		l->n--;
		l->n_evicted++;
		if (l->n)
			shrink(g, l);
		else
			free_list(g, l);
	}
	free_record(g, r);
}

static void drop_all(struct sinsp_chisel_log *g)
{
	while (g->first < g->end)
		evict(g);
	sinsp_chisel_realloc(g->c, g->records, g->size * sizeof(struct record *), 0);
	sinsp_chisel_realloc(g->c, g->slots, g->n_slots * sizeof(struct list *), 0);
	sinsp_chisel_drop_buffer(g->c, &g->scratch);
	g->records = NULL;
	g->slots = NULL;
	g->size = g->n_slots = 0;
}

/* Makes room for one more number. */
static int grow_records(struct sinsp_chisel_log *g)
{
	const uint32_t size = g->size ? g->size * 2 : SLOTS_MIN;
	struct record **records;

	if (g->end - g->first < g->size)
		return 0;
	records = sinsp_chisel_realloc(g->c, NULL, 0, size * sizeof(struct record *));
	if (!records)
		return -ENOMEM;
	for (uint64_t i = g->first; i < g->end; i++)
		records[i & (size - 1)] = *record_at(g, i);
	sinsp_chisel_realloc(g->c, g->records, g->size * sizeof(struct record *), 0);
	g->records = records;
	g->size = size;
	return 0;
}

static int put_bytes(struct sinsp_chisel_log *g, const void *p, size_t n)
{
	if (sinsp_chisel_reserve(g->c, &g->scratch, n))
		return -ENOMEM;
	copy(g->scratch.p + g->scratch.len, p, n);
	g->scratch.len += n;
	return 0;
}

/* Puts the values of the event into the scratch. Returns 0 or -ENOMEM. */
static int keep_values(struct sinsp_chisel_log *g)
{
	struct sinsp_value v;
	int r;

	g->scratch.len = 0;
	for (uint32_t i = 0; i < g->n_fields; i++) {
		r = sinsp_chisel_get_value(g->c, g->fields[i], &v);
		if (r < 0)
			return r;
		if (!r)
			continue;
		const struct kept k = {
			.field = (uint8_t)i, .type = v.type, .prefix = v.prefix, .len = v.len};

		r = put_bytes(g, &k, sizeof(k))
			    ?: sinsp_chisel_has_bytes(&v) ? put_bytes(g, v.p, v.len)
							  : put_bytes(g, &v.u, sizeof(v.u));
		if (r)
			return r;
	}
	return 0;
}

/* Appends the list of the key, unless it is there already. */
static int add_list(struct sinsp_chisel_log *g, struct list **lists, const struct sinsp_value *key)
{
	struct list *l = find_list(g, key) ?: new_list(g, key);

	if (!l)
		return -ENOMEM;
	while (*lists && *lists != l)
		lists++;
	*lists = l;
	return reserve_number(g, l);
}

/* Gets the lists of the event's keys, NULL behind the last one. New ones are empty: the caller
 * drops them if they stay so. Returns 0 or -ENOMEM. */
static int get_lists(struct sinsp_chisel_log *g, struct list **lists)
{
	struct sinsp_value key;
	int r = 0;

	memset(lists, 0, (KEYS_MAX + 1) * sizeof(*lists));
	for (uint32_t i = 0; i < g->n_keys && r >= 0; i++) {
		r = sinsp_chisel_get_value(g->c, g->keys[i], &key);
		if (r > 0)
			r = add_list(g, lists, &key);
	}
	return r < 0 ? r : 0;
}

static void drop_empty(struct sinsp_chisel_log *g, struct list **lists)
{
	for (; *lists; lists++)
		if (!(*lists)->n)
			free_list(g, *lists);
}

static uint64_t number_of(const struct sinsp_chisel_log *g, int field)
{
	struct sinsp_value v;

	return sinsp_chisel_get_value(g->c, field, &v) > 0 && v.type == FIELD_INT ? v.u : 0;
}

static void get_span_of_event(const struct sinsp_chisel_log *g, struct record *r)
{
	if (g->begin == NO_FIELD)
		return;
	r->begin = number_of(g, g->begin);
	r->end = r->begin + number_of(g, g->length);
}

/* Returns a record with the values of the scratch; NULL: no memory. */
static struct record *new_record(struct sinsp_chisel_log *g)
{
	const size_t sz = sizeof(struct record) + g->scratch.len;
	struct record *r = sinsp_chisel_realloc(g->c, NULL, 0, sz);

	if (!r)
		return NULL;
	*r = (struct record){.sz = (uint32_t)sz, .ts_ns = g->c->evt->raw.ts_ns};
	get_span_of_event(g, r);
	copy(r + 1, g->scratch.p, g->scratch.len);
	g->n_bytes += sz;
	return r;
}

/* Adds a record with the values of the scratch to the lists. */
static int add_record(struct sinsp_chisel_log *g, struct list **lists)
{
	struct record *r = grow_records(g) ? NULL : new_record(g);

	if (!r)
		return -ENOMEM;
	for (uint32_t i = 0; lists[i]; i++) {
		struct list *l = r->lists[i] = lists[i];

		l->numbers[(l->head + l->n++) & (l->size - 1)] = g->end;
	}
	*record_at(g, g->end++) = r;
	for (uint32_t i = 0; lists[i]; i++)
		if (lists[i]->blocks)
			add_to_block(g, lists[i], lists[i]->n - 1);
	return 0;
}

/* Puts the values of the scratch in place of those of the list's record. */
static int replace_record(struct sinsp_chisel_log *g, struct list *l)
{
	struct record **at = record_at(g, number_at(l, 0)), *old = *at;

	if (old->sz - sizeof(*old) == g->scratch.len &&
	    is_equal(old + 1, g->scratch.p, g->scratch.len)) {
		old->ts_ns = g->c->evt->raw.ts_ns;
		get_span_of_event(g, old);
		return 0;
	}
	*at = new_record(g);
	if (!*at) {
		*at = old;
		return -ENOMEM;
	}
	(*at)->lists[0] = l;
	free_record(g, old);
	return 0;
}

/* Whether there is no room for @n more records and the values of the scratch. */
static int is_full(const struct sinsp_chisel_log *g, uint32_t n)
{
	const size_t sz = sizeof(struct record) + g->scratch.len;

	return g->first < g->end && (g->end - g->first + n > g->max || g->n_bytes + sz > BYTES_MAX);
}

/* Evicting may free lists: gets them again. */
static int make_room(struct sinsp_chisel_log *g, struct list **lists)
{
	drop_empty(g, lists);
	while (is_full(g, 1))
		evict(g);
	return get_lists(g, lists);
}

static int is_replacing(const struct sinsp_chisel_log *g, struct list *const *lists)
{
	return g->last_only && lists[0]->n;
}

static int put_record(struct sinsp_chisel_log *g, struct list **lists)
{
	if (is_full(g, !is_replacing(g, lists)) && make_room(g, lists))
		return -ENOMEM;
	return is_replacing(g, lists) ? replace_record(g, lists[0]) : add_record(g, lists);
}

static int log_event(struct sinsp_chisel_log *g)
{
	struct list *lists[KEYS_MAX + 1] = {NULL};
	int err = get_lists(g, lists);

	if (!err && lists[0] && !(g->first_only && lists[0]->n))
		err = keep_values(g) ?: put_record(g, lists);
	drop_empty(g, lists);
	return err;
}

/* Keeps the event in the logs that have not seen it yet. */
static int log_in_all(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	int r, is_set = 0;

	for (struct sinsp_chisel_listener *o = c->logs; o; o = o->next) {
		struct sinsp_chisel_log *g = (struct sinsp_chisel_log *)o;

		if (g->serial == c->n_logged)
			continue;
		r = sinsp_filter_run(g->filter, evt);
		if (r > 0 && !is_set++)
			sinsp_chisel_set_event(c, evt);
		if (r > 0)
			r = log_event(g);
		if (r < 0)
			return r;
		g->serial = c->n_logged;
	}
	return 0;
}

int sinsp_chisel_log(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	int err;

	c->n_logged++;
	err = log_in_all(c, evt);
	/* A garbage collection may free any log: start again. */
	if (err == -ENOMEM) {
		lua_gc(c->L, LUA_GCCOLLECT);
		err = log_in_all(c, evt);
	}
	return err ? sinsp_chisel_fail(c, "a log", err) : 0;
}

unsigned int sinsp_chisel_log_needs(const struct sinsp_chisel *c)
{
	unsigned int needs = 0;

	for (const struct sinsp_chisel_listener *o = c->logs; o; o = o->next)
		needs |= sinsp_filter_field_needs(((const struct sinsp_chisel_log *)o)->filter);
	return needs;
}

/* ---- what scripts call ---- */

/* Reads the list of fields in @name of the table at 1. Returns its length. */
static uint32_t read_fields(lua_State *L, const char *name, int *fields, uint32_t max)
{
	lua_Integer n;

	if (lua_getfield(L, 1, name) != LUA_TTABLE)
		luaL_error(L, "chisel.log: %s is not a list of fields", name);
	n = luaL_len(L, -1);
	if (n < 0 || n > max)
		luaL_error(L, "chisel.log: more than %d %s", max, name);
	for (lua_Integer i = 0; i < n; i++) {
		lua_geti(L, -1, i + 1);
		fields[i] = sinsp_chisel_field_index(L, -1);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return (uint32_t)n;
}

/* Returns the field @name of the table at 1. */
static int read_field(lua_State *L, const char *name)
{
	const int at =
		lua_getfield(L, 1, name) == LUA_TNIL ? NO_FIELD : sinsp_chisel_field_index(L, -1);

	lua_pop(L, 1);
	return at;
}

static void check_keys(lua_State *L, const struct sinsp_chisel_log *g)
{
	if (!g->n_keys)
		luaL_error(L, "chisel.log: no keys");
	for (uint32_t i = 0; i < g->n_keys; i++) {
		const struct sinsp_field *f = &g->c->fields[g->keys[i]].field;

		if (f->type == FIELD_IP || f->type == FIELD_NET)
			luaL_error(L, "chisel.log: the key %s is an address", f->row->name);
	}
}

static void read_only(lua_State *L, struct sinsp_chisel_log *g)
{
	const char *only = lua_getfield(L, 1, "only") == LUA_TNIL ? NULL : lua_tostring(L, -1);

	g->first_only = only && !strcmp(only, "first");
	g->last_only = only && !strcmp(only, "last");
	if (!lua_isnil(L, -1) && !g->first_only && !g->last_only)
		luaL_error(L, "chisel.log: only is neither first nor last");
	if (only && g->n_keys > 1)
		luaL_error(L, "chisel.log: only needs a single key");
	lua_pop(L, 1);
}

static void read_options(lua_State *L, struct sinsp_chisel_log *g)
{
	g->n_keys = read_fields(L, "keys", g->keys, KEYS_MAX);
	g->n_fields = read_fields(L, "fields", g->fields, FIELDS_MAX);
	check_keys(L, g);
	lua_getfield(L, 1, "max");
	if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 1 || lua_tointeger(L, -1) > RECORDS_MAX)
		luaL_error(L, "chisel.log: max is not a number from 1 to %d", RECORDS_MAX);
	g->max = (uint32_t)lua_tointeger(L, -1);
	lua_pop(L, 1);
	g->begin = read_field(L, "begin");
	g->length = read_field(L, "length");
	if ((g->begin == NO_FIELD) != (g->length == NO_FIELD))
		luaL_error(L, "chisel.log: begin needs length, and length begin");
	read_only(L, g);
	if (lua_getfield(L, 1, "filter") != LUA_TSTRING)
		luaL_error(L, "chisel.log: filter is not a text");
	if (lua_rawlen(L, -1) > FILTER_MAX)
		luaL_error(L, "chisel.log: the filter is longer than %d bytes", FILTER_MAX);
	g->filter = sinsp_chisel_make_filter(L, lua_tostring(L, -1), 0);
	lua_pop(L, 1);
}

static int gc_log(lua_State *L)
{
	struct sinsp_chisel_log *g = lua_touserdata(L, 1);

	drop_all(g);
	sinsp_filter_free(g->filter);
	g->filter = NULL;
	sinsp_chisel_unlist(&g->in);
	return 0;
}

int sinsp_chisel_new_log(lua_State *L)
{
	struct sinsp_chisel_log *g;

	luaL_checktype(L, 1, LUA_TTABLE);
	g = lua_newuserdatauv(L, sizeof(*g), 0);
	*g = (struct sinsp_chisel_log){.c = chisel_of(L), .first = 1, .end = 1};
	g->serial = g->c->n_logged;
	g->seed = scap_hash_seed(g);
	luaL_setmetatable(L, class_name);
	read_options(L, g);
	sinsp_chisel_enlist(L, &g->c->logs, &g->in, LOGS_MAX, "log");
	g->c->run->follows = 1;
	return 1;
}

/* Returns the list of the key at 2; NULL: it has none. */
static const struct list *list_of(lua_State *L, const struct sinsp_chisel_log *g)
{
	struct sinsp_value key = {0};
	size_t len;

	switch (lua_type(L, 2)) {
	case LUA_TSTRING:
		key.p = lua_tolstring(L, 2, &len);
		key.type = FIELD_STR;
		key.len = (uint32_t)len;
		break;
	case LUA_TBOOLEAN:
		key.u = (uint64_t)lua_toboolean(L, 2);
		key.type = FIELD_BOOL;
		break;
	case LUA_TNUMBER:
		key.type = lua_isinteger(L, 2) ? FIELD_INT : FIELD_DOUBLE;
		if (key.type == FIELD_INT)
			key.i = lua_tointeger(L, 2);
		else
			key.d = lua_tonumber(L, 2);
		break;
	default:
		return NULL;
	}
	return find_list(g, &key);
}

static int get_span(lua_State *L)
{
	const struct sinsp_chisel_log *g = luaL_checkudata(L, 1, class_name);
	const struct list *l = lua_isnone(L, 2) ? NULL : list_of(L, g);

	if (lua_isnone(L, 2)) {
		lua_pushinteger(L, (lua_Integer)g->first);
		lua_pushinteger(L, (lua_Integer)g->end - 1);
		return 2;
	}
	if (!l)
		return 0;
	sinsp_chisel_push_unsigned(L, l->n_evicted + 1);
	sinsp_chisel_push_unsigned(L, l->n_evicted + l->n);
	return 2;
}

static int get_number_of(lua_State *L)
{
	const struct sinsp_chisel_log *g = luaL_checkudata(L, 1, class_name);
	const struct list *l = list_of(L, g);
	const lua_Unsigned i = (lua_Unsigned)luaL_checkinteger(L, 3) - 1;

	if (!l || i < l->n_evicted || i - l->n_evicted >= l->n)
		return 0;
	lua_pushinteger(L, (lua_Integer)number_at(l, (uint32_t)(i - l->n_evicted)));
	return 1;
}

static int push_index(lua_State *L, const struct list *l, uint32_t i)
{
	sinsp_chisel_push_unsigned(L, l->n_evicted + i + 1);
	return 1;
}

/* Times begin at 0. */
static uint64_t time_at(lua_State *L, int arg)
{
	const lua_Integer ns = luaL_checkinteger(L, arg);

	return ns > 0 ? (uint64_t)ns : 0;
}

/* Mostly a late event is searched: looks from the end on, each time twice as far. */
static int get_after(lua_State *L)
{
	const struct sinsp_chisel_log *g = luaL_checkudata(L, 1, class_name);
	const struct list *l = list_of(L, g);
	const uint64_t ns = time_at(L, 3);
	uint32_t low = 0, high, step = 1;

	if (!l)
		return 0;
	high = l->n;
	while (step <= high && item(g, l, high - step)->ts_ns > ns) {
		high -= step;
		step *= 2;
	}
	low = step <= high ? high - step + 1 : 0;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (item(g, l, middle)->ts_ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return push_index(L, l, low);
}

static int get_overlapping(lua_State *L)
{
	const struct sinsp_chisel_log *g = luaL_checkudata(L, 1, class_name);
	const struct list *l = list_of(L, g);
	const lua_Integer from = luaL_checkinteger(L, 3);
	const uint64_t a = time_at(L, 4), b = time_at(L, 5);
	uint64_t i;

	if (!l)
		return 0;
	i = from > (lua_Integer)l->n_evicted ? (uint64_t)from - 1 - l->n_evicted : 0;
	while (i < l->n) {
		const struct record *r = item(g, l, (uint32_t)i);
		const struct block_span *of = l->blocks ? block_of(l, (uint32_t)i) : NULL;

		if (r->begin < b && r->end > a)
			return push_index(L, l, (uint32_t)i);
		if (of && (of->begin >= b || of->end <= a))
			i += BLOCK - (l->n_evicted + i) % BLOCK;
		else
			i++;
	}
	return 0;
}

/* Returns the record of the number at 2; NULL: the log does not have it. */
static const struct record *record_of(lua_State *L, const struct sinsp_chisel_log *g)
{
	const lua_Unsigned number = (lua_Unsigned)luaL_checkinteger(L, 2);

	return number >= g->first && number < g->end ? *record_at(g, number) : NULL;
}

static int get_time_of(lua_State *L)
{
	const struct sinsp_chisel_log *g = luaL_checkudata(L, 1, class_name);
	const struct record *r = record_of(L, g);

	if (!r || g->begin == NO_FIELD)
		return 0;
	sinsp_chisel_push_unsigned(L, r->begin);
	sinsp_chisel_push_unsigned(L, r->end);
	return 2;
}

static void push_kept(lua_State *L, const struct sinsp_chisel_log *g, const struct kept *k,
		      const char *p)
{
	struct sinsp_value v = {.len = k->len, .type = k->type, .prefix = k->prefix};

	if (sinsp_chisel_has_bytes(&v))
		v.p = p;
	else
		memcpy(&v.u, p, sizeof(v.u));
	sinsp_chisel_push_value(L, &g->c->fields[g->fields[k->field]], &v);
}

static size_t size_of_kept(const struct kept *k)
{
	return sinsp_chisel_has_bytes(&(struct sinsp_value){.type = k->type}) ? k->len
									      : sizeof(uint64_t);
}

static int get_values_of(lua_State *L)
{
	const struct sinsp_chisel_log *g = luaL_checkudata(L, 1, class_name);
	const struct record *r = record_of(L, g);
	const char *p, *end;
	struct kept k;
	uint32_t n = 0;

	if (!r)
		return 0;
	end = (const char *)r + r->sz;
	luaL_checkstack(L, (int)g->n_fields + LUA_MINSTACK, "log");
	for (p = (const char *)(r + 1); p < end; n++) {
		memcpy(&k, p, sizeof(k));
		for (; n < k.field; n++)
			lua_pushnil(L);
		p += sizeof(k);
		push_kept(L, g, &k, p);
		p += size_of_kept(&k);
	}
	for (; n < g->n_fields; n++)
		lua_pushnil(L);
	return (int)n;
}

const struct sinsp_chisel_binding sinsp_chisel_logging[] = {
	{"span", get_span, "span([key]) -> first, last",
	 "Returns the numbers of the first and the last record that the log has; with a key, "
	 "of the first and last item of that key's list, or nothing if it has no records. "
	 "Items are counted from 1, also those that were evicted, until the key has none."},
	{"number", get_number_of, "number(key, i) -> number",
	 "Returns the number of the record that is item `i` of the key's list."},
	{"values", get_values_of, "values(number) -> value, ...",
	 "Returns the values of the record in the order of `fields`, as `evt.field` returned "
	 "them; nothing if the log does not have it."},
	{"after", get_after, "after(key, ns) -> i",
	 "Returns the first item of the key's list whose event came after the time `ns`: one "
	 "behind the last item if there is none. nil if the key has no records."},
	{"overlapping", get_overlapping, "overlapping(key, i, a, b) -> i",
	 "Returns the first item from `i` on that began before `b` and ended after `a`, in "
	 "nanoseconds, by the options `begin` and `length`; nil if there is none."},
	{"times", get_time_of, "times(number) -> begin, end",
	 "Returns when the record began and ended, by the options `begin` and `length`."},
	{NULL},
};

void sinsp_chisel_add_logs(lua_State *L)
{
	sinsp_chisel_add_class(L, class_name, gc_log, sinsp_chisel_logging);
}
