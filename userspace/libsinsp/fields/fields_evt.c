/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the event itself. */
#include "field_rows.h"
#include "value.h"

/* ---- numbers and times ---- */

static int get_num(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return a->evt->raw.num ? field_u(v, a->evt->raw.num) : 0;
}

static int get_cpu(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_i(v, (int16_t)a->evt->raw.cpu); /* as sysdig: 65535 is -1, no CPU */
}

static int get_rawtime(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_u(v, a->evt->raw.ts_ns);
}

static int get_latency(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	(void)f, (void)more;
	/* sysdig shows no latency and one not known alike; a saker source tells them apart. */
	if (a->evt->raw.flags & SCAP_EVT_F_FULL && !a->evt->latency_known)
		return 0;
	return field_u(v, a->evt->latency_ns);
}

/* ---- what it is ---- */

static int get_type(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_str(v, sinsp_evt_type(a->evt));
}

static int get_dir(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_mem(v, evt_is_enter(a->evt->info->id) ? ">" : "<", 1);
}

/* ---- the result ---- */

/* The number of the parameter with the result; -1: the event has none. */
static int result_at(const struct sinsp_evt *evt)
{
	const struct scap_event_info *info = evt->info;

	for (int i = 0; i < info->n_params; i++)
		if (!strcmp(info->params[i].name, "res"))
			return i;
	return info->flags & EF_CREATES_FD && !evt_is_enter(info->id) ? 0 : -1;
}

static int get_result(const struct sinsp_evt *evt, int64_t *res)
{
	const int at = result_at(evt);

	if (at < 0 || (unsigned int)at >= evt->params.n || evt->params.v[at].len != sizeof(*res))
		return 0;
	*res = (int64_t)get_u64(evt->params.v[at].p);
	return 1;
}

static int get_rawres(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	return get_result(a->evt, &v->i);
}

static int get_res(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const char *name;
	int64_t res;

	(void)f, (void)more;
	if (!get_result(a->evt, &res))
		return 0;
	if (res >= 0)
		return field_str(v, "SUCCESS");
	name = sinsp_errno_name(-(uint64_t)res);
	if (name)
		return field_str(v, name);
	if (sinsp_value_arg(&a->text, a->evt, (unsigned int)result_at(a->evt), SINSP_BUF_DOTS))
		return -ENOMEM;
	return sinsp_asker_keep(a, v);
}

/* clang-format off */
static const struct sinsp_field_row rows[] = {
	{"evt.num", FIELD_UINT, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_num,
	 "number of the event"},
	{"evt.cpu", FIELD_INT, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_cpu,
	 "number of the CPU that it happened on"},
	{"evt.rawtime", FIELD_TIME, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_rawtime,
	 "time, in nanoseconds since the epoch"},
	{"evt.latency", FIELD_DURATION, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_latency,
	 "time between the enter of a call and its exit, in nanoseconds"},
	{"evt.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_type,
	 "name of the event, such as open"},
	{"evt.dir", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_dir,
	 "> for an enter, < for an exit"},
	{"evt.res", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_SEARCH, 0, 0, get_res,
	 "result: SUCCESS, or the name of the error, such as ENOENT"},
	{"evt.rawres", FIELD_INT, FIELD_FMT_DEC, FIELD_COST_SEARCH, 0, 0, get_rawres,
	 "result as a number, such as -2"},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_evt = {
	.name = "evt",
	.title = "evt",
	.help = "The event itself",
	FIELD_ROWS(rows),
};
