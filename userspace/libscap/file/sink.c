// SPDX-License-Identifier: Apache-2.0
/*
 * The output of a capture. [0, whole) of the buffer are complete blocks, [whole, at) is the block
 * under construction. A drain writes complete blocks only; with gzip and zstd each drain is a
 * member or frame of its own, which any reader takes as one stream, so that a killed writer or a
 * full disk leaves nothing half packed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "file/open_output.h"
#include "file/sink.h"

#define DRAIN_SZ (1u << 20)
#define BUF_SZ (DRAIN_SZ + (256u << 10))
/* level 6 takes half as long again and saves a sixth; a live capture must keep up. */
#define GZIP_LEVEL 4
#define ZSTD_LEVEL 3

struct sink {
	struct scap_log log;
	char *name; /* for messages */
	int fd;
	bool is_file; /* can be truncated to a block boundary */
	bool is_memory; /* is never drained */
	enum scap_compress compress;
	uint8_t *buf;
	size_t buf_sz, whole, at;
	uint64_t written; /* size of the file */
	uint64_t drained; /* bytes that left the buffer */
	struct page_sums sums; /* of a plain file */
	z_stream z;
	ZSTD_CCtx *zstd;
	struct file_buf packed;
	int err; /* once failed, always failed: the error was reported */
};

/* Removes a regular file of that name, so that neither its old mode nor a reader of the old content
 * matters. */
static void remove_old(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, W_OK) == 0)
		unlink(path);
}

/* Opens @path as a new file; a pipe, a device, or a file that cannot be removed as it is. Returns a
 * descriptor or a negative errno. */
