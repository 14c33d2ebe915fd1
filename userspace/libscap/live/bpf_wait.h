/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for BPF programs that are running at the time of the call, such as detached ones. */
#ifndef SCAP_LIVE_BPF_WAIT_H
#define SCAP_LIVE_BPF_WAIT_H

/* Returns 0 once all of them have ended, or -errno. */
int bpf_wait(void);

#endif /* SCAP_LIVE_BPF_WAIT_H */
