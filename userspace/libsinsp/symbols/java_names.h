/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and lines of Java's methods. The line table is HotSpot's compressed one
 * (CompressedLineNumberReadStream). Names and tables are hostile.
 */
#ifndef SINSP_SYMBOLS_JAVA_NAMES_H
#define SINSP_SYMBOLS_JAVA_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct java_method {
	const uint8_t *class_name, *name; /* as in a class file: java/lang/Thread */
	size_t class_len, name_len;
};

/* Puts the name with its class, as java.lang.Thread.run, with a NUL. A class that is made at run
 * time has its number cut off. Needs room for both names and two bytes more. Returns the end. */
char *java_put_method(char *to, const struct java_method *m);

struct java_line_table {
	const uint8_t *bytes;
	size_t n;
	uint8_t feature; /* version of Java */
};

/* Returns the line of the bytecode at @bci; 0: unknown. */
uint32_t java_line(const struct java_line_table *t, uint32_t bci);

#endif /* SINSP_SYMBOLS_JAVA_NAMES_H */
