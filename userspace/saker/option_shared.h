/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of options that several commands have: each adds its group, and the text if it differs. */
#ifndef SAKER_OPTION_SHARED_H
#define SAKER_OPTION_SHARED_H

#include "option_values.h"

#define AT(member) offsetof(struct options, member)

/* clang-format off */
#define ROW_FREQUENCY(group) \
	{'F', "frequency", "HZ", group, \
	 "Sample each CPU HZ times per second, 1 to 4000 (default 99).", \
	 parse_hz, AT(sample.period_ns)}
#define ROW_STACK_DEPTH(group) \
	{0, "stack-depth", "NUM", group, \
	 "At most NUM frames per user stack, up to 1024 (default 128); one of an interpreter " \
	 "counts as two or more.", \
	 parse_depth, AT(sample.depth)}
#define ROW_UNWIND_TABLES(group) \
	{0, "unwind-tables", "SIZE", group, \
	 "Memory limit of the unwind tables, with optional suffix K, M or G (default 64M). Raise " \
	 "it if -v reports tables that did not fit.", \
	 parse_tables_size, AT(sample.tables_sz)}
#define ROW_PROBABILITY(group) \
	{0, "probabilistic-threshold", "PERCENT", group, \
	 "Sample only some intervals: each one with this probability, 1 to 100.", \
	 parse_percent, AT(sample.threshold)}
#define ROW_INTERVAL(group) \
	{0, "probabilistic-interval", "SECONDS", group, \
	 "Length of these intervals, 1 or more (default 60).", \
	 parse_seconds, AT(sample.interval_ns)}
#define ROW_FROM(group) \
	{0, "from", "TIME", group, \
	 "With -r: only events from TIME on: a time of day as on the lines, as in 14:03:05.25; " \
	 "'2026-01-31 14:03:05', also with Z or +01:00 behind it; seconds since 1970; or +SECONDS " \
	 "after the first event. Earlier events only change the state. A long capture by saker is not " \
	 "read from its beginning.", \
	 parse_time, AT(from)}
#define ROW_TO(group) \
	{0, "to", "TIME", group, "With -r: only events up to TIME, written as for --from.", parse_time, AT(to)}
#define ROW_WRITE(group, help) {'w', "write", "FILE", group, help, set_text, AT(write)}
#define ROW_WITH_SYMBOLS(group) \
	{0, "with-symbols", NULL, group, \
	 "With -w: write the symbols of sampled frames to the file, so that any machine can show " \
	 "them.", \
	 set_value, AT(with_symbols), 1}
#define ROW_DEBUG_DIR(group) \
	{0, "debug-dir", "DIRS", group, \
	 "Also look for symbols and debugging information in these folders, separated by colons. " \
	 "Each has the layout of /usr/lib/debug: DIR/.build-id/xx/yyyy.debug.", \
	 set_text, AT(debug_dirs)}
#define ROW_INTERPRETER_FRAMES(group) \
	{0, "interpreter-frames", NULL, group, \
	 "Also show the native frames of interpreters (Python) between those of the language.", \
	 set_value, AT(interpreter_frames), 1}
#define ROW_ZSTD(group) \
	{0, "zstd", NULL, group, \
	 "With -w: compress with zstd: faster and smaller than gzip, but other tools must " \
	 "decompress the file first.", \
	 parse_compress, AT(compress), SCAP_COMPRESS_ZSTD}
#define ROW_MAX_SIZE(group) \
	{0, "max-size", "SIZE", group, \
	 "With -w: stop when the file reaches SIZE bytes, with optional suffix K, M or G. With " \
	 "-C, -G or -e: all files together. A compressed file may be slightly larger.", \
	 parse_file_size, AT(max_size)}
#define ROW_MIN_FREE(group) \
	{0, "min-free", "SIZE", group, \
	 "With -w: stop when the file system has less than SIZE bytes free; 0 disables the " \
	 "check. Default: 1G, or 5 % of the file system if that is less.", \
	 parse_min_free, AT(min_free)}
#define ROW_REDACT(group) OPTION_ROW_REDACT(group, AT(redact))
#define ROW_HELP(group) {'h', "help", NULL, group, "Show this text.", set_value, AT(mode), MODE_HELP}
/* clang-format on */

#endif /* SAKER_OPTION_SHARED_H */