static int open_path(const char *path)
{
	struct stat st;
	int fd;

	remove_old(path);
	fd = scap_open_output(path, O_TRUNC, 0600);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077) &&
	    fchmod(fd, st.st_mode & 0700) != 0) {
		const int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static int start_packer(struct sink *s)
{
	if (s->compress == SCAP_COMPRESS_GZIP &&
	    deflateInit2(&s->z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		s->compress = SCAP_COMPRESS_NONE;
		return -ENOMEM;
	}
	if (s->compress == SCAP_COMPRESS_ZSTD) {
		s->zstd = ZSTD_createCCtx();
		if (!s->zstd)
			return -ENOMEM;
		ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1);
	}
	return 0;
}

static void sink_free(struct sink *s)
{
	if (s->fd > STDERR_FILENO)
		close(s->fd);
	if (s->compress == SCAP_COMPRESS_GZIP)
		deflateEnd(&s->z);
	ZSTD_freeCCtx(s->zstd);
	free(s->packed.p);
	free(s->buf);
	free(s->name);
	free(s);
}

int sink_open(struct sink **out, const char *path, enum scap_compress compress,
	      const struct scap_log *log)
{
	bool is_stdout = strcmp(path, "-") == 0;
	struct sink *s = calloc(1, sizeof(*s));
	struct stat st;
	int err;

	if (!s)
		return scap_fail(log, -ENOMEM, "cannot write %s: not enough memory", path);
	s->fd = -1;
	s->log = *log;
	s->compress = compress;
	s->name = strdup(is_stdout ? "standard output" : path);
	s->buf = malloc(BUF_SZ);
	s->buf_sz = BUF_SZ;
	err = s->name && s->buf ? start_packer(s) : -ENOMEM;
	if (err) {
		scap_fail(log, err, "cannot write %s: not enough memory", path);
		goto err;
	}
	s->fd = is_stdout ? STDOUT_FILENO : open_path(path);
	if (s->fd < 0 || fstat(s->fd, &st) != 0) {
		err = s->fd < 0 ? s->fd : -errno;
		scap_fail(log, err, "cannot write %s: %s", s->name,
			  scap_open_output_error(path, err));
		goto err;
	}
	s->is_file = S_ISREG(st.st_mode) && !is_stdout;
	*out = s;
	return 0;
err:
	sink_free(s);
	return err;
}

int sink_open_memory(struct sink **out, const struct scap_log *log)
{
	struct sink *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fd = -1;
	s->log = *log;
	s->is_memory = true;
	*out = s;
	return 0;
}

bool sink_is_memory(const struct sink *s)
{
	return s->is_memory;
}

const uint8_t *sink_memory(const struct sink *s, size_t *n)
{
	*n = s->whole;
	return s->buf;
}

int scap_write_bytes(const char *path, const void *p, size_t n)
{
	static const struct scap_log silent;
	struct sink *s;
	int err = sink_open(&s, path, SCAP_COMPRESS_NONE, &silent);

	if (err)
		return err;
	err = sink_put(s, p, n);
	if (!err)
		err = sink_commit(s, s->buf + s->at);
	return sink_close(s, NULL) ?: err;
}

/* Returns the end of the last complete block in the first @n bytes of the buffer. */
static size_t last_boundary(const struct sink *s, size_t n)
{
	size_t at = 0;

	while (at + BLK_MIN <= n && at + get_u32(s->buf + at + 4) <= n)
		at += get_u32(s->buf + at + 4);
	return at;
}

/* Cuts the file after a failed drain that wrote @done bytes. */
static int write_failed(struct sink *s, size_t done, int err)
{
	size_t keep = s->compress == SCAP_COMPRESS_NONE ? last_boundary(s, done) : 0;
	const char *left = "the last block may be incomplete";

	if (s->is_file && ftruncate(s->fd, s->written + keep) == 0) {
		s->written += keep;
		left = "it can be read up to the last complete block";
	}
	s->err = scap_fail(&s->log, -err, "cannot write %s after byte %llu: %s; %s", s->name,
			   (unsigned long long)s->written, strerror(err), left);
	return s->err;
}

static int write_all(struct sink *s, const uint8_t *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t put = write(s->fd, p + done, n - done);

		if (put > 0) {
			done += put;
		} else if (put < 0 && errno == EAGAIN) {
			struct pollfd pfd = {.fd = s->fd, .events = POLLOUT};

			poll(&pfd, 1, -1);
		} else if (put < 0 && errno != EINTR) {
			return write_failed(s, done, errno);
		}
	}
	s->written += n;
	return 0;
}

/* Packs the complete blocks as one member or frame. Returns its length, or a negative errno. */
static ssize_t pack(struct sink *s)
{
	bool gzip = s->compress == SCAP_COMPRESS_GZIP;
	size_t bound = gzip ? deflateBound(&s->z, s->whole) : ZSTD_compressBound(s->whole);
	size_t n;

	if (file_buf_need(&s->packed, bound)) {
		s->err = scap_fail(&s->log, -ENOMEM, "cannot compress %s: not enough memory",
				   s->name);
		return s->err;
	}
	if (!gzip) {
		n = ZSTD_compress2(s->zstd, s->packed.p, s->packed.sz, s->buf, s->whole);
		if (!ZSTD_isError(n))
			return n;
		s->err = scap_fail(&s->log, -EIO, "cannot compress %s: %s", s->name,
				   ZSTD_getErrorName(n));
		return s->err;
	}
	s->z.next_in = s->buf;
	s->z.avail_in = s->whole;
	s->z.next_out = s->packed.p;
	s->z.avail_out = bound;
	if (deflate(&s->z, Z_FINISH) != Z_STREAM_END) {
		s->err = scap_fail(&s->log, -EIO, "cannot compress %s: %s", s->name,
				   s->z.msg ? s->z.msg : "gzip");
		return s->err;
	}
	n = bound - s->z.avail_out;
	deflateReset(&s->z);
	return n;
}

