"""Is a connection TLS? Told from the same bytes as `dissectors.tls.detection` tells it, so that these can be kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from analyzer.redact.tls_rewriting import ALERT, APPLICATION_DATA, HANDSHAKE, HEADER_BYTES, is_record, record_size

_CLIENT_HELLO, _SERVER_HELLO = 1, 2
_FATAL = 2
_MAJOR_VERSION = 3
_MOST_BEGUN = 64
_MOST_LOOKED_AT = 65_536


class Header(NamedTuple):
    """Of a record of content that began in an earlier chunk: its position in the stream, its bytes, where the next one begins."""

    position: int
    data: bytes
    next: int


class Chain(NamedTuple):
    """Records that follow each other: one begins at `at` of the chunk, behind that of `before` if that was in an earlier chunk."""

    at: int
    before: Header | None


@dataclass(slots=True)
class _Side:
    seen: int = 0  # bytes looked at
    ends: int = 0  # where the record of `header` ends, counted like `seen`; 0: there is none
    header: Header | None = None
    # Chunks that begin like a record: packets that were cut.
    begun: list[Header] = field(default_factory=list)


class TlsSearch:
    """The two sides of one connection, `from_syn`: seen from its beginning. It is over when it `is_tls`, or is not: `is_over`."""

    def __init__(self, from_syn: bool) -> None:
        self._from_syn = from_syn
        self._sides = (_Side(), _Side())
        self.is_over = False

    def gap(self, side: int, length: int) -> None:
        """Bytes that were not captured."""
        self._sides[side].seen += length

    def look(self, side: int, position: int, data: memoryview) -> Chain | None:
        """Records in the next bytes of a side, if they show that it is TLS."""
        state = self._sides[side]
        if self._from_syn and state.seen == 0:
            self.is_over = True
            found = Chain(0, None) if is_hello(data) else None
        else:
            found = _chain(state, position, bytes(data))
            self.is_over = found is not None or state.seen + len(data) > _MOST_LOOKED_AT
        state.seen += len(data)
        return found

    def begun(self, side: int) -> tuple[list[Header], int | None]:
        """What may be records: they are if the connection is TLS. And where the next one would begin."""
        state = self._sides[side]
        if not state.ends or state.header is None:
            return state.begun, None
        return [*state.begun, state.header], state.header.next


def _chain(state: _Side, position: int, data: bytes) -> Chain | None:
    at = state.ends - state.seen
    if at >= 0 and state.ends > 0:
        if at >= len(data):
            return None
        if is_record(data[at : at + HEADER_BYTES]):
            return Chain(at, state.header)
    state.ends = 0
    if is_record(data[:HEADER_BYTES]) and len(state.begun) < _MOST_BEGUN:
        state.begun.append(Header(position, data[:HEADER_BYTES], position + HEADER_BYTES + record_size(data)))
    at = -1
    while (at := data.find(_MAJOR_VERSION, at + 2) - 1) >= 0:
        header = data[at : at + HEADER_BYTES]
        if not is_record(header):
            continue
        after = at + HEADER_BYTES + record_size(header)
        if (after == len(data) and at == 0) or is_record(data[after : after + HEADER_BYTES]):
            return Chain(at, None)
        if after + HEADER_BYTES > len(data) and header[0] == APPLICATION_DATA:
            state.ends = state.seen + after
            state.header = Header(position + at, header, position + after)
    return None


def is_hello(data: bytes | memoryview) -> bool:
    """Whether a connection that begins with these bytes speaks TLS."""
    if not is_record(data) or len(data) <= HEADER_BYTES:
        return False
    size = record_size(data)
    if data[0] == ALERT:
        return size == 2 and data[HEADER_BYTES] <= _FATAL
    return data[0] == HANDSHAKE and size >= 4 and data[HEADER_BYTES] in (_CLIENT_HELLO, _SERVER_HELLO)
