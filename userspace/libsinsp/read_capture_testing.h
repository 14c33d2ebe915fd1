/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a damaged capture as the command does, for the fuzz target capture and flip_captures. */
#ifndef SINSP_READ_CAPTURE_TESTING_H
#define SINSP_READ_CAPTURE_TESTING_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

/*
 * Reads the whole file, or from a checkpoint before @from_ns (0: whole), with all that is derived
 * from it. Prints each event that is shown as a line, some as JSON with all fields; tests each
 * event with eight filters, selected by @pick. Returns -ENODATA at the end, -EBADMSG or -ENOTSUP
 * with a message to @log; aborts at any other error.
 */
int read_capture(uint64_t *n_events, const char *path, uint64_t from_ns, size_t pick,
		 scap_log_fn log, void *log_ctx);

#endif /* SINSP_READ_CAPTURE_TESTING_H */
