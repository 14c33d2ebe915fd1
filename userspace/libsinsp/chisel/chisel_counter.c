/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chisel.counter: counts events by the values of fields, without Lua. Events of one row have the
 * same values in Lua. Rows lie in one block in the order of their first event, their texts and
 * addresses in another block: both grow, so rows store offsets. Eviction keeps the order of both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chisel_host.h"
#include "hash.h"

enum { KEYS_MAX = 16, VALUES_MAX = 32, COUNTERS_MAX = 64, NO_FIELD = -1 };
/* A watched process can make up names: above these limits the smaller half of the rows is added up
 * in one. */
enum { ROWS_MAX = 100000, BYTES_MAX = 64 << 20, SLOTS_MIN = 64 };

static const char class_name[] = "saker.counter";

/* An integer or float, as in Lua. */
struct number {
	union {
		int64_t i;
		double d;
	};
	enum { NUMBER_NONE, NUMBER_INT, NUMBER_DOUBLE } kind;
};

struct counted {
	int field; /* NO_FIELD: count events */
	int when; /* count only events for which this field is true; NO_FIELD: all */
	uint8_t max;
};

/* The userdata of the script. */
struct sinsp_chisel_counter {
	struct sinsp_chisel_listener in; /* the chisel's counters */
	struct sinsp_chisel *c;
	uint32_t n_keys, n_values, by; /* by: the value that eviction compares */
	int keys[KEYS_MAX];
	struct counted values[VALUES_MAX];
	size_t row_sz;
	uint64_t seed, serial; /* serial: of the last event that was counted */
	struct sinsp_chisel_buffer rows, bytes;
	uint32_t *slots; /* hash table of row number + 1; 0: free */
	struct number other[VALUES_MAX]; /* sums of evicted rows */
	uint64_t n_other;
	uint32_t n_rows, n_slots, last; /* n_slots is a power of two; last: row of the last event */
};

/* Followed by the numbers. u of a text or address is an offset in bytes. */
struct row {
	uint64_t hash;
	struct sinsp_value key[];
};

static struct row *row_at(const struct sinsp_chisel_counter *k, uint32_t i)
{
	return (struct row *)(k->rows.p + i * k->row_sz);
}

static struct number *numbers_of(const struct sinsp_chisel_counter *k, struct row *row)
{
	return (struct number *)(row->key + k->n_keys);
}

/* ---- memory ---- */

static void drop_rows(struct sinsp_chisel_counter *k)
{
	sinsp_chisel_drop_buffer(k->c, &k->rows);
	sinsp_chisel_drop_buffer(k->c, &k->bytes);
	sinsp_chisel_realloc(k->c, k->slots, k->n_slots * sizeof(*k->slots), 0);
	k->slots = NULL;
	k->n_rows = k->n_slots = 0;
	memset(k->other, 0, sizeof(k->other));
	k->n_other = 0;
}

/* ---- keys ---- */

static int is_same(const struct sinsp_chisel_counter *k, const struct sinsp_value *a,
		   const struct sinsp_value *b)
{
	if (a->type != b->type || a->len != b->len || a->prefix != b->prefix)
		return 0;
	return sinsp_chisel_has_bytes(a) ? !memcmp(k->bytes.p + a->u, b->p, b->len) : a->u == b->u;
}

static int is_row(const struct sinsp_chisel_counter *k, const struct row *row,
		  const struct sinsp_value *key)
{
	for (uint32_t i = 0; i < k->n_keys; i++)
		if (!is_same(k, &row->key[i], &key[i]))
			return 0;
	return 1;
}

static uint64_t hash_key(const struct sinsp_chisel_counter *k, const struct sinsp_value *key)
{
	uint64_t h = k->seed;

	for (uint32_t i = 0; i < k->n_keys; i++)
		h = sinsp_chisel_hash_value(h, &key[i]);
	return h;
}

/* ---- numbers ---- */

static struct number number_of(const struct sinsp_value *v)
{
	switch ((enum sinsp_field_type)v->type) {
	case FIELD_INT:
		return (struct number){.i = v->i, .kind = NUMBER_INT};
	case FIELD_UINT:
	case FIELD_PORT:
	case FIELD_TIME:
	case FIELD_DURATION:
		if (v->u <= INT64_MAX)
			return (struct number){.i = v->i, .kind = NUMBER_INT};
		return (struct number){.d = (double)v->u, .kind = NUMBER_DOUBLE};
	case FIELD_DOUBLE:
		return (struct number){.d = v->d, .kind = NUMBER_DOUBLE};
	default:
		return (struct number){.kind = NUMBER_NONE};
	}
}

