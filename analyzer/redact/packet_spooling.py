"""Packets of captures -> a spool: headers are written, payloads are zeros until it is known what they hold."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from analyzer.extract.pcapng_file import ticks_of
from analyzer.inputs.input import new_matrices
from analyzer.inputs.packet_rows import PacketBatch, PacketRows
from analyzer.inputs.readings import Reading
from analyzer.redact.bare_packets import bare
from analyzer.redact.header_rewriting import RAW_IP, Found, Headers
from analyzer.redact.packet_spool import Pieces, Places, Spool, Spooled
from dissectors import layout
from dissectors.formats.capture_facts import Interface
from dissectors.packet.packets import Packets

if TYPE_CHECKING:
    from analyzer.inputs.sources import Source
    from analyzer.redact.counts import Counts
    from analyzer.redact.pseudonyms import Pseudonyms

BLOCK_BYTES = 1 << 20
# Datagrams in fragments that wait for the rest.
_MOST_DATAGRAMS = 10_000
_IPV6_KEY_BYTES = 32


@dataclass(slots=True)
class _Datagram:
    """Fragments: (offset, captured bytes, place); and where the last one ends, -1 before it came."""

    pieces: list[tuple[int, int, int]] = field(default_factory=list)
    total: int = -1

    def is_complete(self) -> bool:
        at = 0
        for offset, size, _ in sorted(self.pieces):
            if offset > at:
                return False
            at = max(at, offset + size)
        return at >= self.total >= 0


class Interfaces:
    """Interfaces of the captures, by the number that packets of the spool name: link type and clock, no name."""

    def __init__(self) -> None:
        self.all: list[tuple[int, Interface]] = []
        self._known: dict[tuple[int, int, int], int] = {}

    def number(self, file: int, which: int, link: int, like: Interface) -> int:
        key = file, which, link
        if key not in self._known:
            self._known[key] = len(self.all)
            self.all.append((link, replace(like, name="", received=None, drops=None)))
        return self._known[key]


class PacketSpooler:
    """Adds the packets of one capture after the other."""

    def __init__(self, spool: Spool, pseudonyms: Pseudonyms, counts: Counts) -> None:
        self.interfaces = Interfaces()
        self.pieces: dict[int, Pieces] = {}
        self._spool = spool
        self._headers = Headers(pseudonyms)
        self._counts = counts
        self._newest = b""
        self._fragments: OrderedDict[bytes, _Datagram] = OrderedDict()

    def finish(self) -> None:
        """All captures were added: what was needed for packets alone is given back."""
        self._headers.forget()
        self._fragments.clear()

    def add(
        self,
        file: int,
        source: Source,
        places: Places,
        decode_as: Sequence[tuple[int, str]],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """All packets of a capture, number `file`. Raises InputError and DissectError for one that cannot be read further."""
        matrices = new_matrices()
        places.begin()
        rows = PacketRows(Reading(0, source, file=file), matrices.packets, BLOCK_BYTES, None, progress)
        stage = Packets(tunnels=decode_as)
        for batch in rows.batches():
            self._batch(file, rows.interfaces, stage, batch, matrices.segments, places)

    def _batch(
        self,
        file: int,
        interfaces: Sequence[Interface],
        stage: Packets,
        batch: PacketBatch,
        segments: memoryview,
        places: Places,
    ) -> None:
        data, packets, row, rows = batch
        while row < rows:
            read, found, why = stage.feed(data, packets, rows, row, segments)
            segment = 0
            for each in range(row, read):
                number = packets[layout.PACKET_NUMBER, each]
                here = segment if segment < found and segments[layout.SEGMENT_NUMBER, segment] == number else -1
                segment += here >= 0
                is_datagram = why == layout.WHY_DATAGRAM and here == found - 1 and here >= 0
                place = self._packet(file, interfaces, data, packets, each, segments, -1 if is_datagram else here)
                if place:
                    places.set(number, place)
                if is_datagram:
                    self._datagram(file, number, bytes(stage.datagram), segments, here)
            row = read

    def _packet(
        self,
        file: int,
        interfaces: Sequence[Interface],
        block: memoryview,
        packets: memoryview,
        row: int,
        segments: memoryview,
        segment: int,
    ) -> int:
        """Returns the place of its payload, 0 where it has none."""
        self._newest = b""
        time = packets[layout.PACKET_TIME, row]
        if time == layout.UNKNOWN:
            self._counts.without_time += 1
            return 0
        at, captured = packets[layout.PACKET_OFFSET, row], packets[layout.PACKET_CAPTURED, row]
        data, length = bytes(block[at : at + captured]), packets[layout.PACKET_LENGTH, row]
        link, which = packets[layout.PACKET_LINK, row], packets[layout.PACKET_INTERFACE, row]
        out, found = self._headers.rewrite(data, link, length)
        if segment >= 0:
            payload, there = segments[layout.SEGMENT_OFFSET, segment] - at, segments[layout.SEGMENT_CAPTURED, segment]
            if found.payload != payload and not (found.tcp >= 0 and found.payload < 0 and there == 0):
                alone = bare(data, length, payload, segments, segment)
                if alone is None:
                    out, found = bytearray(len(data)), Found()
                else:
                    self._counts.bare_packets += 1
                    (data, length), link = alone, RAW_IP
                    out, found = self._headers.rewrite(data, link, length)
        if found.tcp < 0 and found.fragment is None:
            self._counts.other_packets += 1
        like = interfaces[which]
        sent = 0
        if segment >= 0 and 0 <= found.tcp < len(data) - 12:
            sent = segments[layout.SEGMENT_LENGTH, segment] + (data[found.tcp + 12] >> 4) * 4
        place = self._spool.add(
            Spooled(
                file,
                self.interfaces.number(file, which, link, like),
                ticks_of(time, like),
                length,
                found.ip,
                found.tcp if segment >= 0 else -1,
                found.end,
                sent,
                found.checksum,
                out,
            )
        )
        self._counts.packets += 1
        self._counts.packet_bytes += captured
        if found.fragment is not None:
            self._fragment(found, place)
        if segment >= 0 and found.payload >= 0:
            self._counts.payload_bytes += found.end - found.payload
            return place + found.payload
        return 0

    # ---- IP fragments ----

    def _fragment(self, found: Found, place: int) -> None:
        assert found.fragment is not None
        key, offset, begin, more = found.fragment
        waiting = self._fragments.get(key)
        if waiting is None or waiting.is_complete():
            # A datagram that held no segment of TCP is over too, and ids come again.
            waiting = self._fragments[key] = _Datagram()
        waiting.pieces.append((offset, found.end - begin, place + begin))
        if not more:
            waiting.total = offset + found.end - begin
        self._newest = key
        if len(self._fragments) > _MOST_DATAGRAMS:
            self._fragments.popitem(last=False)

    def _datagram(self, file: int, number: int, datagram: bytes, segments: memoryview, segment: int) -> None:
        """The last fragment of a datagram came: its headers go into the packets that hold them, and its payload will."""
        payload = segments[layout.SEGMENT_OFFSET, segment]
        waiting = self._fragments.pop(self._newest, None)
        if waiting is None:
            return
        out, inside = self._headers.datagram(datagram, self._newest[2 if len(self._newest) < _IPV6_KEY_BYTES else 4])
        if inside.tcp < 0 or payload != (inside.payload if inside.payload >= 0 else len(datagram)):
            return
        found = []
        self._spool.complete()
        for offset, size, place in waiting.pieces:
            if offset < payload:
                self._spool.write(place, out[offset : min(offset + size, payload)])
            begin = max(offset, payload)
            if begin < offset + size:
                found.append((begin - payload, offset + size - begin, place + begin - offset))
        self.pieces[file << layout.SPLIT_SHIFT | number] = tuple(found)
