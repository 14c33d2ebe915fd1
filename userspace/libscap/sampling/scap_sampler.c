/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/scap_sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "sampling/live_sampler.h"

#define DEFAULT_HZ 99
/* After a stop, events may be delivered that are older than the merge's slack. */
#define SETTLE_NS 1000000

struct scap_sampler {
	void *engine;
	uint8_t *buf; /* taken from the rings and not read yet */
	size_t len, sz;
	int stopped; /* nothing was read since then */
};

static int read_opts(struct scap_sampler_create_opts *out,
		     const struct scap_sampler_create_opts *opts)
{
	memset(out, 0, sizeof(*out));
	if (!opts)
		return 0;
	if (opts->sz < sizeof(opts->sz) || opts->sz > sizeof(*out))
		return -EINVAL;
	memcpy(out, opts, opts->sz);
	return 0;
}

int scap_sampler_create(struct scap_sampler **out, const struct scap_sampler_create_opts *user_opts)
{
	static const struct scap_sampler_opts defaults = {
		.sz = sizeof(defaults),
		.period_ns = 1000000000 / DEFAULT_HZ,
	};
	struct scap_sampler_create_opts o;
	struct scap_open_opts open_opts;
	struct scap_sampler *s;
	struct scap_log log;
	int err = read_opts(&o, user_opts);

	if (err)
		return err;
	log = (struct scap_log){o.log, o.log_ctx};
	open_opts = (struct scap_open_opts){
		.sz = sizeof(open_opts),
		.ring_kind = o.ring_kind,
		.ring_sz = o.ring_sz,
		.select = o.select,
		.sampler = o.sampler ? o.sampler : &defaults,
	};
	s = calloc(1, sizeof(*s));
	if (!s)
		return scap_fail(&log, -ENOMEM, "no memory for a sampler");
	err = scap_live_open_sampler(&s->engine, &open_opts, &log);
	if (err) {
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

int scap_sampler_start(struct scap_sampler *s, uint32_t options)
{
	return options ? -EINVAL : live_sampler_start(scap_live_sampler(s->engine));
}

int scap_sampler_stop(struct scap_sampler *s, uint32_t options)
{
	int err = options ? -EINVAL : scap_live_stop_sampler(s->engine);

	s->stopped |= !err;
	return err;
}

static size_t padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

static int keep(struct scap_sampler *s, const struct scap_evt *evt)
{
	const size_t need = s->len + padded(evt->hdr->len);
	struct ppm_evt_hdr *hdr;
	uint8_t *p;

	if (need > s->sz) {
		p = realloc(s->buf, need + need / 2);
		if (!p)
			return -ENOMEM;
		s->buf = p;
		s->sz = need + need / 2;
	}
	hdr = (struct ppm_evt_hdr *)(s->buf + s->len);
	memcpy(hdr, evt->hdr, evt->hdr->len);
	memset((uint8_t *)hdr + evt->hdr->len, 0, padded(evt->hdr->len) - evt->hdr->len);
	hdr->ts = evt->ts_ns;
	s->len = need;
	return 0;
}

/* Skips ends of threads and the like, which the driver reports for a selection. */
static int is_of_sampler(unsigned int type)
{
	return type == EVT_SAMPLE_E || type == EVT_SAMPLE_STACK_E || type == EVT_LOST_E ||
	       (type >= EVT_MAP_E && type <= EVT_MAP_EXIT_E);
}

int scap_sampler_read(struct scap_sampler *s, uint32_t options, void *buf, size_t len,
		      size_t *actual)
{
	const struct timespec settle = {.tv_nsec = SETTLE_NS};
	struct scap_evt evt;
	int err = 0;

	if (options)
		return -EINVAL;
	if (s->stopped)
		nanosleep(&settle, NULL);
	s->stopped = 0;
	while (!err && scap_live_ops.next(s->engine, &evt, 0) == 1)
		if (is_of_sampler(evt.type))
			err = keep(s, &evt);
	*actual = s->len;
	if (err)
		return err;
	if (s->len > len)
		return -EINVAL;
	if (s->len)
		memcpy(buf, s->buf, s->len);
	s->len = 0;
	return 0;
}

const struct ppm_evt_hdr *scap_sampler_event(const void *buf, size_t len, size_t *at)
{
	const struct ppm_evt_hdr *hdr = (const void *)((const uint8_t *)buf + *at);

	if (len - *at < sizeof(*hdr) || hdr->len < sizeof(*hdr) || hdr->len > len - *at)
		return NULL;
	*at += padded(hdr->len);
	return hdr;
}

void scap_sampler_get_stats(const struct scap_sampler *s, struct scap_sampler_stats *st)
{
	scap_live_ops.sampler_stats(s->engine, st);
}

void scap_sampler_close(struct scap_sampler *s)
{
	if (!s)
		return;
	scap_live_ops.close(s->engine);
	free(s->buf);
	free(s);
}