int sink_flush(struct sink *s)
{
	ssize_t n;
	int err;

	if (s->err || s->whole == 0 || s->is_memory)
		return s->err;
	if (s->compress == SCAP_COMPRESS_NONE) {
		err = write_all(s, s->buf, s->whole);
		if (!err)
			page_sums_add(&s->sums, s->buf, s->whole);
	} else {
		n = pack(s);
		err = n < 0 ? n : write_all(s, s->packed.p, n);
	}
	if (err)
		return err;
	memmove(s->buf, s->buf + s->whole, s->at - s->whole);
	s->drained += s->whole;
	s->at -= s->whole;
	s->whole = 0;
	return 0;
}

int sink_put_tail(struct sink *s, const uint8_t *p, size_t n)
{
	return s->err ?: write_all(s, p, n);
}

struct page_sums *sink_sums(struct sink *s)
{
	return s->compress == SCAP_COMPRESS_NONE && !s->is_memory ? &s->sums : NULL;
}

int sink_fd(const struct sink *s)
{
	return s->is_file ? s->fd : -1;
}

uint64_t sink_bytes(const struct sink *s)
{
	return s->written + (s->compress == SCAP_COMPRESS_NONE ? s->whole : 0);
}

uint64_t sink_unpacked(const struct sink *s)
{
	return s->drained + s->whole;
}

uint8_t *sink_room(struct sink *s, size_t n)
{
	uint8_t *p;
	size_t sz;

	if (s->err)
		return NULL;
	if (s->at + n <= s->buf_sz)
		return s->buf + s->at;
	sz = s->at + n + s->buf_sz / 2;
	p = realloc(s->buf, sz);
	if (!p) {
		s->err = scap_fail(&s->log, -ENOMEM, "%s: no memory for a block of %zu bytes",
				   s->name ?: "a checkpoint", s->at - s->whole + n);
		return NULL;
	}
	s->buf = p;
	s->buf_sz = sz;
	return p + s->at;
}

int sink_commit(struct sink *s, const uint8_t *end)
{
	s->at = s->whole = end - s->buf;
	return s->whole >= DRAIN_SZ ? sink_flush(s) : s->err;
}

/* A failure is permanent: a block with a missing piece must not be ended. */
int sink_put(struct sink *s, const void *p, size_t n)
{
	uint8_t *room = sink_room(s, n);

	if (!room)
		return s->err;
	if (n)
		memcpy(room, p, n);
	s->at += n;
	return 0;
}

int sink_begin(struct sink *s, uint32_t type)
{
	uint32_t head[2] = {type, 0};

	return sink_put(s, head, sizeof(head));
}

size_t sink_block_sz(const struct sink *s)
{
	return s->at - s->whole;
}

void sink_set_u32(struct sink *s, size_t at, uint32_t v)
{
	if (!s->err)
		memcpy(s->buf + s->whole + at, &v, sizeof(v));
}

void sink_set_u16(struct sink *s, size_t at, uint16_t v)
{
	if (!s->err)
		memcpy(s->buf + s->whole + at, &v, sizeof(v));
}

int sink_end(struct sink *s)
{
	static const uint8_t zeros[4];
	uint32_t len;

	if (sink_put(s, zeros, pad4(s->at - s->whole)))
		return s->err;
	len = s->at - s->whole + 4;
	if (sink_put(s, &len, 4))
		return s->err;
	memcpy(s->buf + s->whole + 4, &len, 4);
	return sink_commit(s, s->buf + s->at);
}

int sink_close(struct sink *s, uint64_t *bytes)
{
	int err;

	if (bytes)
		*bytes = 0;
	if (!s)
		return 0;
	err = sink_flush(s);
	if (bytes)
		*bytes = s->written;
	if (s->fd > STDERR_FILENO) {
		int fd = s->fd;

		s->fd = -1;
		if (close(fd) != 0 && !err) {
			err = -errno;
			scap_fail(&s->log, err, "cannot write %s: %s", s->name, strerror(-err));
		}
	}
	sink_free(s);
	return err;
}
