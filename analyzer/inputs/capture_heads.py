"""The beginning and the end of captures, read before all else: times, and what a reader must know to begin in the middle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from analyzer.inputs.sources import Beginning, InputError, Source
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.formats.format_detection import Reader, open_reader
from dissectors.formats.time_order_limits import WINDOW_NS
from dissectors.matrix import new_matrix

HEAD_READ_BYTES = 1 << 16
# Interfaces and comments before the first packet may have so many bytes; with more, the first packet is not looked for.
MOST_HEAD_BYTES = 16 * HEAD_READ_BYTES
# The last packets of a file are looked for in so many bytes.
TAIL_BYTES = 1 << 18
TAIL_ROWS = 4_096
HEAD_ROWS = 512  # of packets at the beginning, times are looked at
MOST_AT_ONCE = 16
MOST_WAITING = 4_096
T = TypeVar("T")


class Peek(NamedTuple):
    """Times of the first and of the latest packet, None where all of the file would have to be read for that. `head` is what a
    reader of a later piece must be given, empty where no packet was found at the beginning; `can_be_cut`: pieces of the file can
    be read; `is_packed`: it is compressed."""

    first_time_ns: int | None = None
    last_time_ns: int | None = None
    head: bytes = b""
    can_be_cut: bool = False
    is_packed: bool = False


def in_time_order(sources: Sequence[Source]) -> list[Source]:
    """Sources by the time of their first packet, which is set in each; those without one come last.

    A pipe cannot be read twice: with one among several, the given order stays.
    """
    if len(sources) < 2 or any(source.size_bytes is None for source in sources):
        return list(sources)
    for source, (time, _) in zip(sources, _of_each(_first, sources), strict=True):
        source.first_time_ns = time
    return sorted(sources, key=lambda source: (source.first_time_ns is None, source.first_time_ns or 0))


def first_time(source: Source) -> int | None:
    """The time of the first packet; None where none was found."""
    return _first(source)[0]


def peek_all(sources: Sequence[Source]) -> list[Peek]:
    """A look into each source. A source that cannot be read is no error here: reading it will raise one."""
    return list(_of_each(_peek, sources))


def _of_each(look: Callable[[Source], T], sources: Sequence[Source]) -> Iterator[T]:
    """Objects in storage are looked at concurrently: each takes up to three round trips."""
    if not any(source.uri is not None for source in sources):
        yield from map(look, sources)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        # What the pool has not done yet takes a kilobyte each: of a million objects it is given some thousand at a time.
        for at in range(0, len(sources), MOST_WAITING):
            some = sources[at : at + MOST_WAITING]
            yield from map(look, some) if all(map(_is_known, some)) else pool.map(look, some)


def _is_known(source: Source) -> bool:
    """Whether nothing of it need be read: listing objects looked into it."""
    return source.beginning is not None and source.beginning.last_time_ns is not None


def _peek(source: Source) -> Peek:
    if source.size_bytes is None:
        return Peek(source.first_time_ns)
    first, head = _first(source)
    source.first_time_ns = first
    packed = bool(source.is_packed)
    last = source.beginning.last_time_ns if source.beginning else None
    try:
        if last is None and head and not packed:
            last = _last(source, head)
    except (DissectError, InputError):
        return Peek(first, None, head, False, packed)
    return Peek(first, last, head, bool(head) and not packed, packed)


def _first(source: Source) -> tuple[int | None, bytes]:
    """The earliest time of the first packets, and the head of the file up to the first one; None and nothing where no packet was
    found."""
    if source.beginning is None:
        try:
            first_look(source)
        except InputError:
            source.beginning = Beginning()  # raised again when the source is read
    assert source.beginning is not None
    return source.beginning.first_time_ns, source.beginning.head


def first_look(source: Source) -> bytes:
    """Sets `source.beginning`, and answers the first bytes of the capture, unpacked. Of an object all of this is one request and
    the question for its size. Raises InputError when it cannot be read."""
    few = replace(source, end=HEAD_READ_BYTES if source.end is None else source.end, done_bytes=0, notes=[])
    blocks = few.blocks(HEAD_READ_BYTES)
    data = next(blocks, b"")
    source.notes, source.is_packed = few.notes, few.is_packed
    try:
        source.beginning = _beginning(source, data, blocks)
    except (DissectError, InputError):
        source.beginning = Beginning()  # raised again when the source is read
    return data


def _beginning(source: Source, data: bytes, more: Iterator[bytes]) -> Beginning:
    """The first packet may not be the earliest: captures can be a little out of order."""
    while True:
        reader = open_reader(data)
        first = new_matrix(layout.PACKET_COLUMNS, 1)
        rows, at, _ = reader.feed(data, 0, first)
        if rows:
            head = reader.head
            earliest = _earliest(first[layout.PACKET_TIME, 0], reader, data, at)
            is_all = not source.is_packed and len(data) == source.size_bytes
            return Beginning(earliest, head, _latest(open_reader(data), data) if is_all else None)
        block = next(more, b"") if len(data) <= MOST_HEAD_BYTES else b""
        if not block:
            return Beginning()
        data += block


def _earliest(first: int, reader: Reader, data: bytes, at: int) -> int | None:
    """The time of the first packet, or an earlier one among those in `data[at:]`; not one of a clock that was set meanwhile."""
    if first == layout.UNKNOWN:
        return None
    packets = new_matrix(layout.PACKET_COLUMNS, HEAD_ROWS)
    rows, _, _ = reader.feed(data, at, packets)
    times = (packets[layout.PACKET_TIME, row] for row in range(rows))
    return min([first, *(time for time in times if time >= first - WINDOW_NS)])


def _last(source: Source, head: bytes) -> int | None:
    """The latest time among the last packets of an uncompressed file; None when they are not found."""
    begin = max(0, (source.size_bytes or 0) - TAIL_BYTES) & -4
    if not begin:
        return _latest(open_reader(data := b"".join(source.blocks())), data)
    tail = replace(source, begin=begin, head=head, done_bytes=0, notes=[])
    data = b"".join(tail.blocks())[len(head) :]
    reader = open_reader(head)
    reader.feed(head, 0, new_matrix(layout.PACKET_COLUMNS, 1))
    offset = reader.guess(data, 0, len(data))
    if offset < 0:
        return None
    reader.enter(begin + offset)
    return _latest(reader, data[offset:])


def _latest(reader: Reader, data: bytes) -> int | None:
    """The latest time of all packets in `data`."""
    packets = new_matrix(layout.PACKET_COLUMNS, TAIL_ROWS)
    times: list[int] = []
    at, why = 0, layout.WHY_OUTPUT_FULL
    while why != layout.WHY_DONE:
        rows, at, why = reader.feed(data, at, packets)
        times += (packets[layout.PACKET_TIME, row] for row in range(rows))
    latest = max(times, default=layout.UNKNOWN)
    return None if latest == layout.UNKNOWN else latest
