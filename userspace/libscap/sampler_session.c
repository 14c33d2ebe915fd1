/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler_session.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A name of the abstract namespace: it begins with a NUL. */
static socklen_t session_addr(struct sockaddr_un *addr, const char *name)
{
	int n;

	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "saker-sampler%s%s",
		     name ? "/" : "", name ? name : "");
	if (n > (int)sizeof(addr->sun_path) - 2)
		n = sizeof(addr->sun_path) - 2;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Whose session it is; 0: cannot be told. */
static int holder(const struct sockaddr_un *addr, socklen_t len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), pid = 0;
	struct ucred cred;
	socklen_t cred_len = sizeof(cred);

	if (fd < 0)
		return 0;
	if (!connect(fd, (const struct sockaddr *)addr, len) &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len))
		pid = cred.pid;
	close(fd);
	return pid;
}

int sampler_session_begin(const char *name, const struct scap_log *log)
{
	struct sockaddr_un addr;
	const socklen_t len = session_addr(&addr, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err, pid;

	if (fd < 0)
		return scap_fail(log, -errno, "a socket for the sampler's session: %s",
				 strerror(errno));
	if (!bind(fd, (const struct sockaddr *)&addr, len) && !listen(fd, 8))
		return fd;
	err = -errno;
	close(fd);
	if (err != -EADDRINUSE)
		return scap_fail(log, err, "the sampler's session: %s", strerror(-err));
	pid = holder(&addr, len);
	if (pid)
		return scap_fail(
			log, -EEXIST,
			"process %d samples stacks already, and there can be one sampler at "
			"a time; wait until it ends",
			pid);
	return scap_fail(
		log, -EEXIST,
		"another process samples stacks already, and there can be one sampler at a "
		"time; wait until it ends");
}
