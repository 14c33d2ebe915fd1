#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a pod on a CRI server, in the network of the machine: run_sandbox.py SOCKET FOLDER UID NAME NAMESPACE KEY=VALUE....
Prints the ID of its sandbox, which is removed when standard input ends."""

import sys

import grpc

from fake_cri import field

NODE = 2  # NamespaceMode


def main():
    path, folder, uid, name, space, *labels = [word.encode() for word in sys.argv[1:]]
    metadata = field(1, name) + field(2, uid) + field(3, space)
    config = field(1, metadata) + field(3, folder)
    for label in [*labels, b"io.kubernetes.pod.uid=" + uid]:
        key, value = label.split(b"=", 1)
        config += field(6, field(1, key) + field(2, value))
    security = field(1, bytes([1 << 3, NODE]))
    config += field(8, field(1, b"/kubepods/pod" + uid) + field(2, security))
    with grpc.insecure_channel("unix:" + path.decode()) as channel:
        def call(method, message):
            return channel.unary_unary("/runtime.v1.RuntimeService/" + method)(message, timeout=60)
        sandbox = call("RunPodSandbox", field(1, config))  # the answer has the field of the requests below
        print(sandbox[2:].decode(), flush=True)
        sys.stdin.read()
        call("StopPodSandbox", sandbox)
        call("RemovePodSandbox", sandbox)


if __name__ == "__main__":
    main()
