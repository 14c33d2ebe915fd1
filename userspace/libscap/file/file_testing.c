/* SPDX-License-Identifier: Apache-2.0 */
#include "file/file_testing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testing/test_main.h"

struct said said;

void hear(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	snprintf(said.text, sizeof(said.text), "%s", text);
	said.n_all++;
	said.n_errors += level == SCAP_LOG_ERROR;
}

void hear_anew(void)
{
	memset(&said, 0, sizeof(said));
}

static char dir[64];

const char *path_of(const char *name)
{
	static char path[4][128];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

void add_bytes(struct bytes *b, const void *p, size_t n)
{
	uint8_t *grown = malloc(b->n + n + 1);

	/* @p may lie in the bytes themselves. */
	assert_non_null(grown);
	if (b->n)
		memcpy(grown, b->p, b->n);
	if (n)
		memcpy(grown + b->n, p, n);
	free(b->p);
	b->p = grown;
	b->n += n;
}

void add_text(struct bytes *b, const char *text)
{
	ADD(b, uint16_t, strlen(text));
	add_bytes(b, text, strlen(text));
}

size_t begin_block(struct bytes *b, uint32_t type)
{
	size_t at = b->n;

	ADD(b, uint32_t, type);
	ADD(b, uint32_t, 0);
	return at;
}

void end_block(struct bytes *b, size_t at)
{
	uint32_t len;

	add_bytes(b, "\0\0\0", (4 - b->n % 4) % 4);
	len = b->n - at + 4;
	memcpy(b->p + at + 4, &len, 4);
	ADD(b, uint32_t, len);
}

void add_shb(struct bytes *b)
{
	size_t at = begin_block(b, BLK_SHB);

	ADD(b, uint32_t, SHB_MAGIC);
	ADD(b, uint16_t, 1);
	ADD(b, uint16_t, 2);
	ADD(b, uint64_t, UINT64_MAX);
	end_block(b, at);
}

void add_event(struct bytes *b, const struct ppm_evt_hdr *evt)
{
	size_t at = begin_block(b, BLK_EV_V2);

	ADD(b, uint16_t, 1);
	add_bytes(b, evt, evt->len);
	end_block(b, at);
}

void save(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

void load(struct bytes *b, const char *path)
{
	FILE *f = fopen(path, "r");
	char buf[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		add_bytes(b, buf, n);
	fclose(f);
}

/* An event with parameters of the given lengths, filled with a pattern. */
struct ppm_evt_hdr *make_event(unsigned int type, unsigned int n, const uint32_t *lens)
{
	size_t lens_sz = scap_evt_len_sz(type), len = sizeof(struct ppm_evt_hdr) + n * lens_sz;
	struct ppm_evt_hdr *evt;
	uint8_t *p;

	for (unsigned int i = 0; i < n; i++)
		len += lens[i];
	evt = malloc(len);
	assert_non_null(evt);
	*evt = (struct ppm_evt_hdr){.tid = 42, .len = len, .type = type, .nparams = n};
	p = (uint8_t *)(evt + 1);
	for (unsigned int i = 0; i < n; i++, p += lens_sz)
		memcpy(p, &lens[i], lens_sz);
	for (unsigned int i = 0; p < (uint8_t *)evt + len; i++)
		*p++ = i * 7 + type;
	return evt;
}

void keep(struct list *l, const struct scap_evt *evt)
{
	struct ppm_evt_hdr *copy = malloc(evt->hdr->len);

	assert_non_null(copy);
	assert_true(l->n < MAX_EVTS);
	memcpy(copy, evt->hdr, evt->hdr->len);
	l->v[l->n] = *evt;
	l->v[l->n++].hdr = copy;
}

void list_fini(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free((void *)l->v[i].hdr);
	l->n = 0;
}

/* The reader's parsed lengths of an event equal those from parsing the event again. */
static void assert_split(const struct scap_evt *evt, const struct scap_params *params)
{
	struct scap_params again;

	scap_evt_params(evt->hdr, &again);
	assert_int_equal(params->n, again.n);
	for (unsigned int i = 0; i < again.n; i++) {
		assert_ptr_equal(params->v[i].p, again.v[i].p);
		assert_int_equal(params->v[i].len, again.v[i].len);
	}
}

/* Everything that @paths hold. What scap_next said at the end; *n_sections may be NULL. */
int read_paths(struct list *l, const char *const *paths, int *n_sections)
{
	struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths, .log = hear};
	struct scap_params params;
	struct scap_evt evt;
	struct scap *s;
	int ret = scap_open(&s, &opts);

	if (n_sections)
		*n_sections = 1;
	if (ret)
		return ret;
	while ((ret = scap_next_split(s, &evt, &params, -1)) >= 0) {
		if (ret == 1) {
			assert_split(&evt, &params);
			keep(l, &evt);
		} else if (n_sections) {
			++*n_sections;
		}
	}
	scap_close(s);
	return ret;
}

int read_path(struct list *l, const char *path)
{
	const char *paths[] = {path, NULL};

	return read_paths(l, paths, NULL);
}

const char *file_of(const void *p, size_t n)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("bytes", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, p, n, 0), n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

int read_bytes(struct list *l, const void *p, size_t n)
{
	return read_path(l, file_of(p, n));
}

const struct scap_state no_state;

void write_list(const struct list *l, const char *path, enum scap_compress compress)
{
	struct scap_writer_opts opts = {.sz = sizeof(opts),
					.compress = compress,
					.provenance = "saker=test\n",
					.log = hear};
	struct scap_stats st = {.n_events = l->n};
	struct scap_writer *w;

	assert_int_equal(scap_writer_open(&w, path, &no_state, &opts), 0);
	for (size_t i = 0; i < l->n; i++)
		assert_int_equal(scap_writer_put(w, &l->v[i]), 0);
	assert_int_equal(scap_writer_close(w, &st, NULL), 0);
}

void assert_same(const struct scap_evt *a, const struct scap_evt *b)
{
	assert_int_equal(a->ts_ns, b->ts_ns);
	assert_int_equal(a->true_ns, b->true_ns);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->nr, b->nr);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->hdr->len, b->hdr->len);
	/* The time in the header is not to be used. */
	assert_memory_equal((const char *)a->hdr + 8, (const char *)b->hdr + 8, a->hdr->len - 8);
}

