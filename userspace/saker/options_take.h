/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of option arguments to values: the take column of the option rows. */
#ifndef SAKER_OPTIONS_TAKE_H
#define SAKER_OPTIONS_TAKE_H

#include "options.h"

int take_lines_kind(void *member, const struct option_row *row, const char *arg); /* int */
int take_value(void *member, const struct option_row *row, const char *arg); /* int */
int take_compress(void *member, const struct option_row *row, const char *arg); /* int */
int take_nothing(void *member, const struct option_row *row, const char *arg);
int take_text(void *member, const struct option_row *row, const char *arg); /* const char * */
int take_list(void *member, const struct option_row *row, const char *arg); /* struct text_list */
int take_comm(void *member, const struct option_row *row, const char *arg); /* struct text_list */
int take_choice(void *member, const struct option_row *row, const char *arg); /* int */
int take_format(void *member, const struct option_row *row, const char *arg); /* line_format */
int take_count(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int take_megabytes(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int take_seconds(void *member, const struct option_row *row, const char *arg); /* uint64_t, ns */
int take_hz(void *member, const struct option_row *row, const char *arg); /* uint64_t, ns */
int take_depth(void *member, const struct option_row *row, const char *arg); /* uint32_t */
int take_percent(void *member, const struct option_row *row, const char *arg); /* uint32_t */
int take_snaplen(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int take_ring_size(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int take_file_size(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int take_min_free(void *member, const struct option_row *row, const char *arg); /* size_option */
int take_tables_size(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int take_cpus_per_ring(void *member, const struct option_row *row, const char *arg); /* uint32_t */
int take_syscalls(void *member, const struct option_row *row, const char *arg); /* call_list */
int take_pids(void *member, const struct option_row *row, const char *arg); /* number_list */
int take_uids(void *member, const struct option_row *row, const char *arg); /* number_list */
int take_names(void *member, const struct option_row *row, const char *arg); /* name_list */
int take_comms(void *member, const struct option_row *row, const char *arg); /* name_list */
int take_filter_name(void *member, const struct option_row *row,
		     const char *arg); /* filter_name_list */
int take_snap_port(void *member, const struct option_row *row,
		   const char *arg); /* snap_port_list */

/* struct options */
int take_chisel(void *member, const struct option_row *row, const char *arg);
int take_diff(void *member, const struct option_row *row, const char *arg);
int take_chisel_info(void *member, const struct option_row *row, const char *arg);
int take_chisel_limit(void *member, const struct option_row *row,
		      const char *arg); /* struct chisel_limit */

/* Returns 0 if @name is a valid comm; else -EINVAL after reporting the reason. */
int check_comm(const struct option_row *row, const char *name);

#endif /* SAKER_OPTIONS_TAKE_H */
