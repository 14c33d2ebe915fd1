/* SPDX-License-Identifier: Apache-2.0 */
/* Quirks of sysdig that the state follows in sysdig's captures; one row each in
 * sysdig_quirks.def. */
#ifndef SINSP_STATE_QUIRKS_H
#define SINSP_STATE_QUIRKS_H

#include "inspector.h"

enum sinsp_quirk {
#define QUIRK(name, captures, events, what, why) SINSP_QUIRK_##name,
#include "sysdig_quirks.def"
#undef QUIRK
	SINSP_QUIRK_MAX
};

enum sinsp_quirk_captures { SINSP_QUIRK_IN_SYSDIG, SINSP_QUIRK_IN_ALL };

/* Returns whether the events of @s are parsed with the quirk @q. */
static inline int sinsp_quirk(const struct sinsp *s, enum sinsp_quirk q)
{
	static const uint8_t captures[SINSP_QUIRK_MAX] = {
#define QUIRK(name, captures, events, what, why) SINSP_QUIRK_IN_##captures,
#include "sysdig_quirks.def"
#undef QUIRK
	};

	return captures[q] == SINSP_QUIRK_IN_ALL || !s->native;
}

#endif /* SINSP_STATE_QUIRKS_H */
