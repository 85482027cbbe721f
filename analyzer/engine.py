"""One split of a capture -> raw rows, or fragments.

A run over whole captures feeds its segments straight to the pipeline. A split that has neighbours hands every TCP segment on
as a fragment instead, and `stitch` runs the same pipeline over the fragments of all splits, connection by connection. (That
is the plain form of the design's map stage: nothing is resolved inside a split that has neighbours. Resolving there what is
sure, so that only boundaries travel, is a later step; the contract between the two stays.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.raw import SPLIT_SHIFT
from analyzer.sources import InputError, Source
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.net.facts import Note
from dissectors.net.formats import HEAD_BYTES, open_reader
from dissectors.net.packets import Packets

if TYPE_CHECKING:
    # Takes rows [0, rows) of a segments matrix whose payloads lie in the block.
    SegmentSink = Callable[[memoryview, memoryview, int], None]

BLOCK_BYTES = 1 << 20
PACKET_ROWS = 8_192 + 8  # as the rows of the pipeline


@dataclass(slots=True)
class Reading:
    """What reading one split gave: the facts of the table `captures`, and notes for a person.

    `file` is the number of the input that the split is part of. `numbers` counts the packet numbers used here (pcapng blocks
    that are no packets may take one, as in Wireshark), `packets_before` those of the same file in earlier splits.
    `failure` is one line when the input is no capture at all, else None; `notes` tell of damage, after which what came
    before still counts.
    """

    split: int
    source: Source
    file: int
    packets_before: int = 0
    format: str | None = None
    bytes: int = 0
    numbers: int = 0
    outcomes: list[int] = field(default_factory=lambda: [0] * layout.SEEN_OUTCOMES)
    link_types: list[int] = field(default_factory=list)
    first_time_ns: int | None = None
    last_time_ns: int | None = None
    dropped_packets: int | None = None
    notes: list[Note] = field(default_factory=list)
    failure: str | None = None


class Engine:
    """Reads splits one after the other; segments go to `sink` in file order, numbered (split, packet)."""

    def __init__(self, sink: SegmentSink, block_bytes: int = BLOCK_BYTES) -> None:
        self._sink = sink
        self._block_bytes = block_bytes
        self._packets = Packets()
        self._packet_rows = layout.matrix(layout.PACKET_COLUMNS, PACKET_ROWS)
        self._segment_rows = layout.matrix(layout.SEGMENT_COLUMNS, PACKET_ROWS)

    def read(self, split: int, source: Source, progress: Callable[[int], None] | None = None) -> Reading:
        """Reads one input to its end, or to where it is damaged.

        `progress` hears how many bytes each block brought.
        """
        reading = Reading(split, source, file=split)
        before = self._packets.outcomes()
        links_before = self._packets.by_link()
        self._packets.begin(split << SPLIT_SHIFT)
        try:
            self._read(reading, progress)
        except DissectError as error:
            reading.failure = f"{source.name}: not a capture that can be read: wanted {error.wanted}, got {error.got}"
        except InputError as error:
            reading.failure = str(error)
        reading.outcomes = [now - then for now, then in zip(self._packets.outcomes(), before, strict=True)]
        reading.first_time_ns, reading.last_time_ns = self._packets.time_range()
        links = self._packets.by_link()
        reading.link_types = [link for link, counts in links.items() if counts != links_before.get(link)]
        return reading

    def _read(self, reading: Reading, progress: Callable[[int], None] | None) -> None:
        reader = None
        filling = reading.source.fill(bytearray(self._block_bytes))
        data, used, left = memoryview(b""), 0, 0
        try:
            data, new = next(filling)
            while True:
                reading.bytes += new
                if reader is None and len(data) >= HEAD_BYTES:
                    reader = open_reader(bytes(data[:HEAD_BYTES]))
                used = 0 if reader is None else self._read_block(reader, data)
                left = len(data) - used
                if progress:
                    progress(new)
                if reader is not None and reader.stopped:
                    break
                data, new = filling.send(used)
        except StopIteration:
            pass
        finally:
            filling.close()
        if reader is None:
            reader = open_reader(bytes(data))
            left = len(data) - self._read_block(reader, data)
        # A compressed file that was cut is told of once.
        end = None if any(note.kind == "cut" for note in reading.source.notes) else reader.finish(left)
        reading.notes = [*reading.source.notes, *reader.notes, *([end] if end else [])]
        reading.numbers = reader.packets
        reading.format = "pcapng" if type(reader).__name__ == "PcapngReader" else "pcap"
        reading.dropped_packets = _drops(reader)

    def _read_block(self, reader: object, data: memoryview) -> int:
        """Hands on the packets of one block; returns how much of it was used."""
        at, why = 0, layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            rows, at, why = reader.feed(data, at, self._packet_rows)  # type: ignore[attr-defined]
            row = 0
            while row < rows:
                row, segments, _ = self._packets.feed(data, self._packet_rows, rows, row, self._segment_rows)
                if segments:
                    self._sink(data, self._segment_rows, segments)
        return at


def _drops(reader: object) -> int | None:
    """Packets that the capturing host says it lost, over all interfaces; None when it says nothing."""
    counts = [interface.drops for interface in reader.interfaces if interface.drops is not None]  # type: ignore[attr-defined]
    return sum(counts) if counts else None
