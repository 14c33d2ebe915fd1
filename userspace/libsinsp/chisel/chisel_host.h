/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the chisel host: one chisel and its Lua state. */
#ifndef SINSP_CHISEL_CHISEL_HOST_H
#define SINSP_CHISEL_CHISEL_HOST_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "chisel.h"
#include "chisel_terminal.h"
#include "chisel_watch.h"
#include "fields/field.h"
#include "fields/format.h"
#include "filter/filter.h"

struct sinsp_chisel_exec {
	char *name; /* chisel.exec: the next chisel; NULL: none */
	char **args;
	size_t n_args;
};

void sinsp_chisel_exec_fini(struct sinsp_chisel_exec *x);

enum { SINSP_CHISEL_ARGS_MAX = 100, SINSP_CHISEL_TEXTS = 16 };

/* Location of the code of a chisel or module: one of the two, or neither. */
struct sinsp_chisel_source {
	char *path; /* owned */
	const struct sinsp_chisel_file *builtin;
};

/* A text in Lua, kept by a reference. */
struct sinsp_chisel_text {
	const char *p;
	uint32_t len;
	int ref; /* in the registry; 0: none */
};

/* A field of request_field, with a cache of its latest texts. */
struct sinsp_chisel_field {
	struct sinsp_field field;
	struct sinsp_chisel_text texts[SINSP_CHISEL_TEXTS];
};

/* Memory that counts as that of Lua. */
struct sinsp_chisel_buffer {
	char *p;
	size_t len, size;
};

/* An object of the script that sees events: the first member of its userdata. */
struct sinsp_chisel_listener {
	struct sinsp_chisel_listener *next, **at; /* at NULL: in no list yet */
};

struct sinsp_chisel {
	struct sinsp_chisel_run *run;
	struct sinsp_chisel_info info;
	char *name;
	struct sinsp_chisel_source source;
	struct chisel_terminal terminal;
	lua_State *L;
	int on_event; /* registry reference; LUA_NOREF: none */
	struct sinsp_eval eval;
	struct sinsp_chisel_field *fields; /* a handle is the index + 1 */
	size_t n_fields;
	struct sinsp_chisel_listener *counters, *logs; /* in the order of their creation */
	uint64_t n_logged; /* events that were offered to logs */
	uint64_t set_serial; /* of the event that eval is set to */
	struct sinsp_filter *filter; /* NULL: all events */
	char *filter_text; /* its text */
	struct sinsp_filter *followed; /* filter of chisel.follow; NULL: none */
	int on_followed; /* registry reference; LUA_NOREF: none */
	struct sinsp_format *format; /* of set_event_formatter; NULL: no lines */
	char *format_text;
	uint8_t format_fmt; /* buf_fmt of the format */
	struct sinsp_text line;
	struct sinsp_chisel_buffer json; /* chisel_json.c */
	const struct sinsp_evt *evt; /* the current event; NULL: none */
	uint64_t interval_ns, precise_ns; /* 0: none */
	uint64_t sample_ns, interval_ts; /* start of the interval; time of the last call */
	uint64_t reached_ns; /* time without events; 0: never */
	uint8_t seen_event;
	uint8_t told_gap; /* that intervals were left out */
	uint8_t each_end; /* chisel.each_end: an event with two files comes once for each */
	struct sinsp_chisel_exec exec;
	size_t n_bytes; /* memory of Lua */
	uint8_t out_of_memory;
	struct chisel_watch watch;
	uint64_t n_instructions; /* of the callback, in steps, once counting began */
	uint8_t out_of_instructions;
	struct sinsp_chisel *next_left; /* chisel_state.c */
	uint8_t is_left; /* a call was left by a jump: L must not be used */
};

/* A function of the Lua API. */
struct sinsp_chisel_binding {
	const char *name;
	lua_CFunction fn;
	const char *use; /* "request_field(name) -> field" */
	const char *help;
};

extern const struct sinsp_chisel_binding sinsp_chisel_sysdig[], sinsp_chisel_chisel[],
	sinsp_chisel_evt[], sinsp_chisel_counting[],
	sinsp_chisel_logging[]; /* each ends with a NULL name */

