"""A reply of DNS (RFC 1035): the addresses of the name that was asked for."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple

_HEAD = 12
_IS_REPLY, _OPCODE, _CODE = 0x8000, 0x7800, 0x000F
_INTERNET, _A, _AAAA = 1, 1, 28
_POINTER = 0xC0
# What a name and a reply have at most; a pointer leads back, so a name ends.
_LONGEST_NAME, _MOST_ANSWERS = 255, 1_000


class Reply(NamedTuple):
    """`addresses` of `name`, at least one, all of IPv4 or all of IPv6."""

    name: str
    is_ipv6: bool
    addresses: tuple[str, ...]


def reply(message: bytes) -> Reply | None:
    """What a message says; None where it is no whole reply with addresses to one question."""
    try:
        return _reply(message)
    except (IndexError, ValueError):
        return None


def _reply(message: bytes) -> Reply | None:
    flags, questions, answers = (_number(message, at) for at in (2, 4, 6))
    if not flags & _IS_REPLY or flags & (_OPCODE | _CODE) or questions != 1 or not 0 < answers <= _MOST_ANSWERS:
        return None
    name, at = _name(message, _HEAD)
    kind, network = _number(message, at), _number(message, at + 2)
    if not name or network != _INTERNET or kind not in (_A, _AAAA):
        return None
    at += 4
    found: dict[str, None] = {}
    for _ in range(answers):
        at = _name(message, at)[1]
        told, size = _number(message, at), _number(message, at + 8)
        value = message[at + 10 : at + 10 + size]
        if len(value) != size:
            raise ValueError
        if told == kind and _number(message, at + 2) == _INTERNET:
            if size != (4 if kind == _A else 16):
                raise ValueError
            found[str(ip_address(value))] = None
        at += 10 + size
    return Reply(name, kind == _AAAA, tuple(found)) if found else None


def _name(message: bytes, at: int) -> tuple[str, int]:
    """A name, in small letters, and where what follows begins. Raises IndexError or ValueError."""
    labels: list[bytes] = []
    end, size = -1, 0
    while length := message[at]:
        if length >= _POINTER:
            to = _number(message, at) & 0x3FFF
            end = end if end >= 0 else at + 2
            if to >= at:
                raise ValueError
            at = to
            continue
        size += length + 1
        if length > 63 or size > _LONGEST_NAME:
            raise ValueError
        labels.append(message[at + 1 : at + 1 + length])
        at += 1 + length
    return b".".join(labels).decode("utf-8", "replace").lower(), end if end >= 0 else at + 1


def _number(message: bytes, at: int) -> int:
    return message[at] << 8 | message[at + 1]
