/* SPDX-License-Identifier: Apache-2.0 */
/* The event table in memory, and access to the parameters of one event. */
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
	uint8_t own; /* saker's own: in compatible files it travels in an option */
	int8_t dirfd; /* PT_FSRELPATH: number of the parameter with its directory; else -1 */
	const struct scap_flag_name *flags; /* NULL: none */
	/* PT_LIST: the parts of an element, in their order without gaps; the last has no name. A
	 * part that is not shown is called "_". */
	const struct scap_param_info *list;
};

struct scap_event_info {
	const char *name;
	const char *sym;
	uint16_t id;
	uint16_t category; /* enum evt_category */
	uint32_t flags; /* enum evt_flags */
	uint8_t n_2022; /* parameters in the 2022 layout */
	uint8_t n_public; /* parameters other tools know: all but the own ones */
	uint8_t n_params;
	const struct scap_param_info *params;
};

/* NULL: no such event. */
const struct scap_event_info *scap_event_info(unsigned int type);

/* Calls @fn for every event in ascending order of ids. */
void scap_event_each(void (*fn)(void *ctx, const struct scap_event_info *info), void *ctx);

/* Bytes of one entry of the array of lengths: 2, or 4 for EF_LARGE_PAYLOAD. */
size_t scap_evt_len_sz(unsigned int type);

struct scap_params {
	unsigned int n; /* as many as the event has, at most EVT_MAX_PARAMS */
	struct scap_param {
		const uint8_t *p;
		uint32_t len;
	} v[EVT_MAX_PARAMS];
};

/*
 * Splits an event. 0, or -EBADMSG when lengths do not add up within hdr->len; then
 * out->n is the number of parameters that do. Bytes are borrowed from the event.
 */
int scap_evt_params(const struct ppm_evt_hdr *evt, struct scap_params *out);

/* The number of the parameter @name of events of @type, or -ENOENT. */
int scap_event_param(unsigned int type, const char *name);

/* Numbers in parameters and files, which need not be aligned. */
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

/* A parameter of eight bytes, by name: 0, -ENOENT where it has no value, -EBADMSG. Compares names,
 * splits the event: for what is rare. */
int scap_evt_u64(const struct ppm_evt_hdr *evt, const char *name, uint64_t *v);

/*
 * Builds an event of type @type in @buf from the parameters of @src with the same names
 * ("fd" also from "oldfd"). What src does not have gets its full size in zeros, text a
 * lone NUL; what src has empty stays so only behind the 2022 prefix. n_params limits how
 * many (0: all of the type's public ones). Length of the event, -ENOSPC, or -EBADMSG.
 */
int scap_evt_project(void *buf, size_t buf_sz, unsigned int type, unsigned int n_params,
		     const struct ppm_evt_hdr *src);

/* The same in two steps, for those who do it again and again: names are compared once. */
struct scap_projection {
	uint16_t type;
	uint8_t n; /* parameters of the result */
	uint8_t len_sz;
	struct scap_projection_param {
		int8_t from; /* number of the parameter in the source; -1: it has none */
		uint8_t size; /* of a number; 0: bytes are copied as they are */
		uint8_t is_signed; /* a shorter source is extended with its sign */
		uint8_t min; /* at least so many bytes, zeros if need be */
		uint32_t clear; /* bits that only the call's result has: not in its enter */
		uint8_t absent; /* what bytes are where the source has none; 0: as of its type */
	} v[EVT_MAX_PARAMS];
};

/* -EINVAL: one of the types does not exist. */
int scap_projection_init(struct scap_projection *pr, unsigned int type, unsigned int n_params,
			 unsigned int src_type);
/* @params: those of @src, which must be of the type given to init. */
int scap_projection_run(const struct scap_projection *pr, void *buf, size_t buf_sz,
			const struct ppm_evt_hdr *src, const struct scap_params *params);

/* Bytes of a number of type @param_type (enum param_type); 0: its size varies. */
size_t scap_param_size(unsigned int param_type);

/* The type of 2022 that stands for @type in a compatible file: itself below 336, an older
 * equivalent (dup2 -> dup) or the generic event. */
unsigned int scap_event_compat_type(unsigned int type);

/* System calls: by native x86_64 (or ia32) number. Name: NULL if unknown. */
const char *scap_syscall_name(unsigned int nr, int ia32);
/* Names of calls, by number and by PPM_SC code: some more than once. */
void scap_syscall_each_name(void (*fn)(void *ctx, const char *name), void *ctx);
/* The exit event that a call of x86_64 becomes; the generic one for numbers unknown. */
unsigned int scap_syscall_exit_type(unsigned int nr);
/* The one call that becomes the enter or exit event @type; REC_NR_NONE: none, or several. */
unsigned int scap_event_nr(unsigned int type);
/* PPM_SC code of a call's name, 0 if it has none. Compares names: keep the result. */
unsigned int scap_syscall_ppm_sc(const char *name);
/* Name of a PPM_SC code, NULL past the last. */
const char *scap_ppm_sc_name(unsigned int code);
/* enum evt_category of a generic call; EC_UNKNOWN past the last. */
unsigned int scap_ppm_sc_category(unsigned int code);

#endif /* SCAP_EVENT_EVENT_TABLE_H */
