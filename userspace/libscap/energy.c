/* SPDX-License-Identifier: Apache-2.0 */
/* Zones of powercap: folders intel-rapl:0 (a package) and intel-rapl:0:1 (a part of it), also on
 * AMD. intel-rapl-mmio is another way to the same meters, and is not read. */
#include "energy.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ZONES_MAX = 64 };

struct meter {
	int fd; /* -1: cannot be opened */
	uint64_t max, last; /* last: of the last read */
	int has_last;
};

struct scap_energy {
	size_t n;
	struct meter meters[ZONES_MAX];
	struct scap_energy_zone zones[ZONES_MAX];
};

static const char stuck[] = "stuck: the meter has not moved yet";

/* Reads a line of a file. Returns 0 or -errno. */
static int read_line(char *to, size_t sz, const char *folder, const char *file)
{
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, to, sz - 1);
	if (n < 0) {
		const int err = -errno;

		if (fd >= 0)
			close(fd);
		return err;
	}
	close(fd);
	to[n] = 0;
	to[strcspn(to, "\n")] = 0;
	return 0;
}

/* Splits "package-0" into name and number. A part has the number of its parent. */
static void name_zone(struct scap_energy_zone *z, const char *folder)
{
	char text[32], parent[512];
	const char *dash;
	char *colon;

	if (read_line(text, sizeof(text), folder, "name"))
		return;
	dash = strchr(text, '-');
	snprintf(z->name, sizeof(z->name), "%.*s", dash ? (int)(dash - text) : 31, text);
	snprintf(parent, sizeof(parent), "%s", folder);
	colon = strrchr(parent, ':');
	if (!dash && colon && strchr(parent, ':') != colon) {
		*colon = 0;
		if (read_line(text, sizeof(text), parent, "name"))
			return;
		dash = strchr(text, '-');
	}
	snprintf(z->package, sizeof(z->package), "%.15s", dash ? dash + 1 : "");
}

static const char *why_not(int err)
{
	return err == -EACCES || err == -EPERM ? "no permission: run as root"
					       : "the file energy_uj cannot be read";
}

static void add_zone(struct scap_energy *e, const char *folder)
{
	struct scap_energy_zone *z = &e->zones[e->n];
	struct meter *m = &e->meters[e->n];
	char path[512], text[32];

	name_zone(z, folder);
	if (!*z->name)
		return;
	snprintf(path, sizeof(path), "%s/energy_uj", folder);
	m->fd = open(path, O_RDONLY | O_CLOEXEC);
	z->why = m->fd < 0 ? why_not(-errno) : stuck;
	if (!read_line(text, sizeof(text), folder, "max_energy_range_uj"))
		m->max = strtoull(text, NULL, 10);
	e->n++;
}

int scap_energy_open(struct scap_energy **out, const char *sysfs)
{
	struct scap_energy *e = calloc(1, sizeof(*e));
	const struct scap_energy_zone *zones;
	char pattern[512];
	glob_t found;

	if (!e)
		return -ENOMEM;
	snprintf(pattern, sizeof(pattern), "%s/class/powercap/intel-rapl:*", sysfs);
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc && e->n < ZONES_MAX; i++)
			add_zone(e, found.gl_pathv[i]);
		globfree(&found);
	}
	scap_energy_read(e, &zones);
	*out = e;
	return 0;
}

void scap_energy_close(struct scap_energy *e)
{
	for (size_t i = 0; e && i < e->n; i++)
		if (e->meters[i].fd >= 0)
			close(e->meters[i].fd);
	free(e);
}

uint64_t scap_energy_delta(uint64_t was, uint64_t now, uint64_t max)
{
	if (now >= was)
		return now - was;
	return max >= was ? max - was + now : 0;
}

static void read_zone(struct scap_energy_zone *z, struct meter *m)
{
	char text[32];
	const ssize_t n = m->fd < 0 ? -1 : pread(m->fd, text, sizeof(text) - 1, 0);
	uint64_t now, delta;
	char *end;

	if (m->fd < 0)
		return;
	text[n > 0 ? n : 0] = 0;
	now = strtoull(text, &end, 10);
	if (n <= 0 || end == text) {
		z->why = why_not(n < 0 ? -errno : 0);
		return;
	}
	delta = m->has_last ? scap_energy_delta(m->last, now, m->max) : 0;
	z->uj += delta;
	if (z->uj)
		z->why = NULL;
	else
		z->why = stuck;
	m->last = now;
	m->has_last = 1;
}

size_t scap_energy_read(struct scap_energy *e, const struct scap_energy_zone **zones)
{
	for (size_t i = 0; i < e->n; i++)
		read_zone(&e->zones[i], &e->meters[i]);
	*zones = e->zones;
	return e->n;
}
