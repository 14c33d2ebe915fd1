/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that are cut, damaged, or no captures, or that cannot be written: intact events are
 * read, and each fault is reported once. Run it under sanitizers. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/file_testing.h"
#include "testing/test_main.h"

/* Under sanitizers, where a read of a file takes 4 ms, one of as many places or rounds. */
#ifdef SAKER_SANITIZE
#define ONE_OF 19
#else
#define ONE_OF 1
#endif

static void refuse(const void *p, size_t n, int err, const char *words)
{
	static struct list got;

	hear_anew();
	assert_int_equal(read_bytes(&got, p, n), err);
	assert_int_equal(got.n, 0);
	assert_int_equal(said.n_errors, 1);
	if (!strstr(said.text, words))
		fail_msg("\"%s\" does not say \"%s\"", said.text, words);
}

static void test_what_is_no_capture(void **state)
{
	static struct list got;
	struct bytes b = {0};
	size_t at;

	(void)state;
	hear_anew();
	assert_int_equal(read_path(&got, path_of("absent")), -ENOENT);
	assert_int_equal(said.n_errors, 1);
	hear_anew();
	assert_int_equal(read_path(&got, path_of(".")), -EISDIR);
	assert_int_equal(said.n_errors, 1);
	refuse("", 0, -EBADMSG, "empty");
	refuse("hello, world: text", 18, -EBADMSG,
	       "is not a .scap file: no section header at byte 0");
	refuse("\x0a\x0d\x0d\x0a", 4, -EBADMSG, "is not a .scap file");
	refuse("\xfd\x37zXZ\0\0\4\xe6\xd6\xb4\x46", 12, -EBADMSG, "is packed by xz, which saker");
	refuse("BZh91AY&SY\1\2", 12, -EBADMSG, "bzip2 -dc FILE | saker -r -");
	refuse("\x04\x22\x4d\x18\x64\x40\xa7\1", 8, -EBADMSG, "is packed by lz4");
	refuse("\x0a\x0d\x0d\x0a\0\0\0\x1c\x1a\x2b\x3c\x4d", 12, -EBADMSG, "byte order");
	add_shb(&b);
	refuse(b.p, b.n - 1, -EBADMSG, "truncated");
	b.p[8]++;
	refuse(b.p, b.n, -EBADMSG, "magic");
	b.p[8]--;
	b.p[12] = 2;
	refuse(b.p, b.n, -ENOTSUP, "newer saker");
	b.p[12] = 1;
	at = begin_block(&b, 6); /* a packet */
	end_block(&b, at);
	refuse(b.p, b.n, -EBADMSG, "network packets");
	refuse("\x1f\x8b\x08\0nonsense", 12, -EBADMSG, "compressed data");
	refuse("\x28\xb5\x2f\xfd nonsense!", 14, -EBADMSG, "compressed data");
	free(b.p);
}

/* Number of events in whole blocks before @end; *clean: @end is between blocks. */
static size_t events_before(const struct bytes *b, size_t end, bool *clean)
{
	size_t at = 0, n = 0;

	while (at + 8 <= end && at + get_u32(b->p + at + 4) <= end) {
		const struct ppm_evt_hdr *flagged = (const void *)(b->p + at + 14);
		uint32_t type = get_u32(b->p + at);

		n += type == BLK_EV_V2 || (type == BLK_EVF_V2 && flagged->type != EVT_CLOSING);
		at += get_u32(b->p + at + 4);
	}
	*clean = at == end;
	return n;
}

static size_t header_sz(const struct bytes *b)
{
	size_t at = 0;

	while (get_u32(b->p + at) != BLK_EV_V2)
		at += get_u32(b->p + at + 4);
	return at;
}

