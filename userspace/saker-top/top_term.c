/* SPDX-License-Identifier: Apache-2.0 */
#include "top_term.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "clock.h"
#include "fields/text.h"
#include "say.h"
#include "signals.h"

enum { ESCAPE_MS = 25, RESTORE_SZ = 256, EXEC_FAILED = 127 };

static const char mouse_off[] = "\033[?1006;1002;1000l";
static const char drag_on[] = "\033[?1002h", drag_off[] = "\033[?1002l\033[?1000h";

static SCREEN *screen;
static struct termios modes; /* as they were */
static char restore[RESTORE_SZ]; /* what ends the screen, for a handler of a crash */
static size_t restore_sz;
static int signal_pipe[2] = {-1, -1};
static int stderr_fd = -1, memory_fd = -1; /* the real one, and what collects text meanwhile */
static off_t seen_sz;
static int utf8, drags;
static int64_t stop_ns; /* only the handler's */

/* ---- standard error ---- */

/* Others print there, too: a library, a sanitizer. On the screen it would be garbage. */
static void hide_stderr(void)
{
	memory_fd = memfd_create("saker-top", MFD_CLOEXEC);
	if (memory_fd < 0)
		return;
	stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (stderr_fd >= 0)
		dup2(memory_fd, STDERR_FILENO);
	seen_sz = 0;
}

/* Also called by handlers: no stdio, no memory. */
static void show_stderr(void)
{
	char text[512];
	off_t at = 0;
	ssize_t n;

	if (stderr_fd < 0)
		return;
	dup2(stderr_fd, STDERR_FILENO);
	while ((n = pread(memory_fd, text, sizeof(text), at)) > 0) {
		if (write(STDERR_FILENO, text, (size_t)n) < 0)
			break;
		at += n;
	}
	close(stderr_fd);
	close(memory_fd);
	stderr_fd = memory_fd = -1;
}

int top_term_message(struct sinsp_text *out)
{
	char text[1024], *line;
	const off_t size = memory_fd < 0 ? 0 : lseek(memory_fd, 0, SEEK_END);
	const off_t from =
		size - seen_sz < (off_t)sizeof(text) ? seen_sz : size - (off_t)sizeof(text);
	ssize_t n;
	char *p;

	if (size <= seen_sz)
		return 0;
	seen_sz = size;
	n = pread(memory_fd, text, sizeof(text), from);
	if (n > 0 && text[n - 1] == '\n')
		n--;
	if (n <= 0)
		return 0;
	line = memrchr(text, '\n', (size_t)n);
	line = line ? line + 1 : text;
	p = text_begin(out, sizeof(text));
	return text_end(out, p ? put_mem(p, line, (size_t)(text + n - line)) : NULL) ?: 1;
}

/* ---- signals ---- */

static void end_at_once(int sig)
{
	if (write(STDOUT_FILENO, restore, restore_sz) > 0)
		tcsetattr(STDIN_FILENO, TCSANOW, &modes);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_signal(int sig)
{
	const int saved = errno;
	const char byte = (char)sig;
	const int ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
	const int64_t now = clock_now_ns();

	if (ends && stop_ns && now - stop_ns >= SIGNALS_ONE_REQUEST_NS)
		end_at_once(sig);
	if (ends && !stop_ns)
		stop_ns = now;
	if (write(signal_pipe[1], &byte, 1) < 0)
		errno = saved; /* full: it is awake anyway */
	errno = saved;
}

static void on_crash(int sig, siginfo_t *info, void *context);

/* clang-format off */
static const struct {
	int sig, crash; /* crash: handled by on_crash, else by on_signal */
} handled[] = {
	{SIGINT, 0}, {SIGTERM, 0}, {SIGHUP, 0}, {SIGQUIT, 0}, {SIGTSTP, 0}, {SIGWINCH, 0}, {SIGCONT, 0},
	{SIGSEGV, 1}, {SIGBUS, 1}, {SIGFPE, 1}, {SIGILL, 1}, {SIGABRT, 1},
};
/* clang-format on */
enum { N_HANDLED = sizeof(handled) / sizeof(handled[0]) };
static struct sigaction before[N_HANDLED];

/* Returns into the instruction that failed, with the handlers that were there before: those of a
 * sanitizer print more. */
static void on_crash(int sig, siginfo_t *info, void *context)
{
	const int was_sent = info->si_code <= 0;

	(void)context;
	if (write(STDOUT_FILENO, restore, restore_sz) > 0)
		tcsetattr(STDIN_FILENO, TCSANOW, &modes);
	show_stderr();
	for (int i = 0; i < N_HANDLED; i++)
		if (handled[i].crash)
			sigaction(handled[i].sig, &before[i], NULL);
	if (was_sent)
		raise(sig);
}

static void catch_signals(int first)
{
	for (int i = 0; i < N_HANDLED; i++) {
		struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

		if (handled[i].crash)
			act = (struct sigaction){.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
		sigaction(handled[i].sig, &act, first ? &before[i] : NULL);
		if (first && handled[i].sig == SIGHUP && before[i].sa_handler == SIG_IGN)
			sigaction(SIGHUP, &before[i], NULL);
	}
}

static void release_signals(void)
{
	for (int i = 0; i < N_HANDLED; i++)
		sigaction(handled[i].sig, &before[i], NULL);
}

static void resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

static void redraw(void)
{
	reset_prog_mode();
	resize();
	clearok(curscr, TRUE);
}

/* Stops as without a handler: the shell gets its terminal back. */
static void stop(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};

	top_term_drag(0);
	endwin();
	sigaction(SIGTSTP, &act, NULL);
	kill(getpid(), SIGTSTP);
	catch_signals(0);
	redraw();
}

int top_term_signals(void)
{
	char bytes[64];
	ssize_t n;
	int ends = 0;

	while ((n = read(signal_pipe[0], bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] == SIGTSTP)
				stop();
			else if (bytes[i] == SIGCONT)
				redraw();
			else if (bytes[i] == SIGWINCH)
				resize();
			else
				ends = bytes[i];
		}
	}
	return ends;
}

