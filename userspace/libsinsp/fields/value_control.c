/* SPDX-License-Identifier: Apache-2.0 */
/* Prints control messages (cmsg) of sendmsg and recvmsg: passed descriptors by number and name,
 * others by level, type and length. Prints the messages of sendmmsg and recvmmsg. */
#include "value_kinds.h"

#include "buffer.h"
#include "event/messages.h"
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

static char *put_message(struct value_writer *w, char *p, const struct scap_message *m)
{
	const struct value tuple = {.p = m->tuple.p, .len = m->tuple.len, .type = PT_SOCKTUPLE};
	const uint32_t n = sinsp_buffer_shown(w->evt, m->data.len, w->buf_cut);

	p = text_room(w->out, p, 2 * VALUE_ROOM);
	if (!p)
		return NULL;
	p = put_u64(p, m->size);
	if (m->tuple.len)
		p = value_put_tuple(w, put_lit(p, ":"), &tuple);
	if (!p || !m->data.len)
		return p;
	p = text_room(w->out, p, sinsp_buffer_room(n) + VALUE_ROOM);
	return p ? sinsp_buffer_put(put_lit(p, ":"), m->data.p, n, w->buf_fmt, w->buf_max) : NULL;
}

/* Writes SIZE:TUPLE:DATA of each message, separated by blanks, without what an entry lacks. */
char *value_put_messages(struct value_writer *w, char *p, const struct value *v)
{
	struct scap_messages it = {.rest = {v->p, v->len}};
	struct scap_message m;

	while (p && it.rest.len && scap_messages_next(&it, &m)) {
		if (it.n > 1) {
			p = text_room(w->out, p, VALUE_ROOM);
			if (p)
				*p++ = ' ';
		}
		p = p ? put_message(w, p, &m) : NULL;
	}
	w->meaning = 0; /* no meaning for the whole */
	return p;
}

static int is_named(const struct value_writer *w, const struct value *v, const char *name)
{
	return w->buf_fmt == SINSP_BUF_DOTS && w->evt->show_full && !strcmp(v->info->name, name);
}

int value_is_control(const struct value_writer *w, const struct value *v)
{
	return is_named(w, v, "msgcontrol");
}

int value_is_messages(const struct value_writer *w, const struct value *v)
{
	return is_named(w, v, "messages");
}
