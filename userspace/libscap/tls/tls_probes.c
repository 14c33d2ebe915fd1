/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/tls_probes.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define PMU "/sys/bus/event_source/devices/uprobe/"

#define CHANGES_MAX 16 /* then a file has no probes any more */
#define FD_PATH_SZ 32

struct probed_file {
	dev_t dev;
	ino_t ino;
	int is_other; /* not of root */
	size_t n_taken; /* links that are counted */
	int watch; /* of changes; -1: none */
	unsigned int n_changes;
	int is_changed; /* it was written, and has no probes */
	int links[TLS_PROBES_MAX];
	size_t n_links;
	int err; /* of the first probe that was refused */
	char *path;
};

/* What is counted twice: for all files, and for others: not of root, so that no user can take all
 * places. */
struct taken {
	size_t n_files, n_links;
};

struct tls_probes {
	int programs[TLS_PROGRAM_MAX];
	int multi; /* one link for all probes of a program */
	uint32_t pmu, return_bit; /* without multi */
	struct probed_file files[TLS_FILES_MAX];
	struct taken all, others;
	int changes; /* an inotify; -1: none */
	uint64_t n_excess; /* files beyond the limit */
	char *old_go, *odd_go; /* the first program whose crypto/tls is too old, or not known */
};

/* Reads a number behind @prefix from a file of the PMU. */
static int read_pmu(const char *name, const char *format, uint32_t *v)
{
	FILE *f = fopen(name, "re");
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, format, v);
	fclose(f);
	return n == 1 ? 0 : -EBADMSG;
}

static int find_pmu(struct tls_probes *ps)
{
	int err = read_pmu(PMU "type", "%u", &ps->pmu)
			  ?: read_pmu(PMU "format/retprobe", "config:%u", &ps->return_bit);

	return !err && ps->return_bit > 63 ? -EBADMSG : err;
}

int tls_probes_new(struct tls_probes **out, const int programs[TLS_PROGRAM_MAX], int multi)
{
	struct tls_probes *ps = calloc(1, sizeof(*ps));
	int err;

	if (!ps)
		return -ENOMEM;
	memcpy(ps->programs, programs, sizeof(ps->programs));
	ps->multi = multi;
	err = multi ? 0 : find_pmu(ps);
	if (err) {
		free(ps);
		return err;
	}
	ps->changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	*out = ps;
	return 0;
}

static void detach(struct probed_file *f)
{
	for (size_t i = 0; i < f->n_links; i++)
		close(f->links[i]);
	f->n_links = 0;
}

void tls_probes_free(struct tls_probes *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < ps->all.n_files; i++) {
		detach(&ps->files[i]);
		free(ps->files[i].path);
	}
	if (ps->changes >= 0)
		close(ps->changes);
	free(ps->old_go);
	free(ps->odd_go);
	free(ps);
}

static uint64_t cookie_of(const struct tls_probe *p)
{
	return (uint64_t)p->distance << TLS_COOKIE_BITS | p->function;
}

/* ---- one link for all probes of a program (Linux 6.6): the kernel detaches them at once ---- */

#define ATTACH_UPROBE_MULTI 48 /* enum bpf_attach_type */
#define MULTI_RETURN 1

/* The part of union bpf_attr that BPF_LINK_CREATE reads for such a link. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, multi_flags, pid, unused;
};

static int attach_multi(const struct tls_probes *ps, struct probed_file *f, const char *path,
			const struct tls_probe *v, size_t n, enum tls_program program)
{
	uint64_t offsets[TLS_PROBES_MAX], cookies[TLS_PROBES_MAX];
	struct multi_attr attr = {
		.prog_fd = (uint32_t)ps->programs[program],
		.attach_type = ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.multi_flags = program == TLS_AT_RETURN ? MULTI_RETURN : 0,
	};
	int link;

	for (size_t i = 0; i < n; i++) {
		if (v[i].program != program)
			continue;
		offsets[attr.n] = v[i].offset;
		cookies[attr.n++] = cookie_of(&v[i]);
	}
	if (!attr.n)
		return 0;
	link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	if (link < 0)
		return -errno;
	f->links[f->n_links++] = link;
	return 0;
}

/* ---- a link for each probe ---- */

