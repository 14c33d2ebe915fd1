/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a heat map as text, a line after another. */
#ifndef SAKER_TOP_PRINT_HEAT_H
#define SAKER_TOP_PRINT_HEAT_H

#include "chisel/chisel.h"
#include "top_options.h"

/* Returns 0, or a negative errno after reporting it. */
int top_print_heat(const struct top_options *o, const struct sinsp_view *view);

#endif /* SAKER_TOP_PRINT_HEAT_H */
