/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_rows.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi_read.h"
#include "unwind/go_rows.h"

#define MAX_CODE 64 /* maximum number of executable segments; linkers make one or two */
#define FEW 8 /* functions: fewer are those of the start files alone */
#define HDR_MAX (64u << 20)
#define GAP_PART (256u << 10)
#define SIGRETURN_MIN 7 /* bytes of such code */
#define SIGRETURN_MAX 9
#define GAP_MAX (64ull << 20) /* maximum bytes of uncovered code that are searched in a file */
#define LINKAGE_MAX (1u << 20)
#define ENTRY_SZ 64 /* maximum size of the code at the entry point */

/* .eh_frame_hdr, by its segment: its header, and the entries of its table. */
#define HDR_VERSION 1
#define HDR_ENC_SDATA4_DATAREL 0x3b

struct build {
	struct unwind_work *work;
	uint64_t gap_left; /* bytes of uncovered code that may still be searched */
	const struct elf_file *f, *debug;
	struct cfi_code code[MAX_CODE];
	size_t n_code;
	struct cfi *cfi;
	struct elf_data data[CFI_SECTIONS_MAX + 1];
	size_t n_data;
};

static void find_code(struct build *b)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(b->f, &v);

	for (size_t i = 0; i < n && b->n_code < MAX_CODE; i++) {
		uint64_t end = v[i].offset + v[i].file_sz;

		if (v[i].type != PT_LOAD || !(v[i].flags & PF_X) || end < v[i].offset)
			continue;
		if (end > elf_file_sz(b->f))
			end = elf_file_sz(b->f);
		if (end > UINT32_MAX)
			end = UINT32_MAX;
		if (end > v[i].offset)
			b->code[b->n_code++] = (struct cfi_code){
				.vaddr = v[i].vaddr,
				.sz = end - v[i].offset,
				.offset = v[i].offset,
			};
	}
}

/* A section that is missing, or compressed in an unknown way, is treated as none, and so is a large
 * one for debuggers. */
static int add_section(struct build *b, const struct elf_file *f, const char *name, int is_debug)
{
	const struct elf_section *s = elf_file_section(f, name);
	struct elf_data *d = &b->data[b->n_data];
	struct cfi_section section;
	int err;

	if (!s)
		return 0;
	if (s->sz > UNWIND_CFI_MAX)
		return is_debug ? 0 : -E2BIG;
	err = elf_file_section_copy(f, d, s);
	if (err)
		return err == -ENOMEM ? err : 0;
	b->n_data++;
	if (d->sz > UNWIND_CFI_MAX) /* it was compressed */
		return is_debug ? 0 : -E2BIG;
	section = (struct cfi_section){d->data, d->sz, s->addr, is_debug};
	return cfi_add_section(b->cfi, &section);
}

struct hdr {
	const struct elf_segment *segment; /* the segment with the header and .eh_frame */
	uint64_t vaddr, eh_frame;
	uint64_t n;
	struct cfi_cursor table;
};

static int read_hdr(struct hdr *h, const struct elf_data *d, uint64_t vaddr)
{
	struct cfi_cursor c = {d->data, d->data + d->sz, 0};
	uint8_t version = cfi_u8(&c), frame_enc = cfi_u8(&c), n_enc = cfi_u8(&c);
	uint8_t table_enc = cfi_u8(&c);

	if (version != HDR_VERSION || frame_enc == CFI_PE_OMIT)
		return -EBADMSG;
	h->vaddr = vaddr;
	h->eh_frame = cfi_encoded(&c, frame_enc);
	if ((frame_enc & CFI_PE_BASE) == CFI_PE_PCREL)
		h->eh_frame += vaddr + 4;
	else if ((frame_enc & CFI_PE_BASE) == CFI_PE_DATAREL)
		h->eh_frame += vaddr;
	if (n_enc != CFI_PE_OMIT && table_enc == HDR_ENC_SDATA4_DATAREL)
		h->n = cfi_encoded(&c, n_enc);
	h->table = c;
	return c.bad ? -EBADMSG : 0;
}

