/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_url.h"

#include <string.h>

enum { URL_SZ = 2048 };

static const char *problem(const char *url, const char *not_in_it)
{
	const char *host = !strncmp(url, "http://", 7)    ? url + 7
			   : !strncmp(url, "https://", 8) ? url + 8
							  : NULL;

	if (!host || !*host || *host == '/')
		return "is not a URL of HTTP, as in http://127.0.0.1:4318";
	if (strlen(url) > URL_SZ - 32)
		return "is too long";
	if (strpbrk(url, not_in_it))
		return "has a query, a fragment or a space";
	if (memchr(host, '@', strcspn(host, "/")))
		return "has a password, which other users can see; use a header from a file";
	return NULL;
}

const char *otlp_url_problem(const char *url)
{
	return problem(url, "?# \t\r\n");
}

const char *otlp_target_problem(const char *url)
{
	return problem(url, "# \t\r\n");
}

const char *otlp_header_problem(const char *header)
{
	const size_t n = strcspn(header, ":");

	if (!n || !header[n] || strpbrk(header, "\r\n"))
		return "is not NAME: VALUE";
	for (size_t i = 0; i < n; i++)
		if (header[i] <= ' ' || header[i] > '~')
			return "has a name with a space or a special character";
	return NULL;
}
