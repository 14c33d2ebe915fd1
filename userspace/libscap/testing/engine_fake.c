/* SPDX-License-Identifier: Apache-2.0 */
/* The fake engine: events added by tests, sorted by time. */
#include "testing/engine_fake.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "event/expand.h"

struct fake_event {
	uint64_t ts_ns;
	size_t seq; /* equal times keep their order */
	struct scap_evt evt; /* hdr is owned */
};

struct scap_fake {
	struct scap_state_build *build;
	const struct scap_state *state;
	struct scap_expand *expand;
	struct fake_event *events;
	size_t n, cap, next;
	uint64_t n_records;
	struct scap_running *running; /* NULL: not known */
	size_t n_running;
	struct scap_redact *redact; /* NULL: none. Borrowed */
};

static void fake_close(void *engine)
{
	struct scap_fake *f = engine;

	for (size_t i = 0; i < f->n; i++)
		free((void *)f->events[i].evt.hdr);
	free(f->events);
	free(f->running);
	scap_expand_free(f->expand);
	scap_state_build_free(f->build);
	free(f);
}

struct scap_fake *scap_fake_new(void)
{
	struct scap_fake *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->build = scap_state_build_new();
	f->expand = scap_expand_new();
	if (!f->build || !f->expand) {
		fake_close(f);
		return NULL;
	}
	return f;
}

void scap_fake_redact(struct scap_fake *f, struct scap_redact *redact)
{
	f->redact = redact;
}

struct scap_state_build *scap_fake_state(struct scap_fake *f)
{
	return f->build;
}

/* Keeps a copy of evt->hdr. */
static int add(struct scap_fake *f, const struct scap_evt *evt)
{
	struct ppm_evt_hdr *hdr = malloc(evt->hdr->len);

	if (!hdr)
		return -ENOMEM;
	memcpy(hdr, evt->hdr, evt->hdr->len);
	if (f->n == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 64;
		struct fake_event *v = realloc(f->events, cap * sizeof(*v));

		if (!v) {
			free(hdr);
			return -ENOMEM;
		}
		f->events = v;
		f->cap = cap;
	}
	f->events[f->n] = (struct fake_event){evt->ts_ns, f->n, *evt};
	f->events[f->n].evt.hdr = hdr;
	f->n++;
	return 0;
}

static int is_text(unsigned int param_type)
{
	return param_type == PT_CHARBUF || param_type == PT_FSPATH || param_type == PT_FSRELPATH;
}

/* Writes one parameter from @ap at @p. Returns its length, or -ENOSPC. */
static int64_t put_param(uint8_t *p, size_t room, unsigned int param_type, va_list *ap)
{
	size_t len = scap_param_size(param_type);
	const void *bytes;
	uint64_t number;

	if (len && len <= sizeof(number)) {
		number = va_arg(*ap, uint64_t);
		bytes = &number;
	} else if (is_text(param_type)) {
		bytes = va_arg(*ap, const char *);
		len = bytes ? strlen(bytes) + 1 : 0;
	} else {
		bytes = va_arg(*ap, const void *);
		len = va_arg(*ap, size_t);
	}
	if (len > room)
		return -ENOSPC;
	if (len)
		memcpy(p, bytes, len);
	return (int64_t)len;
}

/* Builds an event of @type with its first @n parameters in @buf. Returns 0 or a negative errno. */
static int build_event(void *buf, size_t buf_sz, uint64_t ts, int64_t tid, unsigned int type,
		       unsigned int n, va_list *ap)
{
	const struct scap_event_info *info = scap_event_info(type);
	const size_t len_sz = scap_evt_len_sz(type);
	struct ppm_evt_hdr *hdr = buf;
	uint8_t *lens = (uint8_t *)(hdr + 1), *p = lens + n * len_sz,
		*end = (uint8_t *)buf + buf_sz;

	if (!info || n > info->n_params)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++) {
		int64_t len = put_param(p, (size_t)(end - p), info->params[i].type, ap);
		uint32_t l = len;

		if (len < 0 || (len_sz == 2 && len > UINT16_MAX))
			return -ENOSPC;
		memcpy(lens + i * len_sz, &l, len_sz);
		p += len;
	}
	*hdr = (struct ppm_evt_hdr){ts, (uint64_t)tid, (uint32_t)(p - (uint8_t *)buf), type, n};
	return 0;
}