int top_term_signal_fd(void)
{
	return signal_pipe[0];
}

/* ---- drawing, keys ---- */

/* ncurses ignores SIGTSTP while it draws, as getch can, too: a blocked one comes afterwards. */
static void hold_stop(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(how, &set, NULL);
}

void top_term_refresh(void)
{
	hold_stop(SIG_BLOCK);
	refresh();
	hold_stop(SIG_UNBLOCK);
}

int top_term_key(void)
{
	int code;

	hold_stop(SIG_BLOCK);
	code = getch();
	hold_stop(SIG_UNBLOCK);
	return code;
}

void top_term_drag(int on)
{
	if (on == drags)
		return;
	drags = on;
	if (write(STDOUT_FILENO, on ? drag_on : drag_off,
		  on ? sizeof(drag_on) - 1 : sizeof(drag_off) - 1) < 0)
		drags = !on;
}

/* ---- open and close ---- */

static void add_restore(const char *name)
{
	const char *text = tigetstr(name);
	const size_t n = text && text != (const char *)-1 ? strlen(text) : 0;

	if (n && restore_sz + n <= sizeof(restore)) {
		memcpy(restore + restore_sz, text, n);
		restore_sz += n;
	}
}

static int open_screen(int no_colour)
{
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		say("cannot open the screen on a terminal of type '%s': set TERM, or use -b",
		    getenv("TERM") ?: "");
		return -ENOTTY;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED |
			  REPORT_MOUSE_POSITION,
		  NULL);
	mouseinterval(0); /* a press counts at once */
	curs_set(0);
	if (!no_colour && has_colors()) {
		start_color();
		use_default_colors();
	}
	restore_sz = sizeof(mouse_off) - 1;
	memcpy(restore, mouse_off, restore_sz);
	add_restore("sgr0");
	add_restore("rmkx");
	add_restore("cnorm");
	add_restore("rmcup");
	return 0;
}

int top_term_open(int no_colour)
{
	int err;

	setlocale(LC_CTYPE, "");
	utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (tcgetattr(STDIN_FILENO, &modes) || !isatty(STDOUT_FILENO)) {
		say("the screen needs a terminal: use -b for text or -j for JSON");
		return -ENOTTY;
	}
	if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK)) {
		err = -errno;
		say("cannot make a pipe: %s", strerror(-err));
		return err;
	}
	err = open_screen(no_colour);
	if (err)
		return err;
	catch_signals(1);
	hide_stderr();
	return 0;
}

/* ---- programs on the terminal ---- */

static void set_handler(int sig, void (*handler)(int))
{
	const struct sigaction act = {.sa_handler = handler};

	sigaction(sig, &act, NULL);
}

/* In the child: only what is safe after fork in a program with threads. */
static void become(char *const *words)
{
	sigset_t none;

	for (int i = 0; i < N_HANDLED; i++)
		set_handler(handled[i].sig, SIG_DFL);
	set_handler(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (stderr_fd >= 0)
		dup2(stderr_fd, STDERR_FILENO);
	execvp(words[0], words);
	_exit(EXEC_FAILED);
}

/* The program gets the signals of the terminal; saker stops with it, but does not end. */
static int run_program(char *const *words)
{
	const pid_t pid = fork();
	int status = 0;

	if (!pid)
		become(words);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == EXEC_FAILED ? -ENOENT : 0;
}

static void wait_for_enter(void)
{
	static const char text[] = "\nEnter returns to saker top ";
	char byte;

	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		return;
	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n' && byte != '\r')
		;
}

int top_term_run(char *const *words, int waits)
{
	int err;

	top_term_drag(0);
	endwin();
	set_handler(SIGINT, SIG_IGN);
	set_handler(SIGQUIT, SIG_IGN);
	set_handler(SIGTSTP, SIG_DFL);
	err = run_program(words);
	if (!err && waits)
		wait_for_enter();
	catch_signals(0);
	tcflush(STDIN_FILENO, TCIFLUSH);
	redraw();
	return err;
}

void top_term_close(void)
{
	if (screen) {
		top_term_drag(0);
		endwin();
		release_signals();
		tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
		delscreen(screen);
		screen = NULL;
		show_stderr();
	}
	for (int i = 0; i < 2; i++) {
		if (signal_pipe[i] >= 0)
			close(signal_pipe[i]);
		signal_pipe[i] = -1;
	}
}

int top_term_is_utf8(void)
{
	return utf8;
}
