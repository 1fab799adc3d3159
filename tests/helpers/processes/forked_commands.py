"""
Our commands, and Python, as processes that need not import the compiler: `folder_of_commands()`.

    subprocess.run(["bash", "-c", "xrelay-opt m.mlir -o m.xrx"], env=with_commands(os.environ))

Half a second of each process of ours is its imports. A program in the folder passes its arguments,
environment, folder and streams on to a server, which has imported everything, and forks a process
that does what the command does. What such a process imports, and how it starts and ends on
signals, is not tested by that: `tests/tools/test_commands.py` starts real ones.

Run as a script, this file is the server: of the socket in its argument, until its stdin ends.
"""

import ast
import atexit
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

COMMANDS = {f"xrelay-{name}": name for name in ("opt", "run", "plan", "objdump")}
PYTHONS = ("python", "python3")

SECONDS = 600
"""The time that a command may take."""

IMPORTED = (
    *("numpy", "onnx", "xrelay", "xrelay.tools.start", "xrelay.tools.opt.opt", "xrelay.tools.plan"),
    *("xrelay.tools.run.run", "xrelay.tools.objdump", "xrelay.tools.api.front_door"),
    *("xrelay.frontends.onnx.convert.importer", "xrelay.frontends.relay_text"),
)

PROGRAM = """#!{python} -IS
import _socket, os, sys
name = os.path.basename(sys.argv[0])
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({path!r})
sent = repr(([name, *sys.argv[1:]], os.getcwd(), dict(os.environ))).encode()
streams = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, 1, 2))
head = len(sent).to_bytes(8, "little")
server.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
server.sendall(sent)
answer = server.recv(4)
os._exit(answer[0] if answer else 139)
"""
"""Of each command; -S and -I leave out what it does not need."""


@cache
def folder_of_commands() -> str:
    """Return a folder with the commands; the server ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="xrelay-commands-"))
    path = folder / "socket"
    program = PROGRAM.format(python=sys.executable, path=str(path))
    for name in (*COMMANDS, *PYTHONS):
        (folder / name).write_text(program)
        (folder / name).chmod(0o755)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads do not survive a fork
    server = subprocess.Popen(
        [sys.executable, __file__, str(path)],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"

    def end() -> None:
        import shutil

        for stream in (server.stdin, server.stdout):
            assert stream is not None
            stream.close()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return str(folder)


def with_commands(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` in which the commands, and the other scripts, are found."""
    others = sysconfig.get_path("scripts"), environment["PATH"]
    return {**environment, "PATH": os.pathsep.join((folder_of_commands(), *others))}


# ------------------------------------------------------------------------- the server


def _received(connection: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]]:
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    (size,) = struct.unpack("<q", head)
    data = b""
    while len(data) < size:
        data += connection.recv(size - len(data))
    arguments, folder, environment = ast.literal_eval(data.decode())
    return arguments, folder, environment, streams


def _run(arguments: list[str]) -> None:
    """Do what the process of a command does."""
    name, *rest = arguments
    sys.argv[:] = arguments
    if name in COMMANDS:
        sys.exit(getattr(import_module("xrelay.tools.start"), COMMANDS[name])())
    sys.argv[:] = rest
    if rest[:1] == ["-c"]:
        sys.argv[:] = ["-c", *rest[2:]]
        sys.path.insert(0, "")
        exec(compile(rest[1], "<string>", "exec"), {"__name__": "__main__"})
    elif rest and not rest[0].startswith("-"):
        sys.path.insert(0, str(Path(rest[0]).resolve().parent))
        runpy.run_path(rest[0], run_name="__main__")
    else:
        sys.exit(subprocess.run([sys.executable, *rest], check=False).returncode)


def _child(connection: socket.socket) -> NoReturn:
    """Run the command that is received; send its exit status."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.alarm(SECONDS)  # a test that has waited long enough ends the program of the folder
        arguments, folder, environment, streams = _received(connection)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:0] = [part for part in environment.get("PYTHONPATH", "").split(":") if part]
        try:
            _run(arguments)
            status = 0
        except SystemExit as done:
            if isinstance(done.code, str):
                print(done.code, file=sys.stderr)
            status = done.code if isinstance(done.code, int) else int(done.code is not None)
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        getattr(atexit, "_run_exitfuncs")()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    finally:
        connection.sendall(bytes([status & 255]))
        os._exit(status & 255)


def _serve(path: str) -> None:
    import gc

    for module in IMPORTED:
        import_module(module)
    del sys.path[0]  # the folder of this file
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    server.listen(64)
    gc.collect()
    gc.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        readable, _, _ = select.select([server, sys.stdin], [], [], 1)
        while True:  # those that have ended
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
        if sys.stdin in readable:
            return
        if server in readable:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _child(connection)
            connection.close()


if __name__ == "__main__":
    _serve(sys.argv[1])
