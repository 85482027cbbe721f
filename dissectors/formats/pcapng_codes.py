"""Numbers of the pcapng reader: block types, limits, rows of its table of clocks."""

from __future__ import annotations

# Block types, as C values. Custom and journal blocks are no packets, but Wireshark numbers them like packets.
SECTION = 0x0A0D0D0A
INTERFACE = 1
OLD_PACKET = 2
SIMPLE_PACKET = 3
NAMES = 4
STATISTICS = 5
PACKET = 6
JOURNAL = 9
SECRETS = 10
CUSTOM = 0x0BAD
CUSTOM_PRIVATE = 0x40000BAD

# A block that must be read as a whole may be this long; a longer one is passed over without being held in memory.
LONGEST_BLOCK_BYTES = 16 * 1024 * 1024

# A section header with more comments than this is not believed while we look for one in damaged bytes.
LONGEST_SOUGHT_BYTES = 65_536
MOST_INTERFACES = 65_536

# So much of an interface's name is held.
LONGEST_NAME_BYTES = 256

# A section header without options.
SECTION_BYTES = 28
MOST_SECRET_BYTES = 64 * 1024 * 1024

# So many blocks in a row are believed to be blocks, or so few before the end of what is known.
CHAIN = 16
SHORT_CHAIN = 2
NO_END = 1 << 62

# What `_read_block` did, as C values.
USED = 1
WANTS_MORE = 2
FULL = 3
LOST = 4

# Rows of the clock table, one column per interface.
CLOCK_LINK = 0
CLOCK_SNAPLEN = 1
CLOCK_LIMIT = 2  # ticks up to which int64 arithmetic is exact; -1: never
CLOCK_FACTOR = 3  # ns = ticks * factor // divisor + shift
CLOCK_DIVISOR = 4
CLOCK_SHIFT = 5
CLOCK_ROWS = 6
