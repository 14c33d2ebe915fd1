/* SPDX-License-Identifier: Apache-2.0 */
#include "live/kernel_version.h"

#include <stdio.h>
#include <sys/utsname.h>

int scap_kernel_is_at_least(unsigned int major, unsigned int minor)
{
	unsigned int a = 0, b = 0;
	struct utsname u;

	if (uname(&u) || sscanf(u.release, "%u.%u", &a, &b) != 2)
		return 0;
	return a > major || (a == major && b >= minor);
}
