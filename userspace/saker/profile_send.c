/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_send.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "other_program.h"
#include "say.h"
#include "spawn.h"

#define ENDING ".otlp"

int profile_send_open(struct profile_send *ps, struct options *o)
{
	int fd;

	*ps->path = 0;
	if (!o->profile.otlp)
		return 0;
	strcpy(ps->path, "/tmp/saker-profile.XXXXXX" ENDING);
	fd = mkostemps(ps->path, sizeof(ENDING) - 1, O_CLOEXEC);
	if (fd < 0) {
		const int err = -errno;

		say("cannot make a file in /tmp for --otlp: %s", strerror(errno));
		*ps->path = 0;
		return err;
	}
	close(fd);
	o->output = ps->path;
	return 0;
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
