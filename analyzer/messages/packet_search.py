"""Which exchanges the packet of a capture belongs to: of any packet of a message, as Wireshark shows most messages at their last.

Tables know the packet in which a message begins. Any other packet is looked for in the capture: its connection and its time lead
to the messages on their way at that time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.filters import literal
from analyzer.ingest.arrow_tables import address_text
from analyzer.inputs.input import new_matrices
from analyzer.inputs.packet_rows import PacketRows
from analyzer.inputs.readings import Reading
from analyzer.messages.bodies import captures_again
from dissectors import layout
from dissectors.packet.packets import Packets

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.query.dataset import Dataset

_PACKET = re.compile(r"(?:(?P<name>.+):)?#?(?P<number>\d{1,15})", re.DOTALL)
_BLOCK_BYTES = 1 << 20
# One row a message: which packet it begins in, who sends it to whom, and its time.
_MESSAGES = """
    SELECT exchange, connection, 'request' AS side, request_file AS file, request_packet AS packet, client_address AS source,
        client_port AS source_port, broker_address AS target, broker_port AS target_port, request_time_ns AS first_ns,
        request_end_ns AS last_ns
    FROM exchanges
    UNION ALL
    SELECT exchange, connection, 'response', response_file, response_packet, broker_address, broker_port, client_address,
        client_port, response_time_ns, response_end_ns
    FROM exchanges"""


class Place(NamedTuple):
    """A packet: the number of its input (`captures.file`), and its own number as Wireshark counts."""

    file: int
    packet: int


class _Segment(NamedTuple):
    source: str
    source_port: int
    target: str
    target_port: int
    time_ns: int


def is_packet(word: str) -> bool:
    """Whether a word names a packet: 1234, '#1234' or FILE:1234."""
    return _PACKET.fullmatch(word) is not None


def place(dataset: Dataset, word: str) -> Place:
    """The packet that a word names. Raises ValueError where several captures have that packet, or the capture is not there."""
    said = _PACKET.fullmatch(word)
    assert said is not None
    number = int(said["number"])
    # Wireshark numbers some blocks that are no packets, so a message may begin behind the count of packets.
    captures = dataset.query(
        f"WITH messages AS ({_MESSAGES}) SELECT c.file, c.path, greatest(c.packets, max(m.packet)) AS last "
        "FROM all_captures AS c LEFT JOIN messages AS m ON m.file = c.file GROUP BY c.file, c.path, c.packets ORDER BY c.file"
    )
    if said["name"] is not None:
        names = [row for row in captures if said["name"] in (row["path"], PurePath(row["path"]).name)]
        if len(names) != 1:
            raise ValueError(f"{said['name']} is {'the name of several captures' if names else 'none of the captures'}")
        return Place(names[0]["file"], number)
    having = [row for row in captures if row["last"] >= number]
    if len(having) > 1:
        name = PurePath(having[0]["path"]).name
        raise ValueError(f"{len(having):,} captures have a packet {number}: name one, as in {name}:{number}")
    return Place(having[0]["file"] if having else 0, number)


def beginning_in(dataset: Dataset, at: Place) -> list[int]:
    """Exchanges with a message that begins in the packet, or with one before it on the same way that ends there."""
    return _found(
        dataset,
        f"SELECT exchange FROM messages WHERE file = {at.file} AND packet = {at.packet} UNION "
        "SELECT m.exchange FROM messages AS m JOIN messages AS other ON m.connection = other.connection AND m.side = other.side "
        f"WHERE other.file = {at.file} AND other.packet = {at.packet} AND m.first_ns < other.first_ns "
        "AND m.last_ns >= other.first_ns",
    )


def passing_in(dataset: Dataset, inputs: Sequence[str], options: Options, at: Place) -> list[int]:
    """Exchanges with a message that has bytes in the packet, which is looked for in the capture; those of its capture point alone,
    as another's clock may tell other times. Raises InputError."""
    seen = _segment(dataset, inputs, options, at)
    if seen is None:
        return []
    return _found(
        dataset,
        f"SELECT exchange FROM messages WHERE source = {literal(seen.source)} AND source_port = {seen.source_port} "
        f"AND target = {literal(seen.target)} AND target_port = {seen.target_port} "
        f"AND {seen.time_ns} BETWEEN first_ns AND last_ns AND (first_ns < {seen.time_ns} OR packet <= {at.packet}) "
        f"AND file IN (SELECT o.file FROM all_captures AS o JOIN all_captures AS c ON c.tap = o.tap WHERE c.file = {at.file})",
    )


def _found(dataset: Dataset, condition: str) -> list[int]:
    return [row["exchange"] for row in dataset.query(f"WITH messages AS ({_MESSAGES}) {condition} ORDER BY exchange")]


def _segment(dataset: Dataset, inputs: Sequence[str], options: Options, at: Place) -> _Segment | None:
    """The TCP segment with a payload that the packet carries; None: it carries none, or is not there."""
    sources = captures_again(dataset, inputs)
    if at.file >= len(sources):
        return None
    matrices = new_matrices()
    segments, stage = matrices.segments, Packets(tunnels=options.decode_as)
    # One column of the matrix after the other.
    flat = segments.cast("B").cast("q")
    begin = layout.SEGMENT_NUMBER * (len(flat) // layout.SEGMENT_COLUMNS)
    reading = Reading(0, sources[at.file], file=at.file)
    for data, packets, row, rows in PacketRows(reading, matrices.packets, _BLOCK_BYTES).batches():
        while row < rows:
            row, found, _ = stage.feed(data, packets, rows, row, segments)
            there = flat[begin : begin + found].tolist()
            if at.packet in there:
                column = there.index(at.packet)
                return _as_segment(segments, column) if segments[layout.SEGMENT_LENGTH, column] > 0 else None
    return None


def _as_segment(segments: memoryview, column: int) -> _Segment:
    def of(name: int) -> int:
        return segments[name, column]  # type: ignore[no-any-return]

    return _Segment(
        address_text(of(layout.SEGMENT_SRC_HIGH), of(layout.SEGMENT_SRC_LOW)),
        of(layout.SEGMENT_SRC_PORT),
        address_text(of(layout.SEGMENT_DST_HIGH), of(layout.SEGMENT_DST_LOW)),
        of(layout.SEGMENT_DST_PORT),
        of(layout.SEGMENT_TIME),
    )
