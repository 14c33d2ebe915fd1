/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers of Kindling's agent for Java: `kd-KIND@PART!PART!...!`, with the parts in a fixed order.
 * Those of transactions are enter and exit; the others come after what they report, so each is a
 * whole span, whose time is in its arguments.
 *
 * The tags are "kd", the kind, and what tells spans of one ID apart; the other parts are arguments.
 */
#include <errno.h>
#include <string.h>

#include "marker_list.h"

enum { PARTS_MAX = 9 };

struct part {
	const uint8_t *p;
	size_t n;
};

/* Splits the text at each '!'. Returns the number of parts that end with one. */
static unsigned int split(struct part *parts, const uint8_t *p, const uint8_t *end)
{
	unsigned int n = 0;

	while (n < PARTS_MAX) {
		const uint8_t *mark = memchr(p, '!', (size_t)(end - p));

		if (!mark)
			break;
		parts[n++] = (struct part){p, (size_t)(mark - p)};
		p = mark + 1;
	}
	return n;
}

static int put_bytes(struct marker_list *to, const void *text, size_t n)
{
	const uint8_t *p = text;

	for (size_t i = 0; i < n; i++)
		if (marker_is_control(p[i]) || marker_put(to, (char)p[i]))
			return MALFORMED;
	return marker_end_text(to);
}

static int put_word(struct marker_list *to, const char *word)
{
	return put_bytes(to, word, strlen(word));
}

/* Appends an argument, unless the part is empty. */
static int put_arg(struct marker_list *to, const char *name, const struct part *part)
{
	return part->n ? put_word(to, name) ?: put_bytes(to, part->p, part->n) : 0;
}

/* Appends the arguments that were written, of @names in the order of the parts. */
static int put_args(struct marker_list *to, const char *const *names, const struct part *parts,
		    unsigned int n)
{
	for (unsigned int i = 0; i < n && names[i]; i++)
		if (put_arg(to, names[i], &parts[i]))
			return MALFORMED;
	return 0;
}

static int put_tags(struct marker_list *to, const char *kind, const struct part *last)
{
	if (put_word(to, "kd") || put_word(to, kind))
		return MALFORMED;
	return last ? put_bytes(to, last->p, last->n) : 0;
}

/* Sets *v to the decimal number that the part is. */
static int number_of(const struct part *part, uint64_t *v)
{
	uint64_t u = 0;

	for (size_t i = 0; i < part->n; i++) {
		if (part->p[i] < '0' || part->p[i] > '9' || u > (INT64_MAX - 9) / 10)
			return MALFORMED;
		u = u * 10 + (part->p[i] - '0');
	}
	*v = u;
	return part->n ? 0 : MALFORMED;
}

static int put_tid(struct marker *m, const struct part *part)
{
	uint64_t tid;

	if (number_of(part, &tid) || !tid || tid > INT32_MAX)
		return MALFORMED;
	m->id_kind = MARKER_ID_OTHER_THREAD;
	m->id = (int64_t)tid;
	return 0;
}

/* TRACE!1!PROTOCOL!URL! is an enter, TRACE!0! an exit. */
static int parse_txid(struct marker *m, const struct part *v, unsigned int n)
{
	static const char *const names[] = {"protocol", "url", NULL};

	if (v[1].n != 1 || (*v[1].p != '0' && *v[1].p != '1'))
		return MALFORMED;
	m->is_exit = *v[1].p == '0';
	return put_tags(&m->tags, "tx", &v[0]) ?: put_args(&m->args, names, v + 2, n - 2);
}

/* TRACE!START!URL! */
static int parse_txin(struct marker *m, const struct part *v, unsigned int n)
{
	static const char *const names[] = {"start", "url", NULL};

	return put_tags(&m->tags, "tx", &v[0]) ?: put_args(&m->args, names, v + 1, n - 1);
}

