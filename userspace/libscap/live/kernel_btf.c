/* SPDX-License-Identifier: Apache-2.0 */
#include "live/kernel_btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <linux/btf.h>

#define VMLINUX "/sys/kernel/btf/vmlinux"
#define KIND_ENUM64 19 /* since 6.0; missing in the headers of some build systems */

#define N_CHAINS 4096 /* a power of two */

struct kernel_btf {
	uint8_t *data;
	size_t sz;
	size_t mapped_sz; /* 0: data was allocated */
	const char *strs;
	uint32_t strs_sz;
	uint32_t *types; /* by type number: offset in data; [0] is void */
	uint32_t n_types;
	/* Types whose names are indexed: by hash of the name the first one, and by type number the
	 * next of the same hash; 0: none. */
	uint32_t chains[N_CHAINS], *next;
};

static const struct btf_type *type_at(const struct kernel_btf *k, uint32_t id)
{
	return (const struct btf_type *)(k->data + k->types[id]);
}

static const char *name_at(const struct kernel_btf *k, uint32_t off)
{
	return off < k->strs_sz ? k->strs + off : "";
}

/* Returns the number of bytes that follow a struct btf_type; -1: unknown kind. */
static int64_t extra_sz(const struct btf_type *t)
{
	const uint64_t n = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (int64_t)(n * sizeof(struct btf_member));
	case BTF_KIND_ENUM:
		return (int64_t)(n * sizeof(struct btf_enum));
	case KIND_ENUM64:
		return (int64_t)(n * 3 * sizeof(uint32_t));
	case BTF_KIND_FUNC_PROTO:
		return (int64_t)(n * sizeof(struct btf_param));
	case BTF_KIND_DATASEC:
		return (int64_t)(n * sizeof(struct btf_var_secinfo));
	}
	return -1;
}

/* Maps the file, which Linux 6.16 allows: reading takes a call for each page. The last name must
 * end in it. */
static int map(struct kernel_btf *k, int fd, size_t sz)
{
	uint8_t *data = sz ? mmap(NULL, sz, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (data == MAP_FAILED)
		return 0;
	if (data[sz - 1]) {
		munmap(data, sz);
		return 0;
	}
	k->data = data;
	k->sz = k->mapped_sz = sz;
	return 1;
}

static int read_all(struct kernel_btf *k, int fd, size_t sz)
{
	ssize_t n = 1;

	k->data = malloc(sz + 1);
	if (!k->data)
		return -ENOMEM;
	while (n > 0 && k->sz < sz) {
		n = read(fd, k->data + k->sz, sz - k->sz);
		if (n < 0)
			return -errno;
		k->sz += (size_t)n;
	}
	k->data[k->sz] = '\0'; /* ends the last name, whatever the file says */
	return 0;
}

static int map_or_read(struct kernel_btf *k, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!map(k, fd, (size_t)st.st_size))
		err = read_all(k, fd, (size_t)st.st_size);
	close(fd);
	return err;
}

static uint32_t hash(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)s[i]) * 16777619u;
	return h;
}

/* Hooks of tracepoints, and functions that programs call or iterate with: a driver asks for a
 * hundred of them, and each time all types would have to be looked at. */
static int is_indexed(unsigned int kind, const char *name)
{
	return (kind == BTF_KIND_TYPEDEF && !strncmp(name, "btf_trace_", strlen("btf_trace_"))) ||
	       (kind == BTF_KIND_FUNC && !strncmp(name, "bpf_", strlen("bpf_"))) ||
	       (kind == BTF_KIND_STRUCT &&
		(!strcmp(name, "task_struct") || !strcmp(name, "timespec64")));
}

static uint32_t chain_of(const char *name)
{
	return hash(name, strlen(name)) & (N_CHAINS - 1);
}

static int index_names(struct kernel_btf *k)
{
	k->next = calloc(k->n_types, sizeof(*k->next));
	if (!k->next)
		return -ENOMEM;
	/* From the last one: the first of a name is found, as by the kernel. */
	for (uint32_t id = k->n_types - 1; id; id--) {
		const struct btf_type *t = type_at(k, id);
		const char *name = name_at(k, t->name_off);
		uint32_t *first;

		if (!is_indexed(btf_kind(t), name))
			continue;
		first = &k->chains[chain_of(name)];
		k->next[id] = *first;
		*first = id;
	}
	return 0;
}

/* Records where each type is, from @from to @to of the data. */
static int index_types(struct kernel_btf *k, uint64_t from, uint64_t to)
{
	/* No type is shorter than struct btf_type. */
	k->types = malloc(((to - from) / sizeof(struct btf_type) + 1) * sizeof(*k->types));
	if (!k->types)
		return -ENOMEM;
	k->types[0] = 0;
	for (k->n_types = 1; from + sizeof(struct btf_type) <= to; k->n_types++) {
		int64_t extra = extra_sz((const struct btf_type *)(k->data + from));

		if (extra < 0)
			return -ENOTSUP;
		k->types[k->n_types] = (uint32_t)from;
		from += sizeof(struct btf_type) + (uint64_t)extra;
	}
	return from == to ? 0 : -EINVAL;
}

