/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the host of chisels: one chisel and its Lua state. */
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
	char *name; /* chisel.exec: who takes over; NULL: nobody */
	char **args;
	size_t n_args;
};

void sinsp_chisel_exec_fini(struct sinsp_chisel_exec *x);

enum { SINSP_CHISEL_ARGS_MAX = 100, SINSP_CHISEL_TEXTS = 16 };

struct sinsp_chisel_counter;

/* Where the code of a chisel or module is: one of the two, or neither. */
struct sinsp_chisel_source {
	char *path; /* owned */
	const struct sinsp_chisel_file *builtin;
};

/* A text that Lua has, and will have as long as it is referred to. */
struct sinsp_chisel_text {
	const char *p;
	uint32_t len;
	int ref; /* in the registry; 0: none yet */
};

/* A field of request_field, and values of it: by where they were. */
struct sinsp_chisel_field {
	struct sinsp_field field;
	struct sinsp_chisel_text texts[SINSP_CHISEL_TEXTS];
};

/* Memory that counts as that of Lua. */
struct sinsp_chisel_buffer {
	char *p;
	size_t len, size;
};

struct sinsp_chisel {
	struct sinsp_chisel_run *run;
	struct sinsp_chisel_info info;
	char *name;
	struct sinsp_chisel_source source;
	struct chisel_terminal terminal;
	lua_State *L;
	int on_event; /* registry reference; LUA_NOREF: there is none */
	struct sinsp_asker asker;
	struct sinsp_chisel_field *fields; /* a handle is an index and one more */
	size_t n_fields;
	struct sinsp_chisel_counter *counters; /* NULL: there is none */
	uint64_t set_serial; /* of the event that asker was set to */
	struct sinsp_filter *filter; /* NULL: every event */
	char *filter_text; /* its text */
	struct sinsp_filter *followed; /* chisel.follow: of these; NULL: none */
	int on_followed; /* registry reference; LUA_NOREF: there is none */
	struct sinsp_format *format; /* of set_event_formatter; NULL: prints no lines itself */
	char *format_text;
	uint8_t format_fmt; /* the buf_fmt that format was made with */
	struct sinsp_text line;
	struct sinsp_chisel_buffer json; /* chisel_json.c */
	const struct sinsp_evt *evt; /* the current one; NULL: there is none */
	uint64_t interval_ns, precise_ns; /* 0: none */
	uint64_t sample_ns, interval_ts; /* begin of the interval; the last call's time */
	uint64_t reached_ns; /* without events; 0: never */
	uint8_t seen_event;
	uint8_t each_end; /* an event about two files comes as two, each about one */
	struct sinsp_chisel_exec exec;
	size_t n_bytes; /* of Lua's memory */
	uint8_t out_of_memory;
	struct chisel_watch watch;
	uint64_t n_instructions; /* of the callback, in steps, once they are counted */
	uint8_t out_of_instructions;
	struct sinsp_chisel *next_left; /* chisel_state.c */
	uint8_t is_left; /* a call was left by a jump: L is not to be touched */
};

/* A function that chisels can call. */
struct sinsp_chisel_binding {
	const char *name;
	lua_CFunction fn;
	const char *use; /* "request_field(name) -> field" */
	const char *help;
};

extern const struct sinsp_chisel_binding sinsp_chisel_sysdig[], sinsp_chisel_chisel[],
	sinsp_chisel_evt[], sinsp_chisel_counting[]; /* each ends with a NULL name */

/* The chisel that calls. */
static inline struct sinsp_chisel *chisel_of(lua_State *L)
{
	return *(struct sinsp_chisel **)lua_getextraspace(L);
}

/* A state with limits. NULL: no memory. */
lua_State *sinsp_chisel_state(struct sinsp_chisel *c);
/* Calls have an end from now on. 0 or a negative errno. */
int sinsp_chisel_watch(struct sinsp_chisel *c);
/* Of coroutines instructions are counted from the beginning: nobody knows from outside which one
 * runs. create or wrap of the library is the upvalue. */
int sinsp_chisel_create_coroutine(lua_State *L);
/* Makes of a handler of xpcall one that ends with the instructions. */
int sinsp_chisel_guard_handler(lua_State *L);
/* In a protected call: the library and the tables of functions, without what is not allowed. */
void sinsp_chisel_fill_state(lua_State *L);
/* A table of the functions, pushed. */
void sinsp_chisel_push_bindings(lua_State *L, const struct sinsp_chisel_binding *b);
/* Memory that counts as that of Lua does. @size 0 frees it. NULL: there is no more. */
void *sinsp_chisel_realloc(struct sinsp_chisel *c, void *p, size_t old, size_t size);
/* Tells of @err, outside of Lua: -EINVAL. */
int sinsp_chisel_fail(struct sinsp_chisel *c, const char *what, int err);
/* Keeps the state of a call that was left, and who owns it, until the program ends. */
void sinsp_chisel_keep_left(struct sinsp_chisel *c);
/* Calls what lies below @n_args arguments, with a traceback. An error is told: -EINVAL. */
int sinsp_chisel_call(struct sinsp_chisel *c, int n_args, int n_results, const char *what);

