/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel's version, for features that cannot be probed. */
#ifndef SCAP_LIVE_KERNEL_VERSION_H
#define SCAP_LIVE_KERNEL_VERSION_H

int scap_kernel_is_at_least(unsigned int major, unsigned int minor);

#endif /* SCAP_LIVE_KERNEL_VERSION_H */
