/* SPDX-License-Identifier: Apache-2.0 */
#include "view_type.h"

#include <string.h>

static const struct view_type by_type[FIELD_TYPE_MAX] = {
	[FIELD_NONE] = {VIEW_TEXT, .name = "CHARBUF", .format = "NA"},
	[FIELD_INT] = {VIEW_INT, .name = "INT64", .format = "DEC"},
	[FIELD_UINT] = {VIEW_UINT, .name = "UINT64", .format = "DEC"},
	[FIELD_DOUBLE] = {VIEW_DOUBLE, .name = "DOUBLE", .format = "NA"},
	[FIELD_BOOL] = {VIEW_BOOL, .no_default = 1, .name = "BOOL", .format = "NA"},
	[FIELD_STR] = {VIEW_TEXT, .name = "CHARBUF", .format = "NA"},
	[FIELD_PATH] = {VIEW_TEXT, .name = "CHARBUF", .format = "NA"},
	[FIELD_BYTES] = {VIEW_TEXT, .name = "BYTEBUF", .format = "NA"},
	[FIELD_IP] = {VIEW_IP, .no_default = 1, .name = "IPADDR", .format = "NA"},
	[FIELD_NET] = {VIEW_IP, .no_default = 1, .name = "IPADDR", .format = "NA"},
	[FIELD_PORT] = {VIEW_PORT, .no_default = 1, .name = "PORT", .format = "DEC"},
	[FIELD_TIME] = {VIEW_UINT, .name = "ABSTIME", .format = "DEC"},
	[FIELD_DURATION] = {VIEW_DURATION, .name = "RELTIME", .format = "DEC"},
};

/* clang-format off */
/* Fields whose type, that of sysdig if it has them, differs from that of their row. A name that ends with a dot stands
 * for all that begin with it; the first row that fits counts. */
static const struct {
	const char *name;
	struct view_type type;
} rows[] = {
	{"evt.count", {VIEW_UINT, .name = "UINT32", .format = "DEC"}},
	{"evt.count.", {VIEW_UINT, .name = "UINT32", .format = "DEC"}},
	{"evt.failed", {VIEW_UINT, .name = "UINT32", .format = "DEC"}},
	{"evt.latency", {VIEW_DURATION, .is_zero = 1, .name = "RELTIME", .format = "DEC"}},
	{"evt.latency.quantized", {VIEW_UINT, .name = "UINT64", .format = "DEC"}},
	{"evt.res", {VIEW_TEXT, .name = "CHARBUF", .format = "DEC"}},
	{"evt.time", {VIEW_TEXT, .name = "CHARBUF", .format = "NA"}},
	{"evt.type.is", {VIEW_UINT, .no_default = 1, .name = "UINT32", .format = "NA"}},
	{"fd.l4proto", {VIEW_TEXT, .name = "CHARBUF", .format = "NA"}},
	{"fd.type", {VIEW_TEXT, .name = "CHARBUF", .format = "DEC"}},
	{"proc.fdusage", {VIEW_DOUBLE, .name = "DOUBLE", .format = "DEC"}},
	{"proc.nthreads", {VIEW_UINT, .name = "UINT32", .format = "DEC"}},
	{"proc.pid", {VIEW_INT, .is_id = 1, .no_default = 1, .name = "INT64", .format = "ID"}},
	{"proc.ppid", {VIEW_INT, .is_id = 1, .no_default = 1, .name = "INT64", .format = "ID"}},
	{"proc.vpid", {VIEW_INT, .is_id = 1, .no_default = 1, .name = "INT64", .format = "ID"}},
	{"request.failed", {VIEW_UINT, .name = "UINT32", .format = "DEC"}},
	{"request.peer_pid", {VIEW_INT, .is_id = 1, .name = "INT64", .format = "ID"}},
	{"span.id", {VIEW_INT, .is_id = 1, .no_default = 1, .name = "INT64", .format = "ID"}},
	{"span.time", {VIEW_TEXT, .name = "CHARBUF", .format = "NA"}},
	{"thread.slice.behind", {VIEW_INT, .is_id = 1, .name = "INT64", .format = "ID"}},
	{"thread.slice.child", {VIEW_INT, .is_id = 1, .name = "INT64", .format = "ID"}},
	{"thread.slice.owner", {VIEW_INT, .is_id = 1, .name = "INT64", .format = "ID"}},
	{"thread.slice.waker", {VIEW_INT, .is_id = 1, .name = "INT64", .format = "ID"}},
	{"thread.tid", {VIEW_INT, .is_id = 1, .no_default = 1, .name = "INT64", .format = "ID"}},
	{"thread.vtid", {VIEW_INT, .is_id = 1, .no_default = 1, .name = "INT64", .format = "ID"}},
};
/* clang-format on */

static int fits(const char *row, const char *name)
{
	const size_t len = strlen(row);

	return row[len - 1] == '.' ? strncmp(row, name, len) == 0 : strcmp(row, name) == 0;
}

struct view_type view_type_of(const struct sinsp_field *f)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (fits(rows[i].name, f->row->name))
			return rows[i].type;
	return by_type[f->type];
}
