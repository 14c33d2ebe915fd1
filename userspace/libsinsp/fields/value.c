/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per kind of parameter; a row of value_types binds it to the types that it prints.
 * Payloads are hostile: a function gets at least the bytes that its row requires, and checks the
 * length before it reads more.
 */
#include "value_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "buffer.h"
#include "event/event_table.h"
#include "port_name.h"
#include "thread.h"

#define PPM_AT_FDCWD (-100)
#define SYSDIG_PATH_MAX 1000

/* ---- numbers ---- */

/* As C's default promotions: smaller than int prints as int. */
static char *put_number(char *p, uint8_t fmt, int64_t dec, uint64_t bits)
{
	switch (fmt) {
	case PF_HEX:
		return put_hex_upper(p, bits);
	case PF_OCT:
		if (bits)
			*p++ = '0';
		return put_oct(p, bits);
	case PF_LOW_DEC: /* the upper half only selects the name */
		return put_u64(p, (uint32_t)bits);
	case PF_PADDED_DEC:
		if (dec >= 0 && dec < 1000000000)
			return put_9digits(p, (uint32_t)dec);
		return put_i64(p, dec);
	default:
		return put_i64(p, dec);
	}
}

static char *put_flag_names(struct value_writer *w, char *p, const struct scap_flag_name *f,
			    uint64_t val, int is_enum);

/* Names for a number that is plain in other tools: bit flags if it prints in hex. */
static char *put_int_names(struct value_writer *w, char *p, const struct value *v, uint64_t val)
{
	const struct scap_flag_name *f = v->info->flags;

	return f ? put_flag_names(w, p, f, val, v->fmt != PF_HEX) : p;
}

/* For a result that is an address: mmap's. */
static int is_error(int64_t res)
{
	return res < 0 && res >= -4095;
}

static char *put_int(struct value_writer *w, char *p, const struct value *v)
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

static char *put_port(struct value_writer *w, char *p, const struct value *v)
{
	(void)w;
	return put_u64(p, get_u16(v->p));
}

static char *put_bool(struct value_writer *w, char *p, const struct value *v)
{
	(void)w;
	return get_u32(v->p) ? put_lit(p, "true") : put_lit(p, "false");
}

static char *put_double(struct value_writer *w, char *p, const struct value *v)
{
	double d;

	(void)w;
	memcpy(&d, v->p, sizeof(d));
	return p + snprintf(p, VALUE_ROOM, "%.9g", d);
}

static char *put_errno(struct value_writer *w, char *p, const struct value *v)
{
	const int64_t res = (int64_t)get_u64(v->p);

	if (v->fmt == PF_HEX && res >= 0) /* an address */
		return put_hex_upper(p, (uint64_t)res);
	p = put_i64(p, res);
	return res < 0 ? put_meaning(w, p, sinsp_errno_name(-(uint64_t)res)) : p;
}

static char *put_signal(struct value_writer *w, char *p, const struct value *v)
{
	return put_meaning(w, put_u64(p, v->p[0]), sinsp_signal_name(v->p[0]));
}

static char *put_sigset(struct value_writer *w, char *p, const struct value *v)
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

/* With more than half of all signals, the complement: ~[SIGKILL SIGSTOP]. */
static char *put_sigset64(struct value_writer *w, char *p, const struct value *v)
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

/* 256(exit=1), 139(sig=SIGSEGV|core), 4991(stop=SIGSTOP), 65535(continued) */
static char *put_wait_status(struct value_writer *w, char *p, const struct value *v)
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

/* 0-3,8 */
static char *put_cpuset(struct value_writer *w, char *p, const struct value *v)
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

static char *put_syscall_id(struct value_writer *w, char *p, const struct value *v)
{
	const uint16_t code = get_u16(v->p);
	const char *name = scap_ppm_sc_name(code);

	if (!name)
		return put_lit(p, "<unknown syscall>");
	return put_meaning(w, put_u64(p, code), name);
}

