/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns by PCRE2. Values are searched as bytes, since they need not be text.
 *
 * The work for a value is at most proportional to its length, whatever the pattern: before each
 * item of the pattern PCRE2 calls count_steps, which adds the bytes that the item before it passed.
 * The limits of PCRE2 itself do not count those, and would let a long value cost its length
 * squared.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "redact_pattern.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

/* Some 50 us for a value of 80 bytes. */
#define STEPS_MIN 10000
#define STEPS_PER_BYTE 50

struct redact_pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	size_t steps, steps_max; /* for the current value */
	size_t position; /* where the search was at the last step */
};

static int count_steps(pcre2_callout_block *at, void *ctx)
{
	struct redact_pattern *p = ctx;
	const size_t now = at->current_position;

	p->steps += 1 + (now > p->position ? now - p->position : p->position - now);
	p->position = now;
	return p->steps > p->steps_max ? PCRE2_ERROR_CALLOUT : 0;
}

static int prepare(struct redact_pattern *p)
{
	p->data = pcre2_match_data_create(1, NULL);
	p->context = pcre2_match_context_create(NULL);
	if (!p->data || !p->context)
		return -ENOMEM;
	pcre2_set_callout(p->context, count_steps, p);
	/* If the processor lacks it, matching is slower with the same result. */
	pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
	return 0;
}

int redact_pattern_new(struct redact_pattern **out, const char *text, size_t len, char *why,
		       size_t *at)
{
	const uint32_t options = PCRE2_AUTO_CALLOUT | PCRE2_NEVER_UTF | PCRE2_NO_AUTO_CAPTURE;
	struct redact_pattern *p = calloc(1, sizeof(*p));
	PCRE2_SIZE offset = 0;
	int code, err = -ENOMEM;

	if (!p)
		return err;
	p->code = pcre2_compile((PCRE2_SPTR)text, len, options, &code, &offset, NULL);
	if (!p->code) {
		pcre2_get_error_message(code, (PCRE2_UCHAR *)why, 256);
		*at = offset < len ? offset : len;
		err = code == PCRE2_ERROR_NOMEMORY ? -ENOMEM : -EINVAL;
		goto err;
	}
	err = prepare(p);
	if (err)
		goto err;
	*out = p;
	return 0;
err:
	redact_pattern_free(p);
	return err;
}

void redact_pattern_free(struct redact_pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->context);
	pcre2_match_data_free(p->data);
	pcre2_code_free(p->code);
	free(p);
}

/* Overwrites the match that was found. Returns where the search goes on: behind it, and at least a
 * byte behind @at. With \K in an assertion a match may begin behind its end. */
static size_t overwrite_match(const struct redact_pattern *p, uint8_t *to, size_t at)
{
	const PCRE2_SIZE *match = pcre2_get_ovector_pointer(p->data);
	const size_t begin = match[0] < match[1] ? match[0] : match[1],
		     end = match[0] < match[1] ? match[1] : match[0];

	memset(to + begin, '*', end - begin);
	return end > at ? end : at + 1;
}

int redact_pattern_apply(struct redact_pattern *p, uint8_t *to, const uint8_t *from, size_t len)
{
	int n = 0, found;

	p->steps = p->position = 0;
	p->steps_max = STEPS_MIN + STEPS_PER_BYTE * len;
	for (size_t at = 0; at < len; n++) {
		found = pcre2_match(p->code, from, len, at, PCRE2_NOTEMPTY, p->data, p->context);
		if (found == PCRE2_ERROR_NOMATCH)
			return n;
		if (found < 0) {
			memset(to, '*', len);
			return -1;
		}
		at = overwrite_match(p, to, at);
	}
	return n;
}
