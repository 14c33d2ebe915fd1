#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A container runtime's CRI server, as far as saker queries it: fake_cri.py SOCKET SANDBOX [KEY=VALUE | MODE].... Prints a
line when it serves, and each request. Modes: huge: an answer of 3 MiB; refuse: none at all;
late: the first two answers have no pod."""

import itertools
import sys
from concurrent import futures

import grpc


def field(number, data):
    """A field of bytes in protobuf."""
    n, head = len(data), bytes([number << 3 | 2])
    while n > 0x7f:
        head += bytes([n & 0x7f | 0x80])
        n >>= 7
    return head + bytes([n]) + data


def main():
    path, sandbox, *rest = sys.argv[1:]
    n_requests = itertools.count()
    labels = [word.encode().split(b"=", 1) for word in rest if "=" in word]

    def list_sandboxes(request, context):
        print(request, flush=True)
        if "refuse" in rest:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "no")
        if "late" in rest and next(n_requests) < 2:
            return b""
        metadata = field(1, b"web-7") + field(2, b"uid-1") + field(3, b"shop")
        pod = field(1, sandbox.encode()) + field(2, metadata) + b"\x18\x00" + b"".join(
            field(5, field(1, key) + field(2, value)) for key, value in labels)
        return field(1, pod) + (field(6, bytes(3 << 20)) if "huge" in rest else b"")

    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
        "runtime.v1.RuntimeService", {"ListPodSandbox": grpc.unary_unary_rpc_method_handler(list_sandboxes)})])
    server.add_insecure_port("unix:" + path)
    server.start()
    print("serves", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
