/* SPDX-License-Identifier: Apache-2.0 */
/* Table sysdig of the Lua API: the run and the machine. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chisel_host.h"
#include "procfs/state_build.h"
#include "state/inspector.h"

static struct sinsp_chisel_run *run_of(lua_State *L)
{
	return chisel_of(L)->run;
}

static char *copy_text(lua_State *L, int arg)
{
	char *text = strdup(luaL_checkstring(L, arg));

	if (!text)
		luaL_error(L, "not enough memory");
	return text;
}

static int set_filter(lua_State *L)
{
	struct sinsp_chisel_run *run = run_of(L);

	if (run->has_begun)
		return luaL_error(L, "sysdig.set_filter: the capture has already begun");
	if (run->set_filter) /* another chisel would get events that it did not ask for */
		return luaL_error(L, "sysdig.set_filter: the filter of the run is set already");
	sinsp_filter_free(sinsp_chisel_make_filter(L, luaL_checkstring(L, 1), 0));
	run->set_filter = copy_text(L, 1);
	return 0;
}

static int set_snaplen(lua_State *L)
{
	struct sinsp_chisel_run *run = run_of(L);
	const lua_Number n = luaL_checknumber(L, 1);

	luaL_argcheck(L, n >= 0 && n <= 65535, 1, "from 0 to 65535 bytes");
	if (n > run->snaplen)
		run->snaplen = (uint32_t)n;
	return 0;
}

static int set_output_format(lua_State *L)
{
	static const struct {
		const char *name;
		uint8_t fmt;
	} rows[] = {
		{"normal", SINSP_BUF_DOTS},       {"simple", SINSP_BUF_DOTS},
		{"hex", SINSP_BUF_HEX},           {"hexascii", SINSP_BUF_HEXASCII},
		{"ascii", SINSP_BUF_ASCII},       {"base64", SINSP_BUF_BASE64},
		{"jsonbase64", SINSP_BUF_BASE64}, {"json", SINSP_BUF_DOTS},
		{"jsonhex", SINSP_BUF_HEX},       {"jsonhexascii", SINSP_BUF_HEXASCII},
	};
	const char *name = luaL_checkstring(L, 1);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		run_of(L)->buf_fmt = rows[i].fmt;
		if (strncmp(name, "json", 4) == 0)
			run_of(L)->json = 1;
		return 0;
	}
	return luaL_argerror(L, 1,
			     "normal, json, simple, hex, hexascii, ascii, base64 or jsonbase64");
}

/* No effect: capture files are always complete. */
static int set_fatfile_dump_mode(lua_State *L)
{
	luaL_checkany(L, 1);
	return 0;
}

static int is_live(lua_State *L)
{
	lua_pushboolean(L, !run_of(L)->source);
	return 1;
}

static int is_tty(lua_State *L)
{
	lua_pushboolean(L, isatty(fileno(run_of(L)->out)));
	return 1;
}

static int get_terminal_info(lua_State *L)
{
	struct winsize w = {0};

	ioctl(fileno(run_of(L)->out), TIOCGWINSZ, &w);
	lua_newtable(L);
	lua_pushinteger(L, w.ws_col);
	lua_setfield(L, -2, "width");
	lua_pushinteger(L, w.ws_row);
	lua_setfield(L, -2, "height");
	return 1;
}

static int is_alone(lua_State *L)
{
	lua_pushboolean(L, !run_of(L)->several);
	return 1;
}

static int put_title(lua_State *L)
{
	struct sinsp_chisel_run *run = run_of(L);

	if (!run->several)
		return 0;
	fprintf(run->out, "%s%s:\n", run->has_title ? "\n" : "", chisel_of(L)->info.name);
	run->has_title = 1;
	return 0;
}

static int control_terminal(lua_State *L)
{
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);

	if (chisel_terminal_control(&chisel_of(L)->terminal, run_of(L)->out, text, len))
		return luaL_argerror(L, 1, "only sequences that move the cursor or clear");
	return 0;
}

