/* SPDX-License-Identifier: Apache-2.0 */
#include "top_views.h"

#include <stdlib.h>

#include "say.h"

/* The views of an older installation never replace built-in ones, as with chisels. */
static const char *const machine_dirs[] = {
	SAKER_CHISELS_DIR "/views",
	SAKER_CHISELS_DIR,
	"/usr/share/sysdig/chisels",
	NULL,
};

int top_views_load(struct top_views *v, const char *id, int json)
{
	const struct view_folders folders = {(const char *const *)v->user_dirs, machine_dirs};
	int err;

	*v = (struct top_views){0};
	sinsp_chisel_run_init(&v->run);
	v->run.builtin = view_files;
	v->run.log = say_log;
	v->run.json = (uint8_t)json;
	err = chisel_dirs(v->user_dirs, 1);
	return err ?: view_list_load(&v->list, &v->run, &folders, id);
}

void top_views_fini(struct top_views *v)
{
	view_list_fini(&v->list);
	sinsp_chisel_run_fini(&v->run);
	for (char **dir = v->user_dirs; *dir; dir++)
		free(*dir);
}