/* Reads where the functions of .eh_frame are, which begins at h->eh_frame. NULL: out of memory. */
static uint32_t *listed_offsets(struct hdr *h)
{
	uint64_t n = (uint64_t)(h->table.end - h->table.p) / 8;
	uint32_t *v;

	if (h->n > n)
		h->n = n;
	v = malloc((h->n + 1) * sizeof(*v));
	for (size_t i = 0; v && i < h->n; i++) {
		uint64_t at;

		cfi_fixed(&h->table, 4);
		at = h->vaddr + (uint64_t)(int64_t)(int32_t)cfi_fixed(&h->table, 4) - h->eh_frame;
		v[i] = at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
	}
	return v;
}

/* Without a table: reads entries up to the first terminator, since the end of the section is
 * unknown. */
static size_t unlisted_sz(const struct elf_data *d)
{
	struct cfi_cursor c = {d->data, d->data + d->sz, 0};
	uint64_t len;

	do {
		len = cfi_fixed(&c, 4);
		if (len == UINT32_MAX)
			len = cfi_fixed(&c, 8);
		cfi_block(&c, len);
	} while (len && !c.bad);
	return (size_t)(c.p - d->data);
}

static int add_by_hdr(struct build *b, struct hdr *h)
{
	struct elf_data *d = &b->data[b->n_data];
	const struct elf_segment *v;
	const size_t n = elf_file_segments(b->f, &v);
	struct cfi_section section;
	uint32_t *offsets;
	uint64_t at = 0;
	size_t i;
	int err;

	for (i = 0; i < n; i++) {
		at = h->eh_frame - v[i].vaddr;
		if (v[i].type == PT_LOAD && at < v[i].file_sz)
			break;
	}
	if (i == n)
		return 0;
	/* Only the segment limits it. */
	err = elf_file_copy(b->f, d, v[i].offset + at,
			    v[i].file_sz - at < UNWIND_CFI_MAX ? v[i].file_sz - at
							       : UNWIND_CFI_MAX);
	if (err)
		return err == -ENOMEM ? err : 0;
	b->n_data++;
	section = (struct cfi_section){d->data, d->sz, h->eh_frame, 0};
	if (!h->n) {
		section.sz = unlisted_sz(d);
		err = cfi_add_section(b->cfi, &section);
	} else {
		offsets = listed_offsets(h);
		err = offsets ? cfi_add_listed(b->cfi, &section, offsets, h->n) : -ENOMEM;
		free(offsets);
	}
	return err;
}

/* A file without section headers is unwound at run time by this segment. */
static int add_eh_frame_segment(struct build *b)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(b->f, &v);
	struct elf_data d;
	struct hdr h = {0};
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i].type != PT_GNU_EH_FRAME || v[i].file_sz > HDR_MAX)
			continue;
		err = elf_file_copy(b->f, &d, v[i].offset, v[i].file_sz);
		if (err)
			return err == -ENOMEM ? err : 0;
		if (!read_hdr(&h, &d, v[i].vaddr))
			err = add_by_hdr(b, &h);
		free(d.data);
		return err;
	}
	return 0;
}

static int add_all_cfi(struct build *b)
{
	int err = add_section(b, b->f, ".eh_frame", 0);

	if (!err && !b->n_data)
		err = add_eh_frame_segment(b);
	if (!err)
		err = add_section(b, b->f, ".debug_frame", 1);
	if (!err && b->debug && cfi_n(b->cfi) < FEW && b->n_data < CFI_SECTIONS_MAX)
		err = add_section(b, b->debug, ".debug_frame", 1);
	return err;
}

static uint8_t kind_at(const struct unwind_rows *rows, size_t i)
{
	return i ? rows->v[i - 1].kind & UNWIND_KIND_MASK : UNWIND_NONE;
}

/* Adds rows of @extra where @rows has none. A signal frame's row always wins: it begins one byte
 * before its function, which may belong to another one. */
