/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the state of the exporter to the service manager, if $NOTIFY_SOCKET names its socket: the
 * protocol of sd_notify(3), lines in a datagram. Nothing here waits: a datagram for which there is
 * no room is not sent.
 */
#ifndef SAKER_EXPORTER_NOTIFY_H
#define SAKER_EXPORTER_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd; /* -1: there is no service manager */
	uint64_t watchdog_ns; /* the manager requires a WATCHDOG=1 within this time; 0: none */
	uint64_t fed_ns; /* when the last one was sent */
};

/* Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, and removes them from the environment. */
void notify_init(struct notify *n);
void notify_fini(struct notify *n);

/* Returns 0 if the message to the service manager failed: send it again, as the manager ends a
 * service that does not become ready. */
int notify_ready(struct notify *n);
void notify_reloading(struct notify *n, uint64_t now_ns);
void notify_stopping(struct notify *n);
/* Sends WATCHDOG=1 if it is due. To be called when the capture has proceeded. */
void notify_alive(struct notify *n, uint64_t now_ns);

#endif /* SAKER_EXPORTER_NOTIFY_H */
