/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a place in code as an event of the capture. */
#ifndef SINSP_SYMBOLS_SYMBOL_EVENT_H
#define SINSP_SYMBOLS_SYMBOL_EVENT_H

#include "sinsp.h"
#include "state/code_maps.h"

enum symbol_of { SYMBOL_OF_FILE, SYMBOL_OF_KERNEL, SYMBOL_OF_JIT }; /* the numbers are in files */

#define SYMBOL_EVENT_MAX (64u << 10)
#define SYMBOL_LINES_MAX (32u << 10) /* bytes */

/* Texts need not end with a NUL. */
struct symbol_told {
	uint8_t of; /* enum symbol_of */
	int64_t pid; /* of a JIT */
	struct sinsp_code_id id; /* of a file */
	struct scap_param path; /* of one that has no inode */
	uint64_t place, addr, begin;
	struct scap_param module, name, lines; /* len 0: not known */
};

/* In @buf, of SYMBOL_EVENT_MAX bytes. 0 or -ENOSPC. */
int symbol_event_build(void *buf, const struct symbol_told *told);

/* 0, or -EBADMSG: it is none, or a damaged one. Texts are borrowed from the event. */
int symbol_event_read(struct symbol_told *told, const struct sinsp_evt *evt);

/* The same of a mapping, as the capture told it before. */
int symbol_map_event_build(void *buf, int64_t pid, const struct sinsp_code_map *map);

#endif /* SINSP_SYMBOLS_SYMBOL_EVENT_H */
