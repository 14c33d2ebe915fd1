/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCAP_TLS_TLS_PROBE_H
#define SCAP_TLS_TLS_PROBE_H

#include <stdint.h>

#include "shared/tls.h"

/* Programs of the driver, in the order in which they are detached: a call whose entry is seen has
 * its return. */
enum tls_program {
	TLS_AT_ENTRY,
	TLS_GO_AT_ENTRY,
	TLS_AT_RETURN, /* the probe is one of the function's return: a uretprobe */
	TLS_GO_AT_RETURN, /* the probe is at a return instruction */
	TLS_PROGRAM_MAX
};

struct tls_probe {
	uint64_t offset; /* in the file */
	enum tls_function function;
	enum tls_program program;
	int64_t distance; /* that of the cookie */
};

enum {
	TLS_GO_RETURNS_MAX = 32, /* of a function; those of Go 1.17 to 1.26 have up to 10 */
	TLS_GO_PROBES_MAX = 4 + 2 * TLS_GO_RETURNS_MAX,
	TLS_PROBES_MAX = 20 + TLS_GO_PROBES_MAX
};

#endif /* SCAP_TLS_TLS_PROBE_H */
