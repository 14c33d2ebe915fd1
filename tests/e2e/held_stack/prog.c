/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits with a stack in a file whose server never answers, as any user may who may mount a file
 * system of his own; until the input ends. Status 77: there is no such file system here.
 */
#include "objfile/fuse_server_testing.c"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PAGE 4096

static void wait_on(char *stack)
{
	__asm__ volatile("mov %0, %%rsp; mov %1, %%eax; syscall; hlt"
			 :
			 : "r"(stack), "i"(SYS_pause)
			 : "rax", "rcx", "r11", "memory");
}

int main(void)
{
	struct fuse_server server;
	char path[64], byte, *stack;
	int fd;
	pid_t pid;

	if (fuse_server_start(&server))
		return 77;
	snprintf(path, sizeof(path), "%s/read", server.dir);
	fd = open(path, O_RDONLY);
	pid = fork();
	if (!pid) {
		stack = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		if (stack != MAP_FAILED)
			wait_on(stack + PAGE / 2);
		_exit(1);
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	kill(pid, SIGKILL);
	fuse_server_end(&server);
	return waitpid(pid, NULL, 0) != pid;
}