static int lay_under(struct unwind_rows *rows, const struct unwind_rows *extra)
{
	struct unwind_rows all = {0};
	size_t i = 0, j = 0;
	int err = 0;

	if (!extra->n)
		return 0;
	while (!err && (i < rows->n || j < extra->n)) {
		const uint32_t a = i < rows->n ? rows->v[i].pc : UINT32_MAX;
		const uint32_t b = j < extra->n ? extra->v[j].pc : UINT32_MAX;
		const uint32_t pc = a < b ? a : b;
		struct unwind_row row;

		i += i < rows->n && a == pc;
		j += j < extra->n && b == pc;
		if (j && (kind_at(rows, i) == UNWIND_NONE || kind_at(extra, j) == UNWIND_SIGNAL))
			row = extra->v[j - 1];
		else
			row = i ? rows->v[i - 1] : (struct unwind_row){.kind = UNWIND_NONE};
		row.pc = pc;
		err = unwind_rows_add(&all, row);
	}
	if (err) {
		unwind_rows_fini(&all);
		return err;
	}
	unwind_rows_fini(rows);
	*rows = all;
	return 0;
}

static int add_go(struct build *b, struct unwind_rows *rows)
{
	struct unwind_rows of_go = {0};
	struct go_pclntab *t;
	int err;

	if (go_pclntab_open(&t, b->f))
		return 0;
	err = go_rows(&of_go, b->f, t, b->work);
	go_pclntab_close(t);
	/* Go's .debug_frame does not say where rbp is, which code switches stacks, and which is
	 * outermost. */
	if (!err)
		err = lay_under(&of_go, rows);
	if (!err) {
		unwind_rows_fini(rows);
		*rows = of_go;
		return 0;
	}
	unwind_rows_fini(&of_go);
	return err;
}

static int add_range(struct unwind_rows *rows, uint64_t from, uint64_t to, struct unwind_row row)
{
	if (to > UINT32_MAX || (rows->n && rows->v[rows->n - 1].pc > from))
		return 0;
	row.pc = (uint32_t)from;
	return unwind_rows_add(rows, row)
		       ?: unwind_rows_add(rows, (struct unwind_row){.pc = (uint32_t)to,
								    .kind = UNWIND_NONE});
}

