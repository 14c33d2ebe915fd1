/* SPDX-License-Identifier: Apache-2.0 */
/* Drops all rights of a process that reads hostile input: it may be taken over. */
#ifndef SINSP_SYMBOLS_SEAL_PROCESS_H
#define SINSP_SYMBOLS_SEAL_PROCESS_H

/* Sanitizers make system calls that the filter refuses: under them only capabilities are
 * dropped. */
#define SEAL_PROCESS_WHOLE 1
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||                           \
	defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#undef SEAL_PROCESS_WHOLE
#define SEAL_PROCESS_WHOLE 0
#endif

#define NOBODY 65534 /* the user and the group */

/*
 * From here on the calling process runs as nobody, without capabilities; it can use the descriptors
 * that it has or receives, and its memory, but cannot open, connect, exec, or map code. Returns 0
 * or a negative errno: then it must not continue.
 */
int seal_process(void);

#endif /* SINSP_SYMBOLS_SEAL_PROCESS_H */
