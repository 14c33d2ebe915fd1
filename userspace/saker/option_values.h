/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of option arguments to values: the take column of the option rows. */
#ifndef SAKER_OPTION_VALUES_H
#define SAKER_OPTION_VALUES_H

#include "options.h"

int parse_lines_kind(void *member, const struct option_row *row, const char *arg); /* int */
int set_value(void *member, const struct option_row *row, const char *arg); /* int */
int parse_compress(void *member, const struct option_row *row, const char *arg); /* int */
int ignore_value(void *member, const struct option_row *row, const char *arg);
/* Returns whether a file of this name is compressed with gzip. */
int is_gz_name(const char *path);
int parse_text(void *member, const struct option_row *row, const char *arg);
int set_text(void *member, const struct option_row *row, const char *arg); /* const char * */
/* As set_text; an error if it was given already. */
int set_only_capture(void *member, const struct option_row *row, const char *arg);
int parse_list(void *member, const struct option_row *row, const char *arg); /* struct text_list */
int parse_comm(void *member, const struct option_row *row, const char *arg); /* struct text_list */
int parse_choice(void *member, const struct option_row *row, const char *arg); /* int */
int parse_format(void *member, const struct option_row *row, const char *arg); /* line_format */
int parse_count(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int parse_megabytes(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int parse_seconds(void *member, const struct option_row *row, const char *arg); /* uint64_t, ns */
int parse_time(void *member, const struct option_row *row, const char *arg); /* time_arg */
/* uint64_t: of scap_writer_opts */
int parse_checkpoints(void *member, const struct option_row *row, const char *arg);
int parse_hz(void *member, const struct option_row *row, const char *arg); /* uint64_t, ns */
int parse_depth(void *member, const struct option_row *row, const char *arg); /* uint32_t */
int parse_percent(void *member, const struct option_row *row, const char *arg); /* uint32_t */
int parse_snaplen(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int parse_ring_size(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int parse_file_size(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int parse_min_free(void *member, const struct option_row *row, const char *arg); /* size_option */
int parse_tables_size(void *member, const struct option_row *row, const char *arg); /* uint64_t */
int parse_cpus_per_ring(void *member, const struct option_row *row, const char *arg); /* uint32_t */
int parse_syscalls(void *member, const struct option_row *row, const char *arg); /* call_list */
int parse_pids(void *member, const struct option_row *row, const char *arg); /* number_list */
int parse_uids(void *member, const struct option_row *row, const char *arg); /* number_list */
int parse_names(void *member, const struct option_row *row, const char *arg); /* name_list */
int parse_comms(void *member, const struct option_row *row, const char *arg); /* name_list */
int parse_filter_name(void *member, const struct option_row *row,
		      const char *arg); /* filter_name_list */
int parse_snap_port(void *member, const struct option_row *row,
		    const char *arg); /* snap_port_list */
int parse_redact(void *member, const struct option_row *row, const char *arg); /* scap_redact * */

/* struct options */
int parse_chisel(void *member, const struct option_row *row, const char *arg);
int parse_diff(void *member, const struct option_row *row, const char *arg);
int parse_chisel_info(void *member, const struct option_row *row, const char *arg);
int parse_chisel_limit(void *member, const struct option_row *row,
		       const char *arg); /* struct chisel_limit */

/* Returns 0 if @name is a valid comm; else -EINVAL after reporting the reason. */
int check_comm(const struct option_row *row, const char *name);

/* Rows of several commands, with the offsets of their members. */
/* clang-format off */
#define OPTION_ROW_REDACT(group, member) \
	{0, "redact", "WHAT", group, \
	 "Overwrite values by asterisks before they are shown, written or sent. WHAT is buffers (what is " \
	 "read, written, sent or received), args (arguments of processes), env (values of their " \
	 "environment), or several of them separated by commas; or /REGEX/: what it matches in any value. " \
	 "Can be repeated.", \
	 parse_redact, member}
/* Of the commands beside saker that open a live source. */
#define OPTION_ROWS_OF_SOURCE(ring_sz, container_socket, cri_socket) \
	{0, "ring-size", "SIZE", GROUP_LIVE, \
	 "Bytes per ring between kernel and saker, a power of two with optional suffix K, M or G (default 8M).", \
	 parse_ring_size, ring_sz}, \
	{0, "container-socket", "PATH", GROUP_LIVE, \
	 "Query names of containers at the socket PATH (Docker's API); none disables queries.", \
	 set_text, container_socket}, \
	{0, "cri-socket", "PATH", GROUP_LIVE, \
	 "Query labels of pods at the socket PATH of the container runtime (CRI v1), which only root should be " \
	 "able to use (default: no queries).", \
	 set_text, cri_socket}
/* clang-format on */

#endif /* SAKER_OPTION_VALUES_H */
