/* SPDX-License-Identifier: Apache-2.0 */
/* Colours of lines on a terminal. */
#ifndef SINSP_FIELDS_COLOURS_H
#define SINSP_FIELDS_COLOURS_H

#define COLOUR_DIM "\033[2m"
#define COLOUR_PROCESS "\033[36m"
#define COLOUR_CONTAINER "\033[35m"
#define COLOUR_TYPE "\033[1m"
#define COLOUR_FAILED "\033[31m"
#define COLOUR_END "\033[0m"

#endif /* SINSP_FIELDS_COLOURS_H */
