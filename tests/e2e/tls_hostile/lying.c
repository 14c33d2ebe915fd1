/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* A library whose symbols lie: they point into the middle of instructions, or behind the code. */
__asm__(".text\n"
	"dead: .rept 64\n"
	"movabs $0x1122334455667788, %rax\n"
	".endr\n"
	"ret\n"
	".globl SSL_read, SSL_write, SSL_new, SSL_free, SSL_read_ex\n"
	".type SSL_read, @function\n"
	".type SSL_write, @function\n"
	".type SSL_new, @function\n"
	".type SSL_free, @function\n"
	".type SSL_read_ex, @function\n"
	".set SSL_read, dead + 1\n"
	".set SSL_write, dead + 13\n"
	".set SSL_new, dead + 0x7fffffff\n"
	".set SSL_free, dead - 0x100000\n"
	".set SSL_read_ex, dead + 640\n");
