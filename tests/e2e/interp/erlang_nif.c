/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in C of stacks.erl, which wait. */
#include <erl_nif.h>
#include <unistd.h>

static ERL_NIF_TERM wait_here(ErlNifEnv *env, int n, const ERL_NIF_TERM args[])
{
	(void)n;
	(void)args;
	usleep(200);
	return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {
	{"sleep", 0, wait_here, 0},
	{"sleep_elsewhere", 0, wait_here, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ERL_NIF_INIT(stacks, functions, NULL, NULL, NULL, NULL)