/* ---- time ---- */

/* Seconds of @ns as printf's %g prints them: at most six digits. */
static char *put_seconds(char *p, uint64_t ns)
{
	char digits[TEXT_NUM_MAX];
	uint64_t q = ns, unit = 1;
	int n, exp10;

	n = (int)(put_u64(digits, ns) - digits);
	exp10 = n - 1 - 9; /* position of the first digit */
	for (; q >= 1000000; q /= 10)
		unit *= 10;
	/* At a tie, and beyond the precision of a double, the double's own error decides. */
	if (ns >= 1000000000000000 || (unit > 1 && ns % unit == unit / 2))
		return p + snprintf(p, VALUE_ROOM, "%g", (double)ns / 1000000000);
	q += ns % unit > unit / 2;
	if (q == 1000000)
		exp10++;
	while (q && q % 10 == 0)
		q /= 10;
	n = (int)(put_u64(digits, q) - digits);
	if (!ns)
		exp10 = 0;

	if (exp10 < -4 || exp10 >= 6) {
		*p++ = digits[0];
		if (n > 1) {
			*p++ = '.';
			p = put_mem(p, digits + 1, (size_t)n - 1);
		}
		*p++ = 'e';
		*p++ = exp10 < 0 ? '-' : '+';
		return put_mem(p, &sinsp_two_digits[2 * (exp10 < 0 ? -exp10 : exp10)], 2);
	}
	if (exp10 < 0) {
		p = put_lit(p, "0.");
		while (++exp10 < 0)
			*p++ = '0';
		return put_mem(p, digits, (size_t)n);
	}
	for (int i = 0; i < n || i <= exp10; i++) {
		if (i == exp10 + 1)
			*p++ = '.';
		*p++ = i < n ? digits[i] : '0';
	}
	return p;
}

static char *put_reltime(struct value_writer *w, char *p, const struct value *v)
{
	const uint64_t ns = get_u64(v->p);

	if (ns == UINT64_MAX)
		return put_lit(p, "none");
	p = put_seconds(open_meaning(w, put_u64(p, ns)), ns);
	return put_lit(p, "s)");
}

static char *put_abstime(struct value_writer *w, char *p, const struct value *v)
{
	const uint64_t ns = get_u64(v->p);
	const time_t sec = (time_t)(ns / 1000000000);
	struct tm tm;

	(void)w;
	if (ns == ABSTIME_NOW)
		return put_lit(p, "now");
	if (ns == ABSTIME_OMIT)
		return put_lit(p, "omit");
	if (!localtime_r(&sec, &tm))
		return put_u64(p, ns);
	p += strftime(p, 64, "%Y-%m-%d %H:%M:%S.", &tm);
	p = put_9digits(p, (uint32_t)(ns % 1000000000));
	return p + strftime(p, 16, " %z", &tm);
}

/* ---- processes, users, files ---- */

/* A name from the kernel or a file, as the meaning of a number. */
static char *put_foreign_meaning(struct value_writer *w, char *p, const char *name)
{
	const size_t n = strlen(name);

	p = text_room(w->out, p, n + VALUE_ROOM);
	if (!p)
		return NULL;
	p = put_utf8(open_meaning(w, p), name, n);
	*p = ')';
	return p + 1;
}

/* Events of new threads have the machine's numbers, except for the result; so have all events that
 * are not calls. */
static int is_callers_number(const struct sinsp_evt *evt, const struct value *v)
{
	if (evt->info->category & EC_INTERNAL || evt->info->flags & EF_SKIPPARSERESET)
		return 0;
	for (unsigned int i = 0; i < evt->info->n_params; i++)
		if (!strcmp(evt->info->params[i].name, "ptid"))
			return !strcmp(v->info->name, "res");
	return strcmp(v->info->name, "reaper_tid") != 0;
}

