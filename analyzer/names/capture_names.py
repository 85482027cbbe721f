"""Names that a capture holds: replies of DNS over UDP, and what ptcpdump wrote beside packets (process, container, pod).

A capture is not searched for names unless `--names` names it, too; then it is read once more.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal, NamedTuple

from analyzer.inputs.sources import InputError, Source
from analyzer.names.dns_replies import Reply, reply
from analyzer.names.ip_packets import IpPacket, ip_packet
from analyzer.names.name_files import Name, NamesError
from dissectors import layout
from dissectors.errors import DissectError
from dissectors.formats.format_detection import HEAD_BYTES, Reader, open_reader
from dissectors.matrix import new_matrix

Order = Literal["little", "big"]
# A capture is hostile: what is more is left out, and an address has so many names at most.
MOST_ADDRESSES = 1 << 17
MOST_ALIASES, MOST_REPLIES = 50, 10_000
_ROWS = 4_095
_COLUMNS = (layout.PACKET_OFFSET, layout.PACKET_CAPTURED, layout.PACKET_TIME, layout.PACKET_LINK)
_PORT = b"\x00\x35"
_MARKS = (b"PID: ", b"PodName: ", b"ContainerName: ")
_FIELD = re.compile(r"^(\w+): (.*)$", re.MULTILINE)
_PACKET_BLOCKS = (b"\x06\0\0\0", b"\0\0\0\x06")
_COMMENT, _FLAGS, _HEAD = 1, 2, 28
_INBOUND, _OUTBOUND = 1, 2


def names_of_capture(source: Source) -> list[list[Name]]:
    """What a capture says: names that count before others of the same address come in an earlier list. Raises NamesError."""
    replies, comments = _Replies(), _Comments()
    try:
        for batch in _batches(source):
            replies.take(batch)
            comments.take(batch)
    except (DissectError, InputError) as error:
        raise NamesError(str(error)) from error
    found = [list(comments.names()), *replies.names()]
    if not any(found):
        raise NamesError(
            f"{source.name}: holds no address with a name: no reply of DNS by UDP, and no comment of ptcpdump"
        )
    return found


class _Batch(NamedTuple):
    """Some packets: where each begins in `data` (`ends`: and ends), when it came, and by which link."""

    data: bytes
    begins: list[int]
    ends: list[int]
    times: list[int]
    links: list[int]

    def packet(self, number: int) -> IpPacket | None:
        return ip_packet(self.data[self.begins[number] : self.ends[number]], self.links[number])


def _batches(source: Source) -> Iterator[_Batch]:
    """The packets of a capture, up to where it is damaged."""
    matrix = new_matrix(layout.PACKET_COLUMNS, _ROWS)
    cells = memoryview(matrix).cast("B").cast("q")
    reader: Reader | None = None
    rest = b""
    for block in source.blocks():
        data, at, why = rest + block, 0, layout.WHY_OUTPUT_FULL
        reader = reader or open_reader(data[:HEAD_BYTES])
        while why != layout.WHY_DONE and not reader.stopped:
            rows, at, why = reader.feed(data, at, matrix)
            begins, lengths, times, links = (
                cells[column * _ROWS : column * _ROWS + rows].tolist() for column in _COLUMNS
            )
            yield _Batch(data, begins, [sum(each) for each in zip(begins, lengths, strict=True)], times, links)
        if reader.stopped:
            return
        rest = data[at:]


class _Replies:
    """Names by replies of DNS. A name has an address until a reply for the same name leaves it out for good."""

    def __init__(self) -> None:
        # Name, and whether of IPv6 -> times of the first reply and of others; address -> times of the first and last with it.
        self._replies: dict[tuple[str, bool], list[int]] = {}
        self._addresses: dict[tuple[str, bool], dict[str, tuple[int, int]]] = {}
        self._count = 0

    def take(self, batch: _Batch) -> None:
        if not batch.begins:
            return
        at = batch.data.find(_PORT, batch.begins[0])
        while 0 <= at < batch.ends[-1]:
            number = bisect_right(batch.begins, at) - 1
            found = batch.packet(number) if at < batch.ends[number] else None
            if found is not None and found.source_port == 53 and (told := reply(found.payload)):
                self._note(told, batch.times[number])
                at = batch.ends[number] - 1
            at = batch.data.find(_PORT, at + 1)

    def _note(self, told: Reply, time: int) -> None:
        which = (told.name, told.is_ipv6)
        known = self._addresses.setdefault(which, {})
        times = self._replies.setdefault(which, [])
        if len(times) < MOST_REPLIES:
            times.append(time)
        for address in told.addresses:
            if address not in known:
                self._count += 1
            if self._count <= MOST_ADDRESSES:
                first, last = known.get(address, (time, time))
                known[address] = (min(first, time), max(last, time))

    def names(self) -> list[list[Name]]:
        """Of names for one address the one that fewest others have counts first: that of a host comes before a service's."""
        ranked = [_ranked(address, told) for address, told in self._by_address().items()]
        longest = max(map(len, ranked), default=0)
        return [[each[rank] for each in ranked if rank < len(each)] for rank in range(longest)]

    def _by_address(self) -> dict[str, list[_Held]]:
        found: dict[str, list[_Held]] = {}
        for which, known in self._addresses.items():
            times = sorted(self._replies[which])
            for address, (first, last) in known.items():
                place = bisect_right(times, last)
                end = times[place] if place < len(times) else None
                held = _Held(len(known), first, which[0], None if first == times[0] else first, end)
                if not ip_address(address).is_loopback:
                    found.setdefault(address, []).append(held)
        return found


