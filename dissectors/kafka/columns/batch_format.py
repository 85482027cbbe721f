"""Sizes and offsets within record batches and legacy messages."""

from __future__ import annotations

LOG_OVERHEAD = 12  # bytes of offset and length, which begin every batch and are not counted in the length
MAGIC_OFFSET = 16  # of the magic byte, in all formats
HEADER_BYTES = 61  # of magic 2
HIGHEST_OFFSET = 1 << 62  # no log has offsets beyond
MASK_32 = 0xFFFFFFFF