static void test_cut_everywhere(void **state)
{
	static struct list l, got;
	struct bytes b = {0};
	size_t head;

	(void)state;
	make_small(&b, &l, SCAP_COMPRESS_NONE);
	head = header_sz(&b);
	for (size_t end = 1; end < b.n; end += ONE_OF) {
		bool clean;
		size_t n = events_before(&b, end, &clean);
		int ret;

		hear_anew();
		ret = read_bytes(&got, b.p, end);
		assert_int_equal(got.n, n);
		assert_int_equal(ret, clean ? -ENODATA : -EBADMSG);
		assert_int_equal(said.n_errors, !clean);
		if (!clean && end > head)
			assert_non_null(strstr(said.text, "truncated"));
		for (size_t i = 0; i < n; i++)
			assert_same(&got.v[i], &l.v[i]);
		list_fini(&got);
	}
	list_fini(&l);
	free(b.p);
}

/* Whether a changed bit is seen in any case: before the closing counters, which have a checksum of
 * what precedes them. */
static bool is_seen(const struct bytes *b, size_t at)
{
	return at < b->n - get_u32(b->p + b->n - 4);
}

/* Each bit turned over: what stands in blocks before it is there as it was. */
static void test_flip_every_bit(void **state)
{
	static struct list l, got;
	struct bytes b = {0};

	(void)state;
	make_small(&b, &l, SCAP_COMPRESS_NONE);
	for (size_t bit = 0; bit < 8 * b.n; bit += ONE_OF) {
		bool clean;
		size_t n = events_before(&b, bit / 8, &clean);
		const bool seen = is_seen(&b, bit / 8);
		int ret;

		b.p[bit / 8] ^= 1 << bit % 8;
		hear_anew();
		ret = read_bytes(&got, b.p, b.n);
		assert_true(ret == -ENODATA || ret == -EBADMSG || ret == -ENOTSUP);
		if (ret == -ENODATA && seen)
			assert_true(strstr(said.text, "checksum") || strstr(said.text, "damaged"));
		assert_true(got.n >= n);
		for (size_t i = 0; i < n; i++)
			assert_same(&got.v[i], &l.v[i]);
		list_fini(&got);
		b.p[bit / 8] ^= 1 << bit % 8;
	}
	list_fini(&l);
	free(b.p);
}

/* Packed files are cut the same way: each flush is whole for itself. */
static void test_cut_packed(void **state)
{
	static struct list l, got;

	(void)state;
	for (enum scap_compress c = SCAP_COMPRESS_GZIP; c <= SCAP_COMPRESS_ZSTD; c++) {
		struct bytes b = {0};
		size_t last = 0;

		make_small(&b, &l, c);
		for (size_t end = 1 + (b.n - 2) % ONE_OF; end < b.n; end += ONE_OF) {
			int ret = read_bytes(&got, b.p, end);

			assert_true(ret == -ENODATA || ret == -EBADMSG);
			assert_true(got.n >= last);
			last = got.n;
			for (size_t i = 0; i < got.n; i++)
				assert_same(&got.v[i], &l.v[i]);
			list_fini(&got);
		}
		assert_int_equal(last, l.n);
		list_fini(&l);
		free(b.p);
	}
}

