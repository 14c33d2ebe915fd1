/* SPDX-License-Identifier: Apache-2.0 */
/* -L: events and their parameters, from the event table. */
#ifndef SAKER_LIST_EVENTS_H
#define SAKER_LIST_EVENTS_H

#include <stdio.h>

/* @all: also old layouts, which only old files have. */
void list_events(FILE *f, int all);
void list_events_markdown(FILE *f);

#endif /* SAKER_LIST_EVENTS_H */