static char *put_pid(struct value_writer *w, char *p, const struct value *v)
{
	const int64_t pid = v->type == PT_PID32 ? (int32_t)get_u32(v->p) : (int64_t)get_u64(v->p);
	const struct sinsp_thread *by = w->evt->thread;
	const struct sinsp_thread *t = by && by->vtid != by->tid && is_callers_number(w->evt, v)
					       ? sinsp_thread_in_pidns(w->evt->insp, by, pid)
					       : sinsp_thread_find(w->evt->insp, pid);

	p = put_i64(p, pid);
	return t && t->comm[0] ? put_foreign_meaning(w, p, t->comm) : p;
}

static char *put_id(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t id = get_u32(v->p);
	const char *name;
	size_t n;

	if (id == UINT32_MAX)
		return put_meaning(w, put_lit(p, "-1"), "<NONE>");
	name = v->type == PT_UID ? sinsp_user_name(w->evt->insp, w->evt->thread, id)
				 : sinsp_group_name(w->evt->insp, w->evt->thread, id);
	p = put_i64(p, (int32_t)id);
	if (!name)
		return put_meaning(w, p, "<NA>");
	n = strlen(name);
	p = text_room(w->out, p, n + VALUE_ROOM);
	if (!p)
		return NULL;
	p = put_name(w, open_meaning(w, p), name, n);
	*p = ')';
	return p + 1;
}

/* 0(root),4(adm) */
static char *put_gid_list(struct value_writer *w, char *p, const struct value *v)
{
	for (uint32_t at = 0; p && at + sizeof(uint32_t) <= v->len; at += sizeof(uint32_t)) {
		const struct value gid = {
			.p = v->p + at, .len = sizeof(uint32_t), .type = PT_GID, .fmt = PF_DEC};

		p = text_room(w->out, p, VALUE_ROOM);
		if (p && at)
			*p++ = ',';
		p = p ? put_id(w, p, &gid) : NULL;
	}
	w->meaning = 0; /* no meaning for the whole */
	return p;
}

char *value_put_fd_meaning(struct value_writer *w, char *p, const struct sinsp_fd *fd)
{
	const size_t n = strlen(fd->name);

	p = text_room(w->out, p, n + VALUE_ROOM);
	if (!p)
		return NULL;
	p = open_meaning(w, p);
	*p++ = '<';
	p = put_cstr(p, sinsp_fd_typechar(fd));
	/* Uncertain: after lost records the descriptor may be another file. */
	if (!sinsp_fd_is_certain(w->evt->insp, fd, w->evt->raw.true_ns))
		*p++ = '?';
	*p++ = '>';
	if (w->port_names && port_name_has_ports(fd))
		p = port_name_put_fd(p, fd);
	else
		p = put_name(w, p, fd->name, n);
	*p = ')';
	return p + 1;
}

/* fcntl returns a descriptor for the commands that duplicate one; else a number. An exit of 2022
 * lacks the command. */
static int is_number_of_fcntl(const struct sinsp_evt *evt, const struct value *v)
{
	enum { RES, FD, CMD, DUPFD = 1, DUPFD_CLOEXEC = 26 };
	const struct scap_params *ps = &evt->params;

	if (evt->info->id != EVT_FCNTL_X || v->info != &evt->info->params[RES] || ps->n <= CMD ||
	    !ps->v[CMD].len)
		return 0;
	return ps->v[CMD].p[0] != DUPFD && ps->v[CMD].p[0] != DUPFD_CLOEXEC;
}

/* The same for bpf: commands that create or find an object return a descriptor. */
static int is_number_of_bpf(const struct sinsp_evt *evt, const struct value *v)
{
	enum { FD, CMD, N_CMDS = 64 };
	static const uint64_t makes_file = 1ull << 0 | 1ull << 5 | 1ull << 7 | 1ull << 13 |
					   1ull << 14 | 1ull << 17 | 1ull << 18 | 1ull << 19 |
					   1ull << 28 | 1ull << 30 | 1ull << 32 | 1ull << 33 |
					   1ull << 36;
	const struct scap_params *ps = &evt->params;

	if (evt->info->id != EVT_BPF_368_X || v->info != &evt->info->params[FD] || ps->n <= CMD ||
	    !ps->v[CMD].len)
		return 0;
	return ps->v[CMD].p[0] >= N_CMDS || !(makes_file >> ps->v[CMD].p[0] & 1);
}

