/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an event's type, category and result, and of how it opened a file. */
#include <ctype.h>
#include <stdlib.h>

#include "errno_signal_names.h"
#include "evt_category.h"
#include "evt_param.h"
#include "fd.h"
#include "field_rows.h"
#include "info.h"
#include "text.h"
#include "thread.h"

/* ---- type ---- */

static int get_type(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_str(v, sinsp_evt_type(e->evt));
}

struct name_search {
	const char *name;
	int found;
};

static void compare_name(void *ctx, const char *name)
{
	struct name_search *s = ctx;

	s->found |= !strcmp(s->name, name);
}

static void compare_event(void *ctx, const struct scap_event_info *info)
{
	compare_name(ctx, info->name);
}

/* Returns the event of evt.type.is.3, which views of sysdig use. */
static const struct scap_event_info *numbered_event(const char *arg)
{
	char *end;
	const unsigned long id = strtoul(arg, &end, 10);
	const struct scap_event_info *info;

	if (!isdigit((unsigned char)*arg) || *end || id > UINT16_MAX)
		return NULL;
	info = scap_event_info((unsigned int)id);
	return info && !(info->flags & EF_UNUSED) ? info : NULL;
}

static int check_type_is(struct sinsp_field *f, const char **why)
{
	struct name_search s = {.name = f->arg};
	const struct scap_event_info *numbered = numbered_event(f->arg);

	f->index = numbered ? numbered->id : -1;
	if (numbered)
		return 0;
	scap_calls_each_name(compare_name, &s);
	scap_event_each(compare_event, &s);
	if (s.found)
		return 0;
	return sinsp_field_error(f, why, "unknown event %s; see saker -L", f->arg);
}

static int get_type_is(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	(void)more;
	if (f->index >= 0)
		return field_u(v, e->evt->raw.type == f->index);
	return field_u(v, !strcmp(sinsp_evt_type(e->evt), f->arg));
}

static int get_dir(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_mem(v, evt_is_enter(e->evt->info->id) ? ">" : "<", 1);
}

/* Returns whether it is a call, not an event of the machine or the capture. */
static int is_call(const struct sinsp_evt *evt)
{
	const struct scap_event_info *exit;

	if (evt->info->category & (EC_INTERNAL | EC_SCHEDULER) ||
	    evt->info->flags & EF_SKIPPARSERESET)
		return 0;
	exit = scap_event_info(evt->info->id | 1);
	return exit && !(exit->flags & EF_UNUSED);
}

static int get_syscall_type(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	return is_call(e->evt) ? field_str(v, sinsp_evt_type(e->evt)) : 0;
}

static int get_syscall_nr(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	(void)f, (void)more;
	return e->evt->raw.nr == REC_NR_NONE ? 0 : field_u(v, e->evt->raw.nr);
}

/* ---- category and flags ---- */

static int get_category(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_str(v, evt_category_name(e->evt));
}

enum { READS = EF_READS_FROM_FD, WRITES = EF_WRITES_TO_FD, WAITS = EF_WAITS };

static int get_flag(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_u(v, !!(e->evt->info->flags & f->row->variant));
}

static int get_is_blocked(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	const uint32_t flags = e->evt->raw.flags;

	(void)f, (void)more;
	if (!evt_is_enter(e->evt->raw.type) || !(flags & (SCAP_EVT_F_BLOCKED | SCAP_EVT_F_HIDDEN)))
		return 0;
	return field_u(v, !!(flags & SCAP_EVT_F_BLOCKED));
}

static int get_began_before(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	if (!evt_is_enter(e->evt->raw.type))
		return 0;
	return field_u(v, !!(e->evt->raw.flags & SCAP_EVT_F_BEFORE));
}

static int get_io_dir(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	if (e->evt->info->flags & READS)
		return field_str(v, "read");
	return e->evt->info->flags & WRITES ? field_str(v, "write") : 0;
}

static int get_is_syslog(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = e->evt;

	(void)f, (void)more;
	return field_u(v,
		       evt->info->flags & WRITES && evt->fd && strstr(evt->fd->name, "/dev/log"));
}

/* ---- result ---- */

static int get_rawres(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	return sinsp_evt_result(e->evt, &v->i);
}

static int get_res(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const char *name;
	int64_t res;
	char *p;

	(void)f, (void)more;
	if (!sinsp_evt_result(e->evt, &res))
		return 0;
	name = res >= 0 ? "SUCCESS" : sinsp_errno_name(-(uint64_t)res);
	if (name)
		return field_str(v, name);
	p = sinsp_eval_alloc(e, TEXT_NUM_MAX);
	return p ? field_mem(v, p, (size_t)(put_i64(p, res) - p)) : -ENOMEM;
}

static int get_failed(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_u(v, sinsp_evt_failed(e->evt));
}

/* ---- opens ---- */

enum { OPEN_READ, OPEN_WRITE, OPEN_CREATE, OPEN_EXEC };
enum { O_READ_BIT = 1, O_WRITE_BIT = 2, O_MAKES_BITS = 1 << 2 | 1 << 13, O_CREATED_BIT = 1 << 14 };
enum { EXEC_BITS = 0111 };

