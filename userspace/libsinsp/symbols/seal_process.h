/* SPDX-License-Identifier: Apache-2.0 */
/* Takes every right from a process that reads what others made: it may be taken over. */
#ifndef SINSP_SYMBOLS_SEAL_PROCESS_H
#define SINSP_SYMBOLS_SEAL_PROCESS_H

/* AddressSanitizer makes system calls that the filter refuses: with it only capabilities go. */
#define SEAL_PROCESS_WHOLE 1
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#undef SEAL_PROCESS_WHOLE
#define SEAL_PROCESS_WHOLE 0
#endif

/*
 * From here on the calling process is of user nobody, without capabilities; it can use the
 * descriptors that it has or is sent, and its memory, but open nothing, connect to nothing, start
 * nothing and map no code. 0 or a negative errno: then it must not go on.
 */
int seal_process(void);

#endif /* SINSP_SYMBOLS_SEAL_PROCESS_H */
