// SPDX-License-Identifier: Apache-2.0
#include "file/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "file/gzip_crc.h"
#include "file/scap_format.h"

#define RAW_SZ (256u << 10)
#define TRAILER_SZ 8 /* of a member of gzip: CRC-32 and length */
#define ZEROS_MAX (1u << 20) /* so many are read behind the last member */

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };

struct unpacker {
	const struct scap_log *log;
	const char *name;
	int fd;
	uint64_t file_size;
	uint64_t taken;
	enum packing packing;
	/* Packed bytes, or those read to detect packing; before them the last TRAILER_SZ of those
	 * that were there before. */
	uint8_t *raw;
	size_t raw_at, raw_end;
	bool in_frame; /* the packed stream is open: an end here is a truncation */
	unsigned long long frame_at; /* its offset in the file */
	bool pending; /* the unpacker may hold bytes that did not fit */
	bool at_end; /* what follows the last member is left out */
	int err; /* damage found after bytes that are still to be read */
	z_stream z;
	bool in_data; /* the header of the member is read: its checksum is ours from here on */
	uint32_t crc;
	ZSTD_DStream *zstd;
	size_t zstd_first,
		zstd_want; /* number of bytes to the first, to the next block and no further */
};

static ssize_t read_some(struct unpacker *u, void *buf, size_t n)
{
	for (;;) {
		ssize_t got = read(u->fd, buf, n);

		if (got >= 0) {
			u->taken += got;
			return got;
		}
		if (errno == EAGAIN) {
			struct pollfd pfd = {.fd = u->fd, .events = POLLIN};

			poll(&pfd, 1, -1);
		} else if (errno != EINTR) {
			int err = errno;

			return scap_fail(u->log, -err, "cannot read %s after byte %llu: %s",
					 u->name, (unsigned long long)u->taken, strerror(err));
		}
	}
}

/* Returns 1 if raw has bytes, 0 at the end of the file. */
static int raw_fill(struct unpacker *u)
{
	ssize_t got;

	if (u->raw_at < u->raw_end)
		return 1;
	memmove(u->raw - TRAILER_SZ, u->raw + u->raw_end - TRAILER_SZ, TRAILER_SZ);
	u->raw_at = u->raw_end = 0;
	got = read_some(u, u->raw, RAW_SZ);
	if (got <= 0)
		return got;
	u->raw_end = got;
	return 1;
}

static ssize_t take_plain(struct unpacker *u, uint8_t *out, size_t room)
{
	size_t n = u->raw_end - u->raw_at;

	if (n == 0)
		return read_some(u, out, room);
	if (n > room)
		n = room;
	memcpy(out, u->raw + u->raw_at, n);
	u->raw_at += n;
	return n;
}

/* Returns the offset in the file of what is unpacked next. */
static unsigned long long packed_at(const struct unpacker *u)
{
	return u->taken - (u->raw_end - u->raw_at);
}

/* Reports the damage once all bytes before it were read. It shows only behind the bytes that are
 * wrong, at the latest by the checksum of the member or frame. */
static ssize_t packed_damage(struct unpacker *u, const char *how, size_t got)
{
	u->err = scap_fail(u->log, -EBADMSG,
			   "%s: the compressed data is damaged between byte %llu and byte %llu (%s); "
			   "events from there may be wrong",
			   u->name, u->frame_at, packed_at(u), how);
	return got ? (ssize_t)got : u->err;
}

/* Says that what follows the last member is left out, unless it is zeros, as behind files on
 * tapes. */
static void tell_rest(struct unpacker *u)
{
	const unsigned long long at = packed_at(u);
	size_t n_zeros = 0;

	do {
		for (; u->raw_at < u->raw_end && !u->raw[u->raw_at]; u->raw_at++)
			n_zeros++;
		if (u->raw_at < u->raw_end) {
			scap_say(u->log, SCAP_LOG_WARN,
				 "%s: the bytes from %llu on are not gzip data, and were not read",
				 u->name, at);
			return;
		}
	} while (n_zeros < ZEROS_MAX && raw_fill(u) > 0);
}

/* Works as inflate. zlib sums the bytes of headers; for those of the data gzip_crc is faster, and
 * compared here, once the trailer is complete. */