class _Held(NamedTuple):
    """How a name had an address: `addresses` that it had at any time, when a reply first said so; None: open."""

    addresses: int
    first: int
    name: str
    begin: int | None
    end: int | None


def _ranked(address: str, told: list[_Held]) -> list[Name]:
    """A name that came when another one had lost the address begins there: before it, it was not known."""
    found = []
    for each in sorted(told)[:MOST_ALIASES]:
        lost = [other.end for other in told if other.end is not None and other.end <= each.first and other is not each]
        begin = max(lost) if lost and each.begin is None else each.begin
        found.append(Name(address, begin, each.end, host=each.name))
    return found


class _Comments:
    """Names by comments of packets. The address is the one that all packets with the same comment have; where their other end is
    always the same, too, the direction that is noted beside the packet decides."""

    def __init__(self) -> None:
        self._common: dict[Name, set[str]] = {}
        self._directed: dict[Name, set[str]] = {}

    def take(self, batch: _Batch) -> None:
        if not any(mark in batch.data for mark in _MARKS):
            return
        for number, (begin, end) in enumerate(zip(batch.begins, batch.ends, strict=True)):
            head = batch.data[begin - _HEAD : begin - _HEAD + 8] if begin >= _HEAD else b""
            if head[:4] not in _PACKET_BLOCKS:
                continue
            order: Order = "little" if head[0] else "big"
            behind = batch.data[end + (begin - end) % 4 : begin - _HEAD + int.from_bytes(head[4:], order) - 4]
            name, direction = _of_options(behind, order)
            found = batch.packet(number) if name else None
            if name and found:
                self._note(name, found, direction)

    def _note(self, name: Name, packet: IpPacket, direction: int) -> None:
        ends = {packet.source, packet.target}
        if name in self._common:
            self._common[name] &= ends
        elif len(self._common) < MOST_ADDRESSES:
            self._common[name] = ends
        if name in self._common and direction in (_INBOUND, _OUTBOUND):
            self._directed.setdefault(name, set()).add(packet.source if direction == _OUTBOUND else packet.target)

    def names(self) -> Iterator[Name]:
        processes: dict[str, set[Name]] = {}
        for name, common in self._common.items():
            own = common if len(common) == 1 else common & self._directed.get(name, set())
            if len(own) == 1:
                processes.setdefault(next(iter(own)), set()).add(name)
        for address, found in processes.items():
            if ip_address(address).is_loopback:
                continue
            # Of a host with several processes or containers nobody is named.
            pods = {each for each in found if each.pod is not None} or found
            if len(pods) == 1 and len({each.pod for each in found}) == 1:
                yield next(iter(pods))._replace(address=address)


@lru_cache(4_096)
def _of_options(options: bytes, order: Order) -> tuple[Name | None, int]:
    """Who a packet's comments name, without an address, and the direction beside them: 0 where there is none."""
    told: dict[str, str] = {}
    direction = 0
    for code, value in _options(options, order):
        if code == _COMMENT:
            told |= dict(_FIELD.findall(value.decode("utf-8", "replace")))
        elif code == _FLAGS and len(value) == 4:
            direction = int.from_bytes(value, order) & 3
    if pod := told.get("PodName"):
        return Name("", pod=pod, namespace=told.get("PodNamespace") or None), direction
    process = told.get("Cmd", "").rpartition("/")[2]
    host = told.get("ContainerName") or process
    return (Name("", host=host) if host else None), direction


def _options(options: bytes, order: Order) -> Iterable[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(options):
        code = int.from_bytes(options[at : at + 2], order)
        size = int.from_bytes(options[at + 2 : at + 4], order)
        if code == 0 or at + 4 + size > len(options):
            return
        yield code, options[at + 4 : at + 4 + size]
        at += 4 + size + -size % 4
