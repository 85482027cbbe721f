"""Content of TLS connections as chunk rows, with the bytes that they point into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dissectors import layout
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # Called with all content: (number of the packet that brought it, sequence number in the stream of content, bytes, 0); of what
    # was lost with its size, without bytes.
    TakeContent = Callable[[int, int, bytes, int], None]

Row = list[int]
# A chunk of content tells nothing of the way of its packets: UNKNOWN in each way column but these.
_ZERO_WHERE_NONE = (layout.CHUNK_MARKS, layout.CHUNK_COVERS, layout.CHUNK_ACK_NUMBER, layout.CHUNK_ACK_TIME)
_NO_WAY = tuple(
    0 if column in _ZERO_WHERE_NONE else layout.UNKNOWN for column in range(layout.CHUNK_LAG, layout.CHUNK_COLUMNS)
)
assert layout.CHUNK_DETAIL + 1 == layout.CHUNK_LAG, "a row of content is its first ten columns, then the way columns"


class ContentRows:
    """Rows of CHUNK_ columns; CHUNK_BUFFER 0 of those of content is `heap`. `take` gets content and losses."""

    def __init__(self, take: TakeContent | None = None) -> None:
        self.heap = bytearray()
        self._take = take
        self._rows: list[Row] = []

    def clear(self) -> None:
        """Begins the next batch; the bytes of the last one stay with whoever holds them."""
        self.heap = bytearray()
        self._rows = []

    def append(self, row: Row) -> None:
        """Adds a row that is complete."""
        self._rows.append(row)

    def copy(self, row: Row, data: memoryview) -> None:
        """Adds a row that was held back, whose bytes are copied."""
        row[layout.CHUNK_BUFFER] = 0
        if len(data):
            row[layout.CHUNK_OFFSET] = len(self.heap)
            self.heap += data
        self._rows.append(row)

    def matrix(self) -> tuple[memoryview, int]:
        """(matrix of CHUNK_ columns, rows) of the batch."""
        chunks = new_matrix(layout.CHUNK_COLUMNS, max(1, len(self._rows)))
        for column in range(layout.CHUNK_COLUMNS):
            for number, row in enumerate(self._rows):
                chunks[column, number] = row[column]
        return chunks, len(self._rows)

    def content(self, slot: int, side: int, content: bytes, pieces: Sequence[tuple[int, int, int]], seq: int) -> None:
        """Adds the content of one record. Bytes that the same packet brought become one row, also across records."""
        offset = len(self.heap)
        self.heap += content
        for size, time, number in pieces:
            if self._take:
                self._take(number, seq, bytes(self.heap[offset : offset + size]), 0)
            last = self._rows[-1] if self._rows else None
            if last is not None and _goes_on(last, slot, side, seq, time, number):
                last[layout.CHUNK_LENGTH] += size
            else:
                self._rows.append([layout.CHUNK_DATA, slot, side, 0, offset, size, time, number, seq, 0, *_NO_WAY])
            seq += size
            offset += size

    def loss(self, slot: int, side: int, size: int, time: int, number: int, seq: int, reason: int) -> None:
        """Adds content that was lost at this place of the stream."""
        if self._take:
            self._take(number, seq, b"", size)
        self._rows.append([layout.CHUNK_GAP, slot, side, 0, 0, size, time, number, seq, reason, *_NO_WAY])


def _goes_on(last: Row, slot: int, side: int, seq: int, time: int, number: int) -> bool:
    return (
        last[layout.CHUNK_KIND] == layout.CHUNK_DATA
        and last[layout.CHUNK_SLOT] == slot
        and last[layout.CHUNK_SIDE] == side
        and last[layout.CHUNK_TIME] == time
        and last[layout.CHUNK_NUMBER] == number
        and last[layout.CHUNK_SEQ] + last[layout.CHUNK_LENGTH] == seq
    )
