/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system in user space, of which the test is the server: files answer, or never do, by their
 * names. In a mount namespace of the test's own.
 */
#ifndef SCAP_OBJFILE_FUSE_SERVER_TEST_H
#define SCAP_OBJFILE_FUSE_SERVER_TEST_H

#include <sys/types.h>

/* What each file has. */
#define FUSE_TEST_TEXT "what the server has\n"

struct fuse_server {
	char dir[32]; /* where it is mounted */
	int fd;
	pid_t pid;
};

/*
 * Files in any folder: "lookup", "open", "read", "close" never answer to that, "file" always does.
 * Folders are "d0" to "d99". 0, or a negative errno: it cannot be had here.
 */
int fuse_server_start(struct fuse_server *s);
/* All requests that wait for it fail then. */
void fuse_server_end(struct fuse_server *s);

#endif /* SCAP_OBJFILE_FUSE_SERVER_TEST_H */
