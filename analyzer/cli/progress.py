"""A progress line on a terminal's stderr, while captures are read and while questions are answered; nothing at all elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

_EVERY_S = 0.2
_WIDTH = 30
# Answers that come within this need no line.
_PATIENCE_S = 0.5
# For the thread to see that all is over.
_LONGEST_JOIN_S = 2.0
_COMPRESSED = (".gz", ".zst", ".zstd", ".lz4", ".xz")


@contextmanager
def progress(inputs: Sequence[str]) -> Iterator[Progress]:
    """Yields what to call with the bytes of every block read; clears the line at the end."""
    line = Progress(plain_bytes(inputs), sys.stderr.isatty())
    try:
        yield line
    finally:
        line.clear()


class Progress:
    """One line, redrawn in place, never more often than a person can see."""

    def __init__(self, total_bytes: int | None, wanted: bool) -> None:
        self._total_bytes = total_bytes
        self._wanted = wanted
        self._began = time.monotonic()
        self._drawn = self._began
        self._done_bytes = 0
        self._shown = False

    def __call__(self, more_bytes: int) -> None:
        self._done_bytes += more_bytes
        now = time.monotonic()
        if not self._wanted or now - self._drawn < _EVERY_S:
            return
        self._drawn = now
        self._shown = True
        sys.stderr.write(f"\r\x1b[K{draw(self._done_bytes, self._total_bytes, now - self._began)}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leaves the terminal as it was."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


class Answering:
    """A line that says which question is being answered, and for how long there have been questions. A query is one call that may
    take minutes: a thread draws."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        # In Python 3.14 a signal may leave it held by the thread that asks: that one must get it again, and not wait for the other
        # (`end`), which then waits for ever.
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._began = time.monotonic()
        self._what = ""
        self._shown = False

    def __call__(self, what: str) -> None:
        """A question is asked, or (empty) was answered: then the terminal is as it was, for whoever prints the answer."""
        if not self._wanted:
            return
        with self._lock:
            self._what = what
            if self._shown and not what:
                self._write("")
                self._shown = False
        if self._thread is None:
            self._thread = threading.Thread(target=self._draw, daemon=True)
            self._thread.start()

    def _draw(self) -> None:
        while not self._over.wait(_EVERY_S):
            seconds = time.monotonic() - self._began
            with self._lock:
                if self._what and seconds >= _PATIENCE_S:
                    self._write(f"answering: {self._what}, {seconds:,.0f} s")
                    self._shown = True

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def end(self) -> None:
        """No question will be asked any more."""
        self("")
        self._over.set()
        if self._thread is not None:
            self._thread.join(_LONGEST_JOIN_S)


@contextmanager
def answering(dataset: Dataset) -> Iterator[None]:
    """Says on a terminal what a dataset is asked inside."""
    line = Answering(sys.stderr.isatty())
    dataset.tell = line
    try:
        yield
    finally:
        line.end()


def plain_bytes(inputs: Sequence[str]) -> int | None:
    """Bytes of all inputs together; None as soon as one is no plain file, whose size says how much there is to read."""
    paths = [Path(name) for name in inputs]
    if all(path.is_file() and path.suffix not in _COMPRESSED for path in paths):
        return sum(path.stat().st_size for path in paths)
    return None


def draw(done_bytes: int, total_bytes: int | None, seconds: float) -> str:
    """The line after `seconds`: how much is read, how fast, and how long it may still take."""
    rate = done_bytes / seconds
    figures = f"{done_bytes / 1e6:,.0f} MB, {rate / 1e6:,.0f} MB/s"
    if not total_bytes:
        return figures
    share = min(done_bytes / total_bytes, 1.0)
    bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
    left = f", {(total_bytes - done_bytes) / rate:,.0f} s left" if rate and done_bytes < total_bytes else ""
    return f"[{bar}] {share:4.0%}  {figures}{left}"
