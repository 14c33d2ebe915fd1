/* SPDX-License-Identifier: Apache-2.0 */
/* Processes whose memory takes longer to take down than they ran: prints how many there were. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 30
#define SZ (64u << 20)

int main(void)
{
	for (int i = 0; i < N; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			char *p = mmap(NULL, SZ, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (p == MAP_FAILED)
				_exit(1);
			memset(p, 1, SZ);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	printf("%d\n", N);
	return 0;
}