/* A negative number is an error only as a result. As an argument it means no file; sysdig takes
 * each for an error. */
static int may_be_error(const struct sinsp_evt *evt, const struct value *v)
{
	return !evt->show_full || v->info == evt->info->params;
}

static char *put_fd(struct value_writer *w, char *p, const struct value *v)
{
	const int64_t num = v->type == PT_FD32 ? (int32_t)get_u32(v->p) : (int64_t)get_u64(v->p);
	const struct sinsp_evt *evt = w->evt;
	const struct sinsp_fd *fd;

	p = put_i64(p, num);
	if (!evt->thread)
		return p;
	if (num == PPM_AT_FDCWD)
		return put_meaning(w, p, "AT_FDCWD");
	if (num < 0)
		return may_be_error(evt, v) ? put_meaning(w, p, sinsp_errno_name(-(uint64_t)num))
					    : p;
	if (is_number_of_fcntl(evt, v) || is_number_of_bpf(evt, v))
		return p;
	fd = evt->fd && evt->fdnum == num ? evt->fd : sinsp_thread_fd(evt->thread, num);
	return fd ? value_put_fd_meaning(w, p, fd) : p;
}

/* fds=3:f1 4:p4: descriptor, kind, requested or returned events. */
static char *put_fdlist(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t fits = (v->len - 2) / 10;
	const uint32_t n = get_u16(v->p) < fits ? get_u16(v->p) : fits;

	if (!w->evt->thread)
		return p;
	p = text_room(w->out, p, (size_t)n * 32 + VALUE_ROOM);
	for (uint32_t i = 0; p && i < n; i++) {
		const uint8_t *item = v->p + 2 + i * 10;
		const int64_t num = (int64_t)get_u64(item);
		const struct sinsp_fd *fd = sinsp_thread_fd(w->evt->thread, num);

		if (i)
			*p++ = ' ';
		p = put_u64(p, (uint64_t)num);
		*p++ = ':';
		*p++ = fd ? sinsp_fd_typechar(fd)[0] : '?';
		p = put_hex(p, (uint32_t)(int16_t)get_u16(item + 8));
	}
	return p;
}

/* ---- flags ---- */

/* Prints every row whose bits are all in the value, in table order, and removes its bits; a row
 * equal to the whole value ends the list. An enumeration has only the latter. */
static char *put_flag_names(struct value_writer *w, char *p, const struct scap_flag_name *f,
			    uint64_t val, int is_enum)
{
	const uint64_t whole = val;

	for (; f && f->name; f++) {
		const int same = f->value == whole;

		if (!same && (is_enum || !f->value || (val & f->value) != f->value))
			continue;
		p = text_room(w->out, p, VALUE_ROOM);
		if (!p)
			return NULL;
		if (w->meaning)
			*p++ = '|';
		else
			p = open_meaning(w, p);
		p = put_cstr(p, f->name);
		if (same)
			break;
		val &= ~f->value;
	}
	if (w->meaning)
		*p++ = ')';
	return p;
}

static char *put_flags(struct value_writer *w, char *p, const struct value *v)
{
	const int is_enum =
		v->type == PT_ENUMFLAGS8 || v->type == PT_ENUMFLAGS16 || v->type == PT_ENUMFLAGS32;
	uint32_t val;

	switch (v->type) {
	case PT_FLAGS8:
	case PT_ENUMFLAGS8:
		val = v->p[0];
		break;
	case PT_FLAGS16:
	case PT_ENUMFLAGS16:
		val = get_u16(v->p);
		break;
	default:
		val = get_u32(v->p);
	}
	return put_flag_names(w, put_u64(p, val), v->info->flags, val, is_enum);
}

