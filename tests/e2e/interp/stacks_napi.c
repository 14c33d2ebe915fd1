// SPDX-License-Identifier: Apache-2.0
// Functions in C of stacks.js: each calls a function of JavaScript, in another way.
#include <node_api.h>

#define KEEP __attribute__((noinline, noipa))

// Each result is changed, so that no call is in place of a return.
KEEP int c_call(napi_env env, const napi_value *args)
{
	napi_value global, res;

	napi_get_global(env, &global);
	return napi_call_function(env, global, args[0], 1, args + 1, &res) == napi_ok ? 2 : 1;
}

KEEP int c_again(napi_env env, const napi_value *args, int depth)
{
	return depth ? c_again(env, args, depth - 1) + 1 : c_call(env, args);
}

KEEP int c_make(napi_env env, const napi_value *args)
{
	napi_value res;

	return napi_new_instance(env, args[0], 1, args + 1, &res) == napi_ok ? 2 : 1;
}

KEEP int c_caught(napi_env env, const napi_value *args)
{
	const int r = c_call(env, args);
	napi_value error;

	napi_get_and_clear_last_exception(env, &error);
	return r + 1;
}

static napi_value number(napi_env env, int n)
{
	napi_value res;

	napi_create_int32(env, n, &res);
	return res;
}

// Defines a function of the module, which gets a function of JavaScript and its argument.
#define FUNCTION(name, call)                                                                       \
	static KEEP napi_value name(napi_env env, napi_callback_info info)                         \
	{                                                                                          \
		napi_value args[2];                                                                \
		size_t n = 2;                                                                      \
                                                                                                   \
		napi_get_cb_info(env, info, &n, args, NULL, NULL);                                 \
		return number(env, call);                                                          \
	}

FUNCTION(in_c, c_call(env, args))
FUNCTION(deep_in_c, c_again(env, args, 3))
FUNCTION(made_in_c, c_make(env, args))
FUNCTION(caught_in_c, c_caught(env, args))

NAPI_MODULE_INIT()
{
	static const struct {
		const char *name;
		napi_callback fn;
	} functions[] = {
		{"call", in_c}, {"deep", deep_in_c}, {"make", made_in_c}, {"caught", caught_in_c}};
	napi_value v;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		napi_create_function(env, "native", NAPI_AUTO_LENGTH, functions[i].fn, NULL, &v);
		napi_set_named_property(env, exports, functions[i].name, v);
	}
	return exports;
}
