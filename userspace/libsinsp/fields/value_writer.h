/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of values: where their text goes, and the options that it is printed with. */
#ifndef SINSP_FIELDS_VALUE_WRITER_H
#define SINSP_FIELDS_VALUE_WRITER_H

#include "text.h"

#define VALUE_BUF_MAX 80 /* default number of characters of a buffer printed as dots */
#define VALUE_ROOM 160 /* at least the longest value of fixed size */

struct value_writer {
	struct sinsp_text *out;
	const struct sinsp_evt *evt;
	enum sinsp_buf_fmt buf_fmt;
	uint32_t buf_max;
	uint32_t buf_cut; /* bytes of a buffer; 0: all */
	uint8_t port_names; /* print ports by the names of their services */
	uint8_t no_env; /* lists of arguments omit the environment of an exec */
	size_t meaning; /* of the last written value: offset of its "(meaning)"; 0: none */
};

#endif /* SINSP_FIELDS_VALUE_WRITER_H */
