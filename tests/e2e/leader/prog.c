/* SPDX-License-Identifier: Apache-2.0 */
/* Ends its main thread. The other thread prints a line, waits for one, and then reads from a
 * descriptor that both had. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fd;
static pthread_t leader;

static void *stays(void *arg)
{
	char buf[16];

	(void)arg;
	if (pthread_join(leader, NULL))
		exit(1);
	printf("%ld\n", syscall(SYS_gettid));
	fflush(stdout);
	if (read(STDIN_FILENO, buf, 1) != 1)
		exit(1);
	for (int i = 0; i < 3; i++)
		if (pread(fd, buf, sizeof(buf), i) < 0)
			exit(1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	fd = open(argv[argc - 1], O_RDONLY);
	leader = pthread_self();
	if (fd < 0 || pthread_create(&t, NULL, stays, NULL))
		return 1;
	pthread_exit(NULL);
}
