/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include <stdio.h>

#include "confine.h"
#include "file/scap_file.h"
#include "say.h"
#include "spawn.h"

int verify_files(const char *const *paths)
{
	int err, status = STATUS_OK;
	unsigned int before;

	confine_reader(paths, 0);
	for (; *paths; paths++) {
		before = say_n_errors();
		err = scap_verify(*paths, say_log, NULL);
		if (err) {
			say_cause(before, *paths, err);
			status = STATUS_FAILED;
		} else {
			printf("%s: sound\n", *paths);
		}
	}
	return status;
}
