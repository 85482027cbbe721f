"""Runs a program once and measures it: wall time, CPU and memory of all its processes.

This process adopts those that outlive their parents (PR_SET_CHILD_SUBREAPER), and waits for them: so the CPU of Spark's Java
counts, which time(1) misses. CPU and the largest process come from the kernel when a process is waited for. Nobody waits for a
process whose parent ignores its end (SIGCHLD), as Spark's workers' does: of it counts what was seen last. All processes are looked
at some ten times a second, also for their memory together (the sum of their PSS: a page that several share counts once).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

EVERY_S = 0.1
# To look at Java's threads and pages takes long: at most a fiftieth of the time goes into it.
REST = 50
# Of <sys/prctl.h>. Elsewhere than on Linux only processes that their parents waited for count.
PR_SET_CHILD_SUBREAPER = 36


class Measured(NamedTuple):
    """Seconds of wall time and of CPU (user and system) of all processes; bytes of the largest process at its peak, and of all
    together at theirs.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    sum_bytes: int


class MeasureError(SystemExit):
    """A program that failed ends the bench, with its own words."""


def measure(command: Sequence[str], environment: dict[str, str] | None = None) -> Measured:
    """Runs a program to the end of its last process, its output thrown away. Raises MeasureError when it fails."""
    _adopt()
    began = perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, stdin=subprocess.DEVNULL
    )
    watched = _Watched()
    with watched, process.stderr as pipe:  # type: ignore[union-attr]
        words = pipe.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        usages = {process.pid: usage} | dict(_orphans())
    if process.returncode:
        raise MeasureError(f"bench: {' '.join(command)} ended with {process.returncode}\n{words}")
    lost = [seen for number, seen in watched.ignored.items() if number not in usages]
    cpu_seconds = sum(each.ru_utime + each.ru_stime for each in usages.values()) + sum(
        seen.cpu_seconds for seen in lost
    )
    peak_bytes = max(*(each.ru_maxrss * 1024 for each in usages.values()), *(seen.peak_bytes for seen in lost), 0)
    return Measured(seconds, cpu_seconds, peak_bytes, max(watched.sum_bytes, peak_bytes))


def middle(runs: Sequence[Measured]) -> Measured:
    """The medians of times, the greatest of memories."""
    return Measured(
        median(run.seconds for run in runs),
        median(run.cpu_seconds for run in runs),
        max(run.peak_bytes for run in runs),
        max(run.sum_bytes for run in runs),
    )


def _adopt() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _orphans() -> Iterator[tuple[int, os._RUsage]]:  # type: ignore[name-defined]
    """Waits for all processes that outlive the program: their numbers, and what they used."""
    with suppress(ChildProcessError):
        while True:
            number, _, usage = os.wait4(-1, 0)
            yield number, usage


class _Seen(NamedTuple):
    """A process and the children that it waited for, when they were last looked at."""

    cpu_seconds: float
    peak_bytes: int


class _Watched:
    """Looks at all processes below this one, as long as the block lasts. `ignored`: by their number those whose end their parents
    ignore."""

    def __init__(self) -> None:
        self.sum_bytes = 0
        self.ignored: dict[int, _Seen] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        took = 0.0
        while not self._ended.wait(max(EVERY_S, REST * took)):
            began = perf_counter()
            # A child that has not begun its program yet may have its parent's memory, all of it (vfork): it counts once.
            found = dict(_below(os.getpid()))
            held = {_memory(process) for process in found}
            self.sum_bytes = max(self.sum_bytes, sum(size for _, size in held))
            ignoring = {parent: _ignores_ends(parent) for parent in set(found.values())}
            for process, parent in found.items():
                with suppress(OSError):
                    if ignoring[parent]:
                        self.ignored[process] = _seen(process)
            took = perf_counter() - began


def _below(process: int) -> Iterator[tuple[int, int]]:
    """All processes that this one, or one of those, began or adopted, each with its parent."""
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                for child in (thread / "children").read_text().split():
                    yield int(child), process
                    yield from _below(int(child))


def _ignores_ends(process: int) -> bool:
    with suppress(OSError):
        return bool(int(_status(process, "SigIgn"), 16) >> (signal.SIGCHLD - 1) & 1)
    return False


def _seen(process: int) -> _Seen:
    """Raises OSError when it has ended."""
    # Behind the name, which may hold anything: the 12th to 15th field are its times and its children's, in ticks.
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:15]))
    return _Seen(ticks / os.sysconf("SC_CLK_TCK"), int(_status(process, "VmHWM").split()[0]) * 1024)


def _status(process: int, name: str, missing: str = "0") -> str:
    """A line of what the kernel tells of a process. A process that ends has no memory any more. Raises OSError."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:")), missing)


def _memory(process: int) -> tuple[bytes, int]:
    """The command of a process, and the bytes that it holds; of pages that several hold its share. 0 when it has ended."""
    with suppress(OSError):
        words = Path(f"/proc/{process}/cmdline").read_bytes()
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return words, int(line.split()[1]) * 1024
    return b"", 0
