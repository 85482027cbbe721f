"""A capture (little-endian pcap) without a share of its packets, as of a machine that is too slow."""

from __future__ import annotations

import random
import struct


def thinned(data: bytes, lost: float, seed: int) -> bytes:
    chance, kept, at = random.Random(seed), [data[:24]], 24
    while at < len(data):
        end = at + 16 + struct.unpack_from("<I", data, at + 8)[0]
        if chance.random() >= lost:
            kept.append(data[at:end])
        at = end
    return b"".join(kept)
