"""Files that a capture grows in: one file, or a ring of them (`dumpcap -b`, `tcpdump -C`, `-G` and `-W`).

Files are read in the order of their first packets. One is over when all of it was read and a newer one is there. Those that wait
are held open: a ring that removes its oldest files takes nothing away. A ring that writes over its oldest file does, if that was
not read: then what was lost is counted and said.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from stat import S_ISREG
from time import monotonic
from typing import NamedTuple

from analyzer.base.text import file_text
from analyzer.inputs.capture_heads import first_time
from analyzer.inputs.live.live_source import LiveSource
from analyzer.inputs.sources import Source

# A directory is looked at again after so long.
LOOK_S = 0.25
# By so many first bytes a file is known again: they hold the time of the first packet.
_SIGN_BYTES = 512
_LEAST_SIGN_BYTES = 40
# Files that wait are held open, so many at a time.
_MOST_OPEN = 256


class _File:
    """An open file, and by what it is known."""

    def __init__(self, path: Path, descriptor: int, first_ns: int | None) -> None:
        self.path = path
        self.first_ns = first_ns
        self.at = 0
        self.successor = False
        self.lost_bytes = 0
        self._descriptor = descriptor
        self._largest = 0
        self.sign = b""
        self.is_same()

    def is_same(self) -> bool:
        """Whether what was read before is still there: the file was not written anew."""
        size = os.fstat(self._descriptor).st_size
        now = os.pread(self._descriptor, _SIGN_BYTES, 0)
        if size < self._largest or now[: len(self.sign)] != self.sign:
            return False
        self._largest = size
        if len(self.sign) < _SIGN_BYTES:
            self.sign = now
        return True

    @property
    def waiting_bytes(self) -> int:
        """What is there and was not read yet."""
        return max(0, os.fstat(self._descriptor).st_size - self.at) if self._descriptor >= 0 else 0

    def read_into(self, view: memoryview) -> int | None:
        """As `Stream.read_into`."""
        over = self.successor
        count = os.preadv(self._descriptor, [view], self.at)
        if not self.is_same():
            # What was just read may be of the new content.
            self.lost_bytes += max(0, self._largest - self.at)
            return None
        self.at += count
        return None if over and not count else count

    def close(self) -> None:
        """As `Stream.close`."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


class _Seen(NamedTuple):
    """What tells that a path holds the same file as before."""

    device: int
    inode: int
    sign: bytes


class GrowingFiles:
    """Gives the files that `listed` names as sources, one after the other; `follows` a single path even before its first packet.

    `lost_bytes` and `lost_files`: what was written over before it was read.
    """

    has_ended = False  # another file may always come

    def __init__(self, listed: Callable[[], Iterable[Path]], follows: bool = False) -> None:
        self.lost_bytes = 0
        self.lost_files = 0
        self._listed = listed
        self._follows = follows
        self._waiting: list[_File] = []
        self._current: _File | None = None
        self._seen: dict[Path, _Seen] = {}
        self._looked = float("-inf")

    def following(self) -> LiveSource | None:
        """The next file to read, when the one before is over; None: there is none now."""
        self._finish_current()
        self.look()
        while self._waiting:
            file = self._waiting.pop(0)
            if file.is_same():
                self._current = file
                return LiveSource(file_text(str(file.path)), file, file.first_ns)
            self.lost_files += 1
            self.lost_bytes += file.waiting_bytes
            file.close()
        return None

    def _finish_current(self) -> None:
        if self._current is not None:
            self.lost_bytes += self._current.lost_bytes
            self.lost_files += self._current.lost_bytes > 0
            self._current = None
            self._looked = float("-inf")

    @property
    def waiting_bytes(self) -> int:
        """What is written and not read yet."""
        files = [*self._waiting, *([self._current] if self._current else [])]
        return sum(file.waiting_bytes for file in files)

    def look(self) -> None:
        """Finds files that are new."""
        if monotonic() - self._looked < LOOK_S:
            return
        self._looked = monotonic()
        found = [file for path in self._listed() if (file := self._opened(path)) is not None]
        self._waiting = sorted([*self._waiting, *found], key=lambda file: file.first_ns or 0)
        if self._current is not None and self._waiting:
            self._current.successor = True

    def _opened(self, path: Path) -> _File | None:
        """The file at a path, if it is a capture that was not there before and has a packet."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None  # removed meanwhile
        status = os.fstat(descriptor)
        sign = os.pread(descriptor, _SIGN_BYTES, 0) if S_ISREG(status.st_mode) else b""
        seen = self._seen.get(path)
        known = (
            seen is not None
            and (seen.device, seen.inode) == (status.st_dev, status.st_ino)
            and _begins(sign, seen.sign)
        )
        if known or (len(sign) < _LEAST_SIGN_BYTES and not self._follows) or len(self._waiting) >= _MOST_OPEN:
            os.close(descriptor)
            return None
        first_ns = first_time(Source(file_text(str(path)), path, status.st_size))
        if first_ns is None and not (self._follows and self._current is None):
            os.close(descriptor)
            return None
        self._seen[path] = _Seen(status.st_dev, status.st_ino, sign)
        return _File(path, descriptor, first_ns)


def _begins(now: bytes, before: bytes) -> bool:
    return now[: len(before)] == before
