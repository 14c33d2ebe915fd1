/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_code.h"

#include "shared/stack.h"
#include "testing/test_main.h"

struct script_function {
	uint8_t language;
	const char *function, *file;
};

static const struct script_function of_runtimes[] = {
	{STACK_WALKER_PYTHON, "Condition.wait", "/usr/lib/python3.11/threading.py"},
	{STACK_WALKER_PYTHON, "get", "/opt/conda/lib/python3.12/queue.py"},
	{STACK_WALKER_PYTHON, "_find_and_load", "<frozen importlib._bootstrap>"},
	{STACK_WALKER_PYTHON, "(garbage collection)", NULL},
	{STACK_WALKER_NODE, "forEach", NULL},
	{STACK_WALKER_NODE, "openSync", "node:fs"},
	{STACK_WALKER_JAVA, "java.lang.Object.wait", NULL},
	{STACK_WALKER_JAVA, "jdk.internal.misc.Unsafe.park", "Unsafe.java"},
	{STACK_WALKER_RUBY, "(garbage collection)", NULL},
	{STACK_WALKER_RUBY, "sleep", "<internal:kernel>"},
	{STACK_WALKER_RUBY, "accept", "/usr/lib/ruby/3.1.0/webrick.rb"},
	{STACK_WALKER_PHP, "array_map", NULL},
	{STACK_WALKER_PERL, "IO::File::open", "/usr/lib/x86_64-linux-gnu/perl/5.36/IO/File.pm"},
	{STACK_WALKER_PERL, "Carp::croak", "/usr/share/perl/5.36.0/Carp.pm"},
	{STACK_WALKER_BEAM, "gen_server:loop/7", "gen_server.erl"},
	{STACK_WALKER_BEAM, "raw_file_io_list:open_layer/3", "raw_file_io_list.erl"},
	{STACK_WALKER_BEAM, "Elixir.Enum:map/2", "lib/enum.ex"},
};

static const struct script_function own[] = {
	{STACK_WALKER_PYTHON, "load", "/srv/app.py"},
	{STACK_WALKER_PYTHON, "get", "/usr/lib/python3/dist-packages/requests/api.py"},
	{STACK_WALKER_PYTHON, "get", "/srv/venv/lib/python3.11/site-packages/requests/api.py"},
	{STACK_WALKER_NODE, "<anonymous>", "/srv/node_modules/express/index.js"},
	{STACK_WALKER_JAVA, "javaland.Main.run", "Main.java"},
	{STACK_WALKER_JAVA, "org.example.Native.call", NULL},
	{STACK_WALKER_RUBY, "call", "/var/lib/gems/3.1.0/gems/rack-3.0/lib/rack.rb"},
	{STACK_WALKER_RUBY, "call", "/usr/local/lib/ruby/gems/3.3.0/gems/rack-3.0/lib/rack.rb"},
	{STACK_WALKER_PHP, "{main}", "/srv/index.php"},
	{STACK_WALKER_PERL, "main::load", "/srv/app.pl"},
	{STACK_WALKER_PERL, "JSON::decode", "/usr/share/perl5/JSON.pm"},
	{STACK_WALKER_LUA, "load", NULL},
	{STACK_WALKER_BEAM, "gen_server_pool:loop/7", "gen_server_pool.erl"},
	{STACK_WALKER_BEAM, "Elixir.Enumerable.Shop.Cart:reduce/3", "lib/cart.ex"},
};

static void test_runtime_and_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(of_runtimes) / sizeof(of_runtimes[0]); i++)
		if (!runtime_code_has(of_runtimes[i].language, of_runtimes[i].function,
				      of_runtimes[i].file))
			fail_msg("%s is the program's", of_runtimes[i].function);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (runtime_code_has(own[i].language, own[i].function, own[i].file))
			fail_msg("%s is the runtime's", own[i].function);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_runtime_and_own)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
