/* SPDX-License-Identifier: Apache-2.0 */
/* Prints numbers, and those that have a name (errors, signals, wait status, CPU sets, syscalls). */
#include <stdio.h>

#include "errno_signal_names.h"
#include "value_kinds.h"

/* Writes names for a number that is plain in other tools: bit flags if it prints in hex. */
static char *put_int_names(struct value_writer *w, char *p, const struct value *v, uint64_t val)
{
	const struct scap_flag_name *f = v->info->flags;

	return f ? value_put_flag_names(w, p, f, val, v->fmt != PF_HEX) : p;
}

/* Returns whether a result that may be an address (mmap) is an error. */
static int is_error(int64_t res)
{
	return res < 0 && res >= -4095;
}

char *value_put_int(struct value_writer *w, char *p, const struct value *v)
{
	int64_t dec;

	switch (v->type) {
	case PT_INT8:
		dec = (int8_t)v->p[0];
		break;
	case PT_UINT8:
		dec = v->p[0];
		break;
	case PT_INT16:
		dec = (int16_t)get_u16(v->p);
		break;
	case PT_UINT16:
		dec = get_u16(v->p);
		break;
	case PT_INT32:
	case PT_UINT32: /* sysdig prints it signed */
		dec = (int32_t)get_u32(v->p);
		break;
	default:
		dec = (int64_t)get_u64(v->p);
		p = put_number(p, v->fmt, dec, (uint64_t)dec);
		if (w->evt->show_full && v->info == w->evt->info->params && is_error(dec))
			return put_meaning(w, p, sinsp_errno_name(-(uint64_t)dec));
		return put_int_names(w, p, v, (uint64_t)dec);
	}
	p = put_number(p, v->fmt, dec, (uint32_t)dec);
	return put_int_names(w, p, v, (uint32_t)dec);
}

char *value_put_port(struct value_writer *w, char *p, const struct value *v)
{
	(void)w;
	return put_u64(p, get_u16(v->p));
}

char *value_put_bool(struct value_writer *w, char *p, const struct value *v)
{
	(void)w;
	return get_u32(v->p) ? put_lit(p, "true") : put_lit(p, "false");
}

char *value_put_double(struct value_writer *w, char *p, const struct value *v)
{
	double d;

	(void)w;
	memcpy(&d, v->p, sizeof(d));
	return p + snprintf(p, VALUE_ROOM, "%.9g", d);
}

char *value_put_errno(struct value_writer *w, char *p, const struct value *v)
{
	const int64_t res = (int64_t)get_u64(v->p);

	if (v->fmt == PF_HEX && res >= 0) /* an address */
		return put_hex_upper(p, (uint64_t)res);
	p = put_i64(p, res);
	return res < 0 ? put_meaning(w, p, sinsp_errno_name(-(uint64_t)res)) : p;
}

char *value_put_signal(struct value_writer *w, char *p, const struct value *v)
{
	return put_meaning(w, put_u64(p, v->p[0]), sinsp_signal_name(v->p[0]));
}

char *value_put_sigset(struct value_writer *w, char *p, const struct value *v)
{
	const char *sep = "";

	p = text_room(w->out, p, 32 * sizeof("SIGSTKFLT ") + VALUE_ROOM);
	if (!p)
		return NULL;
	for (uint32_t set = get_u32(v->p), sig = 1; set; set >>= 1, sig++) {
		const char *name = set & 1 ? sinsp_signal_name(sig) : NULL;

		if (!name)
			continue;
		p = put_cstr(put_cstr(p, sep), name);
		sep = " ";
	}
	return p;
}

/* Writes [SIGINT SIGTERM]; of more than half of all signals the complement, ~[SIGKILL]. */
char *value_put_sigset64(struct value_writer *w, char *p, const struct value *v)
{
	uint64_t set = get_u64(v->p);
	const char *sep = "";

	p = text_room(w->out, p, 32 * sizeof("SIGSTKFLT ") + VALUE_ROOM);
	if (!p)
		return NULL;
	if (__builtin_popcountll(set) > 32) {
		set = ~set;
		*p++ = '~';
	}
	*p++ = '[';
	for (unsigned int sig = 1; set; set >>= 1, sig++) {
		const char *name = sinsp_signal_name(sig);

		if (!(set & 1))
			continue;
		p = put_cstr(p, sep);
		p = name ? put_cstr(p, name) : put_u64(p, sig);
		sep = " ";
	}
	*p++ = ']';
	return p;
}

/* Writes 256(exit=1), 139(sig=SIGSEGV|core), 4991(stop=SIGSTOP), 65535(continued). */
char *value_put_wait_status(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t status = get_u32(v->p);
	const unsigned int low = status & 0x7f, high = status >> 8 & 0xff;
	const char *name;

	p = open_meaning(w, put_u64(p, status));
	if (status == 0xffff) {
		p = put_lit(p, "continued");
	} else if (!low) {
		p = put_u64(put_lit(p, "exit="), high);
	} else {
		const unsigned int sig = low == 0x7f ? high : low;

		p = low == 0x7f ? put_lit(p, "stop=") : put_lit(p, "sig=");
		name = sinsp_signal_name(sig);
		p = name ? put_cstr(p, name) : put_u64(p, sig);
		if (low != 0x7f && status & 0x80)
			p = put_lit(p, "|core");
	}
	*p++ = ')';
	return p;
}

/* Writes 0-3,8. */
char *value_put_cpuset(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t n = v->len * 8;
	const char *sep = "";

	for (uint32_t i = 0; i < n; i++) {
		uint32_t last = i;

		if (!(v->p[i / 8] >> i % 8 & 1))
			continue;
		while (last + 1 < n && v->p[(last + 1) / 8] >> (last + 1) % 8 & 1)
			last++;
		p = text_room(w->out, p, VALUE_ROOM);
		if (!p)
			return NULL;
		p = put_u64(put_cstr(p, sep), i);
		if (last > i) {
			*p++ = '-';
			p = put_u64(p, last);
		}
		sep = ",";
		i = last;
	}
	return *sep ? p : put_lit(p, "none");
}

char *value_put_syscall_id(struct value_writer *w, char *p, const struct value *v)
{
	const uint16_t code = get_u16(v->p);
	const char *name = scap_ppm_sc_name(code);

	if (!name)
		return put_lit(p, "<unknown syscall>");
	return put_meaning(w, put_u64(p, code), name);
}
