"""Sizes and offsets within record batches and legacy messages, and how their checksums are computed."""

from __future__ import annotations

LOG_OVERHEAD = 12  # bytes of offset and length, which begin every batch and are not counted in the length
MAGIC_OFFSET = 16  # of the magic byte, in all formats
HEADER_BYTES = 61  # of magic 2
MASK_32 = 0xFFFFFFFF

# The first byte that a checksum covers. It covers all from there on.
COVERED_FROM = 21  # magic 2
COVERED_FROM_LEGACY = 16

KNOWN_CODECS = 5  # numbers of codecs that there are; the others of the three bits mean nothing

# Checksums of batches that cover at most so many bytes are computed together, for a group of so many bytes.
GROUPED_BYTES = 4_096
GROUP_BYTES = 65_536
