/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meaning: events of a source together with the threads and files they are about. State
 * is updated before an event is handed out, except what an event ends (a thread at exit,
 * a file at close), which stays until the next call.
 */
#ifndef SINSP_SINSP_H
#define SINSP_SINSP_H

#include "scap.h"

struct sinsp;
struct sinsp_thread; /* state/thread.h */
struct sinsp_fd; /* state/fd.h */
struct sinsp_lookup; /* container/container_lookup.h */
struct scap_state_build; /* state_build.h */

struct sinsp_evt {
	struct scap_evt raw;
	struct sinsp *insp; /* whose tables give its text the names of processes and users */
	const struct scap_event_info *info;
	struct scap_params params;
	struct sinsp_thread
		*thread; /* NULL: the event has none; an unknown thread has a stand-in */
	const struct sinsp_fd *fd; /* the file the event is about; NULL: none, or not known */
	int64_t fdnum; /* its number, where the event names one; else -1 */
	const struct sinsp_fd *other_fd; /* of a call that moves bytes from one file to another, the
					    other one; NULL: none, or not known */
	int64_t other_fdnum; /* its number; -1: there is none */
	uint64_t latency_ns; /* of an exit: since its enter; 0 with !latency_known. Of a switch:
				the thread's last call's, as sysdig shows it */
	uint64_t ran_ns; /* of a switch, or of a thread's end: what the thread ran since it was told
			    last; 0 with !ran_known */
	uint8_t latency_known;
	uint8_t ran_known;
	uint8_t fd_renamed; /* its file has another name than before it, or the first one */
	uint8_t connect_done; /* by it the process learnt the outcome of its file's connect */
	uint8_t io_end; /* enum sinsp_io_end: which of the two files it is about; 0: both */
	uint8_t show_full; /* evt.info shows every parameter, the enter's too: the enter is not
			      shown */
};

struct sinsp_opts {
	size_t sz;
	uint8_t enter_events; /* enters made of exits are shown as lines of their own */
	int64_t tree_root; /* only events of this process and its descendants are meant; 0: all */
	const char *const *suppress_comms; /* NULL-terminated: threads of these names and their
					      descendants are not shown; NULL: none */
	uint8_t resync; /* live: what is not known, or not certain any more, is read from /proc */
	scap_log_fn log; /* NULL: silent */
	void *log_ctx;
	uint8_t containers; /* live: what is learnt of containers comes as events */
	struct sinsp_lookup *lookup; /* asked about containers; taken. NULL: nobody is */
	const char *source_name; /* of the capture file, for those who have several; borrowed until
				    sinsp_close. NULL: none */
	const char *debug_dirs; /* looked into for symbols before /usr/lib/debug, as which they are;
				   colons between. Borrowed until sinsp_close. NULL: none */
};

/* Takes @src and the options' lookup, also when it fails, and drops its state: who needs
 * scap_state(@src), a writer for one, asks before. */
int sinsp_open(struct sinsp **out, struct scap *src, const struct sinsp_opts *opts);
void sinsp_close(struct sinsp *s);

/* As scap_next, without SCAP_NEW_SECTION: a new section's state is taken over here. Every
 * event comes out, hidden ones too: sinsp_evt_shown says what a person asked to see. */
int sinsp_next(struct sinsp *s, struct sinsp_evt *evt, int timeout_ms);

/* Called with each event before it changes what is known; an error ends sinsp_next with it. */
typedef int (*sinsp_before_fn)(void *ctx, const struct scap_evt *evt);
void sinsp_set_before(struct sinsp *s, sinsp_before_fn before, void *ctx);

/* Called with the state that a new section of the source begins with; an error ends sinsp_next with
 * it. */
typedef int (*sinsp_section_fn)(void *ctx, const struct scap_state *state);
void sinsp_set_section(struct sinsp *s, sinsp_section_fn section, void *ctx);

/* What is known now, for a file to begin with: owned, to be freed with scap_state_build_free. 0 or
 * -ENOMEM. */
int sinsp_export(struct sinsp *s, struct scap_state_build **out);

int sinsp_evt_shown(const struct sinsp *s, const struct sinsp_evt *evt);

/* Whether the event is of the tree that is meant, shown or not: what a file gets. An event
 * without a thread is of every tree. */
int sinsp_evt_in_tree(const struct sinsp *s, const struct sinsp_evt *evt);

struct scap *sinsp_source(struct sinsp *s);

/* The name of the machine that the events are of; "": not known. */
const char *sinsp_hostname(const struct sinsp *s);

/* What the options said; NULL: nothing. */
const char *sinsp_source_name(const struct sinsp *s);

/* Time of the first event, shown or not, since the epoch; 0 before there is one. */
uint64_t sinsp_first_ns(const struct sinsp *s);

/* Growing text. Zero-initialize; free p. */
struct sinsp_text {
	char *p;
	size_t len, cap;
};

/* Bytes of I/O buffers in text: options -A -x -X -b of the command. */
enum sinsp_buf_fmt {
	SINSP_BUF_DOTS,
	SINSP_BUF_ASCII,
	SINSP_BUF_HEX,
	SINSP_BUF_HEXASCII,
	SINSP_BUF_BASE64
};

enum sinsp_time_fmt {
	SINSP_TIME_ABSOLUTE = 'h', /* of day, local */
	SINSP_TIME_EPOCH = 'a', /* seconds since the epoch */
	SINSP_TIME_RELATIVE = 'r', /* since the first event of the source, shown or not */
	SINSP_TIME_LATENCY = 'd', /* of the call: from enter to exit */
	SINSP_TIME_DELTA = 'D', /* since the previous shown event */
};

/* What a line says of the process. */
enum sinsp_line_fmt {
	SINSP_LINE_DEFAULT, /* its name and the thread's number */
	SINSP_LINE_CONTAINER, /* the container too, and the thread's number in there */
};

struct sinsp_printer; /* turns events into lines */

struct sinsp_printer_opts {
	size_t sz;
	enum sinsp_time_fmt time_fmt; /* 0: SINSP_TIME_ABSOLUTE */
	enum sinsp_buf_fmt buf_fmt;
	uint32_t buf_max; /* characters of a buffer shown as dots; 0: 80; UINT32_MAX: all */
	enum sinsp_line_fmt line_fmt;
	uint32_t buf_cut; /* bytes that a buffer is shown of, in any form; 0: all it has */
	uint8_t colour;
	uint8_t port_names; /* ports of sockets as /etc/services names them */
};

int sinsp_printer_new(struct sinsp_printer **out, const struct sinsp_printer_opts *opts);
void sinsp_printer_free(struct sinsp_printer *p);

/* Appends the line of sysdig's default format, with its newline:
 * number, time, cpu, process (tid), direction, type, info; or of its format with containers.
 * 0 or -ENOMEM. */
int sinsp_printer_line(struct sinsp_printer *p, struct sinsp_text *out,
		       const struct sinsp_evt *evt);

/* Appends %evt.info, as sysdig prints it. */
int sinsp_evt_info(struct sinsp_text *out, const struct sinsp_evt *evt, enum sinsp_buf_fmt buf_fmt);

/* %evt.type: the event's name; of a generic call, the call's. Borrowed, static. */
const char *sinsp_evt_type(const struct sinsp_evt *evt);

#endif /* SINSP_SINSP_H */