/* Returns the chisel that calls. */
static inline struct sinsp_chisel *chisel_of(lua_State *L)
{
	return *(struct sinsp_chisel **)lua_getextraspace(L);
}

/* Creates a state with limits. Returns NULL without memory. */
lua_State *sinsp_chisel_state(struct sinsp_chisel *c);
/* Starts the time limit of calls. Returns 0 or a negative errno. */
int sinsp_chisel_watch(struct sinsp_chisel *c);
/* Counts the instructions of a coroutine from its start: only the main thread is watched by the
 * timer. The upvalue is coroutine.create or wrap. */
int sinsp_chisel_create_coroutine(lua_State *L);
/* Wraps a handler of xpcall, so that the instruction limit ends it, too. */
int sinsp_chisel_guard_handler(lua_State *L);
/* In a protected call: adds the library and the tables of the API, without what is not allowed. */
void sinsp_chisel_fill_state(lua_State *L);
/* Pushes a table of the functions. */
void sinsp_chisel_push_bindings(lua_State *L, const struct sinsp_chisel_binding *b);
/* Adds a class of userdata to the state: its methods, and what frees one. */
void sinsp_chisel_add_class(lua_State *L, const char *name, lua_CFunction gc,
			    const struct sinsp_chisel_binding *methods);
/* Appends to a list of at most @max. Raises a Lua error, with what chisel.@name makes, if it is
 * full. */
void sinsp_chisel_enlist(lua_State *L, struct sinsp_chisel_listener **list,
			 struct sinsp_chisel_listener *o, int max, const char *name);
void sinsp_chisel_unlist(struct sinsp_chisel_listener *o);
/* Allocates memory that counts as Lua's; @size 0 frees. Returns NULL at the limit. */
void *sinsp_chisel_realloc(struct sinsp_chisel *c, void *p, size_t old, size_t size);
/* Makes room for @more bytes behind the first b->len. Returns 0 or -ENOMEM. */
int sinsp_chisel_reserve(struct sinsp_chisel *c, struct sinsp_chisel_buffer *b, size_t more);
void sinsp_chisel_drop_buffer(struct sinsp_chisel *c, struct sinsp_chisel_buffer *b);
/* Logs @err outside of Lua and returns -EINVAL. */
int sinsp_chisel_fail(struct sinsp_chisel *c, const char *what, int err);
/* Keeps a chisel whose call was left, until the program ends. */
void sinsp_chisel_keep_left(struct sinsp_chisel *c);
/* Calls the function below @n_args arguments. Logs an error with its traceback and returns
 * -EINVAL. */
int sinsp_chisel_call(struct sinsp_chisel *c, int n_args, int n_results, const char *what);

/* A call of a global function. */
struct sinsp_chisel_callback {
	const char *name;
	int64_t numbers[3];
	int n_numbers;
	const char *texts[2];
	int n_texts;
	int found, result; /* out: the function exists; it returned true */
};

/* Calls a global, unless it is no function. Returns as sinsp_chisel_call. */
int sinsp_chisel_call_back(struct sinsp_chisel *c, struct sinsp_chisel_callback *cb);

/* Opens a regular file for reading: reading others may block. Returns 0 or a negative errno for
 * sinsp_chisel_plain_error. */
int sinsp_chisel_open_plain(const char *path, FILE **out);
const char *sinsp_chisel_plain_error(int err);
/* Pushes a value as evt.field returns it. Raises a Lua error without memory. */
void sinsp_chisel_push_value(lua_State *L, struct sinsp_chisel_field *cf,
			     const struct sinsp_value *v);
void sinsp_chisel_push_unsigned(lua_State *L, uint64_t u);
/* Converts the value to the text that Lua gets. Returns 0 or -ENOMEM. */
int sinsp_chisel_make_text(struct sinsp_chisel *c, const struct sinsp_chisel_field *cf,
			   struct sinsp_value *v);
