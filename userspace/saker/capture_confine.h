/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines a replay, so that a hostile capture file can at most end it: before the file is opened
 * to what opening needs, and from the first event on to what is still needed. docs/security.md
 * lists what remains allowed in which mode. What this kernel lacks is reported with -v.
 */
#ifndef SAKER_CAPTURE_CONFINE_H
#define SAKER_CAPTURE_CONFINE_H

struct capture;

void capture_confine(struct capture *c);
void capture_confine_open(const struct capture *c); /* all files are open */

#endif /* SAKER_CAPTURE_CONFINE_H */