/* A call of one of its globals. */
struct sinsp_chisel_callback {
	const char *name;
	int64_t numbers[3];
	int n_numbers;
	const char *texts[2];
	int n_texts;
	int found, result; /* out: it is a function, and what it returned is true */
};

/* A global that is no function is not called. 0 or what sinsp_chisel_call says. */
int sinsp_chisel_call_back(struct sinsp_chisel *c, struct sinsp_chisel_callback *cb);

/* Opens a regular file for reading; others may never give anything. 0 or a negative errno, whose
 * text is that of sinsp_chisel_plain_error. */
int sinsp_chisel_open_plain(const char *path, FILE **out);
const char *sinsp_chisel_plain_error(int err);
/* A value of the field as evt.field gives it. An error of Lua without memory. */
void sinsp_chisel_push_value(lua_State *L, struct sinsp_chisel_field *cf,
			     const struct sinsp_value *v);
void sinsp_chisel_push_unsigned(lua_State *L, uint64_t u);
/* Makes of it the text that a script gets, unless that is what it is made of. 0 or -ENOMEM. */
int sinsp_chisel_make_text(struct sinsp_chisel *c, const struct sinsp_chisel_field *cf,
			   struct sinsp_value *v);
/* Of a handle, or of a name, which is asked for then: its place in `fields`, or an error of Lua. */
int sinsp_chisel_field_index(lua_State *L, int at);

/* chisel.json and chisel.json_row */
int sinsp_chisel_json(lua_State *L);
int sinsp_chisel_json_row(lua_State *L);
void sinsp_chisel_drop_json(struct sinsp_chisel *c);

/* chisel.counter */
int sinsp_chisel_new_counter(lua_State *L);
/* In the state: what its counters can do. */
void sinsp_chisel_add_counters(lua_State *L);
/* The event is counted by all counters. 0 or a negative errno after telling. */
int sinsp_chisel_count(struct sinsp_chisel *c);

/* Arguments as they are, in order. 0 or a negative errno after telling. */
int sinsp_chisel_set_values(struct sinsp_chisel *c, char *const *values, size_t n);

/* sysdig.get_thread_table and its kin. */
int sinsp_chisel_thread_table(lua_State *L);
int sinsp_chisel_thread_table_nofds(lua_State *L);
int sinsp_chisel_thread_table_barebone(lua_State *L);
int sinsp_chisel_thread_table_barebone_nofds(lua_State *L);
int sinsp_chisel_container_table(lua_State *L);
int sinsp_chisel_running(lua_State *L);

/* Finds a chisel, or a module that @c requires: first beside @c, then in the order of the run.
 * Returns 0, or -ENOENT with *out empty. */
int sinsp_chisel_find(struct sinsp_chisel_source *out, const struct sinsp_chisel *c,
		      const char *name);
/* Loads the code as a function, pushed. Returns what lua_load does. */
int sinsp_chisel_load(lua_State *L, const struct sinsp_chisel_source *source);
/* Text of the field @key of the table on top, kept as long as the state; "" if there is none. */
const char *sinsp_chisel_keep_text(lua_State *L, const char *key);
int sinsp_chisel_is_true(lua_State *L, const char *key);
/* Of the table view_info on top of the stack. */
void sinsp_chisel_read_view(lua_State *L, struct sinsp_chisel_info *info);
/* A filter of a chisel, of events or of a table of threads, or an error of Lua. */
struct sinsp_filter *sinsp_chisel_make_filter(lua_State *L, const char *text, int of_threads);
/* The same, pushed, and freed with what is on the stack. */
struct sinsp_filter *sinsp_chisel_filter_on_stack(lua_State *L, const char *text, int of_threads);

/* The chisel asks for what only system calls would tell, now that they are not recorded: says so.
 */
void sinsp_chisel_note_stale(struct sinsp_chisel *c, const char *what);
__attribute__((format(printf, 2, 3))) void sinsp_chisel_say(const struct sinsp_chisel *c,
							    const char *fmt, ...);

#endif /* SINSP_CHISEL_CHISEL_HOST_H */
