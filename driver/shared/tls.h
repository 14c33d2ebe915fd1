/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Functions of TLS libraries that are probed: libscap finds and attaches them, the driver reads
 * their arguments. */
#ifndef DRIVER_SHARED_TLS_H
#define DRIVER_SHARED_TLS_H

/* What a probe is for. Arguments are the connection, a buffer, its length, and for the kinds _EX a
 * pointer to the number of bytes. */
enum tls_function {
	TLS_READ, /* int result: the number of bytes */
	TLS_WRITE,
	TLS_READ_EX, /* result 1, or 0 for a failure */
	TLS_WRITE_EX,
	TLS_RECORD_RECV, /* ssize_t result: the number of bytes, or an error of GnuTLS */
	TLS_RECORD_SEND,
	TLS_BEGIN, /* a connection begins */
	TLS_END, /* the connection in the first argument ends */
	TLS_GO_READ, /* of Go: results are the number of bytes, and an interface with the error */
	TLS_GO_WRITE,
	TLS_GO_BEGIN, /* a connection of Go begins */
	TLS_FUNCTION_MAX
};

/*
 * The cookie of a probe: its function in the low bits. Above, for functions of Go, the signed
 * distance from the probe to net.(*TCPConn).Read, which is the same wherever the program is loaded;
 * 0: unknown.
 */
#define TLS_COOKIE_BITS 8

_Static_assert(TLS_FUNCTION_MAX <= 1 << TLS_COOKIE_BITS, "a cookie holds each function");

#endif /* DRIVER_SHARED_TLS_H */
