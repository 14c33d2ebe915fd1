/* SPDX-License-Identifier: Apache-2.0 */
/* Transformers of filters: tolower, toupper, b64, basename, join, getopt. */
#include "transform.h"

#include <errno.h>
#include <string.h>

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static unsigned char upper(unsigned char c)
{
	return c >= 'a' && c <= 'z' ? c - 32 : c;
}

/* Writes @in in the other case at v->p. */
static int change_case(struct sinsp_eval *e, const struct sinsp_value *in, struct sinsp_value *v,
		       unsigned char (*change)(unsigned char))
{
	char *to = sinsp_eval_alloc(e, in->len);

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->len; i++)
		to[i] = (char)change((unsigned char)in->p[i]);
	v->p = to;
	return 1;
}

static int basename_of(const struct sinsp_value *in, struct sinsp_value *v)
{
	const char *slash = in->len ? memrchr(in->p, '/', in->len) : NULL;

	if (slash) {
		v->p = slash + 1;
		v->len = (uint32_t)(in->p + in->len - v->p);
	}
	return 1;
}

static int base64_digit(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes base64; padding may be missing. Returns 0 if it is invalid. */
static int from_base64(struct sinsp_eval *e, const struct sinsp_value *in, struct sinsp_value *v)
{
	uint32_t n = in->len, bits = 0, len = 0;
	char *to = sinsp_eval_alloc(e, in->len);

	if (!to)
		return -ENOMEM;
	while (n && in->len - n < 2 && in->p[n - 1] == '=')
		n--;
	if (n % 4 == 1)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const int digit = base64_digit((unsigned char)in->p[i]);

		if (digit < 0)
			return 0;
		bits = bits << 6 | (uint32_t)digit;
		if (i % 4)
			to[len++] = (char)(bits >> (6 - i % 4 * 2));
	}
	v->p = to;
	v->len = len;
	return 1;
}

static int transform_one(struct sinsp_eval *e, enum filter_fn fn, const struct sinsp_value *in,
			 struct sinsp_value *v)
{
	*v = *in;
	switch (fn) {
	case FILTER_FN_TOLOWER:
		return change_case(e, in, v, lower);
	case FILTER_FN_TOUPPER:
		return change_case(e, in, v, upper);
	case FILTER_FN_B64:
		return from_base64(e, in, v);
	default:
		return basename_of(in, v);
	}
}

int sinsp_transform_each(struct sinsp_eval *e, enum filter_fn fn, struct sinsp_values in,
			 struct sinsp_value *v, const struct sinsp_value **more)
{
	struct sinsp_value *list;

	if (in.n == 1)
		return transform_one(e, fn, in.v, v);
	list = sinsp_eval_alloc(e, (size_t)in.n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (int i = 0; i < in.n; i++) {
		const int r = transform_one(e, fn, &in.v[i], &list[i]);

		if (r <= 0)
			return r;
	}
	*v = list[0];
	*more = list;
	return in.n;
}

int sinsp_transform_join(struct sinsp_eval *e, struct sinsp_values in,
			 const struct sinsp_value *sep, struct sinsp_value *v)
{
	size_t len = 0;
	char *to;

	for (int i = 0; i < in.n; i++)
		len += in.v[i].len + (i && sep ? sep->len : 0);
	if (len > UINT32_MAX)
		return -ENOMEM;
	to = sinsp_eval_alloc(e, len);
	if (!to)
		return -ENOMEM;
	v->p = to;
	v->len = (uint32_t)len;
	for (int i = 0; i < in.n; i++) {
		if (i && sep && sep->len)
			to = mempcpy(to, sep->p, sep->len);
		if (in.v[i].len)
			to = mempcpy(to, in.v[i].p, in.v[i].len);
	}
	return 1;
}

/* ---- getopt ---- */

struct options {
	struct sinsp_values args;
	const struct sinsp_value *letters;
	char letter;
	struct sinsp_value *out; /* room for the maximum */
	int n;
};

/* Returns the option's letter in "ab:"; NULL: there is none. */
static const char *find_letter(const struct sinsp_value *letters, char c)
{
	return c == ':' || !letters->len ? NULL : memchr(letters->p, c, letters->len);
}

static int has_value(const struct sinsp_value *letters, const char *at)
{
	return at + 1 < letters->p + letters->len && at[1] == ':';
}

static void put(struct options *o, const char *p, size_t len)
{
	o->out[o->n++] = (struct sinsp_value){.p = p, .len = (uint32_t)len, .type = FIELD_STR};
}

static void put_option(struct options *o, const char *letter, const char *value, size_t len)
{
	if (o->letter) {
		if (*letter != o->letter)
			return;
		o->n = 0;
		put(o, value ? value : letter, value ? len : 1);
		return;
	}
	put(o, letter, 1);
	if (value)
		put(o, value, len);
}

/* An option without its value: an empty one. */
static void put_missing(struct options *o, const char *letter)
{
	if (o->letter && *letter != o->letter)
		return;
	if (o->letter)
		o->n = 0;
	put(o, "", 0);
}

/* Reads the letters after a dash; the rest after one with a value is the value, or it is the next
 * argument. Returns the number of arguments read. */
static int read_cluster(struct options *o, int i)
{
	const struct sinsp_value *arg = &o->args.v[i];

	for (uint32_t k = 1; k < arg->len; k++) {
		const char *at = find_letter(o->letters, arg->p[k]);

		if (!at) {
			if (!o->letter)
				put(o, "?", 1);
		} else if (!has_value(o->letters, at)) {
			put_option(o, arg->p + k, NULL, 0);
		} else if (k + 1 < arg->len) {
			put_option(o, arg->p + k, arg->p + k + 1, arg->len - k - 1);
			return 1;
		} else if (i + 1 < o->args.n) {
			put_option(o, arg->p + k, arg[1].p, arg[1].len);
			return 2;
		} else {
			put_missing(o, arg->p + k);
		}
	}
	return 1;
}

static void read_options(struct options *o)
{
	for (int i = 0; i < o->args.n;) {
		const struct sinsp_value *arg = &o->args.v[i];

		if (arg->len < 2 || arg->p[0] != '-' || (arg->len == 2 && arg->p[1] == '-'))
			return;
		i += arg->p[1] == '-' ? 1 : read_cluster(o, i);
	}
}

int sinsp_transform_getopt(struct sinsp_eval *e, struct sinsp_values in,
			   const struct sinsp_value *letters, char letter, struct sinsp_value *v,
			   const struct sinsp_value **more)
{
	struct options o = {.args = in, .letters = letters, .letter = letter};
	size_t max = (size_t)in.n + 1;

	for (int i = 0; i < in.n; i++)
		max += in.v[i].len;
	o.out = sinsp_eval_alloc(e, max * sizeof(*o.out));
	if (!o.out)
		return -ENOMEM;
	read_options(&o);
	if (o.n)
		*v = o.out[0];
	if (o.n > 1)
		*more = o.out;
	return o.n;
}
