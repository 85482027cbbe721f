"""A capture that grows, as a source: its bytes as they come, and word when there are none now."""

from __future__ import annotations

from collections.abc import Generator
from time import monotonic
from typing import Protocol

from analyzer.base.text import input_name
from analyzer.inputs.sources import NOTHING_NOW, SILENT, InputError, Source, make_room
from analyzer.inputs.unpack import packing

# After so long a silence packets do not wait for earlier ones any more.
SILENCE_S = 0.3
_MAGIC_BYTES = 8


class Stream(Protocol):
    """Where the bytes come from."""

    def read_into(self, view: memoryview) -> int | None:
        """Takes what is there now into the view; returns the number of bytes, 0 for none now, None at the end. Raises OSError."""

    def close(self) -> None:
        """No byte will be asked for."""


class LiveSource(Source):
    """A source whose `fill` never waits: it gives NOTHING_NOW instead, and SILENT after a while. It can be read once."""

    def __init__(self, name: str, stream: Stream, first_time_ns: int | None = None) -> None:
        super().__init__(name, first_time_ns=first_time_ns)
        self._stream = stream
        self._is_cut = False
        self._heard = monotonic()
        self._head = b""

    @property
    def is_standard_input(self) -> bool:
        """What was read of it is gone, but nobody else reads it either."""
        return False

    def cut(self) -> None:
        """What was read so far is all: the next time `fill` ends."""
        self._is_cut = True

    @property
    def silent_s(self) -> float:
        """For how long nothing came."""
        return monotonic() - self._heard

    def fill(self, buffer: bytearray) -> Generator[tuple[memoryview, int], int, None]:
        """As `Source.fill`. Raises InputError."""
        self.done_bytes = 0
        size = len(buffer)
        begin = end = 0
        try:
            while True:
                buffer, begin, end = make_room(buffer, begin, end, size)
                new = self._read(memoryview(buffer)[end : end + max(size - (end - begin), size - size // 2)])
                end += max(new, 0)
                begin += yield memoryview(buffer)[begin:end], new
                if not new:
                    return
        finally:
            self._stream.close()

    def _read(self, view: memoryview) -> int:
        try:
            count = None if self._is_cut else self._stream.read_into(view)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror or error}") from error
        if count is None:
            return 0
        if not count:
            return SILENT if self.silent_s > SILENCE_S else NOTHING_NOW
        self._refuse_packed(view[:count])
        self.done_bytes += count
        self._heard = monotonic()
        return count

    def _refuse_packed(self, data: memoryview) -> None:
        """Compressed data cannot be read as they come: a block is there only when it is whole."""
        if len(self._head) < _MAGIC_BYTES:
            self._head = (self._head + bytes(data[:_MAGIC_BYTES]))[:_MAGIC_BYTES]
            if len(self._head) == _MAGIC_BYTES and (name := packing(self._head)) is not None:
                raise InputError(
                    f"{input_name(self.name)}: {name} data cannot be followed; unpack it first: {name} -dc FILE | kanalyze watch -"
                )
