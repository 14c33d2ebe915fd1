// SPDX-License-Identifier: Apache-2.0
// Methods in C of stacks.rb: each calls Ruby, in another way. What they use of Ruby is declared
// here, as Debian has its headers in a package of their own.
#define KEEP __attribute__((noinline, noipa))

typedef unsigned long value;

value rb_funcallv(value self, unsigned long name, int n, const value *args);
value rb_yield(value arg);
value rb_rescue(value (*fn)(value), value arg, value (*rescue)(value), value rescue_arg);
unsigned long rb_intern(const char *name);
void rb_define_global_function(const char *name, value (*fn)(), int n);

// Each result is changed, so that no call is in place of a return.
KEEP value c_call(value n)
{
	return rb_funcallv(n, rb_intern("go_on"), 0, 0) | 1;
}

KEEP value c_again(value n, int depth)
{
	return (depth ? c_again(n, depth - 1) : c_call(n)) | 1;
}

KEEP value c_call_method(value self, value n)
{
	return c_call(n) | (self & 0);
}

KEEP value c_deep_method(value self, value n)
{
	return c_again(n, 3) | (self & 0);
}

KEEP value c_yield_method(value self, value n)
{
	return rb_yield(n) | (self & 0) | 1;
}

KEEP value c_rescued(value n)
{
	return n | 1;
}

KEEP value c_rescue_method(value self, value n)
{
	return rb_rescue(c_call, n, c_rescued, n) | (self & 0) | 1;
}

void Init_stacks_c(void)
{
	rb_define_global_function("c_call", c_call_method, 1);
	rb_define_global_function("c_deep", c_deep_method, 1);
	rb_define_global_function("c_yield", c_yield_method, 1);
	rb_define_global_function("c_rescue", c_rescue_method, 1);
}
