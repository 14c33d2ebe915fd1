/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that cmocka requires before its own. */
#ifndef SCAP_TESTING_TEST_MAIN_H
#define SCAP_TESTING_TEST_MAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* SCAP_TESTING_TEST_MAIN_H */
