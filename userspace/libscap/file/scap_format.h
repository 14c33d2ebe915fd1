/* SPDX-License-Identifier: Apache-2.0 */
/* The .scap format, shared by reader and writer: block headers, event blocks, and the facts about
 * events that they need. docs/scap-file.md describes the layout. */
#ifndef SCAP_FILE_CAPFILE_H
#define SCAP_FILE_CAPFILE_H

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "event/event_table.h"
#include "procfs/state_build.h"
#include "scap.h"
#include "shared/events.h"

/* A block: u32 type, u32 length of the block, body, padding to 4, u32 length again. */
enum blk_type {
	BLK_SHB = 0x0A0D0D0A, /* palindromic: the same in either byte order */
	BLK_MI = 0x201,
	BLK_PL_V1 = 0x202,
	BLK_FDL = 0x203,
	BLK_EV = 0x204,
	BLK_IL = 0x205,
	BLK_UL = 0x206,
	BLK_PL_V2 = 0x207,
	BLK_EVF = 0x208,
	BLK_PL_V3 = 0x209,
	BLK_PL_V4 = 0x210,
	BLK_PL_V5 = 0x211,
	BLK_PL_V6 = 0x212,
	BLK_PL_V7 = 0x213,
	BLK_PL_V8 = 0x214,
	BLK_PL_V9 = 0x215,
	BLK_EV_V2 = 0x216,
	BLK_EVF_V2 = 0x217,
	BLK_FDL_V2 = 0x218,
	BLK_IL_V2 = 0x219,
	BLK_UL_V2 = 0x220,
	BLK_EV_V2_LARGE = 0x221,
	BLK_EVF_V2_LARGE = 0x222,
	/* Pre-release types, still found in captures of 2014. */
	BLK_PL_V1_INT = 0x8000ABCD,
	BLK_FDL_INT = 0x8001ABCD,
	BLK_MI_INT = 0x8002ABCD,
	BLK_EV_INT = 0x8010ABCD,
	BLK_IL_INT = 0x8011ABCD,
	BLK_UL_INT = 0x8012ABCD,
	BLK_PL_V2_INT = 0x8013ABCD,
	BLK_PL_V3_INT = 0x8014ABCD,
	/* saker's own types, from pcapng's range for local use; other tools skip them. */
	BLK_SAKER = 0xCA5A0001, /* provenance: "key=value\n" lines */
	BLK_SAKER_STATE = 0xCA5A0002, /* state that other blocks have no place for */
};

#define BLK_MIN 12 /* type and both lengths */
#define BLK_EVT_MAX 65536 /* sysdig's limit on length - 8 of a block that is not LARGE */
#define BLK_BUF_MAX (1u << 30) /* maximum size of a block that is held in memory */
#define SHB_MAGIC 0x1A2B3C4Du
#define SHB_MAGIC_SWAPPED 0x4D3C2B1Au
#define EVF_STATE_ONLY 1u

/* Options of saker after the event in its block: u16 code, u16 length, value, padding to 4. */
enum evt_opt {
	OPT_MARK = 0x8001, /* u16 SCAP_EVT_F_*, u16 nr; if the time was moved, u64 true time */
	OPT_NATIVE = 0x8002, /* u16 type, u8 first, u8 n, lens, data: the original event */
	OPT_MORE = 0x8003, /* u16 n, lens, data: parameters after those of the event */
	OPT_DEFAULTS = 0x8004, /* u32 enum evt_defaults, from this event on */
	OPT_SUMS = 0x8005, /* u64 offset of this block, u64 first page, u32 each: page_sums.h */
};

/* Defaults of an event without OPT_MARK. */
enum evt_defaults {
	EVT_DEFAULTS_SAKER, /* enters are hidden, exits full, nr follows from the type */
	EVT_DEFAULTS_PLAIN, /* no flags, no nr */
};

/* Kinds of entries in BLK_SAKER_STATE: u16 length of the entry, u16 kind, ... in the order of the
 * threads and files in the following blocks. */