struct scap_evt *put_event(struct list *l, unsigned int type, unsigned int n, const uint32_t *lens)
{
	struct ppm_evt_hdr *hdr = make_event(type, n, lens);
	struct scap_evt evt = {.hdr = hdr, .type = type, .cpu = l->n % 3, .nr = REC_NR_NONE};

	evt.ts_ns = evt.true_ns = T0 + l->n * 1000;
	keep(l, &evt);
	free(hdr);
	return &l->v[l->n - 1];
}

/* One thread of the process list as version @v had it; rows 10 and on of newer tools in tail. */
void add_process_list(struct bytes *b, uint32_t type, int v, const struct bytes *tail)
{
	size_t at = begin_block(b, type), entry = b->n;
	uint32_t len;

	if (v >= 9)
		ADD(b, uint32_t, 0);
	ADD(b, uint64_t, 10);
	ADD(b, uint64_t, 11);
	ADD(b, uint64_t, 12);
	if (v >= 6)
		ADD(b, uint64_t, 13);
	if (v >= 8)
		ADD(b, uint64_t, 14);
	add_text(b, "comm");
	add_text(b, "exe");
	if (v >= 7)
		add_text(b, "exepath");
	add_text(b, "args");
	add_text(b, "/cwd");
	ADD(b, uint64_t, 1024);
	ADD(b, uint32_t, 1);
	ADD(b, uint32_t, 1000);
	ADD(b, uint32_t, 1001);
	if (v >= 2) {
		ADD(b, uint32_t, 1);
		ADD(b, uint32_t, 2);
		ADD(b, uint32_t, 3);
		ADD(b, uint64_t, 4);
		ADD(b, uint64_t, 5);
	}
	if (v >= 3)
		add_text(b, "env");
	if (v >= 4) {
		ADD(b, uint64_t, 15);
		ADD(b, uint64_t, 16);
		add_text(b, "cpu=/");
	}
	if (v >= 5)
		add_text(b, "/root");
	if (tail)
		add_bytes(b, tail->p, tail->n);
	len = b->n - entry;
	if (v >= 9)
		memcpy(b->p + entry, &len, 4);
	end_block(b, at);
}

