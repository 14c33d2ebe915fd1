/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of events, for filters, formats, listings and chisels. A field is a row, with the code
 * that computes its value; the classes of rows are in fields_*.c. Values are borrowed from the
 * event, the state, or the scratch memory of the evaluation, and valid until the next
 * sinsp_eval_set.
 */
#ifndef SINSP_FIELDS_FIELD_H
#define SINSP_FIELDS_FIELD_H

#include "sinsp.h"
#include "time_text.h"

/* Type of the event that each thread is at the end of an interval of a view: the exit of
 * sysdigevent, which has no row of its own in the table of events. */
#define FIELD_INTERVAL_END (EVT_SYSDIGEVENT_E + 1)

enum sinsp_field_type {
	FIELD_NONE,
	FIELD_INT, /* i */
	FIELD_UINT, /* u */
	FIELD_DOUBLE, /* d */
	FIELD_BOOL, /* u: 0 or 1 */
	FIELD_STR, /* p, len: no NUL needed; compared as text */
	FIELD_PATH, /* as STR: the name of a file */
	FIELD_BYTES, /* p, len: buffers */
	FIELD_IP, /* p, len 4 or 16: network order */
	FIELD_NET, /* as IP, with prefix: an address field that is compared with networks */
	FIELD_PORT, /* u */
	FIELD_TIME, /* u: ns since the epoch */
	FIELD_DURATION, /* u: ns */
	FIELD_TYPE_MAX
};

/* How a number is printed. */
enum sinsp_field_fmt {
	FIELD_FMT_DEC,
	FIELD_FMT_HEX,
	FIELD_FMT_OCT,
	FIELD_FMT_PADDED /* 9 digits */
};

enum sinsp_field_flags {
	FIELD_F_LIST =
		1
		<< 0, /* may have several values: a set, unless one of the next two flags is set */
	FIELD_F_ARG_NEEDED = 1 << 1, /* requires [arg] or .arg */
	FIELD_F_ARG_OK = 1 << 2, /* accepts an argument */
	FIELD_F_ARG_INDEX = 1 << 3, /* the argument may be a number */
	FIELD_F_ARG_KEY = 1 << 4, /* it may be text */
	FIELD_F_FILTER_ONLY = 1 << 5, /* has no printable value */
	FIELD_F_HIDDEN = 1 << 6, /* works, but is not listed */
	FIELD_F_UNSUPPORTED = 1 << 7, /* exists in other tools: its use is an error;
					 the help is the reason */
	/* With FIELD_F_LIST, how filters compare: */
	FIELD_F_ANY = 1 << 8, /* one matching value is enough: proc.aname */
	FIELD_F_ENDS = 1 << 9, /* as ANY, but != must hold for all: fd.port, both ends */
	FIELD_F_BY_TYPE = 1 << 10, /* the event's type decides it, except for generic calls */
	FIELD_F_TIME_TEXT = 1 << 11, /* a time as text; JSON has ns since the epoch instead */
	FIELD_F_WITHIN = 1 << 12, /* a distance: = is true up to the given number */
	FIELD_F_MEMORY = 1 << 13, /* depends on which events were evaluated before */
	FIELD_F_OF_OPENS = 1 << 14, /* the type decides it, except for events that open files */
	FIELD_F_OF_IO = 1 << 15, /* the type decides it, except for events that move bytes */
	FIELD_F_ARG_FROM_END = 1 << 16, /* the number may be negative: it counts from the end */
};

/* What must be recorded besides the events that the filter matches, or read. */
enum sinsp_field_needs {
	FIELD_NEEDS_FILES = 1 << 0, /* open files */
	FIELD_NEEDS_HISTORY = 1 << 1, /* other or earlier events that carry counters of the process,
					 such as its memory: no event of their own shows a change */
	FIELD_NEEDS_CALLS = 1 << 2, /* calls by which a thread changes its user, directory or
				       session: no other event shows that */
	FIELD_NEEDS_REQUESTS = 1 << 3, /* events of requests, derived from calls on sockets */
	FIELD_NEEDS_SLICES = 1 << 4, /* slices of threads: task switches and wake-ups */
	FIELD_NEEDS_TRACERS = 1 << 5, /* events of markers, derived from writes to /dev/null */
	FIELD_NEEDS_TCP = 1 << 6, /* events of TCP */
	FIELD_NEEDS_CPU_TIME =
		1 << 7, /* CPU time and page faults of threads, read at the end of intervals */
	FIELD_NEEDS_NAMES = 1 << 8, /* no events, but files of this machine: names of frames */
	FIELD_NEEDS_OPEN_SLICES = 1 << 9, /* slices that go on, as of the end of an interval */
};

/* Cost of computing the value; cheap checks come first. */
enum sinsp_field_cost {
	FIELD_COST_HEADER, /* a member of the event */
	FIELD_COST_STATE, /* a member of its thread or file */
	FIELD_COST_SEARCH, /* a parameter by name, ancestors, a table */
	FIELD_COST_TEXT, /* builds text */
	FIELD_COST_SYSTEM, /* a system call: /proc, names of users */
};

struct sinsp_value {
	union {
		uint64_t u;
		int64_t i;
		double d;
		const char *p;
	};
	uint32_t len; /* of what p points to */
	uint8_t type; /* enum sinsp_field_type: that of the row, or of the event's parameter if that
			 decides */
	uint8_t fmt; /* enum sinsp_field_fmt */
	uint8_t prefix; /* prefix length of a FIELD_NET */
	uint8_t made; /* text composed for printing: its control characters are kept */
	uint8_t is_name; /* of a file: printed without control characters, as in sysdig */
};