enum state_extra {
	EXTRA_THREAD =
		1, /* u64 tid, start_ns, snapshot_ns, u32 tty; a longer one i64 pgid, u64 exe_ino,
		      exe_ctime_ns, exe_mtime_ns, pidns_start_ns, u8 enum extra_known, exe_kind,
		      exe_kind_known; a longer one u64 ran_ns, ran_at_ns; the longest has struct
		      scap_thread_so_far: u64 enter_ns, latency_ns, i64 enter_fd, u64 exec_ns,
		      u32 cpu_usr, cpu_sys, cpu_usr_delta, cpu_sys_delta, u16 enter_type,
		      u8 call_flags, u16 enum extra_so_far, and the enter event up to its end */
	EXTRA_FD = 2, /* u64 tid, i64 fd, u8 type; a longer one u32 open_flags, dev; the longest has
			 struct scap_fd_so_far: u16 flags, error, enum extra_so_far, u64
			 connect_ns, latency_ns, u16 length and text shown, u16 length and text
			 given */
	EXTRA_TURN = 3, /* i64 tid, u64 since_ns, u32 cpu, u8 has_gaps: struct scap_turn, in a block
			   of their own */
};
enum extra_known {
	EXTRA_KNOWS_TTY = 1 << 0,
	EXTRA_KNOWS_CAPS = 1 << 1,
};
enum extra_so_far {
	EXTRA_MISSING_SWITCH = 1 << 0,
	EXTRA_HAS_CHILDREN = 1 << 1,
	EXTRA_BORN = 1 << 2,
	EXTRA_SWAPPED = 1 << 3,
	EXTRA_OUTCOME_KNOWN = 1 << 4,
	EXTRA_HAS_LATENCY = 1 << 5,
	EXTRA_VTID_UNKNOWN = 1 << 6,
	EXTRA_CWD_UNKNOWN = 1 << 7,
	EXTRA_UNCERTAIN = 1 << 8,
	EXTRA_CWD_UNCERTAIN = 1 << 9,
	EXTRA_EXITED = 1 << 10,
	EXTRA_DEAD = 1 << 11,
	EXTRA_OWN_FS = 1 << 12,
};
#define EXTRA_THREAD_SZ 32 /* minimum length */
#define EXTRA_THREAD_MORE_SZ 75
#define EXTRA_THREAD_RAN_SZ 91
#define EXTRA_THREAD_SO_FAR_SZ 144 /* and the enter event */
#define EXTRA_TURN_SZ 25
#define EXTRA_FD_SZ 21 /* minimum length */
#define EXTRA_FD_MORE_SZ 29
#define EXTRA_FD_SO_FAR_SZ 55 /* and the texts */

/* Events of a file by saker itself, state-only. The trailer is the last one: one text parameter of
 * "key=value\n" lines. checkpoint.h has the others. */
#define EVT_CLOSING 0x7fff
#define EVT_CHECKPOINT 0x7ffe
#define EVT_CHECKPOINTS 0x7ffd

/* Files have the byte order of their writer, in practice little endian, as saker. */
_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, ".scap files are written in host order");

static inline uint32_t pad4(uint32_t n)
{
	return (4 - n % 4) % 4;
}

/* Functions for one event, shared by reader and writer (event_block.c). */

/* Facts that follow from an event's type, so that the file omits them. */
struct evt_facts {
	uint8_t lens_sz; /* size of an entry of the array of lengths */
	uint8_t flags; /* SCAP_EVT_F_* under EVT_DEFAULTS_SAKER */
	uint16_t nr; /* the only system call with this event, else REC_NR_NONE */
};
/* Returns EVT_PUBLIC_MAX rows, built at the first call. Keep the result. */
const struct evt_facts *event_block_facts(void);
/* Returns the number of a generic call: its second parameter, in the enter and in newer exits. */
static inline uint16_t event_block_generic_nr(const struct ppm_evt_hdr *evt)
{
	const uint8_t *lens = (const uint8_t *)(evt + 1);

	if (evt->nparams < 2 || get_u32(lens) != 0x00020002)
		return REC_NR_NONE;
	return get_u16(lens + 2 * evt->nparams + 2);
}
/* Sets flags and nr of @evt for an event without OPT_MARK. */
void event_block_defaults(const struct ppm_evt_hdr *evt, enum evt_defaults d, uint16_t *flags,
			  uint16_t *nr);

/* Memory that grows as needed and is reused. */
struct file_buf {
	uint8_t *p;
	size_t sz;
};
/* Reserves at least @n bytes. Returns 0 or -ENOMEM. */
int file_buf_need(struct file_buf *b, size_t n);

/* Returns 0 if the event is at most @room bytes long and its lengths fit; else -EBADMSG. */
int event_block_check(const struct ppm_evt_hdr *evt, uint32_t room);

/*
 * Writes OPT_NATIVE or OPT_MORE to @out, at most native->len + 16 bytes: the option that restores
 * @native from @file. Returns the bytes used; 0 if both are equal, or the difference is longer than
 * an option can be.
 */
size_t event_block_native_put(uint8_t *out, const struct ppm_evt_hdr *native,
			      const struct ppm_evt_hdr *file);
/* The reverse: restores the native event in @buf. Returns -EBADMSG if the option is malformed. */
int event_block_native_get(struct file_buf *buf, const struct ppm_evt_hdr **native,
			   const struct ppm_evt_hdr *file, uint16_t opt, const uint8_t *val,
			   uint32_t len);

/*
 * Packed samples (packed_samples.c): events of stacks are stored as EVT_DENSE_E. Some texts of a
 * section are stored once; writer and reader each have a packed_texts for that, owned, and clear it
 * where another section begins.
 */
struct packed_texts;
struct packed_texts *packed_texts_new(void); /* NULL: no memory */
void packed_texts_free(struct packed_texts *t);
void packed_texts_clear(struct packed_texts *t);
/* Writer: no later event refers to an earlier text. */
void packed_texts_forget(struct packed_texts *t);
/* Packs @evt. Returns 0 with the packed event in @buf, or with *out = evt if it is stored
 * unchanged; -ENOMEM. */
