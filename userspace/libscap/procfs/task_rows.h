/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the driver's task iterators, by process. */
#ifndef SCAP_PROCFS_TASK_ROWS_H
#define SCAP_PROCFS_TASK_ROWS_H

#include <stddef.h>

#include "shared/task_row.h"

struct task_rows { /* zero-initialized is empty */
	struct task_row *v;
	size_t n;
};

/* Reads @fd to its end. Returns 0, or a negative errno with nothing in *r. */
int task_rows_read(struct task_rows *r, int fd);
void task_rows_fini(struct task_rows *r);

/* Returns how many threads @pid has; *first is the first of their rows. */
size_t task_rows_of(const struct task_rows *r, const struct task_row **first, u32 pid);
/* Returns the row of the main thread of @pid; NULL: none. */
const struct task_row *task_rows_main(const struct task_rows *r, u32 pid);

#endif /* SCAP_PROCFS_TASK_ROWS_H */
