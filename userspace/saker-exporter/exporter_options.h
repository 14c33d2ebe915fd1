/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of saker exporter: rows, as those of saker. */
#ifndef SAKER_EXPORTER_OPTIONS_H
#define SAKER_EXPORTER_OPTIONS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "exporter_config.h"
#include "option_args.h"

enum exporter_mode {
	EXPORTER_SERVE,
	EXPORTER_PRINT,
	EXPORTER_LIST,
	EXPORTER_HELP,
	EXPORTER_VERSION
};

struct listen_address {
	const char *text; /* as it was given. Borrowed */
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
};

/* --otlp */
struct otlp_options {
	const char *url; /* NULL: nothing is sent */
	const char *ca; /* PEM file; NULL: those of the system */
	const char *queue; /* directory; NULL: memory only */
	const char *logs; /* filter; NULL: no logs */
	struct text_list headers; /* NAME: VALUE, or @FILE */
	uint64_t interval_ns, queue_sz; /* 0: default */
	uint64_t max_age_ns; /* 0: default */
	int gzip, no_metrics, no_traces;
};

struct config_option {
	const char *path; /* NULL: none */
	int only_check;
};

struct exporter_options {
	int mode; /* enum exporter_mode */
	struct config_option config;
	struct exporter_config values; /* owned: of the file of config */
	struct listen_address listen;
	const char *read; /* capture file; NULL: live. Borrowed, as all texts */
	const char *cert, *key; /* PEM files; NULL: no TLS */
	const char *auth; /* file of users and passwords; NULL: everybody */
	const char *container_socket, *cri_socket; /* as in saker */
	const char *host_root; /* NULL: / */
	char *host_sysfs; /* owned; below host_root */
	uint64_t max_series; /* 0: default */
	uint64_t idle_ns; /* 0: default */
	uint64_t ring_sz; /* 0: default */
	struct otlp_options otlp;
	int tls; /* capture plaintext of TLS */
	struct scap_redact *redact; /* owned; NULL: none */
	int no_accounting, processes, syscalls;
	const char *sysfs; /* NULL: /sys */
	const char *counters; /* of hardware; NULL: none */
	int openmetrics, markdown, verbose;
};

extern const struct option_row exporter_rows[];

/* Parses the command line and the file that it names, whose options it overrides.
 * Returns 0, or a negative errno after reporting the error. @o must be zero. */
int exporter_options_parse(struct exporter_options *o, int argc, char **argv);
void exporter_options_fini(struct exporter_options *o);
void exporter_help(FILE *f);

#endif /* SAKER_EXPORTER_OPTIONS_H */
