/* SPDX-License-Identifier: Apache-2.0 */
/* -S: for each event: how often it was shown, how often it failed, how long it took. */
#ifndef SAKER_SUMMARY_H
#define SAKER_SUMMARY_H

#include <stdio.h>

#include "sinsp.h"

struct summary;

struct summary *summary_new(void); /* NULL: no memory */
void summary_free(struct summary *sum);
void summary_add(struct summary *sum, const struct sinsp_evt *evt);
void summary_print(struct summary *sum, FILE *f);
/* Prints an object for each row, with nanoseconds. */
void summary_print_json(struct summary *sum, FILE *f);

#endif /* SAKER_SUMMARY_H */
