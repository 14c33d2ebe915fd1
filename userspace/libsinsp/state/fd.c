/* SPDX-License-Identifier: Apache-2.0 */
#include "fd.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct sinsp_fd) <= 80, "with its slot a file takes at most 96 bytes");

/* sysdig names the protocol of a socket once it knows which end of it is ours. */
static unsigned int shown_l4proto(const struct sinsp_fd *fd)
{
	int peer = fd->type == SCAP_FD_IPV4_SOCK || fd->type == SCAP_FD_IPV6_SOCK;

	if (fd->l4proto > SCAP_L4_RAW)
		return SCAP_L4_UNKNOWN;
	if (peer && fd->l4proto != SCAP_L4_RAW &&
	    !(fd->flags & (SINSP_FD_F_CLIENT | SINSP_FD_F_SERVER)))
		return SCAP_L4_NA;
	return fd->l4proto;
}

const char *sinsp_fd_typechar(const struct sinsp_fd *fd)
{
	/* Sockets with a protocol get its letter too. */
	static const char *const v4[] = {"4", "4", "4t", "4u", "4i", "4r"};
	static const char *const v6[] = {"6", "6", "6t", "6u", "6i", "6r"};
	static const char *const chars[SCAP_FD_MAX] = {
		[0] = "o",
		[SCAP_FD_FILE] = "f",
		[SCAP_FD_DIRECTORY] = "d",
		[SCAP_FD_FIFO] = "p",
		[SCAP_FD_UNIX_SOCK] = "u",
		[SCAP_FD_EVENT] = "e",
		[SCAP_FD_UNSUPPORTED] = "X",
		[SCAP_FD_SIGNALFD] = "s",
		[SCAP_FD_EVENTPOLL] = "l",
		[SCAP_FD_INOTIFY] = "i",
		[SCAP_FD_TIMERFD] = "t",
		[SCAP_FD_NETLINK] = "n",
		[SCAP_FD_FILE_V2] = "f",
		[SCAP_FD_BPF] = "b",
		[SCAP_FD_USERFAULTFD] = "u",
		[SCAP_FD_IOURING] = "r",
		[SCAP_FD_MEMFD] = "m",
		[SCAP_FD_PIDFD] = "P",
	};

	switch (fd->type) {
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
		return v4[shown_l4proto(fd)];
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV6_SERVSOCK:
		return v6[shown_l4proto(fd)];
	}
	return fd->type < SCAP_FD_MAX && chars[fd->type] ? chars[fd->type] : "?";
}

/* Numbers are dense from 0, so their own order is the best hash; only odd ones are mixed. */
static uint32_t home_of(const struct sinsp_files *f, int64_t num)
{
	uint64_t n = num;

	if (n >= SINSP_FILES_DENSE)
		n = (n * 0x9e3779b97f4a7c15) >> 32;
	return n & (f->n_slots - 1);
}

struct sinsp_files *sinsp_files_new(void)
{
	struct sinsp_files *f = calloc(1, sizeof(*f));

	if (f)
		f->refs = 1;
	return f;
}

struct sinsp_files *sinsp_files_ref(struct sinsp_files *f)
{
	f->refs++;
	return f;
}

static void fd_free(struct sinsp_fd_mem *mem, struct sinsp_fd *fd)
{
	sinsp_str_put(mem->strings, fd->name);
	sinsp_slab_put(&mem->fds, fd);
}

void sinsp_files_put(struct sinsp_fd_mem *mem, struct sinsp_files *f)
{
	if (!f || --f->refs)
		return;
	for (uint32_t i = 0; i < f->n_slots; i++)
		if (f->slots[i])
			fd_free(mem, f->slots[i]);
	free(f->slots);
	free(f);
}

struct sinsp_fd *sinsp_files_search(const struct sinsp_files *f, int64_t num)
{
	struct sinsp_fd *fd;

	if (!f || !f->n || num < 0)
		return NULL;
	for (uint32_t i = home_of(f, num); (fd = f->slots[i]); i = (i + 1) & (f->n_slots - 1))
		if (fd->num == num)
			return fd;
	return NULL;
}

static void place(struct sinsp_files *f, struct sinsp_fd *fd)
{
	uint32_t i = home_of(f, fd->num);

	while (f->slots[i])
		i = (i + 1) & (f->n_slots - 1);
	f->slots[i] = fd;
}

