// SPDX-License-Identifier: Apache-2.0
/*
 * inet and netlink sockets come from the text files of /proc/PID/net. Unix sockets come from
 * sock_diag if it is available, since only it has peers, and names as bytes: in /proc/net/unix a
 * name with a newline could pass for another socket.
 */
#include "procfs/sock_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "procfs/proc_file.h"

#define NET_FILE_MAX (256u << 20)
#define MAX_NAMESPACES 4096
#define UNIX_NAME_MAX 108

struct sock {
	struct scap_fd_info info; /* name unused: see name_pos */
	uint32_t name_pos; /* in names; 0: none */
};

struct sock_table {
	struct sock *socks;
	size_t n, cap;
	uint32_t *slots; /* index into socks + 1, by inode; 0: free */
	size_t n_slots; /* a power of two, at least 2 * cap */
	char *names;
	size_t names_len, names_cap;
	uint64_t *ns; /* namespaces read */
	size_t n_ns;
	struct proc_buf buf;
};

struct sock_table *sock_table_new(void)
{
	return calloc(1, sizeof(struct sock_table));
}

void sock_table_free(struct sock_table *t)
{
	if (!t)
		return;
	free(t->socks);
	free(t->slots);
	free(t->names);
	free(t->ns);
	proc_buf_fini(&t->buf);
	free(t);
}

static size_t slot_of(const struct sock_table *t, uint64_t ino)
{
	size_t i = (ino * 0x9e3779b97f4a7c15ull) >> 32;

	for (;; i++) {
		uint32_t at = t->slots[i & (t->n_slots - 1)];

		if (!at || t->socks[at - 1].info.ino == ino)
			return i & (t->n_slots - 1);
	}
}