static int color(lua_State *L)
{
	char text[CHISEL_COLOUR_MAX];

	if (chisel_terminal_colour(&chisel_of(L)->terminal, text, luaL_checkstring(L, 1)))
		return luaL_argerror(L, 1, "no colour of terminals");
	lua_pushstring(L, text);
	return 1;
}

static int get_filter(lua_State *L)
{
	lua_pushstring(L, run_of(L)->filter ?: "");
	return 1;
}

static int get_machine_info(lua_State *L)
{
	const struct sinsp *s = run_of(L)->insp;
	const struct scap_state *st = s && s->machine ? scap_state_build_done(s->machine) : NULL;

	if (!st)
		return luaL_error(L, "sysdig.get_machine_info: the capture has not begun");
	lua_newtable(L);
	lua_pushinteger(L, st->machine.n_cpus);
	lua_setfield(L, -2, "num_cpus");
	lua_pushinteger(L, (lua_Integer)st->machine.memory_bytes);
	lua_setfield(L, -2, "memory_size_bytes");
	lua_pushinteger(L, (lua_Integer)st->machine.max_pid);
	lua_setfield(L, -2, "max_pid");
	chisel_terminal_note(&chisel_of(L)->terminal, st->machine.hostname,
			     strlen(st->machine.hostname));
	lua_pushstring(L, st->machine.hostname);
	lua_setfield(L, -2, "hostname");
	return 1;
}

static int is_print_container_data(lua_State *L)
{
	lua_pushboolean(L, run_of(L)->containers);
	return 1;
}

static int get_output_format(lua_State *L)
{
	lua_pushstring(L, run_of(L)->json ? "json" : "normal");
	return 1;
}

static int get_evtsource_name(lua_State *L)
{
	lua_pushstring(L, run_of(L)->source ?: "");
	return 1;
}

/* ---- times, as text in nanoseconds: Lua 5.1 had no 64-bit integers ---- */

static int push_ns(lua_State *L, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)ns);
	lua_pushstring(L, text);
	return 1;
}

static uint64_t check_ns(lua_State *L, int arg)
{
	const char *text = luaL_checkstring(L, arg);
	char *end;
	const uint64_t ns = strtoull(text, &end, 10);

	luaL_argcheck(L, end != text && !*end, arg, "nanoseconds as text");
	return ns;
}

static int get_firstevent_ts(lua_State *L)
{
	return push_ns(L, run_of(L)->first_ns);
}

static int get_lastevent_ts(lua_State *L)
{
	return push_ns(L, run_of(L)->last_ns);
}

static int make_ts(lua_State *L)
{
	const lua_Number s = luaL_checknumber(L, 1), ns = luaL_checknumber(L, 2);

	luaL_argcheck(L, s >= 0 && s < 9e9, 1, "seconds since 1970");
	luaL_argcheck(L, ns >= 0 && ns < 9e18, 2, "nanoseconds");
	return push_ns(L, (uint64_t)s * 1000000000 + (uint64_t)ns);
}

static int add_ts(lua_State *L)
{
	return push_ns(L, check_ns(L, 1) + check_ns(L, 2));
}

static int subtract_ts(lua_State *L)
{
	lua_pushfstring(L, "%I", (lua_Integer)(check_ns(L, 1) - check_ns(L, 2)));
	return 1;
}

/* ---- control of the run ---- */

static int run_app(lua_State *L)
{
	struct sinsp_chisel_run *run = run_of(L);
	char *text = copy_text(L, 1);

	free(run->run_app);
	run->run_app = text;
	return 0;
}

static int end_capture(lua_State *L)
{
	run_of(L)->end = 1;
	return 0;
}

static int put_log(lua_State *L)
{
	const char *text = luaL_checkstring(L, 1), *severity = luaL_optstring(L, 2, "info");
	const struct sinsp_chisel_run *run = run_of(L);
	enum scap_log_level level = SCAP_LOG_INFO;

	if (strcmp(severity, "warning") == 0 || strcmp(severity, "error") == 0)
		level = SCAP_LOG_WARN;
	if (run->log)
		run->log(run->log_ctx, level, text);
	return 0;
}

