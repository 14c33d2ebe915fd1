/* SPDX-License-Identifier: Apache-2.0 */
/* The options of saker, one row each. */
#include "options.h"

#include "fields/format.h"
#include "option_shared.h"
#include "shared/config.h"

static const struct option_choice time_formats[] = {
	{"h", SINSP_TIME_ABSOLUTE}, {"a", SINSP_TIME_EPOCH}, {"r", SINSP_TIME_RELATIVE},
	{"d", SINSP_TIME_LATENCY},  {"D", SINSP_TIME_DELTA}, {NULL},
};

static const struct option_choice line_formats[] = {
	{"c", SINSP_LINE_CONTAINER},
	{"container", SINSP_LINE_CONTAINER},
	{"k", SINSP_LINE_POD},
	{"kubernetes", SINSP_LINE_POD},
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
	[GROUP_SOURCE] = "Source",
	[GROUP_SELECT] = "Selection (live; the kernel drops everything else)",
	[GROUP_STACKS] = "Stacks (live)",
	[GROUP_FILTER] = "Filters",
	[GROUP_FILE] = "Capture files",
	[GROUP_LINES] = "Output",
	[GROUP_CHISELS] = "Chisels",
	[GROUP_REPORT] = "Reports",
	[GROUP_LIVE] = "Live capture",
	[GROUP_ABOUT] = "About saker",
	[GROUP_PROFILE] = "saker profile",
	[GROUP_SELFTEST] = "saker selftest",
};

