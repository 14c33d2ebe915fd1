/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the process and thread that an event is of. */
#include "field_rows.h"
#include "thread.h"

static int get_name(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)f, (void)more;
	return a->evt->thread ? field_str(v, a->evt->thread->comm) : 0;
}

static int get_pid(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return a->evt->thread ? field_i(v, a->evt->thread->pid) : 0;
}

static int get_tid(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_i(v, (int64_t)a->evt->raw.hdr->tid);
}

/* clang-format off */
static const struct sinsp_field_row rows[] = {
	{"proc.pid", FIELD_INT, FIELD_FMT_DEC, FIELD_COST_STATE, 0, 0, get_pid,
	 "number of the process"},
	{"proc.name", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, 0, get_name,
	 "name of the process"},
	{"thread.tid", FIELD_INT, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_tid,
	 "number of the thread"},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_proc = {
	.name = "proc",
	.title = "process",
	.help = "The process and the thread that the event is of",
	FIELD_ROWS(rows),
};
