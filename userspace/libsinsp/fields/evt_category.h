/* SPDX-License-Identifier: Apache-2.0 */
/* The category of an event, and the kind of the file that it reads or writes. */
#ifndef SINSP_FIELDS_EVT_CATEGORY_H
#define SINSP_FIELDS_EVT_CATEGORY_H

#include "sinsp.h"

enum fd_kind { FD_NONE, FD_FILE, FD_NET, FD_IPC, FD_OTHER };

/* Returns whether it is the event of a call that has no parameters of its own. */
int evt_is_generic(const struct sinsp_evt *evt);
/* Returns the category (EC_*); of a generic call that of the call. */
unsigned int evt_category(const struct sinsp_evt *evt);
/* Returns the kind of a file, or of the event's file; NULL: FD_NONE. */
enum fd_kind evt_kind_of_fd(const struct sinsp_fd *fd);
enum fd_kind evt_fd_kind(const struct sinsp_evt *evt);
/* Returns whether the event moves data. */
int evt_is_io(const struct sinsp_evt *evt);
/* Returns the value of evt.category. */
const char *evt_category_name(const struct sinsp_evt *evt);

#endif /* SINSP_FIELDS_EVT_CATEGORY_H */
