/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of the user and group of an event's thread. Names are those known when the source began,
 * or reported by events since; without a name the field has no value. UINT32_MAX is an unknown ID.
 */
#include "field_rows.h"
#include "process.h"
#include "state/inspector.h"

/* Variants of rows: facts of a user. */
enum { USER_NAME, USER_HOME, USER_SHELL };

static int user_text(struct sinsp_eval *e, struct sinsp_value *v, uint32_t uid,
		     unsigned int variant)
{
	const struct sinsp_name *user =
		sinsp_thread_user(e->insp, e->evt->thread, SINSP_NAME_USER, uid);

	if (!user)
		return 0;
	return field_str(v, variant == USER_NAME   ? user->name
			    : variant == USER_HOME ? user->home
						   : user->shell);
}

static int get_uid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)f, (void)more;
	return t && (t->uid != UINT32_MAX || field_has_default(e)) ? field_u(v, t->uid) : 0;
}

static int get_user(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)more;
	return t ? user_text(e, v, t->uid, f->row->variant) : 0;
}

/* Gets the UID of the login; -1: none. */
static int get_loginuid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)f, (void)more;
	return t && (t->known || field_has_default(e)) ? field_i(v, (int32_t)t->proc->loginuid) : 0;
}

static int get_login(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)more;
	return t ? user_text(e, v, t->proc->loginuid, f->row->variant) : 0;
}

static int get_gid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)f, (void)more;
	return t && (t->gid != UINT32_MAX || field_has_default(e)) ? field_u(v, t->gid) : 0;
}

static int get_group(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)f, (void)more;
	return t ? field_str(v, sinsp_group_name(e->insp, t, t->gid)) : 0;
}

/* clang-format off */
#define ROW(name, type, cost, variant, get, help)                                                  \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_##cost, 0, variant, get, help, NULL,        \
	 .needs = FIELD_NEEDS_CALLS}

static const struct sinsp_field_row user_rows[] = {
	ROW("user.uid", UINT, STATE, 0, get_uid, "effective user ID (UID) of the thread"),
	ROW("user.name", STR, SEARCH, USER_NAME, get_user, "name of the user user.uid"),
	ROW("user.homedir", PATH, SEARCH, USER_HOME, get_user,
	    "home directory of the user user.uid"),
	ROW("user.shell", PATH, SEARCH, USER_SHELL, get_user, "login shell of the user user.uid"),
	ROW("user.loginuid", INT, STATE, 0, get_loginuid,
	    "user ID of the login that the process descends from; -1 for daemons"),
	ROW("user.loginname", STR, SEARCH, USER_NAME, get_login,
	    "name of the user user.loginuid"),
};

static const struct sinsp_field_row group_rows[] = {
	ROW("group.gid", UINT, STATE, 0, get_gid, "effective group ID (GID) of the thread"),
	ROW("group.name", STR, SEARCH, 0, get_group, "name of the group group.gid"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_user = {
	.name = "user",
	.title = "user",
	.help = "The user of the thread",
	FIELD_ROWS(user_rows),
};

const struct sinsp_field_class sinsp_fields_group = {
	.name = "group",
	.title = "group",
	.help = "The group of the thread",
	FIELD_ROWS(group_rows),
};
