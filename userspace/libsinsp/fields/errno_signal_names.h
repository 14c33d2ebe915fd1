/* SPDX-License-Identifier: Apache-2.0 */
/* Names of errors and signals, by Linux numbers. */
#ifndef SINSP_FIELDS_ERRNO_SIGNAL_NAMES_H
#define SINSP_FIELDS_ERRNO_SIGNAL_NAMES_H

#include <stdint.h>

#define SINSP_ERRNO_MAX 4095 /* results from this, negated, up to -1 are errors */

/* Returns "ENOENT" for 2; NULL if there is no name. */
const char *sinsp_errno_name(uint64_t err);
/* Returns "SIGKILL" for 9; NULL if there is no name. */
const char *sinsp_signal_name(unsigned int sig);

#endif /* SINSP_FIELDS_ERRNO_SIGNAL_NAMES_H */
