/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the BPF programs that run at the moment of the call, as after they were detached. */
#ifndef SCAP_LIVE_BPF_WAIT_H
#define SCAP_LIVE_BPF_WAIT_H

/* Returns 0 once all of them have ended, or -errno. */
int bpf_wait(void);

#endif /* SCAP_LIVE_BPF_WAIT_H */