static char *put_flags64(struct value_writer *w, char *p, const struct value *v)
{
	const uint64_t val = get_u64(v->p);

	p = put_number(p, v->fmt, (int64_t)val, val);
	return put_flag_names(w, p, v->info->flags, val, v->type == PT_ENUMFLAGS64);
}

static char *put_mode(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t val = get_u32(v->p);

	p = put_number(p, v->fmt, (int32_t)val, val);
	return put_flag_names(w, p, v->info->flags, val, 0);
}

/* ---- text and paths ---- */

/* The call's result, on a line that shows the whole call; 0 if there is none. */
static int64_t whole_result(const struct sinsp_evt *evt)
{
	const struct scap_params *ps = &evt->params;

	if (!evt->show_full || !ps->n || ps->v[0].len != sizeof(int64_t))
		return 0;
	return (int64_t)get_u64(ps->v[0].p);
}

/* In shared events unreadable text is empty, and so is text that the caller passed empty. The
 * kernel could not read it either. */
static int was_unreadable(const struct sinsp_evt *evt, size_t len)
{
	return !len && whole_result(evt) == -EFAULT;
}

static char *put_text(struct value_writer *w, char *p, const struct value *v)
{
	const size_t n = text_len(v, 0);

	if (was_unreadable(w->evt, n))
		return put_lit(p, "<NA>");
	p = text_room(w->out, p, n + VALUE_ROOM);
	return p ? put_utf8(p, (const char *)v->p, n) : NULL;
}

/* NUL-separated texts, as "a.b" or "a,b" with one separator, as "a:b,c:d" with two. */
static char *put_texts(struct value_writer *w, char *p, const struct value *v)
{
	const char *const sep = v->fmt == PF_LIST ? "," : v->type == PT_CHARBUFARRAY ? "." : ":,";
	const size_t n_sep = strlen(sep);
	size_t at = 0;

	p = text_room(w->out, p, v->len + VALUE_ROOM);
	for (size_t i = 0; p && at < v->len; i++) {
		const size_t n = text_len(v, at);

		if (i)
			*p++ = sep[(i - 1) % n_sep];
		p = put_utf8(p, (const char *)v->p + at, n);
		at += n + 1;
	}
	return p;
}

/* Writes what a path in a parameter is relative to, the directory of the process or a descriptor's
 * name, to @dir with a '/' at the end; returns its length. */
static size_t base_dir(const struct value_writer *w, const struct value *v, char *dir, int *certain)
{
	const struct sinsp_evt *evt = w->evt;
	const struct sinsp_fd *fd;
	int64_t num = PPM_AT_FDCWD;
	const char *name;
	size_t n;

	if (v->type == PT_FSRELPATH && v->info->dirfd >= 0 &&
	    (unsigned int)v->info->dirfd < evt->params.n &&
	    evt->params.v[v->info->dirfd].len >= sizeof(num))
		num = (int64_t)get_u64(evt->params.v[v->info->dirfd].p);
	if (num == PPM_AT_FDCWD) {
		*certain = sinsp_fs_is_certain(evt->insp, evt->thread->fs);
		name = sinsp_thread_cwd(evt->thread);
		n = strnlen(name, SINSP_PATH_SZ - 1);
		memcpy(dir, name, n);
		return n;
	}
	fd = sinsp_thread_fd(evt->thread, num);
	if (!fd || !fd->name[0])
		return 0;
	*certain = sinsp_fd_is_certain(evt->insp, fd, evt->raw.true_ns);
	n = (size_t)(put_name(w, dir, fd->name, strnlen(fd->name, SINSP_PATH_SZ - 2)) - dir);
	dir[n++] = '/';
	return n;
}

/* Writes the absolute path of @v to @full, of SINSP_PATH_SZ bytes; returns its length, 0: there is
 * none. */
