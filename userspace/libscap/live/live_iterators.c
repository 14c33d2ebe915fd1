/* SPDX-License-Identifier: Apache-2.0 */
/* The iterators over threads: which there are, which are in a call, which wait. */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "live/live_driver.h"

static int create_iterator(int link_fd)
{
	const int fd = bpf_iter_create(link_fd);

	return fd < 0 ? -errno : fd;
}

static int open_rows(const struct bpf_link *link)
{
	return link ? create_iterator(bpf_link__fd(link)) : -ENODATA;
}

int live_task_rows(const struct live_driver *d)
{
	return open_rows(d->skel->links.task_rows);
}

int live_file_rows(void *driver, uint32_t tid)
{
	const struct live_driver *d = driver;
	const struct bpf_program *p = d->skel->progs.file_rows;
	union bpf_iter_link_info of = {.task.tid = tid};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &of, .iter_info_len = sizeof(of));
	int link, fd;

	if (!live_is_present(d, p))
		return -ENODATA;
	link = bpf_link_create(bpf_program__fd(p), 0, BPF_TRACE_ITER, &opts);
	if (link < 0)
		return -errno;
	fd = create_iterator(link);
	close(link);
	return fd;
}

int live_running_rows(const struct live_driver *d)
{
	return open_rows(d->skel->links.running_rows);
}

int live_calls_under_way(const struct live_driver *d)
{
	return open_rows(d->skel->links.calls_under_way);
}

/* Runs the iterator over all threads. */
void live_run_iterator(const struct bpf_link *link)
{
	int fd = open_rows(link);
	char none[64];

	if (fd < 0)
		return;
	while (read(fd, none, sizeof(none)) > 0 || errno == EAGAIN)
		errno = 0;
	close(fd);
}

/* Runs in a helper process. */
static void read_stacks(void)
{
	char none[64];
	int fd;

	if (helper_receive(HELPER_FD, none, sizeof(none), &fd) <= 0 || fd < 0)
		return;
	while (read(fd, none, sizeof(none)) > 0)
		;
}

void live_begin_waits(struct live_driver *d)
{
	int fd;

	live_run_iterator(d->skel->links.waits_begun);
	fd = open_rows(d->skel->links.waits_stacks);
	if (fd < 0)
		return;
	/*
	 * The result is not waited for: memory on a file system that hangs is read whenever it
	 * comes. A thread of ours could not do this, since a process ends only with its last
	 * thread.
	 */
	if (!helper_start(&d->stacks, read_stacks))
		helper_send(d->stacks.fd, "", 1, fd);
	close(fd);
}

int live_nobody_left(const struct live_driver *d)
{
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;

	/* Twice, as live_select.h explains. */
	return c->tasks & DRV_TASKS_MARKED && !live_select_any_lives(&d->select_maps) &&
	       !live_select_any_lives(&d->select_maps);
}
