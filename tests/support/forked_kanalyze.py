"""kanalyze in a process of its own, forked from one that has loaded it: a fifth of a second less for each run.

What a run finds is what a new process finds: its arguments, directory, environment and standard streams. What concerns the
interpreter itself (its encoding, what is imported when) needs `kanalyze_process`. As a program this is the process that forks.
"""

from __future__ import annotations

import gc
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import IO

Finished = subprocess.CompletedProcess[bytes]
# Read by the interpreter when it starts, or by a library when it is loaded.
OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "ARROW_", "KANALYZE_UNCOMPILED")
_MODULES = ("duckdb", "pyarrow.parquet", "rich.console", "analyzer.run.local", "analyzer.report.terminal")
_MODULES += ("analyzer.messages.bodies", "analyzer.extract.copying", "analyzer.cli.bodies", "analyzer.compare.captures")
_MODULES += ("analyzer.ingest.pipeline", "analyzer.inputs.engine", "analyzer.cli.progress", "analyzer.cli.interrupts")
_MODULES += ("analyzer.cli.json_schemas", "analyzer.report.sections")
_REQUEST_BYTES = 1 << 18


class Forker:
    """Runs command lines, one at a time. The process begins with the first and ends with `close`."""

    def __init__(self, path: Sequence[str]) -> None:
        self._path = os.pathsep.join(path)
        self._door: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        stdin: bytes = b"",
        seconds: float = 120,
    ) -> Finished:
        """What `subprocess.run` answers, with `folder` as current directory. Raises `TimeoutError` after `seconds`."""
        door = self._opened()
        with ExitStack() as until:
            ends = [os.pipe() for _ in range(3)]
            mine = [os.fdopen(ends[0][1], "wb"), os.fdopen(ends[1][0], "rb"), os.fdopen(ends[2][0], "rb")]
            theirs = [ends[0][0], ends[1][1], ends[2][1]]
            for stream in mine:
                until.callback(stream.close)
            request = pickle.dumps(
                (list(arguments), str(folder), {name: str(value) for name, value in environment.items()})
            )
            if len(request) > _REQUEST_BYTES:
                raise ValueError("a command line or environment that is too long")
            socket.send_fds(door, [request], theirs)
            for descriptor in theirs:
                os.close(descriptor)
            told: dict[int, bytes] = {}
            threads = [Thread(target=_write, args=(mine[0], stdin))]
            threads += [Thread(target=_read, args=(mine[number], number, told)) for number in (1, 2)]
            for thread in threads:
                thread.start()
            door.settimeout(seconds)
            try:
                code = int(door.recv(16))
            except TimeoutError:  # its answer would be taken for that of the next
                self.close()
                raise
            for thread in threads:
                thread.join(seconds)
        return Finished(list(arguments), code, told[1], told[2])

    def close(self) -> None:
        if self._door and self._process:
            self._door.close()
            self._door = None
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            self._process.kill()
            self._process.wait()

    def _opened(self) -> socket.socket:
        if self._door is None:
            self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                command = [sys.executable, __file__, str(theirs.fileno())]
                environment = {**os.environ, "PYTHONPATH": self._path}
                self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
        return self._door


def _write(stream: IO[bytes], data: bytes) -> None:
    with suppress(OSError), stream:
        stream.write(data)


def _read(stream: IO[bytes], number: int, told: dict[int, bytes]) -> None:
    told[number] = stream.read()


def load() -> None:
    """Imports what runs need, so that a forked one need not; starts no thread."""
    from analyzer.cli import main as entry

    for name in _MODULES:
        import_module(name)
    for verb in entry.verbs():
        import_module(f"analyzer.cli.commands.{verb.replace('-', '_')}")


def serve(door: socket.socket) -> None:
    """Forks a process for each request until the other end is closed."""
    load()
    gc.collect()
    gc.freeze()
    while True:
        request, descriptors, _, _ = socket.recv_fds(door, _REQUEST_BYTES, 3)
        if not request:
            return
        child = os.fork()
        if child == 0:
            door.close()
            _run(*pickle.loads(request), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        door.send(str(os.waitstatus_to_exitcode(status)).encode())


def _run(arguments: list[str], folder: str, environment: dict[str, str], descriptors: list[int]) -> None:
    """The forked process; never returns."""
    from analyzer.cli.main import run

    gc.unfreeze()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    # The streams of the process that forks may be files, and then seek.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    time.tzset()
    sys.argv = ["-c", *arguments]
    try:
        run()
    except BaseException:
        traceback.print_exc()
    os._exit(99)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as opened:
        serve(opened)
