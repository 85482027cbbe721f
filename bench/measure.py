"""Runs a program once and measures it: wall time, CPU and memory of all its processes.

This process adopts those that outlive their parents (PR_SET_CHILD_SUBREAPER), and waits for them: so the CPU of Spark's Java and
of its workers counts, which time(1) misses. CPU and the largest process come from the kernel when a process is waited for; the
memory of all processes together is looked at some ten times a second (the sum of their PSS: a page that several share counts once).
"""

from __future__ import annotations

import ctypes
import os
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
        usages = [usage, *_orphans()]
    if process.returncode:
        raise MeasureError(f"bench: {' '.join(command)} ended with {process.returncode}\n{words}")
    cpu_seconds = sum(each.ru_utime + each.ru_stime for each in usages)
    peak_bytes = max(each.ru_maxrss for each in usages) * 1024
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


def _orphans() -> Iterator[os._RUsage]:  # type: ignore[name-defined]
    """Waits for all processes that outlive the program."""
    with suppress(ChildProcessError):
        while True:
            yield os.wait4(-1, 0)[2]


class _Watched:
    """Looks at the memory of all processes below this one, as long as the block lasts."""

    def __init__(self) -> None:
        self.sum_bytes = 0
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
            held = {_memory(process) for process in _below(os.getpid())}
            self.sum_bytes = max(self.sum_bytes, sum(size for _, size in held))
            took = perf_counter() - began


def _below(process: int) -> Iterator[int]:
    """All processes that this one, or one of those, began or adopted."""
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                for child in (thread / "children").read_text().split():
                    yield int(child)
                    yield from _below(int(child))


def _memory(process: int) -> tuple[bytes, int]:
    """The command of a process, and the bytes that it holds; of pages that several hold its share. 0 when it has ended."""
    with suppress(OSError):
        words = Path(f"/proc/{process}/cmdline").read_bytes()
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return words, int(line.split()[1]) * 1024
    return b"", 0
