/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: answers of an OTLP collector, texts that become UTF-8, or, with SAKER_FUZZ_ARG
 * "file", a file of the queue on disk. */
#include "testing/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "otlp_files.h"
#include "otlp_message.h"
#include "otlp_url.h"

static void fuzz_answer(const uint8_t *data, size_t sz)
{
	struct fuzz_in in = {data, sz};
	const uint8_t *at;
	struct pb_field f;
	struct pb b;
	char *text;

	otlp_response_rejected(data, sz);
	pb_init(&b, 1 << 20);
	otlp_text(&b, 1, (const char *)data, sz);
	at = b.p;
	if (sz && (pb_next(&f, &at, b.p + b.len) != 1 || f.wire != 2 || at != b.p + b.len))
		abort();
	pb_fini(&b);
	text = fuzz_text(&in);
	otlp_url_problem(text);
	otlp_target_problem(text);
	otlp_header_problem(text);
	free(text);
}

static char name[300];
static int dir = -1;

/* Makes a folder with a file of the queue, whose name is stored. */
static void make_folder(void)
{
	struct otlp_batch *b = fuzz_must(otlp_batch_new(OTLP_LOGS, "text", 4, 1));
	struct dirent *e;
	DIR *d;

	fuzz_make_root();
	dir = otlp_dir_open(fuzz_root);
	b->seq = 1;
	if (dir < 0 || otlp_file_write(dir, b, OTLP_SYNC_LATER))
		abort();
	free(b);
	d = fuzz_must(opendir(fuzz_root));
	while ((e = readdir(d)))
		if (*e->d_name != '.' && strstr(e->d_name, ".otlp"))
			snprintf(name, sizeof(name), "%s", e->d_name);
	closedir(d);
}

static void fuzz_file(const uint8_t *data, size_t sz)
{
	struct otlp_batch *b;
	struct otlp_file *v;
	int fd, n;

	if (dir < 0)
		make_folder();
	fd = openat(dir, name, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, sz) != (ssize_t)sz)
		abort();
	close(fd);
	n = otlp_dir_list(&v, dir);
	if (n != 1)
		abort();
	if (!otlp_file_read(&b, dir, v)) {
		if (b->len > sz)
			abort();
		free(b);
	}
	free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	if (strcmp(getenv("SAKER_FUZZ_ARG") ?: "", "file"))
		fuzz_answer(data, sz);
	else
		fuzz_file(data, sz);
	return 0;
}
