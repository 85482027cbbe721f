"""One input being read: from the bytes of a capture file to batches of TCP segments, and the facts about the input."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.traffic_names import Unread, name_unread
from analyzer.inputs.sources import InputError, Source
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.formats.capture_facts import Note
from dissectors.formats.format_detection import HEAD_BYTES, Reader, open_reader
from dissectors.formats.pcapng import PcapngReader
from dissectors.layout import SPLIT_SHIFT
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets

if TYPE_CHECKING:
    from dissectors.packet.ip_fragments import Fragments

    # Takes the type and the bytes of decryption secrets in the capture, before the packets that follow them.
    SecretSink = Callable[[int, bytes], None]

PACKET_ROWS = 8_192 + 8  # as the rows of the pipeline
# The capture point of a packet is its interface, and from this bit on the number of the capture point of its input.
CAPTURE_POINT_SHIFT = 20
# The first record of a part of a file is searched for in so many bytes at a time.
SEARCH_BYTES = 1 << 18
# `end_offset` where no record follows: the file ended, or is damaged from there on.
NO_MORE = 1 << 62
NO_SNAP_BYTES = 262_144  # tcpdump's own limit: longer than any packet
Octets = bytes  # for annotations in a class with a field `bytes`


@dataclass(slots=True)
class Reading:
    """What reading one split gave: facts for the table `captures`, and notes for a person.

    `file` is the number of the input that the split is part of. `numbers` counts the packet numbers used here: some pcapng
    blocks that are no packets take one, as in Wireshark.
    `tap` is the name that a person gave to the capture point, empty without one; `capture_point` a number that inputs share
    unless they were captured at the same time. `failure` is one line when the input is no capture at all, else None;
    `notes` tell of damage, and what was read before counts; `odd_datagrams` counts what `ODD_DATAGRAMS` names,
    `incomplete` are IP datagrams of which the run did not see all fragments.
    `drops`: interface -> packets that the capturing host lost, by its newest count. `secrets` are those in the capture,
    (type, bytes).

    For a part of a file, `first_offset` is where its first record begins, and `end_offset` where the first record behind it
    begins, NO_MORE when there is none; both are None when no record was found. `head` is what a reader must know to go on
    there.
    """

    split: int
    source: Source
    file: int
    tap: str = ""
    capture_point: int = 0
    format: str | None = None
    bytes: int = 0
    numbers: int = 0
    outcomes: list[int] = field(default_factory=lambda: [0] * layout.SEEN_OUTCOMES)
    link_types: list[int] = field(default_factory=list)
    unread_links: list[int] = field(default_factory=list)  # those of them that no reader knows
    unread: list[Unread] = field(default_factory=list)  # packets without TCP, or without any that is read, by name
    first_time_ns: int | None = None
    last_time_ns: int | None = None
    drops: dict[int, int] = field(default_factory=dict)
    snap_bytes: int | None = None
    notes: list[Note] = field(default_factory=list)
    odd_datagrams: tuple[int, ...] = (0, 0)
    incomplete: frozenset[tuple[int, ...]] = frozenset()
    failure: str | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    head: Octets = field(default=b"", repr=False)
    secrets: list[tuple[int, Octets]] = field(default_factory=list, repr=False)


class Shard(NamedTuple):
    """The connections that one of `of` workers takes, all of which read the same inputs; `number` is that of the worker, from 0.

    By hash of the connection; or `weighed`: a group of hashes goes to the shard with the fewest segments when it is first met.
    That needs all workers to see the same packets in the same order, so it is for a single input: inputs may be merged."""

    number: int = 0
    of: int = 1
    weighed: bool = False


ALL_CONNECTIONS = Shard()


def tap_of(name: str, taps: Sequence[tuple[str, str]]) -> str:
    """The name of the capture point of an input, by the first of `taps` (name, glob) that matches; empty: none does."""
    for tap, pattern in taps:
        if fnmatchcase(name, pattern) or fnmatchcase(PurePath(name).name, pattern):
            return tap
    return ""


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
    ) -> None:
        self.reading = reading
        self.matrices = matrices
        self.block = memoryview(b"")
        self.segments = matrices.segments
        self.row = 0
        self.rows = 0
        self._block_bytes = block_bytes
        self._secrets = secrets
        self._progress = progress
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

    def _read_all(self) -> Iterator[tuple[memoryview, memoryview, int]]:
        """Reads the input to its end, or to where it is damaged, and then completes the reading."""
        reading = self.reading
        try:
            yield from self._read()
        except DissectError as error:
            reading.failure = (
                f"{reading.source.name}: not a capture that can be read: wanted {error.wanted}, got {error.got}"
            )
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

    def _read(self) -> Iterator[tuple[memoryview, memoryview, int]]:
        source = self.reading.source
        if source.begin == source.end:
            return
        reader: Reader | None = None
        start = _Start(source)
        filling = source.fill(bytearray(self._block_bytes))
        data, used, left = memoryview(b""), 0, 0
        try:
            data, new = next(filling)
            while True:
                if reader is None and len(data) >= max(HEAD_BYTES, len(source.head)):
                    reader = start.open(data)
                used = 0
                if reader is not None:
                    used = yield from self._read_data(reader, start, data)
                left = len(data) - used
                if self._progress:
                    self._progress(new)
                if reader is not None and (reader.stopped or reader.ended):
                    break
                data, new = filling.send(used)
        except StopIteration:
            pass
        finally:
            filling.close()
        if reader is None or not start.found:
            data = data[:left]
            reader = reader or start.open(data)
            left -= yield from self._read_data(reader, start, data, at_end=True)
        self._complete(reader, start, left)

    def _read_data(
        self, reader: Reader, start: _Start, data: memoryview, at_end: bool = False
    ) -> Generator[tuple[memoryview, memoryview, int], None, int]:
        """The segments of some bytes; returns how many of them were used."""
        used = start.enter(reader, data, at_end)
        if start.found:
            used += yield from self._read_block(reader, data[used:] if used else data)
        return used

    def _complete(self, reader: Reader, start: _Start, left: int) -> None:
        """Fills in the reading when all bytes were read, of which the last `left` were not used."""
        reading, source = self.reading, self.reading.source
        if start.found:
            begin = start.offset
            reading.first_offset = begin
            reading.end_offset = reader.offset if reader.ended else NO_MORE
            # Of a compressed file that was cut there is a note already.
            has_note = reader.ended or any(note.kind == "cut" for note in source.notes)
            end = None if has_note else reader.finish(left)
            reading.notes = [*source.notes, *reader.notes, *([end] if end else [])]
            reading.bytes = _bytes_read(reader, left) - begin
            reading.numbers = reader.packets
        reading.head = reader.head
        reading.format = "pcapng" if isinstance(reader, PcapngReader) else "pcap"
        reading.drops = {n: each.drops for n, each in enumerate(reader.interfaces) if each.drops is not None}
        reading.snap_bytes = _snap_bytes(reader)

    def _read_block(self, reader: Reader, data: memoryview) -> Generator[tuple[memoryview, memoryview, int], None, int]:
        """The segments of one block; returns how much of it was used."""
        at, why = 0, layout.WHY_OUTPUT_FULL
        packets, segments = self.matrices
        while why != layout.WHY_DONE:
            known = len(reader.secrets)
            rows, at, why = reader.feed(data, at, packets)
            for secret in reader.secrets[known:]:
                self.reading.secrets.append(secret)
                if self._secrets:
                    self._secrets(*secret)
            row = 0
            while row < rows:
                row, found, reason = self._packets.feed(data, packets, rows, row, segments)
                if reason == layout.WHY_DATAGRAM:
                    yield data, segments, found - 1
                    yield memoryview(self._packets.datagram), _one_row(segments, found - 1), 1
                elif found:
                    yield data, segments, found
        return at


class _Start:
    """Where an input begins: at byte 0, or in the middle of a file, where the first record must be found.

    `offset` is that of the first record (or of the file header) once it is `found`; before that, the offset up to which the
    file was searched.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.offset = source.begin
        self.found = source.begin == 0
        self._entered = self.found

    def open(self, data: memoryview) -> Reader:
        """The reader for an input that begins with `data`. Raises DissectError when it is no capture."""
        reader = open_reader(bytes(data[:HEAD_BYTES]))
        if self.found:
            self._limit(reader)
        return reader

    def _limit(self, reader: Reader) -> None:
        if self._source.end is not None:
            reader.until = self._source.end

    def enter(self, reader: Reader, data: memoryview, at_end: bool = False) -> int:
        """How many of the bytes come before the first record; `at_end`: no more bytes will follow. Sets `found`."""
        if self.found:
            return 0
        used = 0
        if not self._entered:
            used = len(self._source.head)
            reader.feed(bytes(data[:used]), 0, new_matrix(layout.PACKET_COLUMNS, 1))
            self._entered = True
        first, searched = used, used
        if not self._source.exact:
            searched = len(data) if at_end else used + (max(0, len(data) - used - SEARCH_BYTES) & -4)
            first = reader.guess(data, used, searched)
        self.found = first >= 0
        here = first if self.found else searched
        self.offset += here - used
        if self.found:
            reader.enter(self.offset)
            self._limit(reader)
        return here


def _one_row(segments: memoryview, row: int) -> memoryview:
    """A copy of one row, for a segment whose payload lies in another block."""
    one = new_matrix(layout.SEGMENT_COLUMNS, 1)
    for column in range(layout.SEGMENT_COLUMNS):
        one[column, 0] = segments[column, row]
    return one


ODD_DATAGRAMS = (
    "IP datagrams whose fragments overlap; of every byte the first copy counts",
    "IP fragments that no datagram can have were passed over",
)


def _odd(fragments: Fragments) -> tuple[int, int]:
    return fragments.overlapping, fragments.impossible


def _bytes_read(reader: Reader, left: int) -> int:
    """The offset up to which the file was read; at most where the reader stopped."""
    if reader.stopped:
        return reader.notes[-1].offset
    return reader.offset + (0 if reader.ended else left)


def _snap_bytes(reader: Reader) -> int | None:
    """The least snap length of all interfaces; None when none cuts a packet that a network can carry."""
    lengths = [interface.snaplen_bytes for interface in reader.interfaces]
    return min((length for length in lengths if 0 < length < NO_SNAP_BYTES), default=None)