static int check_safe(lua_State *L, const char *name)
{
	if (run_of(L)->unsafe)
		return 0;
	return luaL_error(L, "%s is not allowed: network access of chisels needs --chisel-unsafe",
			  name);
}

static int udp_setpeername(lua_State *L)
{
	struct sinsp_chisel_run *run = run_of(L);
	struct sockaddr_in to = {.sin_family = AF_INET};
	const char *ip = luaL_checkstring(L, 1);
	const lua_Number port = luaL_checknumber(L, 2);
	int fd;

	check_safe(L, "sysdig.udp_setpeername");
	luaL_argcheck(L, inet_pton(AF_INET, ip, &to.sin_addr) == 1, 1, "an IPv4 address");
	luaL_argcheck(L, port >= 1 && port <= 65535, 2, "a port");
	to.sin_port = htons((uint16_t)port);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		const int err = errno;

		if (fd >= 0)
			close(fd);
		return luaL_error(L, "sysdig.udp_setpeername: %s", strerror(err));
	}
	if (run->udp_fd >= 0)
		close(run->udp_fd);
	run->udp_fd = fd;
	return 0;
}

static int udp_send(lua_State *L)
{
	struct sinsp_chisel_run *run = run_of(L);
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);

	check_safe(L, "sysdig.udp_send");
	if (run->udp_fd < 0)
		return luaL_error(L, "sysdig.udp_send: call sysdig.udp_setpeername first");
	lua_pushboolean(L, send(run->udp_fd, text, len, MSG_NOSIGNAL) == (ssize_t)len);
	return 1;
}

static int get_read_progress(lua_State *L)
{
	const struct sinsp_chisel_run *run = run_of(L);

	lua_pushnumber(L, run->progress ? 100 * run->progress(run->progress_ctx) : 0);
	return 1;
}