static int inflate_summed(struct unpacker *u)
{
	z_stream *z = &u->z;
	const uint8_t *out = z->next_out;
	int ret;

	if (!u->in_data) {
		ret = inflate(z, Z_BLOCK); /* to the end of the header */
		if (ret != Z_OK || !(z->data_type & 128))
			return ret;
		u->in_data = true;
		u->crc = 0;
		inflateValidate(z, 0);
	}
	ret = inflate(z, Z_NO_FLUSH);
	u->crc = gzip_crc(u->crc, out, z->next_out - out);
	if (ret != Z_STREAM_END)
		return ret;
	z->msg = get_u32(z->next_in - TRAILER_SZ) != u->crc ? "incorrect data check"
		 : get_u32(z->next_in - TRAILER_SZ + 4) != (uint32_t)z->total_out
			 ? "incorrect length check"
			 : NULL;
	return z->msg ? Z_DATA_ERROR : ret;
}

/* Members follow one another, as in a file made by several gzips. */
static ssize_t take_gzip(struct unpacker *u, uint8_t *out, size_t room)
{
	z_stream *z = &u->z;
	int ret;

	if (!u->in_frame && u->raw[u->raw_at] != 0x1f) {
		/* Like gzip(1): ignores what follows the last member, mostly zeros. */
		tell_rest(u);
		u->at_end = true;
		return 0;
	}
	z->next_in = u->raw + u->raw_at;
	z->avail_in = u->raw_end - u->raw_at;
	z->next_out = out;
	z->avail_out = room;
	u->in_frame = true;
	ret = inflate_summed(u);
	u->raw_at = u->raw_end - z->avail_in;
	u->pending = z->avail_out == 0;
	if (ret == Z_STREAM_END) {
		u->in_frame = u->pending = u->in_data = false;
		inflateReset(z);
		inflateValidate(z, 1);
	} else if (ret != Z_OK && ret != Z_BUF_ERROR) {
		return packed_damage(u, z->msg ? z->msg : "gzip", room - z->avail_out);
	}
	return room - z->avail_out;
}

/* One zstd block at a time, so that a damaged one does not spoil others. */
static ssize_t take_zstd(struct unpacker *u, uint8_t *out, size_t room)
{
	ZSTD_inBuffer src = {u->raw, u->raw_end, u->raw_at};
	ZSTD_outBuffer dst = {out, room, 0};
	size_t ret;

	if (src.size - src.pos > u->zstd_want)
		src.size = src.pos + u->zstd_want;
	ret = ZSTD_decompressStream(u->zstd, &dst, &src);
	u->raw_at = src.pos;
	if (ZSTD_isError(ret))
		return packed_damage(u, ZSTD_getErrorName(ret), dst.pos);
	u->in_frame = ret != 0;
	u->pending = u->in_frame && dst.pos == dst.size;
	u->zstd_want = ret ? ret : u->zstd_first;
	return dst.pos;
}

ssize_t unpack_some(struct unpacker *u, uint8_t *out, size_t room)
{
	ssize_t got;

	if (u->err)
		return u->err;
	if (u->at_end)
		return 0;
	if (u->packing == PACKED_NOT)
		return take_plain(u, out, room);
	do {
		int more = u->pending ? 1 : raw_fill(u);

		if (!u->in_frame)
			u->frame_at = packed_at(u);
		if (more < 0 || (more == 0 && !u->in_frame))
			return more;
		if (more == 0)
			return scap_fail(u->log, -EBADMSG,
					 "%s: the compressed data ends early, at byte %llu: the "
					 "file is truncated; all complete events were read",
					 u->name, (unsigned long long)u->taken);
		got = u->packing == PACKED_GZIP ? take_gzip(u, out, room) : take_zstd(u, out, room);
	} while (got == 0 && !u->at_end);
	return got;
}

static enum packing detect(const uint8_t *p, size_t n)
{
	static const uint8_t zstd_frame[4] = {0x28, 0xb5, 0x2f, 0xfd};

