/* SPDX-License-Identifier: Apache-2.0 */
/* Joins and normalizes paths, eight bytes at a time where they are plain. */
#include "pathname.h"

#include <stdint.h>
#include <string.h>

#include "utf8.h"

#define SYSDIG_MAX 1024
static const char too_long[] = "/PATH_TOO_LONG";

static int is_printable(char c)
{
	return c >= ' ' && c < 0x7f;
}

/* Returns whether the byte stays as it is anywhere: letters, digits and most others. */
static int is_plain(char c)
{
	return c > '/' && c < 0x7f;
}

/* Returns the length without the last component; the root and the first byte stay. */
static size_t parent_of(const char *out, size_t n)
{
	if (n <= 1)
		return n;
	for (n--; n > 0 && out[n - 1] != '/'; n--)
		;
	return n;
}

/* Returns the length of a "./" or "../" at @p (or of the dots at the end) and the number of dots;
 * 0: none. */
static size_t dots_at(const char *p, const char *end, size_t *n_dots)
{
	size_t n = p + 1 < end && p[1] == '.' ? 2 : 1;

	if (*p != '.')
		return 0;
	*n_dots = n;
	if (p + n == end)
		return n;
	return p[n] == '/' ? n + 1 : 0;
}

#define EACH(byte) (0x0101010101010101ull * (byte))

/* Returns the high bit of each zero byte; sometimes also of a byte after one. */
static uint64_t zero_bytes(uint64_t w)
{
	return (w - EACH(1)) & ~w & EACH(0x80);
}

/* Returns whether eight bytes and the next one can be copied, if the first can: all print, and no
 * slash or dot follows another. May return 0 for a clean path. */
static int is_clean(const char *p)
{
	uint64_t w, bad, marks, behind;

	_Static_assert(('.' | 1) == '/', "slash and dot differ in one bit");
	memcpy(&w, p, sizeof(w));
	bad = ((w - EACH(' ')) | (w + EACH(1)) | w) & EACH(0x80);
	marks = zero_bytes((w | EACH(1)) ^ EACH('/'));
	behind = marks >> 8 | (uint64_t)((p[8] | 1) == '/') << 63;
	return !(bad | (marks & behind));
}

static size_t append(char *out, size_t n, enum sinsp_path_rules rules, const char *p,
		     const char *end)
{
	while (p < end && n + 1 < SINSP_PATH_SZ) {
		size_t n_dots = 0, skip = 0, utf8;

		if (is_plain(*p)) {
			while (end - p > 8 && n + 9 < SINSP_PATH_SZ && is_clean(p)) {
				memcpy(out + n, p, 8);
				n += 8;
				p += 8;
			}
			if (is_plain(*p))
				out[n++] = *p++;
			continue;
		}
		if (rules == SINSP_PATH_SYSDIG || !n || out[n - 1] == '/')
			skip = dots_at(p, end, &n_dots);
		if (skip) {
			if (n_dots == 2)
				n = parent_of(out, n);
			p += skip;
		} else if (n_dots == 2) {
			/* Two dots inside a name. */
			out[n++] = *p++;
			out[n++] = *p++;
		} else if (*p == '/' && n && out[n - 1] == '/') {
			p++;
		} else if (rules != SINSP_PATH_SYSDIG &&
			   (utf8 = sinsp_utf8_len((const unsigned char *)p, end - p)) &&
			   n + utf8 < SINSP_PATH_SZ) {
			memcpy(out + n, p, utf8);
			n += utf8;
			p += utf8;
		} else {
			out[n++] = is_printable(*p) ? *p : '.';
			p++;
		}
	}
	return n;
}

size_t sinsp_path_join(char *out, enum sinsp_path_rules rules, const char *dir, size_t dir_len,
		       const char *path, size_t path_len)
{
	size_t n = 0;
	int is_relative = path_len && path[0] != '/'; /* one NUL: the directory itself */

	path_len = strnlen(path, path_len);
	/* sysdig counts the NUL and one more byte. */
	if (rules == SINSP_PATH_SYSDIG ? dir_len + path_len + 2 > SYSDIG_MAX
				       : dir_len + path_len + 2 > SINSP_PATH_SZ) {
		memcpy(out, too_long, sizeof(too_long));
		return sizeof(too_long) - 1;
	}
	if (is_relative) {
		memcpy(out, dir, dir_len);
		n = dir_len;
	}
	n = append(out, n, rules, path, path + path_len);
	/* Drop a slash at the end, as the kernel does. */
	if (n > 1 && out[n - 1] == '/')
		n--;
	out[n] = 0;
	return n;
}

size_t sinsp_path_join_in(char *out, const char *root, const char *dir, size_t dir_len,
			  const char *path, size_t path_len)
{
	size_t n_root = strlen(root), n;

	while (n_root && root[n_root - 1] == '/')
		n_root--;
	if (path_len && path[0] == '/')
		dir_len = 0;
	else if (dir_len >= n_root && !memcmp(dir, root, n_root) &&
		 (dir_len == n_root || dir[n_root] == '/'))
		dir += n_root, dir_len -= n_root;
	else
		n_root = 0;
	if (!n_root)
		return sinsp_path_join(out, SINSP_PATH_STRICT, dir, dir_len, path, path_len);

	n = sinsp_path_join(out, SINSP_PATH_STRICT, dir_len ? dir : "/", dir_len ? dir_len : 1,
			    path, path_len);
	if (n_root + n + 1 > SINSP_PATH_SZ) {
		memcpy(out, too_long, sizeof(too_long));
		return sizeof(too_long) - 1;
	}
	if (n == 1)
		n = 0; /* the root has no slash at its end */
	memmove(out + n_root, out, n);
	memcpy(out, root, n_root);
	out[n_root + n] = 0;
	return n_root + n;
}
