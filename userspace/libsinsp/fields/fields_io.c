/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the bytes that an event moved, and of the files they came from and went to. */
#include "evt_io.h"

#include <stdio.h>

#include "evt_category.h"
#include "fd.h"
#include "field_rows.h"

enum { OF_FILE = 8, OF_NET = 16 }; /* beside enum sinsp_io_end */

/* Plaintext of TLS moves as encrypted bytes, which count. */
static int is_counted(const struct sinsp_evt *evt)
{
	return evt->raw.type != EVT_TLS_READ_X && evt->raw.type != EVT_TLS_WRITE_X;
}

static int get_bytes(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	uint64_t n;
	const uint8_t ends = sinsp_evt_io_bytes(e->evt, f->row->variant, &n);

	(void)more;
	if (!ends || !is_counted(e->evt))
		return 0;
	return field_u(v, ends == (SINSP_IO_READ | SINSP_IO_WRITE) ? 2 * n : n);
}

static int is_of_kind(const struct sinsp_fd *fd, unsigned int variant)
{
	if (variant & OF_NET)
		return evt_kind_of_fd(fd) == FD_NET;
	return fd && (fd->type == SCAP_FD_FILE || fd->type == SCAP_FD_FILE_V2);
}

static int get_bytes_of_kind(struct sinsp_eval *e, const struct sinsp_field *f,
			     struct sinsp_value *v, const struct sinsp_value **more)
{
	const unsigned int variant = f->row->variant;
	struct sinsp_io io;
	unsigned int n;

	(void)more;
	if (!sinsp_evt_io(e->evt, &io) || !is_counted(e->evt))
		return 0;
	n = (io.ends & variant & SINSP_IO_READ && is_of_kind(io.in, variant)) +
	    (io.ends & variant & SINSP_IO_WRITE && is_of_kind(io.out, variant));
	return n ? field_u(v, n * io.n_bytes) : 0;
}

static int get_space(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	struct sinsp_io io;

	(void)f;
	(void)more;
	if (!sinsp_evt_io(e->evt, &io) || !(io.ends & SINSP_IO_WRITE) || !is_counted(e->evt))
		return 0;
	return field_u(v, io.n_bytes + io.n_reserved);
}

/* fd.in.name is fd.name of the file that was read. */
static int get_end(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const int is_in = f->row->variant == SINSP_IO_READ;
	const struct sinsp_evt *evt = e->evt;
	struct sinsp_field of_file = {.index = -1};
	struct sinsp_evt end;
	struct sinsp_io io;
	char name[32];
	int n;

	if (!sinsp_evt_io(evt, &io) || !(io.ends & f->row->variant))
		return 0;
	if ((is_in ? io.in_num : io.out_num) < 0)
		return 0;
	n = snprintf(name, sizeof(name), "fd%s", strrchr(f->row->name, '.'));
	of_file.row = sinsp_field_find(name, (size_t)n);
	end = *evt;
	end.fd = is_in ? io.in : io.out;
	end.fdnum = is_in ? io.in_num : io.out_num;
	e->evt = &end;
	n = of_file.row ? of_file.row->get(e, &of_file, v, more) : 0;
	e->evt = evt;
	return n;
}

/* clang-format off */
#define BYTES(name, get, variant, help)                                                            \
	{name, FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_OF_IO, variant, get, help, NULL}
#define END(name, type, variant, help)                                                             \
	{name, FIELD_##type, 0, FIELD_COST_SEARCH, 0, variant, get_end, help, NULL,                \
	 .needs = FIELD_NEEDS_FILES}
#define ENDS(suffix, type)                                                                         \
	END("fd.in." suffix, type, SINSP_IO_READ, "fd." suffix " of the file that was read"),      \
	END("fd.out." suffix, type, SINSP_IO_WRITE, "fd." suffix " of the file that was written")

static const struct sinsp_field_row rows[] = {
	BYTES("evt.io.bytes", get_bytes, SINSP_IO_READ | SINSP_IO_WRITE,
	    "sum of evt.io.read_bytes and evt.io.write_bytes"),
	BYTES("evt.io.read_bytes", get_bytes, SINSP_IO_READ,
	    "bytes read from the file fd.in.name by read and similar calls, or by calls that copy "
	    "from file to file, such as sendfile, splice, copy_file_range and the ioctl FICLONE"),
	BYTES("evt.io.write_bytes", get_bytes, SINSP_IO_WRITE,
	    "bytes written to the file fd.out.name"),
	BYTES("evt.io.space_bytes", get_space, 0,
	    "evt.io.write_bytes, or bytes that fallocate reserved in the file fd.out.name"),
	BYTES("evt.io.file_bytes", get_bytes_of_kind, OF_FILE | SINSP_IO_READ | SINSP_IO_WRITE,
	    "evt.io.bytes of files: fd.type=file, at either end"),
	BYTES("evt.io.file_read_bytes", get_bytes_of_kind, OF_FILE | SINSP_IO_READ, "evt.io.read_bytes of files"),
	BYTES("evt.io.file_write_bytes", get_bytes_of_kind, OF_FILE | SINSP_IO_WRITE,
	    "evt.io.write_bytes of files"),
	BYTES("evt.io.net_bytes", get_bytes_of_kind, OF_NET | SINSP_IO_READ | SINSP_IO_WRITE,
	    "evt.io.bytes of IPv4 and IPv6 sockets"),
	BYTES("evt.io.net_read_bytes", get_bytes_of_kind, OF_NET | SINSP_IO_READ,
	    "evt.io.read_bytes of IPv4 and IPv6 sockets"),
	BYTES("evt.io.net_write_bytes", get_bytes_of_kind, OF_NET | SINSP_IO_WRITE,
	    "evt.io.write_bytes of IPv4 and IPv6 sockets"),
	ENDS("num", INT),
	ENDS("type", STR),
	ENDS("name", PATH),
	ENDS("directory", PATH),
	ENDS("filename", PATH),
	ENDS("l4proto", STR),
	ENDS("cip", IP),
	ENDS("sip", IP),
	ENDS("cport", PORT),
	ENDS("sport", PORT),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_io = {
	.name = "evt.io",
	.title = "evt.io, fd.in, fd.out",
	.help = "Bytes that a call moved, and the files that it read (in) and wrote (out)",
	FIELD_ROWS(rows),
};