static size_t absolute(const struct value_writer *w, const struct value *v, char *full,
		       int *certain)
{
	const size_t n = text_len(v, 0);
	enum sinsp_path_rules rules;
	char dir[SINSP_PATH_SZ];
	size_t n_dir;

	*certain = 1;
	n_dir = base_dir(w, v, dir, certain);
	/* The limit of sysdig's rules applies to names of files, not here. */
	rules = n_dir + n < SYSDIG_PATH_MAX ? sinsp_path_rules_of(w->evt->insp) : SINSP_PATH_STRICT;
	/* An empty path is the directory itself. */
	return sinsp_path_join(full, rules, dir, n_dir, n ? (const char *)v->p : ".", n ? n : 1);
}

static int is_na(const struct value *v)
{
	return v->len >= 4 && !memcmp(v->p, "<NA>", 4);
}

/* Text of saker's enter for an unreadable path (raw_enter.c). */
static int is_unknown(const struct value_writer *w, const struct value *v)
{
	static const char null[] = "(NULL)";

	return v->len == sizeof(null) && !memcmp(v->p, null, sizeof(null)) && w->evt->insp &&
	       sinsp_path_rules_of(w->evt->insp) == SINSP_PATH_STRICT;
}

static char *put_path(struct value_writer *w, char *p, const struct value *v)
{
	const size_t n = text_len(v, 0);
	char full[SINSP_PATH_SZ];
	size_t n_full;
	int certain;

	p = text_room(w->out, p, n + sizeof(full) + VALUE_ROOM);
	if (!p)
		return NULL;
	if (was_unreadable(w->evt, n) || is_unknown(w, v))
		return put_lit(p, "<NA>");
	p = put_name(w, p, (const char *)v->p, n);
	if (!w->evt->thread || v->p[0] == '/' || is_na(v))
		return p;
	n_full = absolute(w, v, full, &certain);
	if (!n_full)
		return p;
	p = open_meaning(w, p);
	if (!certain)
		p = put_lit(p, "<?>");
	p = put_utf8(p, full, n_full);
	*p = ')';
	return p + 1;
}

/* Numbers of 8 bytes, separated by commas. */
static char *put_u64s(struct value_writer *w, char *p, const struct value *v)
{
	p = text_room(w->out, p, v->len / 8 * TEXT_NUM_MAX + VALUE_ROOM);
	for (uint32_t at = 0; p && at + 8 <= v->len; at += 8) {
		if (at)
			*p++ = ',';
		p = put_u64(p, get_u64(v->p + at));
	}
	return p;
}

static char *put_bytes(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t len = w->buf_cut && w->buf_cut < v->len ? w->buf_cut : v->len;

	if (v->fmt == PF_LIST)
		return put_u64s(w, p, v);
	if (value_is_control(w, v))
		return value_put_controls(w, p, v);
	/* Bytes were moved but not recorded: unreadable, or not kept. */
	if (!v->len && whole_result(w->evt) > 0 && !strcmp(v->info->name, "data"))
		return put_lit(p, "<NA>");
	p = text_room(w->out, p, sinsp_buffer_room(len) + VALUE_ROOM);
	return p ? sinsp_buffer_put(p, v->p, len, w->buf_fmt, w->buf_max) : NULL;
}

/* ---- values whose type is in the event ---- */

struct dyn_type {
	uint16_t event; /* 0: all others */
	uint8_t parts[5]; /* types, by the index that the value begins with; PT_NONE: no such index
			   */
};

static const struct dyn_type dyn_types[] = {
	{EVT_SETSOCKOPT_X, {PT_BYTEBUF, PT_ERRNO, PT_UINT32, PT_UINT64, PT_RELTIME}},
	{EVT_GETSOCKOPT_X, {PT_BYTEBUF, PT_ERRNO, PT_UINT32, PT_UINT64, PT_RELTIME}},
	{EVT_PTRACE_X, {PT_UINT64, PT_SIGTYPE}},
	{EVT_KEYCTL_X, {PT_INT64, PT_CHARBUF}},
	{0, {PT_FD, PT_ERRNO}},
};

