#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles each header of the driver alone: headers_test.sh CLANG FLAGS... A header that uses what it
# does not include fails.
cd "$(dirname "$0")" || exit 1
failed=0
for header in kernel.h ./*.bpf.h shared/*.h; do
	echo "#include \"$header\"" |
		"$@" -O2 -mcpu=v3 -target bpf -std=gnu11 -fsyntax-only -Wno-initializer-overrides \
			-I. -x c - || { echo "headers_test: $header is not self-contained"; failed=1; }
done
exit $failed