/* Values that lengths break on. */
static void damage(struct bytes *b, uint64_t *seed)
{
	static const uint32_t values[] = {0,       1,          4,          11,         12,
					  26,      0x7fff,     0x8001,     0x8002,     0xffff,
					  0x10000, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
	size_t at = random_u32(seed) % (b->n - 4) & ~1u;
	uint32_t v = values[random_u32(seed) % (sizeof(values) / sizeof(values[0]))];

	switch (random_u32(seed) % 4) {
	case 0:
		memcpy(b->p + at, &v, 4);
		break;
	case 1:
		memcpy(b->p + at, &v, 2);
		break;
	case 2:
		b->p[at] = random_u32(seed);
		break;
	default:
		memmove(b->p + at, b->p + random_u32(seed) % (at + 1) / 4 * 4,
			(b->n - at) % (random_u32(seed) % 64 + 1));
	}
}

/* Asserts only that reading ends in order: run it under sanitizers. */
static void test_random_damage(void **state)
{
	static struct list l, got;
	uint64_t seed = 0x5a6b5a6b5a6b;

	(void)state;
	for (enum scap_compress c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_ZSTD; c++) {
		struct bytes whole = {0}, b = {0};

		make_small(&whole, &l, c);
		add_bytes(&b, whole.p, whole.n);
		for (int round = 0; round < 3000 / ONE_OF; round++) {
			int ret;

			memcpy(b.p, whole.p, whole.n);
			for (int i = random_u32(&seed) % 4; i >= 0; i--)
				damage(&b, &seed);
			ret = read_bytes(&got, b.p, b.n);
			assert_true(ret < 0);
			list_fini(&got);
			scap_verify(file_of(b.p, b.n), hear, NULL);
		}
		list_fini(&l);
		free(b.p);
		free(whole.p);
	}
}

/* The same with every kind of block there ever was. */
static void test_random_damage_of_old(void **state)
{
	static struct list l, got;
	const uint32_t lens[] = {8, 8};
	struct bytes whole = {0}, b = {0};
	uint64_t seed = 0x123456789;

	(void)state;
	put_event(&l, EVT_READ_X, 2, lens);
	add_shb(&whole);
	for (int v = 1; v <= 9; v++)
		add_process_list(&whole,
				 v == 1   ? BLK_PL_V1
				 : v == 2 ? BLK_PL_V2
				 : v == 3 ? BLK_PL_V3
					  : BLK_PL_V4 + v - 4,
				 v, NULL);
	add_old_lists(&whole);
	add_old_event(&whole, BLK_EV, l.v[0].hdr, 0);
	add_old_event(&whole, BLK_EVF, l.v[0].hdr, 0);
	add_event(&whole, l.v[0].hdr);
	assert_int_equal(read_bytes(&got, whole.p, whole.n), -ENODATA);
	assert_int_equal(got.n, 3);
	list_fini(&got);
	add_bytes(&b, whole.p, whole.n);
	for (int round = 0; round < 5000 / ONE_OF; round++) {
		memcpy(b.p, whole.p, whole.n);
		damage(&b, &seed);
		assert_true(read_bytes(&got, b.p, b.n) < 0);
		list_fini(&got);
	}
	list_fini(&l);
	free(b.p);
	free(whole.p);
}

/* Files may not grow beyond @max bytes from here on. Returns the limit before. */
static struct rlimit limit_files(size_t max)
{
	struct rlimit old, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){max, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	return old;
}

/* Writes the events of a small file to one that may not grow beyond @max bytes. */
static int write_limited(const struct list *l, enum scap_compress compress, size_t max)
{
	const struct rlimit old = limit_files(max);
	const int err = write_small(l, path_of("limited"), compress);

	setrlimit(RLIMIT_FSIZE, &old);
	return err;
}

/* The disk is full after each byte of the file in turn: the file has the events that fit, and the
 * writer logs one error. */
static void test_full_disk_at_each_byte(void **state)
{
	static struct list l, got;

	(void)state;
	for (enum scap_compress c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_ZSTD; c++) {
		struct bytes whole = {0};
		size_t last = 0;
		int ret;

		make_small(&whole, &l, c);
		for (size_t max = (whole.n - 1) % ONE_OF; max < whole.n; max += ONE_OF) {
			bool clean;

			hear_anew();
			assert_int_equal(write_limited(&l, c, max), -EFBIG);
			assert_int_equal(said.n_errors, 1);
			assert_non_null(strstr(said.text, "cannot write "));
			ret = read_path(&got, path_of("limited"));
			assert_true(ret == -ENODATA || (ret == -EBADMSG && !got.n));
			if (c == SCAP_COMPRESS_NONE)
				assert_int_equal(got.n, events_before(&whole, max, &clean));
			assert_true(got.n >= last); /* compressed: each flush is a frame */
			last = got.n;
			for (size_t i = 0; i < got.n; i++)
				assert_same(&got.v[i], &l.v[i]);
			list_fini(&got);
		}
		assert_int_equal(last, l.n);
		assert_int_equal(write_limited(&l, c, whole.n), 0);
		list_fini(&l);
		free(whole.p);
	}
}

/* Writes until the file may not grow: what is there is whole. */
static void test_full_disk(void **state)
{
	static struct list l, got;
	const uint32_t lens[] = {8, 900};
	struct rlimit old;
	struct scap_writer_opts opts = {.sz = sizeof(opts), .log = hear};
	struct scap_writer *w;
	uint64_t seed = 0x5a6b;
	struct stat st;
	uint8_t *data; /* that no packer makes small */
	int err = 0;

	(void)state;
	put_event(&l, EVT_READ_X, 2, lens);
	data = (uint8_t *)(l.v[0].hdr + 1) + 12;
	for (opts.compress = SCAP_COMPRESS_NONE; opts.compress <= SCAP_COMPRESS_ZSTD;
	     opts.compress++) {
		hear_anew();
		old = limit_files(100001);
		assert_int_equal(scap_writer_open(&w, path_of("full"), &no_state, &opts), 0);
		for (int i = 0; i < 2000000 && !err; i++) {
			for (int j = 0; j < 900; j++)
				data[j] = random_u32(&seed);
			err = scap_writer_put(w, &l.v[0]);
			if (!err && i % 100 == 0)
				err = scap_writer_flush(w);
		}
		setrlimit(RLIMIT_FSIZE, &old);
		assert_int_equal(err, -EFBIG);
		assert_int_equal(said.n_errors, 1);
		assert_int_equal(scap_writer_put(w, &l.v[0]), -EFBIG);
		assert_int_equal(scap_writer_close(w, NULL, NULL), -EFBIG);
		assert_int_equal(said.n_errors, 1);
		assert_int_equal(stat(path_of("full"), &st), 0);
		assert_true(st.st_size <= 100001);
		if (opts.compress == SCAP_COMPRESS_NONE)
			assert_true(st.st_size > 99000);
		assert_int_equal(read_path(&got, path_of("full")), -ENODATA);
		assert_true(got.n > 90);
		list_fini(&got);
		err = 0;
	}
	list_fini(&l);
}

static void test_unwritable(void **state)
{
	static struct list l;
	const uint32_t lens[] = {8};
	struct scap_writer_opts opts = {.sz = sizeof(opts), .log = hear};
	struct scap_writer *w;
	struct stat st;

	(void)state;
	hear_anew();
	assert_int_equal(scap_writer_open(&w, path_of("no/such/dir"), &no_state, &opts), -ENOENT);
	assert_int_equal(said.n_errors, 1);
	hear_anew();
	assert_int_equal(scap_writer_open(&w, path_of("."), &no_state, &opts), -EISDIR);
	assert_int_equal(said.n_errors, 1);
	hear_anew();
	assert_int_equal(scap_writer_open(&w, "/dev/full", &no_state, &opts), -ENOSPC);
	assert_int_equal(said.n_errors, 1);
	/* An older file of that name gives neither its mode nor its place to the new one. */
	save(path_of("mode"), "old", 3);
	assert_int_equal(chmod(path_of("mode"), 0644), 0);
	put_event(&l, EVT_CLOSE_E, 1, lens);
	write_list(&l, path_of("mode"), SCAP_COMPRESS_NONE);
	assert_int_equal(stat(path_of("mode"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	list_fini(&l);
}

/* Links are followed, but not where another user put them. */
static void test_links(void **state)
{
	struct scap_writer_opts opts = {.sz = sizeof(opts), .log = hear};
	struct scap_writer *w;
	struct stat st;

	(void)state;
	save(path_of("target"), "old", 3);
	assert_int_equal(symlink("target", path_of("link")), 0);
	assert_int_equal(scap_writer_open(&w, path_of("link"), &no_state, &opts), 0);
	assert_int_equal(scap_writer_close(w, NULL, NULL), 0);
	assert_int_equal(stat(path_of("target"), &st), 0);
	assert_true(st.st_size > 3);
	assert_int_equal(lstat(path_of("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	if (geteuid() != 0) {
		print_message("another user's link: skipped, only root can make one\n");
		return;
	}
	save(path_of("target"), "old", 3);
	assert_int_equal(lchown(path_of("link"), 65534, 65534), 0);
	hear_anew();
	assert_int_equal(scap_writer_open(&w, path_of("link"), &no_state, &opts), -EACCES);
	assert_int_equal(said.n_errors, 1);
	assert_int_equal(stat(path_of("target"), &st), 0);
	assert_int_equal(st.st_size, 3);
}

/* An existing file that is not a regular one is written to, and remains. */
static void test_fifo(void **state)
{
	struct scap_writer_opts opts = {.sz = sizeof(opts), .log = hear};
	struct scap_writer *w;
	uint8_t head[4];
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	fd = open(path_of("fifo"), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(scap_writer_open(&w, path_of("fifo"), &no_state, &opts), 0);
	assert_int_equal(scap_writer_close(w, NULL, NULL), 0);
	assert_int_equal(read(fd, head, sizeof(head)), sizeof(head));
	assert_memory_equal(head, "\x0a\x0d\x0d\x0a", sizeof(head));
	close(fd);
	assert_int_equal(lstat(path_of("fifo"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(scap_writer_open(&w, "/dev/null", &no_state, &opts), 0);
	assert_int_equal(scap_writer_close(w, NULL, NULL), 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A signal each millisecond, or none any more. */
static void interrupt(int often)
{
	const struct timeval pause = {0, often ? 1000 : 0};

	setitimer(ITIMER_REAL, &(struct itimerval){pause, pause}, NULL);
}

/* A child that moves bytes from one descriptor to another, 999 at a time with pauses. @other: the
 * end of a pipe that is ours. */
static pid_t start_mover(int from, int to, int other)
{
	uint8_t part[999];
	ssize_t n;
	pid_t pid = fork();

	if (pid == 0) {
		close(other);
		while ((n = read(from, part, sizeof(part))) > 0 && write(to, part, n) == n)
			usleep(300);
		_exit(n != 0);
	}
	close(from);
	close(to);
	return pid;
}

static void end_mover(pid_t pid, int fd)
{
	int status;

	interrupt(0);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static const char *path_of_fd(int fd)
{
	static char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static void write_interrupted(const struct list *l, enum scap_compress compress)
{
	const int file = open(path_of("moved"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = start_mover(ends[0], file, ends[1]);
	interrupt(1);
	write_list(l, path_of_fd(ends[1]), compress);
	end_mover(pid, ends[1]);
}

static void read_interrupted(struct list *got)
{
	const int file = open(path_of("moved"), O_RDONLY);
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = start_mover(file, ends[1], ends[0]);
	interrupt(1);
	assert_int_equal(read_path(got, path_of_fd(ends[0])), -ENODATA);
	end_mover(pid, ends[0]);
}

/* Signals end reads and writes early (EINTR, or a part of the bytes): a file of 1 MB is written to
 * a pipe, and read from one, as it is. */
static void test_interrupted(void **state)
{
	const struct sigaction act = {.sa_handler = on_alarm};
	const uint32_t lens[] = {8, 900};
	static struct list l, got;
	struct sigaction old;

	(void)state;
	for (int i = 0; i < 1000; i++)
		put_event(&l, EVT_READ_X, 2, lens);
	sigaction(SIGALRM, &act, &old);
	for (enum scap_compress c = SCAP_COMPRESS_NONE; c <= SCAP_COMPRESS_ZSTD; c++) {
		hear_anew();
		write_interrupted(&l, c);
		read_interrupted(&got);
		assert_int_equal(said.n_all, 0);
		assert_int_equal(got.n, l.n);
		for (size_t i = 0; i < l.n; i++)
			assert_same(&got.v[i], &l.v[i]);
		list_fini(&got);
	}
	sigaction(SIGALRM, &old, NULL);
	list_fini(&l);
}

static void find(const struct bytes *b, int n_errors, const char *words)
{
	hear_anew();
	assert_int_equal(scap_verify(file_of(b->p, b->n), hear, NULL), -EBADMSG);
	assert_int_equal(said.n_errors, n_errors);
	if (!strstr(said.text, words))
		fail_msg("\"%s\" does not say \"%s\"", said.text, words);
}

static void test_verify(void **state)
{
	static struct list l;
	struct bytes b = {0}, c = {0};
	size_t first, second;
	bool clean;

	(void)state;
	make_small(&b, &l, SCAP_COMPRESS_NONE);
	first = header_sz(&b);
	second = first + get_u32(b.p + first + 4);
	/* An event is missing. */
	add_bytes(&c, b.p, first);
	add_bytes(&c, b.p + second, b.n - second);
	find(&c, 1, "5 events were written, but 4");
	/* The end is missing. */
	for (c.n = b.n - 4; events_before(&b, c.n, &clean), !clean; c.n -= 4)
		;
	memcpy(c.p, b.p, c.n);
	find(&c, 1, "missing");
	/* Time goes back; the checksum is wrong, too. */
	c.n = 0;
	add_bytes(&c, b.p, b.n);
	memset(c.p + second + 10, 0, 8);
	find(&c, 2, "time goes back 1 times, first at event 2");
	list_fini(&l);
	free(b.p);
	free(c.p);
}

/* Drops that do not add up to what was seen. */
static void test_verify_identity(void **state)
{
	/* One event is missing in the file: so may be the markers of the losses. */
	struct scap_stats st = {
		.n_events = 1, .n_seen = 10, .n_records = 7, .n_dropped = 3, .dropped_by = {1, 2}};
	struct scap_writer_opts opts = {.sz = sizeof(opts), .log = hear};
	struct scap_writer *w;

	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		st.n_records -= wrong;
		hear_anew();
		assert_int_equal(scap_writer_open(&w, path_of("sum"), &no_state, &opts), 0);
		assert_int_equal(scap_writer_close(w, &st, NULL), 0);
		assert_int_equal(scap_verify(path_of("sum"), hear, NULL), wrong ? -EBADMSG : 0);
		assert_int_equal(said.n_errors, wrong);
	}
}

/* The loss of one CPU is attributed to another. */
static void test_verify_cpus(void **state)
{
	struct scap_cpu_stats cpus[300] = {
		{.cpu = 0, .n_seen = 6, .n_records = 4, .dropped_by = {2}},
		{.cpu = 1, .n_seen = 4, .n_records = 3, .dropped_by[7] = 1}};
	struct scap_stats st = {.n_events = 1,
				.n_seen = 10,
				.n_records = 7,
				.n_dropped = 3,
				.dropped_by = {2, [7] = 1},
				.cpus = cpus,
				.n_cpus = 300};
	struct scap_writer_opts opts = {.sz = sizeof(opts), .log = hear};
	static const unsigned int n_findings[] = {0, 2, 1};
	struct scap_writer *w;

	(void)state;
	for (unsigned int i = 2; i < 300; i++)
		cpus[i] = (struct scap_cpu_stats){.cpu = i};
	for (int wrong = 0; wrong < 3; wrong++) {
		cpus[0].n_records += wrong == 1;
		cpus[299].n_records -= wrong == 1; /* the sum stays */
		if (wrong == 2)
			cpus[299] = (struct scap_cpu_stats){.n_seen = 1, .n_records = 1};
		cpus[0].n_records -= wrong == 2;
		hear_anew();
		assert_int_equal(scap_writer_open(&w, path_of("cpus"), &no_state, &opts), 0);
		assert_int_equal(scap_writer_close(w, &st, NULL), 0);
		assert_int_equal(scap_verify(path_of("cpus"), hear, NULL), wrong ? -EBADMSG : 0);
		assert_int_equal(said.n_errors, n_findings[wrong]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_capture),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_flip_every_bit),
		cmocka_unit_test(test_cut_packed),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_random_damage_of_old),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_full_disk_at_each_byte),
		cmocka_unit_test(test_unwritable),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_fifo),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_verify),
		cmocka_unit_test(test_verify_identity),
		cmocka_unit_test(test_verify_cpus),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
