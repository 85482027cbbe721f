"""Reads the openings of connections whose rows `opening_rows` took out of a batch, and hands on what is behind them.

Rows wait until the bytes of both sides tell what they are. Then a row CHUNK_OPENING for each side takes the place of the
opening, and the rest follows as it came; behind an opening there may be another one. What is no opening is handed on
unchanged, and so is one in which bytes are missing, or that is too long. Where the capture cut the packet of a PROXY header, its
beginning counts as one: a health check sends nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.openings.http_connect import read_connect
from dissectors.openings.proxy_protocol import read_binary, read_cut, read_line
from dissectors.openings.socks import read_socks4, read_socks5
from dissectors.openings.verdicts import MORE, OTHER, Opening, Verdict

if TYPE_CHECKING:
    from dissectors.openings.opening_rows import OpeningRows

_READERS = (read_line, read_binary, read_socks4, read_socks5, read_connect)
_MOST_OPENINGS = 8  # one behind the other
# Of one connection: a header of PROXY version 2 has at most 65,551 bytes. All bytes are read again with each row.
_MOST_BYTES = 70_000
_MOST_ROWS = 256
# Of all connections together.
_MOST_BYTES_OF_ALL = 16 << 20
_MOST_ROWS_OF_ALL = 65_536

_LOW_32 = 0xFFFFFFFF

Row = list[int]


def first_bytes(client: bytes, server: bytes) -> Opening | Verdict:
    """What a connection begins with: the side that opened it has sent `client`, the other one `server`."""
    if not client:
        return OTHER if server else MORE
    found: Opening | Verdict = OTHER
    for read in _READERS:
        verdict = read(client, server)
        if isinstance(verdict, Opening):
            return verdict
        if verdict is MORE:
            found = MORE
    return found


@dataclass(slots=True)
class _Held:
    """Rows of DATA of one connection that wait, each with its bytes; `passing`: it is settled, its rows go on. `client`: the side
    that opened the connection, or of one without a SYN, that spoke first."""

    part: int
    client: int
    rows: list[tuple[Row, bytes]] = field(default_factory=list)
    size: int = 0
    openings: int = 0
    passing: bool = False

    def bytes_of(self, side: int) -> bytes:
        return b"".join(data for row, data in self.rows if row[layout.CHUNK_SIDE] == side)


class Openings:
    """All connections that may begin with an opening. `heap` holds the bytes of the chunks that `feed` returned last."""

    def __init__(self, rows: OpeningRows) -> None:
        self.heap = bytearray()
        self._rows = rows
        self._held: dict[int, _Held] = {}
        self._out: list[Row] = []
        self._waiting_rows = 0
        self._waiting_bytes = 0

    def feed(self, rows: int, block: memoryview, stream_heap: bytearray) -> tuple[memoryview, int]:
        """Takes the first `rows` rows of `OpeningRows.taken`, whose bytes are in `block` and `stream_heap`.

        Returns (matrix of CHUNK_ columns, rows); their CHUNK_BUFFER 0 is `heap`.
        """
        taken = self._rows.taken
        buffers = (block, memoryview(stream_heap))
        self.heap = bytearray()
        self._out = []
        for number in range(rows):
            row = [taken[column, number] for column in range(layout.CHUNK_COLUMNS)]
            data = b""
            if row[layout.CHUNK_KIND] == layout.CHUNK_DATA:
                begin = row[layout.CHUNK_OFFSET]
                data = bytes(buffers[row[layout.CHUNK_BUFFER]][begin : begin + row[layout.CHUNK_LENGTH]])
            if taken[layout.WAITING_HELD, number]:
                self._take(row, data, taken[layout.WAITING_PART, number])
            else:
                self._hand_on(row, data)
        self._keep_limits()
        self._forget_settled()
        chunks = new_matrix(layout.CHUNK_COLUMNS, max(1, len(self._out)))
        for number, row in enumerate(self._out):
            for column, value in enumerate(row):
                chunks[column, number] = value
        return chunks, len(self._out)

    def _take(self, row: Row, data: bytes, part: int) -> None:
        slot = row[layout.CHUNK_SLOT]
        held = self._held.get(slot)
        if held is None or held.part != part:
            held = self._held[slot] = _Held(part, row[layout.CHUNK_SIDE])
        if held.passing or row[layout.CHUNK_KIND] != layout.CHUNK_DATA:
            if (row[layout.CHUNK_KIND], row[layout.CHUNK_DETAIL]) == (layout.CHUNK_GAP, layout.GAP_CUT):
                self._pass_cut(held)
            self._settle(held)
            self._hand_on(row, data)
            return
        held.rows.append((row, data))
        held.size += len(data)
        self._waiting_rows += 1
        self._waiting_bytes += len(data)
        self._judge(held)

    def _judge(self, held: _Held) -> None:
        while not held.passing:
            found = first_bytes(held.bytes_of(held.client), held.bytes_of(1 - held.client))
            if isinstance(found, Opening):
                self._pass_opening(held, found)
                if held.openings == _MOST_OPENINGS:
                    self._settle(held)
                continue
            if found is OTHER or held.size > _MOST_BYTES or len(held.rows) > _MOST_ROWS:
                self._settle(held)
            return

    def _pass_opening(self, held: _Held, found: Opening) -> None:
        """Puts a row for each side in the place of the opening, and leaves what is behind it."""
        held.openings += 1
        rest: list[tuple[Row, bytes]] = []
        left = [found.client_bytes, found.server_bytes][:: -1 if held.client else 1]
        told = [False, False]
        for row, data in held.rows:
            side = row[layout.CHUNK_SIDE]
            passed = min(left[side], len(data))
            if passed and not told[side]:
                told[side] = True
                self._out.append(_opening_row(row, found, left[side], side == held.client))
            left[side] -= passed
            if passed < len(data):
                rest.append((_behind(row, passed), data[passed:]))
        self._waiting_rows += len(rest) - len(held.rows)
        self._waiting_bytes -= found.client_bytes + found.server_bytes
        held.size -= found.client_bytes + found.server_bytes
        held.rows = rest

    def _pass_cut(self, held: _Held) -> None:
        """Takes the beginning of a PROXY header whose end the capture did not keep."""
        found = read_cut(held.bytes_of(held.client))
        if isinstance(found, Opening):
            self._pass_opening(held, found)

    def _settle(self, held: _Held) -> None:
        for row, data in held.rows:
            self._hand_on(row, data)
        self._waiting_rows -= len(held.rows)
        self._waiting_bytes -= held.size
        held.rows, held.size, held.passing = [], 0, True

    def _keep_limits(self) -> None:
        """Gives up what has waited for longest: an opening that is whole needs no time."""
        for held in self._held.values():
            if self._waiting_rows <= _MOST_ROWS_OF_ALL and self._waiting_bytes <= _MOST_BYTES_OF_ALL:
                return
            if held.rows:
                self._settle(held)

    def _forget_settled(self) -> None:
        for slot in [slot for slot, held in self._held.items() if held.passing]:
            self._rows.settle(slot, self._held.pop(slot).part)

    def _hand_on(self, row: Row, data: bytes) -> None:
        if row[layout.CHUNK_KIND] == layout.CHUNK_DATA:
            row[layout.CHUNK_BUFFER] = 0
            row[layout.CHUNK_OFFSET] = len(self.heap)
            self.heap += data
        self._out.append(row)


def _behind(row: Row, passed: int) -> Row:
    """The row of a chunk without its first bytes."""
    found = row.copy()
    found[layout.CHUNK_LENGTH] -= passed
    found[layout.CHUNK_SEQ] = (found[layout.CHUNK_SEQ] + passed) & _LOW_32
    return found


def _opening_row(first: Row, found: Opening, size: int, is_client: bool) -> Row:
    """The row of one side, whose opening begins with the chunk `first`; the client's row has the address."""
    row = first.copy()
    row[layout.CHUNK_KIND] = layout.CHUNK_OPENING
    row[layout.CHUNK_BUFFER] = 0
    row[layout.CHUNK_LENGTH] = size
    row[layout.CHUNK_DETAIL] = found.kind
    high, low = found.address if found.address and is_client else (layout.UNKNOWN, layout.UNKNOWN)
    row[layout.CHUNK_OFFSET], row[layout.CHUNK_SEQ] = high, low
    return row
