/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits in known ways, and reports each wait by its own clocks, one line each:
 *
 *	NAME TID BEGIN END PEER WAKE_FROM WAKE_TO CPU_NS DELAY_NS
 *
 * Times are nanoseconds since the epoch. The peer woke the thread between WAKE_FROM and WAKE_TO; 0:
 * there is none. CPU_NS and DELAY_NS are what the kernel counted meanwhile as CPU time and as time
 * in the run queue (schedstat).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

struct span {
	uint64_t begin, end;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fds[2], sockets[2], events[2], epoll_fd;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

static int tid_of(void)
{
	return (int)syscall(SYS_gettid);
}

static void pause_ms(unsigned int ms)
{
	const struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000 * MS)};

	nanosleep(&ts, NULL);
}

/* Reads what the kernel counted for the calling thread. */
static void read_schedstat(uint64_t *cpu, uint64_t *delay)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid_of());
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lu %lu", cpu, delay) != 2)
		exit(3);
	fclose(f);
}

/* What another thread does while the main thread waits. */
struct peer {
	unsigned int after_ms;
	void (*wake)(void);
	pthread_barrier_t ready;
	int holds_mutex;
	int tid;
	struct span wake_at;
};

static void *run_peer(void *arg)
{
	struct peer *p = arg;

	p->tid = tid_of();
	if (p->holds_mutex)
		pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&p->ready);
	pause_ms(p->after_ms);
	p->wake_at.begin = now_ns();
	p->wake();
	p->wake_at.end = now_ns();
	return NULL;
}

static void write_pipe(void)
{
	if (write(pipe_fds[1], "x", 1) != 1)
		exit(4);
}

static void write_socket(void)
{
	if (send(sockets[1], "x", 1, 0) != 1)
		exit(4);
}

static void write_event(void)
{
	if (write(events[1], "x", 1) != 1)
		exit(4);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static void read_pipe(void)
{
	char c;

	if (read(pipe_fds[0], &c, 1) != 1)
		exit(5);
}

static void read_socket(void)
{
	char c;

	if (recv(sockets[0], &c, 1, 0) != 1)
		exit(5);
}

static void wait_epoll(void)
{
	struct epoll_event e;

	if (epoll_wait(epoll_fd, &e, 1, -1) != 1)
		exit(5);
}

static void lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void sleep_300(void)
{
	pause_ms(300);
}

/* Uses 200 ms of CPU time. */
static void spin(void)
{
	struct timespec ts;
	uint64_t until = 0, used;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		used = (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
		if (!until)
			until = used + 200 * MS;
	} while (used < until);
}

/* Reports a wait. @wake: by another thread @after_ms later; NULL: there is none. */
static void report(const char *name, void (*act)(void), void (*wake)(void), unsigned int after_ms)
{
	struct peer peer = {.after_ms = after_ms, .wake = wake, .holds_mutex = wake == unlock};
	uint64_t cpu, delay, cpu_end, delay_end;
	struct span s;
	pthread_t t;

	pthread_barrier_init(&peer.ready, NULL, 2);
	if (wake) {
		if (pthread_create(&t, NULL, run_peer, &peer))
			exit(6);
		pthread_barrier_wait(&peer.ready);
	}
	read_schedstat(&cpu, &delay);
	s.begin = now_ns();
	act();
	s.end = now_ns();
	read_schedstat(&cpu_end, &delay_end);
	if (wake)
		pthread_join(t, NULL);
	printf("%s %d %lu %lu %d %lu %lu %lu %lu\n", name, tid_of(), s.begin, s.end, peer.tid,
	       peer.wake_at.begin, peer.wake_at.end, cpu_end - cpu, delay_end - delay);
	fflush(stdout);
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(7);
}

static int first_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		exit(7);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

/* Two processes need the same CPU. */
static void compete(void)
{
	const int cpu = first_cpu();
	pid_t hog;

	pin_to(cpu);
	hog = fork();
	if (!hog) {
		for (;;) /* without calls: events that do not fit leave gaps in the slices */
			;
	}
	report("contended", spin, NULL, 0);
	kill(hog, 9);
	waitpid(hog, NULL, 0);
}

static void wait_for_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause_ms(60);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	struct epoll_event e = {.events = EPOLLIN};

	if (pipe(pipe_fds) || pipe(events) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 2;
	epoll_fd = epoll_create1(0);
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, events[0], &e) ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, sockets[0], &e)) /* of one only it waits for that */
		return 2;
	report("running", spin, NULL, 0);
	report("sleep", sleep_300, NULL, 0);
	report("pipe", read_pipe, write_pipe, 100);
	report("lock", lock, unlock, 150);
	report("poll", wait_epoll, write_event, 120);
	report("network", read_socket, write_socket, 80);
	report("child", wait_for_child, NULL, 0);
	compete();
	return 0;
}
