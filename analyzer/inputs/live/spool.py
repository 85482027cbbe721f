"""A pipe, emptied as fast as it fills, so that whoever writes to it never waits and loses nothing.

What is not read yet lies on disk. The files have no name and are gone with the process.
"""

from __future__ import annotations

import os
import select
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import sleep

# A file that has so many bytes is followed by another, and given up when it was read to its end.
FILE_BYTES = 64 << 20
_READ_BYTES = 1 << 20
_LOOK_S = 0.02
# What a pipe may hold, if the system allows.
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux


class Spool:
    """Reads the descriptor that `opened` gives (which may wait, as opening a FIFO does) to its end, in a thread of its own.

    At most `most_bytes` wait to be read: then the pipe is left alone, and `full` is true. `has_read_all`: the pipe has ended, or
    rather its last writer is gone. It is a `Stream`.
    """

    def __init__(self, opened: Callable[[], int], folder: Path | None, most_bytes: int) -> None:
        self.full = False
        self.has_read_all = False
        self._opened = opened
        self._pipe = -1
        self._folder = folder
        self._most = most_bytes
        self._files: deque[int] = deque()
        self._written = self._read = 0
        self._at = 0  # in the first file
        self._end = 0  # of the last file
        self._over = False
        self._error: OSError | None = None
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="spool", daemon=True).start()

    @property
    def waiting_bytes(self) -> int:
        """How many were taken off the pipe and not read yet."""
        return self._written - self._read

    def read_into(self, view: memoryview) -> int | None:
        """As `Stream.read_into`."""
        with self._lock:
            left = self.waiting_bytes
            over, error = self._over, self._error
        if not left:
            if error is not None:
                raise error
            return None if over else 0
        while not (count := os.preadv(self._files[0], [view[:left]], self._at)):
            # The first file was read to its end, and there is another.
            with self._lock:
                os.close(self._files.popleft())
                self._at = 0
        self._at += count
        self._read += count
        return count

    def close(self) -> None:
        """The thread ends with the process; what lies on disk is gone."""
        with self._lock:
            self._over = True
            while self._files:
                os.close(self._files.popleft())

    def opened_again(self) -> int:
        """Waits until another writer has written to the pipe, which stayed open so that none finds it without a reader."""
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        # Without a writer a poll returns at once.
        while not any(events & select.POLLIN for _, events in poll.poll(0)):
            sleep(_LOOK_S)
        return self._pipe

    def _run(self) -> None:
        try:
            self._pipe = self._opened()
            _enlarge(self._pipe)
            while data := os.read(self._pipe, _READ_BYTES):
                while self.waiting_bytes > self._most and not self._over:
                    self.full = True
                    sleep(_LOOK_S)
                if self._over:
                    return
                self._put(data)
            self.has_read_all = True
        except OSError as error:
            self._error = error
        finally:
            self._over = True

    def _put(self, data: bytes) -> None:
        """Appends to the last file; one that is long enough is followed by another."""
        with self._lock:
            if not self._files or self._end >= FILE_BYTES:
                with tempfile.TemporaryFile(dir=self._folder) as made:
                    self._files.append(os.dup(made.fileno()))
                self._end = 0
            file = self._files[-1]
        rest = memoryview(data)
        while rest:
            done = os.pwrite(file, rest, self._end)
            self._end += done
            rest = rest[done:]
        with self._lock:
            self._written += len(data)


def _enlarge(pipe: int) -> None:
    import fcntl

    # No pipe, or not allowed: smaller steps.
    with suppress(OSError):
        fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)
