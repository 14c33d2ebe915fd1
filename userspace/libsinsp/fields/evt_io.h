/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that an event moved: how many were read from which file, and how many were written to which
 * file. All fields and chisels of bytes use this; evt.buflen is sysdig's, with one file and one
 * direction for each call.
 */
#ifndef SINSP_FIELDS_EVT_IO_H
#define SINSP_FIELDS_EVT_IO_H

#include "sinsp.h"

/* Bit 0 of a set is SINSP_SELECTED (filter/filter.h). */
enum sinsp_io_end { SINSP_IO_READ = 2, SINSP_IO_WRITE = 4 };

struct sinsp_io {
	uint64_t n_bytes;
	uint64_t n_reserved; /* space reserved in the file written to, by fallocate */
	uint8_t ends; /* enum sinsp_io_end, one or both: n_bytes were read, and written */
	const struct sinsp_fd *in, *out; /* NULL: none, or unknown */
	int64_t in_num, out_num; /* -1: none, or unknown */
};

/*
 * Returns whether the event moved bytes, with @io untouched if not. A failed call moves none; one
 * that moved 0 bytes did succeed. Reserving space is a write of 0 bytes. With evt->io_end, @io has
 * that end only, unless evt->io_whole is set.
 */
int sinsp_evt_io(const struct sinsp_evt *evt, struct sinsp_io *io);
/* Returns the ends of the event, of those that are @wanted, and how many bytes each moved; 0, with
 * *n_bytes untouched: it moved none there. */
uint8_t sinsp_evt_io_bytes(const struct sinsp_evt *evt, uint8_t wanted, uint64_t *n_bytes);
/* Returns whether events of this type can move bytes. */
int sinsp_io_moves(const struct scap_event_info *info);
/* Returns whether the event is about two files; *ends then has two copies of it: as the read of the
 * one, and as the write of the other. */
int sinsp_evt_split(const struct sinsp_evt *evt, struct sinsp_evt ends[2]);

#endif /* SINSP_FIELDS_EVT_IO_H */
