# SPDX-License-Identifier: Apache-2.0
"""How tests run programs in Erlang: without the shell script erl, which another root lacks."""

import glob
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

# Compiles the file that is the first argument, and calls its main function.
RUN = """
    [File | _] = Words = init:get_plain_arguments(),
    {ok, Module, Code} = compile:file(File, [binary, report]),
    code:load_binary(Module, File, Code),
    Module:main(Words),
    halt()."""


def program(root=""):
    """The program that starts Erlang, and the environment that it needs."""
    path = glob.glob(f"{root}/usr/lib/erlang/erts-*/bin/erlexec")[0].removeprefix(root)
    return path, {"ROOTDIR": "/usr/lib/erlang", "BINDIR": os.path.dirname(path), "EMU": "beam", "PROGNAME": "erl"}


def options(*more):
    return ["-noinput", *more, "-eval", RUN, "-extra"]


def functions_in_c(folder, root=""):
    """The option of stacks.erl with its functions in C."""
    nif = os.path.join(folder, "nif")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", nif + ".so", os.path.join(HERE, "interp/erlang_nif.c")],
                   check=True)
    return ["-nif", nif.removeprefix(root)]