static unsigned int dyn_part(unsigned int event, uint8_t index)
{
	const struct dyn_type *t = dyn_types;

	while (t->event && t->event != event)
		t++;
	return index < sizeof(t->parts) ? t->parts[index] : PT_NONE;
}

static char *put_value(struct value_writer *w, char *p, const struct value *v);

static char *put_dyn(struct value_writer *w, char *p, const struct value *v)
{
	struct value part = *v;

	part.type = dyn_part(w->evt->info->id, v->p[0]);
	if (part.type == PT_NONE)
		return put_lit(p, "INVALID DYNAMIC PARAMETER");
	part.p++;
	part.len--;
	return put_value(w, p, &part);
}

/* ---- arrays of the kernel's ---- */

/* The parts of the element at @at, separated by colons. */
static char *put_element(struct value_writer *w, char *p, const struct value *v, uint32_t at)
{
	const char *sep = "";
	uint32_t size;

	for (const struct scap_param_info *part = v->info->list; part->name; part++, at += size) {
		struct value value = {v->p + at, 0, part->type, part->fmt, part};

		size = (uint32_t)scap_param_size(part->type);
		if (part->name[0] == '_')
			continue;
		value.len = size;
		p = text_room(w->out, p, 2 * VALUE_ROOM);
		if (!p)
			return NULL;
		w->meaning = 0;
		p = put_value(w, put_cstr(p, sep), &value);
		if (!p)
			return NULL;
		sep = ":";
	}
	return p;
}

static uint32_t element_size(const struct scap_param_info *part)
{
	uint32_t size = 0;

	for (; part->name; part++)
		size += (uint32_t)scap_param_size(part->type);
	return size;
}

/* The elements, separated by blanks. The rest of a truncated one is not shown. */
static char *put_list(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t size = v->info->list ? element_size(v->info->list) : 0;

	for (uint32_t at = 0; p && size && v->len - at >= size; at += size) {
		p = text_room(w->out, p, VALUE_ROOM);
		if (p && at)
			*p++ = ' ';
		if (p)
			p = put_element(w, p, v, at);
	}
	w->meaning = 0; /* the meaning of a part is not the list's */
	return p;
}

/* ---- the table ---- */

struct value_type {
	char *(*put)(struct value_writer *w, char *p, const struct value *v);
	uint8_t min; /* minimum size */
	const char *absent; /* printed for shorter values; NULL: <NA> */
};

