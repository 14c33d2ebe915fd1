/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), for file IDs. */
#ifndef SCAP_OBJFILE_SHA256_H
#define SCAP_OBJFILE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SZ 32

void sha256(uint8_t sum[SHA256_SZ], const void *data, size_t sz);

#endif /* SCAP_OBJFILE_SHA256_H */