static int attach_one(const struct tls_probes *ps, struct probed_file *f, const char *path,
		      const struct tls_probe *p)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie_of(p));
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = ps->pmu,
		.config = p->program == TLS_AT_RETURN ? 1ull << ps->return_bit : 0,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = p->offset,
	};
	int event, link;

	event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	link = bpf_link_create(ps->programs[p->program], event, BPF_PERF_EVENT, &opts);
	if (link < 0)
		link = -errno;
	else
		f->links[f->n_links++] = link;
	close(event); /* the link keeps it */
	return link < 0 ? link : 0;
}

static int attach_each(const struct tls_probes *ps, struct probed_file *f, const char *path,
		       const struct tls_probe *v, size_t n, enum tls_program program)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (v[i].program == program)
			err = attach_one(ps, f, path, &v[i]);
	return err;
}

static void path_of_fd(char path[FD_PATH_SZ], int fd)
{
	snprintf(path, FD_PATH_SZ, "/proc/self/fd/%d", fd);
}

/* Attaches to the file open on @fd, whatever its name is by now. Returns first: a call whose entry
 * is seen has its return. */
static int attach_all(const struct tls_probes *ps, struct probed_file *f, int fd,
		      const struct tls_probe *v, size_t n)
{
	char path[FD_PATH_SZ];
	int err = 0;

	path_of_fd(path, fd);
	for (int program = TLS_PROGRAM_MAX - 1; program >= 0 && !err; program--)
		err = ps->multi ? attach_multi(ps, f, path, v, n, (enum tls_program)program)
				: attach_each(ps, f, path, v, n, (enum tls_program)program);
	return err;
}

/* ---- files that are written: the kernel puts breakpoints where they were in the old code, and
 * executes its instructions there ---- */

/* Watches the file until it is written. Returns 0, or -EAGAIN: that was since @st. Without a watch
 * it has probes nevertheless. */
static int watch_writes(const struct tls_probes *ps, struct probed_file *f, int fd,
			const struct stat *st)
{
	char path[FD_PATH_SZ];
	struct stat now;

	path_of_fd(path, fd);
	f->watch = inotify_add_watch(ps->changes, path, IN_MODIFY | IN_ONESHOT);
	return !fstat(fd, &now) && now.st_size == st->st_size &&
			       now.st_mtim.tv_sec == st->st_mtim.tv_sec &&
			       now.st_mtim.tv_nsec == st->st_mtim.tv_nsec
		       ? 0
		       : -EAGAIN;
}

static void *close_link(void *link)
{
	close((int)(intptr_t)link);
	return NULL;
}

/* The kernel removes a breakpoint at the begin of the call that closes its last link, and then
 * waits for programs, up to 0.1 s: so all are closed at once. */
static void detach_at_once(struct probed_file *f)
{
	pthread_t threads[TLS_PROBES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < f->n_links; i++) {
		void *const link = (void *)(intptr_t)f->links[i];

		if (!pthread_create(&threads[n], NULL, close_link, link))
			n++;
		else
			close_link(link);
	}
	while (n > 0)
		pthread_join(threads[--n], NULL);
	f->n_links = 0;
}

static void change(struct probed_file *f)
{
	detach_at_once(f);
	f->watch = -1;
	f->is_changed = 1;
	if (++f->n_changes == CHANGES_MAX)
		f->err = -ETXTBSY;
}

/* Returns whether the event is of a file. */
static int see_change(struct tls_probes *ps, const struct inotify_event *e)
{
	for (size_t i = 0; e->mask & IN_MODIFY && i < ps->all.n_files; i++) {
		if (ps->files[i].watch != e->wd)
			continue;
		change(&ps->files[i]);
		return 1;
	}
	return 0;
}

int tls_probes_fd(const struct tls_probes *ps)
{
	return ps->changes;
}

int tls_probes_see_changes(struct tls_probes *ps)
{
	uint8_t buf[4096];
	int any = 0;
	ssize_t n;

	while ((n = read(ps->changes, buf, sizeof(buf))) > 0) {
		struct inotify_event e;

		for (size_t at = 0; at + sizeof(e) <= (size_t)n; at += sizeof(e) + e.len) {
			memcpy(&e, buf + at, sizeof(e));
			any |= see_change(ps, &e);
		}
	}
	return any;
}

/* ---- files ---- */

/* Returns the file; NULL: it has no place. */
static struct probed_file *find_file(struct tls_probes *ps, const struct stat *st)
{
	for (size_t i = 0; i < ps->all.n_files; i++)
		if (ps->files[i].dev == st->st_dev && ps->files[i].ino == st->st_ino)
			return &ps->files[i];
	return NULL;
}