int packed_samples_put(struct file_buf *buf, const struct ppm_evt_hdr **out,
		       struct packed_texts *texts, const struct ppm_evt_hdr *evt);
/* Unpacks @dense. Returns 0 with the event in @buf, or with *out = dense for an unknown type;
 * -EBADMSG, -ENOMEM. @dense must be checked (event_block_check) and must not lie in @buf. */
int packed_samples_get(struct file_buf *buf, const struct ppm_evt_hdr **out,
		       struct packed_texts *texts, const struct ppm_evt_hdr *dense);

/* Returns the number in the line "key=..." of @text; -ENOENT: no such line. */
int trailer_kv_get(const char *text, size_t len, const char *key, uint64_t *val);
/* Writes the counters as such lines, without those that are 0, and reads them. */
size_t trailer_stats_put(char *buf, size_t sz, const struct scap_stats *st);
void trailer_stats_get(struct scap_stats *st, const char *text, size_t len);
/* Writes the counters of up to CAP_CPUS_MAX CPUs: "cpuN=seen,delivered,dropped_0,...", without
 * zeros at the end, and reads them: adds at most @max to @v and returns their number. */
#define CAP_CPUS_MAX 256
#define CAP_CPUS_SZ (CAP_CPUS_MAX * 240)
size_t trailer_cpus_put(char *buf, const struct scap_cpu_stats *v, size_t n);
size_t trailer_cpus_get(struct scap_cpu_stats *v, size_t max, const char *text, size_t len);

/* A block as it lies in the input, with checked lengths. */
struct file_block {
	uint32_t type;
	uint32_t len; /* of the block */
	uint64_t offset;
	const uint8_t *body;
	uint32_t body_len; /* with padding */
};

struct input;
/* Makes the next block ready and checks its lengths. Returns 1; 0 at the end; FILE_BLOCK_BAD with
 * the reason in *what, NULL: the input ends within the block; or a negative errno of the input. */
#define FILE_BLOCK_BAD 2
int file_block_peek(struct input *in, struct file_block *blk, const char **what);
bool file_block_is_event(uint32_t type);

/* Adds the content of a state block to @b. Returns 0; -ENOENT: not a state block; -ENOMEM;
 * -EBADMSG: malformed, with the reason in *what. */
struct state_reader {
	struct scap_state_build *build;
	struct scap_machine machine;
	uint8_t *extra; /* entries of BLK_SAKER_STATE, and the position in them */
	size_t extra_sz, extra_at;
	const char *what;
	char *text; /* scratch for strings, which have no NUL on disk */
	size_t text_sz, text_at;
};
int state_read(struct state_reader *r, const struct file_block *blk);
void state_reader_fini(struct state_reader *r);

/* A file that is being read. */
struct scap_reader;

struct scap_reader_opts {
	bool one_thread; /* as in scap_open_opts */
	uint64_t from_ns;
};
int scap_reader_open(struct scap_reader **out, const char *path,
		     const struct scap_reader_opts *opts, const struct scap_log *log);
void scap_reader_close(struct scap_reader *r);
/* Works as scap_engine_ops.next_split; for a pipe returns 0 if nothing came in timeout_ms. */
int scap_reader_next(struct scap_reader *r, struct scap_evt *evt, struct scap_params *params,
		     int timeout_ms);
const struct scap_state *scap_reader_state(const struct scap_reader *r);
void scap_reader_state_drop(struct scap_reader *r);
uint64_t scap_reader_taken(const struct scap_reader *r);
/* Returns whether events are known to be in the order of time, in one section: with from_ns. */
bool scap_reader_in_order(const struct scap_reader *r);
/* Returns what was skipped by beginning at a checkpoint; NULL: nothing. */
const struct scap_skipped *scap_reader_skipped(const struct scap_reader *r);

/* The trailer: what the writer of a section says at its end. */
struct file_trailer {
	uint64_t events, private_events; /* written */
	struct scap_stats stats;
};
/* Returns the number of trailers read so far; *c is the last of them if there is one. */
unsigned int scap_reader_trailer(const struct scap_reader *r, struct file_trailer *c);
/* Returns the number of sections by saker that ended without a trailer so far. */
unsigned int scap_reader_n_unclosed(const struct scap_reader *r);
/* Returns whether there were checksums that are not where they were written: in joined files. */
bool scap_reader_has_uncompared(const struct scap_reader *r);
/* At the end: returns whether something behind the packed data was left out, which was logged. */
bool scap_reader_left_out(const struct scap_reader *r);
/* Returns whether bytes so far had another checksum than when they were written, or the first block
 * of a section is lost; it was logged. */
bool scap_reader_is_damaged(const struct scap_reader *r);
/* Returns whether saker wrote the current section. */
int scap_reader_is_saker(const struct scap_reader *r);

#endif /* SCAP_FILE_CAPFILE_H */
