/* SPDX-License-Identifier: Apache-2.0 */
/* Draws heat maps and flame graphs on the page. */
#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_draw.h"
#include "top_screen_state.h"

/* ---- heat maps ---- */

int top_shows_heat(const struct top_screen *s)
{
	return !s->pane.kind && top_view_is_spectrum(s->path.v[s->path.n - 1].view);
}

int top_heat_title(struct sinsp_text *out, struct top_screen *s)
{
	const struct top_spectrum *sp = &top_feed_lock_spectrum(s->feed)->spectrum;
	const int err = top_put(out, ": %" PRIu64 " latencies in lines of %g s", sp->n,
				(double)sp->length_ns / 1e9);

	top_feed_unlock(s->feed);
	return err;
}

void top_draw_heat_page(struct top_screen *s)
{
	const struct top_area area = top_page_area();

	if (s->paused)
		s->heat.stays = 1;
	top_heat_draw(&s->heat, top_feed_lock_spectrum(s->feed), &area);
	top_feed_unlock(s->feed);
}

/* ---- stacks ---- */

static const char *const why_none_live[] = {
	"No samples yet.",
	"",
	"99 times a second, the stack of what runs on a CPU is sampled: a process that waits for",
	"something has no samples. Leave this open until it runs. To see what it waits for, press",
	"Esc, then Enter, then F2, and choose the view Waiting Now.",
	NULL,
};
static const char *const why_none_file[] = {
	"The file has no samples of this selection.",
	"",
	"Record some: saker profile -w FILE, or saker --sample 99 -w FILE.",
	NULL,
};

void top_draw_stacks_page(struct top_screen *s)
{
	const struct top_area area = top_page_area();
	struct top_flame *flame = top_feed_lock_flame(s->feed);
	const uint64_t n = top_flame_frame(flame, 0)->n;
	const char *const *why = s->o->read ? why_none_file : why_none_live;
	struct sinsp_text text = {0};

	top_stacks_draw(&s->stacks, flame, &area);
	top_feed_unlock(s->feed);
	if (!top_put(&text, "Stacks of %s: %" PRIu64 " samples   (Enter zooms, Esc closes)",
		     s->stacks_name ?: "", n))
		top_draw_line(TOP_HEADER_LINE, &text, TOP_HEADER);
	free(text.p);
	if (n || (s->o->read && !s->status.at_end))
		return;
	for (int i = 0; why[i] && i < area.height; i++)
		top_draw_text(area.y + i, 0, area.width, why[i], strlen(why[i]), TOP_PLAIN);
}
