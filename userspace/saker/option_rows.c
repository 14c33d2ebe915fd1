/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "config.h"
#include "fields/format.h"
#include "option_shared.h"

static const struct option_choice time_formats[] = {
	{"h", SINSP_TIME_ABSOLUTE}, {"a", SINSP_TIME_EPOCH}, {"r", SINSP_TIME_RELATIVE},
	{"d", SINSP_TIME_LATENCY},  {"D", SINSP_TIME_DELTA}, {NULL},
};

static const struct option_choice line_formats[] = {
	{"c", SINSP_LINE_CONTAINER},
	{"container", SINSP_LINE_CONTAINER},
	{NULL},
};

static const struct option_choice colours[] = {
	{"auto", COLOUR_AUTO},
	{"always", COLOUR_ALWAYS},
	{"never", COLOUR_NEVER},
	{NULL},
};

static const struct option_choice ring_kinds[] = {
	{"array", RING_ARRAY + 1},
	{"ringbuf", RING_RINGBUF + 1},
	{"perf", RING_PERF + 1},
	{NULL},
};

static const struct option_choice samplings[] = {
	{"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}, {NULL},
};

static const char *const group_titles[GROUP_MAX] = {
	[GROUP_SOURCE] = "What is captured",
	[GROUP_SELECT] = "What of it is recorded (live; the kernel leaves out the rest)",
	[GROUP_STACKS] = "Stacks (live)",
	[GROUP_FILTER] = "Filters",
	[GROUP_FILE] = "Capture files",
	[GROUP_LINES] = "Lines",
	[GROUP_CHISELS] = "Chisels",
	[GROUP_REPORT] = "Reports",
	[GROUP_LIVE] = "Live capture",
	[GROUP_ABOUT] = "About saker",
	[GROUP_PROFILE] = "saker profile",
	[GROUP_SELFTEST] = "saker selftest",
};

/* Letters and names are sysdig's where it has the option. Groups stand together. */
/* clang-format off */
const struct option_row option_rows[] = {
	{'r', "read", "FILE", GROUP_SOURCE,
	 "Read events from a capture file instead of the live system; - is standard input. "
	 "Given more than once, the files are read together, in the order of time; with -w they become "
	 "one file, in the order in which they begin.",
	 take_list, AT(read)},
	{'n', "numevents", "NUM", GROUP_SOURCE, "Stop after NUM shown events.",
	 take_count, AT(max_events)},
	{'M', "duration", "SECONDS", GROUP_SOURCE,
	 "Stop after SECONDS; when reading a file, seconds of the capture.",
	 take_seconds, AT(max_ns)},
	{'U', "suppress-comm", "COMM", GROUP_SOURCE,
	 "Leave out processes named COMM and their descendants. Can be repeated.",
	 take_comm, AT(suppress)},
	{'s', "snaplen", "BYTES", GROUP_SOURCE,
	 "Keep and show the first BYTES of each buffer that is read or written; 80 without it. With "
	 "-r, show so many of what the file has.",
	 take_snaplen, AT(snaplen)},
	{0, "page-faults", NULL, GROUP_SOURCE,
	 "Also capture page faults, of which there are many; --syscalls page_fault is nothing else.",
	 take_value, AT(page_faults), 1},
	{0, "switches", NULL, GROUP_SOURCE,
	 "Also capture each switch of a CPU from one thread to another, of which there are many; "
	 "--syscalls switch is nothing else.",
	 take_value, AT(switches), 1},
	{0, "snaplen-port", "PORTS[:BYTES]", GROUP_SOURCE,
	 "Keep the first BYTES, 16000 without a number, of buffers that go through sockets with one "
	 "of PORTS at either end: 443, or 8000-8100. Can be repeated; live only.",
	 take_snap_port, AT(snap_ports)},
	{0, "all", NULL, GROUP_SOURCE,
	 "With -- CMD: the events of the whole machine while CMD runs, not only those of CMD and "
	 "its descendants.",
	 take_value, AT(all), 1},

	{0, "syscalls", "LIST", GROUP_SELECT,
	 "Only these system calls, as in openat,read; other events by their names, as in "
	 "signaldeliver. Names that begin with - or ! are left out: -futex is all but futex.",
	 take_syscalls, AT(syscalls)},
	{0, "pid", "LIST", GROUP_SELECT,
	 "Only these processes, all their threads: numbers, with commas between. The capture ends "
	 "when all of them have, with --tree when their descendants have too.",
	 take_pids, AT(pids)},
	{0, "tree", NULL, GROUP_SELECT,
	 "With --pid: the descendants of these processes too.", take_value, AT(tree), 1},
	{0, "comm", "LIST", GROUP_SELECT,
	 "Only threads of these names, and all threads of processes of these names. The first 15 "
	 "bytes of a name count: the kernel keeps no more.",
	 take_comms, AT(comms)},
	{0, "uid", "LIST", GROUP_SELECT,
	 "Only what runs as these users: numbers or names. The effective user counts.",
	 take_uids, AT(uids)},
	{0, "cgroup", "PATH", GROUP_SELECT,
	 "Only what runs in this cgroup or below it, as in /system.slice/cron.service. Can be "
	 "repeated. Where several of these options are given, all must hold.",
	 take_list, AT(cgroups)},
	{0, "failed-only", NULL, GROUP_SELECT,
	 "Only calls that fail.", take_value, AT(failed_only), 1},
	{0, "sampling", "N", GROUP_SELECT,
	 "Only the first 1/N of each second, N from 2 to 128 and a power of two, for busy machines. "
	 "Calls that make, end or change processes and descriptors are kept always.",
	 take_choice, AT(sampling), 0, samplings},

	{0, "sample", "HZ", GROUP_STACKS,
	 "Sample the stack of what each CPU runs, HZ times a second, from 1 to 4000: events named "
	 "sample, with the user's and the kernel's frames.",
	 take_hz, AT(sample.period_ns)},
	{0, "sample-on", "NAME", GROUP_STACKS,
	 "Also sample at this: off_cpu, where threads leave the CPU, when they are back; page_fault; or "
	 "a tracepoint of the kernel, as in sched_wakeup. Can be repeated.",
	 take_list, AT(sample.on)},
	{0, "off-cpu-min", "SECONDS", GROUP_STACKS,
	 "With --sample-on off_cpu: leave out threads that were back sooner.",
	 take_seconds, AT(sample.off_min_ns)},
	ROW_STACK_DEPTH(GROUP_STACKS),
	ROW_UNWIND_TABLES(GROUP_STACKS),
	ROW_PROBABILITY(GROUP_STACKS),
	ROW_INTERVAL(GROUP_STACKS),

	{'d', "displayflt", NULL, GROUP_FILTER,
	 "As sysdig has it, and always so here: events are filtered after what they tell of "
	 "processes and files was taken over.",
	 take_nothing, 0},
	{0, "macro", "NAME=EXPR", GROUP_FILTER,
	 "In the filter, NAME stands for EXPR in parentheses. Can be repeated; macros may name macros.",
	 take_filter_name, AT(macros)},
	{0, "list", "NAME=A,B,...", GROUP_FILTER,
	 "In the filter, NAME stands for these values: proc.name in NAME, or among others in "
	 "parentheses. Can be repeated.",
	 take_filter_name, AT(lists)},
	{0, "no-pushdown", NULL, GROUP_FILTER,
	 "Live: record everything, and filter afterwards. Without it the kernel leaves out what the "
	 "filter cannot mean; the events that are shown are the same.",
	 take_value, AT(no_pushdown), 1},
	{0, "explain-filter", NULL, GROUP_FILTER,
	 "Show what the filter became: its checks in the order that they are made, and the events "
	 "that can match.",
	 take_value, AT(mode), MODE_EXPLAIN_FILTER},

	ROW_WRITE(GROUP_FILE,
		  "Write the events to a capture file that saker, sysdig and Wireshark open; - is standard "
		  "output. No lines are printed then, unless --print is given."),
	ROW_WITH_SYMBOLS(GROUP_FILE),
	ROW_DEBUG_DIR(GROUP_FILE),
	{0, "print", NULL, GROUP_FILE, "Print lines also while writing a file.",
	 take_value, AT(print), 1},
	{'z', "compress", NULL, GROUP_FILE, "Compress what -w writes with gzip, as sysdig does.",
	 take_compress, AT(compress), SCAP_COMPRESS_GZIP},
	ROW_ZSTD(GROUP_FILE),
	{'C', "file-size", "MB", GROUP_FILE,
	 "With -w: begin another file after MB million bytes. Files are named FILE0, FILE1 and so "
	 "on, with a time in FILE (see -G) by that as well; each begins with what is known of "
	 "processes then, and opens alone.",
	 take_megabytes, AT(piece_bytes)},
	{'G', "seconds", "SECONDS", GROUP_FILE,
	 "With -w: begin another file every SECONDS of the capture. A FILE with a time in it, as in "
	 "trace_%H%M%S.scap (see strftime(3)), is named by when it begins, others by number.",
	 take_seconds, AT(piece_ns)},
	{'e', "events", "NUM", GROUP_FILE,
	 "With -w: begin another file after NUM events.", take_count, AT(piece_events)},
	{'W', "limit", "NUM", GROUP_FILE,
	 "With -C or -e: keep the last NUM files, writing over the oldest. With -G alone: end after "
	 "NUM files.",
	 take_count, AT(n_pieces)},
	ROW_MAX_SIZE(GROUP_FILE),
	ROW_MIN_FREE(GROUP_FILE),
	{'F', "fatfile", NULL, GROUP_FILE,
	 "With -w and a filter: write what the filter leaves out, too, where the state of any process "
	 "depends on it, marked as not to be shown. Default: only the state that the events need that "
	 "match.",
	 take_value, AT(whole_state), 1},
	{0, "verify", NULL, GROUP_FILE,
	 "With -r: check that every block of the files is whole, that time never runs back, and "
	 "that the counters of a file made by saker agree with what is in it, for each CPU; -v "
	 "prints these.",
	 take_value, AT(mode), MODE_VERIFY},

	{'t', "timetype", "TYPE", GROUP_LINES,
	 "Time of a line: h time of day, a seconds since 1970, r since the first event, d duration "
	 "of the call, D since the line before.",
	 take_choice, AT(time_fmt), 0, time_formats},
	{'p', "format", "FORMAT", GROUP_LINES,
	 "Form of a line: text with fields in it, as in '%evt.num %proc.name'; -l lists the fields. "
	 "%20proc.name is 20 characters wide. An event without one of the fields has no line, unless "
	 "the format begins with *, which shows <NA>. c (or container) is the usual line with the "
	 "container's name and id, and the number that the thread has inside it; p says what the usual "
	 "line's format is.",
	 take_format, AT(line), 0, line_formats},
	{'j', "json", NULL, GROUP_LINES,
	 "Lines of JSON: an object with the fields of the format, numbers as numbers; null with *.",
	 take_lines_kind, AT(lines_kind), SINSP_FORMAT_JSON},
	{0, "tsv", NULL, GROUP_LINES,
	 "The fields of the format with tabs between them, below a line with their names. A tab in a "
	 "value is \\t, the end of a line \\n, a backslash \\\\.",
	 take_lines_kind, AT(lines_kind), SINSP_FORMAT_TSV},
	{0, "color", "WHEN", GROUP_LINES,
	 "Colours: auto, on a terminal unless NO_COLOR is set; always; never.",
	 take_choice, AT(colour), 0, colours},
	{'R', "resolve-ports", NULL, GROUP_LINES,
	 "Ports by the names that /etc/services has for them.",
	 take_value, AT(port_names), 1},
	{'A', "print-ascii", NULL, GROUP_LINES, "Buffers: only their text, with its line ends.",
	 take_value, AT(buf_fmt), SINSP_BUF_ASCII},
	{'x', "print-hex", NULL, GROUP_LINES, "Buffers in hexadecimal.",
	 take_value, AT(buf_fmt), SINSP_BUF_HEX},
	{'X', "print-hex-ascii", NULL, GROUP_LINES, "Buffers in hexadecimal and text.",
	 take_value, AT(buf_fmt), SINSP_BUF_HEXASCII},
	{'b', "print-base64", NULL, GROUP_LINES, "Buffers in base64.",
	 take_value, AT(buf_fmt), SINSP_BUF_BASE64},
	{0, "enter-events", NULL, GROUP_LINES,
	 "Show the enter of every call as a line of its own, as sysdig does. Without it a finished "
	 "call is one line, and only a call that waits shows its enter.",
	 take_value, AT(enter_events), 1},
	{'o', "output", "FILE", GROUP_LINES,
	 "Print the lines to FILE, or what chisels print, compressed if its name ends with .gz; - is "
	 "standard output. Without it they go to standard output; with -- CMD to standard error, as strace's do, so that the "
	 "output of CMD stays clean.",
	 take_text, AT(output)},
	{0, "unbuffered", NULL, GROUP_LINES,
	 "Write out each line at once. Without it lines wait while events are pending, never when "
	 "the source is idle.",
	 take_value, AT(unbuffered), 1},
	{'q', "quiet", NULL, GROUP_LINES, "Print no lines.", take_value, AT(quiet), 1},

	{'c', "chisel", "CHISEL", GROUP_CHISELS,
	 "Run the Lua program CHISEL, which prints something other than lines: a table, a log. Behind "
	 "it come its arguments, then a filter, then -- and a command, as in -c topfiles_bytes top=5 "
	 "proc.name=cp -- cp A B. Arguments are NAME=VALUE, in any order (-i lists them), or one word "
	 "of values, in quotes if there are several: -c fileslower '10 disable_colors'. A filter is one "
	 "word in quotes or several: -c ps 'proc.name=nginx and fd.port=80'. Can be repeated. CHISEL "
	 "is looked for in ~/.chisels, $SAKER_CHISEL_DIR, $SYSDIG_CHISEL_DIR, among those that are "
	 "built in, in the folder where saker is installed, and in sysdig's; one with a / in it is a file.",
	 take_chisel, 0},
	{0, "list-chisels", NULL, GROUP_CHISELS, "List the chisels; also -cl.",
	 take_value, AT(mode), MODE_LIST_CHISELS},
	{'i', "chisel-info", "CHISEL", GROUP_CHISELS, "Show what CHISEL does, and its arguments.",
	 take_chisel_info, 0},
	{0, "chisel-limit", "MB[:MILLIONS]", GROUP_CHISELS,
	 "A chisel ends when it needs more than MB million bytes, 1073 without it, or MILLIONS of Lua's "
	 "instructions in one call, 1000 without it.",
	 take_chisel_limit, AT(chisel_limit)},
	{0, "chisel-unsafe", NULL, GROUP_CHISELS,
	 "Chisels may run programs, write files and send data over the network. Without it they can "
	 "not: they run with your rights, and are often written by others.",
	 take_value, AT(chisel_unsafe), 1},

	{'S', "summary", NULL, GROUP_REPORT, "At the end, a table of the shown events by type; with -j an object for each.",
	 take_value, AT(summary), 1},
	{'v', "verbose", NULL, GROUP_REPORT,
	 "At the end, what was captured, what was lost and why, and what saker itself cost. Also "
	 "shows buffers whole.",
	 take_value, AT(verbose), 1},
	{'P', "progress", NULL, GROUP_REPORT, "Show progress while reading files.",
	 take_value, AT(progress), 1},

	{0, "ring", "KIND", GROUP_LIVE,
	 "Rings between kernel and saker: array, ringbuf or perf. Without it, the fastest that the "
	 "kernel has.",
	 take_choice, AT(ring_kind), 0, ring_kinds},
	{0, "ring-size", "SIZE", GROUP_LIVE,
	 "Bytes of each ring, a power of two; K, M, G may follow. 8M without it. Larger rings "
	 "stand longer bursts.",
	 take_ring_size, AT(ring_sz)},
	{0, "cpus-per-ring", "N", GROUP_LIVE,
	 "CPUs that share a ring, 0 for one ring of all: less memory on machines with many. 1 without "
	 "it. Sharing needs rings of the kind ringbuf, and chooses them; it makes calls slower.",
	 take_cpus_per_ring, AT(cpus_per_ring)},
	{'E', "exclude-users", NULL, GROUP_LIVE,
	 "Do not read the names of users and groups: lines and files have their numbers only.",
	 take_value, AT(no_users), 1},
	{0, "container-socket", "PATH", GROUP_LIVE,
	 "Ask for names and images of containers at the socket PATH, which speaks docker's API; none "
	 "asks nobody. Without it docker and podman are asked where they listen, those of users "
	 "included.",
	 take_text, AT(container_socket)},

	{'l', "list-fields", NULL, GROUP_ABOUT,
	 "List the fields of formats and filters; with -v their types, and fields that are seldom "
	 "meant.",
	 take_value, AT(mode), MODE_LIST_FIELDS},
	{'L', "list-events", NULL, GROUP_ABOUT, "List the events and their parameters.",
	 take_value, AT(mode), MODE_LIST_EVENTS},
	{0, "markdown", NULL, GROUP_ABOUT, "With -l, -L or -cl: as a page of documentation, of -cl about what chisels can call.",
	 take_value, AT(markdown), 1},
	{0, "capabilities", NULL, GROUP_ABOUT,
	 "Show what this kernel offers, what saker uses of it, and what is missing and why.",
	 take_value, AT(mode), MODE_CAPABILITIES},
	ROW_HELP(GROUP_ABOUT),
	{0, "version", NULL, GROUP_ABOUT, "Show the version.", take_value, AT(mode), MODE_VERSION},
	{0},
};
/* clang-format on */

const char *option_group_title(enum option_group group)
{
	return group_titles[group];
}
