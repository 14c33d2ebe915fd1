/* SPDX-License-Identifier: Apache-2.0 */
/* The files that have probes, and those that were looked at and need none. */
#ifndef SCAP_TLS_TLS_PROBES_H
#define SCAP_TLS_TLS_PROBES_H

#include <stdint.h>
#include <sys/stat.h>

#include "log.h"
#include "tls/tls_library.h"

#define TLS_FILES_MAX 64 /* with probes */
#define TLS_OTHERS_MAX 32 /* of these such that do not belong to root */
#define TLS_LINKS_MAX 640 /* descriptors; half of them for such files */

struct tls_probes;

/* @programs: their descriptors, borrowed. @multi: they were loaded for links with many probes
 * (live_progs.h). Returns 0 or a negative errno. */
int tls_probes_new(struct tls_probes **out, const int programs[TLS_PROGRAM_MAX], int multi);
/* Detaches all. NULL is allowed. */
void tls_probes_free(struct tls_probes *ps);

/* Attaches to the file open on @fd if it has a TLS library, and no probes yet. @st: what it was
 * before. @path is for messages. */
void tls_probes_add(struct tls_probes *ps, int fd, const struct stat *st, const char *path);

/* Returns a descriptor that is readable when a file with probes was written; -1: none. */
int tls_probes_fd(const struct tls_probes *ps);
/* Detaches from such files; they can be added again. Returns whether there was one. */
int tls_probes_see_changes(struct tls_probes *ps);

/* Reports which files have probes, and why others that need them have none. */
void tls_probes_report(const struct tls_probes *ps, const struct scap_log *log);

#endif /* SCAP_TLS_TLS_PROBES_H */
