/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that follow the perf sideband beside the reader of events. */
#ifndef SCAP_SAMPLING_SIDEBAND_THREAD_H
#define SCAP_SAMPLING_SIDEBAND_THREAD_H

#include <stdint.h>

/* In the thread: keeps the capabilities for its maps and buffers, for other processes' mappings and
 * for mapped files, also deleted ones, whatever the process had; and those of @more (1 << CAP_*).
 */
void sideband_thread_limit_capabilities(uint64_t more);

#endif /* SCAP_SAMPLING_SIDEBAND_THREAD_H */
