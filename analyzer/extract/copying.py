"""The second pass over captures: packets that were chosen go into a pcapng file as they are.

Packets keep their bytes, times, and the clock, name and link type of their interface. Files come one after the other in the order
of their first packets, packets of one in the order of their times. Memory holds a block of a file and the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.extract.pcapng_file import PcapngFile, ticks_of
from analyzer.inputs.input import new_matrices
from analyzer.inputs.packet_rows import PacketBatch, PacketRows
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import Source
from dissectors import layout
from dissectors.packet.flow_picker import FlowPicker
from dissectors.packet.packets import Packets

if TYPE_CHECKING:
    from analyzer.extract.choice import Choice

BLOCK_BYTES = 1 << 20


class FragmentsMet(Exception):
    """A wanted segment came in IP fragments, and those before its last are not in the copy: copy once more with `file` among
    `with_fragments`."""

    def __init__(self, file: int) -> None:
        super().__init__(file)
        self.file = file


@dataclass
class Copied:
    """What was written. `without_time`: chosen packets that were left out, because pcapng has no packet without a time."""

    packets: int = 0
    bytes: int = 0
    without_time: int = 0


def copy(
    sources: Sequence[Source],
    choice: Choice,
    with_fragments: Container[int],
    decode_as: Sequence[tuple[int, str]],
    target: PcapngFile,
    progress: Callable[[int], None] | None = None,
) -> Copied:
    """Copies the chosen packets of captures that are in the order of time.

    `with_fragments`: numbers of the captures with IP fragments; of these, packets without a TCP segment between the wanted
    ones are copied too. `decode_as`: as in `Options`. Raises FragmentsMet for a capture that must be among these; InputError and
    DissectError for one that cannot be read any more.
    """
    copied = Copied()
    picker = FlowPicker(choice.spans)
    for file, source in enumerate(sources):
        _File(file, source, choice, picker, target, copied).copy(file in with_fragments, decode_as, progress)
    return copied


class _File:
    """One capture that is copied from."""

    def __init__(
        self, file: int, source: Source, choice: Choice, picker: FlowPicker, target: PcapngFile, copied: Copied
    ) -> None:
        self._file = file
        self._comments = choice.comments
        self._picker = picker
        self._target = target
        self._copied = copied
        self._matrices = new_matrices()
        self._reading = Reading(0, source, file=file)
        self._interfaces: dict[tuple[int, int], int] = {}
        self._progress: Callable[[int], None] | None = None

    def copy(self, others: bool, decode_as: Sequence[tuple[int, str]], progress: Callable[[int], None] | None) -> None:
        self._rows = PacketRows(self._reading, self._matrices.packets, BLOCK_BYTES, self._target.secrets, progress)
        stage = Packets(tunnels=decode_as)
        for batch in self._rows.batches():
            self._copy_batch(stage, batch, others)

    def _copy_batch(self, stage: Packets, batch: PacketBatch, others: bool) -> None:
        data, packets, row, rows = batch
        while row < rows:
            read, found, why = stage.feed(data, packets, rows, row, self._matrices.segments)
            wanted, behind = self._picker.pick(packets, row, self._matrices.segments, found, others)
            if why == layout.WHY_DATAGRAM and not others and wanted and wanted[-1] == behind - 1:
                raise FragmentsMet(self._file)
            if others:
                wanted += range(behind, read)
            for each in wanted:
                self._write(data, packets, each)
            row = read

    def _write(self, data: memoryview, packets: memoryview, row: int) -> None:
        time = packets[layout.PACKET_TIME, row]
        if time == layout.UNKNOWN:
            self._copied.without_time += 1
            return
        at, captured = packets[layout.PACKET_OFFSET, row], packets[layout.PACKET_CAPTURED, row]
        which = packets[layout.PACKET_INTERFACE, row]
        known = self._rows.interfaces[which]
        key = which, packets[layout.PACKET_LINK, row]
        if key not in self._interfaces:
            self._interfaces[key] = self._target.interface(key[1], known)
        # In one comment: Wireshark before 3.6 shows one only.
        comment = "\n".join(self._comments.get((self._file, packets[layout.PACKET_NUMBER, row]), ()))
        length = packets[layout.PACKET_LENGTH, row]
        self._target.packet(
            self._interfaces[key], ticks_of(time, known), bytes(data[at : at + captured]), length, comment
        )
        self._copied.packets += 1
        self._copied.bytes += captured