static int parse(struct kernel_btf *k)
{
	const struct btf_header *h = (const struct btf_header *)k->data;
	uint64_t types, strs;

	if (k->sz < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len < sizeof(*h))
		return -EINVAL;
	types = (uint64_t)h->hdr_len + h->type_off;
	strs = (uint64_t)h->hdr_len + h->str_off;
	if (types % 4 || types + h->type_len > k->sz || strs + h->str_len > k->sz)
		return -EINVAL;
	k->strs = (const char *)k->data + strs;
	k->strs_sz = h->str_len;
	return index_types(k, types, types + h->type_len) ?: index_names(k);
}

int kernel_btf_read(struct kernel_btf **out, const char *path)
{
	struct kernel_btf *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	err = map_or_read(k, path) ?: parse(k);
	if (err) {
		kernel_btf_free(k);
		return err;
	}
	*out = k;
	return 0;
}

int kernel_btf_new(struct kernel_btf **out)
{
	return kernel_btf_read(out, VMLINUX);
}

void kernel_btf_free(struct kernel_btf *k)
{
	if (!k)
		return;
	if (k->mapped_sz)
		munmap(k->data, k->mapped_sz);
	else
		free(k->data);
	free(k->types);
	free(k->next);
	free(k);
}

static int has_name(const struct kernel_btf *k, uint32_t id, unsigned int kind, const char *name)
{
	const struct btf_type *t = type_at(k, id);

	return btf_kind(t) == kind && !strcmp(name_at(k, t->name_off), name);
}

int kernel_btf_id(const struct kernel_btf *k, unsigned int kind, const char *name)
{
	if (is_indexed(kind, name)) {
		for (uint32_t id = k->chains[chain_of(name)]; id; id = k->next[id])
			if (has_name(k, id, kind, name))
				return (int)id;
		return -ENOENT;
	}
	for (uint32_t id = 1; id < k->n_types; id++)
		if (has_name(k, id, kind, name))
			return (int)id;
	return -ENOENT;
}

int kernel_btf_hook_args(const struct kernel_btf *k, const char *name)
{
	int id = kernel_btf_id(k, BTF_KIND_TYPEDEF, name);
	const struct btf_type *t;

	if (id < 0)
		return id;
	t = type_at(k, type_at(k, (uint32_t)id)->type);
	if (btf_kind(t) != BTF_KIND_PTR)
		return -ENOENT;
	t = type_at(k, t->type);
	return btf_kind(t) == BTF_KIND_FUNC_PROTO ? btf_vlen(t) : -ENOENT;
}

void kernel_btf_each_enum(const struct kernel_btf *k, const char *name,
			  void (*fn)(void *ctx, const char *value_name, __u32 value), void *ctx)
{
	const int id = kernel_btf_id(k, BTF_KIND_ENUM, name);
	const struct btf_type *t;

	if (id < 0)
		return;
	t = type_at(k, (uint32_t)id);
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		fn(ctx, name_at(k, btf_enum(t)[i].name_off), (uint32_t)btf_enum(t)[i].val);
}

/* A set of names: open addressing. */
struct names {
	const char **slots;
	uint32_t mask;
};

/* Cuts off the suffix of a flavour (___x). */
static size_t essential_len(const char *name)
{
	const char *suffix = strstr(name, "___");

	return suffix ? (size_t)(suffix - name) : strlen(name);
}

/* Returns the place of @name in the set, or where it would be. */
static const char **find_name(const struct names *n, const char *name)
{
	const size_t len = essential_len(name);
	uint32_t i = hash(name, len);

	for (;; i++) {
		const char **slot = &n->slots[i & n->mask];

		if (!*slot || (essential_len(*slot) == len && !memcmp(*slot, name, len)))
			return slot;
	}
}

static int is_root_kind(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
	case BTF_KIND_TYPEDEF:
		return t->name_off != 0;
	}
	return 0;
}

static int collect_names(struct names *n, const struct btf *wanted)
{
	const uint32_t count = btf__type_cnt(wanted);

	for (n->mask = 1; n->mask < 2 * count; n->mask *= 2)
		;
	n->slots = calloc(n->mask, sizeof(*n->slots));
	n->mask--;
	if (!n->slots)
		return -ENOMEM;
	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *t = btf__type_by_id(wanted, id);
		const char *name = btf__name_by_offset(wanted, t->name_off);

		if (is_root_kind(t) && name)
			*find_name(n, name) = name;
	}
	return 0;
}

/* The reduced file. */
struct extract {
	const struct kernel_btf *k;
	uint32_t *new_id; /* by the kernel's type number; 0: left out */
	uint32_t *order; /* the kernel's type numbers, by ours minus 1 */
	uint32_t n;
	uint8_t *types;
	uint32_t types_sz;
	char *strs; /* begin with the empty one */
	uint32_t strs_sz, strs_room;
	int err;
};

