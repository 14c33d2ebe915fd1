/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_send.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "other_program.h"
#include "say.h"
#include "spawn.h"

/* The output begins as a temporary file of its own, and replaces what has this name. */
void profile_send_open(struct profile_send *ps, struct options *o)
{
	uint64_t number;

	*ps->path = 0;
	if (!o->profile.otlp)
		return;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = clock_now_ns();
	snprintf(ps->path, sizeof(ps->path), "/tmp/saker-profile.%016" PRIx64 ".otlp", number);
	o->output = ps->path;
}

int profile_send_close(struct profile_send *ps, const struct options *o, int status)
{
	char command[] = "send",
	     *argv[] = {command, command, (char *)o->profile.otlp, ps->path, NULL};
	struct stat st;
	int sent = 0;

	if (!*ps->path)
		return status;
	if (stat(ps->path, &st) == 0 && st.st_size)
		sent = other_program_wait(4, argv);
	if (sent && !o->read.n) /* what was measured cannot be had again */
		say("the profile stays in %s: saker send can send it", ps->path);
	else
		unlink(ps->path);
	return status ?: sent ? STATUS_FAILED : 0;
}
