/* SPDX-License-Identifier: Apache-2.0 */
/* -l: fields of formats and filters, from their rows. */
#ifndef SAKER_LIST_FIELDS_H
#define SAKER_LIST_FIELDS_H

#include <stdio.h>

/* @all: also their types, and rarely used fields. Lines have at most @width columns. */
void list_fields(FILE *f, int all, int width);
void list_fields_markdown(FILE *f);

#endif /* SAKER_LIST_FIELDS_H */
