"""One input being read: from the packets of a capture to batches of TCP segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.traffic_names import name_unread
from analyzer.inputs.expansion import not_a_capture
from analyzer.inputs.packet_rows import PacketRows
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import InputError
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.layout import SPLIT_SHIFT
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets

if TYPE_CHECKING:
    from analyzer.inputs.packet_rows import RecordSink, SecretSink
    from dissectors.packet.ip_fragments import Fragments

PACKET_ROWS = 8_192 + 8  # as the rows of the pipeline
# The capture point of a packet is its interface, and from this bit on the number of the capture point of its input.
CAPTURE_POINT_SHIFT = 20


class Shard(NamedTuple):
    """The connections that one of `of` workers takes; all workers read the same inputs; `number` is that of the worker, from 0.

    By hash of the connection; or `weighed`: a group of hashes goes to the shard with the fewest segments when it is first met.
    That needs all workers to see the same packets in the same order, so it is for a single input: inputs may be merged."""

    number: int = 0
    of: int = 1
    weighed: bool = False


ALL_CONNECTIONS = Shard()


class Matrices(NamedTuple):
    """The matrices that an input fills with its batches."""

    packets: memoryview
    segments: memoryview


def new_matrices(rows: int = PACKET_ROWS) -> Matrices:
    return Matrices(new_matrix(layout.PACKET_COLUMNS, rows), new_matrix(layout.SEGMENT_COLUMNS, rows))


class Input:
    """Gives the segments of one input: `segments[:, row:rows]`, whose payloads lie in `block`, until `advance` is false.

    The consumer moves `row` behind the segments that it took.
    """

    def __init__(
        self,
        reading: Reading,
        matrices: Matrices,
        block_bytes: int,
        fragments: Fragments,
        secrets: SecretSink | None = None,
        progress: Callable[[int], None] | None = None,
        shard: Shard = ALL_CONNECTIONS,
        decode_as: Sequence[tuple[int, str]] = (),
        taken: RecordSink | None = None,
    ) -> None:
        self.reading = reading
        self.matrices = matrices
        self.block = memoryview(b"")
        self.segments = matrices.segments
        self.row = 0
        self.rows = 0
        self._packet_rows = PacketRows(reading, matrices.packets, block_bytes, secrets, progress, taken)
        self._packets = Packets(
            fragments=fragments, shard=shard.number, shards=shard.of, weighed=shard.weighed, tunnels=decode_as
        )
        self._packets.begin(reading.split << SPLIT_SHIFT, reading.tap, reading.capture_point << CAPTURE_POINT_SHIFT)
        self._odd_fragments = _odd(fragments)
        self._batches = self._read_all()

    @property
    def latest(self) -> int | None:
        """The latest time of a packet so far, None when no packet had one."""
        return self._packets.time_range()[1]  # type: ignore[no-any-return]

    @property
    def time(self) -> int:
        """The time of the next segment, or of the one after it if that is earlier: a clock that jumped ahead for one packet
        must not delay the others. UNKNOWN is lower than any time."""
        following = min(self.row + 1, self.rows - 1)
        times = layout.SEGMENT_TIME
        return min(self.segments[times, self.row], self.segments[times, following])  # type: ignore[no-any-return]

    def advance(self) -> bool:
        """Reads the next batch when all segments of this one are taken; false at the end of the input."""
        if self.row < self.rows:
            return True
        for block, segments, rows in self._batches:
            if rows:
                self.block, self.segments, self.row, self.rows = block, segments, 0, rows
                return True
        return False

    def advance_now(self) -> bool:
        """The same of a source that grows: true also where it has no segments now (`row == rows`)."""
        if self.row == self.rows:
            following = next(self._batches, None)
            if following is None:
                return False
            self.block, self.segments, self.rows = following
            self.row = 0
        return True

    def _read_all(self) -> Iterator[tuple[memoryview, memoryview, int]]:
        """Reads the input to its end, or to where it is damaged, and then completes the reading."""
        reading = self.reading
        try:
            for data, packets, row, rows in self._packet_rows.batches():
                if row == rows:
                    yield data, self.matrices.segments, 0
                yield from self._segments_of(data, packets, row, rows)
        except DissectError as error:
            reading.failure = not_a_capture(reading.source, error)
        except InputError as error:
            reading.failure = str(error)
        reading.outcomes = self._packets.outcomes()
        reading.first_time_ns, reading.last_time_ns = self._packets.time_range()
        links = self._packets.by_link()
        reading.link_types = list(links)
        reading.unread_links = [link for link, counts in links.items() if counts[layout.SEEN_UNKNOWN_LINK]]
        reading.unread = name_unread(
            self._packets.udp_ports(),
            self._packets.protocols(),
            self._packets.ethertypes(),
            reading.outcomes[layout.SEEN_NOT_IP] + reading.outcomes[layout.SEEN_NOT_TCP],
        )
        reading.incomplete = self._packets.fragments.incomplete
        now = _odd(self._packets.fragments)
        reading.odd_datagrams = tuple(count - before for count, before in zip(now, self._odd_fragments, strict=True))

    def _segments_of(
        self, data: memoryview, packets: memoryview, row: int, rows: int
    ) -> Iterator[tuple[memoryview, memoryview, int]]:
        """The segments in `packets[:, row:rows]`, whose bytes lie in `data`."""
        segments = self.matrices.segments
        while row < rows:
            row, found, reason = self._packets.feed(data, packets, rows, row, segments)
            if reason == layout.WHY_DATAGRAM:
                yield data, segments, found - 1
                yield memoryview(self._packets.datagram), _one_row(segments, found - 1), 1
            elif found:
                yield data, segments, found


def _one_row(segments: memoryview, row: int) -> memoryview:
    """A copy of one row, for a segment whose payload lies in another block."""
    one = new_matrix(layout.SEGMENT_COLUMNS, 1)
    for column in range(layout.SEGMENT_COLUMNS):
        one[column, 0] = segments[column, row]
    return one


def _odd(fragments: Fragments) -> tuple[int, int]:
    return fragments.overlapping, fragments.impossible
