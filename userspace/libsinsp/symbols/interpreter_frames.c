/* SPDX-License-Identifier: Apache-2.0 */
#include "interpreter_frames.h"

#include <string.h>

#include "state/code_maps.h"

/* Functions that only call others, by the beginning of the name. */
static const char *const calls[] = {
	/* CPython */
	"_PyEval_",
	"PyEval_",
	"_PyFunction_",
	"_PyCFunction_",
	"PyCFunction_",
	"_PyMethodDef_",
	"PyObject_Call",
	"PyObject_Vectorcall",
	"_PyObject_Call",
	"_PyObject_FastCall",
	"_PyObject_MakeTpCall",
	"_PyObject_Vectorcall",
	"_PyVectorcall_",
	"_PyStack_",
	"call_function",
	"do_call_core",
	"function_code_fastcall",
	"cfunction_",
	"method_vectorcall",
	"vectorcall_",
	"object_vacall",
	"slot_tp_call",
	"method_call",
	"fast_function",
	/* Perl */
	"Perl_runops_",
	"Perl_call_",
	"Perl_pp_entersub",
	/* PHP */
	"execute_ex",
	"zend_call_",
	"zend_execute",
	"zend_fcall_info_",
	"zend_generator_resume",
	"_call_user_function_impl",
	/* Ruby */
	"rb_vm_",
	"rb_yield",
	"rb_funcall",
	"rb_check_funcall",
	"rb_call_super",
	"rb_block_call",
	"rb_proc_call",
	"rb_iterate",
	"rb_ensure",
	"rb_rescue",
	"rb_catch",
	/* Node.js */
	"Builtins_",
	"v8::internal::(anonymous namespace)::Invoke",
	"v8::internal::Execution::",
	"v8::Function::Call",
	"v8::internal::Builtin_",
	"v8::internal::Builtins::",
	"node::InternalMakeCallback",
	"node::MakeCallback",
	"node::InternalCallbackScope",
	/* Java */
	"JavaCalls::",
	"jni_Call",
	"jni_invoke_",
	"jni_NewObject",
	"JVM_DoPrivileged",
	"JVM_InvokeMethod",
	"JVM_NewInstanceFromConstructor",
	"Reflection::invoke",
	"InterpreterRuntime::",
	"LinkResolver::",
	"Runtime1::",
	"SharedRuntime::",
	/* Lua */
	"lua_callk",
	"lua_pcallk",
	"luaV_",
	"luaD_",
};

/* Returns whether the frame only calls, or has no name of its own. */
static int is_call(const struct sinsp_frame *f)
{
	if (!f->function || strstr(f->function, "+0x"))
		return 1;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strncmp(f->function, calls[i], strlen(calls[i])) == 0)
			return 1;
	return 0;
}

static int is_script(const struct sinsp_frame *f)
{
	return f->kind == SINSP_FRAME_SCRIPT;
}

/* Returns whether a runtime compiled the frame's code: no file has it. */
static int is_compiled(const struct sinsp_frame *f)
{
	return f->kind == SINSP_FRAME_JIT || (f->code && !*f->code->path);
}

/* The frames of one stack. */
struct mixed {
	const struct sinsp_frame *f;
	size_t n;
	size_t first, last; /* of the language's frames */
	const struct sinsp_code_file *code; /* of the interpreter; NULL: unknown */
};

static int find_scripts(struct mixed *m)
{
	for (m->first = 0; m->first < m->n && !is_script(&m->f[m->first]);)
		m->first++;
	if (m->first == m->n)
		return 0;
	for (m->last = m->n - 1; !is_script(&m->f[m->last]);)
		m->last--;
	m->code = NULL;
	for (size_t i = m->first; i <= m->last && !m->code; i++)
		if (i && is_script(&m->f[i]) && !is_script(&m->f[i - 1]) &&
		    !is_compiled(&m->f[i - 1]))
			m->code = m->f[i - 1].code;
	/* All functions of Java are compiled code, which the runtime calls. */
	for (size_t i = m->first; i <= m->last && !m->code; i++)
		if (i && is_compiled(&m->f[i - 1]) && !is_script(&m->f[i]) &&
		    !is_compiled(&m->f[i]))
			m->code = m->f[i].code;
	return 1;
}

static int is_internal(const struct mixed *m, size_t i)
{
	return !is_script(&m->f[i]) && m->code && m->f[i].code == m->code;
}

/* Returns whether a frame is that of the loop, or of compiled code, whose functions follow. */
static int is_loop(const struct mixed *m, size_t i)
{
	const struct sinsp_frame *f = &m->f[i];

	if (is_script(f))
		return 0;
	if (is_compiled(f) && !f->function && i > m->first) /* code that calls the first one */
		return 1;
	if (i + 1 == m->n || !is_script(&m->f[i + 1]))
		return 0;
	return is_internal(m, i) || is_compiled(f);
}

/* Returns the frame that stands for internal frames from @i to before @end; @end: none. */
static size_t representative(const struct mixed *m, size_t i, size_t end)
{
	size_t at = end;

	for (; i < end; i++)
		if (!is_call(&m->f[i]))
			at = i;
	return at;
}

size_t hide_interpreter_frames(struct sinsp_frame *to, const struct sinsp_frame *from, size_t n)
{
	struct mixed m = {.f = from, .n = n};
	const int hides = find_scripts(&m);
	size_t out = 0, end, keep;

	for (size_t i = 0; i < n; i = end) {
		end = i + 1;
		keep = i;
		if (hides && is_loop(&m, i)) {
			continue;
		} else if (hides && i > m.first && i < m.last && is_internal(&m, i)) {
			while (end < n && is_internal(&m, end))
				end++;
			keep = representative(&m, i, end);
			if (keep == end)
				continue;
		}
		to[out++] = from[keep];
	}
	return out;
}
