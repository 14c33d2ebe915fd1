/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for the user: libscap itself never prints. */
#ifndef SCAP_LOG_H
#define SCAP_LOG_H

#define SCAP_LOG_TEXT_MAX 1024 /* of a sentence, with the NUL; what is longer is cut off */

enum scap_log_level { SCAP_LOG_ERROR, SCAP_LOG_WARN, SCAP_LOG_INFO };
/* Receives one sentence without a newline: what failed, on what, what to do. */
typedef void (*scap_log_fn)(void *ctx, enum scap_log_level level, const char *text);

struct scap_log {
	scap_log_fn fn;
	void *ctx;
};
/* Returns @err, so that callers can write: return scap_fail(log, -EINVAL, "..."). */
__attribute__((format(printf, 3, 4))) int scap_fail(const struct scap_log *log, int err,
						    const char *fmt, ...);
__attribute__((format(printf, 3, 4))) void
scap_say(const struct scap_log *log, enum scap_log_level level, const char *fmt, ...);

#endif /* SCAP_LOG_H */
