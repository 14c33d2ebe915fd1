/* SPDX-License-Identifier: Apache-2.0 */
/* Users and passwords of basic authentication. */
#ifndef SAKER_EXPORTER_AUTH_H
#define SAKER_EXPORTER_AUTH_H

struct auth;

/* Reads the file. Returns 0 with *out owned by the caller, or a negative errno after reporting why
 * it cannot be used. */
int auth_read(struct auth **out, const char *path);
void auth_free(struct auth *a);

/* Returns whether the pair is in the file. Compares all pairs in full: the time shows nothing about
 * where one differs. NULL: none was given. */
int auth_accepts(const struct auth *a, const char *user, const char *password);

enum file_kind {
	FILE_PLAIN,
	FILE_SECRET, /* refused if others can read it */
	FILE_TRUSTED, /* by root, refused if another user can write to it */
};

/* Reads a small file whole, NUL-terminated. Returns as auth_read; *@what names it in messages. */
int read_whole_file(char **out, const char *path, const char *what, enum file_kind kind);

#endif /* SAKER_EXPORTER_AUTH_H */