static int is_above_zero(const struct number *n)
{
	return (n->kind == NUMBER_INT && n->i > 0) || (n->kind == NUMBER_DOUBLE && n->d > 0);
}

static double as_double(const struct number *n)
{
	if (n->kind == NUMBER_NONE)
		return 0;
	return n->kind == NUMBER_INT ? (double)n->i : n->d;
}

static void keep_max(struct number *to, const struct number *n)
{
	if (to->kind == NUMBER_INT && n->kind == NUMBER_INT ? n->i > to->i
							    : as_double(n) > as_double(to))
		*to = *n;
}

/* Adds as an integer; as a float after an overflow. */
static void add_number(struct number *to, const struct number *n)
{
	int64_t sum;

	if (to->kind == NUMBER_INT && n->kind == NUMBER_INT &&
	    !__builtin_add_overflow(to->i, n->i, &sum))
		to->i = sum;
	else
		*to = (struct number){.d = as_double(to) + as_double(n), .kind = NUMBER_DOUBLE};
}

static void count_number(struct number *to, const struct number *n, int max)
{
	if (to->kind == NUMBER_NONE)
		*to = *n;
	else if (max)
		keep_max(to, n);
	else
		add_number(to, n);
}

/* ---- rows ---- */

/* Returns the slot of the key, or the free slot for it. */
static uint32_t *find_slot(const struct sinsp_chisel_counter *k, uint64_t hash,
			   const struct sinsp_value *key)
{
	uint32_t i = (uint32_t)hash & (k->n_slots - 1);

	for (; k->slots[i]; i = (i + 1) & (k->n_slots - 1)) {
		const struct row *row = row_at(k, k->slots[i] - 1);

		if (row->hash == hash && is_row(k, row, key))
			break;
	}
	return &k->slots[i];
}

static void fill_slots(struct sinsp_chisel_counter *k)
{
	const uint32_t mask = k->n_slots - 1;

	memset(k->slots, 0, k->n_slots * sizeof(*k->slots));
	for (uint32_t r = 0; r < k->n_rows; r++) {
		uint32_t i = (uint32_t)row_at(k, r)->hash & mask;

		while (k->slots[i])
			i = (i + 1) & mask;
		k->slots[i] = r + 1;
	}
}

