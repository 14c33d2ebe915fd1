/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of libbpf as one sentence: what failed, with the first warning that libbpf printed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "live/live_driver.h"

/* The first warning of libbpf since live_collect_warnings. */
static char first_warning[512];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN && !first_warning[0])
		vsnprintf(first_warning, sizeof(first_warning), fmt, ap);
	return 0;
}

int live_fail_libbpf(const struct scap_log *log, int err, const char *what)
{
	first_warning[strcspn(first_warning, "\n")] = '\0';
	if (err == -EPERM)
		return scap_fail(log, err, "%s: not permitted; run as root", what);
	if (err == -ENOMEM)
		return scap_fail(log, err, "%s: not enough memory; give smaller rings", what);
	return scap_fail(log, err, "%s: %s (%s)", what, strerror(-err),
			 first_warning[0] ? first_warning : "the kernel gave no reason");
}

void live_collect_warnings(void)
{
	libbpf_set_print(keep_warning);
	first_warning[0] = '\0';
}
