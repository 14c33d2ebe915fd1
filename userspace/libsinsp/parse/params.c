/* SPDX-License-Identifier: Apache-2.0 */
/* Reads parameters of the parsed event, and adds or edits its descriptor. */
#include "params.h"

#include <string.h>

#include "state/pathname.h"

const struct scap_param *sinsp_evt_param(const struct sinsp_parse *p, enum sinsp_param name)
{
	return sinsp_param_at(&p->e->params, p->row->at[name]);
}

const struct scap_param *sinsp_call_param(const struct sinsp_parse *p, enum sinsp_param name)
{
	const struct scap_param *v = NULL;

	if (p->enter_row)
		v = sinsp_param_at(&p->enter, p->enter_row->at[name]);
	return v ? v : sinsp_evt_param(p, name);
}

int64_t sinsp_result(const struct sinsp_parse *p)
{
	return sinsp_s64(sinsp_param_at(&p->e->params, 0), INT64_MIN);
}

int64_t sinsp_s64(const struct scap_param *v, int64_t none)
{
	int16_t s16;
	int32_t s32;
	int64_t s64;

	switch (v ? v->len : 0) {
	case 1:
		return (int8_t)v->p[0];
	case sizeof(s16):
		memcpy(&s16, v->p, sizeof(s16));
		return s16;
	case sizeof(s32):
		memcpy(&s32, v->p, sizeof(s32));
		return s32;
	case sizeof(s64):
		memcpy(&s64, v->p, sizeof(s64));
		return s64;
	}
	return none;
}

uint64_t sinsp_u64(const struct scap_param *v, uint64_t none)
{
	uint64_t u = 0;

	if (!v || v->len > sizeof(u) || (v->len & (v->len - 1)))
		return none;
	memcpy(&u, v->p, v->len);
	return u;
}

size_t sinsp_text_len(const struct scap_param *v)
{
	return v ? strnlen((const char *)v->p, v->len) : 0;
}

size_t sinsp_parse_path(const struct sinsp_parse *p, char *out, const char *dir, size_t dir_len,
			const char *path, size_t len)
{
	if (sinsp_quirk(p->s, SINSP_QUIRK_PATH_JOIN))
		return sinsp_path_join(out, SINSP_PATH_SYSDIG, dir, dir_len, path, len);
	return sinsp_path_join_in(out, p->e->thread->fs->root, dir, dir_len, path, len);
}

struct sinsp_fd *sinsp_parse_new_fd(struct sinsp_parse *p, int64_t num, unsigned int type)
{
	struct sinsp_threads *tt = &p->s->threads;
	struct sinsp_thread *t = p->e->thread;
	const struct sinsp_fd *old;
	struct sinsp_fd *fd;
	int reopened;

	if (!t || num < 0)
		return NULL;
	old = sinsp_files_find(t->files, num);
	/* The kernel frees a number early in close: another thread may reuse it before close
	 * returns. */
	reopened = old && (old->flags & SINSP_FD_F_CLOSING);
	fd = sinsp_files_add(&tt->fds, t->files, num, type);
	if (!fd)
		return NULL;
	fd->as_of_ns = p->e->raw.true_ns;
	fd->flags = reopened ? SINSP_FD_F_REOPENED : 0;
	p->e->fd = fd;
	p->e->fdnum = num;
	return fd;
}

typedef struct sinsp_fd *(*edit_fn)(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);

static struct sinsp_fd *edit(struct sinsp_parse *p, edit_fn fn)
{
	struct sinsp_fd *fd = NULL;

	if (p->e->fd)
		fd = fn(&p->s->threads.fds, p->e->thread->files, p->e->fdnum);
	if (fd)
		p->e->fd = fd;
	return fd;
}

struct sinsp_fd *sinsp_parse_edit_fd(struct sinsp_parse *p)
{
	return edit(p, sinsp_files_edit);
}

struct sinsp_fd *sinsp_parse_edit_socket(struct sinsp_parse *p)
{
	return edit(p, sinsp_files_edit_socket);
}

int sinsp_parse_unshare_files(struct sinsp_parse *p, struct sinsp_thread *t)
{
	struct sinsp_files *own;

	if (t->files->refs == 1)
		return 1;
	own = sinsp_files_copy(t->files);
	if (!own)
		return 0;
	sinsp_files_put(&p->s->threads.fds, t->files);
	t->files = own;
	return 1;
}