static const struct value_type value_types[PT_MAX] = {
	[PT_INT8] = {put_int, 1},
	[PT_INT16] = {put_int, 2},
	[PT_INT32] = {put_int, 4},
	[PT_INT64] = {put_int, 8},
	[PT_UINT8] = {put_int, 1},
	[PT_UINT16] = {put_int, 2},
	[PT_UINT32] = {put_int, 4},
	[PT_UINT64] = {put_int, 8},
	[PT_CHARBUF] = {put_text, 1},
	[PT_BYTEBUF] = {put_bytes, 0},
	[PT_ERRNO] = {put_errno, 8},
	[PT_SOCKADDR] = {value_put_sockaddr, 1, "NULL"},
	[PT_SOCKTUPLE] = {value_put_tuple, 1, "NULL"},
	[PT_FD] = {put_fd, 8},
	[PT_PID] = {put_pid, 8},
	[PT_FDLIST] = {put_fdlist, 2},
	[PT_FSPATH] = {put_path, 1},
	[PT_SYSCALLID] = {put_syscall_id, 2},
	[PT_SIGTYPE] = {put_signal, 1},
	[PT_RELTIME] = {put_reltime, 8},
	[PT_ABSTIME] = {put_abstime, 8},
	[PT_PORT] = {put_port, 2},
	[PT_BOOL] = {put_bool, 4},
	[PT_IPV4ADDR] = {value_put_addr4, 4},
	[PT_DYN] = {put_dyn, 1, "INVALID DYNAMIC PARAMETER"},
	[PT_FLAGS8] = {put_flags, 1},
	[PT_FLAGS16] = {put_flags, 2},
	[PT_FLAGS32] = {put_flags, 4},
	[PT_UID] = {put_id, 4},
	[PT_GID] = {put_id, 4},
	[PT_DOUBLE] = {put_double, 8},
	[PT_SIGSET] = {put_sigset, 4},
	[PT_CHARBUFARRAY] = {put_texts, 0},
	[PT_CHARBUF_PAIR_ARRAY] = {put_texts, 0},
	[PT_IPV4NET] = {value_put_addr4, 4},
	[PT_IPV6ADDR] = {value_put_addr6, 16},
	[PT_IPV6NET] = {value_put_addr6, 16},
	[PT_IPADDR] = {value_put_addr, 4},
	[PT_IPNET] = {value_put_addr, 4},
	[PT_MODE] = {put_mode, 4},
	[PT_FSRELPATH] = {put_path, 1},
	[PT_ENUMFLAGS8] = {put_flags, 1},
	[PT_ENUMFLAGS16] = {put_flags, 2},
	[PT_ENUMFLAGS32] = {put_flags, 4},
	[PT_FD32] = {put_fd, 4},
	[PT_PID32] = {put_pid, 4},
	[PT_SIGSET64] = {put_sigset64, 8},
	[PT_FLAGS64] = {put_flags64, 8},
	[PT_ENUMFLAGS64] = {put_flags64, 8},
	[PT_WAITSTATUS] = {put_wait_status, 4},
	[PT_CPUSET] = {put_cpuset, 1},
	[PT_GIDLIST] = {put_gid_list, 4},
	[PT_LIST] = {put_list, 0},
};

static char *put_value(struct value_writer *w, char *p, const struct value *v)
{
	const struct value_type *t = &value_types[v->type < PT_MAX ? v->type : PT_NONE];

	if (!t->put)
		return put_lit(p, "(n.a.)");
	if (v->len < t->min)
		return put_cstr(p, t->absent ? t->absent : "<NA>");
	return t->put(w, p, v);
}

static struct value value_of(const struct sinsp_evt *evt, unsigned int i)
{
	const struct scap_param_info *info = &evt->info->params[i];

	return (struct value){
		.p = evt->params.v[i].p,
		.len = evt->params.v[i].len,
		.type = info->type,
		.fmt = info->fmt,
		.info = info,
	};
}

char *sinsp_value_put(struct value_writer *w, char *p, unsigned int i)
{
	const struct value v = value_of(w->evt, i);

	w->meaning = 0;
	return put_value(w, p, &v);
}

int sinsp_value_arg(struct value_writer *w, unsigned int i)
{
	struct sinsp_text *const out = w->out;
	const size_t start = out->len;
	char *p = text_begin(out, VALUE_ROOM);
	size_t n;

	if (p)
		p = sinsp_value_put(w, p, i);
	if (p && w->meaning) {
		n = (size_t)(p - out->p) - w->meaning - 2;
		memmove(out->p + start, out->p + w->meaning + 1, n);
		p = out->p + start + n;
	}
	return text_end(out, p);
}

int sinsp_value_abspath(struct value_writer *w, unsigned int i)
{
	const struct value v = value_of(w->evt, i);
	char full[SINSP_PATH_SZ];
	int certain;
	size_t n;
	char *p;

	if (!v.len || !w->evt->thread || is_na(&v))
		return 0;
	n = absolute(w, &v, full, &certain);
	p = n ? text_begin(w->out, n) : NULL;
	if (!n)
		return 0;
	return text_end(w->out, p ? put_utf8(p, full, n) : NULL) ?: 1;
}
