"""Numbers of the reordering by time: how far a packet may be from its place, and the columns of packets that wait."""

from __future__ import annotations

from dissectors.layout import PACKET_COLUMNS as _PACKET_COLUMNS

# A packet waits for so many packets, or so many bytes of the capture, behind it: while times were seen to run backwards
# lately, and at the beginning of a capture, where nothing is known yet; and where all was in order for long.
WIDE_PACKETS = 4_096
WIDE_BYTES = 2 << 20
NARROW_PACKETS = 256
NARROW_BYTES = 256 << 10
# The window stays wide for so many packets behind the newest one that was out of order, and for the first ones of a capture.
CALM_PACKETS = 65_536
FIRST_PACKETS = 8_192
# A time that is further back is a clock that was set, or another capture appended: nothing is moved across.
WINDOW_NS = 2_000_000_000
FOREVER_NS = (1 << 63) - 1

# Columns of a packet that waits: those of the packets matrix, and these.
WAIT_KEY = _PACKET_COLUMNS  # its place in the order, ns
WAIT_POSITION = _PACKET_COLUMNS + 1  # packets before it
WAIT_TURN = _PACKET_COLUMNS + 2  # orders packets of the same key: packets before it, when it got its key
WAIT_COLUMNS = _PACKET_COLUMNS + 3