static int has_open_flags(unsigned int id)
{
	return id == EVT_OPEN_X || id == EVT_OPENAT_102_E || id == EVT_OPENAT_X ||
	       id == EVT_OPENAT2_X || id == EVT_OPEN_BY_HANDLE_AT_X;
}

/* The mode counts only if a file may be created; creat has no flags. */
static int get_open(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	static const uint32_t bits[] = {O_READ_BIT, O_WRITE_BIT, O_CREATED_BIT};
	const struct sinsp_evt *evt = e->evt;
	const int makes = evt->info->id == EVT_CREAT_X;
	uint32_t flags;

	(void)more;
	if (!has_open_flags(evt->info->id) && !makes)
		return field_u(v, 0);
	flags = evt_param_u32(evt, "flags");
	if (f->row->variant != OPEN_EXEC)
		return field_u(v, !!(flags & bits[f->row->variant]));
	return field_u(v,
		       (makes || flags & O_MAKES_BITS) && evt_param_u32(evt, "mode") & EXEC_BITS);
}

#define DOCKERS                                                                                    \
	FIELD_F_UNSUPPORTED | FIELD_F_HIDDEN, 0, NULL, "no capture of today has docker's events"

static const char *const dirs[] = {">", "<", NULL};
static const char *const io_dirs[] = {"read", "write", NULL};

/* clang-format off */
/* Values of evt_category_name. */
static const char *const categories[] = {
	"other", "file", "net", "IPC", "ipc", "memory", "process", "sleep", "system", "signal",
	"user", "time", "processing", "wait", "scheduler", "internal", "unknown", NULL
};
/* clang-format on */

/* clang-format off */
static const struct sinsp_field_row rows[] = {
	{"evt.dir", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_dir,
	 "> for an enter event, < for an exit event", .values = dirs},
	{"evt.type", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_type,
	 "name of the event, such as open"},
	{"evt.type.is", FIELD_UINT, 0, FIELD_COST_HEADER,
	 FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY | FIELD_F_BY_TYPE, 0, get_type_is,
	 "1 for events of one type, 0 for others, as in evt.type.is.open", check_type_is},
	{"syscall.type", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_syscall_type,
	 "evt.type of system calls; no value for other events, such as switch"},
	{"syscall.nr", FIELD_UINT, 0, FIELD_COST_HEADER, 0, 0, get_syscall_nr,
	 "number of the system call on x86_64, or for 32-bit programs on i386; captures of saker "
	 "only"},
	{"evt.category", FIELD_STR, 0, FIELD_COST_STATE, 0, 0, get_category,
	 "category: file, net, memory, process, ...; for reads and writes, that of their file",
	 .values = categories},
	{"evt.res", FIELD_STR, 0, FIELD_COST_SEARCH, 0, 0, get_res,
	 "result: SUCCESS or the name of the error, such as ENOENT"},
	{"evt.rawres", FIELD_INT, 0, FIELD_COST_SEARCH, 0, 0, get_rawres,
	 "result as a number, such as -2"},
	{"evt.failed", FIELD_BOOL, 0, FIELD_COST_SEARCH, 0, 0, get_failed,
	 "true if the result is an error"},
	{"evt.is_io", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, READS | WRITES, get_flag,
	 "true if the event reads or writes data, as read and sendto do"},
	{"evt.is_io_read", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, READS, get_flag,
	 "true if the event reads data"},
	{"evt.is_io_write", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, WRITES, get_flag,
	 "true if the event writes data"},
	{"evt.io_dir", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_io_dir,
	 "read or write, for events that move data", .values = io_dirs},
	{"evt.is_wait", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, WAITS, get_flag,
	 "true for calls that may block, such as poll"},
	{"evt.is_blocked", FIELD_BOOL, 0, FIELD_COST_HEADER, 0, 0, get_is_blocked,
	 "true if the thread slept during the call; enter events of captures of saker only"},
	{"evt.began_before", FIELD_BOOL, 0, FIELD_COST_HEADER, 0, 0, get_began_before,
	 "true if the call was in progress when the capture started; enter events only, which "
	 "then have the start of the capture as their time"},
	{"evt.is_syslog", FIELD_BOOL, 0, FIELD_COST_STATE, 0, 0, get_is_syslog,
	 "true if the event writes to /dev/log"},
	{"evt.is_open_read", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_READ,
	 get_open, "true if a file was opened for reading"},
	{"evt.is_open_write", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_WRITE,
	 get_open, "true if a file was opened for writing"},
	{"evt.is_open_create", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_CREATE,
	 get_open, "true if the open created the file"},
	{"evt.is_open_exec", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_EXEC,
	 get_open, "true if an open that can create the file has a mode with execute permission"},
	{"evt.infra.docker.name", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
	{"evt.infra.docker.container.id", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
	{"evt.infra.docker.container.name", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
	{"evt.infra.docker.container.image", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_call = {
	.name = "evt",
	.title = "evt (what happened)",
	.help = "What an event is, and its result",
	FIELD_ROWS(rows),
};
