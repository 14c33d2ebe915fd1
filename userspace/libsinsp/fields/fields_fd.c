/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the file that an event is about. */
#include "fd.h"
#include "field_rows.h"

static int get_num(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return a->evt->fdnum >= 0 ? field_i(v, a->evt->fdnum) : 0;
}

static int get_name(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)f, (void)more;
	return a->evt->fd ? field_str(v, a->evt->fd->name) : 0;
}

/* clang-format off */
static const struct sinsp_field_row rows[] = {
	{"fd.num", FIELD_INT, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_num,
	 "number of the file in its process"},
	{"fd.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, 0, get_name,
	 "name of the file: its path, or of a socket both its ends"},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_fd = {
	.name = "fd",
	.title = "fd",
	.help = "The file that the event is about",
	FIELD_ROWS(rows),
};
