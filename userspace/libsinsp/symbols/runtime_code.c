/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_code.h"

#include <stddef.h>
#include <string.h>

#include "shared/stack.h"

enum part {
	NO_FILE,
	FILE_BEGINS,
	FILE_HAS,
	FUNCTION_BEGINS,
	MODULE, /* the function, up to its ":", is the text */
};

struct rule {
	uint8_t language, part, is_package;
	const char *text;
};

/* The first row of the language that matches decides: packages are below folders of the runtime. */
/* clang-format off */
#define ROW(language, part, text) {STACK_WALKER_##language, part, 0, text}
#define PACKAGE(language, part, text) {STACK_WALKER_##language, part, 1, text}
static const struct rule rules[] = {
	PACKAGE(PYTHON, FILE_HAS, "/site-packages/"),
	PACKAGE(PYTHON, FILE_HAS, "/dist-packages/"),
	ROW(PYTHON, FILE_HAS, "/lib/python3."),
	ROW(PYTHON, FILE_HAS, "/lib64/python3."),
	ROW(PYTHON, NO_FILE, ""),
	ROW(PYTHON, FILE_BEGINS, "<frozen "),

	ROW(NODE, NO_FILE, ""),
	ROW(NODE, FILE_BEGINS, "node:"),

	ROW(JAVA, FUNCTION_BEGINS, "java."),
	ROW(JAVA, FUNCTION_BEGINS, "javax."),
	ROW(JAVA, FUNCTION_BEGINS, "jdk."),
	ROW(JAVA, FUNCTION_BEGINS, "sun."),
	ROW(JAVA, FUNCTION_BEGINS, "com.sun."),

	ROW(RUBY, NO_FILE, ""),
	ROW(RUBY, FILE_BEGINS, "<internal:"),
	PACKAGE(RUBY, FILE_HAS, "/gems/"),
	ROW(RUBY, FILE_HAS, "/lib/ruby/3."),
	ROW(RUBY, FILE_HAS, "/lib/ruby/vendor_ruby/rubygems/"),

	ROW(PHP, NO_FILE, ""),

	ROW(PERL, FILE_HAS, "/share/perl/5."),
	ROW(PERL, FILE_HAS, "-gnu/perl/5."),
	ROW(PERL, FILE_HAS, "-gnu/perl-base/"),
	ROW(PERL, FILE_HAS, "/lib/perl5/5."),

	ROW(BEAM, FILE_HAS, "/erlang/lib/"),
	ROW(BEAM, FUNCTION_BEGINS, "erl_"),
	ROW(BEAM, FUNCTION_BEGINS, "erts_"),
	ROW(BEAM, FUNCTION_BEGINS, "file_"),
	ROW(BEAM, FUNCTION_BEGINS, "inet_"),
	ROW(BEAM, FUNCTION_BEGINS, "io_lib_"),
	ROW(BEAM, FUNCTION_BEGINS, "logger_"),
	ROW(BEAM, FUNCTION_BEGINS, "prim_"),
	ROW(BEAM, FUNCTION_BEGINS, "raw_file_io"),
	ROW(BEAM, FUNCTION_BEGINS, "ssl_"),
	ROW(BEAM, FUNCTION_BEGINS, "supervisor_"),
	ROW(BEAM, FUNCTION_BEGINS, "tls_"),
#define X(name) ROW(BEAM, MODULE, #name),
	/* Files of Erlang have no folder, so modules are listed: those of kernel, stdlib and erts
	 * that work or wait for a program, */
	X(application) X(application_controller) X(application_master) X(array) X(base64)
	X(binary) X(calendar) X(code) X(code_server) X(crypto) X(dets) X(dict) X(digraph)
	X(disk_log) X(edlin) X(epp) X(erlang) X(error_handler) X(error_logger) X(escript) X(ets)
	X(file) X(filelib) X(filename) X(gb_sets) X(gb_trees) X(gen) X(gen_event) X(gen_fsm)
	X(gen_sctp) X(gen_server) X(gen_statem) X(gen_tcp) X(gen_udp) X(global) X(group) X(httpc)
	X(inet) X(inet6_tcp) X(init) X(io) X(io_lib) X(json) X(kernel) X(lists) X(logger) X(maps)
	X(math) X(net_kernel) X(orddict) X(ordsets) X(os) X(peer) X(persistent_term) X(proc_lib)
	X(proplists) X(qlc) X(queue) X(ram_file) X(rand) X(random) X(re) X(rpc) X(sets) X(shell)
	X(socket) X(sofs) X(ssl) X(string) X(supervisor) X(sys) X(timer) X(unicode)
	X(unicode_util) X(uri_string) X(user) X(user_drv) X(zip) X(zlib)
	/* and those of Elixir. */
	X(Elixir.Access) X(Elixir.Agent) X(Elixir.Agent.Server) X(Elixir.Application) X(Elixir.Base)
	X(Elixir.Calendar) X(Elixir.Calendar.ISO) X(Elixir.Code) X(Elixir.Date) X(Elixir.DateTime)
	X(Elixir.DynamicSupervisor) X(Elixir.Enum) X(Elixir.Enumerable) X(Elixir.Enumerable.Function)
	X(Elixir.Enumerable.List) X(Elixir.Enumerable.Map) X(Elixir.Enumerable.Range) X(Elixir.File)
	X(Elixir.File.Stream) X(Elixir.Float) X(Elixir.GenServer) X(Elixir.IO) X(Elixir.IO.Stream)
	X(Elixir.Inspect) X(Elixir.Inspect.Algebra) X(Elixir.Integer) X(Elixir.Kernel)
	X(Elixir.Kernel.CLI) X(Elixir.Keyword) X(Elixir.List) X(Elixir.Logger) X(Elixir.Map)
	X(Elixir.MapSet) X(Elixir.NaiveDateTime) X(Elixir.Path) X(Elixir.Process) X(Elixir.Regex)
	X(Elixir.Registry) X(Elixir.Stream) X(Elixir.Stream.Reducers) X(Elixir.String)
	X(Elixir.String.Chars) X(Elixir.Supervisor) X(Elixir.System) X(Elixir.Task)
	X(Elixir.Task.Supervised) X(Elixir.Task.Supervisor) X(Elixir.Time) X(Elixir.URI)
#undef X
};
/* clang-format on */

static int begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static int matches(const struct rule *r, const char *function, const char *file)
{
	switch (r->part) {
	case NO_FILE:
		return !*file;
	case FILE_BEGINS:
		return begins(file, r->text);
	case FILE_HAS:
		return strstr(file, r->text) != NULL;
	case FUNCTION_BEGINS:
		return begins(function, r->text);
	default:
		return begins(function, r->text) && function[strlen(r->text)] == ':';
	}
}

int runtime_code_has(uint8_t language, const char *function, const char *file)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].language == language && matches(&rules[i], function, file ?: ""))
			return !rules[i].is_package;
	return 0;
}
