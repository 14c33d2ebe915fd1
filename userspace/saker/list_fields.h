/* SPDX-License-Identifier: Apache-2.0 */
/* -l: the fields of formats and filters, from their rows. */
#ifndef SAKER_LIST_FIELDS_H
#define SAKER_LIST_FIELDS_H

#include <stdio.h>

/* @all: also their types, and fields that are seldom meant. Lines are at most @width wide. */
void list_fields(FILE *f, int all, int width);
void list_fields_markdown(FILE *f);

#endif /* SAKER_LIST_FIELDS_H */
