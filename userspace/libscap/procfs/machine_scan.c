// SPDX-License-Identifier: Apache-2.0
/* Users come from the files alone, not through NSS: a directory server may be slow or down, and its
 * modules do not belong in a process that runs as root. */
#include "procfs/machine_scan.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "procfs/proc_file.h"

int machine_scan_self(struct scap_state_build *b, int proc_fd, int64_t epoch_offset_ns)
{
	struct scap_machine m = {
		.n_cpus = sysconf(_SC_NPROCESSORS_ONLN),
		.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		.boot_ns = epoch_offset_ns,
	};
	struct proc_buf buf = {0};
	const char *p;

	gethostname(m.hostname, sizeof(m.hostname) - 1);
	if (!proc_read(&buf, proc_fd, "sys/kernel/pid_max", 64)) {
		p = buf.p;
		m.max_pid = proc_dec(&p);
	}
	proc_buf_fini(&buf);
	return scap_state_build_machine(b, &m);
}

/* Splits at ':'; missing fields are empty. */
static void split(char *line, const char *fields[], size_t n)
{
	size_t i;

	line[strcspn(line, "\n")] = 0;
	for (i = 0; i < n; i++) {
		char *end = line + strcspn(line, ":");

		fields[i] = line;
		line = *end ? end + 1 : end;
		*end = 0;
	}
}

/* Returns 1, or 0 for a line that is no entry ("+" of NIS, an empty line). */
static int parse_id(const char *text, uint32_t *id)
{
	const char *p = text;

	*id = proc_dec(&p);
	return p != text && !*p;
}

static int user_line(struct scap_state_build *b, char *line)
{
	const char *f[7]; /* name password uid gid gecos home shell */
	struct scap_user u;

	split(line, f, 7);
	if (!parse_id(f[2], &u.uid) || !parse_id(f[3], &u.gid))
		return 0;
	u.name = f[0];
	u.home = f[5];
	u.shell = f[6];
	return scap_state_build_user(b, &u);
}

static int group_line(struct scap_state_build *b, char *line)
{
	const char *f[3]; /* name password gid */
	struct scap_group g;

	split(line, f, 3);
	if (!parse_id(f[2], &g.gid))
		return 0;
	g.name = f[0];
	return scap_state_build_group(b, &g);
}

static int each_line(struct scap_state_build *b, const char *path,
		     int (*fn)(struct scap_state_build *b, char *line))
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	int err = 0;

	if (!f)
		return 0;
	while (!err && getline(&line, &cap, f) > 0)
		err = fn(b, line);
	free(line);
	fclose(f);
	return err;
}

int machine_scan_users(struct scap_state_build *b)
{
	int err = each_line(b, "/etc/passwd", user_line);

	return err ? err : each_line(b, "/etc/group", group_line);
}

/* Returns bits per second; 0: unknown, as for lo. "eth0:1" is an address of eth0. */
static uint64_t link_speed(const char *name)
{
	struct proc_buf buf = {0};
	uint64_t mbit = 0;
	char path[64];
	const char *p;

	snprintf(path, sizeof(path), "/sys/class/net/%.*s/speed", (int)strcspn(name, ":"), name);
	if (!proc_read(&buf, AT_FDCWD, path, 32)) {
		p = buf.p;
		mbit = *p == '-' ? 0 : proc_dec(&p);
	}
	proc_buf_fini(&buf);
	return mbit * 1000000;
}

static void copy_addr(uint8_t out[16], const struct sockaddr *sa)
{
	if (!sa)
		return;
	if (sa->sa_family == AF_INET)
		memcpy(out, &((const struct sockaddr_in *)sa)->sin_addr, 4);
	else if (sa->sa_family == AF_INET6)
		memcpy(out, &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
}

int machine_scan_ifaces(struct scap_state_build *b)
{
	struct ifaddrs *all, *a;
	int err = 0;

	if (getifaddrs(&all))
		return 0;
	for (a = all; a && !err; a = a->ifa_next) {
		struct scap_iface i = {.name = a->ifa_name};

		if (!a->ifa_addr ||
		    (a->ifa_addr->sa_family != AF_INET && a->ifa_addr->sa_family != AF_INET6))
			continue;
		i.ipv6 = a->ifa_addr->sa_family == AF_INET6;
		i.linkspeed = link_speed(a->ifa_name);
		copy_addr(i.addr, a->ifa_addr);
		copy_addr(i.netmask, a->ifa_netmask);
		copy_addr(i.bcast, a->ifa_broadaddr);
		err = scap_state_build_iface(b, &i);
	}
	freeifaddrs(all);
	return err;
}
