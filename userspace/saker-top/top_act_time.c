/* SPDX-License-Identifier: Apache-2.0 */
/* The time axis: pauses, shows earlier tables, plays a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "top_screen_state.h"

#define MS 1000000ull
#define SECOND 1000000000ull

enum { DAY_S = 86400 };

/* Shows the newest table again. */
static void show_newest(struct top_screen *s)
{
	if (!s->past)
		return;
	s->past = 0;
	s->snap = NULL;
	top_take_newest(s);
}

void top_pause(struct top_screen *s, int paused)
{
	s->paused = paused != 0;
	if (s->play.is_on) {
		s->play.is_paused = s->paused;
		top_feed_play(s->feed, &s->play, 0);
	}
	if (!paused)
		show_newest(s);
}

/* ---- earlier tables ---- */

static int show_past(struct top_screen *s, uint64_t number)
{
	const struct top_snapshot *snap = top_feed_past(s->feed, number);

	if (!snap)
		return top_complain(s, "that table is no longer kept");
	s->past = number + 1;
	s->steps = 0;
	s->snap = snap;
	return top_grid_arrive(&top_path_top(&s->path)->place, snap);
}

/* Returns whether there are earlier tables: *from up to, not including, *to. */
static int has_past(struct top_screen *s, uint64_t *from, uint64_t *to)
{
	top_feed_history(s->feed, from, to);
	if (*from < *to && s->snap)
		return 1;
	if (s->o->read && !s->play.is_on)
		top_complain(s, "this is the table of the whole file: Space plays it");
	else
		top_complain(s, "no other table is kept");
	return 0;
}

static void step(struct top_screen *s, int by)
{
	uint64_t from, to, at;

	if (!has_past(s, &from, &to))
		return;
	top_pause(s, 1);
	at = s->past ? s->past - 1 : top_feed_past_at(s->feed, s->snap->end_ns);
	if (by < 0 && at <= from) {
		top_complain(s, "no earlier table is kept");
	} else if (by < 0 || at + 1 < to) {
		show_past(s, by < 0 ? at - 1 : at + 1);
	} else if (s->play.is_on && !s->status.at_end) {
		s->past = 0;
		s->steps++;
		top_feed_play(s->feed, &s->play, 1);
	} else {
		top_complain(s, "this is the newest table");
	}
}

/* ---- a file ---- */

static int start_play(struct top_screen *s, uint64_t from_ns, int paused)
{
	const struct top_play before = s->play;
	int err;

	s->play.is_on = 1;
	s->play.is_paused = paused != 0;
	s->play.from_ns = from_ns;
	err = top_show_table(s);
	if (err)
		s->play = before;
	else
		s->paused = s->play.is_paused;
	return err;
}

int top_end_play(struct top_screen *s)
{
	if (!s->play.is_on)
		return 0;
	s->play = (struct top_play){.speed = s->play.speed};
	s->paused = 0;
	s->steps = 0;
	top_show_table(s);
	return 1;
}

/* At the end it begins again. */
static void play(struct top_screen *s)
{
	if (!s->o->read || (s->play.is_on && (s->paused || !s->status.at_end)))
		top_pause(s, !s->paused);
	else
		start_play(s, top_path_top(&s->path)->from_ns, 0);
}

static void change_speed(struct top_screen *s, int by)
{
	const int speed = s->play.speed + by;

	if (!s->o->read) {
		top_complain(s, "only a file has a speed: saker top -r FILE");
		return;
	}
	if (speed < TOP_PLAY_SLOWEST || speed > TOP_PLAY_FASTEST) {
		top_complain(s, "this is the %s speed", by < 0 ? "slowest" : "fastest");
		return;
	}
	s->play.speed = speed;
	if (s->play.is_on)
		top_feed_play(s->feed, &s->play, 0);
	else
		top_say(s, "Space plays the file at this speed: %s%d times", speed < 0 ? "1/" : "",
			1 << abs(speed));
}

/* ---- times ---- */

/* Returns the time of day next to @about, behind it in a file and before it live, or after "+" a
 * number of seconds behind it; 0: the text is none. */
static uint64_t parse_time(const char *text, uint64_t about, int is_file)
{
	const time_t about_s = (time_t)(about / SECOND);
	double seconds = 0;
	int hour, minute, used = 0;
	struct tm tm;
	time_t t;

	if (sscanf(text, "+%lf%n", &seconds, &used) == 1 && !text[used] && is_file && seconds >= 0)
		return about + (uint64_t)(seconds * 1e9);
	seconds = used = 0;
	if (sscanf(text, "%2d:%2d%n:%lf%n", &hour, &minute, &used, &seconds, &used) < 2 ||
	    text[used] || hour > 23 || minute > 59 || hour < 0 || minute < 0 || seconds < 0 ||
	    seconds >= 61)
		return 0;
	localtime_r(&about_s, &tm);
	tm.tm_hour = hour;
	tm.tm_min = minute;
	tm.tm_sec = 0;
	tm.tm_isdst = -1;
	t = mktime(&tm);
	if (is_file && (uint64_t)(t + 60) * SECOND + (uint64_t)(seconds * 1e9) < about)
		t += DAY_S;
	if (!is_file && (uint64_t)t * SECOND > about)
		t -= DAY_S;
	return (uint64_t)t * SECOND + (uint64_t)(seconds * 1e9);
}

static int jump_live(struct top_screen *s, const char *text)
{
	uint64_t from, to, ns;
	int ret;

	if (!has_past(s, &from, &to))
		return 0;
	ns = parse_time(text, clock_read_ns(CLOCK_REALTIME), 0);
	if (!ns)
		return top_complain(s, "'%s' is not a time: 14:32 or 14:32:05", text);
	/* A table ends within the second that is shown as its time. */
	ns += (strchr(text, '.') ? MS : SECOND) - 1;
	top_pause(s, 1);
	ret = show_past(s, top_feed_past_at(s->feed, ns));
	if (s->snap && s->snap->end_ns > ns)
		top_say(s, "no table of %s is kept: this is the oldest", text);
	return ret;
}

int top_jump(struct top_screen *s, const char *text)
{
	struct top_times times;
	uint64_t ns, begin, end;

	if (!s->o->read)
		return jump_live(s, text);
	top_feed_times(s->feed, &times);
	if (!times.n)
		return top_complain(s, "the file is still being read");
	begin = times.begin_ns;
	end = begin + times.n * top_times_length_ns(&times);
	ns = parse_time(text, begin, 1);
	if (!ns)
		return top_complain(s, "'%s' is not a time: 14:32, 14:32:05, or +90 seconds", text);
	if (ns + 60 * SECOND < begin || ns >= end)
		return top_complain(s, "the file has no events at %s", text);
	return start_play(s, ns < begin ? begin : ns, 1);
}

/* ---- keys ---- */

int top_act_time(struct top_screen *s, enum top_action action, int code)
{
	if (action == TOP_KEY_EARLIER)
		step(s, -1);
	else if (action == TOP_KEY_LATER)
		step(s, 1);
	else if (action == TOP_KEY_PLAY)
		play(s);
	else if (action == TOP_KEY_SPEED)
		change_speed(s, code == '-' ? -1 : 1);
	else if (action == TOP_KEY_JUMP)
		top_ask(s, TOP_ASKS_TIME, "");
	else
		return 0;
	return 1;
}
