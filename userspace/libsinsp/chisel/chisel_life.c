/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life cycle of a chisel: loading, callbacks, intervals, end. All Lua code runs in
 * sinsp_chisel_call, also reads of globals, which metamethods can intercept. No call follows one
 * that failed.
 */
#include "chisel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chisel_host.h"
#include "fields/evt_io.h"
#include "fields/field.h"

void sinsp_chisel_run_init(struct sinsp_chisel_run *run)
{
	*run = (struct sinsp_chisel_run){
		.out = stdout,
		.max_bytes = (size_t)1 << 30,
		.max_instructions = 1000000000,
		.udp_fd = -1,
	};
}

void sinsp_chisel_run_fini(struct sinsp_chisel_run *run)
{
	free(run->set_filter);
	free(run->run_app);
	free(run->prelude.p);
	if (run->udp_fd >= 0)
		close(run->udp_fd);
	sinsp_chisel_run_init(run);
}

/* ---- loading ---- */

/* Reads the table of arguments on top of the stack. */
static void read_args(lua_State *L, struct sinsp_chisel_info *info)
{
	const lua_Integer n = luaL_len(L, -1);
	struct sinsp_chisel_arg *args;

	luaL_argcheck(L, n >= 0 && n < SINSP_CHISEL_ARGS_MAX, 1, "args has too many rows");
	args = lua_newuserdatauv(L, (size_t)n * sizeof(*args) + 1, 0);
	luaL_ref(L, LUA_REGISTRYINDEX);
	for (lua_Integer i = 0; i < n; i++) {
		lua_geti(L, -1, i + 1);
		if (!lua_istable(L, -1))
			luaL_error(L, "args has a row that is not a table");
		args[i] = (struct sinsp_chisel_arg){
			.name = sinsp_chisel_keep_text(L, "name"),
			.type = sinsp_chisel_keep_text(L, "argtype"),
			.description = sinsp_chisel_keep_text(L, "description"),
			.optional = sinsp_chisel_is_true(L, "optional"),
		};
		info->n_required += !args[i].optional;
		lua_pop(L, 1);
	}
	info->args = args;
	info->n_args = (size_t)n;
	info->has_args = 1;
}

static int load_chisel(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);
	struct sinsp_chisel_info *info = &c->info;

	sinsp_chisel_fill_state(L);
	if (sinsp_chisel_load(L, &c->source))
		return lua_error(L);
	lua_call(L, 0, 1);
	info->is_module = lua_istable(L, -1) || lua_isfunction(L, -1);
	lua_pushglobaltable(L);
	info->category = sinsp_chisel_keep_text(L, "category");
	info->short_description = sinsp_chisel_keep_text(L, "short_description");
	info->description = sinsp_chisel_keep_text(L, "description");
	info->hidden = (uint8_t)sinsp_chisel_is_true(L, "hidden");
	if (lua_getfield(L, -1, "view_info") == LUA_TTABLE)
		sinsp_chisel_read_view(L, info);
	lua_pop(L, 1);
	if (lua_getfield(L, -1, "args") == LUA_TTABLE)
		read_args(L, info);
	return 0;
}

static void drop_program(struct sinsp_chisel *c)
{
	chisel_watch_fini(&c->watch);
	chisel_terminal_fini(&c->terminal, c->run->out);
	if (c->L)
		lua_close(c->L);
	c->L = NULL;
	sinsp_chisel_drop_buffer(c, &c->json);
	for (size_t i = 0; i < c->n_fields; i++)
		sinsp_field_fini(&c->fields[i].field);
	free(c->fields);
	sinsp_filter_free(c->filter);
	free(c->filter_text);
	sinsp_filter_free(c->followed);
	sinsp_format_free(c->format);
	free(c->format_text);
	free(c->source.path);
	free(c->name);
	c->fields = NULL;
	c->filter = c->followed = NULL;
	c->format = NULL;
	c->filter_text = c->format_text = c->name = NULL;
	c->source = (struct sinsp_chisel_source){0};
	c->n_fields = 0;
	c->interval_ns = c->precise_ns = 0;
	c->info = (struct sinsp_chisel_info){0};
}