static int resize(struct sinsp_files *f, uint32_t n_slots)
{
	struct sinsp_fd **old = f->slots;
	uint32_t n_old = f->n_slots;
	struct sinsp_fd **slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return 0;
	f->slots = slots;
	f->n_slots = n_slots;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i])
			place(f, old[i]);
	free(old);
	return 1;
}

static int has_room(struct sinsp_files *f)
{
	if (f->n < f->n_slots - f->n_slots / 8)
		return 1;
	if (f->n >= SINSP_FILES_MAX)
		return 0;
	return resize(f, f->n_slots ? f->n_slots * 2 : 8);
}

static int has_room_for(struct sinsp_fd_mem *mem, uint32_t n)
{
	if (n <= SINSP_FILES_TOTAL_MAX && mem->fds.n_used <= SINSP_FILES_TOTAL_MAX - n)
		return 1;
	mem->n_refused++;
	return 0;
}

struct sinsp_fd *sinsp_files_add(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num)
{
	struct sinsp_fd *fd = sinsp_files_find(f, num);

	if (fd) {
		sinsp_str_put(mem->strings, fd->name);
		memset(fd, 0, sizeof(*fd));
		fd->num = num;
	} else {
		if (num < 0 || !has_room_for(mem, 1) || !has_room(f))
			return NULL;
		fd = sinsp_slab_get(&mem->fds);
		if (!fd)
			return NULL;
		fd->num = num;
		place(f, fd);
		f->n++;
	}
	fd->name = sinsp_str_get(mem->strings, "", 0);
	return fd;
}

/* Closes the gap at slot @i, so that no search ends early. */
static void close_gap(struct sinsp_files *f, uint32_t i)
{
	uint32_t mask = f->n_slots - 1, j = i;

	for (;;) {
		f->slots[i] = NULL;
		do {
			j = (j + 1) & mask;
			if (!f->slots[j])
				return;
		} while (((j - home_of(f, f->slots[j]->num)) & mask) < ((j - i) & mask));
		f->slots[i] = f->slots[j];
		i = j;
	}
}

void sinsp_files_remove(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num)
{
	struct sinsp_fd *fd = sinsp_files_find(f, num);
	uint32_t i;

	if (!fd)
		return;
	for (i = home_of(f, num); f->slots[i] != fd; i = (i + 1) & (f->n_slots - 1))
		;
	close_gap(f, i);
	f->n--;
	fd_free(mem, fd);
}

void sinsp_files_sweep(struct sinsp_fd_mem *mem, struct sinsp_files *f,
		       int (*drop)(const struct sinsp_fd *fd, void *ctx), void *ctx)
{
	/* Removing moves others into the slot, from behind or from the table's end: so look
	 * at a slot again, and go round until nothing was removed. */
	for (int again = 1; again;) {
		again = 0;
		for (uint32_t i = 0; i < f->n_slots; i++)
			while (f->slots[i] && drop(f->slots[i], ctx)) {
				sinsp_files_remove(mem, f, f->slots[i]->num);
				again = 1;
			}
	}
}

void sinsp_fd_set_name(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *p, size_t len)
{
	sinsp_str_set(mem->strings, &fd->name, p, len);
}

void sinsp_fd_copy(struct sinsp_fd_mem *mem, struct sinsp_fd *dst, const struct sinsp_fd *src)
{
	int64_t num = dst->num;
	const char *name = sinsp_str_ref(src->name), *old = dst->name;

	*dst = *src;
	dst->num = num;
	dst->name = name;
	sinsp_str_put(mem->strings, old);
}

struct sinsp_files *sinsp_files_copy(struct sinsp_fd_mem *mem, const struct sinsp_files *f)
{
	struct sinsp_files *c;
	uint32_t n_slots = f->n_slots;

	if (!has_room_for(mem, f->n))
		return NULL;
	c = sinsp_files_new();
	if (!c || !f->n)
		return c;
	/* A table that was large once need not be large for ever. */
	while (n_slots > 8 && f->n < n_slots / 8)
		n_slots /= 2;
	if (!resize(c, n_slots))
		goto fail;
	for (uint32_t i = 0; i < f->n_slots; i++) {
		struct sinsp_fd *fd;

		if (!f->slots[i])
			continue;
		fd = sinsp_slab_get(&mem->fds);
		if (!fd)
			goto fail;
		*fd = *f->slots[i];
		sinsp_str_ref(fd->name);
		place(c, fd);
		c->n++;
	}
	return c;
fail:
	sinsp_files_put(mem, c);
	return NULL;
}
