/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/tls_library.h"

#include <elf.h>

#include "objfile/elf_dynamic_symbol.h"
#include "tls/tls_go.h"

#define SYMTAB_MAX (16u << 20) /* bytes of a symbol table that is searched */

struct function {
	const char *name;
	enum tls_function function;
	int has_return; /* its return is probed, too */
};

/* The first two rows are those that the library must have. */
static const struct function openssl[] = {
	{"SSL_read", TLS_READ, 1},       {"SSL_write", TLS_WRITE, 1},
	{"SSL_read_ex", TLS_READ_EX, 1}, {"SSL_write_ex", TLS_WRITE_EX, 1},
	{"SSL_new", TLS_BEGIN, 0},       {"SSL_free", TLS_END, 0},
};

static const struct function gnutls[] = {
	{"gnutls_record_recv", TLS_RECORD_RECV, 1},
	{"gnutls_record_send", TLS_RECORD_SEND, 1},
	{"gnutls_record_send2", TLS_RECORD_SEND, 1},
	{"gnutls_handshake", TLS_BEGIN, 0},
	{"gnutls_deinit", TLS_END, 0},
};

#define N_OPENSSL (sizeof(openssl) / sizeof(openssl[0]))
#define N_GNUTLS (sizeof(gnutls) / sizeof(gnutls[0]))

typedef int (*find_fn)(const struct elf_file *f, struct elf_symbol *out, const char *name);

static int find(const struct elf_file *f, find_fn symbol, const char *name, uint64_t *offset)
{
	struct elf_symbol s;

	return symbol(f, &s, name) && s.addr && !elf_file_offset_of(f, offset, s.addr) &&
	       elf_file_is_code(f, *offset, 1);
}

static size_t add_probes(const struct elf_file *f, find_fn symbol, struct tls_probe *v,
			 const struct function *functions, size_t n_functions)
{
	uint64_t offset;
	size_t n = 0;

	for (size_t i = 0; i < n_functions; i++) {
		if (!find(f, symbol, functions[i].name, &offset)) {
			if (i < 2)
				return 0;
			continue;
		}
		v[n++] = (struct tls_probe){offset, functions[i].function, TLS_AT_ENTRY, 0};
		if (functions[i].has_return)
			v[n++] =
				(struct tls_probe){offset, functions[i].function, TLS_AT_RETURN, 0};
	}
	return n;
}

_Static_assert(2 * (N_OPENSSL + N_GNUTLS) <= TLS_PROBES_MAX - TLS_GO_PROBES_MAX + 2,
	       "of each library at least two functions have no return");

static size_t add_libraries(const struct elf_file *f, find_fn symbol, struct tls_probe *v)
{
	size_t n = add_probes(f, symbol, v, openssl, N_OPENSSL);

	return n + add_probes(f, symbol, v + n, gnutls, N_GNUTLS);
}

int tls_library_probes(const struct elf_file *f, struct tls_probe v[TLS_PROBES_MAX])
{
	const struct elf_section *symbols = elf_file_section(f, ".symtab");
	size_t n;
	int n_go;

	if (elf_file_machine(f) != EM_X86_64)
		return 0;
	n = add_libraries(f, elf_dynamic_symbol_find, v);
	if (!n && symbols && symbols->sz <= SYMTAB_MAX)
		n = add_libraries(f, elf_any_symbol_find, v);
	n_go = tls_go_probes(f, v + n);
	return n && n_go < 0 ? (int)n : (int)n + n_go;
}
