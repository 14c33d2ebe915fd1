/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses markers: texts that a program writes to /dev/null to mark its own work in the capture. The
 * format is that of sysdig's tracers:
 *
 *   >:ID:TAG.TAG:NAME=VALUE,NAME=VALUE:    enter
 *   <:ID:TAG.TAG:NAME=VALUE,NAME=VALUE:    exit
 *
 * A backslash makes the next character part of the text. The same as JSON:
 *
 *   [">", ID, ["TAG", "TAG"], [{"NAME": "VALUE"}, {"NAME": "VALUE"}]]
 *
 * Or it is that of Kindling's agent for Java (marker_kindling.c):
 *
 *   kd-KIND@PART!PART!
 *
 * The text is hostile: one beyond the limits is an error, so memory is bounded.
 */
#ifndef SINSP_MARKERS_MARKER_H
#define SINSP_MARKERS_MARKER_H

#include <stddef.h>
#include <stdint.h>

#define MARKER_TEXT_MAX 4096 /* bytes of a marker */
#define MARKER_PARTS_MAX 64 /* tags, and arguments */

/* What the ID is. */
enum marker_id {
	MARKER_ID_NUMBER,
	MARKER_ID_THREAD, /* t */
	MARKER_ID_PROCESS, /* p */
	MARKER_ID_PARENT, /* pp: the parent process */
	MARKER_ID_OTHER_THREAD, /* of the same process: its TID in the PID namespace */
};

/* Arguments of a marker of Kindling that give the time of its span, in nanoseconds: since the
 * epoch, or before the marker. */
#define MARKER_ARG_BEGIN "begin"
#define MARKER_ARG_END "end"
#define MARKER_ARG_DURATION "duration"

/* Texts in the form of the parameters of events: each ends with a NUL. */
struct marker_list {
	uint16_t sz; /* bytes of text */
	uint16_t n; /* texts */
	char text[MARKER_TEXT_MAX];
};

struct marker {
	uint8_t is_exit;
	uint8_t is_whole; /* enter and exit at once, after the span */
	uint8_t is_cut; /* the end of the text was not captured: arguments are missing */
	uint8_t id_kind; /* enum marker_id */
	int64_t id; /* of a MARKER_ID_NUMBER, 0: the marker has none; or of another thread */
	struct marker_list tags;
	struct marker_list args; /* names and values in turn */
};

/*
 * Parses the @n bytes at @p; @is_cut: more were written than captured. Returns 1 with *m; 0, the
 * bytes are no marker; -EINVAL, they begin as a marker and are malformed, too long, or have no end;
 * -EMSGSIZE, the end of the tags was not captured.
 */
int sinsp_marker_parse(struct marker *m, const uint8_t *p, size_t n, int is_cut);

#endif /* SINSP_MARKERS_MARKER_H */
