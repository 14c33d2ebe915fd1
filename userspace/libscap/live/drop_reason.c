/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the reasons for lost records. */
#include "scap.h"
#include "shared/config.h"
#include "shared/sampler.h"

const char *scap_drop_reason(unsigned int reason)
{
	static const char *const sentences[] = {
#define X(sym, text) [DRV_DROP_##sym] = text,
		DRV_DROP_REASONS(X)
#undef X
	};

	return reason < DRV_DROP_MAX ? sentences[reason] : NULL;
}

unsigned int scap_main_drop_reason(const struct scap_stats *st)
{
	unsigned int max = 0;

	for (unsigned int i = 1; i < DRV_DROP_MAX; i++)
		if (st->dropped_by[i] > st->dropped_by[max])
			max = i;
	return max;
}

const char *scap_sample_filter_reason(unsigned int reason)
{
	static const char *const sentences[] = {
#define X(sym, text) [SAMPLE_FILTER_##sym] = text,
		SAMPLE_FILTERS(X)
#undef X
	};

	return reason < SAMPLE_FILTER_MAX ? sentences[reason] : NULL;
}

_Static_assert(DRV_DROP_MAX <= sizeof(((struct scap_stats *)0)->dropped_by) / sizeof(uint64_t),
	       "scap_stats has no room for every reason of a drop");