/* Finds a chisel by name, or by path if @name has a slash. */
static int find_chisel(struct sinsp_chisel *c, const char *name)
{
	if (!strchr(name, '/'))
		return sinsp_chisel_find(&c->source, c, name);
	if (access(name, R_OK) == 0)
		c->source.path = strdup(name);
	else if (asprintf(&c->source.path, "%s.lua", name) < 0)
		c->source.path = NULL;
	return c->source.path && access(c->source.path, R_OK) == 0 ? 0 : -ENOENT;
}

/* The current folder is not searched. */
static void say_unknown(const struct sinsp_chisel *c, const char *name)
{
	char *path;
	const int len = asprintf(&path, "%s.lua", name);
	const int is_here = len > 0 && !strchr(name, '/') && access(path, R_OK) == 0;

	sinsp_chisel_say(c, "no chisel '%s': see saker -cl%s%s", name,
			 is_here ? "; for the one in this folder: -c ./" : "", is_here ? name : "");
	if (len >= 0)
		free(path);
}

static int open_program(struct sinsp_chisel *c, const char *name)
{
	int err = find_chisel(c, name);

	if (err) {
		say_unknown(c, name);
		return err;
	}
	c->name = strdup(name);
	c->terminal.on = (uint8_t)isatty(fileno(c->run->out));
	c->on_event = c->on_followed = LUA_NOREF;
	c->info.name = c->name ?: "";
	c->info.path = c->source.path ?: "built in";
	c->info.category = c->info.short_description = c->info.description = "";
	c->L = sinsp_chisel_state(c);
	if (!c->L || !c->name) {
		sinsp_chisel_say(c, "chisel %s: not enough memory", name);
		return -ENOMEM;
	}
	err = sinsp_chisel_watch(c);
	if (err) {
		sinsp_chisel_say(c, "chisel %s: cannot create the timer of its time limit: %s",
				 name, strerror(-err));
		return err;
	}
	lua_pushcfunction(c->L, load_chisel);
	return sinsp_chisel_call(c, 0, 0, "its file");
}

int sinsp_chisel_open(struct sinsp_chisel **out, struct sinsp_chisel_run *run, const char *name)
{
	struct sinsp_chisel *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->run = run;
	sinsp_eval_init(&c->eval, NULL);
	err = open_program(c, name);
	if (err)
		sinsp_chisel_close(c);
	else
		*out = c;
	return err;
}

void sinsp_chisel_close(struct sinsp_chisel *c)
{
	if (!c)
		return;
	if (c->is_left) {
		chisel_watch_fini(&c->watch);
		chisel_terminal_fini(&c->terminal, c->run->out);
		sinsp_chisel_keep_left(c);
		return;
	}
	drop_program(c);
	sinsp_chisel_exec_fini(&c->exec);
	sinsp_eval_fini(&c->eval);
	free(c->line.p);
	free(c);
}

const struct sinsp_chisel_info *sinsp_chisel_info(const struct sinsp_chisel *c)
{
	return &c->info;
}

const struct sinsp_filter *sinsp_chisel_filter(const struct sinsp_chisel *c)
{
	return c->filter;
}

const char *sinsp_chisel_filter_text(const struct sinsp_chisel *c)
{
	return c->filter_text;
}

int sinsp_chisel_uses_field(const struct sinsp_chisel *c, const char *field)
{
	for (size_t i = 0; i < c->n_fields; i++)
		if (strcmp(c->fields[i].field.row->name, field) == 0)
			return 1;
	return c->format_text && strstr(c->format_text, field);
}

