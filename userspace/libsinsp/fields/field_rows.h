/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of field rows, and helpers of their getters. */
#ifndef SINSP_FIELDS_FIELD_ROWS_H
#define SINSP_FIELDS_FIELD_ROWS_H

#include <string.h>

#include "field.h"

extern const struct sinsp_field_class sinsp_fields_evt; /* fields_evt.c */
extern const struct sinsp_field_class sinsp_fields_call; /* fields_call.c */
extern const struct sinsp_field_class sinsp_fields_args; /* fields_args.c */
extern const struct sinsp_field_class sinsp_fields_count; /* fields_count.c */
extern const struct sinsp_field_class sinsp_fields_io; /* fields_io.c */
extern const struct sinsp_field_class sinsp_fields_proc; /* fields_proc.c */
extern const struct sinsp_field_class sinsp_fields_thread; /* fields_thread.c */
extern const struct sinsp_field_class sinsp_fields_user; /* fields_user.c */
extern const struct sinsp_field_class sinsp_fields_group; /* fields_user.c */
extern const struct sinsp_field_class sinsp_fields_container; /* fields_container.c */
extern const struct sinsp_field_class sinsp_fields_k8s; /* fields_container.c */
extern const struct sinsp_field_class sinsp_fields_fd; /* fields_fd.c */
extern const struct sinsp_field_class sinsp_fields_socket; /* fields_socket.c */
extern const struct sinsp_field_class sinsp_fields_evt_path; /* fields_path.c */
extern const struct sinsp_field_class sinsp_fields_path; /* fields_path.c */
extern const struct sinsp_field_class sinsp_fields_fdlist; /* fields_fdlist.c */
extern const struct sinsp_field_class sinsp_fields_syslog; /* fields_syslog.c */
extern const struct sinsp_field_class sinsp_fields_frames; /* fields_frames.c */
extern const struct sinsp_field_class sinsp_fields_request; /* fields_request.c */
extern const struct sinsp_field_class sinsp_fields_sample; /* fields_sample.c */
extern const struct sinsp_field_class sinsp_fields_slice; /* fields_slice.c */
extern const struct sinsp_field_class sinsp_fields_span; /* fields_span.c */
extern const struct sinsp_field_class sinsp_fields_tcp; /* fields_tcp.c */
extern const struct sinsp_field_class sinsp_fields_evtin; /* fields_span.c */

#define FIELD_ROWS(array) .rows = (array), .n_rows = sizeof(array) / sizeof((array)[0])

/* Sets one value; getters return its result. */
static inline int field_u(struct sinsp_value *v, uint64_t u)
{
	v->u = u;
	return 1;
}

static inline int field_i(struct sinsp_value *v, int64_t i)
{
	v->i = i;
	return 1;
}

static inline int field_mem(struct sinsp_value *v, const void *p, size_t len)
{
	v->p = p;
	v->len = (uint32_t)len;
	return 1;
}

/* Sets a text; NULL is no value. */
static inline int field_str(struct sinsp_value *v, const char *s)
{
	return s ? field_mem(v, s, strlen(s)) : 0;
}

/* Sets the column of a spectrogram that @ns is in, from 1: a power of ten has an eleventh of the
 * screen. In fields_evt.c. */
int field_spectrum_column(const struct sinsp_eval *e, struct sinsp_value *v, uint64_t ns);

/* Returns whether unknown facts have a default value: in captures of other tools, for which sysdig
 * has -1, 0 or no text. */
int field_has_default(const struct sinsp_eval *e);

#endif /* SINSP_FIELDS_FIELD_ROWS_H */
