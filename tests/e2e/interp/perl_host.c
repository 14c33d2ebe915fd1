/* SPDX-License-Identifier: Apache-2.0 */
/* A program with Perl in it: runs the script that is its first argument. */
#include <EXTERN.h>
#include <perl.h>

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

static void load_modules(pTHX)
{
	newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__);
}

int main(int argc, char **argv, char **env)
{
	PerlInterpreter *perl;
	int status;

	PERL_SYS_INIT3(&argc, &argv, &env);
	perl = perl_alloc();
	perl_construct(perl);
	status = perl_parse(perl, load_modules, argc, argv, NULL);
	if (!status)
		status = perl_run(perl);
	perl_destruct(perl);
	perl_free(perl);
	PERL_SYS_TERM();
	return status;
}
