/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: files of /proc, in a folder made like it with one process. An input is a list of
 * files: a byte for which, two for the length, the content. Then lines of /proc/PID/maps.
 */
#include "testing/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "procfs/cpu_time.h"
#include "procfs/proc_scan.h"
#include "sampling/proc_maps.h"

enum { TID = 77 };

static const struct {
	const char *path;
	int is_link;
} files[] = {
	{"77/stat"},           {"77/status"},   {"77/cmdline"},         {"77/environ"},
	{"77/cgroup"},         {"77/limits"},   {"77/loginuid"},        {"77/task/77/stat"},
	{"77/task/77/status"}, {"77/fdinfo/0"}, {"77/fdinfo/1"},        {"77/net/tcp"},
	{"77/net/tcp6"},       {"77/net/udp"},  {"77/net/raw"},         {"77/net/netlink"},
	{"77/net/unix"},       {"77/cwd", 1},   {"77/root", 1},         {"77/exe", 1},
	{"77/fd/0", 1},        {"77/fd/1", 1},  {"77/ns/net", 1},       {"77/ns/pid", 1},
	{"77/task/77/comm"},   {"77/maps"},     {"sys/kernel/pid_max"},
};

enum { N_FILES = sizeof(files) / sizeof(*files) };

static int root_fd;

static void make_root(void)
{
	static const char *const folders[] = {"77",    "77/task",   "77/task/77",
					      "77/fd", "77/fdinfo", "77/net",
					      "77/ns", "sys",       "sys/kernel"};

	fuzz_make_root();
	root_fd = open(fuzz_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (mkdirat(root_fd, folders[i], 0700))
			abort();
}

static void put_file(size_t i, const char *p, size_t n)
{
	int fd;

	unlinkat(root_fd, files[i].path, 0);
	if (files[i].is_link) {
		char text[256];

		snprintf(text, sizeof(text), "%.*s", (int)n, p);
		if (symlinkat(*text ? text : "x", root_fd, files[i].path))
			abort();
		return;
	}
	fd = openat(root_fd, files[i].path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	close(fd);
}

static void fuzz_maps(void)
{
	struct proc_maps r = {.pid = TID};
	struct code_map map;
	char path[100];

	snprintf(path, sizeof(path), "%s/77/maps", fuzz_root);
	r.file = fopen(path, "re");
	if (!r.file)
		return;
	while (proc_maps_next(&r, &map))
		if (map.path_len != strlen(map.path))
			abort();
	proc_maps_close(&r);
}

static void scan(void)
{
	const struct scap_log log = {fuzz_log, NULL};
	const struct scap_scan_opts o = {.sz = sizeof(o), .proc = fuzz_root};
	struct scap_state_build *b = fuzz_must(scap_state_build_new());
	struct scap_cpu_time time;
	int err = scap_scan_machine(b, &log, &o);

	if (err && err != -ENOMEM)
		abort();
	scap_state_build_done(b);
	scap_state_build_free(b);
	b = fuzz_must(scap_state_build_new());
	scap_scan_thread(b, TID, &o);
	scap_state_build_free(b);
	scap_cpu_time_read(&time, root_fd, TID, TID);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct fuzz_in in = {data, sz};

	if (!root_fd)
		make_root();
	while (in.n > 3) {
		const size_t i = fuzz_u8(&in) % N_FILES, want = fuzz_u16(&in);
		size_t n;
		char *text = (char *)fuzz_bytes(&in, want, &n);

		put_file(i, text, n);
		free(text);
	}
	scan();
	fuzz_maps();
	for (size_t i = 0; i < N_FILES; i++)
		unlinkat(root_fd, files[i].path, 0);
	return 0;
}
