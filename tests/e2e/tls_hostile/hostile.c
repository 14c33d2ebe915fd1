/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A program whose own functions have the names of OpenSSL's, and do what those never do. Prints how
 * many events they must have, and the result of each.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((noinline, visibility("default")))
#define BREAKPOINT 0xcc

enum act { PLAIN, UNMAP, CLAIM, JUMP, RECURSE, EXIT };

static enum act act;
static jmp_buf out;

/* Symbols that do not name functions. */
__attribute__((visibility("default"))) int SSL_read_ex = 5;

EXPORT int SSL_write(void *ssl, const void *buf, int n)
{
	if (act == UNMAP)
		munmap((void *)buf, 4096);
	if (act == CLAIM)
		return 0x7fffffff;
	if (act == RECURSE) {
		int (*volatile self)(void *, const void *, int) = SSL_write;

		act = PLAIN;
		n = self(ssl, buf, n);
	}
	return n;
}

EXPORT int SSL_read(void *ssl, void *buf, int n)
{
	(void)ssl;
	if (act == JUMP)
		longjmp(out, 1);
	if (act == EXIT)
		_exit(0);
	memset(buf, 'r', (size_t)n);
	return n;
}

/* Probes are set before the program starts. */
static int is_probed(void)
{
	return *(volatile unsigned char *)SSL_write == BREAKPOINT &&
	       *(volatile unsigned char *)SSL_read == BREAKPOINT;
}

static void write_as(enum act what, const char *text)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int res;

	strcpy(page, text);
	act = what;
	res = SSL_write(&out, page, (int)strlen(text));
	act = PLAIN;
	printf("tls_write %d %s\n", res, what == UNMAP ? "" : text);
	if (what != UNMAP)
		munmap(page, 4096);
}

int main(void)
{
	char buf[16];
	int status;

	if (!is_probed())
		return 3;
	write_as(PLAIN, "first");
	write_as(UNMAP, "unmapped");
	write_as(CLAIM, "claimed");
	act = JUMP;
	if (!setjmp(out))
		SSL_read(&out, buf, 4);
	write_as(PLAIN, "after-jump");
	write_as(RECURSE, "nested");
	fflush(stdout);
	act = EXIT;
	if (!fork()) {
		SSL_read(&out, buf, 4);
		return 1;
	}
	if (wait(&status) < 0 || status)
		return 2;
	act = PLAIN;
	printf("tls_read %d rrrr\n", SSL_read(&out, buf, 4));
	return 0;
}
