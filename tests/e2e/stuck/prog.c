/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit program that waits in a 32-bit call: read(0, below 4 GiB, 77). */
#define _GNU_SOURCE
#include <sys/mman.h>

int main(void)
{
	void *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
			 -1, 0);
	int ret = 3;

	__asm__ volatile("int $0x80"
			 : "+a"(ret)
			 : "b"(0), "c"(low), "d"(77)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret < 0;
}