/* The code that a signal handler returns to: mov $15 to rax or eax, syscall. */
static size_t sigreturn_sz(const uint8_t *p, size_t sz)
{
	static const uint8_t rax[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t eax[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

	if (sz >= sizeof(rax) && !memcmp(p, rax, sizeof(rax)))
		return sizeof(rax);
	return sz >= sizeof(eax) && !memcmp(p, eax, sizeof(eax)) ? sizeof(eax) : 0;
}

/* Finds such code in @d, the content of the file from @from on. */
static int scan_bytes(struct unwind_rows *extra, const struct elf_data *d, uint64_t from)
{
	int err = 0;

	for (size_t at = 0; at < d->sz && !err; at++) {
		const uint8_t *hit =
			memchr(d->data + at, 0x0f, d->sz - at); /* length of the number */
		size_t sz;

		if (!hit)
			break;
		at = (size_t)(hit - d->data);
		for (size_t before = 1; before <= 3; before += 2) {
			if (at < before)
				continue;
			sz = sigreturn_sz(hit - before, d->sz - (at - before));
			if (sz && from + at > before)
				err = add_range(extra, from + at - before - 1,
						from + at - before + sz,
						(struct unwind_row){.kind = UNWIND_SIGNAL});
		}
	}
	return err;
}

/* Searches uncovered code, a part at a time: that can be most of a large file. Matches in the
 * overlap of two parts count once. */
static int scan_gap(struct build *b, struct unwind_rows *extra, uint64_t from, uint64_t to)
{
	int err = 0;

	if (to - from > b->gap_left)
		to = from + b->gap_left;
	b->gap_left -= to - from;
	err = unwind_work_spend(b->work, (to - from) / 8);
	for (; !err && to - from >= SIGRETURN_MIN; from += GAP_PART) {
		const uint64_t left = to - from, want = GAP_PART + SIGRETURN_MAX - 1;
		struct elf_data d;

		err = elf_file_copy(b->f, &d, from, left < want ? left : want);
		if (err)
			return err == -ENOMEM ? err : 0;
		err = scan_bytes(extra, &d, from);
		free(d.data);
		if (left <= want)
			break;
	}
	return err;
}

/* In the gaps between @rows, segment by segment. */
static int scan_gaps(struct build *b, const struct unwind_rows *rows, struct unwind_rows *extra)
{
	int err = 0;

	for (size_t s = 0; s < b->n_code && !err; s++) {
		const uint64_t end = b->code[s].offset + b->code[s].sz;
		uint64_t from = b->code[s].offset;

		err = unwind_work_spend(b->work, rows->n);
		for (size_t i = 0; i <= rows->n && !err; i++) {
			const uint64_t to =
				i < rows->n && rows->v[i].pc < end ? rows->v[i].pc : end;

			if (kind_at(rows, i) == UNWIND_NONE && to > from)
				err = scan_gap(b, extra, from, to);
			from = to > from ? to : from;
		}
	}
	return err;
}

/* The entry point of a program has no caller, whether its code says so or not. */
static int add_entry(struct build *b, struct unwind_rows *extra)
{
	uint64_t offset, entry = elf_file_entry(b->f);

	if (!entry || elf_file_offset_of(b->f, &offset, entry))
		return 0;
	return add_range(extra, offset, offset + ENTRY_SZ, (struct unwind_row){.kind = UNWIND_END});
}

/* Returns whether each entry of @sz bytes is only a jump: endbr64, bnd, jmp *x(%rip), the first two
 * optional. */
static int is_jumps(const struct elf_data *d, size_t sz)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, jump[] = {0xff, 0x25};

	for (size_t at = 0; at + sz <= d->sz; at += sz) {
		const uint8_t *p = d->data + at, *end = p + sz;

		if (end - p >= 4 && !memcmp(p, endbr, sizeof(endbr)))
			p += sizeof(endbr);
		p += *p == 0xf2;
		if (end - p < 6 || memcmp(p, jump, sizeof(jump)) ||
		    (end - p > 6 && p[6] == 0x68)) /* lazy binding also pushes */
			return 0;
	}
	return d->sz >= sz;
}

/* Static programs have linkage tables without call frame information: for functions chosen by the
 * CPU's features. */
static int add_linkage(struct build *b, struct unwind_rows *extra)
{
	const struct elf_section *s = elf_file_section(b->f, ".plt");
	struct elf_data d;
	int err, jumps;

	if (!s || s->sz > LINKAGE_MAX)
		return 0;
	err = elf_file_section_copy(b->f, &d, s);
	if (err)
		return err == -ENOMEM ? err : 0;
	jumps = is_jumps(&d, 8) || is_jumps(&d, 16);
	free(d.data);
	if (!jumps)
		return 0;
	return add_range(extra, s->offset, s->offset + s->sz,
			 (struct unwind_row){.kind = UNWIND_RSP, .cfa = 1});
}

static int add_uncovered(struct build *b, struct unwind_rows *rows)
{
	struct unwind_rows signals = {0}, entry = {0}, linkage = {0};
	int err = scan_gaps(b, rows, &signals);

	err = err ?: add_entry(b, &entry);
	err = err ?: add_linkage(b, &linkage);
	err = err ?: lay_under(rows, &signals);
	err = err ?: lay_under(rows, &entry);
	err = err ?: lay_under(rows, &linkage);
	unwind_rows_fini(&signals);
	unwind_rows_fini(&entry);
	unwind_rows_fini(&linkage);
	return err;
}

int unwind_rows_of_file(struct unwind_rows *out, const struct elf_file *f,
			const struct elf_file *debug, struct unwind_work *work)
{
	struct build b = {.f = f, .debug = debug, .work = work, .gap_left = GAP_MAX};
	struct unwind_rows rows = {0};
	int err;

	if (elf_file_machine(f) != EM_X86_64)
		return -ENOTSUP;
	find_code(&b);
	err = cfi_new(&b.cfi, b.code, b.n_code, work);
	err = err ?: add_all_cfi(&b);
	err = err ?: cfi_rows(b.cfi, &rows);
	cfi_free(b.cfi);
	for (size_t i = 0; i < b.n_data; i++)
		free(b.data[i].data);
	err = err ?: add_go(&b, &rows);
	err = err ?: add_uncovered(&b, &rows);
	if (err) {
		unwind_rows_fini(&rows);
		return err;
	}
	*out = rows;
	return 0;
}
