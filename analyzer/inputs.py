"""One input being read: from the bytes of a capture file to batches of TCP segments, and the facts about the input."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from analyzer.raw import SPLIT_SHIFT
from analyzer.sources import InputError, Source
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.net.facts import Note
from dissectors.net.formats import HEAD_BYTES, open_reader
from dissectors.net.packets import Packets

if TYPE_CHECKING:
    from dissectors.net.fragments import Fragments

    # Takes the type and the bytes of decryption secrets in the capture, before the packets that follow them.
    SecretSink = Callable[[int, bytes], None]

PACKET_ROWS = 8_192 + 8  # as the rows of the pipeline
# Inputs read at the same time have numbers of their own, above those of their interfaces.
PLACE_SHIFT = 20
NO_SNAP_BYTES = 262_144  # tcpdump's own limit: longer than any packet


@dataclass(slots=True)
class Reading:
    """What reading one split gave: the facts of the table `captures`, and notes for a person.

    `file` is the number of the input that the split is part of. `numbers` counts the packet numbers used here (pcapng blocks
    that are no packets may take one, as in Wireshark), `packets_before` those of the same file in earlier splits.
    `tap` is the name that somebody gave to the place of capture, empty when nobody did; `place` a number that inputs share
    unless they were captured at the same time. `failure` is one line when the input is no capture at all, else None;
    `notes` tell of damage, after which what came before still counts.
    """

    split: int
    source: Source
    file: int
    packets_before: int = 0
    tap: str = ""
    place: int = 0
    format: str | None = None
    bytes: int = 0
    numbers: int = 0
    outcomes: list[int] = field(default_factory=lambda: [0] * layout.SEEN_OUTCOMES)
    link_types: list[int] = field(default_factory=list)
    unread_links: list[int] = field(default_factory=list)  # those of them that no reader knows
    first_time_ns: int | None = None
    last_time_ns: int | None = None
    dropped_packets: int | None = None
    snap_bytes: int | None = None
    notes: list[Note] = field(default_factory=list)
    failure: str | None = None


class Share(NamedTuple):
    """Number `number`, from 0, of `of` runs over the same inputs, each of which takes connections of its own."""

    number: int = 0
    of: int = 1


WHOLE = Share()


class Matrices(NamedTuple):
    """What an input writes its batches into."""

    packets: memoryview
    segments: memoryview


def new_matrices(rows: int = PACKET_ROWS) -> Matrices:
    return Matrices(layout.matrix(layout.PACKET_COLUMNS, rows), layout.matrix(layout.SEGMENT_COLUMNS, rows))


class Input:
    """Gives the segments of one input: `segments[:, row:rows]`, whose payloads lie in `block`, until `advance` is false.

    `latest` is the highest time so far, None when no packet had one. `row` is the reader's to move.
    """

    def __init__(
        self,
        reading: Reading,
        matrices: Matrices,
        block_bytes: int,
        fragments: Fragments,
        secrets: SecretSink | None = None,
        progress: Callable[[int], None] | None = None,
        share: Share = WHOLE,
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
        self._packets = Packets(fragments=fragments, share=share.number, shares=share.of)
        self._packets.begin(reading.split << SPLIT_SHIFT, reading.tap, reading.place << PLACE_SHIFT)
        self._odd_fragments = _odd(fragments)
        self._batches = self._read_all()

    @property
    def latest(self) -> int | None:
        return self._packets.time_range()[1]  # type: ignore[no-any-return]

    @property
    def time(self) -> int:
        """Of the next segment, or of the one behind it when that is earlier: a clock that jumped ahead for one packet must
        not hold up the rest. UNKNOWN is lower than any other."""
        following = min(self.row + 1, self.rows - 1)
        times = layout.SEGMENT_TIME
        return min(self.segments[times, self.row], self.segments[times, following])  # type: ignore[no-any-return]

    def advance(self) -> bool:
        """Goes on to the next batch, or to the next segment that is left; false at the end."""
        if self.row < self.rows:
            return True
        for block, segments, rows in self._batches:
            if rows:
                self.block, self.segments, self.row, self.rows = block, segments, 0, rows
                return True
        return False

    def _read_all(self) -> Iterator[tuple[memoryview, memoryview, int]]:
        """All batches; reads the input to its end, or to where it is damaged, and then fills in the reading."""
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
        for what, before, now in zip(_ODD, self._odd_fragments, _odd(self._packets.fragments), strict=True):
            if now > before:
                reading.notes.append(Note("odd", 0, reading.numbers, f"{now - before:,} {what}"))

    def _read(self) -> Iterator[tuple[memoryview, memoryview, int]]:
        reading, reader = self.reading, None
        filling = reading.source.fill(bytearray(self._block_bytes))
        data, used, left = memoryview(b""), 0, 0
        try:
            data, new = next(filling)
            while True:
                reading.bytes += new
                if reader is None and len(data) >= HEAD_BYTES:
                    reader = open_reader(bytes(data[:HEAD_BYTES]))
                if reader is None:
                    used = 0
                else:
                    used = yield from self._read_block(reader, data)
                left = len(data) - used
                if self._progress:
                    self._progress(new)
                if reader is not None and reader.stopped:
                    break
                data, new = filling.send(used)
        except StopIteration:
            pass
        finally:
            filling.close()
        if reader is None:
            reader = open_reader(bytes(data))
            used = yield from self._read_block(reader, data)
            left = len(data) - used
        # A compressed file that was cut is told of once.
        end = None if any(note.kind == "cut" for note in reading.source.notes) else reader.finish(left)
        reading.notes = [*reading.source.notes, *reader.notes, *([end] if end else [])]
        reading.numbers = reader.packets
        reading.format = "pcapng" if type(reader).__name__ == "PcapngReader" else "pcap"
        reading.dropped_packets = _drops(reader)
        reading.snap_bytes = _snap_bytes(reader)

    def _read_block(self, reader: object, data: memoryview) -> Generator[tuple[memoryview, memoryview, int], None, int]:
        """The segments of one block; returns how much of it was used."""
        at, why = 0, layout.WHY_OUTPUT_FULL
        packets, segments = self.matrices
        while why != layout.WHY_DONE:
            known = len(reader.secrets)  # type: ignore[attr-defined]
            rows, at, why = reader.feed(data, at, packets)  # type: ignore[attr-defined]
            for secret in reader.secrets[known:] if self._secrets else ():  # type: ignore[attr-defined]
                self._secrets(*secret)  # type: ignore[misc]
            row = 0
            while row < rows:
                row, found, reason = self._packets.feed(data, packets, rows, row, segments)
                if reason == layout.WHY_DATAGRAM:
                    yield data, segments, found - 1
                    yield memoryview(self._packets.datagram), _one_row(segments, found - 1), 1
                elif found:
                    yield data, segments, found
        return at


def _one_row(segments: memoryview, row: int) -> memoryview:
    """A copy of one row, for a segment whose bytes are elsewhere."""
    one = layout.matrix(layout.SEGMENT_COLUMNS, 1)
    for column in range(layout.SEGMENT_COLUMNS):
        one[column, 0] = segments[column, row]
    return one


_ODD = (
    "IP datagrams whose fragments overlap; of every byte the first copy counts",
    "IP fragments that no datagram can have were passed over",
)


def _odd(fragments: Fragments) -> tuple[int, int]:
    return fragments.overlapping, fragments.impossible


def _drops(reader: object) -> int | None:
    """Packets that the capturing host says it lost, over all interfaces; None when it says nothing."""
    counts = [interface.drops for interface in reader.interfaces if interface.drops is not None]  # type: ignore[attr-defined]
    return sum(counts) if counts else None


def _snap_bytes(reader: object) -> int | None:
    """The least snap length of all interfaces; None when none cuts a packet that a network can carry."""
    lengths = [interface.snaplen_bytes for interface in reader.interfaces]  # type: ignore[attr-defined]
    return min((length for length in lengths if 0 < length < NO_SNAP_BYTES), default=None)
