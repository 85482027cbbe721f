"""From the bytes of a capture to rows of packets, in the order of their times."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from analyzer.inputs.borders import NEVER, Stretch, stretches
from analyzer.inputs.readings import NO_MORE, Reading
from analyzer.inputs.sources import NOTHING_NOW, SILENT, Source
from dissectors import layout
from dissectors.formats.capture_facts import Interface
from dissectors.formats.format_detection import HEAD_BYTES, TELLING_BYTES, Reader, open_reader
from dissectors.formats.pcapng import PcapngReader
from dissectors.formats.time_order import TimeOrder
from dissectors.formats.time_steps import TimeSteps
from dissectors.formats.times_kept import keep_times
from dissectors.matrix import new_matrix

# Takes the type and the bytes of decryption secrets in the capture, before the packets that follow them.
SecretSink = Callable[[int, bytes], None]
RecordSink = Callable[[memoryview, Reader], None]

# The first record of a piece of a file is searched for in so many bytes at a time.
SEARCH_BYTES = 1 << 18
NO_SNAP_BYTES = 262_144  # tcpdump's own limit: longer than any packet


class PacketBatch(NamedTuple):
    """`packets[:, row:rows]` are the next packets, whose bytes lie in `data` until the batch behind it is taken."""

    data: memoryview
    packets: memoryview
    row: int
    rows: int


class PacketRows:
    """Gives the packets of the source of `reading`, and completes what the reading says about the file.

    `packets` is a matrix to fill; `progress` gets the number of new bytes of each block; `taken` gets the bytes of whole records,
    one after the other, and their reader. Of a source that grows there are batches without rows where it has nothing now.
    """

    def __init__(
        self,
        reading: Reading,
        packets: memoryview,
        block_bytes: int,
        secrets: SecretSink | None = None,
        progress: Callable[[int], None] | None = None,
        taken: RecordSink | None = None,
    ) -> None:
        self._reading = reading
        self._taken = taken
        self._packets = packets
        self._block_bytes = block_bytes
        self._secrets = secrets
        self._progress = progress
        self._order = TimeOrder(packets.shape[1])  # type: ignore[index]
        self._steps = TimeSteps()
        self._start = _Start(reading.source)
        self._reader: Reader | None = None
        self._stretches: list[Stretch] = []
        self._is_complete = False

    def batches(self) -> Iterator[PacketBatch]:
        """Reads the source to its end, or to where it is damaged. Raises InputError, and DissectError when it is no capture; what
        was read before is given first."""
        source = self._reading.source
        if source.begin == source.end:
            return
        border, self._stretches = stretches(source, NO_MORE)
        if border and border.before != layout.UNKNOWN:
            latest = layout.UNKNOWN if border.moved == NEVER else border.moved.end
            self._order.begin_behind(border.top, border.before, latest)
            self._steps.begin_behind(border.before)
        filling = source.fill(bytearray(self._block_bytes))
        data, new = next(filling)
        at = 0
        while True:
            before = at
            at = yield from self._read(data, at, at_end=not new)
            if self._taken and at > before and self._reader:
                self._taken(data[before:at], self._reader)
            if new == SILENT:
                # What waits for earlier packets would wait until others come.
                self._order.finish()
                yield PacketBatch(data, self._order.ready, 0, self._order.ready_rows)
            elif new == NOTHING_NOW:
                yield PacketBatch(data, self._packets, 0, 0)
            elif self._progress:
                self._progress(new)
            if not new or self._is_done:
                break
            used = self._order.lowest_offset(at)
            self._order.move(used)
            at -= used
            data, new = filling.send(used)
        self._order.finish()
        yield PacketBatch(data, self._order.ready, 0, self._order.ready_rows)
        if not new:
            with suppress(StopIteration):
                filling.send(0)
        filling.close()
        self._complete(len(data) - at)

    @property
    def interfaces(self) -> Sequence[Interface]:
        """The interfaces that the file has named so far; PACKET_INTERFACE is an index into it."""
        return self._reader.interfaces if self._reader else ()

    @property
    def _is_done(self) -> bool:
        return self._reader is not None and (self._reader.stopped or not self._stretches)

    def _read(self, data: memoryview, at: int, at_end: bool) -> Generator[PacketBatch, None, int]:
        """The packets of some bytes from `at` on; returns the offset up to which they were used."""
        source = self._reading.source
        if self._reader is None:
            if len(data) < max(HEAD_BYTES, len(source.head)) and not at_end:
                return at
            self._reader = self._start.open(data)
        at = self._start.enter(self._reader, data, at, at_end)
        while self._start.found and self._stretches:
            self._reader.until = self._stretches[0].until
            at = yield from self._read_stretch(self._reader, data, at)
            if self._reader.stopped or not self._reader.ended:
                break
            ended = self._stretches.pop(0)
            if ended.is_own and not (self._stretches and self._stretches[0].is_own):
                self._complete(len(data) - at)
        return at

    def _read_stretch(self, reader: Reader, data: memoryview, at: int) -> Generator[PacketBatch, None, int]:
        """The packets of a stretch, as far as the bytes go."""
        stretch = self._stretches[0]
        why = layout.WHY_OUTPUT_FULL
        while why != layout.WHY_DONE:
            known = len(reader.secrets)
            rows, at, why = reader.feed(data, at, self._packets)
            if stretch.is_own:
                self._tell_secrets(reader, known)
                # Each record is looked at in one piece of a capture, in its place of the file.
                if self._steps.add(self._packets, rows):
                    self._reading.steps = self._steps.told()
                    self._reading.dropped_steps = self._steps.dropped
            if stretch.taken is not None:
                rows = keep_times(self._packets, rows, *stretch.taken, True)
            if stretch.given != NEVER:
                rows = keep_times(self._packets, rows, *stretch.given, False)
            row = 0
            while row < rows:
                first = row
                row, direct = self._order.add(self._packets, row, rows)
                if self._order.ready_rows:
                    yield PacketBatch(data, self._order.ready, 0, self._order.ready_rows)
                if direct > first:
                    yield PacketBatch(data, self._packets, first, direct)
        return at

    def _tell_secrets(self, reader: Reader, known: int) -> None:
        for secret in reader.secrets[known:]:
            self._reading.secrets.append(secret)
            if self._secrets:
                self._secrets(*secret)

    def _complete(self, left: int) -> None:
        """Fills in the reading at the end of its records, or of the file, whose last `left` bytes were not used."""
        reading, source, reader, start = self._reading, self._reading.source, self._reader, self._start
        reading.late_packets, reading.late_ns = self._order.late, self._order.late_ns
        reading.steps_back, reading.first_disorder = self._order.steps_back, self._order.first_number or None
        reading.far_ahead, reading.first_far_ahead = self._order.ahead, self._order.first_ahead
        if reader is None or self._is_complete:
            return
        self._is_complete = True
        if start.found:
            reading.first_offset = start.offset
            reading.end_offset = reader.offset if reader.ended else NO_MORE
            # Of a compressed file that was cut there is a note already.
            has_note = reader.ended or any(note.kind == "cut" for note in source.notes)
            end = None if has_note else reader.finish(left)
            if end is not None and source.notes:
                # What to do about damaged data was said.
                end = replace(end, text=end.text.partition(";")[0])
            reading.notes = [*source.notes, *reader.notes, *([end] if end else [])]
            reading.bytes = _bytes_read(reader, left) - start.offset
            reading.numbers = reader.packets
        reading.head = reader.head
        reading.format = "pcapng" if isinstance(reader, PcapngReader) else "pcap"
        reading.drops = {n: each.drops for n, each in enumerate(reader.interfaces) if each.drops is not None}
        reading.snap_bytes = _snap_bytes(reader)


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
        return open_reader(bytes(data[:TELLING_BYTES]))

    def enter(self, reader: Reader, data: memoryview, at: int, at_end: bool) -> int:
        """Looks for the first record from `at` on, and returns the offset up to which it looked; `at_end`: no more bytes will
        follow. Sets `found`."""
        if self.found:
            return at
        if not self._entered:
            at = len(self._source.head)
            reader.feed(bytes(data[:at]), 0, new_matrix(layout.PACKET_COLUMNS, 1))
            self._entered = True
        first, searched = at, at
        if not self._source.exact:
            searched = len(data) if at_end else at + (max(0, len(data) - at - SEARCH_BYTES) & -4)
            first = reader.guess(data, at, searched)
        self.found = first >= 0
        here = first if self.found else searched
        self.offset += here - at
        if self.found:
            reader.enter(self.offset)
        return here


def _bytes_read(reader: Reader, left: int) -> int:
    """The offset up to which the file was read; at most where the reader stopped."""
    if reader.stopped:
        return reader.notes[-1].offset
    return reader.offset + (0 if reader.ended else left)


def _snap_bytes(reader: Reader) -> int | None:
    """The least snap length of all interfaces; None when none cuts a packet that a network can carry."""
    lengths = [interface.snaplen_bytes for interface in reader.interfaces]
    return min((length for length in lengths if 0 < length < NO_SNAP_BYTES), default=None)
