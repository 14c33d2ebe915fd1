/* SPDX-License-Identifier: Apache-2.0 */
#include "list_events.h"

#include "event/event_table.h"

static const char *const type_names[PT_MAX] = {
	[PT_NONE] = "NONE",
	[PT_INT8] = "INT8",
	[PT_INT16] = "INT16",
	[PT_INT32] = "INT32",
	[PT_INT64] = "INT64",
	[PT_UINT8] = "UINT8",
	[PT_UINT16] = "UINT16",
	[PT_UINT32] = "UINT32",
	[PT_UINT64] = "UINT64",
	[PT_CHARBUF] = "CHARBUF",
	[PT_BYTEBUF] = "BYTEBUF",
	[PT_ERRNO] = "ERRNO",
	[PT_SOCKADDR] = "SOCKADDR",
	[PT_SOCKTUPLE] = "SOCKTUPLE",
	[PT_FD] = "FD",
	[PT_PID] = "PID",
	[PT_FDLIST] = "FDLIST",
	[PT_FSPATH] = "FSPATH",
	[PT_SYSCALLID] = "SYSCALLID",
	[PT_SIGTYPE] = "SIGTYPE",
	[PT_RELTIME] = "RELTIME",
	[PT_ABSTIME] = "ABSTIME",
	[PT_PORT] = "PORT",
	[PT_L4PROTO] = "L4PROTO",
	[PT_SOCKFAMILY] = "SOCKFAMILY",
	[PT_BOOL] = "BOOL",
	[PT_IPV4ADDR] = "IPV4ADDR",
	[PT_DYN] = "DYNAMIC",
	[PT_FLAGS8] = "FLAGS8",
	[PT_FLAGS16] = "FLAGS16",
	[PT_FLAGS32] = "FLAGS32",
	[PT_UID] = "UID",
	[PT_GID] = "GID",
	[PT_DOUBLE] = "DOUBLE",
	[PT_SIGSET] = "SIGSET",
	[PT_CHARBUFARRAY] = "CHARBUFARRAY",
	[PT_CHARBUF_PAIR_ARRAY] = "CHARBUF_PAIR_ARRAY",
	[PT_IPV4NET] = "IPV4NET",
	[PT_IPV6ADDR] = "IPV6ADDR",
	[PT_IPV6NET] = "IPV6NET",
	[PT_IPADDR] = "IPADDR",
	[PT_IPNET] = "IPNET",
	[PT_MODE] = "MODE",
	[PT_FSRELPATH] = "FSRELPATH",
	[PT_ENUMFLAGS8] = "ENUMFLAGS8",
	[PT_ENUMFLAGS16] = "ENUMFLAGS16",
	[PT_ENUMFLAGS32] = "ENUMFLAGS32",
	[PT_FD32] = "FD32",
	[PT_PID32] = "PID32",
	[PT_SIGSET64] = "SIGSET64",
	[PT_FLAGS64] = "FLAGS64",
	[PT_ENUMFLAGS64] = "ENUMFLAGS64",
	[PT_WAITSTATUS] = "WAITSTATUS",
	[PT_CPUSET] = "CPUSET",
	[PT_GIDLIST] = "GIDLIST",
	[PT_LIST] = "LIST",
};

struct listing {
	FILE *f;
	uint32_t leave_out; /* enum evt_flags */
};

static char direction(const struct scap_event_info *info)
{
	return evt_is_enter(info->id) ? '>' : '<';
}

static void put_params(FILE *f, const struct scap_event_info *info)
{
	unsigned int i;

	for (i = 0; i < info->n_params; i++)
		fprintf(f, "%s%s %s", i ? ", " : "", type_names[info->params[i].type],
			info->params[i].name);
}

static void put_event(void *ctx, const struct scap_event_info *info)
{
	const struct listing *l = ctx;

	if (info->flags & l->leave_out)
		return;
	fprintf(l->f, "%c %s(", direction(info), info->name);
	put_params(l->f, info);
	fputs(")\n", l->f);
}

void list_events(FILE *f, int all)
{
	struct listing l = {f, EF_UNUSED | (all ? 0 : EF_OLD_VERSION)};

	scap_event_each(put_event, &l);
}

static void put_row(void *ctx, const struct scap_event_info *info)
{
	const struct listing *l = ctx;

	if (info->flags & l->leave_out)
		return;
	fprintf(l->f, "| %u | %c %s | ", info->id, direction(info), info->name);
	put_params(l->f, info);
	fprintf(l->f, " | %u |\n", info->n_2022);
}

void list_events_markdown(FILE *f)
{
	struct listing l = {f, EF_UNUSED | EF_OLD_VERSION};

	fputs("# Events\n"
	      "\n"
	      "Made by `saker -L --markdown` of driver/events.def; a test keeps it current.\n"
	      "\n"
	      "`>` is the enter of a call or an event without a call, `<` its exit. Ids and the "
	      "order of\n"
	      "parameters are on disk and shared with sysdig and Falco; ids from 16384 are saker's "
	      "own.\n"
	      "The last column says how many of the parameters sysdig 0.29.3 knows: those print "
	      "the\n"
	      "same there; what follows was appended later. Layouts that only old files have are "
	      "listed\n"
	      "by `saker -L -v`.\n"
	      "\n"
	      "| id | event | parameters | of 2022 |\n"
	      "|---:|---|---|---:|\n",
	      f);
	scap_event_each(put_row, &l);
}
