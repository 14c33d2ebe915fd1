/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that embeds Python: python_host SCRIPT ARGUMENT... It runs interpreters.py in three
 * interpreters, and each stack begins in one of them. The module host has
 *
 *	run(i, text)  runs the text in an interpreter, which may be one that called
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define N 3

static PyThreadState *states[N];

static PyObject *run(PyObject *self, PyObject *args)
{
	PyThreadState *own;
	const char *text;
	int i, r;

	(void)self;
	if (!PyArg_ParseTuple(args, "is", &i, &text) || i < 0 || i >= N)
		return NULL;
	own = PyThreadState_Get();
	if (states[i] != own)
		PyThreadState_Swap(states[i]);
	r = PyRun_SimpleString(text);
	if (states[i] != own)
		PyThreadState_Swap(own);
	return PyLong_FromLong(r);
}

static PyMethodDef methods[] = {{"run", run, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "host", NULL, -1, methods, NULL, NULL, NULL, NULL};

static PyObject *init(void)
{
	return PyModule_Create(&module);
}

/* Runs text in an interpreter from C, without functions of another one around. */
static int run_in(int i, const char *text)
{
	PyThreadState_Swap(states[i]);
	return PyRun_SimpleString(text);
}

static int enter(int i, char **argv)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "ARGS = ['%s', '%s', '%s', '%d', '%s']\nIDS, OWN = list(range(%d)), %d\n"
		 "exec(compile(open(ARGS[0]).read(), ARGS[0], 'exec'))",
		 argv[1], argv[2], argv[3], atoi(argv[4]) + i, argv[5], N, i);
	return run_in(i, text);
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 6 || PyImport_AppendInittab("host", init))
		return 2;
	Py_InitializeEx(0);
	states[0] = PyThreadState_Get();
	for (int i = 1; i < N; i++)
		states[i] = Py_NewInterpreter();
	for (int i = 0; i < N; i++)
		failed |= !states[i] || enter(i, argv);
	failed |= run_in(0, "wait_for_start()");
	for (int i = 0; i < atoi(argv[3]) && !failed; i++)
		failed |= run_in(i % N, "go(chance.randrange(1, 14), [], [])");
	return failed; /* without the end of the interpreters */
}