/* Counts a file that has its place already, or needs one, with @n_links instead of the links that
 * it has. Returns whether that is possible. */
static int take_place(struct tls_probes *ps, const struct probed_file *f, int is_other,
		      size_t n_links)
{
	const size_t n_files = f ? 0 : 1, freed = f ? f->n_taken : 0;
	const struct taken all = {ps->all.n_files + n_files, ps->all.n_links + n_links - freed};
	const struct taken others = {ps->others.n_files + n_files,
				     ps->others.n_links + n_links - freed};

	if (all.n_files > TLS_FILES_MAX || all.n_links > TLS_LINKS_MAX ||
	    (is_other && (others.n_files > TLS_OTHERS_MAX || others.n_links > TLS_LINKS_MAX / 2)))
		return 0;
	ps->all = all;
	if (is_other)
		ps->others = others;
	return 1;
}

/* Finds the probes of a file. Returns their number. */
static size_t find_probes(struct tls_probes *ps, int fd, const char *path,
			  struct tls_probe v[TLS_PROBES_MAX])
{
	struct elf_file *elf;
	int n;

	if (elf_file_open(&elf, fd))
		return 0;
	n = tls_library_probes(elf, v);
	elf_file_close(elf);
	if (n == -EOPNOTSUPP && !ps->old_go)
		ps->old_go = strdup(path);
	if (n < 0 && n != -EOPNOTSUPP && !ps->odd_go)
		ps->odd_go = strdup(path);
	return n < 0 ? 0 : (size_t)n;
}

/* Returns the place of a file that needs @n probes; NULL: there is none. */
static struct probed_file *place_of(struct tls_probes *ps, struct probed_file *f,
				    const struct stat *st, const char *path, size_t n)
{
	const size_t n_links = ps->multi ? TLS_PROGRAM_MAX : n;
	const int is_other = f ? f->is_other : st->st_uid != 0;

	if (!take_place(ps, f, is_other, n_links)) {
		ps->n_excess++;
		return NULL;
	}
	if (!f) {
		f = &ps->files[ps->all.n_files - 1];
		*f = (struct probed_file){.dev = st->st_dev,
					  .ino = st->st_ino,
					  .is_other = is_other,
					  .path = strdup(path)};
	}
	f->n_taken = n_links;
	return f;
}

void tls_probes_add(struct tls_probes *ps, int fd, const struct stat *st, const char *path)
{
	struct probed_file *f = find_file(ps, st);
	struct tls_probe v[TLS_PROBES_MAX];
	size_t n;

	if (f && (!f->is_changed || f->n_changes >= CHANGES_MAX))
		return;
	n = find_probes(ps, fd, path, v);
	f = n ? place_of(ps, f, st, path, n) : NULL;
	if (!f)
		return;
	f->is_changed = 0;
	if (watch_writes(ps, f, fd, st)) {
		change(f);
		return;
	}
	f->err = attach_all(ps, f, fd, v, n);
	if (f->err)
		detach(f);
}

static void report_go(const struct tls_probes *ps, const struct scap_log *log)
{
	if (ps->old_go)
		scap_say(log, SCAP_LOG_INFO,
			 "TLS data of programs built by Go before 1.17, such as %s, is missing",
			 ps->old_go);
	if (ps->odd_go)
		scap_say(log, SCAP_LOG_WARN,
			 "cannot probe %s: the code of Go's crypto/tls is not as expected; its TLS "
			 "data is missing",
			 ps->odd_go);
}

void tls_probes_report(const struct tls_probes *ps, const struct scap_log *log)
{
	for (size_t i = 0; i < ps->all.n_files; i++) {
		const struct probed_file *f = &ps->files[i];
		const char *path = f->path ? f->path : "a TLS library";

		if (f->err)
			scap_say(log, SCAP_LOG_WARN, "cannot probe %s: %s; its TLS data is missing",
				 path, strerror(-f->err));
		else
			scap_say(log, SCAP_LOG_INFO, "TLS data of %s was captured", path);
	}
	report_go(ps, log);
	if (ps->n_excess)
		scap_say(log, SCAP_LOG_WARN,
			 "more than %d files have TLS libraries, or %d that do not belong to "
			 "root, or their probes need more than %d descriptors: data of the others "
			 "is missing",
			 TLS_FILES_MAX, TLS_OTHERS_MAX, TLS_LINKS_MAX);
}
