/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector: events of a source with the threads and descriptors they belong to. The state is
 * updated before an event is returned, except that a thread or descriptor which the event ends
 * stays until the next call.
 */
#ifndef SINSP_SINSP_H
#define SINSP_SINSP_H

#include "scap.h"

struct sinsp;
struct sinsp_thread; /* state/thread.h */
struct sinsp_fd; /* state/fd.h */
struct sinsp_lookup; /* container/container_lookup.h */
struct scap_state_build; /* state_build.h */
struct sinsp_call_sample; /* state/inspector.h */

struct sinsp_evt {
	struct scap_evt raw;
	struct sinsp *insp; /* the inspector with the names of its processes and users */
	const struct scap_event_info *info;
	struct scap_params params;
	struct sinsp_thread *thread; /* NULL: none; an unknown thread has a stand-in */
	const struct sinsp_fd *fd; /* descriptor of the event; NULL: none, or unknown */
	int64_t fdnum; /* its number if the event has one; else -1 */
	const struct sinsp_fd *other_fd; /* second descriptor of a call that moves bytes between
					    two; NULL: none, or unknown */
	int64_t other_fdnum; /* its number; -1: none */
	uint64_t latency_ns; /* of an exit: since its enter; 0 with !latency_known. Of a switch:
				latency of the thread's last call, as in sysdig */
	uint64_t ran_ns; /* of a switch or procexit: time on the CPU since the last count; 0 with
			    !ran_known */
	const struct sinsp_call_sample *call_sample; /* the sample that was taken for this exit
							event; NULL: none */
	uint8_t latency_known;
	uint8_t ran_known;
	uint8_t fd_renamed; /* the event named its descriptor, or renamed it */
	uint8_t connect_done; /* the event shows the outcome of the descriptor's connect */
	uint8_t io_end; /* enum sinsp_io_end: which of the two descriptors fd.* is; 0: both */
	uint8_t io_whole; /* with io_end: fields of moved bytes still mean both */
	uint8_t selected; /* what sinsp_filter_select returned for it; 0: it was not called */
	uint8_t in_snapshot; /* older than the state read from /proc, which has its effect */
	uint8_t show_full; /* evt.info shows every parameter, also those of the enter, which has no
			      line */
};

/* Returns the parameters of the sample that the event is, or that was taken for it; NULL: none. */
const struct scap_params *sinsp_evt_sample(const struct sinsp_evt *evt);
/* Returns 1 with that sample, valid until the next event; 0: none. */
int sinsp_evt_as_sample(const struct sinsp_evt *evt, struct sinsp_evt *sample);

/* Returns whether a sample was taken for the exit event that follows in its thread. */
int sinsp_evt_is_of_call(const struct sinsp_evt *evt);

/* Notes that a file has the event. */
void sinsp_evt_written(const struct sinsp_evt *evt);
/* Returns whether a sample was taken for the event that no file has yet. */
int sinsp_evt_lacks_sample(const struct sinsp_evt *evt);

struct sinsp_opts {
	size_t sz;
	uint8_t enter_events; /* enter events have lines of their own */
	int64_t tree_root; /* show only this process and its descendants; 0: all */
	const char *const *suppress_comms; /* NULL-terminated: hide threads of these names and their
					      descendants; NULL: none */
	uint8_t resync; /* live: read unknown or uncertain state from /proc */
	scap_log_fn log; /* NULL: no messages */
	void *log_ctx;
	uint8_t containers; /* live: containers become events */
	struct sinsp_lookup *lookup; /* queries container engines; owned. NULL: no queries */
	const char *source_name; /* name of the capture file if there are several; borrowed until
				    sinsp_close. NULL: none */
	const char *debug_dirs; /* searched for symbols before /usr/lib/debug, separated by colons.
				   Borrowed until sinsp_close. NULL: none */
	uint8_t interpreter_frames; /* stacks have the native frames of interpreters, too */
	uint32_t derive; /* SINSP_DERIVE_*: events to derive, unless the source has them */
};

/* Kinds of derived events. */
enum sinsp_derive {
	SINSP_DERIVE_REQUESTS = 1 << 0, /* request: each one that a socket carries */
	SINSP_DERIVE_SLICES = 1 << 1, /* slice: what each thread did, from switches and wake-ups */
	SINSP_DERIVE_TRACERS = 1 << 2, /* tracer: markers that programs write to /dev/null */
};

/* Owns @src and the options' lookup, also on failure, and drops the state of @src: a writer that
 * needs scap_state(@src) reads it before. */
int sinsp_open(struct sinsp **out, struct scap *src, const struct sinsp_opts *opts);
void sinsp_close(struct sinsp *s);

/* Returns as scap_next, but never SCAP_NEW_SECTION: it loads the state of a new section itself.
 * Hidden events are returned, too; sinsp_evt_shown tests for them. */
