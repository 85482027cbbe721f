"""Packets of decrypted connections, written with their content as payload of TCP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.extract.pcapng_file import PcapngFile, ticks_of
from analyzer.inputs.input import new_matrices
from analyzer.inputs.packet_rows import PacketBatch, PacketRows
from analyzer.inputs.readings import Reading
from analyzer.redact.bare_packets import inner_packet, link_bytes
from analyzer.redact.header_rewriting import RAW_IP
from analyzer.redact.packet_checksums import RIGHT, ip_checksum, tcp_checksum
from analyzer.redact.packet_spooling import BLOCK_BYTES, Interfaces
from analyzer.redact.packet_store import ByteStore, PacketStore
from dissectors import layout
from dissectors.packet.packets import Packets

if TYPE_CHECKING:
    from analyzer.inputs.sources import Source
    from dissectors.formats.capture_facts import Interface

_IS_PLAIN = 1
# Longer than an IPv4 packet can be; a segment that an interface put together may be so long.
_LONGEST = 0xFFFF
_SACK, _NO_OPERATION = 5, 1
_LEAST_TCP = 20


class PlainPackets:
    """First it is told what packets say, then it writes captures. `left_out`: packets that were not written."""

    def __init__(self, folder: Path, captures: int) -> None:
        self.left_out = self.without_time = 0
        self._of_packet = PacketStore(folder / "plain_packets", "<qIIqq", captures)
        self._payloads = ByteStore(folder / "plain_payloads")
        self._more: dict[int, list[tuple[int, int, int]]] = {}

    def __enter__(self) -> PlainPackets:
        return self

    def __exit__(self, *_: object) -> None:
        self._of_packet.close()
        self._payloads.close()

    def add(self, number: int, seq: int, ack: int, contents: Sequence[tuple[int, bytes]]) -> None:
        """A packet says `contents`, (sequence number, bytes) each, in place of its payload; `seq` where it says nothing."""
        stored = [(begin & 0xFFFFFFFF, self._payloads.put(data), len(data)) for begin, data in contents]
        first = stored[0] if stored else (seq & 0xFFFFFFFF, 0, 0)
        self._of_packet.put(number, _IS_PLAIN, first[0], ack & 0xFFFFFFFF, *first[1:])
        if len(stored) > 1:
            self._more[number] = stored[1:]

    def write(self, file: int, source: Source, target: PcapngFile, decode_as: Sequence[tuple[int, str]]) -> None:
        """Writes capture number `file`. Raises InputError and DissectError where it cannot be read further."""
        matrices = new_matrices()
        rows = PacketRows(Reading(0, source, file=file), matrices.packets, BLOCK_BYTES)
        stage = Packets(tunnels=decode_as)
        writer = _Writer(target)
        for batch in rows.batches():
            self._batch(file, rows, stage, batch, matrices.segments, writer)

    def _batch(
        self, file: int, rows: PacketRows, stage: Packets, batch: PacketBatch, segments: memoryview, writer: _Writer
    ) -> None:
        data, packets, row, stop = batch
        while row < stop:
            read, found, why = stage.feed(data, packets, stop, row, segments)
            segment = 0
            for each in range(row, read):
                number = packets[layout.PACKET_NUMBER, each]
                here = segment if segment < found and segments[layout.SEGMENT_NUMBER, segment] == number else -1
                segment += here >= 0
                if packets[layout.PACKET_TIME, each] == layout.UNKNOWN:
                    self.without_time += 1
                    continue
                is_datagram = why == layout.WHY_DATAGRAM and here == found - 1
                at, captured = packets[layout.PACKET_OFFSET, each], packets[layout.PACKET_CAPTURED, each]
                whole = bytes(data[at : at + captured])
                interface = rows.interfaces[packets[layout.PACKET_INTERFACE, each]]
                link = packets[layout.PACKET_LINK, each]
                key = file, packets[layout.PACKET_INTERFACE, each]
                ticks = ticks_of(packets[layout.PACKET_TIME, each], interface)
                said = self._said(file << layout.SPLIT_SHIFT | number) if here >= 0 else None
                if said is None:
                    writer.packet(key, link, interface, ticks, whole, packets[layout.PACKET_LENGTH, each])
                    continue
                payload = segments[layout.SEGMENT_OFFSET, here] - at
                made = [] if is_datagram else _packets(whole, link, payload, segments, here, said)
                self.left_out += not made
                for out_link, out in made:
                    writer.packet(key, out_link, interface, ticks, out, len(out))
            row = read

    def _said(self, number: int) -> list[tuple[int, int, bytes]] | None:
        """(sequence number, acknowledgement, payload) of what a packet says; None where it stays as it is."""
        is_plain, seq, ack, place, size = self._of_packet.get(number)
        if is_plain != _IS_PLAIN:
            return None
        stored = [(seq, place, size), *self._more.get(number, ())]
        return [(begin, ack, self._payloads.get(at, length)) for begin, at, length in stored]


class _Writer:
    """Writes packets, and the interfaces that they need before them."""

    def __init__(self, target: PcapngFile) -> None:
        self._target = target
        self._interfaces = Interfaces()
        self._written: dict[int, int] = {}

    def packet(self, key: tuple[int, int], link: int, like: Interface, ticks: int, data: bytes, length: int) -> None:
        number = self._interfaces.number(*key, link, like)
        if number not in self._written:
            self._written[number] = self._target.interface(*self._interfaces.all[number])
        self._target.packet(self._written[number], ticks, data, length)


def _packets(
    data: bytes, link: int, payload: int, segments: memoryview, row: int, said: Sequence[tuple[int, int, bytes]]
) -> list[tuple[int, bytes]]:
    """(link type, packet) for each thing said: the headers of `data` with these numbers and payload; empty where they were not
    understood. What carried the IP packet stays where it has no length of its own."""
    ip = inner_packet(data, payload, segments, row)
    if ip is None:
        return []
    before = data[:ip] if link_bytes(data, link) == ip else b""
    tcp = ip + (data[ip] & 15) * 4 if data[ip] >> 4 == 4 else ip + 40
    if payload - tcp < _LEAST_TCP:
        return []
    found = []
    for seq, ack, content in said:
        head = bytearray(data[ip:payload])
        at, size = tcp - ip, payload - tcp + len(content)
        if data[ip] >> 4 == 4:
            head[2:4] = min(at + size, _LONGEST).to_bytes(2, "big") if at + size <= _LONGEST else bytes(2)
            head[10:12] = bytes(2)
            head[10:12] = ip_checksum(head[:at])
        else:
            head[4:6] = size.to_bytes(2, "big") if size <= _LONGEST else bytes(2)
        head[at + 4 : at + 12] = seq.to_bytes(4, "big") + ack.to_bytes(4, "big")
        _without_sack(head, at + _LEAST_TCP)
        head[at + 16 : at + 18] = bytes(2)
        head += content
        head[at + 16 : at + 18] = tcp_checksum(head, 0, at, len(head), size, RIGHT)
        found.append((link if before or not ip else RAW_IP, before + bytes(head)))
    return found


def _without_sack(head: bytearray, at: int) -> None:
    """Selective acknowledgements name bytes that were sent, not said: they become padding."""
    while at < len(head):
        kind = head[at]
        size = 1 if kind < 2 else head[at + 1] if at + 1 < len(head) else 0
        if kind == 0 or size == 0 or at + size > len(head):
            return
        if kind == _SACK:
            head[at : at + size] = bytes([_NO_OPERATION]) * size
        at += size
