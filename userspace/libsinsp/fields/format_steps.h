/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled format: the steps that format_compile.c makes and format.c executes. */
#ifndef SINSP_FIELDS_FORMAT_STEPS_H
#define SINSP_FIELDS_FORMAT_STEPS_H

#include "field.h"
#include "format.h"

/* Literal text before the value; the last step of the program has no value. */
struct format_step {
	const char *text; /* in sinsp_format.texts */
	uint32_t len;
	uint32_t width; /* 0: not padded */
	const char *colour; /* escape sequence on a terminal; NULL: none */
	uint8_t has_field, is_args, is_info, is_result;
	struct sinsp_field field;
	const char *name; /* as written in the format */
	uint32_t name_len;
	uint64_t n_without; /* events without a line for lack of this field's value */
};

struct sinsp_format {
	struct sinsp_eval eval;
	enum sinsp_format_kind kind;
	int lenient; /* a missing value does not drop the line */
	struct format_step *steps;
	size_t n_steps;
	char *source; /* the format */
	struct sinsp_text texts;
};

#endif /* SINSP_FIELDS_FORMAT_STEPS_H */