int sinsp_next(struct sinsp *s, struct sinsp_evt *evt, int timeout_ms);

/* Called with each event before it changes the state; an error ends sinsp_next with that error. */
typedef int (*sinsp_before_fn)(void *ctx, const struct scap_evt *evt);
void sinsp_set_before(struct sinsp *s, sinsp_before_fn before, void *ctx);

/* Called with the state at the beginning of a new section; an error ends sinsp_next with that
 * error. */
typedef int (*sinsp_section_fn)(void *ctx, const struct scap_state *state);
void sinsp_set_section(struct sinsp *s, sinsp_section_fn section, void *ctx);

/* Returns how much there is to export: descriptors, and eight for each thread. */
uint64_t sinsp_state_size(const struct sinsp *s);
/* Exports the current state for the beginning of a file; the caller frees it with
 * scap_state_build_free. Returns 0 or -ENOMEM. */
int sinsp_export(struct sinsp *s, struct scap_state_build **out);

/* Calls @fn with a slice for each thread that waits at @now_ns: so far. The stream is not changed:
 * the wait has its slice when it ends. Returns 0, or what @fn returned, which ends it, if not 0. */
typedef int (*sinsp_slice_fn)(void *ctx, const struct sinsp_evt *evt);
int sinsp_each_open_slice(struct sinsp *s, uint64_t now_ns, sinsp_slice_fn fn, void *ctx);

int sinsp_evt_shown(const struct sinsp *s, const struct sinsp_evt *evt);

/* Returns whether the event is of the selected process tree, shown or not, and so goes to a file.
 * An event without a thread is of every tree. */
int sinsp_evt_in_tree(const struct sinsp *s, const struct sinsp_evt *evt);

struct scap *sinsp_source(struct sinsp *s);

/* Returns the host name of the machine that was captured; "": unknown. */
const char *sinsp_hostname(const struct sinsp *s);

/* Returns source_name of the options, or NULL. */
const char *sinsp_source_name(const struct sinsp *s);

/* Returns the time of the first event, shown or not, since the epoch; 0 before it. */
uint64_t sinsp_first_ns(const struct sinsp *s);

/* Growing text. Zero-initialize; free p. */
struct sinsp_text {
	char *p;
	size_t len, cap;
};

/* How bytes of I/O buffers are printed: options -A -x -X -b. */
enum sinsp_buf_fmt {
	SINSP_BUF_DOTS,
	SINSP_BUF_ASCII,
	SINSP_BUF_HEX,
	SINSP_BUF_HEXASCII,
	SINSP_BUF_BASE64
};

enum sinsp_time_fmt {
	SINSP_TIME_ABSOLUTE = 'h', /* local time of day */
	SINSP_TIME_EPOCH = 'a', /* seconds since the epoch */
	SINSP_TIME_RELATIVE = 'r', /* since the first event of the source, shown or not */
	SINSP_TIME_LATENCY = 'd', /* latency of the call */
	SINSP_TIME_DELTA = 'D', /* since the previous shown event */
};

/* The name of the process that a line shows. */
enum sinsp_line_fmt {
	SINSP_LINE_DEFAULT, /* its name and the TID */
	SINSP_LINE_CONTAINER, /* also the container, with the TID in its namespace */
	SINSP_LINE_POD, /* the same with the name of its pod */
};

struct sinsp_printer; /* formats events as lines */

struct sinsp_printer_opts {
	size_t sz;
	enum sinsp_time_fmt time_fmt; /* 0: SINSP_TIME_ABSOLUTE */
	enum sinsp_buf_fmt buf_fmt;
	uint32_t buf_max; /* characters of a buffer printed as dots; 0: 80; UINT32_MAX: all */
	enum sinsp_line_fmt line_fmt;
	uint32_t buf_cut; /* bytes printed of a buffer, in any form; 0: all */
	uint8_t colour;
	uint8_t port_names; /* print the names of ports in /etc/services */
};

int sinsp_printer_new(struct sinsp_printer **out, const struct sinsp_printer_opts *opts);
void sinsp_printer_free(struct sinsp_printer *p);

/* Appends the line of sysdig's default format, with its newline: number, time, CPU, process (TID),
 * direction, type, info; or of the format with containers. Returns 0 or -ENOMEM. */
int sinsp_printer_line(struct sinsp_printer *p, struct sinsp_text *out,
		       const struct sinsp_evt *evt);

/* Appends %evt.info, as sysdig prints it. */
int sinsp_evt_info(struct sinsp_text *out, const struct sinsp_evt *evt, enum sinsp_buf_fmt buf_fmt);

/* Returns %evt.type: the name of the event, or of the call if it is generic. Static. */
const char *sinsp_evt_type(const struct sinsp_evt *evt);

#endif /* SINSP_SINSP_H */
