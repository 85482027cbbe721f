"""The checksum of a record batch: CRC-32C (Castagnoli) from magic 2 on (KIP-98), CRC-32 before."""

from __future__ import annotations

# Magic -> where the checksum is in a batch, and the first byte that it covers; it covers all up to the end.
_PLACES = {0: (12, 16), 1: (12, 16), 2: (17, 21)}
_COPIED_BYTES = 1 << 20


def crc_fits(batch: memoryview, magic: int) -> bool:
    """Whether a whole batch, from its base offset on, is what its checksum was made of.

    That of a compressed message of magic 0 or 1 is the outer one; those of the messages inside are not looked at.
    """
    at, begin = _PLACES[magic]
    extend = extend_crc32c if magic == 2 else extend_crc32
    return extend(0, batch[begin:]) == int.from_bytes(batch[at : at + 4], "big")


def extend_crc32(crc: int, data: bytes | memoryview) -> int:
    """The CRC-32 of `data` behind bytes that have the checksum `crc`; 0 means no bytes."""
    import zlib

    return zlib.crc32(data, crc)


def extend_crc32c(crc: int, data: bytes | memoryview) -> int:
    """The CRC-32C in the same way."""
    import google_crc32c  # 4 ms: only when asked for

    # The library takes nothing but bytes, and a batch may be as large as all that memory has room for.
    for at in range(0, len(data), _COPIED_BYTES):
        crc = google_crc32c.extend(crc, bytes(data[at : at + _COPIED_BYTES]))
    return crc
