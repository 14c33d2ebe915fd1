/* SPDX-License-Identifier: Apache-2.0 */
#include "file_needs.h"

#include "flight.h"
#include "symbols/symbols.h"

static int put_raw(struct dispatch *t, const struct scap_evt *evt)
{
	return t->flight ? flight_put(t->flight, evt) : scap_writer_put(t->writer, evt);
}

/* Writes names of frames, with the time of the event that needs them. */
struct symbols_to {
	struct dispatch *t;
	uint64_t ts_ns;
};

static int put_symbol(void *ctx, const struct ppm_evt_hdr *hdr)
{
	const struct symbols_to *to = ctx;
	const struct scap_evt evt = {.hdr = hdr,
				     .ts_ns = to->ts_ns,
				     .true_ns = to->ts_ns,
				     .type = hdr->type,
				     .nr = REC_NR_NONE};

	return put_raw(to->t, &evt);
}

/* A piece can be read alone: it repeats the container events so far. */
static int put_repeated(struct dispatch *t, uint64_t ts_ns)
{
	int err = 0;

	for (size_t i = 0; i < t->pieces.n_repeated && !err; i++) {
		struct ppm_evt_hdr *hdr = t->pieces.repeated[i];
		const struct scap_evt evt = {.hdr = hdr,
					     .num = 1,
					     .ts_ns = ts_ns,
					     .true_ns = ts_ns,
					     .type = hdr->type,
					     .nr = REC_NR_NONE};

		hdr->ts = ts_ns;
		err = put_raw(t, &evt);
	}
	return err;
}

int file_needs_known(struct dispatch *t, uint64_t ts_ns)
{
	struct symbols_to to = {t, ts_ns};
	int err = put_repeated(t, ts_ns);

	if (!err && t->inspector)
		err = sinsp_code_maps_export(t->inspector, put_symbol, &to)
			      ?: sinsp_scripts_export(t->inspector, put_symbol, &to);
	return err;
}

/* A piece can be read alone: it has what its events need. */
__attribute__((noinline)) int file_needs_of(struct dispatch *t, const struct sinsp_evt *evt)
{
	struct symbols_to to = {t, evt->raw.ts_ns};
	const uint32_t n = t->flight ? flight_part(t->flight) : t->pieces.n + t->n_checkpoints;
	int err = pieces_note(&t->pieces, &evt->raw);

	if (err || (!t->writer && !t->flight))
		return err;
	t->pieces.n_events += evt->raw.num != 0;
	if (!t->o->with_symbols)
		return 0;
	return sinsp_symbols_export(evt->insp, evt, n, put_symbol, &to);
}