static int grow(struct sock_table *t)
{
	size_t cap = t->cap ? t->cap * 2 : 256, i;
	struct sock *socks = realloc(t->socks, cap * sizeof(*socks));
	uint32_t *slots;

	if (!socks)
		return -ENOMEM;
	t->socks = socks;
	slots = calloc(cap * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->n_slots = cap * 2;
	t->cap = cap;
	for (i = 0; i < t->n; i++)
		t->slots[slot_of(t, socks[i].info.ino)] = i + 1;
	return 0;
}

/* The first entry of a socket is kept. */
static int add(struct sock_table *t, const struct sock *s)
{
	size_t at;

	if (!s->info.ino)
		return 0; /* closed, waiting for its end */
	if (t->n == t->cap && grow(t))
		return -ENOMEM;
	at = slot_of(t, s->info.ino);
	if (t->slots[at])
		return 0;
	t->socks[t->n++] = *s;
	t->slots[at] = t->n;
	return 0;
}

static int add_name(struct sock_table *t, uint32_t *pos, const char *name, size_t len)
{
	if (len > UNIX_NAME_MAX)
		len = UNIX_NAME_MAX;
	if (t->names_len + len + 2 > t->names_cap) {
		size_t cap = t->names_cap ? t->names_cap * 2 : 16384;
		char *p = realloc(t->names, cap);

		if (!p)
			return -ENOMEM;
		t->names = p;
		t->names_cap = cap;
	}
	if (!t->names_len)
		t->names[t->names_len++] = 0;
	*pos = t->names_len;
	memcpy(t->names + t->names_len, name, len);
	t->names_len += len;
	t->names[t->names_len++] = 0;
	return 0;
}

/* Reads one of the text files of /proc/PID/net. */
struct net_file {
	const char *name;
	uint8_t l4proto;
	uint8_t v6;
	int (*line)(struct sock_table *t, const struct net_file *f, const char *line);
};

/* "0100007F:0277": address words printed in host order, then the port. */
static uint16_t parse_addr(const char **p, uint8_t addr[16], int v6)
{
	int i;

	while (**p == ' ')
		(*p)++;
	for (i = 0; i < (v6 ? 4 : 1); i++) {
		char word[9] = {0};
		const char *w = word;
		uint32_t v;

		strncpy(word, *p, 8);
		*p += strlen(word);
		v = proc_hex(&w);
		memcpy(addr + 4 * i, &v, sizeof(v));
	}
	if (**p == ':')
		(*p)++;
	return proc_hex(p);
}

static void skip_words(const char **p, int n)
{
	while (n--) {
		while (**p == ' ')
			(*p)++;
		while (**p && **p != ' ' && **p != '\n')
			(*p)++;
	}
}

static int is_zero(const uint8_t addr[16])
{
	static const uint8_t zero[16];

	return !memcmp(addr, zero, sizeof(zero));
}

/* sl local remote st tx:rx tr:when retrnsmt uid timeout inode ... */
static int inet_line(struct sock_table *t, const struct net_file *f, const char *line)
{
	struct sock s = {.info.l4proto = f->l4proto};
	struct scap_fd_info *i = &s.info;
	unsigned int state;
	int server;

	skip_words(&line, 1);
	i->sport = parse_addr(&line, i->sip, f->v6);
	i->dport = parse_addr(&line, i->dip, f->v6);
	state = proc_hex(&line);
	skip_words(&line, 5);
	i->ino = proc_dec(&line);
	server = f->l4proto == SCAP_L4_TCP ? state == 0x0a : is_zero(i->dip) && !i->dport;
	if (server)
		i->type = f->v6 ? SCAP_FD_IPV6_SERVSOCK : SCAP_FD_IPV4_SERVSOCK;
	else
		i->type = f->v6 ? SCAP_FD_IPV6_SOCK : SCAP_FD_IPV4_SOCK;
	return add(t, &s);
}

/* sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode */
static int netlink_line(struct sock_table *t, const struct net_file *f, const char *line)
{
	struct sock s = {.info = {.type = SCAP_FD_NETLINK, .l4proto = f->l4proto}};

	skip_words(&line, 9);
	s.info.ino = proc_dec(&line);
	return add(t, &s);
}

/* Num RefCount Protocol Flags Type St Inode Path */
static int unix_line(struct sock_table *t, const struct net_file *f, const char *line)
{
	struct sock s = {.info = {.type = SCAP_FD_UNIX_SOCK, .l4proto = f->l4proto}};

	skip_words(&line, 6);
	s.info.ino = s.info.unix_src = proc_dec(&line);
	if (*line == ' ' && line[1] && add_name(t, &s.name_pos, line + 1, strcspn(line + 1, "\n")))
		return -ENOMEM;
	return add(t, &s);
}

static const struct net_file net_files[] = {
	{"net/tcp", SCAP_L4_TCP, 0, inet_line},       {"net/tcp6", SCAP_L4_TCP, 1, inet_line},
	{"net/udp", SCAP_L4_UDP, 0, inet_line},       {"net/udp6", SCAP_L4_UDP, 1, inet_line},
	{"net/raw", SCAP_L4_RAW, 0, inet_line},       {"net/raw6", SCAP_L4_RAW, 1, inet_line},
	{"net/icmp", SCAP_L4_ICMP, 0, inet_line},     {"net/icmp6", SCAP_L4_ICMP, 1, inet_line},
	{"net/netlink", SCAP_L4_NA, 0, netlink_line},
};

static int read_net_file(struct sock_table *t, int pid_fd, const struct net_file *f)
{
	const char *line;
	int err = 0;

	if (proc_read_all(&t->buf, pid_fd, f->name, NET_FILE_MAX))
		return 0; /* no such protocol here, or the process is gone */
	line = strchr(t->buf.p, '\n'); /* the first line is a heading */
	for (; !err && line && line[1]; line = strchr(line + 1, '\n'))
		err = f->line(t, f, line + 1);
	return err;
}

/* A socket lives in the namespace of the thread that creates it: a short-lived thread enters it. */
struct diag_ask {
	int ns_fd, sock, err;
};

static int open_diag(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static void *open_diag_there(void *arg)
{
	struct diag_ask *a = arg;

	a->sock = setns(a->ns_fd, CLONE_NEWNET) ? -1 : open_diag();
	return NULL;
}

static int open_diag_in(int ns_fd, uint64_t ns_ino)
{
	struct diag_ask a = {.ns_fd = ns_fd, .sock = -1};
	struct stat st;
	pthread_t th;

	if (!stat("/proc/self/ns/net", &st) && st.st_ino == ns_ino)
		return open_diag();
	if (!pthread_create(&th, NULL, open_diag_there, &a))
		pthread_join(th, NULL);
	return a.sock;
}

static int ask_unix(int sock)
{
	struct {
		struct nlmsghdr nlh;
		struct unix_diag_req req;
	} msg = {
		.nlh = {.nlmsg_len = sizeof(msg),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.req = {.sdiag_family = AF_UNIX,
			.udiag_states = ~0u,
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER},
	};

	return send(sock, &msg, sizeof(msg), 0) == sizeof(msg) ? 0 : -errno;
}

/* An abstract name begins with a NUL, and may contain more: shown as '@', as the kernel does. */
static int add_unix_name(struct sock_table *t, uint32_t *pos, const char *p, size_t len)
{
	char name[UNIX_NAME_MAX];
	size_t i;

	if (len > sizeof(name))
		len = sizeof(name);
	memcpy(name, p, len);
	if (len && !name[0])
		for (i = 0; i < len; i++)
			name[i] = name[i] ? name[i] : '@';
	return len ? add_name(t, pos, name, strnlen(name, len)) : 0;
}

static int add_unix(struct sock_table *t, const struct nlmsghdr *nlh)
{
	const struct unix_diag_msg *m = NLMSG_DATA(nlh);
	struct sock s = {.info = {.type = SCAP_FD_UNIX_SOCK, .l4proto = SCAP_L4_NA}};
	const struct rtattr *a = (const struct rtattr *)(m + 1);
	int len = nlh->nlmsg_len - NLMSG_LENGTH(sizeof(*m));

	if (len < 0)
		return 0;
	s.info.ino = s.info.unix_src = m->udiag_ino;
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		uint32_t peer;

		if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(peer)) {
			memcpy(&peer, RTA_DATA(a), sizeof(peer));
			s.info.unix_dst = peer;
		} else if (a->rta_type == UNIX_DIAG_NAME &&
			   add_unix_name(t, &s.name_pos, RTA_DATA(a), RTA_PAYLOAD(a))) {
			return -ENOMEM;
		}
	}
	return add(t, &s);
}

/* Returns 0, -ENOMEM, or -ENOTSUP if the kernel does not answer. */
static int read_unix_diag(struct sock_table *t, int sock)
{
	uint64_t buf[4096];

	if (ask_unix(sock))
		return -ENOTSUP;
	for (;;) {
		ssize_t got = recv(sock, buf, sizeof(buf), 0);
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)buf;
		int len = got;

		if (got <= 0)
			return -ENOTSUP;
		for (; NLMSG_OK(nlh, (unsigned int)len); nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_DONE)
				return 0;
			if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY)
				return -ENOTSUP;
			if (add_unix(t, nlh))
				return -ENOMEM;
		}
	}
}

