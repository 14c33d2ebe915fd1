// SPDX-License-Identifier: Apache-2.0
/* An option comes from the file, too: it may be wrong in all its parts. */
#include "file/sums_check.h"

#include "file/page_sums.h"
#include "file/scap_format.h"

#define ULL(x) ((unsigned long long)(x))

/* @from, @to: the first row of pages that differ. */
static void tell_first(const struct sums_check *c, const struct input *in, uint64_t from,
		       uint64_t to)
{
	scap_say(c->log, SCAP_LOG_WARN,
		 "%s: bytes %llu to %llu have another checksum than when they were written: events "
		 "from there on may be wrong",
		 in->name, ULL(from), ULL(to - 1));
}

void sums_check_option(struct sums_check *c, const struct input *in, const uint8_t *block,
		       const uint8_t *val, uint32_t len)
{
	const uint64_t before = c->n_wrong;
	uint64_t at, page, from = 0, to = 0;

	if (len < 16 || !input_has_sums(in))
		return;
	at = input_offset_of(in, block);
	page = get_u64(val + 8);
	if (get_u64(val) != at || page > at / SUM_PAGE_SZ) {
		c->n_elsewhere++;
		return;
	}
	for (uint32_t i = 16; i + 4 <= len && page * SUM_PAGE_SZ < at; i += 4, page++) {
		const uint64_t begin = page * SUM_PAGE_SZ, end = begin + SUM_PAGE_SZ;

		/* This takes time: once for each page, however many options a file has. */
		if (end > at && page < c->n_begun)
			continue;
		if (end > at)
			c->n_begun = page + 1;
		if (!input_sum_differs(in, page, block, get_u32(val + i)))
			continue;
		if (c->n_wrong++ == before)
			from = to = begin;
		if (to == begin)
			to = end < at ? end : at;
	}
	if (before || !c->n_wrong)
		return;
	c->n_first = (to - from + SUM_PAGE_SZ - 1) / SUM_PAGE_SZ;
	tell_first(c, in, from, to);
}

void sums_check_no_head(struct sums_check *c, const struct input *in)
{
	if (!c->has_no_head)
		scap_say(c->log, SCAP_LOG_WARN,
			 "%s: has the closing counters of saker, but not the block that a file by "
			 "saker begins with: it is damaged, and parts of its events were not read",
			 in->name);
	c->has_no_head = 1;
}

void sums_check_end(const struct sums_check *c, const struct input *in)
{
	if (c->n_wrong > c->n_first)
		scap_say(c->log, SCAP_LOG_WARN,
			 "%s: %llu pages of 64 KiB have another checksum than when they were "
			 "written",
			 in->name, ULL(c->n_wrong));
}