/* Keeps at least half of the slots free. */
static int grow_slots(struct sinsp_chisel_counter *k)
{
	const uint32_t n = k->n_slots ? k->n_slots * 2 : SLOTS_MIN;
	uint32_t *slots;

	if (k->n_rows < k->n_slots / 2)
		return 0;
	slots = sinsp_chisel_realloc(k->c, NULL, 0, n * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	sinsp_chisel_realloc(k->c, k->slots, k->n_slots * sizeof(*slots), 0);
	k->slots = slots;
	k->n_slots = n;
	fill_slots(k);
	return 0;
}

/* ---- eviction ---- */

struct rank {
	double size;
	uint32_t row;
};

/* Sorts descending; of equals, the row that was counted first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->row < y->row ? -1 : 1;
}

static int compare_rows(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return x->row < y->row ? -1 : 1;
}

/* Moves a row towards the beginning of both blocks. */
static void move_row(struct sinsp_chisel_counter *k, uint32_t from, uint32_t to, size_t *bytes)
{
	struct row *row = memmove(row_at(k, to), row_at(k, from), k->row_sz);

	for (uint32_t i = 0; i < k->n_keys; i++) {
		if (!sinsp_chisel_has_bytes(&row->key[i]))
			continue;
		memmove(k->bytes.p + *bytes, k->bytes.p + row->key[i].u, row->key[i].len);
		row->key[i].u = *bytes;
		*bytes += row->key[i].len;
	}
}

static void put_together(struct sinsp_chisel_counter *k, struct row *row)
{
	for (uint32_t i = 0; i < k->n_values; i++) {
		const struct number *n = &numbers_of(k, row)[i];

		if (n->kind != NUMBER_NONE)
			count_number(&k->other[i], n, k->values[i].max);
	}
	k->n_other++;
}

/* Evicts the smaller half of the rows. Returns 0 or -ENOMEM. */
static int evict(struct sinsp_chisel_counter *k)
{
	const uint32_t n = k->n_rows, n_kept = n / 2;
	const size_t sz = n * sizeof(struct rank);
	struct rank *ranks = sinsp_chisel_realloc(k->c, NULL, 0, sz);
	size_t bytes = 0;
	uint32_t r, to = 0;

	if (!ranks)
		return -ENOMEM;
	for (r = 0; r < n; r++)
		ranks[r] = (struct rank){as_double(&numbers_of(k, row_at(k, r))[k->by]), r};
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	qsort(ranks, n_kept, sizeof(*ranks), compare_rows);
	for (r = 0; r < n; r++) {
		if (to < n_kept && ranks[to].row == r)
			move_row(k, r, to++, &bytes);
		else
			put_together(k, row_at(k, r));
	}
	sinsp_chisel_realloc(k->c, ranks, sz, 0);
	k->n_rows = n_kept;
	k->last = 0;
	k->rows.len = n_kept * k->row_sz;
	k->bytes.len = bytes;
	fill_slots(k);
	return 0;
}

/* ---- new rows ---- */

static int is_full(const struct sinsp_chisel_counter *k, size_t n_bytes)
{
	return k->n_rows >= ROWS_MAX || (k->n_rows > 1 && k->bytes.len + n_bytes > BYTES_MAX);
}

static int reserve_row(struct sinsp_chisel_counter *k, const struct sinsp_value *key)
{
	size_t n_bytes = 0;

	for (uint32_t i = 0; i < k->n_keys; i++)
		n_bytes += key[i].len;
	if (is_full(k, n_bytes) && evict(k))
		return -ENOMEM;
	return grow_slots(k) ?: sinsp_chisel_reserve(k->c, &k->rows, k->row_sz)
				       ?: sinsp_chisel_reserve(k->c, &k->bytes, n_bytes);
}

/* Adds a row; there must be room. */
static void add_row(struct sinsp_chisel_counter *k, uint64_t hash, const struct sinsp_value *key)
{
	struct row *row = row_at(k, k->n_rows);

	memset(row, 0, k->row_sz);
	row->hash = hash;
	for (uint32_t i = 0; i < k->n_keys; i++) {
		row->key[i] = key[i];
		if (!sinsp_chisel_has_bytes(&key[i]))
			continue;
		memcpy(k->bytes.p + k->bytes.len, key[i].p, key[i].len);
		row->key[i].u = k->bytes.len;
		k->bytes.len += key[i].len;
	}
	k->rows.len += k->row_sz;
	*find_slot(k, hash, key) = ++k->n_rows;
}

/* Returns the row of the key, valid until the next new row. NULL: no memory. */
static struct row *row_of(struct sinsp_chisel_counter *k, const struct sinsp_value *key)
{
	uint64_t hash;
	uint32_t i;

	/* Events of one key often follow each other. */
	if (k->n_rows && is_row(k, row_at(k, k->last), key))
		return row_at(k, k->last);
	hash = hash_key(k, key);
	i = k->n_slots ? *find_slot(k, hash, key) : 0;
	if (!i) {
		if (reserve_row(k, key))
			return NULL;
		add_row(k, hash, key);
		i = k->n_rows;
	}
	k->last = i - 1;
	return row_at(k, k->last);
}

/* ---- events ---- */

/* Returns whether the value is not nil or false, or a negative errno. */
static int is_true(struct sinsp_chisel *c, int field)
{
	const struct sinsp_value *more;
	struct sinsp_value v;
	int n = sinsp_field_get(&c->eval, &c->fields[field].field, &v, &more);

	return n > 0 ? v.type != FIELD_BOOL || v.u : n;
}

static int get_number(struct sinsp_chisel *c, int field, struct number *n)
{
	const struct sinsp_value *more;
	struct sinsp_value v;
	int r;

	*n = (struct number){.i = 1, .kind = NUMBER_INT};
	if (field == NO_FIELD)
		return 0;
	r = sinsp_field_get(&c->eval, &c->fields[field].field, &v, &more);
	*n = r > 0 ? number_of(&v) : (struct number){.kind = NUMBER_NONE};
	return r < 0 ? r : 0;
}

static int count_values(struct sinsp_chisel_counter *k, const struct sinsp_value *key)
{
	struct row *row = NULL;
	struct number n = {0};
	int r;

	for (uint32_t i = 0; i < k->n_values; i++) {
		const struct counted *value = &k->values[i];

		r = value->when == NO_FIELD ? 1 : is_true(k->c, value->when);
		if (r < 0)
			return r;
		if (!r)
			continue;
		r = get_number(k->c, value->field, &n);
		if (r)
			return r;
		if (!is_above_zero(&n))
			continue;
		row = row ?: row_of(k, key);
		if (!row)
			return -ENOMEM;
		count_number(&numbers_of(k, row)[i], &n, value->max);
	}
	return 0;
}

static int count_event(struct sinsp_chisel_counter *k)
{
	struct sinsp_value key[KEYS_MAX];
	int known = !k->n_keys;

	for (uint32_t i = 0; i < k->n_keys; i++) {
		const int r = sinsp_chisel_get_value(k->c, k->keys[i], &key[i]);

		if (r < 0)
			return r;
		known |= r;
	}
	return known ? count_values(k, key) : 0;
}

/* Counts the event in the counters that have not counted it yet. */
static int count_by_all(struct sinsp_chisel *c)
{
	int err = 0;

	for (struct sinsp_chisel_listener *o = c->counters; o && !err; o = o->next) {
		struct sinsp_chisel_counter *k = (struct sinsp_chisel_counter *)o;

		if (k->serial == c->eval.serial)
			continue;
		err = count_event(k);
		if (!err)
			k->serial = c->eval.serial;
	}
	return err;
}

int sinsp_chisel_count(struct sinsp_chisel *c)
{
	int err = count_by_all(c);

	/* A garbage collection may free any counter: start again. */
	if (err == -ENOMEM) {
		lua_gc(c->L, LUA_GCCOLLECT);
		err = count_by_all(c);
	}
	return err ? sinsp_chisel_fail(c, "a counter", err) : 0;
}

/* ---- what scripts call ---- */

/* Pops a handle or name and returns its field. */
static int pop_field(lua_State *L)
{
	const int i = sinsp_chisel_field_index(L, -1);

	lua_pop(L, 1);
	return i;
}

static uint32_t list_length(lua_State *L, int arg, int max, const char *too_many)
{
	lua_Integer n;

	luaL_checktype(L, arg, LUA_TTABLE);
	n = luaL_len(L, arg);
	luaL_argcheck(L, n >= 0 && n <= max, arg, too_many);
	return (uint32_t)n;
}

static int is_number_field(const struct sinsp_field *f)
{
	const struct number n = number_of(&(struct sinsp_value){.type = f->type});

	return n.kind != NUMBER_NONE || f->type == FIELD_NONE;
}

/* Reads the value on top of the stack. */
static struct counted read_value(lua_State *L, int i)
{
	struct counted value = {.field = NO_FIELD, .when = NO_FIELD};
	const struct sinsp_field *f;

	if (!lua_istable(L, -1))
		luaL_error(L, "chisel.counter: value %d is not a table", i);
	value.max = (uint8_t)sinsp_chisel_is_true(L, "max");
	if (lua_getfield(L, -1, "when") == LUA_TNIL)
		lua_pop(L, 1);
	else
		value.when = pop_field(L);
	if (lua_getfield(L, -1, "field") != LUA_TNIL) {
		value.field = pop_field(L);
		f = &chisel_of(L)->fields[value.field].field;
		if (!is_number_field(f))
			luaL_error(L, "chisel.counter: %s is not a number", f->row->name);
		return value;
	}
	lua_pop(L, 1);
	if (!sinsp_chisel_is_true(L, "count"))
		luaL_error(L, "chisel.counter: value %d needs a field, or count = true", i);
	return value;
}

static void read_lists(lua_State *L, struct sinsp_chisel_counter *k)
{
	const uint32_t n_keys = list_length(L, 1, KEYS_MAX, "more than 16 keys"),
		       n_values = list_length(L, 2, VALUES_MAX, "more than 32 values");

	luaL_argcheck(L, n_values > 0, 2, "nothing to count");
	for (uint32_t i = 0; i < n_keys; i++) {
		lua_geti(L, 1, i + 1);
		k->keys[i] = pop_field(L);
	}
	for (uint32_t i = 0; i < n_values; i++) {
		lua_geti(L, 2, i + 1);
		k->values[i] = read_value(L, (int)i + 1);
		lua_pop(L, 1);
	}
	k->n_keys = n_keys;
	k->n_values = n_values;
	k->by = (uint32_t)luaL_optinteger(L, 3, 1) - 1;
	luaL_argcheck(L, k->by < n_values, 3, "no such value");
	k->row_sz = sizeof(struct row) + n_keys * sizeof(struct sinsp_value) +
		    n_values * sizeof(struct number);
}

static int gc_counter(lua_State *L)
{
	struct sinsp_chisel_counter *k = lua_touserdata(L, 1);

	drop_rows(k);
	sinsp_chisel_unlist(&k->in);
	return 0;
}

int sinsp_chisel_new_counter(lua_State *L)
{
	struct sinsp_chisel_counter *k;

	lua_settop(L, 3);
	k = lua_newuserdatauv(L, sizeof(*k), 0);
	*k = (struct sinsp_chisel_counter){.c = chisel_of(L)};
	k->seed = scap_hash_seed(k);
	luaL_setmetatable(L, class_name);
	read_lists(L, k);
	/* All count an event in the order of their creation. */
	sinsp_chisel_enlist(L, &k->c->counters, &k->in, COUNTERS_MAX, "counter");
	return 1;
}

static void push_number(lua_State *L, const struct number *n)
{
	if (n->kind == NUMBER_INT)
		lua_pushinteger(L, n->i);
	else if (n->kind == NUMBER_DOUBLE)
		lua_pushnumber(L, n->d);
	else
		lua_pushnil(L);
}

static void push_key(lua_State *L, const struct sinsp_chisel_counter *k, uint32_t i,
		     const struct row *row)
{
	struct sinsp_value v = row->key[i];

	if (v.type == FIELD_NONE) {
		lua_pushnil(L);
		return;
	}
	if (sinsp_chisel_has_bytes(&v))
		v.p = k->bytes.p + v.u;
	sinsp_chisel_push_value(L, &k->c->fields[k->keys[i]], &v);
}

static int get_rows(lua_State *L)
{
	const struct sinsp_chisel_counter *k = luaL_checkudata(L, 1, class_name);

	lua_createtable(L, (int)k->n_rows, 0);
	for (uint32_t r = 0; r < k->n_rows; r++) {
		struct row *row = row_at(k, r);

		lua_createtable(L, (int)(k->n_keys + k->n_values), 0);
		for (uint32_t i = 0; i < k->n_keys; i++) {
			push_key(L, k, i, row);
			lua_rawseti(L, -2, (lua_Integer)i + 1);
		}
		for (uint32_t i = 0; i < k->n_values; i++) {
			push_number(L, &numbers_of(k, row)[i]);
			lua_rawseti(L, -2, (lua_Integer)(k->n_keys + i) + 1);
		}
		lua_rawseti(L, -2, (lua_Integer)r + 1);
	}
	if (!k->n_other)
		return 1;
	lua_createtable(L, (int)k->n_values, 0);
	for (uint32_t i = 0; i < k->n_values; i++) {
		push_number(L, &k->other[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_pushinteger(L, (lua_Integer)k->n_other);
	return 3;
}

static int clear(lua_State *L)
{
	drop_rows(luaL_checkudata(L, 1, class_name));
	return 0;
}

const struct sinsp_chisel_binding sinsp_chisel_counting[] = {
	{"rows", get_rows, "rows() -> table [, other, n]",
	 "Returns the rows in the order of their first event. A row is a list of the values "
	 "of its keys, as `evt.field` returns them, then its numbers. nil is a key that "
	 "these events do not have, or a number that none of them had. Above 100000 rows, or "
	 "64 MiB of keys, the smaller half is evicted: `other` has the sums of the `n` "
	 "evicted rows."},
	{"clear", clear, "clear()", "Drops all rows."},
	{NULL},
};

void sinsp_chisel_add_counters(lua_State *L)
{
	sinsp_chisel_add_class(L, class_name, gc_counter, sinsp_chisel_counting);
}
