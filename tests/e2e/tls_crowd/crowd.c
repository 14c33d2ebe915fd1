/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * crowd N: N processes that write to a TLS connection in turns, until stdin ends. Prints "ready",
 * and at the end how many of them ended well, their writes, and those that had another result.
 *
 * OpenSSL's functions are declared here: its headers need not be installed.
 */
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;
typedef struct bio_st BIO;

const void *TLS_method(void);
const void *BIO_s_mem(void);
SSL_CTX *SSL_CTX_new(const void *method);
long SSL_CTX_ctrl(SSL_CTX *ctx, int cmd, long arg, void *more);
int SSL_CTX_set_cipher_list(SSL_CTX *ctx, const char *text);
SSL *SSL_new(SSL_CTX *ctx);
void SSL_set_bio(SSL *ssl, BIO *in, BIO *out);
void SSL_set_connect_state(SSL *ssl);
void SSL_set_accept_state(SSL *ssl);
int SSL_do_handshake(SSL *ssl);
int SSL_write(SSL *ssl, const void *data, int n);
BIO *BIO_new(const void *kind);
int BIO_up_ref(BIO *bio);
long BIO_ctrl(BIO *bio, int cmd, long arg, void *more);

enum { BIO_RESET = 1, SET_MAX_VERSION = 124, TLS_1_2 = 0x0303 };

#define N_TURNS 4 /* members that write at the same time */

struct shared {
	_Atomic long n_writes, n_wrong;
	_Atomic int stop;
	_Atomic unsigned int turns[]; /* by member: futexes */
};

static struct shared *shared;
static int n_members;

/* Returns the client's end of a connection within this process, which writes to *out. */
static SSL *connect_to_self(BIO **out)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	BIO *to_server = BIO_new(BIO_s_mem()), *to_client = BIO_new(BIO_s_mem());
	SSL *client, *server;

	SSL_CTX_ctrl(ctx, SET_MAX_VERSION, TLS_1_2, NULL);
	SSL_CTX_set_cipher_list(ctx, "AECDH-AES128-SHA:@SECLEVEL=0"); /* needs no certificate */
	client = SSL_new(ctx);
	server = SSL_new(ctx);
	BIO_up_ref(to_server);
	BIO_up_ref(to_client);
	SSL_set_bio(client, to_client, to_server);
	SSL_set_bio(server, to_server, to_client);
	SSL_set_connect_state(client);
	SSL_set_accept_state(server);
	for (int i = 0; i < 4; i++) {
		SSL_do_handshake(client);
		SSL_do_handshake(server);
	}
	if (SSL_do_handshake(client) != 1) {
		fprintf(stderr, "crowd: no TLS connection\n");
		exit(1);
	}
	*out = to_server;
	return client;
}

static void give_turn(int to)
{
	shared->turns[to]++;
	syscall(SYS_futex, &shared->turns[to], FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void take_turn(int me)
{
	while (!shared->turns[me])
		syscall(SYS_futex, &shared->turns[me], FUTEX_WAIT, 0, NULL, NULL, 0);
	shared->turns[me]--;
}

/* Writes once in each of its turns, then the next one has it. */
static void member(int me, SSL *ssl, BIO *out)
{
	static const char text[] = "a message of one of the crowd";

	for (take_turn(me); !shared->stop; take_turn(me)) {
		if (SSL_write(ssl, text, sizeof(text) - 1) != sizeof(text) - 1)
			shared->n_wrong++;
		BIO_ctrl(out, BIO_RESET, 0, NULL);
		shared->n_writes++;
		give_turn((me + 1) % n_members);
	}
	_exit(0);
}

static void start_members(void)
{
	BIO *out;
	SSL *ssl = connect_to_self(&out);

	for (int i = 0; i < n_members; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("crowd: fork");
			exit(1);
		}
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			member(i, ssl, out);
		}
	}
}

int main(int argc, char **argv)
{
	int status, n_well = 0;

	n_members = argc > 1 ? atoi(argv[1]) : 10;
	shared = mmap(NULL, sizeof(*shared) + n_members * sizeof(shared->turns[0]),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	start_members();
	for (int i = 0; i < N_TURNS; i++)
		give_turn(i * n_members / N_TURNS);
	printf("ready\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	shared->stop = 1;
	for (int i = 0; i < n_members; i++)
		give_turn(i);
	while (wait(&status) > 0)
		n_well += status == 0;
	printf("%d %ld %ld\n", n_well, shared->n_writes, shared->n_wrong);
	return 0;
}
