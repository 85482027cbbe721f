"""A progress line on a terminal's stderr; nothing at all elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_EVERY_S = 0.2
_WIDTH = 30
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
