/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol events: the name of a code address, as an event of the capture. */
#ifndef SINSP_SYMBOLS_SYMBOL_EVENT_H
#define SINSP_SYMBOLS_SYMBOL_EVENT_H

#include "script_names.h"
#include "sinsp.h"
#include "state/code_maps.h"

enum symbol_of { SYMBOL_OF_FILE, SYMBOL_OF_KERNEL, SYMBOL_OF_JIT }; /* the numbers are in files */

#define SYMBOL_EVENT_MAX (64u << 10)
#define SYMBOL_LINES_MAX (32u << 10) /* bytes */

/* Texts need no NUL at the end. */
struct symbol_row {
	uint8_t of; /* enum symbol_of */
	int64_t pid; /* of a JIT */
	struct sinsp_code_id id; /* of a file */
	struct scap_param path; /* of a mapping without an inode */
	uint64_t place, addr, begin;
	struct scap_param module, name, lines; /* len 0: unknown */
};

/* Builds the event in @buf, of SYMBOL_EVENT_MAX bytes. Returns 0 or -ENOSPC. */
int symbol_event_build(void *buf, const struct symbol_row *row);

/*
 * Parses it. Returns 0, or -EBADMSG: another event, or damaged. Texts are borrowed from the event.
 */
int symbol_event_read(struct symbol_row *row, const struct sinsp_evt *evt);

/* Builds the script event of a code object, in the same way. */
int symbol_script_event_build(void *buf, const struct script_code *c);
/* Parses a script event in the same way. */
int symbol_script_event_read(struct script_row *row, const struct sinsp_evt *evt);

/* The same for a map event of the capture. */
int symbol_map_event_build(void *buf, int64_t pid, const struct sinsp_code_map *map);

#endif /* SINSP_SYMBOLS_SYMBOL_EVENT_H */
