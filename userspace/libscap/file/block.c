// SPDX-License-Identifier: Apache-2.0
/* Blocks as they lie in a file. */
#include "file/input.h"
#include "file/scap_format.h"

static int bad(const char **what, const char *why)
{
	*what = why;
	return FILE_BLOCK_BAD;
}

int file_block_peek(struct input *in, struct file_block *blk, const char **what)
{
	int ret = input_need(in, BLK_MIN);
	uint32_t len;

	if (ret < 0)
		return ret;
	if (ret == 0)
		return in->p == in->end ? 0 : bad(what, NULL);
	len = get_u32(in->p + 4);
	if (len < BLK_MIN || len % 4 || len > BLK_BUF_MAX)
		return bad(what, "a block has an impossible length");
	ret = input_need(in, len);
	if (ret < 0)
		return ret;
	if (ret == 0)
		return bad(what, NULL);
	if (get_u32(in->p + len - 4) != len)
		return bad(what, "a block begins with another length than it ends with");
	blk->type = get_u32(in->p);
	blk->len = len;
	blk->body = in->p + 8;
	blk->body_len = len - BLK_MIN;
	return 1;
}

bool file_block_is_event(uint32_t type)
{
	switch (type) {
	case BLK_EV_V2:
	case BLK_EVF_V2:
	case BLK_EV_V2_LARGE:
	case BLK_EVF_V2_LARGE:
	case BLK_EV:
	case BLK_EV_INT:
	case BLK_EVF:
		return true;
	default:
		return false;
	}
}
