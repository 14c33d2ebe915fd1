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
