/* SPDX-License-Identifier: Apache-2.0 */
/* saker profile --otlp: the profile becomes a file without a name for others, which saker send
 * posts. */
#ifndef SAKER_PROFILE_SEND_H
#define SAKER_PROFILE_SEND_H

#include "options.h"

struct profile_send {
	char path[64]; /* "": nothing is to be sent */
};

/* Sets a new file as the output, which is there once the profile is whole. */
void profile_send_open(struct profile_send *ps, struct options *o);
/* Sends what is in the file, if there is something, and removes it, but for a live profile that
 * could not be sent. Returns the exit status: @status, or that of the sending. */
int profile_send_close(struct profile_send *ps, const struct options *o, int status);

#endif /* SAKER_PROFILE_SEND_H */
