/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions by PCRE2, with a limit of steps. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.h"

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>

/* Maximum number of steps, some 100 us; then a text does not match. (a+)+$ on 30 bytes needs
 * 2^30. */
#define STEPS_MAX 50000
#define HEAP_MAX_KIB 1024

struct sinsp_regex {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	int gave_up;
};

static int prepare(struct sinsp_regex *re)
{
	re->data = pcre2_match_data_create(1, NULL);
	re->context = pcre2_match_context_create(NULL);
	if (!re->data || !re->context)
		return -ENOMEM;
	pcre2_set_match_limit(re->context, STEPS_MAX);
	pcre2_set_depth_limit(re->context, STEPS_MAX);
	pcre2_set_heap_limit(re->context, HEAP_MAX_KIB);
	/* If the processor lacks it, matching is slower with the same result. */
	pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);
	return 0;
}

int sinsp_regex_new(struct sinsp_regex **out, const char *pattern, size_t len, char *why,
		    size_t *at)
{
	const uint32_t options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_UTF |
				 PCRE2_MATCH_INVALID_UTF | PCRE2_NO_AUTO_CAPTURE |
				 PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
	struct sinsp_regex *re = calloc(1, sizeof(*re));
	PCRE2_SIZE offset = 0;
	int code, err = -ENOMEM;

	if (!re)
		return err;
	re->code = pcre2_compile((PCRE2_SPTR)pattern, len, options, &code, &offset, NULL);
	if (!re->code) {
		pcre2_get_error_message(code, (PCRE2_UCHAR *)why, 256);
		*at = offset < len ? offset : len;
		err = code == PCRE2_ERROR_NOMEMORY ? -ENOMEM : -EINVAL;
		goto err;
	}
	err = prepare(re);
	if (err)
		goto err;
	*out = re;
	return 0;
err:
	sinsp_regex_free(re);
	return err;
}

void sinsp_regex_free(struct sinsp_regex *re)
{
	if (!re)
		return;
	pcre2_match_context_free(re->context);
	pcre2_match_data_free(re->data);
	pcre2_code_free(re->code);
	free(re);
}

int sinsp_regex_match(struct sinsp_regex *re, const char *p, size_t len)
{
	const int n = pcre2_match(re->code, (PCRE2_SPTR)p, len, 0, 0, re->data, re->context);

	re->gave_up |= n < 0 && n != PCRE2_ERROR_NOMATCH;
	return n >= 0;
}

int sinsp_regex_hit_limit(const struct sinsp_regex *re)
{
	return re->gave_up;
}
