"""Numbers of the pcapng reader: block types, option codes, limits, rows of its table of clocks.

Source: draft-ietf-opsawg-pcapng, "Standardized Block Type Codes".
"""

from __future__ import annotations

# Block types. Custom and journal blocks are no packets, but Wireshark numbers them like packets.
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

# Options of an interface description block.
IF_NAME = 2
IF_TSRESOL = 9
IF_TSOFFSET = 14
# Options of an interface statistics block.
ISB_IFRECV = 4
ISB_IFDROP = 5
ISB_OSDROP = 7

BYTE_ORDER_MAGIC = 0x1A2B3C4D
SECTION_BYTES = 28  # a section header without options

# A longer block is not held in memory: it is skipped.
LONGEST_BLOCK_BYTES = 16 * 1024 * 1024
# While a section header is sought in damaged bytes, one with longer options than this is not believed.
LONGEST_SOUGHT_BYTES = 65_536
MOST_INTERFACES = 65_536
LONGEST_NAME_BYTES = 256  # of an interface's name
MOST_SECRET_BYTES = 64 * 1024 * 1024

# Where a piece of a file begins is guessed by lengths that lead from block to block: so many blocks in a row are believed, or
# this smaller number when the known bytes end behind them.
CHAIN = 16
SHORT_CHAIN = 2
NO_END = 1 << 62

# What reading a block did.
USED = 1
WANTS_MORE = 2
FULL = 3
LOST = 4

# Rows of the clock table, one column per interface: ns = ticks * factor // divisor + shift.
CLOCK_LINK = 0
CLOCK_SNAPLEN = 1
CLOCK_LIMIT = 2  # ticks up to which int64 arithmetic is exact; -1: never
CLOCK_FACTOR = 3
CLOCK_DIVISOR = 4
CLOCK_SHIFT = 5
CLOCK_ROWS = 6
