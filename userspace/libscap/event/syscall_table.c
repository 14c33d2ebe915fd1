/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by number and by PPM_SC code. */
#include <string.h>

#include "event/event_table.h"
#include "shared/config.h"

#define N_IA32 512

static const char *const names_64[DRV_MAX_NR] = {
#define SYS(nr, name, ...) [nr] = #name,
#include "syscalls.def"
#undef SYS
};

static const uint16_t exit_types[DRV_MAX_NR] = {
#define SYS(nr, name, event, ...) [nr] = EVT_##event,
#include "syscalls.def"
#undef SYS
};

static const char *const names_32[N_IA32] = {
#define SYS32(nr, name, ...) [nr] = #name,
#define SYS32_AS SYS32
#define SYS32_NO SYS32
#define SOCKETCALL(nr, ...)
#define IPC(nr, ...)
#include "syscalls_ia32.def"
#undef SYS32
#undef SYS32_AS
#undef SYS32_NO
#undef SOCKETCALL
#undef IPC
};

static const char *const sc_names[] = {
#define PPM_SC(code, name, category) [code] = name,
#include "ppm_sc.def"
#undef PPM_SC
};

static const uint16_t sc_categories[] = {
#define PPM_SC(code, name, category) [code] = category,
#include "ppm_sc.def"
#undef PPM_SC
};

#define N_SC (sizeof(sc_names) / sizeof(sc_names[0]))

const char *scap_syscall_name(unsigned int nr, int ia32)
{
	if (nr >= (ia32 ? N_IA32 : DRV_MAX_NR))
		return NULL;
	return ia32 ? names_32[nr] : names_64[nr];
}

unsigned int scap_syscall_exit_type(unsigned int nr)
{
	return nr < DRV_MAX_NR && names_64[nr] ? exit_types[nr] : EVT_SYSCALL_X;
}

unsigned int scap_event_nr(unsigned int type)
{
	unsigned int found = REC_NR_NONE;

	for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++) {
		if (!names_64[nr] || exit_types[nr] != (type | 1))
			continue;
		if (found != REC_NR_NONE)
			return REC_NR_NONE;
		found = nr;
	}
	return found;
}

unsigned int scap_syscall_ppm_sc(const char *name)
{
	for (unsigned int i = 1; name && i < N_SC; i++)
		if (sc_names[i] && !strcmp(sc_names[i], name))
			return i;
	return 0;
}

const char *scap_ppm_sc_name(unsigned int code)
{
	return code < N_SC ? sc_names[code] : NULL;
}

void scap_syscall_each_name(void (*fn)(void *ctx, const char *name), void *ctx)
{
	for (unsigned int i = 0; i < 2 * DRV_MAX_NR; i++) {
		const char *name = scap_syscall_name(i % DRV_MAX_NR, i >= DRV_MAX_NR);

		if (name)
			fn(ctx, name);
	}
	for (unsigned int code = 0; code < N_SC; code++)
		if (sc_names[code])
			fn(ctx, sc_names[code]);
}

unsigned int scap_ppm_sc_category(unsigned int code)
{
	return code < N_SC ? sc_categories[code] : EC_UNKNOWN;
}