unsigned int sinsp_chisel_needs(const struct sinsp_chisel *c)
{
	unsigned int needs = sinsp_format_needs(c->format_text);

	if (c->filter)
		needs |= sinsp_filter_field_needs(c->filter);
	if (c->followed)
		needs |= sinsp_filter_field_needs(c->followed);
	needs |= sinsp_chisel_log_needs(c);
	for (size_t i = 0; i < c->n_fields; i++)
		needs |= c->fields[i].field.row->needs;
	return needs;
}

/* ---- callbacks ---- */

static int call_with_time(struct sinsp_chisel *c, struct sinsp_chisel_callback *cb, uint64_t ns,
			  int64_t delta)
{
	cb->numbers[0] = (int64_t)(ns / 1000000000);
	cb->numbers[1] = (int64_t)(ns % 1000000000);
	cb->numbers[2] = delta;
	cb->n_numbers = 3;
	return sinsp_chisel_call_back(c, cb);
}

/* Finds on_event, which other callbacks may replace. */
static int find_on_event(lua_State *L)
{
	struct sinsp_chisel *c = chisel_of(L);

	luaL_unref(L, LUA_REGISTRYINDEX, c->on_event);
	c->on_event = LUA_NOREF;
	if (lua_getglobal(L, "on_event") == LUA_TFUNCTION)
		c->on_event = luaL_ref(L, LUA_REGISTRYINDEX);
	return 0;
}

static int look_up_on_event(struct sinsp_chisel *c)
{
	lua_pushcfunction(c->L, find_on_event);
	return sinsp_chisel_call(c, 0, 0, "on_event");
}

/* ---- beginning and end ---- */

/* Replaces the chisel by that of chisel.exec. */
static int run_exec(struct sinsp_chisel *c)
{
	struct sinsp_chisel_exec exec = c->exec;
	int err;

	c->exec = (struct sinsp_chisel_exec){0};
	drop_program(c);
	err = open_program(c, exec.name);
	if (!err)
		err = sinsp_chisel_set_values(c, exec.args, exec.n_args);
	sinsp_chisel_exec_fini(&exec);
	return err;
}

int sinsp_chisel_init(struct sinsp_chisel *c)
{
	enum { EXECS_MAX = 16 };

	for (int i = 0; i < EXECS_MAX; i++) {
		struct sinsp_chisel_callback cb = {.name = "on_init"};
		int err = sinsp_chisel_call_back(c, &cb);

		if (err)
			return err;
		if (c->exec.name) {
			err = run_exec(c);
			if (err)
				return err;
			continue;
		}
		if (!cb.found || cb.result)
			return 0;
		sinsp_chisel_say(c, "chisel %s was not started: on_init did not return true",
				 c->info.name);
		return -EINVAL;
	}
	sinsp_chisel_say(c, "chisel %s: chisel.exec forms a loop", c->info.name);
	return -ELOOP;
}

int sinsp_chisel_begin(struct sinsp_chisel *c)
{
	struct sinsp_chisel_callback cb = {.name = "on_capture_start"};
	int err;

	c->run->has_begun = 1;
	err = sinsp_chisel_call_back(c, &cb);
	if (!err && cb.found && !cb.result) {
		sinsp_chisel_say(c,
				 "chisel %s was not started: on_capture_start did not return true",
				 c->info.name);
		err = -EINVAL;
	}
	return err ?: look_up_on_event(c);
}

/* Returns the end of the capture; live, this may be after the last event. */
static uint64_t end_ns(const struct sinsp_chisel *c)
{
	const uint64_t last_ns = c->run->last_ns;

	return last_ns && c->reached_ns > last_ns ? c->reached_ns : last_ns;
}

int sinsp_chisel_end(struct sinsp_chisel *c)
{
	struct sinsp_chisel_callback cb = {.name = "on_capture_end"};
	const struct sinsp_chisel_run *run = c->run;
	const uint64_t ns = end_ns(c);
	int err;

	c->evt = NULL;
	err = call_with_time(c, &cb, ns, (int64_t)(ns - run->first_ns));
	fflush(run->out);
	return err;
}

