"""The headers of a packet without what they must not tell: addresses become pseudonyms, numbers stay, all else becomes zeros.

It reads what carries Kafka nearly always: Ethernet, Linux cooked captures, BSD loopback and raw IP; VLANs, MPLS and PPPoE; IP in
IP, GRE, ERSPAN, VXLAN and Geneve. For any other encapsulation `bare_packets` gives the IP packet inside, for an interface of raw
IP. As with messages the result begins as zeros, so what no function has understood is zero.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from analyzer.redact.packet_checksums import (
    HEAD,
    HEAD_AND_LENGTH,
    NO_SUM,
    ONES,
    RIGHT,
    TCP,
    UNSET,
    WRONG,
    pseudo_header,
    words,
)

if TYPE_CHECKING:
    from analyzer.redact.pseudonyms import Pseudonyms

RAW_IP = 101
ETHERNET, SLL, SLL2 = 1, 113, 276
RAW = frozenset((12, 14, RAW_IP, 228, 229))
LOOPBACK = frozenset((0, 108))
_IPV4, _IPV6, _BRIDGED = 0x0800, 0x86DD, 0x6558
VLANS = frozenset((0x8100, 0x88A8, 0x9100, 0x9200, 0x9300))
_MPLS = frozenset((0x8847, 0x8848))
_PPPOE = 0x8864
_OF_PPP = {0x0021: _IPV4, 0x0057: _IPV6, 0x0281: 0x8847}
_ERSPAN = {0x88BE: 8, 0x22EB: 12}
_UDP, _GRE = 17, 47
_IN_IP = {4: _IPV4, 41: _IPV6}
_EXTENSIONS = frozenset((0, 43, 60))
_FRAGMENT = 44
_VXLAN, _GENEVE = 4789, 6081
_DEEPEST = 24
# Ethernet's type and the first byte of IPv4 without options; two bytes of padding and the head of TCP's times.
_PLAIN_IPV4, _TIMES = b"\x08\0\x45", b"\1\1\x08\x0a"
_MOST_CACHED = 1 << 16

# What a wrong checksum differs by from the right one.
_WRONG = 0x5555


@dataclass(slots=True)
class Found:
    """Of a packet with a TCP segment: where its IP header, its TCP header and its payload begin, and where its captured bytes end;
    `payload` -1: there is none. `checksum` is one of the codes above. `fragment`: (key, offset, begin, more) of an IP fragment."""

    ip: int = -1
    tcp: int = -1
    payload: int = -1
    end: int = 0
    checksum: int = NO_SUM
    fragment: tuple[bytes, int, int, bool] | None = None


class _Unread(Exception):
    """No function reads this layer, or the packet ends within it."""


class Headers:
    """Rewrites packets, one at a time."""

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self._pseudonyms = pseudonyms
        self._macs = lru_cache(_MOST_CACHED)(self._both_macs)
        self._addresses = lru_cache(_MOST_CACHED)(self._both_addresses)

    def forget(self) -> None:
        """No packet follows soon: gives back what was remembered of addresses."""
        self._macs.cache_clear()
        self._addresses.cache_clear()

    def rewrite(self, data: bytes, link: int, wire: int) -> tuple[bytearray, Found]:
        """A packet of `wire` bytes; `data` was captured of it. What could not be read is zero from there on."""
        if link == ETHERNET and data[12:15] == _PLAIN_IPV4 and (found := self._usual(data, wire)) is not None:
            return found
        self._data = data
        self._out = bytearray(len(data))
        self._found = Found()
        self._end, self._wire = len(data), wire
        with suppress(_Unread):
            self._link(link, 0)
        return self._out, self._found

    def datagram(self, data: bytes, protocol: int) -> tuple[bytearray, Found]:
        """What IP fragments held together, behind their IP headers. A TCP checksum becomes zero: it would span packets."""
        self._data = data
        self._out = bytearray(len(data))
        self._found = Found()
        self._end = self._wire = len(data)
        with suppress(_Unread):
            self._protocol(protocol, 0)
        return self._out, self._found

    # ---- nearly all packets: Ethernet, IPv4 and TCP in one step, the same as the functions below give ----

    def _usual(self, data: bytes, wire: int) -> tuple[bytearray, Found] | None:
        """TCP without options, or with times, in IPv4 without options; None for all else."""
        end = len(data)
        if end < 54 or data[23] != TCP or data[21] or data[20] & 0x3F:
            return None
        total = (data[16] << 8 | data[17]) + 14
        if total >= 34:
            end, wire = min(end, total), min(wire, total)
        payload = 34 + (data[46] >> 4) * 4
        if payload > end or not (payload == 54 or (payload == 66 and data[54:58] == _TIMES)):
            return None
        given = data[24] << 8 | data[25]
        off = int.from_bytes(data[14:34], "big") % ONES  # of a right checksum 0
        addresses, was, now = self._addresses(data[26:34])
        # All words but the checksum add up to its complement (RFC 1624). A wrong one stays wrong, one left open open.
        new = (ONES - (off + now - was - given) % ONES) ^ (_WRONG if off else 0) if given else 0
        out = bytearray(len(data))
        out[:payload] = b"".join(
            (
                self._macs(data[:12]),
                data[12:24],
                new.to_bytes(2, "big"),
                addresses,
                data[34:50],
                b"\0\0",
                data[52:payload],
            )
        )
        given, head = (data[50] << 8 | data[51]) % ONES, (was + TCP) % ONES
        whole = (head + wire - 34) % ONES
        if given in (0, head, whole):
            checksum = UNSET if given == 0 else HEAD if given == head else HEAD_AND_LENGTH
        else:
            checksum = WRONG if end >= wire and (whole + words(data[34:end])) % ONES else RIGHT
        return out, Found(14, 34, payload if payload < end else -1, end, checksum)

    def _both_macs(self, data: bytes) -> bytes:
        return self._pseudonyms.link_address(data[:6]) + self._pseudonyms.link_address(data[6:])

    def _both_addresses(self, data: bytes) -> tuple[bytes, int, int]:
        """(two IPv4 addresses to write, the sum of the old ones, that of the new)."""
        new = self._pseudonyms.ipv4(data[:4]) + self._pseudonyms.ipv4(data[4:])
        return new, words(data), words(new)

    def _need(self, at: int, size: int) -> None:
        if at + size > self._end:
            raise _Unread

    def _keep(self, at: int, size: int) -> None:
        self._need(at, size)
        self._out[at : at + size] = self._data[at : at + size]

    def _number(self, at: int, size: int = 2) -> int:
        self._need(at, size)
        return int.from_bytes(self._data[at : at + size], "big")

    def _link_address(self, at: int, size: int) -> None:
        self._need(at, size)
        self._out[at : at + size] = self._pseudonyms.link_address(self._data[at : at + size])

    def _link(self, link: int, at: int) -> None:
        if link == ETHERNET:
            self._link_address(at, 6)
            self._link_address(at + 6, 6)
            self._keep(at + 12, 2)
            self._type(self._number(at + 12), at + 14)
        elif link == SLL:
            self._keep(at, 6)
            self._link_address(at + 6, 8)
            self._keep(at + 14, 2)
            self._type(self._number(at + 14), at + 16)
        elif link == SLL2:
            self._keep(at, 12)
            self._link_address(at + 12, 8)
            self._type(self._number(at), at + 20)
        elif link in LOOPBACK:
            self._keep(at, 4)
            self._any_ip(at + 4)
        elif link in RAW:
            self._any_ip(at)

    def _any_ip(self, at: int) -> None:
        version = self._number(at, 1) >> 4
        if version == 4:
            self._ipv4(at)
        elif version == 6:
            self._ipv6(at)

    def _type(self, kind: int, at: int) -> None:
        """What follows an Ethernet type."""
        for _ in range(_DEEPEST):
            if kind in VLANS:
                self._keep(at, 4)
                kind = self._number(at + 2)
                at += 4
            elif kind in _MPLS:
                self._keep(at, 4)
                is_last = self._data[at + 2] & 1
                at += 4
                if is_last:
                    self._any_ip(at)
                    return
            elif kind == _PPPOE:
                self._keep(at, 8)
                self._narrow(at + 6 + self._number(at + 4))
                kind = _OF_PPP.get(self._number(at + 6), 0)
                at += 8
            elif kind < 0x0600 and self._data[at : at + 3] == b"\xaa\xaa\x03":
                self._keep(at, 8)
                kind = self._number(at + 6)
                at += 8
            else:
                break
        if kind == _IPV4:
            self._ipv4(at)
        elif kind == _IPV6:
            self._ipv6(at)

    # ---- IP ----

    def _ipv4(self, at: int) -> None:
        self._need(at, 20)
        data, out = self._data, self._out
        size = (data[at] & 15) * 4
        if data[at] >> 4 != 4 or size < 20:
            raise _Unread
        self._need(at, size)
        out[at : at + 12] = data[at : at + 12]
        for place in (at + 12, at + 16):
            out[place : place + 4] = self._pseudonyms.ipv4(data[place : place + 4])
        given, right = data[at + 10 : at + 12], not words(data[at : at + size])
        out[at + 10 : at + 12] = bytes(2)
        if given != b"\0\0":
            new = ONES - words(out[at : at + size])
            out[at + 10 : at + 12] = (new if right else new ^ _WRONG).to_bytes(2, "big")
        total = self._number(at + 2)
        if total >= size:
            self._narrow(at + total)
        self._found.ip = at
        kind = data[at + 9]
        offset = self._number(at + 6)
        if offset & 0x3FFF:
            key = data[at + 4 : at + 6] + data[at + 9 : at + 10] + data[at + 12 : at + 20]
            self._found.fragment = key, (offset & 0x1FFF) * 8, at + size, bool(offset & 0x2000)
            self._found.end = self._end
            return
        self._protocol(kind, at + size)

    def _ipv6(self, at: int) -> None:
        self._need(at, 40)
        data, out = self._data, self._out
        if data[at] >> 4 != 6:
            raise _Unread
        out[at : at + 8] = data[at : at + 8]
        for place in (at + 8, at + 24):
            out[place : place + 16] = self._pseudonyms.ipv6(data[place : place + 16])
        size = self._number(at + 4)
        if size:
            self._narrow(at + 40 + size)
        self._found.ip = at
        kind, addresses = data[at + 6], data[at + 8 : at + 40]
        at += 40
        while kind in _EXTENSIONS or kind == _FRAGMENT:
            self._need(at, 8)
            size = 8 if kind == _FRAGMENT else data[at + 1] * 8 + 8
            if kind == _FRAGMENT:
                self._keep(at, 8)
                offset = self._number(at + 2)
                if offset & 0xFFF9:
                    key = data[at + 4 : at + 8] + data[at : at + 1] + addresses
                    self._found.fragment = key, offset & 0xFFF8, at + 8, bool(offset & 1)
                    self._found.end = self._end
                    return
            else:
                self._need(at, size)
                # What options say becomes one option of padding (RFC 8200, 4.2).
                out[at : at + 2] = data[at : at + 2]
                out[at + 2 : at + 4] = bytes((1, min(size - 4, 255))) if kind != 43 else data[at + 2 : at + 4]
            kind, at = data[at], at + size
        self._protocol(kind, at)

    def _narrow(self, stop: int) -> None:
        self._end, self._wire = min(self._end, stop), min(self._wire, stop)

    def _protocol(self, kind: int, at: int) -> None:
        if kind == TCP:
            self._tcp(at)
        elif kind in _IN_IP:
            self._type(_IN_IP[kind], at)
        elif kind == _GRE:
            self._gre(at)
        elif kind == _UDP:
            self._udp(at)

    def _gre(self, at: int) -> None:
        flags, kind = self._number(at), self._number(at + 2)
        self._keep(at, 4)
        size = 4
        for flag in (0x8000, 0x2000, 0x1000):
            if flags & flag:
                if flag != 0x8000:
                    self._keep(at + size, 4)
                size += 4
        at += size
        if kind in _ERSPAN and flags & 0x1000:
            self._keep(at, _ERSPAN[kind])
            self._link(ETHERNET, at + _ERSPAN[kind])
        elif kind == _BRIDGED:
            self._link(ETHERNET, at)
        elif kind in (_IPV4, _IPV6):
            self._type(kind, at)

    def _udp(self, at: int) -> None:
        self._keep(at, 6)
        port = self._number(at + 2)
        at += 8
        if port == _VXLAN:
            self._keep(at, 8)
            self._link(ETHERNET, at + 8)
        elif port == _GENEVE:
            self._keep(at, 8)
            size = 8 + (self._data[at] & 63) * 4
            self._need(at, size)
            kind = self._number(at + 2)
            if kind == _BRIDGED:
                self._link(ETHERNET, at + size)
            else:
                self._type(kind, at + size)

    # ---- TCP ----

    def _tcp(self, at: int) -> None:
        data, out, end = self._data, self._out, self._end
        found = self._found
        size = (self._number(at + 12, 1) >> 4) * 4
        if size < 20:
            raise _Unread
        here = min(at + size, end)
        out[at : min(at + 16, end)] = data[at : min(at + 16, end)]
        out[at + 18 : min(at + 20, end)] = data[at + 18 : min(at + 20, end)]
        if at + 20 < here:
            out[at + 20 : here] = options(data[at + 20 : here])
        found.tcp, found.end = at, end
        found.payload = at + size if at + size < end else -1
        if end >= at + 18 and found.ip >= 0:
            found.checksum = self._checksum(at)

    def _checksum(self, at: int) -> int:
        data, end = self._data, self._end
        addresses = pseudo_header(data, self._found.ip)
        given = self._number(at + 16) % ONES
        head = (addresses + TCP) % ONES
        whole = (head + self._wire - at) % ONES
        if given in (0, head, whole):
            return UNSET if given == 0 else HEAD if given == head else HEAD_AND_LENGTH
        if end < self._wire:
            return RIGHT
        return WRONG if (whole + words(data[at:end])) % ONES else RIGHT


def options(data: bytes) -> bytes:
    """TCP options: those that reading needs (sizes, windows, SACK, times); of others kind and length."""
    out = bytearray(len(data))
    at = 0
    while at < len(data):
        kind = data[at]
        if kind < 2:
            out[at] = kind
            if kind == 0:
                break
            at += 1
            continue
        if at + 1 >= len(data) or data[at + 1] < 2 or at + data[at + 1] > len(data):
            break
        size = data[at + 1]
        out[at : at + 2] = data[at : at + 2]
        is_known = {2: size == 4, 3: size == 3, 4: size == 2, 5: (size - 2) % 8 == 0 and size <= 34, 8: size == 10}
        if is_known.get(kind):
            out[at : at + size] = data[at : at + size]
        at += size
    return bytes(out)
