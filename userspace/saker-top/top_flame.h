/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of stacks with the number of samples of each frame, and its layout as bars. No screen. A
 * frame keeps its number until the tree is cleared; number and depth of frames are bounded: what is
 * beyond counts in the frame above.
 */
#ifndef SAKER_TOP_FLAME_H
#define SAKER_TOP_FLAME_H

#include <stddef.h>
#include <stdint.h>

enum { TOP_FLAME_FRAMES = 50000, TOP_FLAME_DEPTH = 512, TOP_FLAME_NAME = 512 /* bytes */ };

struct top_flame;

struct top_frame {
	char *name; /* owned by the tree */
	uint32_t above, first, next; /* numbers of frames: callee list; 0: none */
	uint32_t depth;
	uint64_t n, self; /* samples in it, and with it innermost */
};

struct top_flame *top_flame_new(void); /* NULL: no memory */
void top_flame_free(struct top_flame *f);
/* Removes all frames. The generation counts that. */
void top_flame_clear(struct top_flame *f);
unsigned int top_flame_generation(const struct top_flame *f);

/* Adds a folded stack: frames, outermost first, separated by semicolons. Returns 0 or -ENOMEM. */
int top_flame_add(struct top_flame *f, const char *text, size_t len);

/* Returns a frame; 0 is the root, which stands for all samples. NULL: there is none. */
const struct top_frame *top_flame_frame(const struct top_flame *f, uint32_t i);

/* A bar. */
struct top_bar {
	uint32_t frame;
	uint32_t row, x, width; /* row: from the top frame */
};

/*
 * Lays out the frames below @top in @width columns: @top has all of them, callees stand below their
 * caller, the widest first; those narrower than a column are left out. Bars are in the order of
 * rows, then columns. Returns their number, at most @max.
 */
size_t top_flame_layout(struct top_flame *f, uint32_t top, uint32_t width, struct top_bar *bars,
			size_t max);

#endif /* SAKER_TOP_FLAME_H */