struct sinsp_eval;
struct sinsp_field;

/*
 * Computes the values of @f in e->evt; *v already has the type and format of the field. Returns
 * their number: 0, it has none (unknown is not zero, and not ""); 1, in *v; more, in a list at
 * *more, with *v the first. Negative errno: no memory.
 */
typedef int (*sinsp_field_fn)(struct sinsp_eval *e, const struct sinsp_field *f,
			      struct sinsp_value *v, const struct sinsp_value **more);

/* Checks the argument when the field is parsed, and may set f->index and f->type. Returns 0, or
 * -EINVAL by sinsp_field_error. */
typedef int (*sinsp_field_check_fn)(struct sinsp_field *f, const char **why);

struct sinsp_field_row {
	const char *name; /* "proc.name" */
	uint8_t type, fmt, cost;
	uint32_t flags;
	uint16_t variant; /* for the getter: distinguishes fields that differ in little */
	sinsp_field_fn get;
	const char *help;
	sinsp_field_check_fn check; /* NULL: accepts any argument that the flags allow */
	const char *const *values; /* all possible values, up to a NULL; NULL: any */
	uint16_t needs; /* enum sinsp_field_needs */
};

struct sinsp_field_class {
	const char *name, *title, *help; /* "proc", "process", ... */
	const struct sinsp_field_row *rows;
	size_t n_rows;
};

/* A field in use: row and argument. */
struct sinsp_field {
	const struct sinsp_field_row *row;
	char *arg; /* owned; NULL: none given */
	int64_t index; /* of a FIELD_F_ARG_INDEX with a number as argument; without has_index -1 */
	uint8_t has_index;
	uint8_t type; /* that of the row; for evt.rawarg that of the parameter, FIELD_NONE if events
			 differ in it */
	char *why; /* owned: the message of sinsp_field_error */
};

/* An evaluation of fields: scratch memory, and what is kept from event to event. One per filter,
 * format or chisel; used by one thread. */
struct sinsp_eval {
	struct sinsp *insp;
	const struct sinsp_evt *evt;
	uint64_t serial; /* number of the event: counts sinsp_eval_set */
	enum sinsp_buf_fmt buf_fmt; /* text of evt.args, evt.info, evt.buffer */
	uint32_t buf_max; /* characters of a buffer printed as dots; 0: 80; UINT32_MAX: all */
	uint32_t buf_cut; /* bytes of a buffer; 0: all */
	uint8_t port_names; /* print the names of services in /etc/services for ports */
	uint8_t no_env; /* lists of arguments omit the environment of an exec */
	uint16_t columns; /* columns of the screen, for evt.latency.quantized; 0: none */
	struct time_text time;
	struct sinsp_scratch {
		struct sinsp_scratch_block *blocks, *cur;
		size_t used;
	} scratch;
	struct sinsp_text text; /* for getters that build text: sinsp_eval_keep */
	struct {
		uint64_t serial, ns, prev_ns;
	} delta; /* between events for which evt.deltatime was computed */
};

void sinsp_eval_init(struct sinsp_eval *e, struct sinsp *s);
void sinsp_eval_fini(struct sinsp_eval *e);

/* Sets the event; values of the previous one become invalid. */
static inline void sinsp_eval_set(struct sinsp_eval *e, const struct sinsp_evt *evt)
{
	e->evt = evt;
	e->serial++;
	e->scratch.cur = e->scratch.blocks;
	e->scratch.used = 0;
}

/* Allocates @n bytes until the next event; NULL: no memory. */
void *sinsp_eval_alloc(struct sinsp_eval *e, size_t n);
/* Moves the text in e->text to scratch memory, as the value *v. Returns 1 or -ENOMEM. */
int sinsp_eval_keep(struct sinsp_eval *e, struct sinsp_value *v);

/* Calls sinsp_field_fn, after setting the type and format of *v. */
static inline int sinsp_field_get(struct sinsp_eval *e, const struct sinsp_field *f,
				  struct sinsp_value *v, const struct sinsp_value **more)
{
	*v = (struct sinsp_value){.type = f->type, .fmt = f->row->fmt};
	*more = NULL;
	return f->row->get(e, f, v, more);
}

extern const struct sinsp_field_class *const sinsp_field_classes[]; /* NULL-terminated */

/*
 * Parses a field's name and argument, "evt.arg[0]", "evt.arg.fd", "proc.env['A B']", at the
 * beginning of @text. Returns the bytes read, or a negative errno: -ENOENT unknown, -EINVAL wrong
 * or missing argument, -ENOTSUP a field of other tools; then *why has the message (static or owned
 * by @f, without a newline) and *at the place of the error. Free @f with sinsp_field_fini, also
 * after an error.
 */
int sinsp_field_parse(struct sinsp_field *f, const char *text, const char **why, size_t *at);
void sinsp_field_fini(struct sinsp_field *f);
/* Sets the message of an error. Returns -EINVAL, or -ENOMEM. */
int sinsp_field_error(struct sinsp_field *f, const char **why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int sinsp_field_equal(const struct sinsp_field *a, const struct sinsp_field *b);

/* Returns the row of that name; NULL: there is none. */
const struct sinsp_field_row *sinsp_field_find(const char *name, size_t len);

/* Returns the name nearest to @name, for "did you mean"; NULL: none is near. */
const char *sinsp_field_nearest(const char *name, size_t len);

/* Appends a value as -p prints it. Returns 0 or -ENOMEM. */
int sinsp_value_text(struct sinsp_text *out, const struct sinsp_eval *e,
		     const struct sinsp_value *v);

#endif /* SINSP_FIELDS_FIELD_H */
