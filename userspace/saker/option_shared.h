/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of options that more than one command has: each gives its group, and the text where that is
 * not the same. */
#ifndef SAKER_OPTION_SHARED_H
#define SAKER_OPTION_SHARED_H

#include "options_take.h"

#define AT(member) offsetof(struct options, member)

/* clang-format off */
#define ROW_FREQUENCY(group) \
	{'F', "frequency", "HZ", group, \
	 "Sample each CPU HZ times a second, from 1 to 4000; 99 without it.", \
	 take_hz, AT(sample.period_ns)}
#define ROW_STACK_DEPTH(group) \
	{0, "stack-depth", "NUM", group, \
	 "Take NUM frames of a user stack at most, up to 1024; 128 without it.", \
	 take_depth, AT(sample.depth)}
#define ROW_UNWIND_TABLES(group) \
	{0, "unwind-tables", "SIZE", group, \
	 "Bytes that the tables take at most by which stacks are walked; K, M, G may follow. 64M without " \
	 "it. For when -v tells of tables that found no room.", \
	 take_tables_size, AT(sample.tables_sz)}
#define ROW_PROBABILITY(group) \
	{0, "probabilistic-threshold", "PERCENT", group, \
	 "Sample a part of the time: each interval is sampled with this probability, from 1 to 100.", \
	 take_percent, AT(sample.threshold)}
#define ROW_INTERVAL(group) \
	{0, "probabilistic-interval", "SECONDS", group, \
	 "Length of these intervals, 1 or more; 60 without it.", \
	 take_seconds, AT(sample.interval_ns)}
#define ROW_WRITE(group, help) {'w', "write", "FILE", group, help, take_text, AT(write)}
#define ROW_WITH_SYMBOLS(group) \
	{0, "with-symbols", NULL, group, \
	 "With -w: put the names of the frames of samples into the file, so that it tells them on any " \
	 "machine.", \
	 take_value, AT(with_symbols), 1}
#define ROW_DEBUG_DIR(group) \
	{0, "debug-dir", "DIRS", group, \
	 "Look for symbols and debugging information in these folders, too, with colons between, each as " \
	 "/usr/lib/debug: DIR/.build-id/xx/yyyy.debug.", \
	 take_text, AT(debug_dirs)}
#define ROW_ZSTD(group) \
	{0, "zstd", NULL, group, \
	 "Compress what -w writes with zstd: faster and smaller, but only saker reads it without " \
	 "unpacking.", \
	 take_compress, AT(compress), SCAP_COMPRESS_ZSTD}
#define ROW_MAX_SIZE(group) \
	{0, "max-size", "SIZE", group, \
	 "With -w: end when the file has SIZE bytes, K, M, G may follow; with -C, -G or -e all files " \
	 "together. What is compressed may be a little larger.", \
	 take_file_size, AT(max_size)}
#define ROW_MIN_FREE(group) \
	{0, "min-free", "SIZE", group, \
	 "With -w: end when the file system has less than SIZE bytes left; 0 is no limit. Default: 1G, or " \
	 "a twentieth of the file system if that is less.", \
	 take_min_free, AT(min_free)}
#define ROW_HELP(group) {'h', "help", NULL, group, "Show this text.", take_value, AT(mode), MODE_HELP}
/* clang-format on */

#endif /* SAKER_OPTION_SHARED_H */
