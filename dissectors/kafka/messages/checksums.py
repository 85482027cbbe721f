"""The checksum of a record batch: CRC-32C (Castagnoli) from magic 2 on (KIP-98), CRC-32 before."""

from __future__ import annotations

# Magic -> where the checksum stands in a batch, and the first byte that it covers; it covers all up to the end.
_PLACES = {0: (12, 16), 1: (12, 16), 2: (17, 21)}


def crc_fits(batch: memoryview, magic: int) -> bool:
    """Whether a whole batch, from its base offset on, is what its checksum was made of.

    That of a compressed message of magic 0 or 1 is the outer one; those of the messages inside are not looked at.
    """
    at, begin = _PLACES[magic]
    said = int.from_bytes(batch[at : at + 4], "big")
    if magic < 2:
        import zlib

        return zlib.crc32(batch[begin:]) == said
    import google_crc32c  # 4 ms: only when asked for

    return google_crc32c.value(bytes(batch[begin:])) == said
