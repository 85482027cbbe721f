"""Damages bytes where formats break: odd numbers, lengths, ends, copies of other places."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

# Numbers at which lengths, counts and offsets break.
ODD = (0, 1, 2, 3, 4, 7, 8, 11, 12, 13, 14, 127, 128, 255, 256, 1023, 4095, 4096, 32767, 32768, 65535, 65536)
ODD_32 = (*ODD, 1 << 20, (1 << 27) - 4, 1 << 27, (1 << 30) - 4, 1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
ODD_64 = (*ODD_32, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
BY_SIZE = {1: ODD, 2: ODD, 4: ODD_32, 8: ODD_64}
LONG_VARINTS = (b"\xff" * 9 + b"\x01", b"\x80" * 12, b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\x80\x00")


def number(chance: Random, size: int) -> bytes:
    """`size` bytes, most often a number at which something breaks."""
    value = chance.choice(BY_SIZE[size]) if chance.random() < 0.7 else chance.getrandbits(8 * size)
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "big")


def overwrite(data: bytearray, chance: Random) -> None:
    new = number(chance, chance.choice((1, 1, 2, 4, 8)))
    at = int(chance.random() * len(data))
    data[at : at + len(new)] = new[: len(data) - at]


def flip(data: bytearray, chance: Random) -> None:
    data[int(chance.random() * len(data))] ^= 1 << int(chance.random() * 8)


def step(data: bytearray, chance: Random) -> None:
    """One more or one less: lengths that are nearly right."""
    at = int(chance.random() * len(data))
    data[at] = (data[at] + chance.choice((1, 255))) & 255


def put_varint(data: bytearray, chance: Random) -> None:
    new = chance.choice(LONG_VARINTS)
    at = int(chance.random() * len(data))
    data[at : at + len(new)] = new[: len(data) - at]


def insert(data: bytearray, chance: Random) -> None:
    at = int(chance.random() * len(data))
    data[at:at] = chance.randbytes(chance.choice((1, 1, 2, 4, 30)))


def repeat(data: bytearray, chance: Random) -> None:
    at, place = int(chance.random() * len(data)), int(chance.random() * len(data))
    data[place:place] = data[at : at + chance.choice((1, 4, 16, 64))] * chance.choice((1, 1, 2, 50))


def remove(data: bytearray, chance: Random) -> None:
    at = int(chance.random() * len(data))
    del data[at : at + chance.choice((1, 1, 2, 4, 30))]


def cut(data: bytearray, chance: Random) -> None:
    del data[int(chance.random() * len(data)) :]


def fill(data: bytearray, chance: Random) -> None:
    at, size = int(chance.random() * len(data)), chance.choice((4, 16, 200))
    data[at : at + size] = bytes([chance.choice((0, 1, 2, 127, 128, 255))]) * len(data[at : at + size])


# Most inputs should get past the first check: changes in place come more often than changes of size.
SAME_SIZE: tuple[Callable[[bytearray, Random], None], ...] = (overwrite, overwrite, flip, step, put_varint, fill)
WAYS = (*SAME_SIZE, *SAME_SIZE, insert, repeat, remove, cut)


def damage(data: bytearray, chance: Random, ways: tuple[Callable[[bytearray, Random], None], ...] = WAYS) -> None:
    """One change somewhere, in place."""
    if data:
        ways[int(chance.random() * len(ways))](data, chance)
