/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects PHP 8. Its loop, execute_ex, and its globals are exported to its modules; the version
 * stands in the text of a header that it sends.
 */
#include <errno.h>
#include <stdio.h>

#include "interp/detect.h"

static const struct row {
	struct interp_php php;
	uint16_t frame; /* in the globals: the current frame */
} rows[] = {
#define PHP(minor_, current, code_, n, file_, line)                                                \
	{{.minor = (minor_),                                                                       \
	  .code = (code_),                                                                         \
	  .n_code = (n),                                                                           \
	  .file = (file_),                                                                         \
	  .first_line = (line)},                                                                   \
	 (current)},
#include "interp/php.def"
#undef PHP
};

static const struct row *find_row(unsigned int major, unsigned int minor)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (major == 8 && rows[i].php.minor == minor)
			return &rows[i];
	return NULL;
}

int interp_detect_php(struct interp_file *out, const struct elf_file *f, const char *path)
{
	unsigned int major, minor;
	struct elf_symbol loop, globals;
	const struct row *row;

	(void)path;
	if (!elf_dynamic_symbol_find(f, &loop, "execute_ex") ||
	    !elf_dynamic_symbol_find(f, &globals, "zend_execute_ex") ||
	    !interp_find_version(f, "X-Powered-By: PHP/", &major, &minor))
		return 0;
	snprintf(out->version, sizeof(out->version), "PHP %u.%u", major, minor);
	row = find_row(major, minor);
	/* With thread safety each thread has its own. */
	if (!row || !elf_dynamic_symbol_find(f, &globals, "executor_globals") ||
	    interp_add_loop(out, f, &loop))
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_PHP;
	out->process.root = globals.addr + row->frame;
	out->process.php = row->php;
	return 1;
}
