/* SPDX-License-Identifier: Apache-2.0 */
/* The event table, and access to the parameters of an event. */
#ifndef SCAP_EVENT_EVENT_TABLE_H
#define SCAP_EVENT_EVENT_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shared/events.h"
#include "shared/record.h"

struct scap_flag_name {
	const char *name; /* NULL: end of the table */
	uint64_t value;
};

struct scap_param_info {
	const char *name;
	uint8_t type; /* enum param_type */
	uint8_t fmt; /* enum param_fmt */
	uint8_t own; /* saker's own parameter: compatible files carry it in an option */
	int8_t dirfd; /* PT_FSRELPATH: number of the parameter with the directory; else -1 */
	const struct scap_flag_name *flags; /* NULL: none */
	/* PT_LIST: the fields of an element, in order and without gaps; the last one has no name. A
	 * field named "_" is not shown. */
	const struct scap_param_info *list;
};

struct scap_event_info {
	const char *name;
	const char *sym;
	uint16_t id;
	uint16_t category; /* enum evt_category */
	uint32_t flags; /* enum evt_flags */
	uint8_t n_2022; /* parameters in the 2022 layout */
	uint8_t n_public; /* parameters that other tools have, too */
	uint8_t n_params;
	const struct scap_param_info *params;
};

/* Returns the row of @type; NULL: no such event. */
const struct scap_event_info *scap_event_info(unsigned int type);

/* Calls @fn for every event in ascending order of types. */
void scap_event_each(void (*fn)(void *ctx, const struct scap_event_info *info), void *ctx);

/* Returns the type of the value in a PT_DYN parameter of @event, which begins with @index; PT_NONE:
 * no such index. */
unsigned int scap_dyn_type(unsigned int event, uint8_t index);

/* Returns the size of an entry of the array of lengths: 2, or 4 with EF_LARGE_PAYLOAD. */
size_t scap_evt_len_sz(unsigned int type);

struct scap_params {
	unsigned int n; /* as many as the event has, at most EVT_MAX_PARAMS */
	struct scap_param {
		const uint8_t *p;
		uint32_t len;
	} v[EVT_MAX_PARAMS];
};

/* Splits an event into its parameters. Returns 0, or -EBADMSG if the lengths exceed hdr->len;
 * out->n is then the number of parameters that fit. Bytes are borrowed from the event. */
int scap_evt_params(const struct ppm_evt_hdr *evt, struct scap_params *out);

/* Returns the number of the parameter @name in events of @type, or -ENOENT. */
int scap_event_param(unsigned int type, const char *name);

/* Reads numbers in parameters and files, which may be unaligned. */
static inline uint16_t get_u16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t get_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t get_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Reads a parameter of eight bytes by name. Returns 0, -ENOENT if it has no value, or -EBADMSG.
 * Slow: it compares names and splits the event. */
int scap_evt_u64(const struct ppm_evt_hdr *evt, const char *name, uint64_t *v);

/*
 * Builds an event of type @type in @buf from the parameters of @src with the same names ("fd" also
 * from "oldfd"). A parameter that @src lacks becomes zeros of its full size, text a lone NUL; one
 * that is empty in @src stays empty only after the parameters of 2022. n_params limits the number
 * of parameters (0: all public ones). Returns the length, -ENOSPC, or -EBADMSG.
 */
int scap_evt_project(void *buf, size_t buf_sz, unsigned int type, unsigned int n_params,
		     const struct ppm_evt_hdr *src);

/* The same in two steps, for repeated use: names are compared once. */
struct scap_projection {
	uint16_t type;
	uint8_t n; /* number of parameters of the result */
	uint8_t len_sz;
	uint8_t n_from; /* all are numbers copied unchanged (plain) from the first n_from parameters
			   of the source; 0: not so */
	struct scap_projection_param {
		int8_t from; /* number of the parameter in the source; -1: none */
		uint8_t size; /* size of a number; 0: bytes are copied unchanged */
		uint8_t is_signed; /* sign-extend a shorter source */
		uint8_t min; /* minimum size, padded with zeros */
		uint32_t
			clear; /* bits that belong to the result of the call and not to its enter */
		uint8_t absent; /* value of each byte if the source has none; 0: default of the type
				 */
		uint8_t plain; /* a source of this size is copied unchanged; 0: none is */
	} v[EVT_MAX_PARAMS];
};

/* Returns -EINVAL if one of the types does not exist. */
int scap_projection_init(struct scap_projection *pr, unsigned int type, unsigned int n_params,
			 unsigned int src_type);
/* @params: those of @src, which must have the source type given to init. */
int scap_projection_run(const struct scap_projection *pr, void *buf, size_t buf_sz,
			const struct ppm_evt_hdr *src, const struct scap_params *params);
/* The same; *out: the parameters of the result. */
int scap_projection_split(const struct scap_projection *pr, void *buf, size_t buf_sz,
			  const struct ppm_evt_hdr *src, const struct scap_params *params,
			  struct scap_params *out);

/* Returns the size of a number of type @param_type (enum param_type); 0: variable. */
size_t scap_param_size(unsigned int param_type);

/* Returns the type of 2022 that a compatible file has for @type: itself below 336, an older
 * equivalent (dup2 -> dup), or the generic event. */
unsigned int scap_event_compat_type(unsigned int type);

/* Returns the name of a system call by its x86_64 (or ia32) number; NULL if unknown. */
const char *scap_syscall_name(unsigned int nr, int ia32);
/* Names of calls by number and by PPM_SC code; some occur more than once. */
void scap_syscall_each_name(void (*fn)(void *ctx, const char *name), void *ctx);
/* Returns the exit event of a call of x86_64; the generic one for unknown numbers. */
unsigned int scap_syscall_exit_type(unsigned int nr);
/*
 * Returns the only call that produces the enter or exit event @type; REC_NR_NONE: none, or several.
 */
unsigned int scap_event_nr(unsigned int type);
/* Returns the PPM_SC code of a call by its name, 0 if there is none. Compares names: keep the
 * result. */
unsigned int scap_syscall_ppm_sc(const char *name);
/* Returns the name of a PPM_SC code, NULL after the last. */
const char *scap_ppm_sc_name(unsigned int code);
/* Returns the enum evt_category of a generic call; EC_UNKNOWN after the last. */
unsigned int scap_ppm_sc_category(unsigned int code);

#endif /* SCAP_EVENT_EVENT_TABLE_H */
