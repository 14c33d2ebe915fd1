/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that chisels sum: bytes that a call moved, events and errors that it counts. */
#include "evt_category.h"
#include "evt_param.h"
#include "fd.h"
#include "field_rows.h"
#include "info.h"
#include "thread.h"

enum { LEN_IN = 1, LEN_OUT = 2, LEN_FILE = 4, LEN_NET = 8 };

static int get_buflen(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = e->evt;
	const unsigned int variant = f->row->variant;
	int64_t res;

	(void)more;
	if (!evt->fd || !evt_is_io(evt) || !sinsp_evt_result(evt, &res) || res < 0)
		return 0;
	if (evt->info->id == EVT_SENDMMSG_X || evt->info->id == EVT_RECVMMSG_X)
		res = evt_param_u32(evt, "size"); /* the result is a number of messages */
	if ((variant & LEN_IN && evt->info->category != EC_IO_READ) ||
	    (variant & LEN_OUT && evt->info->category != EC_IO_WRITE) ||
	    (variant & LEN_FILE &&
	     (evt_fd_kind(evt) != FD_FILE || evt->fd->type == SCAP_FD_DIRECTORY)) ||
	    (variant & LEN_NET && evt_fd_kind(evt) != FD_NET))
		return 0;
	return field_u(v, (uint64_t)res);
}

static int count(struct sinsp_value *v, int is_counted)
{
	return is_counted ? field_u(v, 1) : 0;
}

static int get_count(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	(void)e, (void)f, (void)more;
	return count(v, 1);
}

static int get_count_exit(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	(void)f, (void)more;
	return count(v, !evt_is_enter(e->evt->info->id));
}

static int ends_open(unsigned int id)
{
	return id == EVT_OPEN_X || id == EVT_CREAT_X || id == EVT_OPENAT_102_X ||
	       id == EVT_OPENAT_X || id == EVT_OPENAT2_X || id == EVT_OPEN_BY_HANDLE_AT_X;
}

static int get_count_open(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	(void)f, (void)more;
	return count(v, ends_open(e->evt->info->id) && !sinsp_evt_failed(e->evt));
}

static int get_count_procinfo(struct sinsp_eval *e, const struct sinsp_field *f,
			      struct sinsp_value *v, const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;
	const unsigned int id = e->evt->info->id;
	const int main_only = f->row->variant;

	(void)more;
	/* In a live view the end of an interval is the only event that each thread has. */
	return count(v, (id == EVT_PROCINFO_E || id == EVT_SYSDIGEVENT_E) &&
				(!main_only || (t && t->tid == t->pid)));
}

enum { ERROR_ANY, ERROR_FILE, ERROR_NET, ERROR_MEMORY, ERROR_OTHER };

/* Returns the kind of a failure: that of the file, or without one that of the call. */
static unsigned int kind_of_error(const struct sinsp_evt *evt)
{
	switch (evt_fd_kind(evt)) {
	case FD_FILE:
		return ERROR_FILE;
	case FD_NET:
		return ERROR_NET;
	case FD_NONE:
		break;
	default:
		return evt->fd->type == SCAP_FD_UNIX_SOCK ? ERROR_NET : ERROR_OTHER;
	}
	if (ends_open(evt->info->id))
		return ERROR_FILE;
	switch (evt->info->id) {
	case EVT_ACCEPT_26_X:
	case EVT_ACCEPT_56_X:
	case EVT_ACCEPT_X:
	case EVT_ACCEPT4_248_X:
	case EVT_ACCEPT4_X:
	case EVT_CONNECT_X:
	case EVT_BIND_X:
		return ERROR_NET;
	default:
		return evt_category(evt) == EC_MEMORY ? ERROR_MEMORY : ERROR_OTHER;
	}
}

static int get_count_error(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more)
{
	const unsigned int variant = f->row->variant;

	(void)more;
	return count(v, sinsp_evt_failed(e->evt) &&
				(variant == ERROR_ANY || variant == kind_of_error(e->evt)));
}

/* clang-format off */
static const struct sinsp_field_row rows[] = {
	{"evt.buflen", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, 0, get_buflen,
	 "bytes read or written; of fcntl, dup and their like the result, as in sysdig: evt.io.bytes "
	 "has only bytes"},
	{"evt.buflen.in", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_IN, get_buflen,
	 "bytes read"},
	{"evt.buflen.out", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_OUT, get_buflen,
	 "bytes written"},
	{"evt.buflen.file", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_FILE, get_buflen,
	 "bytes read from or written to files"},
	{"evt.buflen.file.in", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_FILE | LEN_IN,
	 get_buflen, "bytes read from files"},
	{"evt.buflen.file.out", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_FILE | LEN_OUT,
	 get_buflen, "bytes written to files"},
	{"evt.buflen.net", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_NET, get_buflen,
	 "bytes read from or written to the network"},
	{"evt.buflen.net.in", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_NET | LEN_IN,
	 get_buflen, "bytes read from the network"},
	{"evt.buflen.net.out", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_NET | LEN_OUT,
	 get_buflen, "bytes written to the network"},
	{"evt.count", FIELD_UINT, 0, FIELD_COST_HEADER, 0, 0, get_count,
	 "always 1, for chisels that count events"},
	{"evt.count.error", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_ANY, get_count_error,
	 "1 for failed events; no value for others"},
	{"evt.count.error.file", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_FILE, get_count_error,
	 "1 for failed events about files"},
	{"evt.count.error.net", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_NET, get_count_error,
	 "1 for failed events about the network"},
	{"evt.count.error.memory", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_MEMORY, get_count_error,
	 "1 for failed events about memory"},
	{"evt.count.error.other", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_OTHER, get_count_error,
	 "1 for other failed events"},
	{"evt.count.exit", FIELD_UINT, 0, FIELD_COST_HEADER, 0, 0, get_count_exit,
	 "1 for exit events"},
	{"evt.count.open", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, 0, get_count_open,
	 "1 if a file was opened, by any call"},
	{"evt.count.procinfo", FIELD_UINT, 0, FIELD_COST_HEADER, FIELD_F_HIDDEN, 1, get_count_procinfo,
	 "1 for procinfo events of processes, and for each at the end of an interval of a view"},
	{"evt.count.threadinfo", FIELD_UINT, 0, FIELD_COST_HEADER, FIELD_F_HIDDEN, 0, get_count_procinfo,
	 "1 for procinfo events, and for each thread at the end of an interval of a view"},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_count = {
	.name = "evt",
	.title = "evt (counts)",
	.help = "Numbers that chisels sum: bytes, events, errors",
	FIELD_ROWS(rows),
};
