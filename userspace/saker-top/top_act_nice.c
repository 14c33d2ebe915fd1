/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the nice value of the selected process of this machine. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "top_screen_state.h"

enum { NICE_LEAST = -20, NICE_MOST = 19 };

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

static void set_nice(struct top_screen *s)
{
	const struct top_nice *n = &s->nice;

	if (!top_has_ended(s, &n->process) && set_all_threads(n->process.pid, n->value))
		top_complain(s, "cannot set the nice value of process %d: %s", n->process.pid,
			     strerror(errno));
}

void top_renice(struct top_screen *s, int by)
{
	const struct top_process p = top_row_process(s);
	int value;

	if (!p.pid) {
		top_complain(s, "the selected row is not one process");
		return;
	}
	if (s->o->read) {
		top_complain(s, "PID %d is that of a process in the file, not of this machine",
			     p.pid);
		return;
	}
	errno = 0;
	value = getpriority(PRIO_PROCESS, (id_t)p.pid);
	if (!p.start || errno) {
		top_complain(s, "process %d has ended", p.pid);
		return;
	}
	s->nice = (struct top_nice){.process = p, .value = value + by};
	if (s->nice.value < NICE_LEAST || s->nice.value > NICE_MOST)
		top_complain(s, "the nice value of process %d is %d already", p.pid, value);
	else
		top_ask_yes(s, set_nice, "Set the nice value of process %d (%s) from %d to %d?",
			    p.pid, p.name, value, s->nice.value);
}
