"""The one step that rewrites nearly all packets gives what the functions of each layer give."""

from __future__ import annotations

import random
import struct

import pytest

from analyzer.redact.header_rewriting import Headers
from analyzer.redact.pseudonyms import Pseudonyms

ETHERNET = 1
TIMES = bytes.fromhex("0101080a0000000100000002")


def words(data: bytes) -> int:
    return int.from_bytes(data + bytes(len(data) & 1), "big") % 65_535


def packet(chosen: random.Random) -> tuple[bytes, int]:
    """(bytes captured, bytes on the wire) of a packet, now and then odd in some way."""

    def seldom(odd: int, usual: int) -> int:
        return odd if chosen.random() < 0.1 else usual

    options = chosen.choice((b"", TIMES, TIMES, bytes.fromhex("02040578"), b"\x01" * 12))
    payload = chosen.randbytes(chosen.choice((0, 0, 1, 2, 33)))
    size = 40 + len(options) + len(payload)
    fragment = seldom(chosen.choice((0x2000, 0x4000, 3)), 0)
    ip = bytearray(struct.pack(">BBHHHBBH", seldom(0x46, 0x45), 0, seldom(0, size), 7, fragment, 64, seldom(17, 6), 0))
    ip += chosen.randbytes(8)
    tcp = bytearray(struct.pack(">HHIIBBHHH", 40_000, 9092, 5, 6, (20 + len(options)) << 2, 24, 500, 0, seldom(3, 0)))
    tcp += options + payload
    ip[10:12] = seldom(0, seldom(77, 65_535 - words(bytes(ip)))).to_bytes(2, "big")
    head = words(bytes(ip[12:20])) + 6
    right = 65_535 - (head + len(tcp) + words(bytes(tcp))) % 65_535
    sums = (right, right, 0, head % 65_535, (head + len(tcp)) % 65_535, 4_711)
    tcp[16:18] = chosen.choice(sums).to_bytes(2, "big")
    kind = seldom(0x8100, 0x0800)
    data = chosen.randbytes(12) + kind.to_bytes(2, "big") + bytes(ip + tcp) + bytes(seldom(6, 0))
    return data[: seldom(chosen.randrange(len(data)), len(data))], len(data)


@pytest.mark.parametrize("seed", range(4))
def test_one_step_gives_what_many_give(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(seed)
    packets = [packet(chosen) for _ in range(1_000)]
    headers = Headers(Pseudonyms(b"k" * 32))
    usual = sum(headers._usual(data, wire) is not None for data, wire in packets if data[12:15] == b"\x08\0\x45")
    assert 200 < usual < 700  # both ways are taken
    in_one_step = [headers.rewrite(data, ETHERNET, wire) for data, wire in packets]
    monkeypatch.setattr(headers, "_usual", lambda *_: None)
    assert in_one_step == [headers.rewrite(data, ETHERNET, wire) for data, wire in packets]
