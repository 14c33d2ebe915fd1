/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests of chisels, on the machine of text_test.h. */
#ifndef SINSP_CHISEL_CHISEL_TEST_H
#define SINSP_CHISEL_CHISEL_TEST_H

#include <stdlib.h>
#include <unistd.h>

#include "chisel.h"
#include "fields/text_test.h"

struct chisel_fixture {
	struct fixture *machine;
	char dir[32], path[64];
	struct sinsp_chisel_run run;
	struct sinsp_chisel *c;
	char *out;
	size_t len, n_seen;
	char said[256]; /* the first message about the chisel */
	struct ppm_evt_hdr hdr;
};

static inline void chisel_note(void *ctx, enum scap_log_level level, const char *text)
{
	struct chisel_fixture *f = ctx;

	(void)level;
	if (!*f->said)
		snprintf(f->said, sizeof(f->said), "%s", text);
}

/* Starts a chisel with this program. @max_bytes 0: the default. */
static inline void chisel_start(struct chisel_fixture *f, struct fixture *machine,
				const char *program, const char *more, size_t max_bytes)
{
	FILE *file;

	*f = (struct chisel_fixture){.machine = machine, .dir = "/tmp/saker-chisel-XXXXXX"};
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/t.lua", f->dir);
	file = fopen(f->path, "w");
	assert_non_null(file);
	fprintf(file, "%s%s", program, more);
	fclose(file);
	sinsp_chisel_run_init(&f->run);
	f->run.log = chisel_note;
	f->run.log_ctx = f;
	f->run.insp = machine->s;
	if (max_bytes)
		f->run.max_bytes = max_bytes;
	f->run.out = open_memstream(&f->out, &f->len);
	assert_non_null(f->run.out);
	assert_int_equal(sinsp_chisel_open(&f->c, &f->run, f->path), 0);
	assert_int_equal(sinsp_chisel_init(f->c), 0);
	assert_int_equal(sinsp_chisel_begin(f->c), 0);
}

static inline void chisel_stop(struct chisel_fixture *f)
{
	sinsp_chisel_close(f->c);
	fclose(f->run.out);
	f->run.out = stdout;
	sinsp_chisel_run_fini(&f->run);
	free(f->out);
	unlink(f->path);
	rmdir(f->dir);
}

/* Checks what was printed since the last call. */
static inline void chisel_prints(struct chisel_fixture *f, const char *expected)
{
	fflush(f->run.out);
	assert_string_equal(f->out + f->n_seen, expected);
	f->n_seen = f->len;
}

#endif /* SINSP_CHISEL_CHISEL_TEST_H */