/* Letters and names are sysdig's where it has the option. Options of a group stand together. */
/* clang-format off */
const struct option_row option_rows[] = {
	{'r', "read", "FILE", GROUP_SOURCE,
	 "Read events from a capture file instead of the live system; - is standard input. With "
	 "several -r, the files are merged in order of time; with -w they are joined into one "
	 "file, in order of their first events.",
	 parse_list, AT(read)},
	{0, "one-thread", NULL, GROUP_SOURCE,
	 "With -r: do not read and unpack ahead on a second thread.",
	 set_value, AT(one_thread), 1},
	ROW_FROM(GROUP_SOURCE),
	ROW_TO(GROUP_SOURCE),
	{'n', "numevents", "NUM", GROUP_SOURCE, "Stop after NUM shown events.",
	 parse_count, AT(max_events)},
	{'M', "duration", "SECONDS", GROUP_SOURCE,
	 "Stop after SECONDS; with -r, after SECONDS of the capture.",
	 parse_seconds, AT(max_ns)},
	{'U', "suppress-comm", "COMM", GROUP_SOURCE,
	 "Exclude processes named COMM and their descendants. Can be repeated.",
	 parse_comm, AT(suppress)},
	{'s', "snaplen", "BYTES", GROUP_SOURCE,
	 "Capture at most BYTES of each I/O buffer (default 80). With -r: show at most BYTES of "
	 "it.",
	 parse_snaplen, AT(snaplen)},
	{0, "requests", NULL, GROUP_SOURCE,
	 "Also derive an event for each request that sockets carry (HTTP, Redis, ...). Fields "
	 "request.* and their chisels imply it. Live: captures at most 2048 bytes of each buffer on "
	 "sockets, unless -s or --snaplen-port is given.",
	 set_value, AT(requests), 1},
	{0, "tls", NULL, GROUP_SOURCE,
	 "Also capture the plaintext of TLS connections, passwords and keys included: events "
	 "tls_read and tls_write of programs that use OpenSSL, GnuTLS, or Go's crypto/tls. Live "
	 "only.",
	 set_value, AT(tls), 1},
	{0, "slices", NULL, GROUP_SOURCE,
	 "Also derive an event for each slice of a thread's time: it ran, waited for a CPU, or "
	 "waited for a file, a connection, a lock, ... Fields thread.slice.* and their chisels "
	 "imply it. Live: captures context switches and wake-ups (many).",
	 set_value, AT(slices), 1},
	{0, "tcp", NULL, GROUP_SOURCE,
	 "Also capture events of TCP: states, connects, retransmits, resets, round trip times, drops, "
	 "overflows of listen queues. Fields tcp.* and their chisels imply it.",
	 set_value, AT(tcp), 1},
	{0, "page-faults", NULL, GROUP_SOURCE,
	 "Also capture page faults (many). To capture only those: --syscalls page_fault.",
	 set_value, AT(page_faults), 1},
	{0, "switches", NULL, GROUP_SOURCE,
	 "Also capture context switches (many). To capture only those: --syscalls switch.",
	 set_value, AT(switches), 1},
	{0, "snaplen-port", "PORTS[:BYTES]", GROUP_SOURCE,
	 "Capture at most BYTES (default 16000) of each buffer that is sent or received on a "
	 "socket with one of PORTS at either end. PORTS is a port or a range: 443, 8000-8100. "
	 "Can be repeated. Live only.",
	 parse_snap_port, AT(snap_ports)},
	ROW_REDACT(GROUP_SOURCE),
	{0, "all", NULL, GROUP_SOURCE,
	 "With -- CMD: capture the whole machine while CMD runs, not only CMD and its "
	 "descendants.",
	 set_value, AT(all), 1},

	{0, "syscalls", "LIST", GROUP_SELECT,
	 "Only these syscalls, as in openat,read; other events by name, as in signaldeliver. A "
	 "name that begins with - or ! is excluded: -futex is everything except futex.",
	 parse_syscalls, AT(syscalls)},
	{0, "pid", "LIST", GROUP_SELECT,
	 "Only all threads of these processes: PIDs, separated by commas. The capture ends when "
	 "all of them have exited (with --tree: and their descendants).",
	 parse_pids, AT(pids)},
	{0, "tree", NULL, GROUP_SELECT,
	 "With --pid: also the descendants of these processes.", set_value, AT(tree), 1},
	{0, "comm", "LIST", GROUP_SELECT,
	 "Only threads with one of these names, and all threads of processes with one of these "
	 "names. The kernel compares the first 15 bytes.",
	 parse_comms, AT(comms)},
	{0, "uid", "LIST", GROUP_SELECT,
	 "Only threads whose effective user is one of these: UIDs or names.",
	 parse_uids, AT(uids)},
	{0, "cgroup", "PATH", GROUP_SELECT,
	 "Only threads in this cgroup or below it, as in /system.slice/cron.service. Can be "
	 "repeated. A thread must match every kind of option that is given here.",
	 parse_list, AT(cgroups)},
	{0, "failed-only", NULL, GROUP_SELECT,
	 "Only syscalls that fail.", set_value, AT(failed_only), 1},
	{0, "sampling", "N", GROUP_SELECT,
	 "Only the first 1/N of each second (N: a power of two, 2 to 128), for busy machines. "
	 "Syscalls that create, end or change processes and descriptors are always captured.",
	 parse_choice, AT(sampling), 0, samplings},

	{0, "sample", "HZ", GROUP_STACKS,
	 "Sample the stack that runs on each CPU, HZ times per second (1 to 4000). Each sample "
	 "is an event named sample with user and kernel frames.",
	 parse_hz, AT(sample.period_ns)},
	{0, "sample-on", "NAME", GROUP_STACKS,
	 "Also sample at NAME: syscall (the stack.* fields of each syscall then say which code "
	 "made it), off_cpu (a thread that left its CPU runs again), page_fault, or a kernel "
	 "tracepoint, as in sched_wakeup. Can be repeated.",
	 parse_list, AT(sample.on)},
	{0, "off-cpu-min", "SECONDS", GROUP_STACKS,
	 "With --sample-on off_cpu: ignore waits shorter than SECONDS.",
	 parse_seconds, AT(sample.off_min_ns)},
	ROW_STACK_DEPTH(GROUP_STACKS),
	ROW_UNWIND_TABLES(GROUP_STACKS),
	ROW_PROBABILITY(GROUP_STACKS),
	ROW_INTERVAL(GROUP_STACKS),

	{'d', "displayflt", NULL, GROUP_FILTER,
	 "Accepted for compatibility with sysdig, without effect: a filter never changes the "
	 "state that saker keeps of processes and files.",
	 ignore_value, 0},
	{0, "macro", "NAME=EXPR", GROUP_FILTER,
	 "Define NAME as an abbreviation of EXPR in filters. Can be repeated; a macro may use "
	 "other macros.",
	 parse_filter_name, AT(macros)},
	{0, "list", "NAME=A,B,...", GROUP_FILTER,
	 "Define NAME as a list of values in filters: proc.name in NAME, or in parentheses with "
	 "other values. Can be repeated.",
	 parse_filter_name, AT(lists)},
	{0, "no-pushdown", NULL, GROUP_FILTER,
	 "Capture all events, and filter them afterwards (live). By default the kernel drops "
	 "events that the filter cannot match. The events shown are the same.",
	 set_value, AT(no_pushdown), 1},
	{0, "explain-filter", NULL, GROUP_FILTER,
	 "Print the compiled filter: its checks in order of evaluation, and the event types that "
	 "can match.",
	 set_value, AT(mode), MODE_EXPLAIN_FILTER},

	ROW_WRITE(GROUP_FILE,
		  "Write the events to a capture file that saker, sysdig and Wireshark open; - is standard "
		  "output. No lines are printed then, unless --print is given."),
	ROW_WITH_SYMBOLS(GROUP_FILE),
	ROW_DEBUG_DIR(GROUP_FILE),
	ROW_INTERPRETER_FRAMES(GROUP_FILE),
	{0, "print", NULL, GROUP_FILE,
	 "With -w: also print lines.",
	 set_value, AT(print), 1},
	{'z', "compress", NULL, GROUP_FILE,
	 "With -w: compress with gzip, as sysdig does.",
	 parse_compress, AT(compress), SCAP_COMPRESS_GZIP},
	ROW_ZSTD(GROUP_FILE),
	{0, "checkpoints", "MB", GROUP_FILE,
	 "With -w: repeat the state of all processes every MB million bytes, so that -r FILE --from "
	 "TIME need not read all before; 0: never. Default: every 33, but less often if that takes "
	 "more than 1/64 of the file.",
	 parse_checkpoints, AT(checkpoint_every)},
	{'C', "file-size", "MB", GROUP_FILE,
	 "With -w: start a new file after MB million bytes. Files are named FILE0, FILE1, and so "
	 "on; for a time in FILE see -G. Each file begins with the state of all processes and "
	 "can be read alone.",
	 parse_megabytes, AT(piece_bytes)},
	{'G', "seconds", "SECONDS", GROUP_FILE,
	 "With -w: start a new file every SECONDS of the capture. If FILE contains a time, as in "
	 "trace_%H%M%S.scap (see strftime(3)), each file is named by its start, otherwise by "
	 "number.",
	 parse_seconds, AT(piece_ns)},
	{'e', "events", "NUM", GROUP_FILE,
	 "With -w: start a new file after NUM events.", parse_count, AT(piece_events)},
	{'W', "limit", "NUM", GROUP_FILE,
	 "With -C or -e: keep only the newest NUM files. With -G alone: stop after NUM files. With "
	 "--flight-recorder: write at most NUM files (default 100).",
	 parse_count, AT(n_pieces)},
	{0, "flight-recorder", "SECONDS", GROUP_FILE,
	 "With -w DIR: keep the events of the last SECONDS in memory. When --trigger matches an event, "
	 "or saker gets SIGUSR1, write them and those of the next SECONDS to a file in the folder "
	 "DIR, which can be read alone.",
	 parse_seconds, AT(flight.span_ns)},
	{0, "trigger", "FILTER", GROUP_FILE,
	 "With --flight-recorder: the events that trigger a file, as in 'request.latency > 500ms'. One "
	 "that comes while a file is written prolongs it.",
	 parse_text, AT(flight.trigger)},
	{0, "trigger-every", "SECONDS", GROUP_FILE,
	 "With --trigger: at least SECONDS between files with the same --trigger-key (default 60).",
	 parse_seconds, AT(flight.every_ns)},
	{0, "trigger-key", "FORMAT", GROUP_FILE,
	 "With --trigger: fields that --trigger-every compares (default %proc.name).",
	 parse_text, AT(flight.key)},
	{0, "flight-memory", "MB", GROUP_FILE,
	 "With --flight-recorder: keep at most MB million bytes of events (default 268), and so maybe "
	 "fewer seconds. The state of all processes comes on top.",
	 parse_megabytes, AT(flight.memory)},
	ROW_MAX_SIZE(GROUP_FILE),
	ROW_MIN_FREE(GROUP_FILE),
	{'F', "fatfile", NULL, GROUP_FILE,
	 "With -w and a filter: also write events that do not match but change the state of any "
	 "process, marked as state-only. Default: only the state that matching events need.",
	 set_value, AT(whole_state), 1},
	{0, "verify", NULL, GROUP_FILE,
	 "With -r: check that every block is complete, that timestamps never decrease, and (for files "
	 "written by saker) that checksums match and that the counters of each CPU match the events; "
	 "-v prints the counters.",
	 set_value, AT(mode), MODE_VERIFY},

	{'t', "timetype", "TYPE", GROUP_LINES,
	 "Time on each line: h time of day, a seconds since 1970, r seconds since the first "
	 "event, d duration of the syscall, D seconds since the previous line.",
	 parse_choice, AT(time_fmt), 0, time_formats},
	{'p', "format", "FORMAT", GROUP_LINES,
	 "Print each event in this format: text with fields, as in '%evt.num %proc.name'; -l "
	 "lists the fields. %20proc.name is 20 characters wide. An event that lacks one of the "
	 "fields prints no line, unless the format begins with *, which prints <NA>. -pc (or "
	 "-pcontainer) is the default format plus the container's name and ID and the TID inside "
	 "it, -pk (or -pkubernetes) the same with the name of its pod; -pp prints the default "
	 "format.",
	 parse_format, AT(line), 0, line_formats},
	{'j', "json", NULL, GROUP_LINES,
	 "Print a JSON object per event with the fields of the format, numbers as numbers. If the "
	 "format begins with *, fields that an event lacks are null.",
	 parse_lines_kind, AT(lines_kind), SINSP_FORMAT_JSON},
	{0, "tsv", NULL, GROUP_LINES,
	 "Print the fields of the format separated by tabs, after a header line. In values, a "
	 "tab is \\t, a newline \\n, a backslash \\\\.",
	 parse_lines_kind, AT(lines_kind), SINSP_FORMAT_TSV},
	{0, "color", "WHEN", GROUP_LINES,
	 "Colors: auto (on a terminal, unless NO_COLOR is set), always or never.",
	 parse_choice, AT(colour), 0, colours},
	{'R', "resolve-ports", NULL, GROUP_LINES,
	 "Print ports as names of services (/etc/services).",
	 set_value, AT(port_names), 1},
	{'A', "print-ascii", NULL, GROUP_LINES,
	 "Print only the text of buffers, with newlines.",
	 set_value, AT(buf_fmt), SINSP_BUF_ASCII},
	{'x', "print-hex", NULL, GROUP_LINES,
	 "Print buffers in hexadecimal.",
	 set_value, AT(buf_fmt), SINSP_BUF_HEX},
	{'X', "print-hex-ascii", NULL, GROUP_LINES,
	 "Print buffers in hexadecimal and ASCII.",
	 set_value, AT(buf_fmt), SINSP_BUF_HEXASCII},
	{'b', "print-base64", NULL, GROUP_LINES,
	 "Print buffers in base64.",
	 set_value, AT(buf_fmt), SINSP_BUF_BASE64},
	{0, "enter-events", NULL, GROUP_LINES,
	 "Print every enter event on a line of its own, as sysdig does. By default a syscall "
	 "that has returned is one line, and the enter event is printed only of a syscall that "
	 "waits.",
	 set_value, AT(enter_events), 1},
	{'o', "output", "FILE", GROUP_LINES,
	 "Write lines, or the output of chisels, to FILE; - is standard output; a name that ends "
	 "with .gz is compressed. Default: standard output; with -- CMD standard error, to keep "
	 "the output of CMD apart.",
	 set_text, AT(output)},
	{0, "unbuffered", NULL, GROUP_LINES,
	 "Flush each line at once. By default lines are flushed when no more events are pending.",
	 set_value, AT(unbuffered), 1},
	{'q', "quiet", NULL, GROUP_LINES, "Print no lines.", set_value, AT(quiet), 1},

	{'c', "chisel", "CHISEL", GROUP_CHISELS,
	 "Run the chisel (Lua program) CHISEL, which prints a table or a log instead of lines. "
	 "Its arguments follow, then a filter, then -- and a command: -c topfiles_bytes top=5 "
	 "proc.name=cp -- cp A B. Arguments are NAME=VALUE in any order (-i lists them), or all "
	 "values in one word: -c fileslower '10 disable_colors'. Quote a filter that contains "
	 "spaces: -c ps 'proc.name=nginx and fd.port=80'. Can be repeated. saker looks for "
	 "CHISEL in ~/.chisels, $SAKER_CHISEL_DIR, $SYSDIG_CHISEL_DIR, the chisels built into "
	 "saker, its installation folder and sysdig's; a name with a / is a path.",
	 parse_chisel, 0},
	{0, "list-chisels", NULL, GROUP_CHISELS,
	 "List the chisels; same as -cl.",
	 set_value, AT(mode), MODE_LIST_CHISELS},
	{'i', "chisel-info", "CHISEL", GROUP_CHISELS,
	 "Describe CHISEL and its arguments.",
	 parse_chisel_info, 0},
	{0, "chisel-limit", "MB[:MILLIONS]", GROUP_CHISELS,
	 "Limits per chisel: memory in million bytes (default 1073), and Lua instructions per "
	 "call in millions (default 1000). A chisel that exceeds one is stopped.",
	 parse_chisel_limit, AT(chisel_limit)},
	{0, "chisel-unsafe", NULL, GROUP_CHISELS,
	 "Allow chisels to run programs, write files and use the network. By default they "
	 "cannot, since they run with your privileges.",
	 set_value, AT(chisel_unsafe), 1},

	{'S', "summary", NULL, GROUP_REPORT,
	 "At the end, print a table of the events by type; with -j, one object per type.",
	 set_value, AT(summary), 1},
	{'v', "verbose", NULL, GROUP_REPORT,
	 "At the end, print what was captured, what was lost and why, and the cost of saker. "
	 "Lines show complete buffers.",
	 set_value, AT(verbose), 1},
	{'P', "progress", NULL, GROUP_REPORT,
	 "Show progress while reading files.",
	 set_value, AT(progress), 1},

	{0, "ring", "KIND", GROUP_LIVE,
	 "Kind of the rings between kernel and saker: array, ringbuf or perf (default: the "
	 "fastest that the kernel supports).",
	 parse_choice, AT(ring_kind), 0, ring_kinds},
	{0, "ring-size", "SIZE", GROUP_LIVE,
	 "Bytes per ring, a power of two with optional suffix K, M or G (default 8M). Larger "
	 "rings absorb longer bursts.",
	 parse_ring_size, AT(ring_sz)},
	{0, "cpus-per-ring", "N", GROUP_LIVE,
	 "Number of CPUs that share a ring (default 1; 0: one ring for all). Saves memory on "
	 "machines with many CPUs. Sharing implies --ring ringbuf and makes syscalls slower.",
	 parse_cpus_per_ring, AT(cpus_per_ring)},
	{'E', "exclude-users", NULL, GROUP_LIVE,
	 "Do not resolve users and groups: only UIDs and GIDs are shown and written.",
	 set_value, AT(no_users), 1},
	{0, "container-socket", "PATH", GROUP_LIVE,
	 "Query names and images of containers at the socket PATH (Docker's API); none disables "
	 "queries. Default: the usual sockets of Docker and Podman, also of users.",
	 set_text, AT(container_socket)},
	{0, "cri-socket", "PATH", GROUP_LIVE,
	 "Query labels of pods at the socket PATH of the container runtime (CRI v1, as "
	 "/run/containerd/containerd.sock), which only root should be able to use. Default: no queries.",
	 set_text, AT(cri_socket)},

	{'l', "list-fields", NULL, GROUP_ABOUT,
	 "List the fields of formats and filters; with -v also types, and rarely used fields.",
	 set_value, AT(mode), MODE_LIST_FIELDS},
	{'L', "list-events", NULL, GROUP_ABOUT, "List the events and their parameters.",
	 set_value, AT(mode), MODE_LIST_EVENTS},
	{0, "markdown", NULL, GROUP_ABOUT,
	 "With -l or -L: print as Markdown. With -cl: print the API of chisels as Markdown.",
	 set_value, AT(markdown), 1},
	{0, "capabilities", NULL, GROUP_ABOUT,
	 "Show which features of the kernel saker uses, which are missing and why, and the supported interpreters.",
	 set_value, AT(mode), MODE_CAPABILITIES},
	ROW_HELP(GROUP_ABOUT),
	{0, "version", NULL, GROUP_ABOUT, "Show the version.", set_value, AT(mode), MODE_VERSION},
	{0},
};
/* clang-format on */

const struct option_command option_commands[] = {
	{"profile", profile_rows, AT(profile.on), NULL},
	{"selftest", selftest_rows, AT(selftest.on), NULL},
	{"why", option_rows, 0, "why"},
	{"exporter", .program = "saker-exporter"},
	{"top", .program = "saker-top"},
	{"send", .program = "saker-send"},
	{0},
};

const char *option_group_title(enum option_group group)
{
	return group_titles[group];
}
