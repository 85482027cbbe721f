"""TCP frames as a middlebox sees them: whose they are, a handshake without its window scale, a reset in answer."""

from __future__ import annotations

import struct

# Both ends of a TCP connection, the lower first: the same for both ways.
Flow = tuple[bytes, bytes]
_ETHERNET = 14
_IPV6 = 40
_SYN, _RST, _ACK, _FIN = 0x02, 0x04, 0x10, 0x01
_END, _NOP, _WINDOW_SCALE = 0, 1, 3


def _tcp_at(frame: bytes) -> int:
    """Where the TCP header of an IPv4 frame begins; 0 for every other frame."""
    if len(frame) < _ETHERNET + 40 or frame[12:14] != b"\x08\x00" or frame[_ETHERNET + 9] != 6:
        return 0
    return _ETHERNET + (frame[_ETHERNET] & 15) * 4


def flow_of(frame: bytes) -> Flow | None:
    """Of a TCP packet over IPv4, or over IPv6 without extension headers."""
    if frame[12:14] == b"\x86\xdd" and len(frame) >= _ETHERNET + _IPV6 + 20 and frame[_ETHERNET + 6] == 6:
        at = _ETHERNET + _IPV6
        one = frame[_ETHERNET + 8 : _ETHERNET + 24] + frame[at : at + 2]
        other = frame[_ETHERNET + 24 : at] + frame[at + 2 : at + 4]
        return min(one, other), max(one, other)
    at = _tcp_at(frame)
    if not at:
        return None
    one = frame[_ETHERNET + 12 : _ETHERNET + 16] + frame[at : at + 2]
    other = frame[_ETHERNET + 16 : _ETHERNET + 20] + frame[at + 2 : at + 4]
    return min(one, other), max(one, other)


def is_syn(frame: bytes) -> bool:
    at = _ETHERNET + _IPV6 if frame[12:14] == b"\x86\xdd" and flow_of(frame) else _tcp_at(frame)
    return bool(at and frame[at + 13] & _SYN)


def without_window_scale(frame: bytes) -> bytes:
    """A handshake whose window scale option became NOPs, with a true checksum."""
    at = _tcp_at(frame)
    changed = bytearray(frame)
    end = at + (frame[at + 12] >> 4) * 4
    option = at + 20
    while option < end and changed[option] != _END:
        if changed[option] == _NOP:
            option += 1
            continue
        length = max(changed[option + 1], 2)
        if changed[option] == _WINDOW_SCALE:
            changed[option : option + length] = bytes([_NOP]) * length
        option += length
    return bytes(_with_checksum(changed, at))


def reset_for(frame: bytes) -> bytes | None:
    """The reset (RFC 9293, 3.10.7.1) that answers a packet of a connection that nobody knows; none for a reset."""
    at = _tcp_at(frame)
    if frame[at + 13] & _RST:
        return None
    ip = frame[_ETHERNET:at]
    sequence, acknowledged = struct.unpack_from(">II", frame, at + 4)
    total = struct.unpack_from(">H", ip, 2)[0]
    length = total - len(ip) - (frame[at + 12] >> 4) * 4 + bool(frame[at + 13] & (_SYN | _FIN))
    answer = bytearray(frame[6:12] + frame[0:6] + b"\x08\x00")
    head = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0x4000, 64, 6, 0, ip[16:20], ip[12:16]))
    struct.pack_into(">H", head, 10, _sum(head))
    answer += head
    answer += frame[at + 2 : at + 4] + frame[at : at + 2]
    ack = (sequence + length) & 0xFFFFFFFF
    answer += struct.pack(">IIBBHHH", acknowledged, ack, 0x50, _RST | _ACK, 0, 0, 0)
    return bytes(_with_checksum(answer, _ETHERNET + 20))


def _with_checksum(frame: bytearray, at: int) -> bytearray:
    total = struct.unpack_from(">H", frame, _ETHERNET + 2)[0]
    segment = frame[at : _ETHERNET + total]
    segment[16:18] = b"\0\0"
    pseudo = frame[_ETHERNET + 12 : _ETHERNET + 20] + struct.pack(">BBH", 0, 6, len(segment))
    struct.pack_into(">H", frame, at + 16, _sum(pseudo + segment))
    return frame


def _sum(data: bytes | bytearray) -> int:
    """The Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data = bytes(data) + b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