	if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		return PACKED_GZIP;
	if (n >= 4 && memcmp(p, zstd_frame, 4) == 0)
		return PACKED_ZSTD;
	/* A skippable frame, which parallel packers put first. */
	if (n >= 4 && (get_u32(p) & 0xfffffff0u) == 0x184d2a50u)
		return PACKED_ZSTD;
	return PACKED_NOT;
}

static int start_unpacker(struct unpacker *u)
{
	if (u->packing == PACKED_GZIP && inflateInit2(&u->z, 15 + 16) != Z_OK) {
		u->packing = PACKED_NOT;
		goto no_memory;
	}
	if (u->packing == PACKED_ZSTD) {
		u->zstd = ZSTD_createDStream();
		if (!u->zstd)
			goto no_memory;
		u->zstd_first = u->zstd_want = ZSTD_initDStream(u->zstd);
	}
	return 0;
no_memory:
	return scap_fail(u->log, -ENOMEM, "cannot read %s: not enough memory", u->name);
}

/* Reads the first bytes, which stay in raw for a pipe, and sets up the unpacker they need. */
static int start(struct unpacker *u)
{
	ssize_t got;

	u->raw = malloc(TRAILER_SZ + RAW_SZ);
	if (!u->raw)
		return scap_fail(u->log, -ENOMEM, "cannot read %s: not enough memory", u->name);
	u->raw += TRAILER_SZ;
	do {
		got = read_some(u, u->raw + u->raw_end, RAW_SZ - u->raw_end);
		if (got < 0)
			return got;
		u->raw_end += got;
	} while (got > 0 && u->raw_end < 4);
	if (u->raw_end == 0)
		return scap_fail(u->log, -EBADMSG, "%s: the file is empty", u->name);
	u->packing = detect(u->raw, u->raw_end);
	return start_unpacker(u);
}

static int open_file(struct unpacker *u, const char *path)
{
	struct stat st;

	u->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (u->fd < 0 || fstat(u->fd, &st) != 0) {
		const int err = errno;

		return scap_fail(u->log, -err, "cannot open %s: %s", u->name, strerror(err));
	}
	if (S_ISDIR(st.st_mode))
		return scap_fail(u->log, -EISDIR, "%s is a directory: name a capture file",
				 u->name);
	u->file_size = S_ISREG(st.st_mode) ? st.st_size : 0;
	return 0;
}

static int go_to(struct unpacker *u, uint64_t at)
{
	if (lseek(u->fd, (off_t)at, SEEK_SET) != (off_t)at)
		return scap_fail(u->log, -EIO, "cannot read %s from byte %llu on", u->name,
				 (unsigned long long)at);
	u->taken = at;
	return 0;
}

int unpack_open(struct unpacker **out, const char *path, const char *name, uint64_t at,
		const struct scap_log *log)
{
	struct unpacker *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return scap_fail(log, -ENOMEM, "cannot read %s: not enough memory", name);
	u->log = log;
	u->name = name;
	err = open_file(u, path);
	if (!err && at)
		err = go_to(u, at);
	if (!err)
		err = start(u);
	if (err)
		unpack_close(u);
	else
		*out = u;
	return err;
}

void unpack_close(struct unpacker *u)
{
	if (!u)
		return;
	if (u->packing == PACKED_GZIP)
		inflateEnd(&u->z);
	ZSTD_freeDStream(u->zstd);
	if (u->raw)
		free(u->raw - TRAILER_SZ);
	if (u->fd > STDIN_FILENO)
		close(u->fd);
	free(u);
}

bool unpack_ready(const struct unpacker *u, int timeout_ms)
{
	struct pollfd pfd = {.fd = u->fd, .events = POLLIN};
	int n;

	if (u->err || u->pending || u->raw_at < u->raw_end)
		return true;
	n = poll(&pfd, 1, timeout_ms);
	return n > 0 || (n < 0 && errno != EINTR);
}

uint64_t unpack_taken(const struct unpacker *u)
{
	return u->taken;
}

bool unpack_left_out(const struct unpacker *u)
{
	return u->at_end && u->raw_at < u->raw_end;
}

bool unpack_is_packed(const struct unpacker *u)
{
	return u->packing != PACKED_NOT;
}

uint64_t unpack_file_size(const struct unpacker *u)
{
	return u->file_size;
}
