"""The last minutes of what was read, as capture files of their own, within a size.

What a reader took, whole records, is appended as it is. A file begins with what a reader must know (the head of the capture, its
interfaces and secrets so far), so each can be opened by itself, also after this program was killed. A restart goes on with the
files that it finds.
"""

from __future__ import annotations

import os
import re
import struct
from collections import deque
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dissectors.formats.format_detection import Reader

# A file is followed by another after so many bytes, or a tenth of the time that is kept.
FILE_BYTES = 16 << 20
PARTS_OF_TIME = 10
_NAME = re.compile(r"(\d+)-(\d{8,})\.pcap(?:ng)?")
_MODE, _FOLDER_MODE = 0o600, 0o700
_SECTION = b"\n\r\r\n"
_LITTLE = 0x1A2B3C4D
_SECRETS = 10


class _Kept(NamedTuple):
    path: Path
    size: int
    ended_s: float


class _Writing:
    """The file of one feed that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.began_s = time()
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)

    def write(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        self.size += len(rest)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def close(self) -> None:
        os.close(self._descriptor)


class Ring:
    """Keeps files in `folder`: at most `most_bytes`, none that ended longer than `keep_s` ago. Raises OSError.

    `trouble` says why what came last could not be kept, None: it could."""

    def __init__(self, folder: Path, keep_s: float, most_bytes: int) -> None:
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        self._folder = folder
        self._keep_s = keep_s
        self._most = most_bytes
        self._writing: dict[int, _Writing] = {}
        # What was known before the bytes that come: interfaces among these are not in it.
        self._heads: dict[int, bytes] = {}
        self._readers: dict[int, Reader] = {}
        found = sorted((path.stat().st_mtime, path) for path in files(folder))
        self.trouble: str | None = None
        self._kept = deque(_Kept(path, path.stat().st_size, ended) for ended, path in found)
        self._number = 1 + max((_number(path) for _, path in found), default=0)

    def take(self, feed: int, data: memoryview, reader: Reader) -> None:
        """Whole records that the reader of a feed has read. A full disk ends no reading: a file begins when there is room."""
        try:
            self._take(feed, data, reader)
            self.trouble = None
        except OSError as error:
            self.trouble = f"{self._folder}: nothing is recorded: {error.strerror or error}"
            if broken := self._writing.pop(feed, None):
                broken.close()
                self._kept.append(_Kept(broken.path, broken.size, time()))
        self._heads[feed] = head_of(reader)
        self._readers[feed] = reader
        self._drop_old()

    def _take(self, feed: int, data: memoryview, reader: Reader) -> None:
        writing = self._writing.get(feed)
        is_new = self._readers.get(feed) is not reader
        if writing is None or is_new or self._is_long(writing):
            writing = self._begin(feed, reader)
            if not is_new:
                # The first bytes of a capture have its head themselves.
                writing.write(self._heads[feed])
        writing.write(data)

    def _is_long(self, writing: _Writing) -> bool:
        return (
            writing.size >= min(FILE_BYTES, self._most // 4) or time() - writing.began_s > self._keep_s / PARTS_OF_TIME
        )

    def _begin(self, feed: int, reader: Reader) -> _Writing:
        if before := self._writing.pop(feed, None):
            before.close()
            self._kept.append(_Kept(before.path, before.size, time()))
        ending = "pcapng" if reader.head.startswith(_SECTION) else "pcap"
        self._writing[feed] = made = _Writing(self._folder / f"{feed}-{self._number:08}.{ending}")
        self._number += 1
        return made

    def _drop_old(self) -> None:
        used = sum(each.size for each in self._kept) + sum(each.size for each in self._writing.values())
        while self._kept and (used > self._most or self._kept[0].ended_s < time() - self._keep_s):
            old = self._kept.popleft()
            used -= old.size
            old.path.unlink(missing_ok=True)


def files(folder: Path) -> list[Path]:
    """The files of a ring, in no order."""
    return [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]


def _number(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    return int(match[2]) if match else 0


def head_of(reader: Reader) -> bytes:
    """What a file must begin with that goes on behind what the reader has read."""
    head = bytes(reader.head)
    if not head.startswith(_SECTION):
        return head
    order = "<" if struct.unpack_from("<I", head, 8)[0] == _LITTLE else ">"
    return head + b"".join(_secrets_block(order, kind, data) for kind, data in reader.secrets)


def _secrets_block(order: str, kind: int, data: bytes) -> bytes:
    body = struct.pack(f"{order}II", kind, len(data)) + data + bytes(-len(data) % 4)
    size = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", _SECRETS) + size + body + size