static int diag_unix(struct sock_table *t, int pid_fd, uint64_t ns_ino)
{
	int ns_fd = openat(pid_fd, "ns/net", O_RDONLY | O_CLOEXEC);
	int sock, err;

	if (ns_fd < 0)
		return -ENOTSUP;
	sock = open_diag_in(ns_fd, ns_ino);
	close(ns_fd);
	if (sock < 0)
		return -ENOTSUP;
	err = read_unix_diag(t, sock);
	close(sock);
	return err;
}

static int read_unix(struct sock_table *t, int pid_fd, uint64_t ns_ino)
{
	static const struct net_file text = {"net/unix", SCAP_L4_NA, 0, unix_line};
	int err = diag_unix(t, pid_fd, ns_ino);

	return err == -ENOTSUP ? read_net_file(t, pid_fd, &text) : err;
}

/* Returns 1 the first time. */
static int note_namespace(struct sock_table *t, uint64_t ino)
{
	uint64_t *p;
	size_t i;

	for (i = 0; i < t->n_ns; i++)
		if (t->ns[i] == ino)
			return 0;
	if (t->n_ns == MAX_NAMESPACES)
		return 0;
	p = realloc(t->ns, (t->n_ns + 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	t->ns = p;
	t->ns[t->n_ns++] = ino;
	return 1;
}

int sock_table_read(struct sock_table *t, int pid_fd)
{
	struct stat st = {0};
	size_t i;
	int err;

	if (fstatat(pid_fd, "ns/net", &st, 0))
		st.st_ino = 0; /* a tree without namespaces is a single one */
	err = note_namespace(t, st.st_ino);
	if (err <= 0)
		return err;
	err = read_unix(t, pid_fd, st.st_ino);
	for (i = 0; !err && i < sizeof(net_files) / sizeof(*net_files); i++)
		err = read_net_file(t, pid_fd, &net_files[i]);
	return err;
}

static const struct sock *find_socket(const struct sock_table *t, uint64_t ino)
{
	uint32_t at;

	if (!t->n || !ino)
		return NULL;
	at = t->slots[slot_of(t, ino)];
	return at ? &t->socks[at - 1] : NULL;
}

int sock_table_find(const struct sock_table *t, struct scap_fd_info *fd)
{
	const struct sock *s = find_socket(t, fd->ino);
	struct scap_fd_info out;

	if (!s)
		return 0;
	out = s->info;
	out.fd = fd->fd;
	out.open_flags = fd->open_flags;
	out.dev = fd->dev;
	out.name = s->name_pos ? t->names + s->name_pos : "";
	*fd = out;
	return 1;
}