/* ---- events ---- */

static int call_interval(struct sinsp_chisel *c, uint64_t ns, int64_t delta)
{
	struct sinsp_chisel_callback cb = {.name = "on_interval"};
	int err = call_with_time(c, &cb, ns, delta);

	if (!err && cb.found && !cb.result) {
		sinsp_chisel_say(c, "chisel %s was stopped: on_interval did not return true",
				 c->info.name);
		err = -EINVAL;
	}
	return err ?: look_up_on_event(c);
}

/* This and the next are functions of their own, so that each event saves no registers for them. */
static __attribute__((noinline)) int step_interval(struct sinsp_chisel *c, uint64_t ns)
{
	const uint64_t sample = ns - ns % c->interval_ns;
	int err;

	if (sample == c->sample_ns)
		return 0;
	err = call_interval(c, ns, c->interval_ts ? (int64_t)(ns - c->interval_ts) : 0);
	c->sample_ns = sample;
	c->interval_ts = ns;
	return err;
}

static int is_ending(const struct sinsp_chisel_run *run)
{
	return run->end || (run->is_stopping && run->is_stopping());
}

/* Of a longer gap between two events the rest has no intervals. */
enum { INTERVALS_MAX = 1000000 };

static void leave_out_rest(struct sinsp_chisel *c, uint64_t ns)
{
	const uint64_t n = (ns - c->sample_ns) / c->precise_ns;

	if (!c->told_gap)
		sinsp_chisel_say(c,
				 "chisel %s: between two events, on_interval was not called for "
				 "%llu more intervals",
				 c->info.name, (unsigned long long)n);
	c->told_gap = 1;
	c->sample_ns += n * c->precise_ns;
}

static __attribute__((noinline)) int step_precise_interval(struct sinsp_chisel *c, uint64_t ns)
{
	uint32_t n = 0;
	int err = 0;

	/* Every call may change the interval or end the capture. */
	while (!err && !is_ending(c->run) && ns > c->sample_ns &&
	       ns - c->sample_ns >= c->precise_ns) {
		if (n++ == INTERVALS_MAX) {
			leave_out_rest(c, ns);
			break;
		}
		err = call_interval(c, c->sample_ns, 0);
		c->sample_ns += c->precise_ns;
	}
	return err;
}

/* Advances intervals to @ns. Live, they may be ahead of the next event. */
static int step(struct sinsp_chisel *c, uint64_t ns)
{
	if (ns < c->reached_ns)
		return 0;
	if (!c->seen_event) {
		c->seen_event = 1;
		c->sample_ns = c->interval_ns ? ns - ns % c->interval_ns : ns;
		return 0;
	}
	if (c->interval_ns)
		return step_interval(c, ns);
	return c->precise_ns ? step_precise_interval(c, ns) : 0;
}

int sinsp_chisel_tick(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	sinsp_chisel_set_event(c, evt);
	return step(c, evt->raw.ts_ns);
}

uint64_t sinsp_chisel_due_ns(const struct sinsp_chisel *c)
{
	const uint64_t every = c->interval_ns ? c->interval_ns : c->precise_ns;

	return every && c->seen_event ? c->sample_ns + every : 0;
}

int sinsp_chisel_idle(struct sinsp_chisel *c, uint64_t ns)
{
	c->evt = NULL;
	c->reached_ns = ns;
	return step(c, ns);
}

/* Returns 1 if the event gets a line. */
static int call_on_event(struct sinsp_chisel *c)
{
	int err, r = 0;

	if (c->on_event == LUA_NOREF)
		return 1;
	lua_rawgeti(c->L, LUA_REGISTRYINDEX, c->on_event);
	err = sinsp_chisel_call(c, 0, c->format_text != NULL, "on_event");
	if (!err && c->format_text) {
		r = lua_toboolean(c->L, -1);
		lua_pop(c->L, 1);
	}
	return err ?: r;
}

