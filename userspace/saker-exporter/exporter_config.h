/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file of saker exporter: lines KEY = VALUE, where a key is the long name of an
 * option. The rows of the options decide what a value may be; an option without an argument is yes
 * or no. The file is hostile: its size is bounded, and so is what is said about it.
 */
#ifndef SAKER_EXPORTER_CONFIG_H
#define SAKER_EXPORTER_CONFIG_H

#include "option_args.h"

struct config_value {
	const struct option_row *row;
	const char *text;
};

/* Zero-initialize. */
struct exporter_config {
	char *text; /* owned: what the values and the options borrow */
	struct config_value *values; /* owned; in the order of the file */
	size_t n;
};

/* Reads the file into @options, the struct of the members of @rows. Returns 0, or a negative errno
 * after reporting each line that cannot be used. */
int exporter_config_read(struct exporter_config *c, void *options, const struct option_row *rows,
			 const char *path);
void exporter_config_fini(struct exporter_config *c);

/* Writes the names of the options that a reload does not apply and whose values differ, separated
 * by commas. Returns whether there are any. */
int exporter_config_fixed(char *names, size_t sz, const struct option_row *rows,
			  const struct exporter_config *old, const struct exporter_config *new);

#endif /* SAKER_EXPORTER_CONFIG_H */