/* Whether p points to what the value is: a text or an address. */
int sinsp_chisel_has_bytes(const struct sinsp_value *v);
/* Gets the value of the field of index @field for the event that eval is set to, made so that
 * values which are equal in Lua are equal bytes. Returns 1, 0 if the event has none (*key is
 * FIELD_NONE then), or -ENOMEM. */
int sinsp_chisel_get_value(struct sinsp_chisel *c, int field, struct sinsp_value *v);
/* Adds such a value to a hash. */
uint64_t sinsp_chisel_hash_value(uint64_t h, const struct sinsp_value *v);
/* Returns the index in fields of a handle, or of a field name, which it requests. Raises a Lua
 * error. */
int sinsp_chisel_field_index(lua_State *L, int at);

/* chisel.json and chisel.json_row */
int sinsp_chisel_json(lua_State *L);
int sinsp_chisel_json_row(lua_State *L);

/* chisel.counter */
int sinsp_chisel_new_counter(lua_State *L);
/* Adds the methods of counters to the state. */
void sinsp_chisel_add_counters(lua_State *L);
/* Counts the event in all counters. Returns 0, or a negative errno after a message. */
int sinsp_chisel_count(struct sinsp_chisel *c);

/* chisel.log */
int sinsp_chisel_new_log(lua_State *L);
/* Adds the methods of logs to the state. */
void sinsp_chisel_add_logs(lua_State *L);
/* Keeps the event in the logs whose filters it matches; sets it if there are any. Returns 0, or a
 * negative errno after a message. */
int sinsp_chisel_log(struct sinsp_chisel *c, const struct sinsp_evt *evt);
/* Returns what the filters of all logs need, as sinsp_filter_field_needs. */
unsigned int sinsp_chisel_log_needs(const struct sinsp_chisel *c);

/* Sets the arguments in order. Returns 0, or a negative errno after a message. */
int sinsp_chisel_set_values(struct sinsp_chisel *c, char *const *values, size_t n);

/* sysdig.get_thread_table and variants */
int sinsp_chisel_thread_table(lua_State *L);
int sinsp_chisel_thread_table_nofds(lua_State *L);
int sinsp_chisel_thread_table_barebone(lua_State *L);
int sinsp_chisel_thread_table_barebone_nofds(lua_State *L);
int sinsp_chisel_container_table(lua_State *L);
int sinsp_chisel_running(lua_State *L);

/* Finds a chisel, or a module that @c requires: beside @c, then in the folders of the run. Returns
 * 0, or -ENOENT with *out empty. */
int sinsp_chisel_find(struct sinsp_chisel_source *out, const struct sinsp_chisel *c,
		      const char *name);
/* Pushes the loaded code as a function. Returns as lua_load. */
int sinsp_chisel_load(lua_State *L, const struct sinsp_chisel_source *source);
/* Returns the text of field @key in the table on top of the stack, valid as long as the state; ""
 * if missing. */
const char *sinsp_chisel_keep_text(lua_State *L, const char *key);
int sinsp_chisel_is_true(lua_State *L, const char *key);
/* Reads the table view_info on top of the stack. */
void sinsp_chisel_read_view(lua_State *L, struct sinsp_chisel_info *info);
/* Sets the event that fields are of. */
void sinsp_chisel_set_event(struct sinsp_chisel *c, const struct sinsp_evt *evt);
/* Compiles a filter of events or of a table of threads. Raises a Lua error. */
struct sinsp_filter *sinsp_chisel_make_filter(lua_State *L, const char *text, int of_threads);
/* Pushes the filter, so that it is freed with the stack. */
struct sinsp_filter *sinsp_chisel_filter_on_stack(lua_State *L, const char *text, int of_threads);

/* Logs once that @what needs system calls, which are not recorded. */
void sinsp_chisel_warn_no_calls(struct sinsp_chisel *c, const char *what);
__attribute__((format(printf, 2, 3))) void sinsp_chisel_say(const struct sinsp_chisel *c,
							    const char *fmt, ...);

#endif /* SINSP_CHISEL_CHISEL_HOST_H */
