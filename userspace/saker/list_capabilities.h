/* SPDX-License-Identifier: Apache-2.0 */
/* --capabilities: features of this kernel, which are used, and which are missing and why. */
#ifndef SAKER_LIST_CAPABILITIES_H
#define SAKER_LIST_CAPABILITIES_H

#include <stdio.h>

void list_capabilities(FILE *f);

#endif /* SAKER_LIST_CAPABILITIES_H */
