/* SPDX-License-Identifier: Apache-2.0 */
#include "field_needs.h"

#include <string.h>

/* By what the name contains. */
static const struct {
	const char *part;
	unsigned int needs;
} parts[] = {
	{"fd", FIELD_NEEDS_FILES},        {"std", FIELD_NEEDS_FILES},
	{"path", FIELD_NEEDS_FILES},      {".vm", FIELD_NEEDS_COURSE},
	{".pf", FIELD_NEEDS_COURSE},      {"fdlimit", FIELD_NEEDS_COURSE},
	{"fdusage", FIELD_NEEDS_COURSE},  {"thread.cpu", FIELD_NEEDS_COURSE},
	{"exectime", FIELD_NEEDS_COURSE}, {"user.", FIELD_NEEDS_CALLS},
	{"group.", FIELD_NEEDS_CALLS},    {".cwd", FIELD_NEEDS_CALLS},
	{".sid", FIELD_NEEDS_CALLS},      {".sname", FIELD_NEEDS_CALLS},
	{"pgid", FIELD_NEEDS_CALLS},      {"sid_leader", FIELD_NEEDS_CALLS},
	{".cap_", FIELD_NEEDS_CALLS},
};

unsigned int sinsp_field_needs(const struct sinsp_field_row *row)
{
	unsigned int needs = 0;

	if (strstr(row->name, "exepath")) /* execs report it */
		return 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(row->name, parts[i].part))
			needs |= parts[i].needs;
	return needs;
}