const struct sinsp_chisel_binding sinsp_chisel_sysdig[] = {
	{"set_filter", set_filter, "set_filter(text)",
	 "Sets a filter of the whole run, in addition to that of the command line. Once, "
	 "and only before the capture begins."},
	{"set_snaplen", set_snaplen, "set_snaplen(bytes)",
	 "Live capture: keeps up to so many bytes of buffers. The largest value of all "
	 "chisels counts."},
	{"set_output_format", set_output_format, "set_output_format(name)",
	 "Sets how buffers are printed in `evt.arg` and lines: normal, json, simple, hex, "
	 "hexascii, ascii, base64 or jsonbase64."},
	{"set_fatfile_dump_mode", set_fatfile_dump_mode, "set_fatfile_dump_mode(on)",
	 "No effect: capture files are always complete."},
	{"is_live", is_live, "is_live() -> boolean", "Returns whether this is a live capture."},
	{"is_tty", is_tty, "is_tty() -> boolean", "Returns whether the output is a terminal."},
	{"get_terminal_info", get_terminal_info, "get_terminal_info() -> table",
	 "Returns `width` and `height` of the terminal; 0 if the output is none."},
	{"is_alone", is_alone, "is_alone() -> boolean",
	 "Returns whether this is the only chisel. One of several must not redraw in place."},
	{"put_title", put_title, "put_title()",
	 "Prints a line with the name of the chisel above a table, if the run has several "
	 "chisels."},
	{"control_terminal", control_terminal, "control_terminal(sequences)",
	 "Prints sequences that move the cursor, hide or show it, or clear: ESC [ ... A to "
	 "H, J, K, ?25l, ?25h, and no others. Unlike those of `print` and `io.write` they "
	 "also work after the chisel received captured bytes that a terminal would obey."},
	{"color", color, "color(numbers) -> text",
	 "Returns text that sets a colour where it is printed. `numbers` are those of ESC [ "
	 "numbers m that colour, brighten, dim, underline, reverse or reset, or 38;5;N or "
	 "48;5;N. These colours also work after the chisel received captured bytes that a "
	 "terminal would obey; other colours are printed as dots then."},
	{"get_filter", get_filter, "get_filter() -> text",
	 "Returns the filter of the command line, or \"\"."},
	{"get_machine_info", get_machine_info, "get_machine_info() -> table",
	 "Returns `num_cpus`, `memory_size_bytes`, `max_pid` and `hostname` of the captured "
	 "machine."},
	{"get_thread_table", sinsp_chisel_thread_table, "get_thread_table([filter]) -> table",
	 "Returns threads by TID: `tid`, `pid`, `ptid`, `comm`, `exe`, `args`, `env`, "
	 "`flags`, `fdlimit`, `uid`, `gid`, `username`, `nchilds`, `vmsize_kb`, `vmrss_kb`, "
	 "`vmswap_kb`, `pfmajor`, `pfminor`, `clone_ts`, `container`, and `fdtable`, "
	 "descriptors by number: `name`, `type`, and for sockets `cip`, `cport`, `sip`, "
	 "`sport`, `is_server`, `l4proto`. With a filter, only matching descriptors and the "
	 "threads that have one."},
	{"get_thread_table_nofds", sinsp_chisel_thread_table_nofds,
	 "get_thread_table_nofds([filter]) -> table",
	 "As `get_thread_table`, with empty `fdtable`s."},
	{"get_thread_table_barebone", sinsp_chisel_thread_table_barebone,
	 "get_thread_table_barebone([filter]) -> table",
	 "As `get_thread_table`, with `tid`, `pid` and `fdtable` only."},
	{"get_thread_table_barebone_nofds", sinsp_chisel_thread_table_barebone_nofds,
	 "get_thread_table_barebone_nofds([filter]) -> table",
	 "As `get_thread_table_barebone`, with empty `fdtable`s."},
	{"get_container_table", sinsp_chisel_container_table, "get_container_table() -> table",
	 "Returns a list of containers: `id`, `name`, `image`, `type`."},
	{"get_running", sinsp_chisel_running, "get_running([filter]) -> table",
	 "Returns the threads that are on a CPU now, in a file those that switch events "
	 "show: a list of `cpu`, `tid`, `pid`, `comm` and `proc` (names of thread and "
	 "process), `container`, `container_id`, and `ran`, the nanoseconds since their last "
	 "event with a CPU time. With a filter, those for which a switch event would match."},
	{"is_print_container_data", is_print_container_data, "is_print_container_data() -> boolean",
	 "Returns whether -pc was given."},
	{"get_output_format", get_output_format, "get_output_format() -> text",
	 "Returns \"json\" with -j, else \"normal\"."},
	{"get_evtsource_name", get_evtsource_name, "get_evtsource_name() -> text",
	 "Returns the name of the capture file; \"\" in a live capture."},
	{"get_firstevent_ts", get_firstevent_ts, "get_firstevent_ts() -> text",
	 "Returns the time of the first event in nanoseconds, as text."},
	{"get_lastevent_ts", get_lastevent_ts, "get_lastevent_ts() -> text",
	 "Returns the time of the last event so far, as text."},
	{"make_ts", make_ts, "make_ts(seconds, nanoseconds) -> text", "Returns a time as text."},
	{"add_ts", add_ts, "add_ts(a, b) -> text", "Returns the sum of two such texts."},
	{"subtract_ts", subtract_ts, "subtract_ts(a, b) -> text",
	 "Returns the difference of two such texts."},
	{"run_app", run_app, "run_app(arguments)",
	 "Runs saker with these arguments after this run. A file that it writes must be "
	 "named in an argument of the chisel, unless --chisel-unsafe is given."},
	{"end_capture", end_capture, "end_capture()",
	 "Ends the capture after this event. `on_capture_end` is called."},
	{"log", put_log, "log(text [, severity])",
	 "Prints a message to standard error. The default severity is `info`, which is "
	 "printed with -v only."},
	{"udp_setpeername", udp_setpeername, "udp_setpeername(ip, port)",
	 "Sets the address for `udp_send`. Needs --chisel-unsafe."},
	{"udp_send", udp_send, "udp_send(text) -> boolean", "Sends a datagram."},
	{"get_read_progress", get_read_progress, "get_read_progress() -> number",
	 "Returns how much of the files was read, in percent."},
	{NULL},
};
