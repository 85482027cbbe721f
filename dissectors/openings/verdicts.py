"""What the first bytes of a connection are: an opening, not one, or not known yet.

A reader of one kind of opening takes all bytes that each side has sent so far, and answers an `Opening`, `MORE` or `OTHER`.
It never raises for what the bytes say. Whatever is behind the opening is not looked at.
"""

from __future__ import annotations

from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple


class Verdict(Enum):
    MORE = "more"  # so far it is an opening, but not its end
    OTHER = "other"  # it is no opening of this kind


MORE, OTHER = Verdict.MORE, Verdict.OTHER


class Opening(NamedTuple):
    """`kind` is an OPENING_ number; `client_bytes` and `server_bytes` are how long it is on each side. `address`: for whom the
    connection was made, as two int64 (high, low; IPv4 as ::ffff:a.b.c.d), None where it does not say."""

    kind: int
    client_bytes: int
    server_bytes: int = 0
    address: tuple[int, int] | None = None


def halves(address: IPv4Address | IPv6Address) -> tuple[int, int]:
    """An address as two signed 64-bit numbers."""
    whole = int(address) + (0xFFFF << 32 if isinstance(address, IPv4Address) else 0)
    high, low = (int.from_bytes(part, "big", signed=True) for part in _parts(whole))
    return high, low


def _parts(whole: int) -> tuple[bytes, bytes]:
    data = whole.to_bytes(16, "big")
    return data[:8], data[8:]
