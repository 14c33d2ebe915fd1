/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes .scap files. The default is compatible: sysdig 0.29.3, tshark and Falco's libs read it
 * correctly, and saker finds in options what those have no place for. docs/scap-file.md describes
 * the layout.
 */
#ifndef SCAP_FILE_SCAP_FILE_H
#define SCAP_FILE_SCAP_FILE_H

#include "scap.h"

struct scap_writer;

enum scap_compress { SCAP_COMPRESS_NONE, SCAP_COMPRESS_GZIP, SCAP_COMPRESS_ZSTD };

struct scap_writer_opts {
	size_t sz;
	enum scap_compress compress;
	const char *provenance; /* "key=value\n" lines for the first private block; NULL: none */
	scap_log_fn log;
	void *log_ctx;
	uint64_t checkpoint_every; /* bytes, before they are packed, between checkpoints; 0: 32 MiB,
				      and at most 1/64 of the file are checkpoints; UINT64_MAX: none
				    */
};

/* Creates @path with mode 0600 ("-": standard output) and writes the initial state. */
int scap_writer_open(struct scap_writer **out, const char *path, const struct scap_state *state,
		     const struct scap_writer_opts *opts);

/* Ends the section with its own counts of events, and begins another one with @state: another
 * capture follows, whose times may be earlier. Returns 0 or a negative errno. */
int scap_writer_section(struct scap_writer *w, const struct scap_state *state);

/* Appends an event. Times must not go back (scap_next's do not). Returns -ENOSPC if the disk is
 * full; the file then ends with the last complete block. */
int scap_writer_put(struct scap_writer *w, const struct scap_evt *evt);

/* Returns whether the next checkpoint is due: what a reader needs to begin there. */
int scap_writer_wants_checkpoint(const struct scap_writer *w);
/* Writes it. @state is that before the next event; @put_known, which may be NULL, puts the events
 * that later events need, by scap_writer_put. Returns 0, or the error of scap_writer_put: if there
 * is no memory for the checkpoint, or it needs more than @room bytes of the file, it is left out.
 */
int scap_writer_checkpoint(struct scap_writer *w, const struct scap_state *state, uint64_t room,
			   int (*put_known)(void *ctx), void *ctx);
/* Leaves the checkpoint out that is due. */
void scap_writer_skip_checkpoint(struct scap_writer *w);

/* Returns the size of the file so far, with its index; compressed bytes may still be buffered. */
uint64_t scap_writer_bytes(const struct scap_writer *w);

/* Returns the file's descriptor, owned by the writer; -1: a pipe or a device. */
int scap_writer_fd(const struct scap_writer *w);

/* Passes everything written so far to the kernel. */
int scap_writer_flush(struct scap_writer *w);

/* Writes the trailer with the counters (NULL: none) and closes. Frees @w even if it fails. *bytes
 * (may be NULL) is the size of the file. */
int scap_writer_close(struct scap_writer *w, const struct scap_stats *st, uint64_t *bytes);

/* Creates @path as scap_writer_open does, and writes @n bytes that are no capture. Returns 0 or a
 * negative errno, without a message. */
int scap_write_bytes(const char *path, const void *p, size_t n);

/* Verifies a file: every block is well formed, times are in order, and in sections by saker the
 * trailer agrees with the content. Returns 0; -EBADMSG after logging each finding. */
int scap_verify(const char *path, scap_log_fn log, void *log_ctx);

#endif /* SCAP_FILE_SCAP_FILE_H */