static void keep_type(struct extract *x, uint32_t id)
{
	if (!id || id >= x->k->n_types || x->new_id[id])
		return;
	x->order[x->n++] = id;
	x->new_id[id] = x->n;
}

/* Keeps the types that @t contains by value. */
static void keep_parts(struct extract *x, const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		keep_type(x, t->type);
		break;
	case BTF_KIND_ARRAY:
		keep_type(x, btf_array(t)->type);
		keep_type(x, btf_array(t)->index_type);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			keep_type(x, btf_members(t)[i].type);
		break;
	}
}

static void choose(struct extract *x, const struct names *names)
{
	for (uint32_t id = 1; id < x->k->n_types; id++) {
		const struct btf_type *t = type_at(x->k, id);

		if (is_root_kind(t) && *find_name(names, name_at(x->k, t->name_off)))
			keep_type(x, id);
	}
	for (uint32_t i = 0; i < x->n; i++)
		keep_parts(x, type_at(x->k, x->order[i]));
}

static uint32_t ours(const struct extract *x, uint32_t id)
{
	return id < x->k->n_types ? x->new_id[id] : 0;
}

/* Copies a name of the kernel's. Returns its offset; 0, the empty one, also without memory. */
static uint32_t add_name(struct extract *x, uint32_t off)
{
	const char *name = name_at(x->k, off);
	const uint32_t at = x->strs_sz ?: 1, sz = (uint32_t)strlen(name) + 1;

	if (!*name)
		return 0;
	if (at + sz > x->strs_room) {
		const uint32_t room = 2 * x->strs_room + sz + 4096;
		char *strs = realloc(x->strs, room);

		if (!strs) {
			x->err = -ENOMEM;
			return 0;
		}
		strs[0] = '\0';
		x->strs = strs;
		x->strs_room = room;
	}
	memcpy(x->strs + at, name, sz);
	x->strs_sz = at + sz;
	return at;
}

/* Translates the type numbers and names in @t, a copy. */
static void translate(struct extract *x, struct btf_type *t)
{
	t->name_off = add_name(x, t->name_off);
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		t->type = 0;
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		t->type = ours(x, t->type);
		break;
	case BTF_KIND_ARRAY:
		btf_array(t)->type = ours(x, btf_array(t)->type);
		btf_array(t)->index_type = ours(x, btf_array(t)->index_type);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (uint32_t i = 0; i < btf_vlen(t); i++) {
			struct btf_member *m = &btf_members(t)[i];

			m->name_off = add_name(x, m->name_off);
			m->type = ours(x, m->type);
		}
		break;
	case BTF_KIND_ENUM:
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			btf_enum(t)[i].name_off = add_name(x, btf_enum(t)[i].name_off);
		break;
	case KIND_ENUM64: /* three numbers each, the first is the name */
		for (uint32_t i = 0; i < btf_vlen(t); i++) {
			uint32_t *name = (uint32_t *)(t + 1) + (size_t)3 * i;

			*name = add_name(x, *name);
		}
		break;
	case BTF_KIND_FUNC_PROTO: /* of a typedef: nothing asks for its arguments */
		t->type = 0;
		memset(t + 1, 0, btf_vlen(t) * sizeof(struct btf_param));
		break;
	}
}

static void emit(struct extract *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct btf_type *t = type_at(x->k, x->order[i]);
		const uint32_t sz = (uint32_t)(sizeof(*t) + (size_t)extra_sz(t));
		struct btf_type *copy = (struct btf_type *)(x->types + x->types_sz);

		memcpy(copy, t, sz);
		translate(x, copy);
		x->types_sz += sz;
	}
}

static int write_all(int fd, const void *data, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t w = write(fd, (const uint8_t *)data + done, n - done);

		if (w < 0)
			return -errno;
		done += (size_t)w;
	}
	return 0;
}

static int write_file(const struct extract *x, int fd)
{
	const struct btf_header h = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(h),
		.type_len = x->types_sz,
		.str_off = x->types_sz,
		.str_len = x->strs_sz ?: 1,
	};
	int err = write_all(fd, &h, sizeof(h));

	err = err ?: write_all(fd, x->types, x->types_sz);
	return err ?: write_all(fd, x->strs_sz ? x->strs : "", h.str_len);
}

int kernel_btf_extract(const struct kernel_btf *k, const struct btf *wanted, int fd)
{
	struct extract x = {.k = k};
	struct names names = {0};
	int err = collect_names(&names, wanted);

	x.new_id = calloc(k->n_types, sizeof(*x.new_id));
	x.order = malloc(k->n_types * sizeof(*x.order));
	x.types = malloc(k->sz);
	if (!err && (!x.new_id || !x.order || !x.types))
		err = -ENOMEM;
	if (!err) {
		choose(&x, &names);
		emit(&x);
		err = x.err ?: write_file(&x, fd);
	}
	free(names.slots);
	free(x.new_id);
	free(x.order);
	free(x.types);
	free(x.strs);
	return err;
}
