"""The bytes of an object, in ranges that are read ahead. A small one costs two requests: for its size, and for its bytes."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor

from analyzer.base.storage.addresses import Address, StorageError
from analyzer.base.storage.environment import server_name
from analyzer.base.storage.error_texts import NO_OBJECT
from analyzer.base.storage.filesystems import client
from analyzer.base.storage.objects import StorageEntry, content_type_of, etag_of, find_object
from analyzer.base.storage.odd_answers import PAGE, is_page, odd_answer

# The first range is enough for the head of a capture, which is often all that is wanted; later ones pay for a request.
FIRST_RANGE_BYTES = 64 << 10
RANGE_BYTES = 8 << 20
LEAST_RANGE_BYTES = 256 << 10
# All objects that are open at a time hold about so much, the range that is read ahead included.
HELD_BYTES = 64 << 20
# Times of the last change that differ by less are the same: servers round in different ways.
_SAME_TIME_NS = 1_000_000_000


class ObjectReader:
    """The bytes of an object from `begin` to its end, in order; the next range is read ahead of what is taken.

    The object must have the size that `found` says, and must not change while it is read: what fits one range is one answer of
    the server, all else is looked at again after each range. `end` is where the caller is likely to stop: beyond it ranges are
    small and not read ahead. `etag`: as `objects.etag_of`. Raises StorageError; so do the methods.
    """

    def __init__(self, found: StorageEntry, begin: int = 0, end: int | None = None) -> None:
        self._expected = found
        self._likely_end = found.size_bytes if end is None else end
        # Not the time in `found`: some servers list another one.
        self._modified_ns: int | None = None
        self._in_one = self._until(begin) >= min(found.size_bytes, self._likely_end)
        with client(found.address) as storage:
            self._file = storage.open_input_file(found.address.path)
            self.etag = etag_of(self._file)
            self._kind = content_type_of(self._file)
            self._check_size(self._file.size())
        if not self._in_one:
            self._check_now()
        if begin > found.size_bytes:
            raise StorageError(
                f"{found.address.uri}: has {found.size_bytes:,} bytes, but a part from byte {begin:,} on was requested"
            )
        self._ranges = self._all_ranges(begin)
        self._rest = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        """Fills the view from one range; 0 at the end."""
        while not self._rest:
            data = next(self._ranges, None)
            if data is None:
                return 0
            self._rest = memoryview(data)
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end."""
        buffer = bytearray(size)
        return bytes(buffer[: self.readinto(memoryview(buffer))])

    def close(self) -> None:
        """Lets go of the object; a range that is on its way is not waited for."""
        self._ranges.close()
        self._rest = memoryview(b"")

    def _all_ranges(self, begin: int) -> Generator[bytes, None, None]:
        end = self._expected.size_bytes
        _count_open(1)
        ahead: Future[bytes] | None = None
        pool = None
        try:
            if begin < end:
                first = self._until(begin) if self._in_one else min(begin + FIRST_RANGE_BYTES, end)
                yield self._range(begin, first)
                begin = first
            if begin < end or not self._in_one:
                self._check_now()
            pool = ThreadPoolExecutor(1, "kanalyze-read-ahead") if begin < end else None
            while begin < end and pool:
                until = self._until(begin)
                data = (ahead or pool.submit(self._sure_range, begin, until)).result()
                begin, ahead = until, None
                # Where the bytes will hardly be wanted nothing is read ahead.
                if begin < min(end, self._likely_end):
                    ahead = pool.submit(self._sure_range, begin, self._until(begin))
                yield data
        finally:
            _count_open(-1)
            if pool:
                pool.shutdown(wait=False, cancel_futures=True)

    def _until(self, begin: int) -> int:
        """Where a range ends that begins here."""
        likely = begin < self._likely_end
        until = min(begin + _range_bytes(), self._likely_end) if likely else begin + LEAST_RANGE_BYTES
        return min(until, self._expected.size_bytes)

    def _sure_range(self, begin: int, end: int) -> bytes:
        data = self._range(begin, end)
        self._check_now()
        return data

    def _range(self, begin: int, end: int) -> bytes:
        # Where an answer has fewer bytes than were asked for, pyarrow 26 says that all came, and leaves those that did not as they
        # were. So the last one is a byte that only chance puts into a capture, and when it is still there the range is read over
        # other bytes: what is then as it was in both did not come.
        mark = os.urandom(1)
        data, count = self._read_over(mark, begin, end)
        if count != len(data) or data[-1:] == mark:
            self._check_now()
            other, second = self._read_over(bytes([mark[0] ^ 0xFF]), begin, end)
            count = min(count, second, _alike(data, other))
        at = self._expected.address
        server = server_name(at.scheme, at.root)
        if count != len(data):
            told = f"{server} sent {count:,} of the {end - begin:,} bytes at byte {begin:,} that it says the object has"
            raise StorageError(f"{at.uri}: {odd_answer(at) or f'{told}; run again, or copy it first'}")
        if begin == 0 and is_page(self._kind, data):
            raise StorageError(f"{at.uri}: {PAGE.format(server=server)}")
        return bytes(data)

    def _read_over(self, mark: bytes, begin: int, end: int) -> tuple[bytearray, int]:
        """The bytes of a range, `mark` in place of those that did not come, and how many pyarrow says came."""
        data = bytearray(mark) * (end - begin)
        with client(self._expected.address):
            self._file.seek(begin)
            return data, self._file.readinto(data)

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes != self._expected.size_bytes:
            raise StorageError(
                f"{self._expected.address.uri}: changed while it was read, from {self._expected.size_bytes:,} to {size_bytes:,} "
                "bytes; run again when it is complete"
            )

    def _check_now(self) -> None:
        """Whether the object is still what it was when it was opened."""
        now = find_object(self._expected.address)
        if now is None or now.is_folder:
            raise StorageError(f"{self._expected.address.uri}: was deleted while it was read; run again")
        self._check_size(now.size_bytes)
        then, self._modified_ns = self._modified_ns, now.modified_ns
        if then and now.modified_ns and abs(now.modified_ns - then) > _SAME_TIME_NS:
            raise StorageError(f"{now.address.uri}: was overwritten while it was read; run again")


def _alike(one: bytes | bytearray, other: bytes | bytearray) -> int:
    """How many bytes at the beginning are alike."""
    if one == other:
        return len(one)
    # The most that is alike lies between these.
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


_open_lock = threading.Lock()
_open_readers = 0


def _count_open(more: int) -> None:
    global _open_readers
    with _open_lock:
        _open_readers += more


def _range_bytes() -> int:
    """Captures of the same time are read together, up to 64 of them: each with its part of the memory."""
    return max(LEAST_RANGE_BYTES, min(RANGE_BYTES, HELD_BYTES // (2 * max(1, _open_readers))))


def read_object(at: Address, most_bytes: int | None = None) -> bytes:
    """All bytes of a small object. Raises StorageError, also for one with more bytes than `most_bytes`."""
    found = find_object(at)
    if found is None or found.is_folder:
        raise StorageError(f"{at.uri}: {NO_OBJECT.format(server=server_name(at.scheme, at.root))}")
    if most_bytes is not None and found.size_bytes > most_bytes:
        raise StorageError(f"{at.uri}: has more than {most_bytes:,} bytes")
    reader = ObjectReader(found)
    try:
        return b"".join(iter(lambda: reader.read(FIRST_RANGE_BYTES), b""))
    finally:
        reader.close()
