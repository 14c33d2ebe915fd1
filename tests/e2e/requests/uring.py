# SPDX-License-Identifier: Apache-2.0
"""read and write by requests of io_uring, without a library: each call uses the next operation that can."""

import ctypes
import itertools
import mmap
import os
import struct

SETUP, ENTER = 425, 426
SQ_RING, CQ_RING, SQES = 0, 0x8000000, 0x10000000
GETEVENTS = 1
SQE = struct.Struct("=BBHiQQIIQ24x") # opcode, flags, ioprio, fd, offset, address, length, flags of op, user data
CQE = struct.Struct("=QiI")
READV, WRITEV, SENDMSG, RECVMSG, READ, WRITE, SEND, RECV = 1, 2, 9, 10, 22, 23, 26, 27
VECTORS, MESSAGES = (READV, WRITEV), (SENDMSG, RECVMSG)

libc = ctypes.CDLL(None, use_errno=True)


def call(*args):
    res = libc.syscall(*map(ctypes.c_long, args))
    if res < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return res


def works():
    """Some machines turn it off."""
    try:
        os.close(Ring().fd)
    except OSError:
        return False
    return True


class Ring:
    def __init__(self):
        params = ctypes.create_string_buffer(120)
        self.fd = call(SETUP, 4, ctypes.addressof(params))
        offsets = struct.unpack_from("=10I", params.raw, 40), struct.unpack_from("=10I", params.raw, 80)
        (_, self.tail, self.sq_mask, *_, self.array, _, _, _), (self.head, self.cq_tail, self.cq_mask, _, _, self.cqes,
                                                               *_) = offsets
        self.sq, self.cq, self.sqes = (mmap.mmap(self.fd, n, offset=at) for n, at in (
            (self.array + 4 * 4, SQ_RING), (self.cqes + 8 * CQE.size, CQ_RING), (4 * 64, SQES)))
        self.reads, self.writes = itertools.cycle((READ, RECV, READV, RECVMSG)), itertools.cycle(
            (WRITE, SEND, WRITEV, SENDMSG))

    def do(self, op, fd, buffers):
        """Moves bytes between the buffers and the socket. Returns the result of the request."""
        vector = (ctypes.c_uint64 * (2 * len(buffers)))()
        for i, b in enumerate(buffers):
            vector[2 * i], vector[2 * i + 1] = ctypes.addressof(b), len(b)
        message = (ctypes.c_uint64 * 7)(0, 0, ctypes.addressof(vector), len(buffers))
        at, n = ctypes.addressof(buffers[0]), len(buffers[0])
        if op in VECTORS:
            at, n = ctypes.addressof(vector), len(buffers)
        elif op in MESSAGES:
            at, n = ctypes.addressof(message), 1
        tail, = struct.unpack_from("=I", self.sq, self.tail)
        mask, = struct.unpack_from("=I", self.sq, self.sq_mask)
        SQE.pack_into(self.sqes, 64 * (tail & mask), op, 0, 0, fd, 0, at, n, 0, tail)
        struct.pack_into("=I", self.sq, self.array + 4 * (tail & mask), tail & mask)
        struct.pack_into("=I", self.sq, self.tail, tail + 1)
        call(ENTER, self.fd, 1, 1, GETEVENTS, 0, 0)
        head, = struct.unpack_from("=I", self.cq, self.head)
        mask, = struct.unpack_from("=I", self.cq, self.cq_mask)
        _, res, _ = CQE.unpack_from(self.cq, self.cqes + CQE.size * (head & mask))
        struct.pack_into("=I", self.cq, self.head, head + 1)
        if res < 0:
            raise OSError(-res, os.strerror(-res))
        return res

    def read(self, fd, n):
        op = next(self.reads)
        parts = (3, n - 3) if op in VECTORS + MESSAGES and n > 3 else (n,)
        buffers = [ctypes.create_string_buffer(part) for part in parts]
        n = self.do(op, fd, buffers)
        return b"".join(b.raw for b in buffers)[:n]

    def write(self, fd, data):
        op = next(self.writes)
        cut = 5 if op in VECTORS + MESSAGES and len(data) > 5 else len(data)
        return self.do(op, fd, [(ctypes.c_char * len(part)).from_buffer_copy(part)
                                for part in (data[:cut], data[cut:]) if part])