static int make_format(struct sinsp_chisel *c)
{
	const struct sinsp_format_opts opts = {
		.sz = sizeof(opts),
		.kind = c->run->json ? SINSP_FORMAT_JSON : SINSP_FORMAT_TEXT,
		.buf_fmt = c->run->buf_fmt,
		.buf_max = c->run->buf_max,
		.port_names = c->run->port_names,
	};
	struct sinsp_format_error err = {0};
	int r;

	sinsp_format_free(c->format);
	c->format = NULL;
	c->format_fmt = c->run->buf_fmt;
	r = sinsp_format_new(&c->format, c->format_text, &opts, &err);
	if (r)
		sinsp_chisel_say(c, "chisel %s: format '%s': %s", c->info.name, c->format_text,
				 r == -EINVAL ? err.message : strerror(-r));
	return r;
}

static int put_line(struct sinsp_chisel *c)
{
	int r = c->format && c->format_fmt == c->run->buf_fmt ? 0 : make_format(c);

	if (r)
		return r;
	c->line.len = 0;
	r = sinsp_format_line(c->format, &c->line, c->evt);
	if (r > 0)
		fwrite(c->line.p, 1, c->line.len, c->run->out);
	return r < 0 ? r : 0;
}

/* Returns whether the filter names lost events. "evt.type!=open" is true for them, too, but is a
 * filter for calls. */
static int receives_lost(const struct sinsp_chisel *c)
{
	return c->filter && sinsp_filter_may_match(c->filter, EVT_LOST_E) &&
	       !sinsp_filter_may_match(c->filter, EVT_COMM_E);
}

static int show_event(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	int r = c->filter ? sinsp_filter_run(c->filter, evt) : 1;

	if (r > 0 && c->counters)
		r = sinsp_chisel_count(c) ?: r;
	if (r > 0)
		r = call_on_event(c);
	if (r > 0 && c->format_text && !c->run->end)
		r = put_line(c);
	return r < 0 ? r : 0;
}

/* Those that the filter of the capture selects; both if it selects the event, but none alone. */
static int show_ends(struct sinsp_chisel *c, const struct sinsp_evt *evt,
		     const struct sinsp_evt ends[2])
{
	const int all = !(evt->selected & (SINSP_IO_READ | SINSP_IO_WRITE));
	int r = 0;

	for (int i = 0; i < 2 && !r && !c->run->end; i++) {
		if (!all && !(evt->selected & ends[i].io_end))
			continue;
		sinsp_chisel_set_event(c, &ends[i]);
		r = show_event(c, &ends[i]);
	}
	sinsp_chisel_set_event(c, evt);
	return r;
}

static int call_followed(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	const int r = c->followed ? sinsp_filter_run(c->followed, evt) : 0;

	if (r <= 0)
		return r;
	sinsp_chisel_set_event(c, evt);
	lua_rawgeti(c->L, LUA_REGISTRYINDEX, c->on_followed);
	return sinsp_chisel_call(c, 0, 0, "the function of chisel.follow");
}

int sinsp_chisel_event(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	struct sinsp_evt ends[2];
	int err = c->logs ? sinsp_chisel_log(c, evt) : 0;

	if (err)
		return err;
	if (evt->raw.type == EVT_LOST_E && !receives_lost(c))
		return call_followed(c, evt);
	if (c->on_event == LUA_NOREF && !c->format_text && !c->counters)
		return 0;
	if (!evt->raw.num) /* it had no tick */
		sinsp_chisel_set_event(c, evt);
	if (c->each_end && sinsp_evt_split(evt, ends))
		return show_ends(c, evt, ends);
	if (evt->selected && !(evt->selected & SINSP_SELECTED))
		return 0;
	return show_event(c, evt);
}

int sinsp_chisel_follow(struct sinsp_chisel *c, const struct sinsp_evt *evt)
{
	const int err = c->logs ? sinsp_chisel_log(c, evt) : 0;

	return err ?: call_followed(c, evt);
}