void add_old_lists(struct bytes *b)
{
	size_t at = begin_block(b, BLK_FDL_INT);

	ADD(b, uint64_t, 10);
	ADD(b, int64_t, 3);
	ADD(b, uint64_t, 77);
	ADD(b, uint8_t, SCAP_FD_FILE_V2);
	ADD(b, uint32_t, 1);
	add_text(b, "/etc/passwd");
	ADD(b, int64_t, 4);
	ADD(b, uint64_t, 78);
	ADD(b, uint8_t, SCAP_FD_IPV4_SOCK);
	add_bytes(b, "\x0a\0\0\1\x0a\0\0\2", 8);
	ADD(b, uint16_t, 40000);
	ADD(b, uint16_t, 80);
	ADD(b, uint8_t, SCAP_L4_TCP);
	end_block(b, at);
	at = begin_block(b, BLK_IL);
	ADD(b, uint16_t, 3);
	ADD(b, uint16_t, 2);
	add_bytes(b, "\x7f\0\0\1\xff\0\0\0\0\0\0\0lo", 14);
	ADD(b, uint16_t, 1);
	ADD(b, uint16_t, 4);
	add_bytes(b, "\x0a\0\0\1\xff\0\0\0\0\0\0\0", 12);
	ADD(b, uint64_t, 1000);
	add_bytes(b, "eth0", 4);
	end_block(b, at);
	at = begin_block(b, BLK_UL_INT);
	ADD(b, uint8_t, 0);
	ADD(b, uint32_t, 0);
	ADD(b, uint32_t, 0);
	add_text(b, "root");
	add_text(b, "/root");
	add_text(b, "/bin/bash");
	ADD(b, uint8_t, 1);
	ADD(b, uint32_t, 5);
	add_text(b, "tty");
	end_block(b, at);
}

/* Events of 22-byte headers, of the blocks of before 2014 and later. */
void add_old_event(struct bytes *b, uint32_t type, const struct ppm_evt_hdr *evt, int extra)
{
	size_t at = begin_block(b, type);

	ADD(b, uint16_t, 1);
	if (type == BLK_EVF)
		ADD(b, uint32_t, EVF_STATE_ONLY);
	ADD(b, uint64_t, evt->ts);
	ADD(b, uint64_t, evt->tid);
	ADD(b, uint32_t, evt->len - 4 + extra);
	ADD(b, uint16_t, evt->type);
	add_bytes(b, evt + 1, evt->len - sizeof(*evt));
	end_block(b, at);
}

int write_small(const struct list *l, const char *path, enum scap_compress compress)
{
	struct scap_state_build *st = scap_state_build_new();
	struct scap_thread_info t = {.tid = 1, .pid = 1, .comm = "init", .start_ns = 1};
	struct scap_fd_info fd = {.fd = 3, .type = SCAP_FD_MEMFD, .name = "memfd:x"};
	struct scap_writer_opts opts = {.sz = sizeof(opts), .compress = compress, .log = hear};
	struct scap_stats stats = {.n_events = 6};
	struct scap_writer *w;
	int err;

	assert_int_equal(scap_state_build_thread(st, &t), 0);
	assert_int_equal(scap_state_build_fd(st, 1, &fd), 0);
	err = scap_writer_open(&w, path, scap_state_build_done(st), &opts);
	if (!err) {
		for (size_t i = 0; i < l->n && !err; i++)
			err = scap_writer_put(w, &l->v[i]) ?: scap_writer_flush(w);
		err = scap_writer_close(w, &stats, NULL) ?: err;
	}
	scap_state_build_free(st);
	return err;
}

void make_small(struct bytes *b, struct list *l, enum scap_compress compress)
{
	const uint32_t two[] = {8, 8}, three[] = {2, 2, 8}, dup[] = {8, 8, 8};
	const uint32_t sample[] = {1, 8, 8, 5, 16, 24, 1, 8, 8, 8},
		       map[] = {8, 8, 8, 8, 4, 4, 8, 8, 9, 20};

	put_event(l, EVT_CLOSE_E, 1, two)->flags = SCAP_EVT_F_BLOCKED;
	put_event(l, EVT_CLOSE_X, 2, two)->flags = SCAP_EVT_F_FULL;
	put_event(l, EVT_SYSCALL_X, 3, three)->nr = 5;
	put_event(l, EVT_DUP2_X, 3, dup)->nr = 33;
	put_event(l, EVT_PRIVATE, 2, two);
	put_event(l, EVT_CLOSE_E, 1, two)->flags = SCAP_EVT_F_STATE_ONLY;
	for (int i = 0; i < 2; i++) {
		put_event(l, EVT_MAP_E, 10, map);
		put_event(l, EVT_SAMPLE_E, 10, sample);
	}
	assert_int_equal(write_small(l, path_of("small"), compress), 0);
	load(b, path_of("small"));
}

uint32_t random_u32(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 16;
}

int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/file_test.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}
