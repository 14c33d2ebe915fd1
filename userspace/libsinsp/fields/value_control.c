/* SPDX-License-Identifier: Apache-2.0 */
/* Prints control messages (cmsg) of sendmsg and recvmsg: passed descriptors by number and name,
 * others by level, type and length. */
#include "value_kinds.h"

#include "thread.h"

#define CMSG_SOL_SOCKET 1
#define CMSG_RIGHTS 1

/* One control message; a 32-bit caller's header is shorter. */
struct control {
	uint32_t level, type;
	const uint8_t *data;
	uint32_t len; /* of the data, as far as recorded */
	uint32_t size; /* with header and padding */
};

static int read_control(struct control *c, const struct value *v, uint32_t at, int ia32)
{
	const uint32_t word = ia32 ? 4 : 8, head = word + 8, left = v->len - at;
	uint64_t len;

	if (left < head)
		return 0;
	len = ia32 ? get_u32(v->p + at) : get_u64(v->p + at);
	if (len < head)
		return 0;
	if (len > left)
		len = left;
	c->level = get_u32(v->p + at + word);
	c->type = get_u32(v->p + at + word + 4);
	c->data = v->p + at + head;
	c->len = (uint32_t)len - head;
	c->size = ((uint32_t)len + word - 1) & ~(word - 1);
	if (c->size > left)
		c->size = left;
	return 1;
}

static char *put_passed_fds(struct value_writer *w, char *p, const struct control *c)
{
	const char *sep = "SCM_RIGHTS:";

	for (uint32_t at = 0; p && c->len - at >= sizeof(int32_t); at += sizeof(int32_t)) {
		const int32_t num = (int32_t)get_u32(c->data + at);
		const struct sinsp_fd *fd =
			w->evt->thread ? sinsp_thread_fd(w->evt->thread, num) : NULL;

		p = text_room(w->out, p, VALUE_ROOM);
		if (p)
			p = put_i64(put_cstr(p, sep), num);
		if (p && fd)
			p = value_put_fd_meaning(w, p, fd);
		sep = ",";
	}
	return p;
}

/* Writes SCM_RIGHTS:6(<f>/a),7 and LEVEL:TYPE:LENGTH for other messages, separated by blanks. */
char *value_put_controls(struct value_writer *w, char *p, const struct value *v)
{
	const int ia32 = !!(w->evt->raw.flags & SCAP_EVT_F_IA32);
	struct control c;

	for (uint32_t at = 0; p && read_control(&c, v, at, ia32); at += c.size) {
		p = text_room(w->out, p, VALUE_ROOM);
		if (!p)
			break;
		if (at)
			*p++ = ' ';
		if (c.level == CMSG_SOL_SOCKET && c.type == CMSG_RIGHTS &&
		    c.len >= sizeof(int32_t)) {
			p = put_passed_fds(w, p, &c);
			continue;
		}
		p = put_lit(put_i64(p, (int32_t)c.level), ":");
		p = put_lit(put_i64(p, (int32_t)c.type), ":");
		p = put_u64(p, c.len);
	}
	w->meaning = 0; /* no meaning for the whole */
	return p;
}

int value_is_control(const struct value_writer *w, const struct value *v)
{
	return w->buf_fmt == SINSP_BUF_DOTS && w->evt->show_full &&
	       !strcmp(v->info->name, "msgcontrol");
}
