/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of saker top. */
#ifndef SAKER_TOP_OPTIONS_H
#define SAKER_TOP_OPTIONS_H

#include "option_args.h"

enum top_mode { TOP_SHOW, TOP_LIST_VIEWS, TOP_LIST_KEYS, TOP_HELP, TOP_VERSION };

struct top_options {
	int mode; /* enum top_mode */
	int batch, json, containers, verbose, no_colour, unconfined;
	const char *view, *read; /* read: NULL: live. Borrowed */
	uint64_t n_tables; /* 0: no limit */
	uint64_t interval_ns; /* 0: default */
	uint64_t from, to; /* rows of JSON, from 0; to 0: the last */
	uint64_t sorting_col; /* 0: that of the view */
	uint64_t ring_sz; /* 0: default */
	const char *container_socket, *cri_socket; /* as in saker */
	char *filter; /* owned; NULL: none */
	struct scap_redact *redact; /* owned; NULL: none */
};

/* Parses the command line. Returns 0; a negative errno after reporting the error. @o must be zero;
 * top_options_fini frees. */
int top_options_parse(struct top_options *o, int argc, char **argv);
void top_options_fini(struct top_options *o);
void top_help(FILE *f);

#endif /* SAKER_TOP_OPTIONS_H */