/* The event or record that is being built. Static: malloc and free of 1 MiB for each event took
 * most of the time of tests with sanitizers. */
static union {
	struct rec_hdr rec;
	uint8_t bytes[1024 * 1024];
} made;

int scap_fake_add(struct scap_fake *f, uint64_t ts_ns, uint16_t cpu, int64_t tid, unsigned int type,
		  unsigned int n, ...)
{
	struct scap_evt evt = {.ts_ns = ts_ns,
			       .true_ns = ts_ns,
			       .cpu = cpu,
			       .type = type,
			       .nr = scap_event_nr(type)};
	va_list ap;
	int err;

	va_start(ap, n);
	err = build_event(&made, sizeof(made), ts_ns, tid, type, n, &ap);
	va_end(ap);
	evt.hdr = (const struct ppm_evt_hdr *)&made;
	if (!err)
		err = add(f, &evt);
	if (!err)
		f->n_records++;
	return err;
}

static int add_record(struct scap_fake *f, const struct rec_hdr *rec, uint16_t cpu)
{
	struct scap_evt evt = {.cpu = cpu};
	int err;

	if (scap_rec_has_enter(rec)) {
		err = scap_expand_enter(f->expand, &evt, NULL, rec);
		evt.ts_ns = evt.true_ns = rec->enter_ns;
		if (err || (err = add(f, &evt)))
			return err;
	}
	err = scap_expand_exit(&evt, NULL, rec);
	evt.ts_ns = evt.true_ns = rec->evt.ts;
	return err ? err : add(f, &evt);
}

int scap_fake_add_call(struct scap_fake *f, uint64_t enter_ns, uint64_t exit_ns, uint16_t cpu,
		       int64_t tid, unsigned int exit_type, unsigned int n, ...)
{
	struct rec_hdr *rec = &made.rec;
	va_list ap;
	int err;

	*rec = (struct rec_hdr){0};
	va_start(ap, n);
	err = build_event(&rec->evt, sizeof(made) - offsetof(struct rec_hdr, evt), exit_ns, tid,
			  exit_type, n, &ap);
	va_end(ap);
	rec->len = offsetof(struct rec_hdr, evt) + rec->evt.len;
	rec->nr = scap_event_nr(exit_type);
	rec->enter_ns = enter_ns;
	if (!err)
		err = add_record(f, rec, cpu);
	if (!err)
		f->n_records++;
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct fake_event *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

int scap_fake_open(struct scap **out, struct scap_fake *f)
{
	const struct scap_log silent = {0};

	if (f->n)
		qsort(f->events, f->n, sizeof(*f->events), by_time);
	f->state = scap_state_build_done(f->build);
	return scap_open_engine(out, &scap_fake_ops, f, f->redact, &silent);
}

static int fake_next(void *engine, struct scap_evt *evt, int timeout_ms)
{
	struct scap_fake *f = engine;

	(void)timeout_ms;
	if (f->next == f->n)
		return -ENODATA;
	*evt = f->events[f->next++].evt;
	return 1;
}

static int fake_stop(void *engine)
{
	struct scap_fake *f = engine;

	f->next = f->n;
	return 0;
}

static const struct scap_state *fake_state(const void *engine)
{
	return ((const struct scap_fake *)engine)->state;
}

int scap_fake_set_running(struct scap_fake *f, const struct scap_running *v, size_t n)
{
	struct scap_running *copy = calloc(n + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, v, n * sizeof(*copy));
	free(f->running);
	f->running = copy;
	f->n_running = n;
	return 0;
}

static int fake_running(void *engine, const struct scap_running **out)
{
	const struct scap_fake *f = engine;

	*out = f->running;
	return f->running ? (int)f->n_running : -ENODATA;
}

static int fake_stats(const void *engine, struct scap_stats *st)
{
	st->n_records = ((const struct scap_fake *)engine)->n_records;
	return 0;
}

const struct scap_engine_ops scap_fake_ops = {
	.next = fake_next,
	.stop = fake_stop,
	.state = fake_state,
	.running = fake_running,
	.stats = fake_stats,
	.close = fake_close,
};
