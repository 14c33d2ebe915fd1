/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the nice value of the selected process of this machine. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "top_cell.h"
#include "top_screen_state.h"

enum { NICE_LEAST = -20, NICE_MOST = 19, STAT_START = 20 /* values between the name and it */ };

uint64_t top_process_start(int pid, char name[64])
{
	char path[64], text[1024], *p, *begin;
	uint64_t start = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	begin = strchr(text, '(');
	p = strrchr(text, ')');
	if (!begin || !p)
		return 0;
	snprintf(name, 64, "%.*s", (int)(p - begin - 1), begin + 1);
	for (int i = 0; i < STAT_START && p; i++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p, NULL, 10);
	return start;
}

int top_selected_pid(struct top_screen *s)
{
	struct sinsp_text text = {0};
	long pid = 0;

	if (s->snap && view_table_n_rows(s->snap->table) &&
	    top_row_value(s, "proc.pid", strlen("proc.pid"), &text) > 0 && !top_put(&text, "%c", 0))
		pid = strtol(text.p, NULL, 10);
	free(text.p);
	return pid > 0 && pid <= INT32_MAX ? (int)pid : 0;
}

/* Linux has a nice value for each thread. Returns 0, or -1 with errno. */
static int set_all_threads(int pid, int value)
{
	char path[64];
	const struct dirent *entry;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while (!err && (entry = readdir(dir))) {
		const int tid = atoi(entry->d_name);

		if (tid > 0 && setpriority(PRIO_PROCESS, (id_t)tid, value) && errno != ESRCH)
			err = errno;
	}
	closedir(dir);
	errno = err;
	return err ? -1 : 0;
}

/* Another process may have the PID by now. */
static void set_nice(struct top_screen *s)
{
	char name[64] = "";

	if (top_process_start(s->nice.pid, name) != s->nice.start)
		top_complain(s, "process %d has ended", s->nice.pid);
	else if (set_all_threads(s->nice.pid, s->nice.value))
		top_complain(s, "cannot set the nice value of process %d: %s", s->nice.pid,
			     strerror(errno));
}

void top_renice(struct top_screen *s, int by)
{
	const int pid = top_selected_pid(s);
	char name[64] = "";
	int value;

	if (!pid) {
		top_complain(s, "the selected row is not one process");
		return;
	}
	if (s->o->read) {
		top_complain(s, "PID %d is that of a process in the file, not of this machine",
			     pid);
		return;
	}
	s->nice = (struct top_nice){.pid = pid, .start = top_process_start(pid, name)};
	errno = 0;
	value = getpriority(PRIO_PROCESS, (id_t)pid);
	if (!s->nice.start || errno) {
		top_complain(s, "process %d has ended", pid);
		return;
	}
	s->nice.value = value + by;
	if (s->nice.value < NICE_LEAST || s->nice.value > NICE_MOST)
		top_complain(s, "the nice value of process %d is %d already", pid, value);
	else
		top_ask_yes(s, set_nice, "Set the nice value of process %d (%s) from %d to %d?",
			    pid, name, value, s->nice.value);
}
