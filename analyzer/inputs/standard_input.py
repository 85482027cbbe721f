"""Standard input: a capture that comes while it is read, and that a person ends with Ctrl-C.

In `tcpdump -w - | kanalyze -` the terminal's Ctrl-C goes to both. tcpdump then writes what it still has, and what came is the
capture: the first Ctrl-C ends reading, the second one the program.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import threading
import time
from types import FrameType

# After Ctrl-C: so long a silence is the end, for those that write to a pipe and do not end by it; so long we read at most.
SILENCE_S = 1.0
LAST_S = 5.0
_LOOK_S = 0.1


class StandardInput:
    """Reads the bytes of standard input as they come, until its end or Ctrl-C. Before the first byte, from the second time on, and
    outside the main thread Ctrl-C is what it always is. `close` gives the signal back. Raises OSError."""

    def __init__(self) -> None:
        if sys.stdin is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        self._descriptor = sys.stdin.fileno()
        self._ends_at: float | None = None
        self._came = False
        self._before = signal.getsignal(signal.SIGINT)
        self._ours = (
            self._before is signal.default_int_handler and threading.current_thread() is threading.main_thread()
        )
        if self._ours:
            signal.signal(signal.SIGINT, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self._came or self._ends_at is not None:
            signal.default_int_handler(number, frame)
        self._ends_at = time.monotonic() + LAST_S

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, as soon as there are some; none at the end."""
        data = os.read(self._descriptor, size) if self._is_ready() else b""
        self._came = self._came or bool(data)
        return data

    def readinto(self, view: memoryview) -> int:
        """The same into a view; returns the number of bytes."""
        count = os.readv(self._descriptor, [view]) if self._is_ready() else 0
        self._came = self._came or count > 0
        return count

    def _is_ready(self) -> bool:
        """Waits for bytes, or for the end of the input; False: Ctrl-C was the end of it."""
        silent_since = time.monotonic()
        while not select.select([self._descriptor], [], [], _LOOK_S)[0]:
            if self._ends_at is None:
                # What a capture still has comes after Ctrl-C, however long nothing was captured before.
                silent_since = time.monotonic()
            elif time.monotonic() - silent_since > SILENCE_S:
                return False
        return self._ends_at is None or time.monotonic() < self._ends_at

    def close(self) -> None:
        """Ctrl-C ends the program again; the input itself stays open."""
        if self._ours:
            signal.signal(signal.SIGINT, self._before)