/* TRACE!APM!THREAD TYPE!ERROR!SPAN ID! */
static int parse_txout(struct marker *m, const struct part *v, unsigned int n)
{
	static const char *const names[] = {"apm", "thread_type", "error", "span_id", NULL};

	m->is_exit = 1;
	return put_tags(&m->tags, "tx", &v[0]) ?: put_args(&m->args, names, v + 1, n - 1);
}

/* TIME!SPAN!TRACE!, where the time is that of @name. */
static int put_span(struct marker *m, const struct part *v, unsigned int n, const char *name)
{
	uint64_t ns;

	m->is_whole = 1;
	if (number_of(&v[0], &ns) || put_arg(&m->args, name, &v[0]))
		return MALFORMED;
	if (n > 2 && put_arg(&m->args, "trace_id", &v[2]))
		return MALFORMED;
	return put_tags(&m->tags, "span", &v[1]);
}

static int parse_span(struct marker *m, const struct part *v, unsigned int n)
{
	return put_span(m, v, n, MARKER_ARG_DURATION);
}

static int parse_span_1(struct marker *m, const struct part *v, unsigned int n)
{
	return put_span(m, v, n, MARKER_ARG_BEGIN);
}

/* BEGIN!END!TID!LOCK!TYPE!THREAD!DURATION!HOLDER!STACK! */
static int parse_jf(struct marker *m, const struct part *v, unsigned int n)
{
	static const char *const names[] = {"thread", NULL}, *const more[] = {"holder", "stack",
									      NULL};
	uint64_t begin, end;

	m->is_whole = 1;
	if (number_of(&v[0], &begin) || number_of(&v[1], &end) || begin > end || put_tid(m, &v[2]))
		return MALFORMED;
	if (put_arg(&m->args, MARKER_ARG_BEGIN, &v[0]) ||
	    put_arg(&m->args, MARKER_ARG_END, &v[1]) || put_arg(&m->args, "lock", &v[3]) ||
	    put_tags(&m->tags, "jf", &v[4]))
		return MALFORMED;
	if (put_args(&m->args, names, v + 5, n - 5))
		return MALFORMED;
	return n > 7 ? put_args(&m->args, more, v + 7, n - 7) : 0;
}

/* TID!NAME! */
static int parse_tm(struct marker *m, const struct part *v, unsigned int n)
{
	(void)n;
	m->is_whole = 1;
	return put_tid(m, &v[0]) ?: put_tags(&m->tags, "tm", NULL) ?: put_arg(&m->args, "name", &v[1]);
}

static const struct {
	const char *head;
	unsigned int n_needed, n_known; /* parts */
	int (*parse)(struct marker *m, const struct part *v, unsigned int n);
} kinds[] = {
	{"kd-txid@", 2, 4, parse_txid},     {"kd-txin@4!", 1, 3, parse_txin},
	{"kd-txout@4!", 1, 5, parse_txout}, {"kd-span@1!", 2, 3, parse_span_1},
	{"kd-span@", 2, 3, parse_span},     {"kd-jf@", 5, 9, parse_jf},
	{"kd-tm@", 2, 2, parse_tm},
};

int marker_parse_kindling(struct marker *m, const uint8_t *p, size_t n, int is_cut)
{
	const size_t sz = n < MARKER_TEXT_MAX ? n : MARKER_TEXT_MAX;
	struct part parts[PARTS_MAX];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const size_t head = strlen(kinds[i].head);
		unsigned int n_parts;

		if (n < head || memcmp(p, kinds[i].head, head))
			continue;
		n_parts = split(parts, p + head, p + sz);
		is_cut |= n > sz;
		if (n_parts > kinds[i].n_known)
			n_parts = kinds[i].n_known;
		if (n_parts < kinds[i].n_needed)
			return is_cut && n <= sz ? -EMSGSIZE : -EINVAL;
		m->is_cut = is_cut && n_parts < kinds[i].n_known;
		return kinds[i].parse(m, parts, n_parts) ? -EINVAL : 1;
	}
	return 0;
}
